package nuts

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// BenchmarkSample reports whole runs, warm-up and diagnostics included:
// gradients and the smallest bulk effective sample size per second.
func BenchmarkSample(b *testing.B) {
	for _, dim := range []int{15, 100} {
		for _, m := range []struct {
			name   string
			metric Metric
		}{{"diagonal", Diagonal}, {"dense", Dense}} {
			b.Run(fmt.Sprintf("normal%d/%s", dim, m.name), func(b *testing.B) {
				var gradients, ess float64
				for seed := 0; b.Loop(); seed++ {
					r, err := Sample(context.Background(), always(standardNormal(dim)), Options{Seed: uint64(seed), Metric: m.metric})
					if err != nil {
						b.Fatal(err)
					}
					for _, c := range r.Chains {
						gradients += float64(c.Gradients)
					}
					worst := math.Inf(1)
					for _, s := range r.Coordinates {
						worst = min(worst, s.BulkESS)
					}
					ess += worst
				}
				b.ReportMetric(gradients/b.Elapsed().Seconds(), "gradients/s")
				b.ReportMetric(ess/b.Elapsed().Seconds(), "ESS/s")
			})
		}
	}
}

// BenchmarkTransition is one chain on one core, with nothing but NUTS itself:
// the density costs a few nanoseconds per dimension.
func BenchmarkTransition(b *testing.B) {
	for _, dim := range []int{15, 100} {
		rng := rand.New(rand.NewPCG(1, 1))
		eigenvalues := make([]float64, dim)
		for i := range eigenvalues {
			eigenvalues[i] = 1
		}
		dense, _ := newDenseMetric(withSpectrum(randomOrthogonal(dim, rng), eigenvalues))
		for _, m := range []struct {
			name   string
			metric metric
		}{{"diagonal", unitMetric(dim)}, {"dense", dense}} {
			b.Run(fmt.Sprintf("normal%d/%s", dim, m.name), func(b *testing.B) {
				c := testChain(standardNormal(dim), make([]float64, dim), 0.5, m.metric, 1)
				b.ReportAllocs()
				for b.Loop() {
					c.transition(context.Background())
				}
				b.ReportMetric(float64(c.gradients)/b.Elapsed().Seconds(), "gradients/s")
			})
		}
	}
}

func BenchmarkSummarize(b *testing.B) {
	s := autoregressive(4, 1000, 0.5, rand.New(rand.NewPCG(1, 1)))
	ws := newWorkspace(4, 1000)
	for b.Loop() {
		ws.summarize(s)
	}
}
