package gauss

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Contrasts is an orthonormal basis of the differences of n numbers, one in each row, with
// row p zero beyond element p+1.
func Contrasts(n int) *mat.Dense {
	b := mat.NewDense(n-1, n, nil)
	for p := range n - 1 {
		size := 1 / math.Sqrt(float64((p+1)*(p+2)))
		for i := range p + 1 {
			b.Set(p, i, size)
		}
		b.Set(p, p+1, -float64(p+1)*size)
	}
	return b
}
