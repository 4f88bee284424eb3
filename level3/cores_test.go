package level3

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
)

// BenchmarkCores says how many times faster two cores are than one: the median over pairs
// of runs, one right after the other, so that a machine whose speed changes from second to
// second slows both. What an operation replaces is copied outside the measured time.
func BenchmarkCores(b *testing.B) {
	if runtime.NumCPU() < 2 {
		b.Skip("there is one core only")
	}
	impl := Available()[0]
	for _, n := range []int{1000, 2000} {
		rng := rand.New(rand.NewPCG(uint64(n), 0))
		general, definite, out := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
		for i := range general {
			general[i] = rng.Float64() - 0.5
		}
		for i := range n {
			definite[i*n+i] = float64(n)
		}
		impl.Dsyrk(blas.Lower, blas.NoTrans, n, n, 1, general, n, 1, definite, n)
		for _, op := range []struct {
			name string
			run  func()
		}{
			{"gemm", func() { gemm(impl, n, general, definite, out) }},
			{"cholesky", func() { impl.Cholesky(blas.Lower, n, out, n) }},
			{"inverse", func() { impl.CholeskyInverse(blas.Lower, n, out, n) }},
		} {
			b.Run(fmt.Sprintf("op=%s/n=%d", op.name, n), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
				// timed is how long a run on so many cores takes, once they are warm.
				timed := func(cores int) float64 {
					runtime.GOMAXPROCS(cores)
					var taken time.Duration
					for range 2 {
						copyLower(out, definite, n)
						start := time.Now()
						op.run()
						taken = time.Since(start)
					}
					return taken.Seconds()
				}
				ratios := make([]float64, b.N)
				for i := range ratios {
					ratios[i] = timed(1) / timed(2)
				}
				slices.Sort(ratios)
				b.ReportMetric(ratios[b.N/2], "times-one-core")
			})
		}
	}
}
