package lanes

import (
	"fmt"
	"math"
)

// Outer adds scale·column·columnᵀ to the first rows of a, of which every row is as long as
// the column, a multiple of Octet.
func Outer(a []float64, rows int, scale float64, column []float64) {
	if n := len(column); n%Octet != 0 || rows > n || len(a) < rows*n {
		panic(fmt.Sprintf("lanes: %d numbers are not %d rows of at most %d, a multiple of %d", len(a), rows, n, Octet))
	}
	if rows > 0 {
		selected.outer(a, rows, scale, column)
	}
}

// plainOuter is Outer in plain Go.
func plainOuter(a []float64, rows int, scale float64, column []float64) {
	n := len(column)
	for i := range rows {
		weight := scale * column[i]
		row := a[i*n : (i+1)*n]
		for j, c := range column {
			row[j] = math.FMA(weight, c, row[j])
		}
	}
}
