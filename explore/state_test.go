package explore

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/reactor"
)

// randomProblem is a reactor of n measurements with constants of any size.
func randomProblem(seed uint64, n int) reactor.Problem {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	p := reactor.Default(make([]float64, n)...)
	p.PriorMean = 2 * rng.NormFloat64()
	p.PriorVariance = math.Exp(6 * rng.Float64()) // 1 to 400
	p.NoiseVariance = math.Exp(4 * (rng.Float64() - 0.8))
	p.ClutterWeight = 0.9 * rng.Float64()
	state := p.PriorMean + math.Sqrt(p.PriorVariance)*rng.NormFloat64()
	for i := range p.Data {
		p.Data[i] = state + math.Sqrt(p.NoiseVariance)*rng.NormFloat64()
		if rng.Float64() < p.ClutterWeight {
			p.Data[i] = math.Sqrt(p.ClutterVariance) * rng.NormFloat64()
		}
	}
	p.Threshold = state + rng.NormFloat64()
	p.Utility = decision.Table{{1, 0.01}, {0.9, 1}}
	return p
}

func integrated(t *testing.T, p reactor.Problem) (*state, *infer.Model) {
	t.Helper()
	m, err := p.Model()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newState(context.Background(), p, m)
	if err != nil {
		t.Fatal(err)
	}
	return s, m
}

// nearTo fails unless got is want to a tolerance relative to scale.
func nearTo(t *testing.T, what string, got, want, scale float64) {
	t.Helper()
	// Rules of ten nodes, enumerations and grids all end at rounding of some thousand
	// terms, and infer.Grid at 1e-10.
	const tolerance = 1e-9
	if !(math.Abs(got-want) <= tolerance*scale) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// Quadrature says what enumerating all 2^N cases says.
func TestStateIsMixture(t *testing.T) {
	for seed := range uint64(60) {
		n := 1 + int(seed%11)
		p := randomProblem(seed, n)
		s, m := integrated(t, p)
		r, err := infer.Mixture{}.Fit(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		phi := m.Views.Slice(0, 1)
		var mean, variance [1]float64
		r.Moments(phi, mean[:], variance[:])
		sd := math.Sqrt(variance[0])
		nearTo(t, "log evidence", s.logEvidence, r.LogEvidence, max(1, math.Abs(r.LogEvidence)))
		nearTo(t, "mean", s.mean, mean[0], sd+math.Abs(mean[0]))
		nearTo(t, "variance", s.variance, variance[0], variance[0])
		for _, z := range []float64{-30, -5, -2, -1, -0.3, 0, 0.2, 1, 2.5, 6, 40} {
			at := mean[0] + z*sd
			var above, stderr, density [1]float64
			decision.Exceeds(at).Probabilities(r, phi, above[:], stderr[:])
			nearTo(t, "probability", s.above(at), above[0], 1)
			r.Density(phi, []float64{at}, density[:])
			// The mixture is without the parts that have less than 1e-18 of its weight.
			nearTo(t, "density", s.density(at), density[0], density[0]+1e-6/sd)
		}
		if t.Failed() {
			t.Fatalf("seed %d: %+v", seed, p)
		}
	}
}

// With more measurements than can be enumerated it says what a grid says.
func TestStateIsGrid(t *testing.T) {
	for _, n := range []int{21, MaxMeasurements} {
		p := randomProblem(3, n)
		s, m := integrated(t, p)
		r, err := infer.Grid{}.Fit(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		var mean, variance [1]float64
		r.Moments(m.Views.Slice(0, 1), mean[:], variance[:])
		nearTo(t, "log evidence", s.logEvidence, r.LogEvidence, math.Abs(r.LogEvidence))
		nearTo(t, "mean", s.mean, mean[0], math.Sqrt(variance[0])+math.Abs(mean[0]))
		nearTo(t, "variance", s.variance, variance[0], variance[0])
	}
}

// threshold inverts above, far into both tails.
func TestStateThreshold(t *testing.T) {
	for seed := range uint64(20) {
		s, _ := integrated(t, randomProblem(seed, 5))
		for _, p := range []float64{1e-12, 1e-6, 0.01, 0.3, 0.5, 0.99, 1 - 1e-6} {
			at := s.threshold(p)
			nearTo(t, "probability above the threshold", s.above(at), p, p)
		}
	}
}

// Numbers at the ends of what a request may hold.
func TestStateExtremes(t *testing.T) {
	for _, change := range []func(*reactor.Problem){
		func(p *reactor.Problem) { p.NoiseVariance = smallestVariance },
		func(p *reactor.Problem) { p.NoiseVariance = largestVariance },
		func(p *reactor.Problem) { p.PriorVariance = smallestVariance },
		func(p *reactor.Problem) { p.PriorVariance = largestVariance },
		func(p *reactor.Problem) { p.PriorVariance, p.NoiseVariance = largestVariance, smallestVariance },
		func(p *reactor.Problem) { p.ClutterVariance = smallestVariance },
		func(p *reactor.Problem) { p.ClutterVariance = largestVariance },
		func(p *reactor.Problem) { p.ClutterWeight = 0 },
		func(p *reactor.Problem) { p.ClutterWeight = 0; p.Data[0], p.Data[1] = 3e4, -3e4 },
		func(p *reactor.Problem) { p.Data[0], p.Data[1] = 5e4, -5e4 },
		func(p *reactor.Problem) { p.PriorMean = largest },
	} {
		p := reactor.Default(-1.1, -2.6, -4, 5.7, -1.1)
		p.Utility = decision.Table{{1, 0.01}, {0.9, 1}}
		change(&p)
		s, m := integrated(t, p)
		r, err := infer.Mixture{}.Fit(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		var mean, variance [1]float64
		r.Moments(m.Views.Slice(0, 1), mean[:], variance[:])
		nearTo(t, "log evidence", s.logEvidence, r.LogEvidence, math.Abs(r.LogEvidence))
		// A log density of 1e9, of measurements that are as far from everything, is
		// rounded by 1e-7, and so is what it is the logarithm of. A variance is also a
		// difference from a mean that is known to rounding.
		rounding := 1e-6 * math.Abs(s.logEvidence)
		nearTo(t, "mean", s.mean, mean[0], math.Sqrt(variance[0])*(1+rounding)+math.Abs(mean[0]))
		nearTo(t, "variance", s.variance, variance[0], variance[0]*(1+rounding)+1e-6*math.Abs(mean[0]))
		if t.Failed() {
			t.Fatalf("%+v: %d panels", p, len(s.panels))
		}
	}
}

// Where rounding hides the posterior there is an error and no number.
func TestStateRounded(t *testing.T) {
	p := reactor.Default(largest, -largest)
	p.ClutterWeight, p.NoiseVariance = 0, smallestVariance
	m, err := p.Model()
	if err != nil {
		t.Fatal(err)
	}
	if s, err := newState(context.Background(), p, m); !errors.Is(err, errRounded) && !errors.Is(err, errIntricate) {
		t.Errorf("%+v, %v", s, err)
	}
}
