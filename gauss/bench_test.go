package gauss_test

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
)

// BenchmarkStage times the stages of a parallel sweep of a Gaussian process with n
// inputs, and says at what speed each runs its own number of operations.
func BenchmarkStage(b *testing.B) {
	for _, n := range []int{1000, 3000} {
		k := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				d := float64(j-i) / float64(n) * 50
				k.SetSym(i, j, math.Exp(-d)) // an exponential kernel: well conditioned
			}
		}
		root, err := gauss.NewRoot(k)
		if err != nil {
			b.Fatal(err)
		}
		views := root.Views()
		sites := make([]gauss.Scalar, n)
		for i := range sites {
			sites[i] = gauss.Scalar{Nu: math.Sin(float64(i)), Tau: 0.5}
		}
		var ws gauss.Workspace
		nat, q, other := gauss.NewNatural(n), gauss.NewGaussian(n), gauss.NewGaussian(n)
		mean, variance := make([]float64, n), make([]float64, n)
		third := float64(n) * float64(n) * float64(n) / 3 // operations of each stage
		for _, stage := range []struct {
			name string
			run  func()
		}{
			{"product", func() {
				nat.SetStandard()
				nat.TimesScalars(views, sites, &ws)
			}},
			{"cholesky", func() {
				if err := q.Set(nat); err != nil {
					b.Fatal(err)
				}
			}},
			{"marginals", func() {
				// Two in turn, because a workspace remembers what it holds.
				q, other = other, q
				q.Marginals(views, mean, variance, &ws)
			}},
		} {
			b.Run(fmt.Sprintf("stage=%s/n=%d", stage.name, n), func(b *testing.B) {
				for b.Loop() {
					stage.run()
				}
				b.ReportMetric(third*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
