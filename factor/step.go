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
	switch {
	case s.Below == 0: // the sums below without their cancellation
		return math.Log(s.Above) + logUp, up / sd, upBend / v
	case s.Above == 0:
		return math.Log(s.Below) + logDown, -down / sd, downBend / v
	}
	// Relative to the larger side, so that the scale of a utility does not matter.
	top := max(s.Below, s.Above)
	below, above := s.Below/top, s.Above/top
	l = math.Log(top) + logSumExp(math.Log(below)+logDown, math.Log(above)+logUp)
	d1 = (above - below) / (below/down + above/up) / sd
	if d1 == 0 { // z may be infinite here, and 0·∞ is no number
		return l, 0, 0
	}
	return l, d1, -d1 * (z/sd + d1)
}

// MeanLog implements Factor: log Below·Φ(−z) + log Above·Φ(z). A side of no utility
// makes it −∞ for every v > 0, with no slope anywhere.
func (s Step) MeanLog(m, v float64) (l, d1, d2 float64) {
	if v == 0 {
		return s.Log(m)
	}
	if s.Below == 0 || s.Above == 0 {
		return math.Inf(-1), 0, 0
	}
	sd := math.Sqrt(v)
	z := (m - s.T) / sd
	below, above := math.Log(s.Below), math.Log(s.Above)
	l = below*normal.CDF(-z) + above*normal.CDF(z)
	density := normal.Density(z)
	if density == 0 { // z may be infinite here
		return l, 0, 0
	}
	d1 = (above - below) * density / sd
	return l, d1, -d1 * z / sd
}
