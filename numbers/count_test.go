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

// Sums over counts agree with closed forms: of counts that are gone over one by one, and of ranges. The second moment is
// E μ + (1 + 1/size)·E μ².
func TestExpectationsOfCounts(t *testing.T) {
	for _, c := range []struct {
		m, v, size, bound float64 // a relative error
	}{
		{1, 0.3, math.Inf(1), 1e-6}, {4, 0.01, math.Inf(1), 1e-6}, {-3, 1, 2, 1e-5}, {5, 0.2, 3, 1e-4}, // of all but a billionth
		{9, 0.001, math.Inf(1), 1e-4}, {9, 0.5, 4, 1e-3}, {12, 1, 1, 1e-3}, {3, 4, 0.3, 1e-2}, // by ranges; of long tails what is left out counts more
	} {
		d := newCounts(c.m, c.v, c.size)
		mean, square := d.Mean(), math.Exp(2*c.m+2*c.v)
		square = mean + square*(1+1/c.size)
		if got := d.Expect(func(y float64) float64 { return y }); !(math.Abs(got-mean) <= c.bound*mean) {
			t.Errorf("%+v: mean %v, want %v", c, got, mean)
		}
		if got := d.Expect(func(y float64) float64 { return y * y }); !(math.Abs(got-square) <= 10*c.bound*square) {
			t.Errorf("%+v: second moment %v, want %v", c, got, square)
		}
		// Sums of runs are what lies below their ends, to rounding of the incomplete gamma and beta functions.
		for _, first := range []float64{0, 40, math.Floor(mean)} {
			var masses [perCount]float64
			d.masses(first, &masses)
			sum := d.CDF(first - 1)
			for k, mass := range masses {
				if sum += mass; !(math.Abs(sum-d.CDF(first+float64(k))) <= 1e-9) {
					t.Fatalf("%+v: %v up to %v, want %v", c, sum, first+float64(k), d.CDF(first+float64(k)))
				}
			}
		}
	}
}
