//go:build unix

package recipe_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"testing"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
	"github.com/lossep/lossep/table/parquet"
)

const millionRows = 1_000_000

// millionRow is a row of an outcome, 14 numbers and 5 integers.
func millionRow(rng *rand.Rand) (row [20]float64) {
	row[0] = float64(rng.IntN(2))
	for j := range 19 {
		if j%4 == 0 {
			row[j+1] = float64(rng.IntN(1000))
		} else {
			row[j+1], _ = strconv.ParseFloat(strconv.FormatFloat(rng.NormFloat64()*100, 'f', 4, 64), 64)
		}
	}
	return row
}

func millionColumns() (columns []table.SourceColumn) {
	for j := range 20 {
		c := table.SourceColumn{Name: fmt.Sprint("x", j-1), Kind: table.NumberCells}
		if j == 0 {
			c.Name = "y"
		}
		if j%4 == 1 || j == 0 {
			c.Kind = table.IntegerCells
		}
		columns = append(columns, c)
	}
	return columns
}

// Parsing and encoding of a large table: in megabytes of text by wall clock and by the
// time of processors, which other programs do not change much, and what of the memory is
// not the matrix.
func BenchmarkMillionRows(b *testing.B) {
	path := filepath.Join(b.TempDir(), "big.csv")
	size := millionText(b, path)
	measure(b, size, func() (*table.Table, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return table.Read(context.Background(), f, "big.csv", table.Format{})
	})
}

// The same table as Parquet; megabytes are those of the text, so that the two compare.
func BenchmarkMillionRowsParquet(b *testing.B) {
	path := filepath.Join(b.TempDir(), "big.parquet")
	size := millionText(b, path+".csv")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w, err := parquet.NewWriter(f, millionColumns())
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	cells := make([]any, 20)
	for range millionRows {
		for j, x := range millionRow(rng) {
			cells[j] = x
			if j%4 == 1 || j == 0 {
				cells[j] = int64(x)
			}
		}
		if err := w.Write(cells); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	w = nil
	measure(b, size, func() (*table.Table, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		data, err := parquet.Open(path, []parquet.File{{Name: path, Content: f, Size: info.Size()}}, 1<<28)
		if err != nil {
			return nil, err
		}
		return table.ReadSource(context.Background(), data, table.Format{}, nil)
	})
	b.ReportMetric(float64(info.Size())/1e6, "MB-file")
}

func millionText(b *testing.B, path string) (size int64) {
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for j, c := range millionColumns() {
		if j > 0 {
			w.WriteByte(',')
		}
		w.WriteString(c.Name)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	var line []byte
	for range millionRows {
		line = append(line[:0], '\n')
		for j, x := range millionRow(rng) {
			if j > 0 {
				line = append(line, ',')
			}
			decimals := 4
			if j%4 == 1 || j == 0 {
				decimals = 0
			}
			line = strconv.AppendFloat(line, x, 'f', decimals, 64)
		}
		w.Write(line)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if size, err = f.Seek(0, 1); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return size
}

// measure reads a table and learns from it.
func measure(b *testing.B, size int64, read func() (*table.Table, error)) {
	b.SetBytes(size)
	debug.FreeOSMemory()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := processorTime(b)
	for b.Loop() {
		table, err := read()
		if err != nil {
			b.Fatal(err)
		}
		l, err := recipe.Learn(table, recipe.Options{Target: "y"})
		if err != nil {
			b.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		rows, columns := l.X.Dims()
		b.ReportMetric(float64(after.HeapSys-after.HeapReleased-before.HeapSys+before.HeapReleased-uint64(8*rows*columns))/1e6, "MB-beside-matrix")
	}
	b.ReportMetric(float64(size)*float64(b.N)/1e6/(processorTime(b)-begin), "MB/processor-s")
}

// processorTime is the time that the process has used, in seconds.
func processorTime(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}
