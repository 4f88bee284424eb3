package effects

import "testing"

// BenchmarkPass is a pass of backfitting: its metric is the time per row and family, without that
// of looking at the terms, beside that of reading and writing what a family needs of a row, 8
// bytes each of slope and curvature and a group.
func BenchmarkPass(b *testing.B) {
	table, y := crossedRows(1_000_000, 1)
	f := newFit(table, y)
	for _, family := range crossedFamilies {
		if err := f.Add(b.Context(), family, 0); err != nil {
			b.Fatal(err)
		}
	}
	if err := f.start(b.Context()); err != nil {
		b.Fatal(err)
	}
	work := float64(table.Len() * len(f.members))
	b.Run("sweep", func(b *testing.B) {
		for b.Loop() {
			if err := f.sweep(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/work, "ns/row/family")
	})
	b.Run("look", func(b *testing.B) {
		for b.Loop() {
			if _, err := f.Look(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(table.Len()), "ns/row")
	})
	b.Run("memory", func(b *testing.B) {
		s := f.rows.(*InMemory).shards[0]
		to := make([]float64, table.Len())
		for b.Loop() {
			copy(to, s.Slope[0])
			copy(to, s.Curvature[0])
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(table.Len()), "ns/row")
	})
}
