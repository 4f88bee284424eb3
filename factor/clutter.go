package factor

import "math"

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
	w := c.Noise + v
	e := c.Y - m
	good := math.Log1p(-c.Weight) - 0.5*(e*e/w+math.Log(w)+logTwoPi)
	bad := math.Log(c.Weight) - 0.5*(c.Y*c.Y/c.Variance+math.Log(c.Variance)+logTwoPi)
	l = logSumExp(good, bad)
	rho := math.Exp(good - l)
	other := math.Exp(bad - l)
	return l, rho * e / w, -rho/w + rho*other*(e/w)*(e/w)
}

// MeanLog implements Factor by quadrature.
func (c Clutter) MeanLog(m, v float64) (l, d1, d2 float64) {
	return expect(c.Log, m, v, feature{c.Y, math.Sqrt(c.Noise)})
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
