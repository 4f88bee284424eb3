package gp_test

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

// Random problems of two to eight outcomes, with outcomes that no case has, repeated rows,
// rows far away and kernels from flat to white and from weak to strong: what settles is
// finite, and what does not says so.
func TestOutcomesRobustness(t *testing.T) {
	problems := 60
	if os.Getenv("LOSSEP_LONG") != "" { // ten minutes
		problems = 2000
	}
	unsettled := 0
	for seed := range problems {
		rng := rand.New(rand.NewPCG(uint64(seed), 8))
		number, n := 2+rng.IntN(7), 2+rng.IntN(16)
		x, o := contest(rng, n, number)
		if rng.IntN(3) == 0 { // no case has some of the outcomes
			few := 1 + rng.IntN(number)
			for i := range o.Of {
				o.Of[i] %= few
			}
		}
		for i := 1; i < n; i++ {
			switch rng.IntN(6) {
			case 0:
				x.SetRow(i, x.RawRowView(rng.IntN(i)))
			case 1:
				x.Set(i, 0, x.At(i, 0)*math.Pow(10, 6*rng.Float64()))
			}
		}
		logs := func(most float64) float64 { return math.Pow(10, most*(2*rng.Float64()-1)) }
		k := kernel.Sum(kernel.Matern32(logs(5), logs(3)), kernel.Constant(logs(3)))
		p, err := gp.NewOutcomes(k, x, o)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		r, err := infer.EP{Schedule: infer.Schedule(rng.IntN(2))}.Fit(context.Background(), p.Model())
		if err != nil {
			t.Logf("seed %d, %v: %v", seed, k, err)
			unsettled++
			continue
		}
		if !r.Status.Converged {
			t.Logf("seed %d, %v: %v", seed, k, r.Status)
			unsettled++
		}
		if math.IsNaN(r.LogEvidence) || r.LogEvidence > 1e-6 {
			t.Errorf("seed %d: log evidence %v", seed, r.LogEvidence)
		}
		z := mat.NewDense(3, 2, nil)
		z.SetRow(0, x.RawRowView(0))
		z.SetRow(1, []float64{rng.NormFloat64(), rng.NormFloat64()})
		z.SetRow(2, []float64{1e8, -1e8})
		check := func(i int, mean []float64, cov *mat.SymDense) {
			for c := range number {
				if !(cov.At(c, c) >= -1e-7) {
					t.Errorf("seed %d, row %d: variance %v", seed, i, cov.At(c, c))
				}
			}
			if (seed+i)%6 != 0 { // they take most of the time
				return
			}
			probabilities := classes(mean, cov)
			if s := floats.Sum(probabilities); !(math.Abs(s-1) < 1e-4) || !(floats.Min(probabilities) >= 0) {
				t.Errorf("seed %d, row %d, %v: probabilities %v", seed, i, k, probabilities)
			}
		}
		if f, ok := p.OutcomesPredictor(context.Background(), r.Sites.Terms); ok {
			f.Moments(z, check)
		} else {
			for i := range 3 {
				mean, cov := p.OutcomesAt(r.Q, z.RawRowView(i))
				check(i, mean, cov)
			}
		}
		out := p.LeaveOut(r.Q, r.Sites.Terms)
		for i := range n {
			out.Cases([]int{i}, func(_ int, mean []float64, cov *mat.SymDense) {
				if math.IsNaN(floats.Sum(mean)) || math.IsNaN(mat.Sum(cov)) {
					t.Errorf("seed %d: NaN without case %d", seed, i)
				}
			})
		}
	}
	t.Logf("%d of %d problems did not settle", unsettled, problems)
	if float64(unsettled) > 0.001*float64(problems) {
		t.Errorf("%d of %d problems did not settle", unsettled, problems)
	}
}
