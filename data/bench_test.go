package data

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
)

func benchmarkRead(b *testing.B, file, positive string) {
	text := realFile(b, file)
	b.SetBytes(int64(len(text)))
	rows := 0
	for b.Loop() {
		table, err := Read(context.Background(), bytes.NewReader(text), file, Format{})
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
	table, err := Read(context.Background(), bytes.NewReader(text), file, Format{})
	if err != nil {
		b.Fatal(err)
	}
	recipe, _, _ := mustLearn(b, table, Options{Positive: positive})
	b.SetBytes(int64(len(text)))
	total := 0
	for b.Loop() {
		rows, err := NewReader(context.Background(), bytes.NewReader(text), file, recipe, Format{})
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

// bigTable is a table of n rows and 19 numeric columns and an outcome, as text.
func bigTable(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 1))
	b := []byte("y")
	for j := range 19 {
		b = fmt.Appendf(b, ",x%d", j)
	}
	b = append(b, '\n')
	for range n {
		b = strconv.AppendInt(b, int64(rng.IntN(2)), 10)
		for j := range 19 {
			b = append(b, ',')
			if j%4 == 0 {
				b = strconv.AppendInt(b, int64(rng.IntN(1000)), 10)
			} else {
				b = strconv.AppendFloat(b, rng.NormFloat64()*100, 'f', 4, 64)
			}
		}
		b = append(b, '\n')
	}
	return b
}

// Parsing and encoding of a large table, and what of the memory is not the matrix.
func BenchmarkMillionRows(b *testing.B) {
	text := bigTable(1_000_000)
	b.SetBytes(int64(len(text)))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for b.Loop() {
		table, err := Read(context.Background(), bytes.NewReader(text), "big.csv", Format{})
		if err != nil {
			b.Fatal(err)
		}
		l, err := Learn(table, Options{Target: "y"})
		if err != nil {
			b.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		rows, columns := l.X.Dims()
		b.ReportMetric(float64(after.HeapSys-before.HeapSys-uint64(8*rows*columns))/1e6, "MB-beside-matrix")
	}
}
