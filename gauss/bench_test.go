package gauss_test

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
)

// BenchmarkStage times the stages of a parallel sweep of a Gaussian process with n
// inputs, and says at what speed each runs its n³/3 operations. The product of two
// matrices that they are measured against is level3's BenchmarkGemm; infer's
// BenchmarkSweep has both.
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
		nat, q := gauss.NewNatural(n), gauss.NewGaussian(n)
		mean, variance := make([]float64, n), make([]float64, n)
		set := func() {
			if err := q.Exchange(nat); err != nil {
				b.Fatal(err)
			}
		}
		nat.SetPosterior(views, sites, &ws)
		set()
		nat.CopyFrom(q.Natural()) // from now on the two are equal
		for _, stage := range []struct {
			name        string
			before, run func()
		}{
			{"product", func() {}, func() { nat.SetPosterior(views, sites, &ws) }},
			{"cholesky", func() {}, set},
			// A workspace remembers what it holds, until there is another Gaussian.
			{"marginals", set, func() { q.Marginals(views, mean, variance, &ws) }},
		} {
			b.Run(fmt.Sprintf("stage=%s/n=%d", stage.name, n), func(b *testing.B) {
				for range b.N { // b.Loop would run the first of several -cpu before setting it
					b.StopTimer()
					stage.before()
					b.StartTimer()
					stage.run()
				}
				third := float64(n) * float64(n) * float64(n) / 3
				b.ReportMetric(third*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
