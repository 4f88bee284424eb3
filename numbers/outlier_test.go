package numbers_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Outliers of a million among outcomes of the order of one: noise with long tails is chosen, and rows that are no outliers
// are predicted as they are without them.
func TestOutliersHaveLongTails(t *testing.T) {
	for name, far := range map[string]float64{"above": 1e6, "below": -1e6} {
		data := drawn(t, 100, 0, func(a, b float64, rng *rand.Rand) float64 {
			y := smooth(a, b) + 0.2*rng.NormFloat64()
			if rng.Float64() < 0.04 {
				y += far
			}
			return y
		})
		_, m := fit(t, data, "matern32 + constant", "under=1,over=1")
		s := m.Shape()
		if s.Noise != "student" {
			t.Errorf("%s: %+v", name, s)
		}
		all, err := m.Predict(mat.NewDense(2, 2, []float64{0, 0, 0.5, -0.5}))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{0, smooth(0.5, -0.5)} {
			if d := math.Abs(all[i].Quantile(0.5) - want); d > 0.4 { // two standard deviations of the noise
				t.Errorf("%s, row %d: median %v, want %v", name, i, all[i].Quantile(0.5), want)
			}
		}
	}
}
