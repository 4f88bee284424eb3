package normal

import (
	"math"
	"math/big"
	"testing"
)

// refLogDiff returns log(Φ(b) − Φ(a)) for a < b in arbitrary precision, as
// log N(c) + log((Φ(b) − Φ(a))/N(c)) with both Φ taken from the side where they
// are small. 320 bits leave 40 digits for intervals as narrow as 1e-50.
func refLogDiff(a, b float64) *big.Float {
	if a+b > 0 {
		a, b = -b, -a
	}
	ba, bb := bigOf(a), bigOf(b)
	if b > 0 { // 1 − Φ(a) − Φ(−b)
		missing := add(mul(refDensity(ba), refMills(neg(ba))), mul(refDensity(bb), refMills(bb)))
		return refLog1m(missing)
	}
	// Φ(b) (1 − R(−a)/R(−b) e^{(b² − a²)/2})
	millsB := refMills(neg(bb))
	ratio := quo(refMills(neg(ba)), millsB)
	squares := scale(mul(sub(bb, ba), add(bb, ba)), 0.5)
	if squares.Cmp(bigOf(-1e4)) > 0 {
		ratio = mul(ratio, refExp(squares))
	} else {
		ratio = bigNew()
	}
	return add(add(refLogDensity(bb), refLog(millsB)), refLog(sub(bigOf(1), ratio)))
}

func TestLogDiffCDFAgainstReference(t *testing.T) {
	var starts []float64
	for x := -40.0; x <= 40; x += 1.7 {
		starts = append(starts, x)
	}
	starts = append(starts, -1e8, -1e6, -12345.678, -300, 0, 1e-9, -1e-9, 300, 12345.678, 1e6)
	worst := 0.0
	for _, a := range starts {
		for width := 1e-12; width < 1e3; width *= 2.3 {
			b := a + width
			if a == b {
				continue
			}
			want := refLogDiff(a, b)
			got := LogDiffCDF(a, b)
			e := relativeError(got, want)
			if w, _ := want.Float64(); math.Abs(w) >= smallestNormal {
				worst = max(worst, e)
			}
			if !withinPromise(got, want) {
				t.Errorf("LogDiffCDF(%v, %v) = %v, want %.17g: relative error %.2g", a, b, got, want, e)
			}
			// The mirrored interval has the same probability, to the last bit.
			if mirrored := LogDiffCDF(-b, -a); mirrored != got {
				t.Errorf("LogDiffCDF(%v, %v) = %v but mirrored %v", a, b, got, mirrored)
			}
		}
	}
	t.Logf("LogDiffCDF: worst relative error %.2g", worst)
}

// TestLogDiffCDFBorders walks across the switch between the formulas.
func TestLogDiffCDFBorders(t *testing.T) {
	for _, m := range []float64{0, 0.5, -0.0099, -0.0101, 1, -7, 50, -1e4} {
		for _, factor := range []float64{0.9, 0.999, 1.001, 1.1} {
			w := factor * narrow / max(1, math.Abs(m))
			a, b := m-w/2, m+w/2
			if e := relativeError(LogDiffCDF(a, b), refLogDiff(a, b)); e > tolerance {
				t.Errorf("LogDiffCDF(%v, %v): relative error %.2g", a, b, e)
			}
		}
	}
}
