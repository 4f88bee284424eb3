package kernel

import (
	"fmt"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/fault"
	"github.com/lossep/lossep/internal/lanes"
)

// Basis is the functions k(·, z_j) of some cases z_j: what all predictions from these
// cases are linear in. What does not depend on where they are evaluated is computed
// once. It is safe for concurrent use.
type Basis struct {
	cases, columns int
	values         functions
	pool           sync.Pool // of *scratch
}

// Basis returns the functions of the cases in the rows of z, which it copies.
func (k Kernel) Basis(z *mat.Dense) *Basis {
	cases := k.rawInputs(z)
	b := &Basis{cases: cases.Rows, columns: cases.Cols}
	b.pool.New = func() any { return new(scratch) }
	b.values = k.term.against(cases, new(scratch))
	return b
}

// Len is the number of functions.
func (b *Basis) Len() int { return b.cases }

// Stride is Len rounded up to what suits the processor.
func (b *Basis) Stride() int { return lanes.Padded(b.cases) }

// At writes the values at every row of x, Stride numbers apart: they are the covariances
// of that row with the cases, all of them different from it. What is between Len and
// Stride means nothing. The values of a row do not depend on the other rows.
func (b *Basis) At(dst []float64, x blas64.General) {
	if x.Cols != b.columns {
		panic(fmt.Sprintf("kernel: inputs of %d and %d columns", x.Cols, b.columns))
	}
	if len(dst) != x.Rows*b.Stride() {
		panic(fmt.Sprintf("kernel: %d numbers for %d rows of %d", len(dst), x.Rows, b.Stride()))
	}
	fault.At(fault.Kernel)
	s := b.pool.Get().(*scratch)
	defer b.pool.Put(s)
	b.values.fill(blas64.General{Rows: x.Rows, Cols: b.Stride(), Stride: b.Stride(), Data: dst}, x, s)
}

// crossRows is the number of rows of a task of Cross, and of the gradients.
const crossRows = 32

// Cross fills dst with the values at the rows of x, on all processors. An empty dst is
// sized; any other must have a row for each row of x and a column for each case. A row of
// the result does not depend on the other rows.
func (b *Basis) Cross(dst, x *mat.Dense) {
	from := x.RawMatrix()
	if from.Cols != b.columns {
		panic(fmt.Sprintf("kernel: inputs of %d and %d columns", from.Cols, b.columns))
	}
	if dst.IsEmpty() {
		dst.ReuseAs(from.Rows, b.Len())
	}
	checkShape("cross-covariance", dst, from.Rows, b.Len())
	overTasks((from.Rows+crossRows-1)/crossRows, func(t int, s *scratch) {
		rows := span{t * crossRows, min((t+1)*crossRows, from.Rows)}
		defer s.release(s.mark())
		values := s.slice(rows.len() * b.Stride())
		b.At(values, casesIn(from, rows))
		for i := range rows.len() {
			copy(dst.RawRowView(rows.from+i), values[i*b.Stride():])
		}
	})
}

// Cross fills dst with the covariances of the cases in the rows of x with the
// different cases in the rows of z; see [Basis.Cross].
func (k Kernel) Cross(dst, x, z *mat.Dense) { k.Basis(z).Cross(dst, x) }
