// Package finite tells numbers from what is none: NaN and the infinities.
package finite

import "math"

// All tells whether all of them are numbers.
func All(xs ...float64) bool {
	for _, x := range xs {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return false
		}
	}
	return true
}
