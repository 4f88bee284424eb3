package gauss

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/finite"
)

// Root is a square root of a covariance matrix, K = AAᵀ: it makes a Gaussian with
// covariance K a view of a standard one.
//
// A is the lower Cholesky factor with its columns in reverse order. Its rows then
// begin with zeros, which products, solves and the Cholesky factor of I + AᵀTA all
// keep, so that the work of a sweep falls to a third.
type Root struct {
	upper *mat.TriDense // K = UᵀU, so A_{i,n−1−j} = U_{j,i}
	// Jitter is what had to be added to the diagonal of K, zero if nothing.
	Jitter float64
}

// CovarianceError says that a matrix is not the covariance of anything.
type CovarianceError struct {
	Row, Column int
	Msg         string
}

func (e *CovarianceError) Error() string {
	return fmt.Sprintf("gauss: covariance of rows %d and %d: %s", e.Row+1, e.Column+1, e.Msg)
}

// NewRoot factors k. When k is singular to working precision, as it is with
// duplicated inputs or a long length scale, the smallest power of ten from 1e-12
// times its mean variance that makes it regular is added to the diagonal and
// reported as Jitter.
func NewRoot(k *mat.SymDense) (*Root, error) {
	raw := k.RawSymmetric()
	n := raw.N
	largest, trace := 0.0, 0.0
	for i := range n {
		d := raw.Data[i*raw.Stride+i]
		if !(d >= 0) {
			return nil, &CovarianceError{i, i, fmt.Sprintf("the variance is %v", d)}
		}
		if row := raw.Data[i*raw.Stride : i*raw.Stride+n]; !finite.All(floats.Sum(row[i:])) {
			for j := i; j < n; j++ {
				if !finite.All(row[j]) {
					return nil, &CovarianceError{i, j, fmt.Sprintf("it is %v; look for inputs that are not finite or a kernel that overflows", row[j])}
				}
			}
		}
		largest = max(largest, d)
		trace += d
	}
	if trace == 0 {
		return nil, &CovarianceError{0, 0, "all variances are zero"}
	}
	// Pivots below the rounding error of the factorisation are noise.
	floor := 10 * float64(n) * 0x1p-52 * largest
	r := &Root{upper: mat.NewTriDense(n, mat.Upper, nil)}
	u := r.upper.RawTriangular()
	for unit := 0.0; unit <= 1; {
		r.Jitter = unit * trace / float64(n)
		if factorShifted(u, raw, r.Jitter) && smallestPivot(u) >= floor {
			return r, nil
		}
		unit = max(1e-12, 10*unit)
	}
	return nil, &CovarianceError{0, 0, "the matrix is not positive semidefinite, even with the mean variance added to its diagonal"}
}

// factorShifted writes the factor of k + jitter·I into u.
func factorShifted(u blas64.Triangular, k blas64.Symmetric, jitter float64) bool {
	overRows(u.N, func(i int) {
		copy(u.Data[i*u.Stride+i:i*u.Stride+u.N], k.Data[i*k.Stride+i:i*k.Stride+k.N])
		u.Data[i*u.Stride+i] += jitter
	})
	return kernels.Cholesky(blas.Upper, u.N, u.Data, u.Stride)
}

func smallestPivot(u blas64.Triangular) float64 {
	least := math.Inf(1)
	for i := range u.N {
		least = min(least, u.Data[i*u.Stride+i])
	}
	return least * least
}

// Views are the views of the vector itself: its i-th element is row i of A.
func (r *Root) Views() *Views {
	u := r.upper.RawTriangular()
	n := u.N
	a := mat.NewDense(n, n, nil)
	to := a.RawMatrix().Data
	// In strips of columns, so that what is near in memory is read and written together.
	for j0 := 0; j0 < n; j0 += rowGroup {
		for i := j0; i < n; i++ {
			row := to[i*n : (i+1)*n]
			for j := j0; j < min(j0+rowGroup, i+1); j++ {
				row[n-1-j] = u.Data[j*u.Stride+i]
			}
		}
	}
	return NewViews(a, nil, nil)
}

// Whiten replaces covariances with the vector, one row for each further element, by what
// the elements read of a standard Gaussian whose triangular views the vector is:
// a = U⁻ᵀk for K = UᵀU. It takes n² operations for each.
func (r *Root) Whiten(rows blas64.General) {
	u := r.upper.RawTriangular()
	kernels.Dtrsm(blas.Right, u.Uplo, noTrans, u.Diag, rows.Rows, rows.Cols, 1, u.Data, u.Stride, rows.Data, rows.Stride)
}

// Pull replaces gradients in what Whiten gives, one in each row, by those in what it is
// given: g becomes U⁻¹g.
func (r *Root) Pull(rows blas64.General) {
	u := r.upper.RawTriangular()
	kernels.Dtrsm(blas.Right, u.Uplo, trans, u.Diag, rows.Rows, rows.Cols, 1, u.Data, u.Stride, rows.Data, rows.Stride)
}

// PullBoth replaces a symmetric matrix S by U⁻¹SU⁻ᵀ.
func (r *Root) PullBoth(s blas64.General) {
	r.Pull(s)
	u := r.upper.RawTriangular()
	kernels.Dtrsm(blas.Left, u.Uplo, noTrans, u.Diag, s.Rows, s.Cols, 1, u.Data, u.Stride, s.Data, s.Stride)
}

// Project makes the views of further elements, given their covariances with the
// vector (one row for each, overwritten) and their own variances:
// a = A⁻¹k and r = variance − a·a. It takes n² operations for each.
func (r *Root) Project(cross *mat.Dense, variance []float64) *Views {
	c := cross.RawMatrix()
	u := r.upper.RawTriangular()
	kernels.Dtrsm(blas.Right, u.Uplo, noTrans, u.Diag, c.Rows, c.Cols, 1, u.Data, u.Stride, c.Data, c.Stride)
	residual := make([]float64, c.Rows)
	for i := range residual {
		row := cross.RawRowView(i)
		slices.Reverse(row)
		// Where the vector determines the element the difference is rounding.
		residual[i] = max(0, variance[i]-floats.Dot(row, row))
	}
	return NewViews(cross, nil, residual)
}
