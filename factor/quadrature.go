package factor

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// feature is a place where a factor bends, and over what length.
type feature struct {
	at, scale float64
}

// The rule of one panel, and how many standard deviations of N(m, v) are covered:
// beyond 10 lies less than 1.6e-23 of the probability, and log-factors grow no
// faster than a square.
const (
	panelNodes = 16
	reach      = 10.0
)

var panelX, panelW = func() (x, w []float64) {
	x, w = make([]float64, panelNodes), make([]float64, panelNodes)
	quad.Legendre{}.FixedLocations(x, w, -1, 1)
	return x, w
}()

// cuts are the ends of panels around a place, in units of its scale. They widen
// with the distance, as both the Gaussian weight and the factors do.
var cuts = [...]float64{0, 1, 2.5, 5, reach}

// expect integrates log t and its derivatives against N(m, v), by a composite
// Gauss–Legendre rule whose panels resolve both the Gaussian and the places where
// the factor bends. Gauss–Hermite does not: its nodes spread with √v and step over
// a factor that is narrower than q. By the theorems of Bonnet and Price the
// derivatives of the expectation in m are the expectations of the derivatives.
func expect(log func(f float64) (l, d1, d2 float64), m, v float64, where ...feature) (l, d1, d2 float64) {
	if v == 0 {
		return log(m)
	}
	sd := math.Sqrt(v)
	lo, hi := m-reach*sd, m+reach*sd
	var ends [4 * len(cuts)]float64
	n := addCuts(ends[:0], m, sd, lo, hi)
	for _, w := range where {
		// A factor wider than q needs no panels of its own.
		if w.scale < 2*sd {
			n = addCuts(n, w.at, w.scale, lo, hi)
		}
	}
	sortFloats(n)
	for k := 0; k+1 < len(n); k++ {
		mid, half := (n[k]+n[k+1])/2, (n[k+1]-n[k])/2
		if half == 0 {
			continue
		}
		for i, x := range panelX {
			f := mid + half*x
			z := (f - m) / sd
			w := panelW[i] * half / sd * math.Exp(-0.5*z*z) / math.Sqrt(2*math.Pi)
			a, b, c := log(f)
			l += w * a
			d1 += w * b
			d2 += w * c
		}
	}
	return l, d1, d2
}

// addCuts appends the panel ends around a place that fall within [lo, hi].
func addCuts(ends []float64, at, scale, lo, hi float64) []float64 {
	for _, c := range cuts {
		for _, x := range [2]float64{at - c*scale, at + c*scale} {
			if x >= lo && x <= hi && (c != 0 || x != at-c*scale || len(ends) == 0 || ends[len(ends)-1] != x) {
				ends = append(ends, x)
			}
		}
	}
	return ends
}

// sortFloats is insertion sort: there are at most twenty ends, and this does not
// allocate.
func sortFloats(x []float64) {
	for i := 1; i < len(x); i++ {
		for j := i; j > 0 && x[j] < x[j-1]; j-- {
			x[j], x[j-1] = x[j-1], x[j]
		}
	}
}
