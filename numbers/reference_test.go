package numbers

import (
	"math"
	"testing"

	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/nuts"
)

// Posteriors with Student's t noise and of negative binomial counts: expectation propagation, chains and, of two rows,
// quadrature on a grid agree on the values at new points and on the density of an outcome there.
//
// Chains are within 4.5 standard errors of the truth: none of some ten numbers is beyond by chance (7e-6 each), and
// standard errors are themselves known to some per cent. What the Gaussian of expectation propagation is off by
// is bounded by what was measured, in standard deviations of the value and as a density, with some more: tails of noise with 2.5
// degrees of freedom leave a posterior that is not normal.
func TestPosteriorsAgreeWithReferences(t *testing.T) {
	for _, test := range []struct {
		family                  Family
		outcome                 float64
		mean, density, evidence float64
	}{
		{studentNoise{0.3, 2.5}, 0.5, 0.10, 0.08, 0.05},
		{negativeBinomial{math.Log(3), 2}, 3, 0.03, 0.005, 0.01},
	} {
		for _, rows := range []int{2, 15} {
			for seed := range uint64(max(1, 4-rows)) {
				s := simulate(t, test.family, rows, seed)
				m := s.model.Plain()
				ep, err := infer.EP{Damping: 0.5}.Fit(t.Context(), m)
				if err != nil || !ep.Status.Converged {
					t.Fatal(err, ep.Status)
				}
				chains, err := exact.NUTS{Options: nuts.Options{Seed: seed, Draws: 1500, Warmup: 500}}.Fit(t.Context(), m)
				if err != nil || !chains.Status.Converged {
					t.Fatal(err, chains.Status)
				}
				want := s.says(ep.Posterior, test.outcome)
				drawn := s.says(chains.Posterior, test.outcome)
				if rows == 2 {
					grid, err := exact.Grid{}.Fit(t.Context(), m)
					if err != nil || !grid.Status.Converged {
						t.Fatal(err, grid.Status)
					}
					if d := math.Abs(grid.LogEvidence - ep.LogEvidence); d > test.evidence {
						t.Errorf("%v, seed %d: log evidence %v, by quadrature %v", test.family, seed, ep.LogEvidence, grid.LogEvidence)
					}
					exactly := s.says(grid.Posterior, test.outcome)
					for j, e := range exactly {
						if d := math.Abs(drawn[j].density - e.density); d > 4.5*drawn[j].stderr {
							t.Errorf("%v, seed %d, point %d: density %v ± %v by chains, %v by quadrature", test.family, seed, j, drawn[j].density, drawn[j].stderr, e.density)
						}
					}
					drawn = exactly
				}
				for j, w := range want {
					d := drawn[j]
					// Chains whose draws tell less than 400 independent ones have not converged.
					noise := 0.0
					if rows > 2 {
						noise = 4.5 * d.sd / math.Sqrt(400)
					}
					if off := math.Abs(w.mean - d.mean); off > test.mean*d.sd+noise {
						t.Errorf("%v, %d rows, seed %d, point %d: mean %v, want %v (standard deviation %v)", test.family, rows, seed, j, w.mean, d.mean, d.sd)
					}
					if off := math.Abs(w.density - d.density); off > test.density+4.5*d.stderr {
						t.Errorf("%v, %d rows, seed %d, point %d: density %v, want %v ± %v", test.family, rows, seed, j, w.density, d.density, d.stderr)
					}
				}
			}
		}
	}
}

// said is what a posterior says of a point: its value, and the density of an outcome.
type said struct{ mean, sd, density, stderr float64 }

func (s *simulated) says(p infer.Posterior, outcome float64) []said {
	points := s.model.Points.Slice(6, 8)
	n := points.Len()
	mean, variance, density, stderr := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	p.Moments(points, mean, variance)
	p.Expect(points, s.family.Term(outcome), density, stderr)
	all := make([]said, n)
	for j := range all {
		all[j] = said{mean[j], math.Sqrt(variance[j]), density[j], stderr[j]}
	}
	return all
}
