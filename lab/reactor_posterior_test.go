package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
)

// randomProblem is a reactor of n measurements with constants of any size.
func randomProblem(seed uint64, n int) Reactor {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	p := NewReactor(make([]float64, n)...)
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

func integrated(t *testing.T, p Reactor) (*ReactorPosterior, *infer.Model) {
	t.Helper()
	m, err := p.Model()
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Exact(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s, m
}

// nearTo fails unless got is want to a tolerance relative to scale.
func nearTo(t *testing.T, what string, got, want, scale float64) {
	t.Helper()
	// Rules of ten nodes, enumerations and grids all end at rounding of some thousand
	// terms, and exact.Grid at 1e-10.
	const tolerance = 1e-9
	if !(math.Abs(got-want) <= tolerance*scale) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// Quadrature says what enumerating all 2^N cases says.
func TestExactIsMixture(t *testing.T) {
	for seed := range uint64(60) {
		n := 1 + int(seed%11)
		p := randomProblem(seed, n)
		s, m := integrated(t, p)
		r, err := exact.Mixture{}.Fit(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		phi := m.Views.Slice(0, 1)
		var mean, variance [1]float64
		r.Moments(phi, mean[:], variance[:])
		sd := math.Sqrt(variance[0])
		nearTo(t, "log evidence", s.LogEvidence, r.LogEvidence, max(1, math.Abs(r.LogEvidence)))
		nearTo(t, "mean", s.Mean, mean[0], sd+math.Abs(mean[0]))
		nearTo(t, "variance", s.Variance, variance[0], variance[0])
		for _, z := range []float64{-30, -5, -2, -1, -0.3, 0, 0.2, 1, 2.5, 6, 40} {
			at := mean[0] + z*sd
			var above, stderr, density [1]float64
			decision.Exceeds(at).Probabilities(r, phi, above[:], stderr[:])
			nearTo(t, "probability", s.Above(at), above[0], 1)
			infer.Density(r, phi, []float64{at}, density[:])
			// The mixture is without the parts that have less than 1e-18 of its weight.
			nearTo(t, "density", s.Density(at), density[0], density[0]+1e-6/sd)
		}
		// As a posterior it answers about any view of v, smooth or with a jump.
		views := gauss.NewViews(mat.NewDense(3, 1, []float64{1.3, -0.7, 0.4}), []float64{0.2, 1, -0.5}, []float64{0, 0, 0.8})
		for _, f := range []factor.Factor{factor.Probit{Y: 1}, factor.Step{T: 0.1, Below: 0.3, Above: 2}} {
			var got, want, stderr [3]float64
			s.Expect(views, f, got[:], stderr[:])
			r.Expect(views, f, want[:], stderr[:])
			for i := range got {
				nearTo(t, fmt.Sprintf("E %T of view %d", f, i), got[i], want[i], 1)
			}
		}
		var m3, v3, wantM, wantV [3]float64
		s.Moments(views, m3[:], v3[:])
		r.Moments(views, wantM[:], wantV[:])
		for i := range m3 {
			nearTo(t, "mean of a view", m3[i], wantM[i], 1+math.Abs(wantM[i]))
			nearTo(t, "variance of a view", v3[i], wantV[i], wantV[i])
		}
		if t.Failed() {
			t.Fatalf("seed %d: %+v", seed, p)
		}
	}
}

// With more measurements than can be enumeratedMeasurements it says what a grid says.
func TestExactIsGrid(t *testing.T) {
	for _, n := range []int{21, 40} {
		p := randomProblem(3, n)
		s, m := integrated(t, p)
		r, err := exact.Grid{}.Fit(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		var mean, variance [1]float64
		r.Moments(m.Views.Slice(0, 1), mean[:], variance[:])
		nearTo(t, "log evidence", s.LogEvidence, r.LogEvidence, math.Abs(r.LogEvidence))
		nearTo(t, "mean", s.Mean, mean[0], math.Sqrt(variance[0])+math.Abs(mean[0]))
		nearTo(t, "variance", s.Variance, variance[0], variance[0])
	}
}

// threshold inverts above, far into both tails.
func TestExactThreshold(t *testing.T) {
	for seed := range uint64(20) {
		s, _ := integrated(t, randomProblem(seed, 5))
		for _, p := range []float64{1e-12, 1e-6, 0.01, 0.3, 0.5, 0.99, 1 - 1e-6} {
			at := s.Threshold(p)
			nearTo(t, "probability above the threshold", s.Above(at), p, p)
		}
	}
}

// Numbers at the ends of what the page lets people ask.
func TestExactExtremes(t *testing.T) {
	for _, change := range []func(*Reactor){
		func(p *Reactor) { p.NoiseVariance = smallestVariance },
		func(p *Reactor) { p.NoiseVariance = largestVariance },
		func(p *Reactor) { p.PriorVariance = smallestVariance },
		func(p *Reactor) { p.PriorVariance = largestVariance },
		func(p *Reactor) { p.PriorVariance, p.NoiseVariance = largestVariance, smallestVariance },
		func(p *Reactor) { p.ClutterVariance = smallestVariance },
		func(p *Reactor) { p.ClutterVariance = largestVariance },
		func(p *Reactor) { p.ClutterWeight = 0 },
		func(p *Reactor) { p.ClutterWeight = 0; p.Data[0], p.Data[1] = 3e4, -3e4 },
		func(p *Reactor) { p.Data[0], p.Data[1] = 5e4, -5e4 },
		func(p *Reactor) { p.PriorMean = largest },
	} {
		p := NewReactor(-1.1, -2.6, -4, 5.7, -1.1)
		p.Utility = decision.Table{{1, 0.01}, {0.9, 1}}
		change(&p)
		s, m := integrated(t, p)
		r, err := exact.Mixture{}.Fit(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		var mean, variance [1]float64
		r.Moments(m.Views.Slice(0, 1), mean[:], variance[:])
		nearTo(t, "log evidence", s.LogEvidence, r.LogEvidence, math.Abs(r.LogEvidence))
		// A log density of 1e9, of measurements that are as far from everything, is
		// rounded by 1e-7, and so is what it is the logarithm of. A variance is also a
		// difference from a mean that is known to rounding.
		rounding := 1e-6 * math.Abs(s.LogEvidence)
		nearTo(t, "mean", s.Mean, mean[0], math.Sqrt(variance[0])*(1+rounding)+math.Abs(mean[0]))
		nearTo(t, "variance", s.Variance, variance[0], variance[0]*(1+rounding)+1e-6*math.Abs(mean[0]))
		if t.Failed() {
			t.Fatalf("%+v: %d panels", p, len(s.panels))
		}
	}
}

// Where rounding hides the posterior there is an error and no number.
func TestExactRounded(t *testing.T) {
	p := NewReactor(largest, -largest)
	p.ClutterWeight, p.NoiseVariance = 0, smallestVariance
	if s, err := p.Exact(context.Background()); !errors.Is(err, errRounded) && !errors.Is(err, errIntricate) {
		t.Errorf("%+v, %v", s, err)
	}
}
