package factor_test

import (
	"math"
	"testing"

	"github.com/lossep/lossep/factor"
)

// places are numbers of every size a float64 can have, of both signs, and zero.
func places(step int) []float64 {
	all := []float64{0}
	for k := -330; k <= 308; k += step {
		x := math.Pow(10, float64(k))
		if k < -323 {
			x = math.SmallestNonzeroFloat64
		}
		all = append(all, x, -x)
	}
	return append(all, math.MaxFloat64, -math.MaxFloat64)
}

// However far a mean is and however wide a variance, a factor answers with numbers, or
// with −∞ for the logarithm of what is too small; two outcomes share a probability of
// one.
func TestEveryMeanAndVariance(t *testing.T) {
	ms := places(61)
	for _, c := range lawTable {
		for _, m := range ms {
			checkNumbers(t, c, "Log", m, 0, answer(c.Log(m)))
			for _, v := range ms {
				if v < 0 {
					continue
				}
				checkNumbers(t, c, "LogMean", m, v, answer(c.LogMean(m, v)))
				checkNumbers(t, c, "MeanLog", m, v, answer(c.MeanLog(m, v)))
				b, ok := c.Factor.(factor.Binary)
				if !ok {
					continue
				}
				l, _, _ := b.LogMean(m, v)
				o, _, _ := b.Complement().LogMean(m, v)
				// Both logarithms have the error of a few roundings.
				if sum := math.Exp(l) + math.Exp(o); !(math.Abs(sum-1) < 1e-13) {
					t.Errorf("%#v at m = %g, v = %g: probabilities %g and %g", b, m, v, math.Exp(l), math.Exp(o))
				}
			}
		}
	}
}

func checkNumbers(t *testing.T, c lawCase, question string, m, v float64, got [3]float64) {
	t.Helper()
	if math.IsNaN(got[0]) || math.IsInf(got[0], 1) || math.IsNaN(got[1]) || math.IsNaN(got[2]) {
		t.Errorf("%#v.%s at m = %g, v = %g: %v", c.Factor, question, m, v, got)
	}
}

// What is no number makes no number, and nothing worse.
func TestNoNumberIn(t *testing.T) {
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1}
	for _, c := range lawTable {
		for _, m := range odd {
			c.Log(m)
			for _, v := range odd {
				if !(v < 0) {
					c.LogMean(m, v)
					c.MeanLog(m, v)
				}
			}
		}
	}
}
