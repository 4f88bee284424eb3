package factor

import (
	"math"

	"github.com/lossep/lossep/internal/fault"
	"github.com/lossep/lossep/normal"
)

// Probit is the term of a two-valued label: t(f) = Φ(Y·f), with Y = +1 or −1.
type Probit struct {
	Y float64
}

// Complement implements Binary.
func (p Probit) Complement() Factor { return Probit{Y: -p.Y} }

// Log implements Factor.
func (p Probit) Log(f float64) (l, d1, d2 float64) { return p.LogMean(f, 0) }

// LogMean implements Factor: Z = Φ(z) with z = Ym/√(1+v).
func (p Probit) LogMean(m, v float64) (l, d1, d2 float64) {
	fault.At(fault.Factor)
	s := math.Sqrt(1 + v)
	z := p.Y * m / s
	l, d1, d2 = normal.LogCDFDerivatives(z)
	return l, p.Y * d1 / s, d2 / (s * s)
}

// bendScale tells where Φ may be zero in the complex plane. The zeros nearest to the
// real line are 1.92 ± 2.82i, those beyond lie along the diagonals (the zeros of
// erfc, DLMF 7.13), and all have Im² − Re² > 4.2 > 2.5²/2.
const bendScale = 2.5

// MeanLog implements Factor by quadrature.
func (p Probit) MeanLog(m, v float64) (l, d1, d2 float64) {
	l, d1, d2 = expectBend(normal.LogCDFDerivatives, p.Y*m, v, bendScale)
	return l, p.Y * d1, d2
}
