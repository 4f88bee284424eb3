package level3

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/blas"
)

// Slices of depth add up to what gonum has, whatever the sign of the weights and the zeros that rows begin with, and
// to the same bits on any number of cores.
func TestDeepProducts(t *testing.T) {
	const n, k = 53, 9001
	rng := rand.New(rand.NewPCG(3, 1))
	a, d, lead := make([]float64, k*n), make([]float64, k), make([]int, k)
	for i := range k {
		lead[i] = max(0, n-1-i/3)
		d[i] = rng.Float64() - 0.3
		for j := lead[i]; j < n; j++ {
			a[i*n+j] = rng.NormFloat64()
		}
	}
	if sliceRows(n, k) == k {
		t.Fatal("not a deep product")
	}
	scaled := make([]float64, len(a))
	for i := range k {
		for j := range n {
			scaled[i*n+j] = d[i] * a[i*n+j]
		}
	}
	start := make([]float64, n*n)
	for i := range start {
		start[i] = rng.NormFloat64()
	}
	for _, beta := range []float64{0, 1, -0.5} {
		want := append([]float64(nil), start...)
		reference.Dgemm(blas.Trans, blas.NoTrans, n, n, k, 2, a, n, scaled, n, beta, want, n)
		for _, impl := range Available() {
			if impl.ks == nil {
				continue
			}
			for _, l := range [][]int{nil, lead} {
				t.Run(fmt.Sprint(impl.Name(), beta, l != nil), func(t *testing.T) {
					var first []float64
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
					for _, cores := range []int{1, 2, 3, 16} {
						runtime.GOMAXPROCS(cores)
						c := append([]float64(nil), start...)
						impl.SymProduct(blas.Upper, blas.Trans, n, k, 2, a, n, l, d, beta, c, n, c, n)
						if first == nil {
							first = c
						}
						for i := range n {
							for j := range n {
								x := c[i*n+j]
								if j < i && x != start[i*n+j] {
									t.Fatalf("C[%d,%d] below the diagonal was written", i, j)
								}
								// 9,001 products that are 1e4 in all round by at most 1e-8, and as a rule by a hundredth of it.
								if diff := x - want[i*n+j]; j >= i && !(diff < 1e-9 && diff > -1e-9) {
									t.Fatalf("C[%d,%d] = %v, want %v", i, j, x, want[i*n+j])
								}
								if x != first[i*n+j] {
									t.Fatalf("C[%d,%d] depends on the number of cores", i, j)
								}
							}
						}
					}
				})
			}
		}
	}
}
