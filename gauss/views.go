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
	// lead[i] is the number of zeros that a_i begins with. A Gaussian process has a
	// triangular A, and skipping what is known to be zero costs a third of the plain
	// product.
	lead   []int
	others []*Views // by function; see Of
}

// NewViews makes the views with the rows of a, offsets b and residual variances
// r; nil b or r stand for zeros. It keeps its arguments. It panics if the lengths
// differ or a residual variance is negative. One that is NaN is of a view that nothing
// is known about, and what is predicted through it is NaN.
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
		if ri < 0 {
			panic(fmt.Sprintf("gauss: view %d has residual variance %v", i, ri))
		}
	}
	v := &Views{a: a, b: b, r: r, lead: make([]int, n)}
	for i := range n {
		row := a.RawRowView(i)
		for v.lead[i] < m && row[v.lead[i]] == 0 {
			v.lead[i]++
		}
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

// With is the views of several functions, which have a vector each, and offsets and residual variances of
// their own.
func (v *Views) With(b, r [][]float64) *Views {
	c := *v
	c.others = make([]*Views, len(b))
	for k := range b {
		c.others[k] = &Views{a: v.a, b: b[k], r: r[k], lead: v.lead}
	}
	return &c
}

// Of is how a function sees its vector: as all do, unless With says otherwise.
func (v *Views) Of(function int) *Views {
	if v.others == nil {
		return v
	}
	return v.others[function]
}

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
	for i := 0; i < len(dst); i += rowGroup {
		if block, from := v.group(i, len(dst)); block.Cols > 0 {
			blas64.Gemv(noTrans, 1, block, vector(x[from:]), 1, vector(dst[i:i+block.Rows]))
		}
	}
}

// Pull adds to dst the gradient in v of a function of the views with gradient w:
// dst += Aᵀ w.
func (v *Views) Pull(dst, w []float64) {
	v.pull(dst, w, 0, len(w), 0, len(dst))
}

// pull is Pull for the rows [lo,hi) of A, and its columns [from,to).
func (v *Views) pull(dst, w []float64, lo, hi, from, to int) {
	for i := lo; i < hi; i += rowGroup {
		block, lead := v.group(i, hi)
		skip := max(0, from-lead)
		if block.Cols = to - lead - skip; block.Cols > 0 {
			block.Data = block.Data[skip:]
			blas64.Gemv(trans, 1, block, vector(w[i:i+block.Rows]), 1, vector(dst[lead+skip:to]))
		}
	}
}

// rowGroup is the number of rows that a matrix-vector product takes together.
const rowGroup = 32

// group is the rows of A from i on, below end, that are taken together, without the
// zeros that all of them begin with, and how many those are.
func (v *Views) group(i, end int) (block blas64.General, lead int) {
	r := v.a.RawMatrix()
	end = min(i+rowGroup, end)
	lead = slices.Min(v.lead[i:end])
	return blas64.General{Rows: end - i, Cols: r.Cols - lead, Stride: r.Stride, Data: r.Data[i*r.Stride+lead:]}, lead
}

// sameLength panics unless there are n views.
func sameLength(v *Views, n int) {
	if v.Len() != n {
		panic(fmt.Sprintf("gauss: %d numbers for %d views", n, v.Len()))
	}
}
