// Command large writes a table of simulated rows as Parquet: numbers x1, x2, … and an outcome y that
// depends smoothly on the first five of them. Rows are the same for the same seed, and the first
// rows of a longer table are those of a shorter one.
//
//	go run ./large -rows 1000000 -columns 50 large.parquet
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"

	"github.com/lossep/lossep/table"
	"github.com/lossep/lossep/table/parquet"
)

func main() {
	rows := flag.Int("rows", 1_000_000, "number of rows")
	columns := flag.Int("columns", 50, "number of columns beside the outcome, at least 5")
	seed := flag.Uint64("seed", 1, "of the random numbers")
	flag.Parse()
	if err := write(flag.Arg(0), *rows, max(5, *columns), *seed); err != nil {
		log.Fatal(err)
	}
}

func write(name string, rows, columns int, seed uint64) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	to := bufio.NewWriterSize(f, 1<<20)
	of := []table.SourceColumn{{Name: "y", Kind: table.IntegerCells}}
	for j := range columns {
		of = append(of, table.SourceColumn{Name: fmt.Sprintf("x%d", j+1), Kind: table.NumberCells})
	}
	w, err := parquet.NewWriter(to, of)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	row, x := make([]any, columns+1), make([]float64, columns)
	for range rows {
		for j := range x {
			x[j] = rng.NormFloat64()
			row[j+1] = x[j]
		}
		// One in six; the curvature is what a linear model misses.
		latent := -1.3 + 0.8*x[0] - 0.5*x[1] + 0.6*math.Sin(2*x[2]) + 0.4*x[3]*x[4]
		row[0] = int64(0)
		if rng.NormFloat64() < latent {
			row[0] = int64(1)
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := to.Flush(); err != nil {
		return err
	}
	return f.Close()
}
