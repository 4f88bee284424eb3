package factor_test

import (
	"math"
	"testing"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/normal"
)

// A count of a billion is as good as normal in log y with variance 1/y: what is left of the skewness
// is 1/√y.
func TestLargeCounts(t *testing.T) {
	const y = 1e9
	for _, m := range []float64{-3, 0, 5} {
		const v = 1e-8
		at := math.Log(y) + m*1e-4
		want := factor.Gaussian{Y: math.Log(y), Variance: 1 / y}
		for _, f := range []factor.Factor{factor.Poisson{Y: y}, factor.NegativeBinomial{Y: y, Size: 1e15}} {
			l, d1, d2 := f.LogMean(at, v)
			wl, w1, w2 := want.LogMean(at, v)
			// t as a density of y and not of log y: less by log y.
			if !near(l, wl-math.Log(y), 1e-3) || !near(d1, w1, 1e-3*math.Abs(w1)+1) || !near(d2, w2, 2e-3*math.Abs(w2)) {
				t.Errorf("%T at %v: %v %v %v, a normal has %v %v %v", f, at, l, d1, d2, wl-math.Log(y), w1, w2)
			}
		}
	}
}

// Two grades are two outcomes, to the bit of Φ's own rounding.
func TestTwoGradesAreProbit(t *testing.T) {
	for _, m := range []float64{-40, -3, 0, 0.7, 8} {
		for _, v := range []float64{0, 0.3, 50} {
			for k, o := range []factor.Ordered{{Low: math.Inf(-1), High: 0}, {Low: 0, High: math.Inf(1)}} {
				got, want := answer(o.LogMean(m, v)), answer(factor.NewProbit(k).LogMean(m, v))
				for i := range got {
					if !near(got[i], want[i], 1e-15*math.Abs(want[i])) {
						t.Errorf("grade %d at (%v, %v): %v, probit %v", k, m, v, got, want)
					}
				}
			}
		}
	}
}

// Grades are all that can happen.
func TestGradesAddUpToOne(t *testing.T) {
	cuts := []float64{math.Inf(-1), -1.2, -1.19, 0.4, 3, math.Inf(1)}
	for _, m := range []float64{-3, 0, 2} {
		for _, v := range []float64{0, 1, 30} {
			sum := 0.0
			for k := range len(cuts) - 1 {
				l, _, _ := factor.Ordered{Low: cuts[k], High: cuts[k+1]}.LogMean(m, v)
				sum += math.Exp(l)
			}
			if !near(sum, 1, 1e-14) {
				t.Errorf("at (%v, %v) grades have the probability %v", m, v, sum)
			}
		}
	}
}

// The normals of which Student's t is made have its distribution function.
func TestMixtureOfStudentT(t *testing.T) {
	// Quantiles of t with 1, 2 and 5 degrees of freedom: tan, and closed forms.
	for _, c := range []struct{ df, x, p float64 }{
		{1, 1, 0.75}, {1, math.Tan(0.45 * math.Pi), 0.95}, {2, 2.919985580353726, 0.95}, {5, 2.015048373333024, 0.95},
	} {
		variances, weights := factor.StudentT{Scale: 1, DF: c.df}.Mixture()
		p, total := 0.0, 0.0
		for k, v := range variances {
			p += weights[k] * normal.CDF(c.x/math.Sqrt(v))
			total += weights[k]
		}
		// A step 1.4 times as long has the root of the error.
		if !near(p, c.p, 1e-7) || !near(total, 1, 1e-7) {
			t.Errorf("%v degrees of freedom: P(x ≤ %v) = %v of %v, want %v", c.df, c.x, p, total, c.p)
		}
	}
}
