package infer_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

// TestOnValues: sweeps on values end where those on views do, from empty sites and from others, whether terms
// count once or not, with the same evidence and gradient; and where sites take something away they give up.
func TestOnValues(t *testing.T) {
	for _, n := range []int{20, 160} { // below and above what the response looks at
		rng := rand.New(rand.NewPCG(uint64(n), 5))
		x, values := mat.NewDense(n, 2, nil), gp.Values{Factors: make([]factor.Factor, n), Counts: make([]float64, n)}
		for i := range n {
			x.SetRow(i, []float64{rng.NormFloat64(), rng.NormFloat64()})
			y := 0
			if math.Sin(3*x.At(i, 0))+rng.NormFloat64() > 0 {
				y = 1
			}
			values.Factors[i], values.Counts[i] = factor.NewProbit(y), 0.5+float64(i%3)
		}
		k := kernel.Sum(kernel.Matern32(9, 0.8), kernel.Constant(2))
		var s gp.Scratch
		process, err := values.Process(k, x, &s)
		if err != nil {
			t.Fatal(err)
		}
		for _, counts := range [][]float64{nil, values.Counts} {
			values.Counts = counts
			want, err := infer.EP{Schedule: infer.Parallel}.Fit(t.Context(), values.Model(process))
			if err != nil || !want.Status.Converged {
				t.Fatal(err)
			}
			var start []gauss.Scalar
			for range 2 {
				got := infer.EP{}.OnValues(t.Context(), s.Values(k, x), values.Factors, counts, start)
				if got == nil {
					t.Fatalf("%d values: no fixed point", n)
				}
				// Sites are within 1e-9 of the fixed point in either run.
				for i, site := range got.Sites {
					if w := want.Sites.Terms[i]; math.Abs(site.Tau-w.Tau) > 1e-7 || math.Abs(site.Nu-w.Nu) > 1e-7 {
						t.Fatalf("site %d is %v, want %v", i, site, w)
					}
				}
				if math.Abs(got.LogEvidence-want.LogEvidence) > 1e-8*math.Abs(want.LogEvidence) {
					t.Errorf("%d values: evidence %v, want %v", n, got.LogEvidence, want.LogEvidence)
				}
				gradient, slope := s.ValuesGradient(k, x), process.EvidenceGradient(want, nil)
				for i, g := range slope {
					if math.Abs(gradient[i]-g) > 1e-6*max(1, math.Abs(g)) {
						t.Errorf("%d values: gradient %v, want %v", n, gradient, slope)
					}
				}
				start = got.Sites
			}
		}
		start := make([]gauss.Scalar, n)
		start[3].Tau = -0.1
		if (infer.EP{}).OnValues(t.Context(), s.Values(k, x), values.Factors, nil, start) != nil {
			t.Error("a site that takes something away is taken")
		}
	}
}
