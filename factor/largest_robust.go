package factor

import "math"

// RobustLargest is the term of one of several outcomes that was noted down wrongly with probability Noise, as each of
// the others alike: with p that of Largest, C values and κ = ε/(C−1),
//
//	t(f) = (1 − ε)p(f) + κ(1 − p(f)) = κ + (1 − Cκ)p(f).
//
// Of two values it is RobustProbit of f = (f_1 − f_0)/√2. Like that it is not log-concave.
type RobustLargest struct {
	Largest
	Noise float64
}

// LogMean implements Multi; see RobustProbit.LogMean.
func (t RobustLargest) LogMean(m, v, d1, d2 []float64) float64 {
	l, right, wrong := t.noted(t.Largest.LogMean(m, v, d1, d2), len(m))
	for c, slope := range d1 {
		if right == 0 { // the slope may be infinite here, and 0·∞ is no number
			d1[c], d2[c] = 0, 0
			continue
		}
		d1[c], d2[c] = right*slope, right*(d2[c]+wrong*slope*slope)
	}
	return l
}

// noted is the logarithm of a mean of t where that of p is l, and the shares of both parts in the mean: that of p, and of κ.
func (t RobustLargest) noted(l float64, values int) (log, right, wrong float64) {
	kappa := t.Noise / float64(values-1)
	noise, signal := math.Log(kappa), math.Log1p(-float64(values)*kappa)+l
	if l != l {
		return l, l, l
	}
	log = logSumExp(noise, signal)
	return log, math.Exp(signal - log), math.Exp(noise - log)
}

// MeanLog implements Multi by a bound: for any r between 0 and 1, log t ≥ r log((1 − Cκ)p/r) + (1 − r) log(κ/(1 − r)), and with
// the bound B on E log p the best r gives log(κ + (1 − Cκ)e^B), whose derivatives are r times those of B.
func (t RobustLargest) MeanLog(m, v, d1, d2 []float64) float64 {
	return t.MeanLogBy(Probit{Y: 1}.MeanLog, 1e-7, m, v, d1, d2)
}

// MeanLogBy is MeanLog as Largest.MeanLogBy is.
func (t RobustLargest) MeanLogBy(meanLog func(m, v float64) (l, d1, d2 float64), tolerance float64, m, v, d1, d2 []float64) float64 {
	l, right, _ := t.noted(t.Largest.MeanLogBy(meanLog, tolerance, m, v, d1, d2), len(m))
	for c := range d1 {
		d1[c], d2[c] = right*d1[c], right*d2[c]
	}
	return l
}

var _ Differences = RobustLargest{}
