package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func sample() *File {
	f := &File{Metadata: map[string]string{"model": `{"kernel":"rbf"}`, "note": "größer < kleiner"}}
	f.AddFloats("weights", []float64{1, -2.5, math.Inf(1), math.SmallestNonzeroFloat64, 0, math.Pi}, 2, 3)
	f.AddInts("index", []int64{7, -1, math.MinInt64}, 3)
	f.AddFloats("scale", []float64{0.25})
	f.AddFloats("empty", nil, 0, 4)
	return f
}

func encoded(t testing.TB, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// assemble makes a file from a header and numbers, whatever they say.
func assemble(header string, numbers ...float64) []byte {
	for len(header)%8 != 0 {
		header += " "
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	b = append(b, header...)
	for _, v := range numbers {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// The exact bytes of a small file, by the rules of the package comment. The digest was
// computed by Python's hashlib, with the recipe given there.
func TestGoldenBytes(t *testing.T) {
	f := &File{Metadata: map[string]string{"a": "b"}}
	f.AddFloats("y", []float64{1, -2}, 2)
	f.AddInts("x", []int64{3}, 1, 1)
	header := `{"__metadata__":{"sha256":"` + goldenDigest + `","a":"b"},` +
		`"x":{"dtype":"I64","shape":[1,1],"data_offsets":[0,8]},"y":{"dtype":"F64","shape":[2],"data_offsets":[8,24]}}`
	want := assemble(header, math.Float64frombits(3), 1, -2)
	if got := encoded(t, f); !bytes.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

const goldenDigest = "3bbe4889138ec56f4a47f80cc9d1c69a7579bff59c7cefb1ca443d48233a4c1f"

func sameFile(a, b *File) error {
	if !maps.Equal(a.Metadata, b.Metadata) {
		return fmt.Errorf("metadata %v and %v", a.Metadata, b.Metadata)
	}
	if len(a.Tensors) != len(b.Tensors) {
		return fmt.Errorf("%d and %d tensors", len(a.Tensors), len(b.Tensors))
	}
	sameBits := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
	for _, t := range a.Tensors {
		at := slices.IndexFunc(b.Tensors, func(u Tensor) bool { return u.Name == t.Name })
		if at < 0 {
			return fmt.Errorf("tensor %q is lost", t.Name)
		}
		u := b.Tensors[at]
		if t.DType != u.DType || !slices.Equal(t.Shape, u.Shape) || !slices.EqualFunc(t.Floats, u.Floats, sameBits) || !slices.Equal(t.Ints, u.Ints) {
			return fmt.Errorf("tensor %+v became %+v", t, u)
		}
	}
	return nil
}

// What is written comes back to the last bit, NaN payloads included, and writing it
// again, in any order, gives the same bytes.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &File{Metadata: rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "metadata")}
		delete(f.Metadata, checksumKey)
		for _, name := range rapid.SliceOfNDistinct(rapid.String(), 0, 5, rapid.ID[string]).Draw(t, "names") {
			if name == metadataKey {
				continue
			}
			rows, columns := rapid.IntRange(0, 4).Draw(t, "rows"), rapid.IntRange(0, 4).Draw(t, "columns")
			bits := rapid.SliceOfN(rapid.Uint64(), rows*columns, rows*columns).Draw(t, "bits")
			if rapid.Bool().Draw(t, "ints") {
				ints := make([]int64, len(bits))
				for i, b := range bits {
					ints[i] = int64(b)
				}
				f.AddInts(name, ints, rows, columns)
			} else {
				floats := make([]float64, len(bits))
				for i, b := range bits {
					floats[i] = math.Float64frombits(b)
				}
				f.AddFloats(name, floats, rows, columns)
			}
		}
		var first, second bytes.Buffer
		if err := Write(&first, f); err != nil {
			t.Fatal(err)
		}
		if first.Len()%8 != 0 {
			t.Fatalf("%d bytes are not aligned", first.Len())
		}
		back, err := Read(iotest.HalfReader(bytes.NewReader(first.Bytes())), Options{RequireChecksum: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := sameFile(f, back); err != nil {
			t.Fatal(err)
		}
		slices.Reverse(back.Tensors)
		if err := Write(&second, back); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatalf("written again:\n%q\n%q", first.Bytes(), second.Bytes())
		}
	})
}

// More numbers than one chunk, through both ways of reading.
func TestManyNumbers(t *testing.T) {
	f := &File{}
	floats, ints := make([]float64, 3*chunk/8+5), make([]int64, chunk/8+1)
	for i := range floats {
		floats[i] = math.Sin(float64(i))
	}
	for i := range ints {
		ints[i] = int64(i) * -3
	}
	f.AddFloats("floats", floats, len(floats))
	f.AddInts("ints", ints, len(ints))
	path := filepath.Join(t.TempDir(), "many")
	if err := WriteFile(path, f); err != nil {
		t.Fatal(err)
	}
	sized, err := ReadFile(path, Options{RequireChecksum: true})
	if err != nil {
		t.Fatal(err)
	}
	streamed, err := Read(bytes.NewReader(encoded(t, f)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, back := range []*File{sized, streamed} {
		if err := sameFile(&File{Metadata: map[string]string{}, Tensors: f.Tensors}, back); err != nil {
			t.Error(err)
		}
	}
	if got := cap(sized.Tensors[0].Floats); got != len(floats) {
		t.Errorf("room for %d numbers where %d are known to come", got, len(floats))
	}
}

// A file by Python's safetensors 0.8.0 and numpy 2.4.6, bytes as save_file wrote them:
// save_file({"w": array([[1., 2., 3.], [4., 5., 6.]]), "n": array([7, -8]), "s": array(0.5)},
// path, metadata={"who": "python"}).
func TestReadsPython(t *testing.T) {
	f, err := ReadFile("testdata/python.safetensors", Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := &File{Metadata: map[string]string{"who": "python"}}
	want.AddFloats("w", []float64{1, 2, 3, 4, 5, 6}, 2, 3)
	want.AddInts("n", []int64{7, -8}, 2)
	want.AddFloats("s", []float64{0.5})
	if err := sameFile(want, f); err != nil {
		t.Error(err)
	}
	if f.Checksum != "" {
		t.Errorf("checksum %q", f.Checksum)
	}
	_, err = ReadFile("testdata/python.safetensors", Options{RequireChecksum: true})
	if kind(err) != NoChecksum {
		t.Errorf("without the checksum required: %v", err)
	}
}

// kind is that of an *Error, 0 of no error, −1 of any other.
func kind(err error) Kind {
	var e *Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.Kind
	}
	return -1
}

func TestReadRefuses(t *testing.T) {
	sound := encoded(t, sample())
	one := `{"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}`
	two := func(first, second string) string {
		return `{"a":{"dtype":"F64","shape":[1],"data_offsets":[` + first + `]},"b":{"dtype":"F64","shape":[1],"data_offsets":[` + second + `]}}`
	}
	for _, c := range []struct {
		name string
		file []byte
		want Kind
		text string
	}{
		{"sound", sound, 0, ""},
		{"one", assemble(one, 1), 0, ""},
		{"in another order", assemble(two("8,16", "0,8"), 1, 2), 0, ""},
		{"nothing at all", assemble(`{}`), 0, ""},
		{"empty", nil, Truncated, "0 bytes"},
		{"length only in part", sound[:5], Truncated, "5 bytes"},
		{"header only in part", sound[:40], Truncated, "32 bytes into a header"},
		{"numbers only in part", sound[:len(sound)-1], Truncated, `tensor "weights" is incomplete`},
		{"no numbers", assemble(one), Truncated, `tensor "a" is incomplete`},
		{"trailing byte", append(slices.Clone(sound), 0), Trailing, "follow the last tensor"},
		{"trailing numbers", assemble(`{}`, 1), Trailing, "follow the last tensor"},
		{"a picture", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), HeaderSize, "not a safetensors file"},
		{"header of zero bytes", make([]byte, 8), HeaderSize, "0 bytes"},
		{"header not aligned", append(binary.LittleEndian.AppendUint64(nil, 2), "{}"...), HeaderSize, "multiple of 8"},
		{"an array", assemble(`[]`), HeaderSyntax, "not with {"},
		{"not UTF-8", assemble("{\"\xff\":1}"), HeaderSyntax, "UTF-8"},
		{"broken JSON", assemble(`{"a":`), HeaderSyntax, "not JSON"},
		{"two objects", assemble(`{}{}`), HeaderSyntax, "after top-level value"},
		{"tensor of null", assemble(`{"a":null}`), HeaderSyntax, `tensor "a"`},
		{"dtype of null", assemble(`{"a":{"dtype":null}}`), HeaderSyntax, "dtype"},
		{"no shape", assemble(`{"a":{"dtype":"F64","data_offsets":[0,8]}}`, 1), HeaderSyntax, "shape"},
		{"shape of null", assemble(`{"a":{"dtype":"F64","shape":null,"data_offsets":[0,8]}}`, 1), HeaderSyntax, "shape"},
		{"negative shape", assemble(`{"a":{"dtype":"F64","shape":[-1],"data_offsets":[0,8]}}`, 1), HeaderSyntax, "[-1]"},
		{"broken shape", assemble(`{"a":{"dtype":"F64","shape":[1.5],"data_offsets":[0,8]}}`, 1), HeaderSyntax, "1.5"},
		{"nested shape", assemble(`{"a":{"dtype":"F64","shape":[[1]],"data_offsets":[0,8]}}`, 1), HeaderSyntax, "/shape/0"},
		{"three offsets", assemble(`{"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8,8]}}`, 1), HeaderSyntax, "two data_offsets"},
		{"unknown entry", assemble(`{"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8],"x":1}}`, 1), HeaderSyntax, `"x"`},
		{"metadata of numbers", assemble(`{"__metadata__":{"a":1}}`), HeaderSyntax, "not text"},
		{"metadata a list", assemble(`{"__metadata__":[]}`), HeaderSyntax, "__metadata__"},
		{"tensor twice", assemble(strings.Replace(two("0,8", "8,16"), `"b"`, `"a"`, 1), 1, 2), Duplicate, `"a" occurs twice`},
		{"tensor twice by escape", assemble(strings.Replace(two("0,8", "8,16"), `"b"`, `"\u0061"`, 1), 1, 2), Duplicate, `"a" occurs twice`},
		{"metadata twice", assemble(`{"__metadata__":{},"__metadata__":{}}`), Duplicate, "__metadata__"},
		{"key twice", assemble(`{"__metadata__":{"k":"1","k":"2"}}`), Duplicate, `"k"`},
		{"shape twice", assemble(`{"a":{"dtype":"F64","shape":[1],"shape":[1],"data_offsets":[0,8]}}`, 1), Duplicate, `"shape"`},
		{"single precision", assemble(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 1), UnknownType, `"F32"`},
		{"shape too large", assemble(`{"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`), Shape, "impossible"},
		{"shape over the bytes", assemble(`{"a":{"dtype":"F64","shape":[3],"data_offsets":[0,8]}}`, 1), Shape, "24 bytes"},
		{"shape under the bytes", assemble(`{"a":{"dtype":"F64","shape":[0],"data_offsets":[0,8]}}`, 1), Shape, "0 bytes"},
		{"overlap", assemble(two("0,8", "0,8"), 1), Offsets, "overlap"},
		{"gap", assemble(two("0,8", "16,24"), 1, 2, 3), Offsets, "gap after byte 8"},
		{"gap at the start", assemble(`{"a":{"dtype":"F64","shape":[1],"data_offsets":[8,16]}}`, 1, 2), Offsets, "gap after byte 0"},
		{"backwards", assemble(`{"a":{"dtype":"F64","shape":[1],"data_offsets":[8,0]}}`, 1), Offsets, "end before"},
		{"not aligned", assemble(two("0,8", "12,20"), 1, 2, 3), Offsets, "aligned"},
		{"checksum not a digest", assemble(`{"__metadata__":{"sha256":"abc"}}`), Checksum, "64"},
		{"checksum of another file", assemble(`{"__metadata__":{"sha256":"` + strings.Repeat("ab", 32) + `"}}`), Checksum, "damaged"},
		{"checksum in escapes", assemble(`{"__metadata__":{"sha256":"\u0030` + blank[1:] + `"}}`), Checksum, "damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, c.file, 0o600); err != nil {
				t.Fatal(err)
			}
			_, streamed := Read(bytes.NewReader(c.file), Options{})
			_, sized := ReadFile(path, Options{})
			if kind(streamed) != c.want || kind(sized) != c.want {
				t.Fatalf("kinds %d and %d, want %d: %v; %v", kind(streamed), kind(sized), c.want, streamed, sized)
			}
			if c.want != 0 && !strings.Contains(streamed.Error(), c.text) {
				t.Errorf("message %q lacks %q", streamed, c.text)
			}
		})
	}
	if _, err := Read(bytes.NewReader(sound), Options{MaxHeader: 64}); kind(err) != HeaderSize {
		t.Errorf("header over the limit: %v", err)
	}
}

// No byte of a file can change unnoticed, and no part of one passes for a file.
func TestEveryByteIsCovered(t *testing.T) {
	sound := encoded(t, sample())
	for i := range sound {
		changed := slices.Clone(sound)
		changed[i] ^= 1
		if _, err := Read(bytes.NewReader(changed), Options{RequireChecksum: true}); kind(err) <= 0 {
			t.Errorf("byte %d changed: %v", i, err)
		}
		if _, err := Read(bytes.NewReader(sound[:i]), Options{}); kind(err) != Truncated {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
}

// A failure of the reader is not blamed on the file.
func TestReaderFails(t *testing.T) {
	sound := encoded(t, sample())
	failure := errors.New("the network is gone")
	for _, n := range []int{0, 4, 8, 100, len(sound) - 1, len(sound)} {
		r := io.MultiReader(bytes.NewReader(sound[:n]), iotest.ErrReader(failure))
		if _, err := Read(r, Options{}); !errors.Is(err, failure) || kind(err) != -1 {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	if _, err := ReadFile(filepath.Join(t.TempDir(), "none"), Options{}); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
}

func TestWriteRefuses(t *testing.T) {
	with := func(change func(*File)) *File {
		f := sample()
		change(f)
		return f
	}
	for name, c := range map[string]struct {
		file *File
		want Kind
	}{
		"reserved metadata":     {with(func(f *File) { f.Metadata["sha256"] = "" }), Reserved},
		"metadata not UTF-8":    {with(func(f *File) { f.Metadata["a"] = "\xff" }), Reserved},
		"reserved tensor":       {with(func(f *File) { f.AddFloats("__metadata__", nil, 0) }), Reserved},
		"tensor not UTF-8":      {with(func(f *File) { f.AddFloats("\xff", nil, 0) }), Reserved},
		"duplicate":             {with(func(f *File) { f.AddInts("scale", nil, 0) }), Duplicate},
		"shape and numbers":     {with(func(f *File) { f.AddFloats("x", []float64{1, 2}, 3) }), Shape},
		"shape negative":        {with(func(f *File) { f.AddFloats("x", nil, -1, 0) }), Shape},
		"shape too large":       {with(func(f *File) { f.AddFloats("x", nil, math.MaxInt, 2) }), Shape},
		"numbers of both types": {with(func(f *File) { f.Tensors[0].Ints = []int64{1} }), Shape},
		"no type":               {&File{Tensors: []Tensor{{Name: "x"}}}, UnknownType},
		"header too long":       {with(func(f *File) { f.Metadata["x"] = strings.Repeat("x", DefaultMaxHeader) }), HeaderSize},
	} {
		var b bytes.Buffer
		if err := Write(&b, c.file); kind(err) != c.want || b.Len() > 0 {
			t.Errorf("%s: %d bytes written, error %v", name, b.Len(), err)
		}
	}
}

func TestFind(t *testing.T) {
	f := sample()
	if w, err := f.Floats("weights", 2, -1); err != nil || w.Floats[1] != -2.5 {
		t.Errorf("%v, %v", w, err)
	}
	if x, err := f.Ints("index", 3); err != nil || x.Ints[0] != 7 {
		t.Errorf("%v, %v", x, err)
	}
	if _, err := f.Floats("scale"); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		err  error
		want Kind
	}{
		"absent":     {second(f.Floats("absent", 1)), Missing},
		"other type": {second(f.Ints("weights", 2, 3)), UnknownType},
		"size":       {second(f.Floats("weights", 2, 4)), Shape},
		"rank":       {second(f.Floats("weights", 6)), Shape},
	} {
		if kind(c.err) != c.want {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}

func second(_ *Tensor, err error) error { return err }

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// Whenever writing fails, the old file stays and nothing else is left.
func TestReplaceAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "model")
	if err := WriteFile(path, sample()); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	err = replace(path, func(w *os.File) error {
		if _, err := w.Write([]byte("half of it")); err != nil {
			return err
		}
		return full
	})
	if !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	if err := WriteFile(path, &File{Tensors: []Tensor{{Name: "x"}}}); kind(err) != UnknownType {
		t.Errorf("error %v", err)
	}
	now, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(old, now) {
		t.Errorf("the old file changed: %v", err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"model"}) {
		t.Errorf("left behind: %q", got)
	}
	if err := WriteFile(path, &File{}); err != nil {
		t.Fatal(err)
	}
	if f, err := ReadFile(path, Options{RequireChecksum: true}); err != nil || len(f.Tensors) > 0 {
		t.Errorf("replaced file: %+v, %v", f, err)
	}
}

func TestWriteFilePlaces(t *testing.T) {
	dir := t.TempDir()
	if err := WriteFile(filepath.Join(dir, "absent", "model"), sample()); !os.IsNotExist(err) || strings.Contains(err.Error(), ".tmp") {
		t.Errorf("no such directory: %v", err)
	}
	if err := WriteFile(dir, sample()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
	if err := WriteFile(os.DevNull, sample()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a device: %v", err)
	}
	// A link stays a link, and what it points to is replaced.
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	if err := WriteFile(link, sample()); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(target, Options{RequireChecksum: true}); err != nil {
		t.Errorf("the target: %v", err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"link", "target"}) {
		t.Errorf("directory: %q", got)
	}
}

// A leftover of a killed process does not stand in the way.
func TestLeftover(t *testing.T) {
	dir := t.TempDir()
	first, err := createBeside(filepath.Join(dir, "model"))
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if err := WriteFile(filepath.Join(dir, "model"), sample()); err != nil {
		t.Error(err)
	}
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("directory: %q", got)
	}
}

// A writer that fails anywhere makes Write fail.
func TestWriterFails(t *testing.T) {
	size := len(encoded(t, sample()))
	for n := range size {
		if err := Write(&limited{n}, sample()); !errors.Is(err, io.ErrShortWrite) {
			t.Fatalf("room for %d of %d bytes: %v", n, size, err)
		}
	}
}

type limited struct{ room int }

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.room {
		return l.room, io.ErrShortWrite
	}
	l.room -= len(p)
	return len(p), nil
}

func Example() {
	f := &File{Metadata: map[string]string{"model": "reactor"}}
	f.AddFloats("mean", []float64{0.297}, 1)
	f.AddFloats("covariance", []float64{35.1}, 1, 1)
	var file bytes.Buffer
	if err := Write(&file, f); err != nil {
		fmt.Println(err)
		return
	}
	cut := file.Bytes()[:file.Len()-4]

	back, err := Read(&file, Options{RequireChecksum: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	mean, err := back.Floats("mean", 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(back.Metadata["model"], mean.Floats)

	_, err = Read(bytes.NewReader(cut), Options{})
	fmt.Println(err)
	// Output:
	// reactor [0.297]
	// safetensors: tensor "mean" is incomplete: the file was cut short; copy or write it again
}
