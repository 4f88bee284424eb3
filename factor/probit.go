package factor

import (
	"math"

	"github.com/lossep/lossep/normal"
)

// Probit is the term of a two-valued label: t(f) = Φ(Y·f), with Y = +1 or −1.
type Probit struct {
	Y float64
}

// Log implements Factor.
func (p Probit) Log(f float64) (l, d1, d2 float64) { return p.LogMean(f, 0) }

// LogMean implements Factor: Z = Φ(z) with z = Ym/√(1+v).
func (p Probit) LogMean(m, v float64) (l, d1, d2 float64) {
	s := math.Sqrt(1 + v)
	z := p.Y * m / s
	l, d1, d2 = normal.LogCDFDerivatives(z)
	return l, p.Y * d1 / s, d2 / (s * s)
}

// MeanLog implements Factor by quadrature.
func (p Probit) MeanLog(m, v float64) (l, d1, d2 float64) {
	// log Φ bends only around zero, over about one unit on each side; away from
	// it is nearly linear or quadratic.
	return expect(p.Log, m, v, feature{0, 1})
}
