package safetensors

import (
	"bytes"
	"runtime"
	"testing"
)

// Whatever the bytes, Read ends in an *Error or in a file that is written and read
// again unchanged, and it does not allocate for what is only promised.
func FuzzRead(f *testing.F) {
	f.Add(encoded(f, sample()))
	f.Add(encoded(f, &File{}))
	f.Add(assemble(`{"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}`, 1))
	f.Add(assemble(`{"a":{"dtype":"F64","shape":[1000000000000],"data_offsets":[0,8000000000000]}}`, 1))
	f.Add(assemble(`{"a":{"dtype":"F64","shape":[0,9223372036854775807],"data_offsets":[0,0]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Read(bytes.NewReader(text), Options{})
		if _, again := read(bytes.NewReader(text), int64(len(text)), Options{}); kind(again) != kind(err) {
			t.Fatalf("%v, and %v when the size is known", err, again)
		}
		if err != nil {
			if kind(err) <= 0 {
				t.Fatalf("error %v has no kind", err)
			}
			return
		}
		var b bytes.Buffer
		if err := Write(&b, file); err != nil {
			t.Fatalf("read and not written: %v", err)
		}
		back, err := Read(&b, Options{RequireChecksum: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := sameFile(file, back); err != nil {
			t.Fatal(err)
		}
	})
}

// A hundred bytes that promise terabytes, or the longest header, cost little memory.
func TestPromisesAreNotAllocated(t *testing.T) {
	promise := assemble(`{"a":{"dtype":"F64","shape":[1000000000000],"data_offsets":[0,8000000000000]}}`, 1, 2, 3)
	head := append([]byte{0, 0, 0, 1, 0, 0, 0, 0}, '{') // 16 MiB of header, one byte there
	for name, text := range map[string][]byte{"numbers": promise, "header": head} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Read(bytes.NewReader(text), Options{}); kind(err) != Truncated {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := read(bytes.NewReader(text), int64(len(text)), Options{}); kind(err) != Truncated {
			t.Errorf("%s, size known: %v", name, err)
		}
		runtime.ReadMemStats(&after)
		// Two chunks of numbers each, and small change.
		if used := after.TotalAlloc - before.TotalAlloc; used > 8*chunk {
			t.Errorf("%s: %d bytes allocated for a file of %d", name, used, len(text))
		}
	}
}

func BenchmarkRead(b *testing.B) {
	f := &File{}
	f.AddFloats("matrix", make([]float64, 1<<20), 1<<10, 1<<10)
	text := encoded(b, f)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := read(bytes.NewReader(text), int64(len(text)), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	f := &File{}
	f.AddFloats("matrix", make([]float64, 1<<20), 1<<10, 1<<10)
	b.SetBytes(8 << 20)
	for b.Loop() {
		if err := Write(new(bytes.Buffer), f); err != nil {
			b.Fatal(err)
		}
	}
}
