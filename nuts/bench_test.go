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
		b.Run(fmt.Sprintf("normal%d", dim), func(b *testing.B) {
			var gradients, ess float64
			for seed := 0; b.Loop(); seed++ {
				r, err := Sample(context.Background(), always(standardNormal(dim)), Options{Seed: uint64(seed)})
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

// BenchmarkTransition is one chain on one core, with nothing but NUTS itself:
// the density costs a few nanoseconds per dimension.
func BenchmarkTransition(b *testing.B) {
	for _, dim := range []int{15, 100} {
		b.Run(fmt.Sprintf("normal%d", dim), func(b *testing.B) {
			c := testChain(standardNormal(dim), make([]float64, dim), 0.5, unitMetric(dim), 1)
			b.ReportAllocs()
			for b.Loop() {
				c.transition(context.Background())
			}
			b.ReportMetric(float64(c.gradients)/b.Elapsed().Seconds(), "gradients/s")
		})
	}
}

func BenchmarkSummarize(b *testing.B) {
	s := autoregressive(4, 1000, 0.5, rand.New(rand.NewPCG(1, 1)))
	ws := newWorkspace(4, 1000)
	for b.Loop() {
		ws.summarize(s)
	}
}
