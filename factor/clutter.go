package factor

import (
	"math"
	"math/cmplx"

	"github.com/lossep/lossep/internal/fault"
)

// Clutter is the term of a measurement Y that is clutter with probability Weight:
// t(f) = (1 − Weight)·N(Y; f, Noise) + Weight·N(Y; 0, Variance).
type Clutter struct {
	Y        float64
	Weight   float64 // probability that the measurement is clutter, in [0, 1)
	Variance float64 // variance of clutter
	Noise    float64 // variance of a good measurement
}

// Log implements Factor.
func (c Clutter) Log(f float64) (l, d1, d2 float64) { return c.LogMean(f, 0) }

// LogMean implements Factor. With ρ the probability that the measurement is good,
// g = ρ(Y−m)/w and g' = −ρ/w + ρ(1−ρ)(Y−m)²/w², where w = Noise + v.
//
// It works with logarithms, so that a measurement far from both components keeps
// its ρ.
func (c Clutter) LogMean(m, v float64) (l, d1, d2 float64) {
	fault.At(fault.Factor)
	good, bad := c.peaks(v)
	return c.logMean(m, c.Noise+v, good, bad)
}

// peaks are the logarithms of the weighted components at m = Y, where the one of a
// good measurement is largest; the other does not depend on m.
func (c Clutter) peaks(v float64) (good, bad float64) {
	good = math.Log1p(-c.Weight) - 0.5*(math.Log(c.Noise+v)+logTwoPi)
	bad = math.Log(c.Weight) - 0.5*(c.Y*c.Y/c.Variance+math.Log(c.Variance)+logTwoPi)
	return good, bad
}

// logMean is LogMean for a total variance w and the peaks that belong to it.
func (c Clutter) logMean(m, w, good, bad float64) (l, d1, d2 float64) {
	e := c.Y - m
	good -= 0.5 * e * e / w
	if math.IsInf(bad, -1) { // never clutter, however far away
		return good, e / w, -1 / w
	}
	l = logSumExp(good, bad)
	rho := math.Exp(good - l)
	if rho == 0 { // the pull may be infinite here, and 0·∞ is no number
		return l, 0, 0
	}
	other := math.Exp(bad - l)
	pull := e / w
	return l, rho * pull, -rho/w + (rho*pull)*(other*pull)
}

// MeanLog implements Factor by quadrature. In units of the noise, e = (Y − f)/√Noise,
// the components cancel where e² = c ± iπ(2k+1)·2, with c twice the log-odds of a
// good measurement at f = Y. The roots nearest to the real line are those of k = 0;
// the others lie above them, or outwards on the diagonals.
func (c Clutter) MeanLog(m, v float64) (l, d1, d2 float64) {
	good, bad := c.peaks(0)
	odds := 2 * (good - bad)
	if math.IsInf(odds, 1) { // never clutter
		return Gaussian{c.Y, c.Noise}.MeanLog(m, v)
	}
	root := cmplx.Sqrt(complex(odds, 2*math.Pi))
	sd := math.Sqrt(c.Noise)
	at, scale := sd*real(root), sd*imag(root)
	log := func(f float64) (l, d1, d2 float64) { return c.logMean(f, c.Noise, good, bad) }
	return expect(log, m, v, feature{c.Y - at, scale}, feature{c.Y + at, scale})
}

// logSumExp is log(eᵃ + eᵇ).
func logSumExp(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(a, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}
