package factor_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/lossep/lossep/factor"
)

// Integrals by mpmath 1.3 in 40 digits, over what carries weight of the integrand
// cut at its bends: m, v, log Z and its derivatives. They go through every way of
// finding the answer, and through several reflections.
var logitNumbers = [][5]float64{
	{-0.3, 0.01, -0.85392975872579852, 0.57286409177757403, -0.243501936643223},
	{2, 1, -0.16896616068794658, 0.13706672131959492, -0.094937867808564289},
	{-5, 3.9, -3.4612553030257852, 0.79005469466547737, -0.079145036941305934},
	{-5, 4.1, -3.4078766224533244, 0.7761907867316508, -0.079761191807652539},
	{30, 4, -6.9144001066815655e-13, 6.9144001064229281e-13, -6.9144001059056532e-13},
	{-30, 9, -25.500000068225623, 0.99999993180181529, -6.814702556705635e-8},
	{0, 25, -0.69314718055994531, 0.15028970885596694, -0.022586996588011308},
	{7, 100, -0.28164621157837669, 0.041038750996321111, -0.0044667689992516189},
	{-40, 100, -10.079870841836146, 0.40851931249270489, -0.0091124429493118112},
	{-1000, 2500, -203.63842755663194, 0.40040479064611923, -0.00039827199091487675},
	{1000, 1e6, -0.17275425210546215, 0.00028760010699649407, -3.7031298237881949e-7},
	{-1000, 1e6, -1.8410191362712155, 0.0015251314499951076, -8.0089950722731933e-7},
	{50, 1e6, -0.65404421843945407, 0.00076632726959494604, -6.2557372154947252e-7},
	{-700, 1e4, -27.376079168694543, 0.071352345720961724, -9.8140663987989124e-5},
}

// TestLogitNumbers: fourteen digits, thirteen of the curvature, which is the
// difference of Z″/Z and the square of the slope; where these are v/4 times as
// large, that many units in the last place are lost.
func TestLogitNumbers(t *testing.T) {
	for _, c := range logitNumbers {
		m, v := c[0], c[1]
		for _, y := range []float64{1, -1} {
			got := answer(factor.Logit{Y: y}.LogMean(y*m, v))
			for k, relative := range []float64{1e-14, 1e-14, 1e-13 + 1e-15*v*c[3]*c[3]} {
				want := c[2+k]
				if k == 1 {
					want *= y
				}
				if !near(got[k], want, relative*math.Abs(want)) {
					t.Errorf("m = %v, v = %v: answer %d is %v, want %v (relative error %.1e)", m, v, k, got[k], want, got[k]/want-1)
				}
			}
		}
	}
}

// TestLogitFarTail: σ(f) = eᶠ far below zero, so Z = exp(m + v/2) as long as that
// stays there.
func TestLogitFarTail(t *testing.T) {
	for _, c := range [][2]float64{{-1000, 0}, {-1000, 1e-6}, {-1000, 1}, {-1000, 100}, {-500, 30}, {-1e6, 1e5}} {
		got := answer(factor.Logit{Y: 1}.LogMean(c[0], c[1]))
		if want := [3]float64{c[0] + c[1]/2, 1, 0}; !near(got[0], want[0], 1e-15*math.Abs(want[0])) || got[1] != 1 || !near(got[2], 0, 1e-40) {
			t.Errorf("m = %v, v = %v: %v, want %v", c[0], c[1], got, want)
		}
	}
}

// TestLogitSmooth: the ways of finding the answer meet without a seam, where one
// gives over to another in v and where m is reflected.
func TestLogitSmooth(t *testing.T) {
	logit := factor.Logit{Y: 1}
	seam := func(m, v, dm, dv float64) {
		t.Helper()
		a, b := answer(logit.LogMean(m-dm, v-dv)), answer(logit.LogMean(m+dm, v+dv))
		for k := range a {
			// The steps of 1e-13 move the answers by that much themselves.
			if !near(a[k], b[k], 1e-12*max(math.Abs(a[0]), math.Abs(a[k]))) {
				t.Errorf("m = %v, v = %v: %v on one side, %v on the other", m, v, a, b)
				return
			}
		}
	}
	for m := -60.0; m < 60; m += 1.3 {
		seam(m, 4, 0, 4e-13)
	}
	for v := 0.01; v < 1e5; v *= 3 {
		step := 1e-13 * math.Sqrt(1+v)
		seam(0, v, step, 0)
		seam(-v/2, v, step, 0)
		seam(-40-1.5*v, v, step, 0)
	}
}

// TestBinary: a term and its complement add to one, however improbable either is.
func TestBinary(t *testing.T) {
	for _, b := range []factor.Binary{
		factor.Probit{Y: 1},
		factor.Logit{Y: 1},
		factor.Logit{Y: -1},
		factor.RobustProbit{Y: 1, Noise: 0.02},
		factor.RobustProbit{Y: -1, Noise: 0.3},
	} {
		for _, v := range []float64{0, 0.3, 5, 300} {
			for m := -20.0; m <= 20; m += 0.7 {
				l, _, _ := b.LogMean(m, v)
				other, _, _ := b.Complement().LogMean(m, v)
				if sum := math.Exp(l) + math.Exp(other); !near(sum, 1, 1e-15) {
					t.Errorf("%T%+v at m = %v, v = %v: the two outcomes add to 1 %+.1e", b, b, m, v, sum-1)
				}
			}
		}
	}
}

// TestRobustSites: a label far on the wrong side has a term that curves upwards, and
// weighs at most log ε.
func TestRobustSites(t *testing.T) {
	label := factor.RobustProbit{Y: 1, Noise: 0.01}
	if _, _, d2 := label.LogMean(-3, 0.5); !(d2 > 0) {
		t.Errorf("curvature %v, want a positive one", d2)
	}
	if l, d1, d2 := label.LogMean(-1e3, 1); !near(l, math.Log(0.01), 1e-15) || d1 != 0 || d2 != 0 {
		t.Errorf("far on the wrong side: %v, %v, %v", l, d1, d2)
	}
}

func BenchmarkLogMean(b *testing.B) {
	for _, f := range []factor.Factor{factor.Probit{Y: 1}, factor.Logit{Y: 1}, factor.RobustProbit{Y: 1, Noise: 0.01}} {
		for _, c := range [][2]float64{{-1, 0.5}, {-1, 5}, {2, 30}, {-40, 4.1}, {-1, 1e4}} {
			b.Run(fmt.Sprintf("%T/m=%g/v=%g", f, c[0], c[1]), func(b *testing.B) {
				for b.Loop() {
					f.LogMean(c[0], c[1])
				}
			})
		}
	}
}
