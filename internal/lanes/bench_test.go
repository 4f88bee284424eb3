package lanes

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

// Of 64 rows and 1000 cases: one core's share of a request.
const (
	benchRows  = 64
	benchCases = 1000
)

func BenchmarkDistances(b *testing.B) {
	for _, d := range []int{20, 60} {
		rng := rand.New(rand.NewPCG(1, 2))
		x, z := random(rng, benchRows, d), random(rng, benchCases, d)
		s := NewStrips(z, make([]float64, Size(benchCases, d)))
		dst := random(rng, benchRows, Padded(benchCases))
		b.Run(fmt.Sprintf("d=%d", d), func(b *testing.B) {
			for range b.N {
				s.Distances(dst, x)
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N*benchRows*benchCases), "ns/pair")
		})
	}
}

func BenchmarkMatern32(b *testing.B) {
	s := make([]float64, benchRows*Padded(benchCases))
	for range b.N {
		Matern32.Apply(s, 1, 1) // of what came out before: the time does not depend on it
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N*len(s)), "ns/pair")
}

func BenchmarkSquaredLengths(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 4))
	m := random(rng, benchCases, benchCases)
	v := NewTriangle(blas64.Triangular{N: benchCases, Stride: m.Stride, Data: m.Data})
	for _, rows := range []int{1, 8, 32, 64, 96} {
		a := random(rng, rows+7, benchCases)
		a.Rows = rows
		dst, sums := make([]float64, rows), make([]float64, (rows+7)*Group)
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			for range b.N {
				v.SquaredLengths(dst, a, sums)
			}
			b.ReportMetric(float64(b.N*rows)*benchCases*benchCases/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
