package factor

import "math"

var logTwoPi = math.Log(2 * math.Pi)

// Gaussian is the term of a measurement Y with noise of the given Variance:
// t(f) = N(Y; f, Variance).
type Gaussian struct {
	Y, Variance float64
}

// Log implements Factor.
func (g Gaussian) Log(f float64) (l, d1, d2 float64) { return g.LogMean(f, 0) }

// LogMean implements Factor: Z = N(Y; m, Variance + v).
func (g Gaussian) LogMean(m, v float64) (l, d1, d2 float64) {
	w := g.Variance + v
	e := g.Y - m
	return -0.5 * (e*e/w + math.Log(w) + logTwoPi), e / w, -1 / w
}

// MeanLog implements Factor.
func (g Gaussian) MeanLog(m, v float64) (l, d1, d2 float64) {
	l, d1, d2 = g.LogMean(m, 0)
	return l - 0.5*v/g.Variance, d1, d2
}

// Raise implements Raiser: a normal density of the variance Variance/α.
func (g Gaussian) Raise(alpha float64) Factor {
	to := Gaussian{g.Y, g.Variance / alpha}
	return moved{to, 0, alpha*peak(g, g.Y) - peak(to, g.Y)}
}
