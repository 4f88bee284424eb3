package finite

import (
	"math"
	"testing"
)

func TestAll(t *testing.T) {
	if !All() || !All(0, -math.MaxFloat64, math.MaxFloat64, math.SmallestNonzeroFloat64) {
		t.Error("numbers are not taken for numbers")
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if All(x) || All(1, x, 2) {
			t.Errorf("%v is taken for a number", x)
		}
	}
}
