package factor_test

import (
	"fmt"
	"testing"

	"github.com/lossep/lossep/factor"
)

// BenchmarkMeanLog times the one question without a closed form, from a narrow q
// to one far wider than the factor.
func BenchmarkMeanLog(b *testing.B) {
	for _, f := range []factor.Factor{
		factor.Probit{Y: 1},
		factor.Clutter{Y: 2.3, Weight: 0.5, Variance: 10, Noise: 1},
	} {
		for _, v := range []float64{0.01, 4, 20, 1e8} {
			b.Run(fmt.Sprintf("%T/v=%g", f, v), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					f.MeanLog(0.7, v)
				}
			})
		}
	}
}
