package level3

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Compare with: go test -bench 'Gemm|Cholesky' -cpu 1 -count 6 ./level3 | benchstat -col /impl -

// sides of a benchmark: what is selected by default is "ours".
func benchmarked() []struct {
	name string
	impl routines
} {
	type side = struct {
		name string
		impl routines
	}
	all := Available()
	list := []side{{"ours", all[0]}}
	for _, impl := range all[1:] {
		if impl.ks != nil {
			list = append(list, side{impl.Name(), impl})
		}
	}
	return append(list, side{"gonum", truth{}})
}

// benchmark runs body for each order and implementation on n×n matrices: a general
// one, a positive definite one and one to write on. flops counts in units of n³.
func benchmark(b *testing.B, flops float64, sizes []int, body func(r routines, n int, general, definite, out []float64)) {
	for _, n := range sizes {
		rng := rand.New(rand.NewPCG(uint64(n), 0))
		general, out := make([]float64, n*n), make([]float64, n*n)
		for i := range general {
			general[i] = rng.Float64() - 0.5
		}
		definite := make([]float64, n*n)
		for i := range n {
			definite[i*n+i] = float64(n)
		}
		Available()[0].Dsyrk(blas.Lower, blas.NoTrans, n, n, 1, general, n, 1, definite, n)
		for _, side := range benchmarked() {
			b.Run(fmt.Sprintf("n=%d/impl=%s", n, side.name), func(b *testing.B) {
				for range b.N { // b.Loop would run the first of several -cpu before setting it
					body(side.impl, n, general, definite, out)
				}
				done := flops * float64(n) * float64(n) * float64(n) * float64(b.N)
				b.ReportMetric(done/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

var (
	smallSizes = []int{4, 8, 15, 16, 24, 32, 48, 63}
	largeSizes = []int{64, 128, 256, 500, 1000, 2000}
	factorings = []int{64, 128, 256, 500, 1000, 2000, 4000}
)

func gemm(r routines, n int, general, definite, out []float64) {
	r.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, general, n, definite, n, 0, out, n)
}

func BenchmarkGemm(b *testing.B)      { benchmark(b, 2, largeSizes, gemm) }
func BenchmarkSmallGemm(b *testing.B) { benchmark(b, 2, smallSizes, gemm) }

func syrk(r routines, n int, general, _, out []float64) {
	r.Dsyrk(blas.Lower, blas.NoTrans, n, n, 1, general, n, 0, out, n)
}

func BenchmarkSyrk(b *testing.B)      { benchmark(b, 1, largeSizes, syrk) }
func BenchmarkSmallSyrk(b *testing.B) { benchmark(b, 1, smallSizes, syrk) }

func trsm(r routines, n int, general, definite, out []float64) {
	copy(out, general)
	r.Dtrsm(blas.Left, blas.Lower, blas.NoTrans, blas.NonUnit, n, n, 1, definite, n, out, n)
}

func BenchmarkTrsm(b *testing.B)      { benchmark(b, 1, largeSizes, trsm) }
func BenchmarkSmallTrsm(b *testing.B) { benchmark(b, 1, smallSizes, trsm) }

func trmm(r routines, n int, general, definite, out []float64) {
	copy(out, general)
	r.Dtrmm(blas.Right, blas.Lower, blas.Trans, blas.NonUnit, n, n, 1, definite, n, out, n)
}

func BenchmarkTrmm(b *testing.B) { benchmark(b, 1, largeSizes, trmm) }

// copyLower restores the triangle that a factorisation replaces.
func copyLower(dst, src []float64, n int) {
	for i := range n {
		copy(dst[i*n:i*n+i+1], src[i*n:])
	}
}

func cholesky(r routines, n int, _, definite, out []float64) {
	copyLower(out, definite, n)
	r.Cholesky(blas.Lower, n, out, n)
}

func BenchmarkCholesky(b *testing.B)      { benchmark(b, 1./3, factorings, cholesky) }
func BenchmarkSmallCholesky(b *testing.B) { benchmark(b, 1./3, smallSizes, cholesky) }

func inverse(r routines, n int, _, definite, out []float64) {
	copyLower(out, definite, n)
	r.CholeskyInverse(blas.Lower, n, out, n)
}

func BenchmarkInverse(b *testing.B)      { benchmark(b, 2./3, largeSizes, inverse) }
func BenchmarkSmallInverse(b *testing.B) { benchmark(b, 2./3, smallSizes, inverse) }

// BenchmarkGonumCholesky is gonum's own factorisation with our kernels under it.
func BenchmarkGonumCholesky(b *testing.B) {
	before := blas64.Implementation()
	defer blas64.Use(before)
	benchmark(b, 1./3, []int{1000}, func(r routines, n int, _, definite, out []float64) {
		copyLower(out, definite, n)
		blas64.Use(before)
		if impl, ok := r.(Implementation); ok {
			blas64.Use(impl)
		}
		truth{}.Cholesky(blas.Lower, n, out, n)
	})
}

func symProduct(r routines, n int, general, definite, out []float64) {
	r.SymProduct(blas.Lower, blas.Trans, n, n, 1, general, n, nil, definite[:n], 0, nil, 0, out, n)
}

func BenchmarkSymProduct(b *testing.B) { benchmark(b, 1, []int{32, 128, 500, 1000}, symProduct) }

// stairs of the views of a Gaussian process: row i begins with n−1−i zeros.
func triangularLead(n int) []int {
	lead := make([]int, n)
	for i := range lead {
		lead[i] = n - 1 - i
	}
	return lead
}

func BenchmarkStairProduct(b *testing.B) {
	benchmark(b, 1./3, []int{32, 128, 500, 1000}, func(r routines, n int, general, definite, out []float64) {
		r.SymProduct(blas.Upper, blas.Trans, n, n, 1, general, n, triangularLead(n), definite[:n], 0, nil, 0, out, n)
	})
}

func BenchmarkStairSolve(b *testing.B) {
	benchmark(b, 1./3, []int{32, 128, 500, 1000}, func(r routines, n int, general, definite, out []float64) {
		r.SolveStairs(blas.Right, n, n, definite, n, general, n, triangularLead(n), out, n)
	})
}
