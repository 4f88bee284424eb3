package gauss_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"pgregory.net/rapid"

	"github.com/lossep/lossep/gauss"
)

func TestScalarRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mean := rapid.Float64Range(-1e6, 1e6).Draw(t, "mean")
		variance := math.Pow(10, rapid.Float64Range(-12, 12).Draw(t, "log10 variance"))
		s := gauss.ScalarFromMoments(mean, variance)
		// Two or three roundings, but for means so small that ν is subnormal.
		const relative = 5e-16
		if got := s.Mean(); math.Abs(got-mean) > relative*math.Abs(mean)+1e-300 {
			t.Errorf("mean %v became %v", mean, got)
		}
		if got := s.Variance(); math.Abs(got-variance) > relative*variance {
			t.Errorf("variance %v became %v", variance, got)
		}
		if !s.Proper() {
			t.Errorf("%v is not proper", s)
		}
	})
}

// TestScalarProductThenQuotient, on a binary grid, where sums are exact.
func TestScalarProductThenQuotient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grid := rapid.Map(rapid.IntRange(-1<<40, 1<<40), func(i int) float64 { return float64(i) / 1024 })
		a := gauss.Scalar{Nu: grid.Draw(t, "ν"), Tau: grid.Draw(t, "τ")}
		b := gauss.Scalar{Nu: grid.Draw(t, "ν′"), Tau: grid.Draw(t, "τ′")}
		if got := a.Times(b).Over(b); got != a {
			t.Errorf("%v became %v", a, got)
		}
		if a.Times(b) != b.Times(a) || a.Times(b).Tau != a.Tau+b.Tau || a.Over(b).Nu != a.Nu-b.Nu {
			t.Errorf("%v and %v do not add", a, b)
		}
	})
}

func TestScalarProper(t *testing.T) {
	for _, bad := range []gauss.Scalar{
		{0, 0}, {1, -1}, {0, math.NaN()}, {0, math.Inf(1)}, {math.NaN(), 1}, {math.Inf(-1), 1},
	} {
		if bad.Proper() {
			t.Errorf("%v passes for proper", bad)
		}
	}
	if !(gauss.Scalar{Nu: -3, Tau: 1e-300}).Proper() {
		t.Error("a wide Gaussian does not pass for proper")
	}
}

// TestScalarLogPartition integrates exp(νs − ½τs²)/√(2π) over 14 standard deviations
// either side of the mean.
func TestScalarLogPartition(t *testing.T) {
	for _, s := range []gauss.Scalar{{0, 1}, {0.3, 0.5}, {-4, 2}, {10, 25}, {1e-3, 1e-4}} {
		mean, sd := s.Nu/s.Tau, 1/math.Sqrt(s.Tau)
		top := s.Nu*mean - 0.5*s.Tau*mean*mean
		f := func(x float64) float64 {
			return math.Exp(s.Nu*x-0.5*s.Tau*x*x-top) / math.Sqrt(2*math.Pi)
		}
		// 200 nodes on 28 standard deviations integrate a Gaussian to rounding.
		want := top + math.Log(quad.Fixed(f, mean-14*sd, mean+14*sd, 200, quad.Legendre{}, 0))
		if got := s.LogPartition(); math.Abs(got-want) > 1e-13*(1+math.Abs(want)) {
			t.Errorf("log partition of %v: %v, by quadrature %v", s, got, want)
		}
		// One dimension is the case M = 1 of a Gaussian.
		n := gauss.NewNatural(1)
		n.TimesScalar([]float64{1}, s, 1)
		g := gauss.NewGaussian(1)
		if err := g.Exchange(n); err != nil {
			t.Fatal(err)
		}
		if got := g.LogPartition(); math.Abs(got-want) > 1e-13*(1+math.Abs(want)) {
			t.Errorf("log partition of %v in one dimension: %v, by quadrature %v", s, got, want)
		}
	}
	if got := (gauss.Scalar{Tau: 1}).LogPartition(); got != 0 {
		t.Errorf("log partition of the standard normal: %v", got)
	}
}
