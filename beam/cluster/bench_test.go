package cluster

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/command"
	"github.com/lossep/lossep/table"
	"github.com/lossep/lossep/table/parquet"
)

// BenchmarkPart is what it takes a worker to have the rows of a shard as numbers: from the
// files, and from what the first pass has kept of them. The table is like that of the flights.
func BenchmarkPart(b *testing.B) {
	f := &shardFn{store: store{b.TempDir()}, Memory: 1 << 30}
	file := filepath.Join(b.TempDir(), "00.parquet")
	const rows = gp.ShardRows
	if err := os.WriteFile(file, manyRows(b, rows), 0o600); err != nil {
		b.Fatal(err)
	}
	f.training = trainingOf(b, file)
	r := &Rows{Table: "table", Files: []string{file}, To: rows}
	ctx := context.Background()
	for name, part := range map[string]func(context.Context, *Rows) (*lossep.Part, error){"files": f.read, "kept": f.part} {
		if _, err := part(ctx, r); err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := part(ctx, r); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}

func manyRows(b *testing.B, rows int) []byte {
	var to bytes.Buffer
	w, err := parquet.NewWriter(&to, []table.SourceColumn{
		{Name: "distance", Kind: table.NumberCells},
		{Name: "hour", Kind: table.NumberCells},
		{Name: "day", Kind: table.NumberCells},
		{Name: "weekday"},
		{Name: "origin"},
		{Name: "destination"},
		{Name: "late"},
	})
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	of := func(n int) string { return fmt.Sprintf("K%03d", rng.IntN(n)) }
	for range rows {
		err := w.Write([]any{float64(rng.IntN(3000)), float64(rng.IntN(1440)) / 60, float64(rng.IntN(90)), of(7), of(229), of(228), []string{"no", "yes"}[rng.IntN(2)]})
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return to.Bytes()
}

// trainingOf is what a fit to the rows of a file tells those who make its passes.
func trainingOf(b *testing.B, file string) *lossep.Training {
	var training *lossep.Training
	place := NewPlace()
	place.Passes = func(_ context.Context, f command.Fit) (command.Passes, error) {
		training = f.Training
		return nil, fmt.Errorf("that is all")
	}
	var said bytes.Buffer
	command.RunAt(context.Background(), place, []string{"fit", file, "--target", "late", "--fixed", "--kernel", "rbf + constant", "--no-save"}, nil, &said, &said)
	if training == nil {
		b.Fatal(said.String())
	}
	return training
}
