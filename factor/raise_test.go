package factor_test

import (
	"math"
	"testing"

	"github.com/lossep/lossep/factor"
)

// Powers of terms of numbers and counts are tᵅ, and their averages those of sums over many points, which have an error
// below rounding for what is analytic and vanishes at both ends.
func TestPowersOfTerms(t *testing.T) {
	for _, of := range []factor.Factor{
		factor.Gaussian{Y: 0.7, Variance: 0.02},
		factor.StudentT{Y: -1, Scale: 0.3, DF: 1.6}, factor.StudentT{Y: 40, Scale: 0.3, DF: 4},
		factor.Poisson{Y: 0}, factor.Poisson{Y: 30}, factor.NegativeBinomial{Y: 0, Size: 2}, factor.NegativeBinomial{Y: 12, Size: 0.8},
	} {
		for _, alpha := range []float64{0.1, 0.4, 0.5, 0.9, 1} {
			power := factor.Raise(of, alpha)
			for _, at := range []struct{ m, v float64 }{{0, 1}, {2, 0.01}, {-1.5, 4}} {
				l, d1, d2 := of.Log(at.m)
				same(t, of, alpha, "Log", answer(power.Log(at.m)), [3]float64{alpha * l, alpha * d1, alpha * d2}, 1e-12)
				l, d1, d2 = of.MeanLog(at.m, at.v)
				same(t, of, alpha, "MeanLog", answer(power.MeanLog(at.m, at.v)), [3]float64{alpha * l, alpha * d1, alpha * d2}, 1e-11)
				same(t, of, alpha, "LogMean", answer(power.LogMean(at.m, at.v)), summed(power, at.m, at.v), 1e-9)
			}
		}
	}
}

func same(t *testing.T, of factor.Factor, alpha float64, what string, got, want [3]float64, tolerance float64) {
	t.Helper()
	for k := range got {
		if !(math.Abs(got[k]-want[k]) <= tolerance*(1+math.Abs(want[k]))) {
			t.Errorf("%s of %T%v to the power of %v: %v, and not %v", what, of, of, alpha, got, want)
			return
		}
	}
}

// summed is log E t(f) with its derivatives in m, from moments of N(m, v)·t: 1e4 points over 14 standard deviations on
// each side.
func summed(t factor.Factor, m, v float64) [3]float64 {
	const points, reach = 10_000, 14
	sd, top := math.Sqrt(v), math.Inf(-1)
	logs := make([]float64, 2*points+1)
	for k := range logs {
		z := reach * float64(k-points) / points
		l, _, _ := t.Log(m + sd*z)
		logs[k] = l - z*z/2
		top = max(top, logs[k])
	}
	var sum, first, second float64
	for k, l := range logs {
		z, w := reach*float64(k-points)/points, math.Exp(l-top)
		sum, first, second = sum+w, first+w*z, second+w*(z*z-1)
	}
	first, second = first/sum/sd, second/sum/v
	return [3]float64{top + math.Log(sum*reach/points) - 0.5*math.Log(2*math.Pi), first, second - first*first}
}
