package record

import (
	"fmt"
	"strings"
	"testing"
)

// benched are 100 decisions of rows of 20 columns.
func benched(r *Recorder) *Batch {
	var rows []string
	schema := testSchema
	schema.Columns = nil
	for j := range 20 {
		schema.Columns = append(schema.Columns, fmt.Sprintf("column_%d", j))
	}
	for i := range 100 {
		var cells []string
		for j, name := range schema.Columns {
			cells = append(cells, fmt.Sprintf("%q: %.6f", name, float64(i*j)/7))
		}
		rows = append(rows, "{"+strings.Join(cells, ", ")+"}")
	}
	b := r.batch("r", `{"rows":[`+strings.Join(rows, ",")+`]}`)
	b.Schema = r.Schema(schema)
	return b
}

// To write 100 decisions to the journal.
func BenchmarkAppend(b *testing.B) {
	r := &Recorder{config: Config{Dir: b.TempDir()}, journals: make(map[string]*journal)}
	one := benched(r)
	b.ReportAllocs()
	for b.Loop() {
		if err := r.append(one); err != nil {
			b.Fatal(err)
		}
	}
}

// To make Parquet of 20,000 decisions.
func BenchmarkCompact(b *testing.B) {
	r := &Recorder{config: Config{Dir: b.TempDir()}, journals: make(map[string]*journal), full: make(chan string, 1)}
	r.hurry.Store(true)
	one := benched(r)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		for range 200 {
			if err := r.append(one); err != nil {
				b.Fatal(err)
			}
		}
		if err := r.rotate("m", r.journals["m"]); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := r.compact(<-r.full); err != nil {
			b.Fatal(err)
		}
	}
}
