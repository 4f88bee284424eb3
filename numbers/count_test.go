package numbers

import (
	"math"
	"testing"

	"github.com/lossep/lossep/factor"
)

// A count of a row that counts more or less than once is averaged as exactly as others, however large both are: by the trapezoidal rule
// around the maximum, whose error is far below rounding.
func TestPowersOfLargeCounts(t *testing.T) {
	for _, family := range []Family{poisson{1.5}, negativeBinomial{1.5, 40}} {
		for _, c := range []struct{ y, alpha, m, v float64 }{{2e6, 20, 13.01, 1e-2}, {1e9, 500, 19.2, 1e-3}, {3, 0.25, -1, 0.5}, {0, 20, -4, 1}} {
			term := factor.Raise(family.Term(c.y), c.alpha)
			weight := func(f float64) float64 {
				l, _, _ := family.Term(c.y).Log(f)
				return c.alpha*l - (f-c.m)*(f-c.m)/(2*c.v)
			}
			lo, hi := c.m-12*math.Sqrt(c.v)-3, c.m+12*math.Sqrt(c.v)+3
			for range 200 { // of a concave function
				a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
				if weight(a) < weight(b) {
					lo = a
				} else {
					hi = b
				}
			}
			at, top := lo, weight(lo)
			_, _, bend := family.Term(c.y).Log(at)
			width := 1 / math.Sqrt(1/c.v-c.alpha*bend)
			sum := 0.0
			for k := -4000; k <= 4000; k++ {
				sum += math.Exp(weight(at+20*width*float64(k)/4000) - top)
			}
			want := top + math.Log(sum*20*width/4000) - 0.5*math.Log(2*math.Pi*c.v)
			// Terms of 1e11 nats cancel: a rounding of each is left.
			if got, _, _ := term.LogMean(c.m, c.v); !(math.Abs(got-want) <= 1e-8+1e-14*c.alpha*c.y) {
				t.Errorf("%v of %+v: %v, want %v", family, c, got, want)
			}
		}
	}
}
