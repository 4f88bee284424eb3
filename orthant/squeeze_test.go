package orthant

import (
	"math"
	"testing"

	"github.com/lossep/lossep/normal"
)

// TestSqueezed: a hundred variables are off by less than a hundredth of what leaves a
// proposal undecided, and outside the table nothing is.
func TestSqueezed(t *testing.T) {
	worst := 0.0
	for x := -9.0; x < 9; x += 0.00037 {
		worst = max(worst, math.Abs(squeezed(x)-normal.LogCDF(x)))
	}
	if worst > undecided/1e4 {
		t.Errorf("log Φ is off by %v", worst)
	}
	for _, x := range []float64{math.Inf(-1), -1e10, -8, 8, math.Nextafter(8, 0), -math.Nextafter(8, 0), math.Inf(1)} {
		if got, want := squeezed(x), normal.LogCDF(x); math.Abs(got-want) > undecided/1e4 && got != want {
			t.Errorf("log Φ(%v) = %v, want %v", x, got, want)
		}
	}
}
