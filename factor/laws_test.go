package factor_test

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/diff/fd"

	"github.com/lossep/lossep/factor"
)

// fivePoint is the central difference of fourth order: its error is h⁴/30 of the
// fifth derivative.
var fivePoint = fd.Formula{
	Stencil: []fd.Point{
		{Loc: -2, Coeff: 1. / 12},
		{Loc: -1, Coeff: -8. / 12},
		{Loc: 1, Coeff: 8. / 12},
		{Loc: 2, Coeff: -1. / 12},
	},
	Derivative: 1,
	Step:       1e-3,
}

// quadratureAccuracy is what MeanLog is held to where it has no closed form,
// relative to the mean size of the integrand.
const quadratureAccuracy = 1e-10

// leftOut bounds what a quadrature over 8.7 standard deviations leaves out of E log t
// and its derivatives: 4e-18 of the probability, times what log t has grown to.
func (c lawCase) leftOut(m, v float64) (bound [3]float64) {
	for _, z := range []float64{-10, -9, -8.5, 8.5, 9, 10} {
		for k, a := range answer(c.Log(m + z*math.Sqrt(v))) {
			bound[k] = max(bound[k], 1e-17*math.Abs(a))
		}
	}
	return bound
}

// checkDerivatives compares the derivatives that ask returns with differences of
// the value and the first derivative it returns. width is the length over which
// it varies, noise the errors of its answers beyond rounding.
func checkDerivatives(t *testing.T, what string, ask func(x float64) (l, d1, d2 float64), x, width float64, noise [3]float64) {
	t.Helper()
	h := 2e-3 * width
	settings := &fd.Settings{Formula: fivePoint, Step: h}
	l, d1, d2 := ask(x)
	const rounding = 4e-16 // a unit in the last place, twice
	compare := func(order string, got, value, size, noise float64, f func(x float64) float64) {
		t.Helper()
		diff := fd.Derivative(f, x, settings)
		// Truncation: (2e-3)⁴/30 = 5e-13 of the variation over one width, for
		// which the size of the derivative itself, or of the value where that
		// is larger over a width, stands; derivatives of fifth order exceed it
		// by up to 100. Rounding: of the value, and of x times the slope.
		bound := 1e-10*(math.Abs(got)+size) + (rounding*(math.Abs(value)+size*width)+noise)/h +
			2*rounding*math.Abs(x*got)/h + 1e-300
		if !(math.Abs(diff-got) <= bound) {
			t.Errorf("%s, %s derivative: %v, differences give %v ± %.1e", what, order, got, diff, bound)
		}
	}
	compare("first", d1, l, math.Abs(d2)*width, noise[0], func(x float64) float64 { l, _, _ := ask(x); return l })
	// The second derivative varies by itself or by 1/width² over a width.
	compare("second", d2, d1, math.Abs(d1)/width, noise[1], func(x float64) float64 { _, d1, _ := ask(x); return d1 })
}

func TestDerivativesOfLog(t *testing.T) {
	forLaws(t, func(t *testing.T, c lawCase, m, v float64) {
		width := c.width(m, 0)
		if c.jumps {
			// Flat on both sides: any length that stays on one side will do.
			width = math.Abs(m - c.bends[0].at)
		}
		if l, _, _ := c.Log(m); math.IsInf(l, -1) {
			return // a side of no utility: there is nothing to differentiate
		}
		checkDerivatives(t, fmt.Sprintf("Log(%v)", m), c.Log, m, width, [3]float64{c.noise, c.noise / width})
	})
}

func TestDerivativesOfLogMean(t *testing.T) {
	forLaws(t, func(t *testing.T, c lawCase, m, v float64) {
		ask := func(m float64) (l, d1, d2 float64) { return c.LogMean(m, v) }
		noise := [3]float64{c.noise, c.noise / c.width(m, v)}
		if c.widest > 0 { // sums of hundreds of terms, whose logarithm may be far smaller than one
			noise[0], noise[1] = noise[0]+4e-15, noise[1]+4e-15
		}
		checkDerivatives(t, fmt.Sprintf("LogMean(%v, %v)", m, v), ask, m, c.width(m, v), noise)
	})
}

func TestDerivativesOfMeanLog(t *testing.T) {
	forLaws(t, func(t *testing.T, c lawCase, m, v float64) {
		if c.never {
			return // TestImpossible
		}
		ask := func(m float64) (l, d1, d2 float64) { return c.MeanLog(m, v) }
		noise := c.leftOut(m, v)
		noise[0], noise[1] = noise[0]+c.noise, noise[1]+c.noise/c.width(m, v)
		for k, a := range answer(ask(m)) {
			noise[k] += quadratureAccuracy * math.Abs(a)
		}
		checkDerivatives(t, fmt.Sprintf("MeanLog(%v, %v)", m, v), ask, m, c.width(m, v), noise)
	})
}

