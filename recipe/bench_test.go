package recipe

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/lossep/lossep/table"
)

func benchmarkRead(b *testing.B, file, positive string) {
	text := realFile(b, file)
	b.SetBytes(int64(len(text)))
	rows := 0
	for b.Loop() {
		table, err := table.Read(context.Background(), bytes.NewReader(text), file, table.Format{})
		if err != nil {
			b.Fatal(err)
		}
		if _, _, _, err := learnAll(table, Options{Positive: positive}); err != nil {
			b.Fatal(err)
		}
		rows += table.Len()
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

func benchmarkStream(b *testing.B, file, positive string) {
	text := realFile(b, file)
	data, err := table.Read(context.Background(), bytes.NewReader(text), file, table.Format{})
	if err != nil {
		b.Fatal(err)
	}
	recipe, _, _ := mustLearn(b, data, Options{Positive: positive})
	b.SetBytes(int64(len(text)))
	total := 0
	for b.Loop() {
		rows, err := NewReader(context.Background(), bytes.NewReader(text), file, recipe, table.Format{})
		for err == nil {
			var block *Block
			if block, err = rows.ReadBlock(256); err == nil {
				total += len(block.Rows)
			}
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "rows/s")
}

// Categories mostly: 20 columns, 61 features.
func BenchmarkLearnGerman(b *testing.B)  { benchmarkRead(b, "german.csv", "2") }
func BenchmarkStreamGerman(b *testing.B) { benchmarkStream(b, "german.csv", "2") }

// Numbers only: 6 columns.
func BenchmarkLearnMammography(b *testing.B)  { benchmarkRead(b, "mammography.csv", "") }
func BenchmarkStreamMammography(b *testing.B) { benchmarkStream(b, "mammography.csv", "") }
