package factor

import (
	"math"

	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/normal"
)

// Ordered is the term of a grade: that f plus standard normal noise lies between two cut points,
// t(f) = Φ(High − f) − Φ(Low − f). Low of the lowest grade is −∞, and High of the highest +∞, which
// with two grades makes Probit of them.
type Ordered struct {
	Low, High float64
}

// Log implements Factor.
func (o Ordered) Log(f float64) (l, d1, d2 float64) { return o.LogMean(f, 0) }

// LogMean implements Factor: the noise has variance 1 + v.
func (o Ordered) LogMean(m, v float64) (l, d1, d2 float64) {
	if !finite.All(m, v) {
		return noNumbers()
	}
	s := math.Sqrt(1 + v)
	l, d1, d2 = between((o.Low-m)/s, (o.High-m)/s, (o.High-o.Low)/s)
	return l, d1 / s, d2 / (s * s)
}

// between is log(Φ(b) − Φ(a)) and its derivatives as both move down together: the mean of a standard
// normal that lies between them, and its variance less one. Their distance is given, as a difference
// would lose digits.
func between(a, b, width float64) (l, d1, d2 float64) {
	if a > -b { // more of it lies above zero: look from there
		l, d1, d2 = between(-b, -a, width)
		return l, -d1, d2
	}
	switch {
	case math.IsInf(a, -1) || -b*width > 42: // nothing lies below a
		l, d1, d2 = normal.LogCDFDerivatives(b)
		return l, -d1, d2
	case b <= 0 || width <= 2:
		return aside(b, width)
	}
	l = math.Log1p(-normal.CDF(a) - normal.CDF(-b))
	low, high := math.Exp(normal.LogDensity(a)-l), math.Exp(normal.LogDensity(b)-l)
	d1 = low - high
	return l, d1, a*low - b*high - d1*d1
}

// aside is between for cut points that differences of Φ would lose digits for, by panels below the
// upper one: the density falls at least as e^bt with the distance t from there,
// to e^−42 at most.
func aside(b, width float64) (l, d1, d2 float64) {
	panels := math.Ceil(width * max(1, -b) / 6)
	half := width / panels / 2
	var sum, mean, square float64
	for k := range int(panels) {
		for i, x := range panelX {
			t := half * (float64(2*k+1) + x)
			w := panelW[i] * math.Exp(t*(b-t/2))
			sum += w
			mean += w * t
			square += w * t * t
		}
	}
	mean /= sum
	return normal.LogDensity(b) + math.Log(half*sum), b - mean, square/sum - mean*mean - 1
}

// MeanLog implements Factor by quadrature. The zeros of t are as far from the cut points as those
// of Φ are from zero.
func (o Ordered) MeanLog(m, v float64) (l, d1, d2 float64) {
	switch {
	case math.IsInf(o.Low, -1):
		l, d1, d2 = Probit{Y: 1}.MeanLog(o.High-m, v)
		return l, -d1, d2
	case math.IsInf(o.High, 1):
		return Probit{Y: 1}.MeanLog(m-o.Low, v)
	}
	return expect(o.Log, m, v, feature{o.Low, bendScale}, feature{o.High, bendScale}, feature{(o.Low + o.High) / 2, bendScale})
}
