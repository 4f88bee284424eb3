package numbers

import (
	"fmt"
	"math"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/methods"
	"github.com/lossep/lossep/nuts"
)

// off is by how much a method may be off: in the mean, in standard deviations of the value, and in the density of an
// outcome.
type off struct{ mean, density float64 }

// Posteriors with Student's t noise and of counts: every method, chains and, of two rows, quadrature on a grid agree on
// the values at new points and on the density of an outcome there.
//
// Chains are within 4.5 standard errors of the truth: none of some ten numbers is beyond by chance (7e-6 each), and
// standard errors are themselves known to some per cent. What Gaussians are off by is bounded by what was measured, with
// some more: tails of noise with 2.5 degrees of freedom leave a posterior that is not normal, of which a mode with its
// curvature, and the Gaussian that a lower bound asks for, are further away than one that has its moments.
func TestPosteriorsAgreeWithReferences(t *testing.T) {
	for _, test := range []struct {
		family   Family
		outcome  float64
		evidence float64 // by which expectation propagation may be off
		off      map[lossep.Method]off
	}{
		{studentNoise{0.3, 2.5}, 0.5, 0.05, map[lossep.Method]off{lossep.EP: {0.10, 0.08}, lossep.LossEP: {0.10, 0.08}, lossep.VI: {0.08, 0.04}, lossep.Laplace: {0.25, 0.15}}},
		{negativeBinomial{math.Log(3), 2}, 3, 0.01, map[lossep.Method]off{lossep.EP: {0.03, 0.005}, lossep.LossEP: {0.03, 0.005}, lossep.VI: {0.005, 0.001}, lossep.Laplace: {0.06, 0.002}}},
		{poisson{math.Log(3)}, 3, 0.01, map[lossep.Method]off{lossep.EP: {0.03, 0.005}, lossep.LossEP: {0.03, 0.005}, lossep.VI: {0.005, 0.002}, lossep.Laplace: {0.25, 0.005}}},
	} {
		for _, rows := range []int{2, 15} {
			for seed := range uint64(max(1, 4-rows)) {
				name := fmt.Sprintf("%v, %d rows, seed %d", test.family, rows, seed)
				s := simulate(t, test.family, rows, seed)
				all := s.byAll(t)
				truth := s.reference(t, name, seed, test.outcome, all[lossep.EP].LogEvidence, test.evidence)
				for method, off := range test.off {
					for j, got := range s.says(all[method].Posterior, test.outcome) {
						want, noise := truth[j], 0.0
						if want.stderr > 0 { // chains whose draws tell less than 400 independent ones have not converged
							noise = 4.5 * want.sd / math.Sqrt(400)
						}
						if d := math.Abs(got.mean - want.mean); d > off.mean*want.sd+noise {
							t.Errorf("%s, %s, point %d: mean %v, want %v (standard deviation %v)", name, method, j, got.mean, want.mean, want.sd)
						}
						if d := math.Abs(got.density - want.density); d > off.density+4.5*want.stderr {
							t.Errorf("%s, %s, point %d: density %v, want %v ± %v", name, method, j, got.density, want.density, want.stderr)
						}
					}
				}
			}
		}
	}
}

// byAll runs all methods, calibrated ones to costs of 3:1.
func (s *simulated) byAll(t *testing.T) map[lossep.Method]*infer.Result {
	t.Helper()
	all := make(map[lossep.Method]*infer.Result)
	m := s.model.Plain()
	for _, method := range Methods() {
		d, _ := methods.Named(string(method))
		o := methods.Options{Draws: calibrationDraws}
		if ep := all[lossep.EP]; ep != nil {
			o.Start, m = &ep.Sites, s.calibrated(ep.Q, decision.Stake{Loss: decision.Pinball{Under: 3, Over: 1}}, ceilingTimes)
		}
		r, err := d.Fit(t.Context(), m, o)
		if err != nil || !r.Status.Converged {
			t.Fatal(s.family, method, err, r)
		}
		all[method] = r
	}
	return all
}

// reference is what chains say or, of two rows, quadrature, which chains and the evidence are compared with.
func (s *simulated) reference(t *testing.T, name string, seed uint64, outcome, evidence, bound float64) []said {
	m := s.model.Plain()
	chains, err := exact.NUTS{Options: nuts.Options{Seed: seed, Draws: 1500, Warmup: 500}}.Fit(t.Context(), m)
	if err != nil || !chains.Status.Converged {
		t.Fatal(err, chains.Status)
	}
	drawn := s.says(chains.Posterior, outcome)
	if m.Dim() > 2 {
		return drawn
	}
	grid, err := exact.Grid{}.Fit(t.Context(), m)
	if err != nil || !grid.Status.Converged {
		t.Fatal(err, grid.Status)
	}
	if d := math.Abs(grid.LogEvidence - evidence); d > bound {
		t.Errorf("%s: log evidence %v, by quadrature %v", name, evidence, grid.LogEvidence)
	}
	exactly := s.says(grid.Posterior, outcome)
	for j, e := range exactly {
		if d := math.Abs(drawn[j].density - e.density); d > 4.5*drawn[j].stderr {
			t.Errorf("%s, point %d: density %v ± %v by chains, %v by quadrature", name, j, drawn[j].density, drawn[j].stderr, e.density)
		}
	}
	return exactly
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
