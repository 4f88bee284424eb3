package factor

import (
	"math"
	"testing"

	"github.com/lossep/lossep/normal"
)

// TestBendAgainstPanels: the rule for one bend agrees with the general one to 1e-12
// of the size of the integrand, over means and variances from far below the bend to
// far above it.
func TestBendAgainstPanels(t *testing.T) {
	worst := 0.0
	for v := 1e-8; v <= 1e8; v *= 1.7 {
		for z := -40.0; z <= 6; z += 0.37 {
			m := z * math.Sqrt(1+v)
			l, d1, d2 := expectBend(normal.LogCDFDerivatives, m, v, bendScale)
			a, b, c := expect(normal.LogCDFDerivatives, m, v, feature{1.9, 2.8})
			for _, p := range [][2]float64{{l, a}, {d1, b}, {d2, c}} {
				worst = max(worst, math.Abs(p[0]-p[1])/math.Abs(p[1]))
				if !(math.Abs(p[0]-p[1]) <= 1e-12*math.Abs(p[1])) {
					t.Errorf("m = %v, v = %v: %v, by panels %v", m, v, p[0], p[1])
				}
			}
		}
	}
	t.Logf("largest relative difference %.1e", worst)
}
