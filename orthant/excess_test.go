package orthant

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/lossep/lossep/normal"
)

func TestExcessMoments(t *testing.T) {
	t.Parallel()
	for _, at := range []float64{-12, -3, -0.5, 0, 0.7, 3, 8, 19.9, 20, 25, 100, 1e4, 1e8} {
		// The excess has density ∝ exp(−te − e²/2) on e > 0; its scale is
		// 1/t in the tail and it reaches to −t + 10 on the other side.
		width := 40 / math.Max(at, 1)
		if at < 0 {
			width = 12 - at
		}
		moment := func(power float64) float64 {
			return quad.Fixed(func(e float64) float64 {
				// Scaled by its value at the mode so as not to overflow.
				mode := math.Max(0, -at)
				return math.Pow(e/width, power) * math.Exp(-(e-mode)*(at+(e+mode)/2))
			}, 0, width, 200, quad.Legendre{}, 0)
		}
		m0 := moment(0)
		wantMean := width * moment(1) / m0
		wantVar := width*width*moment(2)/m0 - wantMean*wantMean
		mean, variance := excessMoments(at)
		if math.Abs(mean/wantMean-1) > 1e-12 {
			t.Errorf("mean excess at %g is %v, want %v", at, mean, wantMean)
		}
		// 1 − λr loses up to 1e-13/v ≈ 4e-11 just below the switch at 20.
		if math.Abs(variance/wantVar-1) > 1e-10 {
			t.Errorf("variance at %g is %v, want %v", at, variance, wantVar)
		}
	}
}

func TestTruncationWithMeanInverts(t *testing.T) {
	t.Parallel()
	for d := 1e-7; d < 1e4; d *= 1.7 {
		mean, _ := excessMoments(truncationWithMean(d))
		// Just below t = 20 the mean excess itself is known to 1e-13 only.
		if math.Abs(mean/d-1) > 1e-12 {
			t.Errorf("mean excess %g came back as %g", d, mean)
		}
	}
}

// TestDrawExcess compares draws with the exact distribution by Kolmogorov and
// Smirnov's test, at level 1e-4 for each of the ten truncation points.
func TestDrawExcess(t *testing.T) {
	t.Parallel()
	const draws = 20000
	for i, at := range []float64{-40, -3, -0.5, 0, 0.3, 0.69, 0.71, 2, 8, 30} {
		rng := newStream(11, sampleStream, i)
		e := make([]float64, draws)
		for j := range e {
			e[j] = drawExcess(at, rng)
		}
		tail := normal.LogCDF(-at)
		checkKS(t, e, func(x float64) float64 {
			return -math.Expm1(normal.LogCDF(-at-x) - tail)
		})
	}
}

func TestExcessAtInverts(t *testing.T) {
	t.Parallel()
	for _, at := range []float64{-30, -2, 0, 1, 6, 50} {
		tail := normal.LogCDF(-at)
		for _, u := range []float64{1e-9, 0.01, 0.5, 0.999} {
			e := excessAt(u, at, tail)
			got := math.Exp(normal.LogCDF(-at-e) - tail)
			// A rounding of t + e moves the logarithm by ε t², 6e-13 at 50.
			if math.Abs(got/u-1) > 1e-11 {
				t.Errorf("P(excess > %g | truncation %g) = %g, want %g", e, at, got, u)
			}
		}
	}
}

// checkKS fails unless sample could come from the distribution function cdf,
// at level 1e-4: Kolmogorov's limit law exceeds 2.225 with that probability.
func checkKS(t *testing.T, sample []float64, cdf func(float64) float64) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(sample))
	n := float64(len(sorted))
	distance := 0.0
	for i, x := range sorted {
		p := cdf(x)
		distance = math.Max(distance, math.Max(p-float64(i)/n, float64(i+1)/n-p))
	}
	if s := distance * math.Sqrt(n); !(s < 2.225) {
		t.Errorf("Kolmogorov–Smirnov statistic %.3f, more than 2.225", s)
	}
}
