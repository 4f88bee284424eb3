package lanes

import (
	"fmt"
	"math"
)

// Octet is what the length of rows that are blended is a multiple of.
const Octet = 8

// Blend adds the sum of four rows, one after the other in rows, with weights to dst, a
// multiple of Octet numbers.
func Blend(dst []float64, weights *[4]float64, rows []float64) {
	if len(dst)%Octet != 0 || len(rows) != 4*len(dst) {
		panic(fmt.Sprintf("lanes: %d numbers are not four rows of %d, a multiple of %d", len(rows), len(dst), Octet))
	}
	selected.blend(dst, weights, rows)
}

// plainBlend is Blend in plain Go.
func plainBlend(dst []float64, weights *[4]float64, rows []float64) {
	n := len(dst)
	for k, w := range weights {
		for i, v := range rows[k*n : (k+1)*n] {
			dst[i] = math.FMA(w, v, dst[i])
		}
	}
}
