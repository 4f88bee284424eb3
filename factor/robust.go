package factor

import (
	"math"
	"math/cmplx"

	"github.com/lossep/lossep/normal"
)

// RobustProbit is the term of a two-valued label that was noted down wrongly with
// probability Noise: t(f) = ε + (1 − 2ε)·Φ(Y·f), with Y = +1 or −1 and ε = Noise in
// [0, ½). No single label can weigh more than log ε against the others.
//
// It is not log-concave: a label that contradicts its surroundings may widen the
// posterior, and its site then has a negative precision.
type RobustProbit struct {
	Y     float64
	Noise float64
}

// Complement implements Binary: the two terms add to 2ε + (1 − 2ε) = 1.
func (t RobustProbit) Complement() Factor { return RobustProbit{Y: -t.Y, Noise: t.Noise} }

// Log implements Factor.
func (t RobustProbit) Log(f float64) (l, d1, d2 float64) { return t.LogMean(f, 0) }

// LogMean implements Factor. With z = Ym/√(1+v), Z = ε + (1−2ε)Φ(z) and ρ the
// probability that the label is not the noise's, (1−2ε)Φ(z)/Z, the derivatives are
// those of log Φ times ρ, and in the second one ρ(1−ρ) times the squared slope more.
func (t RobustProbit) LogMean(m, v float64) (l, d1, d2 float64) {
	s := math.Sqrt(1 + v)
	l, d1, d2 = t.of(t.Y * m / s)
	return l, t.Y * d1 / s, d2 / (s * s)
}

// of is log(ε + (1−2ε)Φ(z)) and its derivatives in z.
func (t RobustProbit) of(z float64) (l, d1, d2 float64) {
	if t.Noise == 0 {
		return normal.LogCDFDerivatives(z)
	}
	log, slope, curvature := normal.LogCDFDerivatives(z)
	noise, signal := math.Log(t.Noise), math.Log1p(-2*t.Noise)+log
	if z > 0 { // t tends to 1 − ε: only log1p keeps the digits of ε
		l = math.Log1p(-t.Noise - (1-2*t.Noise)*normal.CDF(-z))
	} else {
		l = logSumExp(noise, signal)
	}
	rho, other := math.Exp(signal-l), math.Exp(noise-l)
	if rho == 0 { // the slope may be infinite here, and 0·∞ is no number
		return l, 0, 0
	}
	return l, rho * slope, rho * (curvature + other*slope*slope)
}

// MeanLog implements Factor by quadrature.
func (t RobustProbit) MeanLog(m, v float64) (l, d1, d2 float64) {
	if t.Noise == 0 {
		return Probit{t.Y}.MeanLog(m, v)
	}
	l, d1, d2 = expect(t.of, t.Y*m, v, feature{1.9, 2.8}, t.crossover())
	return l, t.Y * d1, d2
}

// crossover is where label noise takes over from Φ: the zero of t nearest to the
// real line, on the left of zero. To the right t is zero near the zeros of Φ, or
// further off. On the left Φ(f) ≈ −N(f)/f, so that with κ = ε/(1−2ε)
// f² = −2 log(−κ√(2π)f) ± 2πi, which is its own iteration.
//
// The approximation is good to a few percent of the distance; the quadrature has
// more than that to spare.
func (t RobustProbit) crossover() feature {
	kappa := t.Noise / (1 - 2*t.Noise) * math.Sqrt(2*math.Pi)
	f := complex(-2, 2)
	for range 8 {
		square := -2 * cmplx.Log(complex(-kappa, 0)*f)
		f = -cmplx.Sqrt(complex(real(square), -2*math.Pi+imag(square)))
	}
	return feature{real(f), math.Abs(imag(f))}
}

var _ Binary = RobustProbit{}
