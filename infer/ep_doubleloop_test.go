package infer_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
)

// Where the sweeps do not settle the double loop does, at a fixed point of the copies.
func TestCountsInTheDoubleLoop(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	looped := 0
	for range 100 {
		n := 3 + rng.IntN(4)
		a := mat.NewDense(n, 1, nil)
		m := &infer.Model{}
		for i := range n {
			a.Set(i, 0, 10)
			m.Terms = append(m.Terms, factor.Clutter{Y: 5 * rng.NormFloat64(), Weight: 0.5, Variance: 10, Noise: 1})
			m.Counts = append(m.Counts, float64(1+rng.IntN(3)))
		}
		m.Views = gauss.NewViews(a, nil, nil)
		got, err := infer.EP{}.Fit(ctx, m)
		if err != nil || !got.Status.Converged || got.Status.DoubleLoop == 0 {
			continue
		}
		looped++
		copies, err := m.Copies("")
		if err != nil {
			t.Fatal(err)
		}
		// From where it ended there is nothing left to do.
		want, err := infer.EP{Start: spread(m.Counts, got.Sites), MaxSweeps: 1, Tolerance: 1e-7}.Fit(ctx, copies)
		if err != nil || !want.Status.Converged || math.Abs(got.LogEvidence-want.LogEvidence) > 1e-8 {
			t.Errorf("%v, which is no fixed point of copies: %v %v", got.Status, err, want)
		}
	}
	if looped < 5 {
		t.Errorf("the double loop was needed %d times only", looped)
	}
}

// spread are the sites of copies.
func spread(counts []float64, s infer.Sites) *infer.Sites {
	var all infer.Sites
	for i, site := range s.Terms {
		for range int(counts[i]) {
			all.Terms = append(all.Terms, gauss.Scalar{Nu: site.Nu / counts[i], Tau: site.Tau / counts[i]})
		}
	}
	return &all
}
