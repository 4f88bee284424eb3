package gauss

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Views read scalars from a Gaussian vector v: the i-th reads
// f_i = B_i + a_i·v + e_i with e_i ~ N(0, R_i), where a_i is row i of A and the
// e_i are independent of v and of each other. Views are immutable once made.
type Views struct {
	a    *mat.Dense
	b, r []float64
	// lead[k] is the number of columns that are zero in every row of the k-th
	// block of rows. A Gaussian process has a triangular A, and skipping what is
	// known to be zero costs a third of the plain product.
	lead []int
}

// rowBlock is the number of rows handled by one level-3 call: large enough for
// the matrix product to run at speed, small enough that a triangular A wastes
// little.
const rowBlock = 128

// NewViews makes the views with the rows of a, offsets b and residual variances
// r; nil b or r stand for zeros. It keeps its arguments. It panics if the lengths
// differ or a residual variance is negative.
func NewViews(a *mat.Dense, b, r []float64) *Views {
	n, m := a.Dims()
	if b == nil {
		b = make([]float64, n)
	}
	if r == nil {
		r = make([]float64, n)
	}
	if len(b) != n || len(r) != n {
		panic(fmt.Sprintf("gauss: %d views with %d offsets and %d residual variances", n, len(b), len(r)))
	}
	for i, ri := range r {
		if !(ri >= 0) {
			panic(fmt.Sprintf("gauss: view %d has residual variance %v", i, ri))
		}
	}
	v := &Views{a: a, b: b, r: r}
	for i := 0; i < n; i += rowBlock {
		lead := m
		for k := i; k < min(i+rowBlock, n); k++ {
			row := a.RawRowView(k)
			for j := 0; j < lead; j++ {
				if row[j] != 0 {
					lead = j
				}
			}
		}
		v.lead = append(v.lead, lead)
	}
	return v
}

// Len is the number of views.
func (v *Views) Len() int { return len(v.b) }

// Dim is the dimension of the vector they look at.
func (v *Views) Dim() int { return v.a.RawMatrix().Cols }

// Row is a_i. It must not be changed.
func (v *Views) Row(i int) []float64 { return v.a.RawRowView(i) }

// Offset is B_i.
func (v *Views) Offset(i int) float64 { return v.b[i] }

// Residual is R_i.
func (v *Views) Residual(i int) float64 { return v.r[i] }

// Slice is the views from i up to, not including, j; it shares their storage.
func (v *Views) Slice(i, j int) *Views {
	return NewViews(v.a.Slice(i, j, 0, v.Dim()).(*mat.Dense), v.b[i:j:j], v.r[i:j:j])
}

// Append is the views followed by others on the same vector.
func (v *Views) Append(o *Views) *Views {
	var a mat.Dense
	a.Stack(v.a, o.a)
	return NewViews(&a, slices.Concat(v.b, o.b), slices.Concat(v.r, o.r))
}

// At writes what the views read on average when v is x: B_i + a_i·x.
func (v *Views) At(dst, x []float64) {
	copy(dst, v.b)
	blas64.Gemv(noTrans, 1, v.a.RawMatrix(), vector(x), 1, vector(dst))
}

// Pull adds to dst the gradient in v of a function of the views with gradient w:
// dst += Aᵀ w.
func (v *Views) Pull(dst, w []float64) {
	blas64.Gemv(trans, 1, v.a.RawMatrix(), vector(w), 1, vector(dst))
}

// sameLength panics unless there are n views.
func sameLength(v *Views, n int) {
	if v.Len() != n {
		panic(fmt.Sprintf("gauss: %d numbers for %d views", n, v.Len()))
	}
}
