package effects

import (
	"math"
	"testing"

	"github.com/lossep/lossep/factor"
)

// Means of logarithms agree with those that terms find to the last digit, to what the comments of the rules say.
func TestMeanLog(t *testing.T) {
	for _, term := range []factor.Factor{factor.Probit{Y: 1}, factor.Probit{Y: -1}, factor.Logit{Y: 1}, factor.Logit{Y: -1}} {
		for m := -20.0; m <= 20; m += 0.37 {
			for _, v := range []float64{0, 1e-6, 0.01, 0.02, 0.05, 0.12, 0.2, 0.28, 0.39, 0.41, 0.7, 1, 2, 5, 20, 100} {
				l, d1, d2 := meanLog(term, m, v)
				wl, w1, w2 := term.MeanLog(m, v)
				if e := math.Abs(l - wl); !(e < 3e-6*(1+math.Abs(wl))) {
					t.Errorf("%#v at N(%g, %g): %g, want %g", term, m, v, l, wl)
				}
				if e := max(math.Abs(d1-w1), math.Abs(d2-w2)); !(e < 1e-5) {
					t.Errorf("%#v at N(%g, %g): derivatives %g %g, want %g %g", term, m, v, d1, d2, w1, w2)
				}
			}
		}
	}
}
