package data

import "math"

// median of sorted values.
func median(sorted []float64) float64 {
	n := len(sorted)
	low, high := sorted[(n-1)/2], sorted[n/2]
	if low == high {
		return low + 0 // never −0, which JSON would not keep
	}
	return low/2 + high/2 // the sum of two large numbers may overflow
}

// meanScale is the mean and the standard deviation (divisor n) of sorted
// values. They are first scaled by a power of two, which is exact, so that no
// finite column overflows; the second pass corrects the rounding of the first
// mean.
func meanScale(sorted []float64) (mean, scale float64) {
	n := float64(len(sorted))
	_, exponent := math.Frexp(magnitude(sorted))
	scaled := make([]float64, len(sorted))
	for i, x := range sorted {
		scaled[i] = math.Ldexp(x, -exponent)
		mean += scaled[i]
	}
	mean /= n
	var first, second float64
	for _, x := range scaled {
		d := x - mean
		first += d
		second += d * d
	}
	correction := first / n
	variance := max(second/n-correction*correction, 0)
	return math.Ldexp(mean+correction, exponent) + 0, math.Ldexp(math.Sqrt(variance), exponent)
}

// magnitude is the largest absolute value among sorted values.
func magnitude(sorted []float64) float64 {
	return max(math.Abs(sorted[0]), math.Abs(sorted[len(sorted)-1]))
}
