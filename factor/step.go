package factor

import (
	"math"

	"github.com/lossep/lossep/normal"
)

// Step is Below up to the threshold T and Above beyond it. Both are at least zero
// and not both are zero.
type Step struct {
	T, Below, Above float64
}

// Log implements Factor. The derivatives are those away from the jump: zero.
func (s Step) Log(f float64) (l, d1, d2 float64) {
	if f > s.T {
		return math.Log(s.Above), 0, 0
	}
	return math.Log(s.Below), 0, 0
}

// LogMean implements Factor: Z = Below·Φ(−z) + Above·Φ(z), z = (m − T)/√v.
//
// N(z)/Z is found from the hazards of both sides, 1/(Below/ρ(−z) + Above/ρ(z)),
// which stays accurate where Φ underflows.
func (s Step) LogMean(m, v float64) (l, d1, d2 float64) {
	if v == 0 {
		return s.Log(m)
	}
	sd := math.Sqrt(v)
	z := (m - s.T) / sd
	logUp, up, upBend := normal.LogCDFDerivatives(z)
	logDown, down, downBend := normal.LogCDFDerivatives(-z)
	l = logSumExp(math.Log(s.Below)+logDown, math.Log(s.Above)+logUp)
	ratio := 1 / (weighted(s.Below, down) + weighted(s.Above, up))
	d1 = (s.Above - s.Below) * ratio / sd
	switch {
	case s.Below == 0: // −d1(z/sd + d1) without its cancellation
		d2 = upBend / v
	case s.Above == 0:
		d2 = downBend / v
	default:
		d2 = -d1 * (z/sd + d1)
	}
	return l, d1, d2
}

// weighted is u/ρ, with 0/0 = 0: a side of no utility does not count, however far
// away it is.
func weighted(u, hazard float64) float64 {
	if u == 0 {
		return 0
	}
	return u / hazard
}

// MeanLog implements Factor: log Below·Φ(−z) + log Above·Φ(z). It is −∞ where a
// side of no utility has positive probability.
func (s Step) MeanLog(m, v float64) (l, d1, d2 float64) {
	if v == 0 {
		return s.Log(m)
	}
	sd := math.Sqrt(v)
	z := (m - s.T) / sd
	below, above := math.Log(s.Below), math.Log(s.Above)
	d1 = (above - below) * normal.Density(z) / sd
	return below*normal.CDF(-z) + above*normal.CDF(z), d1, -d1 * z / sd
}
