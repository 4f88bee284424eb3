package record

import "testing"

func BenchmarkAppend(b *testing.B) {
	r := &Recorder{config: Config{Dir: b.TempDir()}, journals: make(map[string]*journal)}
	one := batch("r", `{"rows":[{"a":1.5,"kind":"x"},{"a":1.5,"kind":"x"},{"a":1.5,"kind":"x"},{"a":1.5,"kind":"x"},{"a":1.5,"kind":"x"},{"a":1.5,"kind":"x"},{"a":1.5,"kind":"x"},{"a":1.5,"kind":"x"},{"a":1.5,"kind":"x"},{"a":1.5,"kind":"x"}]}`)
	b.ReportAllocs()
	for range b.N {
		if err := r.append(one); err != nil {
			b.Fatal(err)
		}
	}
}
