package factor_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/lossep/lossep/factor"
)

// A power is averaged by a few thousand visits of t at most, or as many nodes, however small or large it is: rows may weigh
// anything. A rule that follows the tail of the mixture, which falls as e^(αu), never ends.
func TestPowersOfStudentAtAnyWeight(t *testing.T) {
	of := factor.StudentT{Y: 0.7, Scale: 0.3, DF: 2.5}
	for _, alpha := range []float64{1e-300, 1e-100, 1e-20, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.999, 1.001, 3, 1e3, 1e6, 1e9} {
		t.Run(fmt.Sprint(alpha), func(t *testing.T) {
			power := factor.Raise(of, alpha)
			for _, m := range []float64{0.7, 1, -40, 1e4} {
				for _, v := range []float64{1e-4, 1, 1e3, 1e8} {
					got := answer(power.LogMean(m, v))
					if n := testing.AllocsPerRun(1, func() { power.LogMean(m, v) }); n > 30 {
						t.Errorf("LogMean(%v, %v) allocates %v times", m, v, n)
					}
					// As α → 0 it is α·E log t to first order, and α²/2·Var log t after it.
					if l, d1, d2 := of.MeanLog(m, v); alpha <= 1e-6 {
						want := [3]float64{alpha * l, alpha * d1, alpha * d2}
						for k := range got {
							if !near(got[k], want[k], 1e-3*math.Abs(want[k])+1e-11*alpha) {
								t.Errorf("LogMean(%v, %v) = %v, want about %v", m, v, got, want)
								break
							}
						}
					}
					if math.IsNaN(got[0] + got[1] + got[2]) {
						t.Errorf("LogMean(%v, %v) = %v", m, v, got)
					}
				}
			}
		})
	}
}

// A power of t is the same whether it is averaged as a mixture or about its maxima, which the power one divides.
func TestPowersOfStudentAboutOne(t *testing.T) {
	for _, of := range []factor.StudentT{{0.7, 0.3, 2.5}, {-1, 0.05, 1.6}, {2, 3, 30}} {
		for _, m := range []float64{0, 0.7, -8, 60} {
			for _, v := range []float64{1e-4, 0.2, 1, 9, 100, 1e4} {
				below, above := answer(factor.Raise(of, 1-1e-9).LogMean(m, v)), answer(factor.Raise(of, 1+1e-9).LogMean(m, v))
				for k, size := range []float64{1, math.Abs(below[1]) + 1/math.Sqrt(v), math.Abs(below[2]) + below[1]*below[1] + 1/v} {
					// The difference of the powers, of logarithms of some tens.
					if !near(below[k], above[k], 1e-6*size) {
						t.Errorf("%v at N(%v, %v): %v just below the power one, %v just above", of, m, v, below, above)
						break
					}
				}
			}
		}
	}
}
