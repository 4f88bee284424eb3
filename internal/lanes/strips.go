package lanes

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
)

// Width is the number of cases in a strip.
const Width = 32

// Strips are cases in the order in which vector code reads them: in runs of Width, and
// of each run one column after another. The last run is filled up with zeros.
type Strips struct {
	cases, columns int
	data           []float64
}

// Padded is n rounded up to whole strips.
func Padded(n int) int { return (n + Width - 1) / Width * Width }

// Size is how many numbers the strips of n cases of d columns are.
func Size(n, d int) int { return Padded(n) * d }

// NewStrips makes strips of the rows of z in storage, which has their Size.
func NewStrips(z blas64.General, storage []float64) Strips {
	if len(storage) != Size(z.Rows, z.Cols) {
		panic(fmt.Sprintf("lanes: storage of %d numbers for %d cases of %d columns", len(storage), z.Rows, z.Cols))
	}
	for i := range Padded(z.Rows) {
		// Of case i the first column is here, and the next ones follow Width apart.
		at := i/Width*Width*z.Cols + i%Width
		if i >= z.Rows {
			for k := range z.Cols {
				storage[at+k*Width] = 0
			}
			continue
		}
		for _, v := range z.Data[i*z.Stride : i*z.Stride+z.Cols] {
			storage[at] = v
			at += Width
		}
	}
	return Strips{cases: z.Rows, columns: z.Cols, data: storage}
}

// Distances writes Σ_k (x_k − z_k)² for every row x and case z; dst has a row for each
// row of x and Padded columns, of which those past the cases mean nothing.
func (s Strips) Distances(dst, x blas64.General) { s.each(selected.distances, dst, x, nil) }

// WeightedDistances writes Σ_k w_k (x_k − z_k)², otherwise as Distances.
func (s Strips) WeightedDistances(dst, x blas64.General, w []float64) {
	s.each(selected.weighted, dst, x, w)
}

// Dots writes Σ_k x_k z_k, otherwise as Distances.
func (s Strips) Dots(dst, x blas64.General) { s.each(selected.dots, dst, x, nil) }

// each calls sum for every row of x and every strip. A strip of 60 columns is 15 kB, so
// that it stays in the first-level cache from row to row.
func (s Strips) each(sum func(dst, x, w, strip []float64), dst, x blas64.General, w []float64) {
	if x.Cols != s.columns || s.columns == 0 {
		panic(fmt.Sprintf("lanes: rows of %d columns and cases of %d", x.Cols, s.columns))
	}
	if dst.Rows != x.Rows || dst.Cols != Padded(s.cases) {
		panic(fmt.Sprintf("lanes: a %d×%d matrix for %d rows and %d cases", dst.Rows, dst.Cols, x.Rows, s.cases))
	}
	for j := 0; j < s.cases; j += Width {
		strip := s.data[j*s.columns : (j+Width)*s.columns]
		for i := range x.Rows {
			sum(dst.Data[i*dst.Stride+j:][:Width], x.Data[i*x.Stride:][:x.Cols], w, strip)
		}
	}
}

// Add adds src to dst, and then offset. Both have the same number of numbers, a multiple of Width.
func Add(dst, src []float64, offset float64) {
	if len(dst) != len(src) || len(dst)%Width != 0 {
		panic(fmt.Sprintf("lanes: %d numbers to be added to %d, in strips of %d", len(src), len(dst), Width))
	}
	selected.add(dst, src, offset)
}

func plainAdd(dst, src []float64, offset float64) {
	for i, v := range src {
		dst[i] = dst[i] + v + offset
	}
}
