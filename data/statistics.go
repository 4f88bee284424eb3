package data

import (
	"math"
	"slices"
)

// median of values, which are put in another order.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	low, high := values[(n-1)/2], values[n/2]
	if low == high {
		return low + 0 // never −0, which JSON would not keep
	}
	return low/2 + high/2 // the sum of two large numbers may overflow
}

// meanScale is the mean and the standard deviation (divisor n) of values. They are
// scaled by a power of two, which is exact, so that no finite column overflows, and
// summed with twice the digits, so that their order does not matter.
func meanScale(values []float64) (mean, scale float64) {
	n := float64(len(values))
	_, exponent := math.Frexp(magnitude(values))
	shrink, grow := math.Ldexp(1, -exponent/2), math.Ldexp(1, exponent/2)
	shrink2, grow2 := math.Ldexp(1, exponent/2-exponent), math.Ldexp(1, exponent-exponent/2)
	var sum twofold
	for _, x := range values {
		sum.add(x * shrink * shrink2)
	}
	mean = sum.value() / n
	var squares, first twofold
	for _, x := range values {
		d := x*shrink*shrink2 - mean
		first.add(d)
		squares.add(d * d)
	}
	// The second pass corrects the rounding of the first mean.
	correction := first.value() / n
	variance := max(squares.value()/n-correction*correction, 0)
	return (mean+correction)*grow*grow2 + 0, math.Sqrt(variance) * grow * grow2
}

// magnitude is the largest absolute value.
func magnitude(values []float64) float64 {
	most := 0.0
	for _, x := range values {
		most = max(most, math.Abs(x))
	}
	return most
}

// twofold is a sum and what rounding took from it.
type twofold struct{ high, low float64 }

// add adds without an error in the first part (Knuth's two-sum).
func (s *twofold) add(x float64) {
	sum := s.high + x
	back := sum - s.high
	s.low += (s.high - (sum - back)) + (x - back)
	s.high = sum
}

func (s *twofold) value() float64 { return s.high + s.low }