// TestPrice: ∂E log t/∂v = ½ ∂²E log t/∂m², by which variational methods get the
// derivative in v from the second one in m.
func TestPrice(t *testing.T) {
	forLaws(t, func(t *testing.T, c lawCase, m, v float64) {
		if c.never {
			return
		}
		_, d1, d2 := c.MeanLog(m, v)
		value := func(v float64) float64 { l, _, _ := c.MeanLog(m, v); return l }
		// The expectation bends over a change of the variance by the square of
		// the width, or by v itself.
		width := min(v, c.width(m, v)*c.width(m, v))
		h := 2e-3 * width
		slope := fd.Derivative(value, v, &fd.Settings{Formula: fivePoint, Step: h})
		// As in checkDerivatives; the size of the slope is that of its terms.
		size := math.Abs(d2) + math.Abs(d1)/c.width(m, v)
		bound := 1e-9*size + (quadratureAccuracy*(math.Abs(value(v))+size*width)+c.leftOut(m, v)[0])/h
		if !(math.Abs(slope-d2/2) <= bound) {
			t.Errorf("∂MeanLog(%v, %v)/∂v = %v, half of the second derivative is %v ± %.1e", m, v, slope, d2/2, bound)
		}
	})
}

// TestLogMeanByQuadrature compares log E t and its derivatives with the moments of
// t(f)N(f; m, v): with z = (f − m)/√v, Z = E t, √v·d1 = E t z/Z and
// 1 + v(d2 + d1²) = E t z²/Z.
func TestLogMeanByQuadrature(t *testing.T) {
	r := newReference(12)
	forLaws(t, func(t *testing.T, c lawCase, m, v float64) {
		l, d1, d2 := c.LogMean(m, v)
		sd := math.Sqrt(v)
		// Divided by what LogMean says Z is, so that nothing underflows.
		want, size := r.means(c, m, v, func(e float64) [3]float64 {
			log, _, _ := c.Log(m + e)
			z := e / sd
			weight := math.Exp(log - l)
			return [3]float64{weight, weight * z, weight * z * z}
		})
		got := [3]float64{1, sd * d1, 1 + v*(d2+d1*d1)}
		for k, what := range []string{"Z", "the first moment", "the second moment"} {
			// An exponent l − log t is rounded to 1e-16 of its terms.
			if bound := (1e-12 + 1e-15*math.Abs(l)) * (1 + size[k] + size[2]); !near(got[k], want[k], bound) {
				t.Errorf("LogMean(%v, %v): %s is %v, by quadrature %v ± %.1e", m, v, what, got[k], want[k], bound)
			}
		}
	})
}

func TestMeanLogByQuadrature(t *testing.T) {
	r := newReference(12)
	forLaws(t, func(t *testing.T, c lawCase, m, v float64) {
		if c.never {
			return
		}
		want, size := r.means(c, m, v, func(e float64) [3]float64 {
			l, d1, d2 := c.Log(m + e)
			if c.jumps {
				// The jump is in the derivatives, so differentiate the Gaussian.
				z := e / math.Sqrt(v)
				return [3]float64{l, l * z / math.Sqrt(v), l * (z*z - 1) / v}
			}
			return [3]float64{l, d1, d2}
		})
		got, left := answer(c.MeanLog(m, v)), c.leftOut(m, v)
		for k, what := range []string{"", "′", "″"} {
			if !near(got[k], want[k], quadratureAccuracy*size[k]+left[k]) {
				t.Errorf("MeanLog%s(%v, %v) = %v, fine quadrature gives %v (error %.1e of its size)",
					what, m, v, got[k], want[k], math.Abs(got[k]-want[k])/size[k])
			}
		}
	})
}

// TestReference doubles the order of the rule that other laws rely on.
func TestReference(t *testing.T) {
	r, finer := newReference(12), newReference(24)
	forLaws(t, func(t *testing.T, c lawCase, m, v float64) {
		if v != 100 || c.never {
			return
		}
		l, _, _ := c.LogMean(m, v)
		f := func(e float64) [3]float64 {
			log, _, d2 := c.Log(m + e)
			return [3]float64{math.Exp(log - l), log, d2}
		}
		a, size := r.means(c, m, v, f)
		b, _ := finer.means(c, m, v, f)
		for k := range a {
			if !near(a[k], b[k], 1e-12*size[k]) {
				t.Errorf("integral %d at (%v, %v): %v with 12 nodes a panel, %v with 24", k, m, v, a[k], b[k])
			}
		}
	})
}

// TestZeroVariance: with nothing to average over all three questions are one.
func TestZeroVariance(t *testing.T) {
	forLaws(t, func(t *testing.T, c lawCase, m, _ float64) {
		want := answer(c.Log(m))
		if got := answer(c.LogMean(m, 0)); got != want {
			t.Errorf("LogMean(%v, 0) = %v, Log = %v", m, got, want)
		}
		if got := answer(c.MeanLog(m, 0)); got != want {
			t.Errorf("MeanLog(%v, 0) = %v, Log = %v", m, got, want)
		}
	})
}

