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

// BenchmarkColumns is the sum over columns of Matérn 3/2 functions, by triples and by a
// squared distance, a root and an exponential for every column, and its contraction.
func BenchmarkColumns(b *testing.B) {
	const d = 10
	rng := rand.New(rand.NewPCG(1, 2))
	x, z, w := random(rng, benchRows, d), random(rng, benchCases, d), random(rng, benchRows, benchCases)
	scale, sums := make([]float64, d), make([]float64, 2*d)
	for k := range scale {
		scale[k] = 1
	}
	dst, one := random(rng, benchRows, Padded(benchCases)), random(rng, benchRows, Padded(benchCases))
	triples := NewTriples(z, scale, make([]float64, TriplesSize(benchCases, d)))
	room := make([]float64, ProbesSize(benchRows, d))
	partial := make([]float64, SlopesSize(d))
	var strips []Strips
	for k := range d {
		strips = append(strips, NewStrips(blas64.General{Rows: z.Rows, Cols: 1, Stride: z.Stride, Data: z.Data[k:]}, make([]float64, Size(benchCases, 1))))
	}
	for name, run := range map[string]func(){
		"triples": func() { triples.Matern32(dst, NewProbes(x, scale, room), scale) },
		"slopes":  func() { triples.Slopes(sums[:d], sums[d:], w, NewProbes(x, scale, room), partial) },
		"decays": func() {
			for k, s := range strips {
				s.Distances(one, blas64.General{Rows: x.Rows, Cols: 1, Stride: x.Stride, Data: x.Data[k:]})
				Matern32.Apply(one.Data[:len(one.Data)/Width*Width], 1, 3)
				for i, v := range one.Data {
					dst.Data[i] += v
				}
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				run()
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N*benchRows*benchCases*d), "ns/pair·column")
		})
	}
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
