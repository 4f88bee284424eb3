package explore

import (
	"math"
)

// axis is n equally spaced values, both ends included.
func axis(from, to float64, n int) []float64 {
	x := make([]float64, n)
	for k := range x {
		x[k] = from + (to-from)*float64(k)/float64(n-1)
	}
	x[n-1] = to // not even by rounding elsewhere
	return x
}

// outward rounds an interval outward to a tenth of its width or so, in steps of 1, 2
// or 5 times a power of ten: the ends of an axis that does not tremble when what is
// on it moves a little. An interval of no width becomes one of width 2.
func outward(from, to float64) (low, high float64) {
	if !(to > from) {
		from, to = from-1, to+1
	}
	step := math.Pow(10, math.Floor(math.Log10((to-from)/10)))
	for _, wider := range []float64{5, 2} {
		if wider*step <= (to-from)/10 {
			step *= wider
			break
		}
	}
	return step * math.Floor(from/step), step * math.Ceil(to/step)
}