// TestSmallVariance: the answers approach Log as v → 0, with LogMean − Log =
// ½v(d2 + d1²) and MeanLog − Log = ½v·d2 to first order.
func TestSmallVariance(t *testing.T) {
	forLaws(t, func(t *testing.T, c lawCase, m, _ float64) {
		l, d1, d2 := c.Log(m)
		if math.IsInf(l, -1) {
			return
		}
		width := c.width(m, 0)
		if c.jumps {
			width = math.Abs(m-c.bends[0].at) / 10
		}
		// The second order is v² over the fourth power of the width, or of 1/d1.
		const small = 1e-4
		v := small * min(width*width, 1/(d1*d1))
		size := math.Abs(d2) + d1*d1 + 1/(width*width)
		bound := small*v*size + 1e-14*math.Abs(l)
		if lm, _, _ := c.LogMean(m, v); !near(lm, l+0.5*v*(d2+d1*d1), bound) {
			t.Errorf("LogMean(%v, %v) − Log = %v, want %v", m, v, lm-l, 0.5*v*(d2+d1*d1))
		}
		if ml, _, _ := c.MeanLog(m, v); !c.never && !near(ml, l+0.5*v*d2, bound) {
			t.Errorf("MeanLog(%v, %v) − Log = %v, want %v", m, v, ml-l, 0.5*v*d2)
		}
	})
}

// TestJensen: E log t ≤ log E t.
func TestJensen(t *testing.T) {
	forLaws(t, func(t *testing.T, c lawCase, m, v float64) {
		meanLog, _, _ := c.MeanLog(m, v)
		logMean, _, _ := c.LogMean(m, v)
		if !(meanLog <= logMean+quadratureAccuracy*math.Abs(meanLog)+c.noise) {
			t.Errorf("MeanLog(%v, %v) = %v exceeds LogMean = %v", m, v, meanLog, logMean)
		}
	})
}

// TestMirror: t(−f) gives the same values and the opposite slopes.
func TestMirror(t *testing.T) {
	forLaws(t, func(t *testing.T, c lawCase, m, v float64) {
		if c.mirror == nil {
			return
		}
		compare := func(question string, a, b [3]float64, relative float64) {
			t.Helper()
			b[1] = -b[1]
			width := c.width(m, v)
			for k, unit := range []float64{1, 1 / width, 1 / (width * width)} {
				size := max(math.Abs(a[k]), min(1, math.Abs(a[0]))*unit)
				if a[k] != b[k] && !near(a[k], b[k], relative*size) {
					t.Errorf("%s(%v, %v) = %v, mirrored %v", question, m, v, a, b)
					return
				}
			}
		}
		// Sums in another order, over terms of both signs: a few units in the last
		// place of the value, or of the value over the width or its square.
		compare("Log", answer(c.Log(m)), answer(c.mirror.Log(-m)), 1e-14)
		compare("LogMean", answer(c.LogMean(m, v)), answer(c.mirror.LogMean(-m, v)), 1e-14)
		compare("MeanLog", answer(c.MeanLog(m, v)), answer(c.mirror.MeanLog(-m, v)), 1e-12)
	})
}

// TestNoNaN asks everything at finite places however absurd. Where the square of a
// standardised distance overflows the answer may be −∞, never NaN.
func TestNoNaN(t *testing.T) {
	sizes := []float64{0, 1e-300, 1e-160, 1e-20, 1, 50, 1e8, 1e20, 1e75, 1e150}
	for _, c := range lawTable {
		for _, m := range sizes {
			for _, sign := range []float64{-1, 1} {
				for _, v := range sizes {
					x := sign * m
					for question, a := range map[string][3]float64{
						"Log": answer(c.Log(x)), "LogMean": answer(c.LogMean(x, v)), "MeanLog": answer(c.MeanLog(x, v)),
					} {
						if math.IsNaN(a[0]) || math.IsNaN(a[1]) || math.IsNaN(a[2]) || math.IsInf(a[0], 1) {
							t.Errorf("%T%+v: %s(%v, %v) = %v", c.Factor, c.Factor, question, x, v, a)
						}
					}
				}
			}
		}
	}
}

// TestImpossible: where a side of a step has no utility, E log t is −∞ for every
// v > 0, however improbable that side is.
func TestImpossible(t *testing.T) {
	forLaws(t, func(t *testing.T, c lawCase, m, v float64) {
		if !c.never {
			return
		}
		for _, m := range []float64{m, 1e3*m + 50, 1e3*m - 50} {
			if got := answer(c.MeanLog(m, v)); got != [3]float64{math.Inf(-1), 0, 0} {
				t.Errorf("MeanLog(%v, %v) = %v, want −∞ without a slope", m, v, got)
			}
		}
	})
}

func answer(l, d1, d2 float64) [3]float64 { return [3]float64{l, d1, d2} }

// near reports |a − b| ≤ bound; a NaN is near nothing.
func near(a, b, bound float64) bool { return math.Abs(a-b) <= bound }

var _ factor.Factor = lawCase{}
