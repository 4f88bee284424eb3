package numbers

import (
	"math"
	"testing"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/normal"
)

// With normal noise E c = under·(m − a) + (under + over)·S·(zΦ(z) + φ(z)), z = (a − m)/S, whose slope in m is under −
// (under + over)Φ(z) and whose second derivative (under + over)φ(z)/S: the utility has them to what differences are good for.
func TestUtilityOfNumbers(t *testing.T) {
	const under, over = 15, 5
	for _, noise := range []float64{1e-7, 0.1, 30} {
		mean, variance := []float64{0.3, -1, 2}, []float64{0.2, 0, 1.5}
		u := newUtility(normalNoise{noise}, plain, alike(normalNoise{noise}), []decision.Stake{{Loss: decision.Pinball{Under: under, Over: over}}}, ceilingTimes, mean, variance)
		u.weights = []float64{0.5, 0.2, 0.3}
		actions, d1, d2 := []int{-1, -1, -1}, make([]float64, 3), make([]float64, 3)
		u.Select(actions, mean, variance)
		for j := range mean {
			mean[j] += 0.2 * math.Sqrt(variance[j]+noise) // where the slope is not zero
		}
		got, want := u.LogMean(actions, mean, variance, d1, d2), 0.0
		slope, bend := make([]float64, 3), make([]float64, 3)
		for j, w := range u.weights {
			s := math.Sqrt(variance[j] + noise)
			z := (u.action(actions[j]) - mean[j]) / s
			c, f := normal.CDFDensity(z)
			want += w * (u.ceiling - (under*-z*s + (under+over)*s*(z*c+f)))
			slope[j], bend[j] = -w*(under-(under+over)*c), -w*(under+over)*f/s
		}
		if math.Abs(got-math.Log(want)) > 1e-12 {
			t.Errorf("noise %v: log utility %v, want %v", noise, got, math.Log(want))
		}
		for j := range slope {
			if math.Abs(d1[j]*want-slope[j]) > 1e-5*math.Abs(slope[j]) || math.Abs(d2[j]*want-bend[j]) > 1e-5*math.Abs(bend[j]) {
				t.Errorf("noise %v, point %d: derivatives %v and %v, want %v and %v", noise, j, d1[j]*want, d2[j]*want, slope[j], bend[j])
			}
		}
		// Actions that are chosen again stay where they are, and a case without an expectation has none.
		again := append([]int(nil), actions...)
		for j := range mean {
			mean[j] -= 0.2 * math.Sqrt(variance[j]+noise)
		}
		if u.Select(again, mean, variance); again[0] != actions[0] || again[1] != actions[1] || again[2] != actions[2] {
			t.Errorf("noise %v: actions %v, and %v when chosen again", noise, actions, again)
		}
		if u.ceiling = 0; !math.IsNaN(u.LogMean(actions, mean, variance, d1, d2)) {
			t.Errorf("noise %v: a utility below zero has a logarithm", noise)
		}
	}
}

// alike is what is predicted of outcomes with the noise of a family at every point.
func alike(f Family) func(j int, mean, variance float64) Distribution {
	return func(_ int, mean, variance float64) Distribution { return f.Predict(mean, variance, plain) }
}
