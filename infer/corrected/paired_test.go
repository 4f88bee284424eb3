package corrected

import (
	"math"
	"testing"

	"github.com/lossep/lossep/gauss"
)

// Whichever sites move, the logarithm of the determinant is that of all factors: their
// product may be too small for a number.
func TestDeterminantOfManySites(t *testing.T) {
	const n, one = 64, 1e-9
	w, at := newWalk(make([]exchange, n), make([]float64, n), walkTolerance), newState(n)
	moved := 0
	for i := range n {
		at.a[i*len(w.column)+i] = 1
		if i%8 != 0 {
			w.asked[i] = gauss.Scalar{Tau: one - 1}
			moved++
		}
	}
	w.update(&at)
	// one is 1 + (one − 1), which rounding makes 1e-9 to 1e-7 of itself.
	if want := float64(moved) * math.Log(one); !(math.Abs(at.logDet-want) < 1e-5) {
		t.Errorf("%v, want %v", at.logDet, want)
	}
}
