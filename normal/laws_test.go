package normal

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"pgregory.net/rapid"
)

// drawX draws from ±40, where every function has something to say.
func drawX(t *rapid.T) float64 { return rapid.Float64Range(-40, 40).Draw(t, "x") }

// agree reports |a − b| ≤ bound·max(|a|, |b|), or both subnormal.
func agree(a, b, bound float64) bool {
	scale := max(math.Abs(a), math.Abs(b))
	return scale < smallestNormal || math.Abs(a-b) <= bound*scale
}

func TestDerivativesOfLogCDF(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-1000, 8).Draw(t, "x")
		_, first, second := LogCDFDerivatives(x)
		// Central differences of step s err by s²/6 of the third derivative
		// (below 0.3) and by rounding, 1e-16·|value|/s.
		step := 1e-5 * max(1, math.Abs(x))
		settings := &fd.Settings{Formula: fd.Central, Step: step}
		slope := fd.Derivative(LogCDF, x, settings)
		if bound := step*step + 4e-16*math.Abs(LogCDF(x))/step; math.Abs(slope-first) > bound {
			t.Errorf("slope of LogCDF at %v: %v, hazard %v", x, slope, first)
		}
		curvature := fd.Derivative(Hazard, x, settings)
		if bound := step*step + 4e-16*Hazard(x)/step; math.Abs(curvature-second) > bound {
			t.Errorf("slope of Hazard at %v: %v, second derivative %v", x, curvature, second)
		}
	})
}

func TestFormsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawX(t)
		logCDF, hazard := LogCDFHazard(x)
		l, first, _ := LogCDFDerivatives(x)
		if l != logCDF || logCDF != LogCDF(x) || first != hazard || hazard != Hazard(x) {
			t.Errorf("at %v the combined and the single functions differ", x)
		}
		if !agree(hazard*CDF(x), Density(x), 1e-14) {
			t.Errorf("hazard·Φ ≠ N at %v", x)
		}
		// log N keeps 1e-16 of its size, up to 800: exp makes that 1e-13.
		if !agree(math.Exp(LogDensity(x)), Density(x), 2e-13) {
			t.Errorf("exp(LogDensity) ≠ Density at %v", x)
		}
	})
}

func TestSymmetry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawX(t)
		if sum := CDF(x) + CDF(-x); math.Abs(sum-1) > 3e-16 {
			t.Errorf("Φ(%v) + Φ(−x) = %v", x, sum)
		}
		if Density(x) != Density(-x) {
			t.Errorf("N(%v) ≠ N(−x)", x)
		}
		// p a multiple of 2⁻⁵³, so that 1 − p is exact.
		p := float64(rapid.Int64Range(1, 1<<53-1).Draw(t, "p·2⁵³")) * 0x1p-53
		if !agree(Quantile(p), -Quantile(1-p), 1e-15) {
			t.Errorf("Φ⁻¹(%v) = %v but Φ⁻¹(1 − p) = %v", p, Quantile(p), Quantile(1-p))
		}
	})
}

func TestMonotone(t *testing.T) {
	// Neighbours this far apart differ by far more than rounding, except where
	// a function is flat in float64, hence ≤ and not <.
	const step = 1e-3
	for x := -60.0; x < 60; x += step {
		y := x + step
		if CDF(y) < CDF(x) || LogCDF(y) < LogCDF(x) || Hazard(y) > Hazard(x) {
			t.Fatalf("not monotone between %v and %v", x, y)
		}
	}
	for p := 1e-5; p < 1-2e-5; p += 1e-5 {
		if Quantile(p+1e-5) <= Quantile(p) {
			t.Fatalf("Quantile not increasing at %v", p)
		}
	}
	for l := -800.0; l < -1e-2; l += 1e-2 {
		if QuantileLog(l+1e-2) <= QuantileLog(l) {
			t.Fatalf("QuantileLog not increasing at %v", l)
		}
	}
}

func TestRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// From the lower side, where Φ(x) and log Φ(x) determine x well.
		x := rapid.Float64Range(-37, 0).Draw(t, "x")
		// A relative rounding ε of Φ moves x by ε/ρ(x), below 2ε near zero.
		if back := Quantile(CDF(x)); math.Abs(back-x) > 2e-15*max(1, math.Abs(x)) {
			t.Errorf("Quantile(CDF(%v)) = %v", x, back)
		}
		far := -math.Pow(10, rapid.Float64Range(0, 8.15).Draw(t, "log10|x|"))
		if back := QuantileLog(LogCDF(far)); !agree(back, far, 2e-15) {
			t.Errorf("QuantileLog(LogCDF(%v)) = %v", far, back)
		}
		// The upper side round-trips too, through log Φ ≈ −Φ(−x).
		if back := QuantileLog(LogCDF(-x)); math.Abs(back+x) > 4e-15*max(1, math.Abs(x)) {
			t.Errorf("QuantileLog(LogCDF(%v)) = %v", -x, back)
		}
	})
}
