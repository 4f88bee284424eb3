package orthant

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// problems are the probit Gaussian processes the benchmarks run on. Use
// -cpu 1 for figures per core.
var problems = []struct {
	n     int
	scale float64
}{{15, math.E}, {100, math.E}, {100, 1}, {200, math.E}}

func BenchmarkSample(b *testing.B) {
	for _, p := range problems {
		b.Run(fmt.Sprintf("n=%d/scale=%.1f", p.n, p.scale), func(b *testing.B) {
			r := mustNew(b, probitGP(p.n, math.Exp(3), p.scale, 0), make([]float64, p.n))
			dst := mat.NewDense(1024, p.n, nil)
			seed := uint64(0)
			for b.Loop() {
				if _, err := r.Sample(context.Background(), dst, seed); err != nil {
					b.Fatal(err)
				}
				seed++
			}
			b.ReportMetric(1024*float64(b.N)/b.Elapsed().Seconds(), "draws/s")
		})
	}
}

func BenchmarkLogProb(b *testing.B) {
	for _, p := range problems {
		b.Run(fmt.Sprintf("n=%d/scale=%.1f", p.n, p.scale), func(b *testing.B) {
			r := mustNew(b, probitGP(p.n, math.Exp(3), p.scale, 0), make([]float64, p.n))
			for b.Loop() {
				r.LogProb(4096, 1)
			}
			b.ReportMetric(r.LogProb(4096, 1).RelErr, "relerr")
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for _, p := range problems {
		b.Run(fmt.Sprintf("n=%d/scale=%.1f", p.n, p.scale), func(b *testing.B) {
			cov := probitGP(p.n, math.Exp(3), p.scale, 0)
			for b.Loop() {
				mustNew(b, cov, make([]float64, p.n))
			}
		})
	}
}
