package factor_test

import (
	"math"
	"testing"

	"github.com/lossep/lossep/factor"
)

// tail is log Φ(−t) and its derivatives in the argument, by Laplace's asymptotic
// series (Abramowitz and Stegun 26.2.12), for t ≥ 1e3, where the terms left out
// are below 1e-17:
//
//	log Φ(−t) = −t²/2 − log(t√(2π)) + log(1 − 1/t² + 3/t⁴)
//	ρ = t + 1/t − 2/t³,  −ρ(ρ − t) = −1 + 1/t² − 6/t⁴
func tail(t float64) (l, d1, d2 float64) {
	q := 1 / (t * t)
	return -t*t/2 - math.Log(t*math.Sqrt(2*math.Pi)) + math.Log1p(-q+3*q*q), t + 1/t - 2*q/t, -1 + q - 6*q*q
}

// TestFarTails: labels and thresholds far on the wrong side, where Φ is long zero.
func TestFarTails(t *testing.T) {
	const relative = 1e-14 // a few roundings of the argument, of which l is the square
	for _, z := range []float64{1e3, 1e4, 1e5, 1e6, 1e7, 1e8} {
		for _, v := range []float64{0, 0.25, 3, 1e6} {
			l, d1, d2 := tail(z)
			s := math.Sqrt(1 + v)
			for _, y := range []float64{-1, 1} {
				got := answer(factor.Probit{Y: y}.LogMean(-y*z*s, v))
				closeTo(t, "Probit", z, v, got, answer(l, y*d1/s, d2/(s*s)), relative)
			}
			if v == 0 {
				continue
			}
			sd := math.Sqrt(v)
			got := answer(factor.Step{T: 0, Below: 0, Above: 1}.LogMean(-z*sd, v))
			closeTo(t, "Step up", z, v, got, answer(l, d1/sd, d2/v), relative)
			got = answer(factor.Step{T: 0, Below: 2, Above: 0}.LogMean(z*sd, v))
			closeTo(t, "Step down", z, v, got, answer(l+math.Ln2, -d1/sd, d2/v), relative)
		}
	}
}

// TestUpperTail: log Φ(z) ≈ −Φ(−z) keeps its digits where Φ(z) is one.
func TestUpperTail(t *testing.T) {
	for _, z := range []float64{5, 10, 20, 36} {
		got := answer(factor.Probit{Y: 1}.LogMean(2*z, 3)) // √(1 + 3) = 2
		p, n := math.Erfc(z/math.Sqrt2)/2, math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)
		// exp of a rounded −z²/2 is good to z² units in the last place.
		want := answer(math.Log1p(-p), n/(1-p)/2, -n/(1-p)*(z+n/(1-p))/4)
		closeTo(t, "Probit", z, 3, got, want, 1e-15*z*z)
	}
}

// TestStepScale: a utility's scale shifts log E t and nothing else, and a side whose
// utility vanishes counts no more.
func TestStepScale(t *testing.T) {
	for _, z := range []float64{-35, -20, -5, 0, 5, 20, 35} {
		for _, scale := range []float64{1e-300, 1, 1e300} {
			l, d1, d2 := factor.Probit{Y: 1}.Log(z)
			want := answer(math.Log(scale)+l, d1/2, d2/4)
			got := answer(factor.Step{T: 1, Below: 0, Above: scale}.LogMean(1+2*z, 4))
			closeTo(t, "one-sided Step", z, 4, got, want, 1e-14)
			if scale == 1 {
				// Φ(−35) is 1e-268, far above 1e-320. The curvature −d1(z + d1)
				// cancels down to 1/z² of its terms.
				got = answer(factor.Step{T: 1, Below: 1e-320, Above: 1}.LogMean(1+2*z, 4))
				closeTo(t, "nearly one-sided Step", z, 4, got, want, 1e-15*(10+z*z))
			}
			want = answer(factor.Step{T: 1, Below: 1, Above: 0.25}.LogMean(1+2*z, 4))
			want[0] += math.Log(scale)
			got = answer(factor.Step{T: 1, Below: scale, Above: 0.25 * scale}.LogMean(1+2*z, 4))
			closeTo(t, "scaled Step", z, 4, got, want, 1e-14)
		}
	}
}

// TestClutterFarAway: a measurement that both components find absurd still says
// which of them it came from.
func TestClutterFarAway(t *testing.T) {
	c := factor.Clutter{Y: 1000, Weight: 0.5, Variance: 10, Noise: 1}
	// At m = Y − e the log-odds of good over clutter are
	// ½(Y²/10 − e² + log 10): even at e² = Y²/10 + log 10.
	e := math.Sqrt(1e5 + math.Log(10))
	_, d1, d2 := c.LogMean(c.Y-e, 0)
	// Responsibility ½: slope e/2, curvature −½ + e²/4. The log-odds are a
	// difference of 5e4, so ρ is good to 1e-11.
	if !near(d1, e/2, 1e-10*e) || !near(d2, -0.5+e*e/4, 1e-10*e*e) {
		t.Errorf("slope %v and curvature %v, want %v and %v", d1, d2, e/2, -0.5+e*e/4)
	}
}

func closeTo(t *testing.T, what string, z, v float64, got, want [3]float64, relative float64) {
	t.Helper()
	for k := range got {
		if !near(got[k], want[k], relative*math.Abs(want[k])) {
			t.Errorf("%s at z = %v, v = %v: %v, want %v", what, z, v, got, want)
			return
		}
	}
}
