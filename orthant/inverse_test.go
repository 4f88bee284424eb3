package orthant

import (
	"math"
	"testing"

	"github.com/lossep/lossep/normal"
)

// TestSqueezedExcess: excesses from tables are those of the inverse to 1e-9, also where the
// tables begin and end and beyond.
func TestSqueezedExcess(t *testing.T) {
	worst := 0.0
	for from := -9.0; from < 7; from += 0.0937 {
		tail := normal.LogCDF(-from)
		for u := 0x1p-54; u < 1; u = u*1.01 + 1e-7 {
			worst = max(worst, math.Abs(squeezedExcess(u, from, tail)-excessAt(u, from, tail)))
		}
	}
	if worst > 1e-9 {
		t.Errorf("off by %v", worst)
	}
	for _, logP := range []float64{logFrom, logTo, math.Log1p(-restFrom), math.Log1p(-restTo)} {
		for _, p := range []float64{logP - 1e-12, logP, logP + 1e-12} {
			if got, want := squeezedExcess(1, -20, p), excessAt(1, -20, p); math.Abs(got-want) > 1e-9 {
				t.Errorf("at log p = %v: %v, want %v", p, got, want)
			}
		}
	}
}
