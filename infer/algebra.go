package infer

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/lossep/lossep/level3"
)

// kernels is the linear algebra of this machine.
var kernels, _ = level3.Selected()

// multiply replaces C by alpha·op(A)·op(B) + beta·C.
func multiply(tA, tB blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General) {
	depth := a.Cols
	if tA == blas.Trans {
		depth = a.Rows
	}
	kernels.Dgemm(tA, tB, c.Rows, c.Cols, depth, alpha, a.Data, a.Stride, b.Data, b.Stride, beta, c.Data, c.Stride)
}
