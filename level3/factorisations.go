package level3

import (
	"gonum.org/v1/gonum/blas"
	lapack "gonum.org/v1/gonum/lapack/gonum"
)

// lapackReference is gonum's LAPACK, for what is small or wrong. It computes on
// whatever is registered with blas64.
var lapackReference lapack.Implementation

// Cholesky replaces the triangle ul of the symmetric matrix a of order n by its
// factor, L with L·Lᵀ = a (Lower) or U with Uᵀ·U = a (Upper). It returns false when
// a is not positive definite, NaN included; the triangle then holds intermediate
// values. The other triangle is neither read nor written. It takes n³/3 operations
// and panics as gonum's Dpotrf does.
func (impl Implementation) Cholesky(ul blas.Uplo, n int, a []float64, lda int) (ok bool) {
	if impl.ks == nil || impl.ks.smallFactor(n) || !validUplo(ul) || !holds(a, n, n, lda) {
		return lapackReference.Dpotrf(ul, n, a, lda)
	}
	s := impl.ks.begin(flops(1./3, n, n, n))
	defer s.end()
	return s.cholesky(view{}, lowerView(ul, n, a, lda).t())
}

// CholeskySolve writes into the upper triangle of u the factor U of the symmetric matrix A of order n,
// Uᵀ·U = A, of which it reads the upper triangle, and replaces the k columns B to the right of that of u by
// U⁻ᵀ·B. A and u may be the same. It returns false when A is not positive definite, NaN included; triangle
// and columns then hold intermediate values. It takes n³/3 + n²k operations and panics as gonum's Dpotrf does.
func (impl Implementation) CholeskySolve(n, k int, a []float64, lda int, u []float64, ldu int) (ok bool) {
	if !holds(a, n, n, lda) {
		return lapackReference.Dpotrf(blas.Upper, n, a, lda)
	}
	if k >= 0 && holds(u, n, n+k, ldu) {
		to := rowMajor(u, n, n+k, ldu)
		var from view
		if n > 0 && (&a[0] != &u[0] || lda != ldu) {
			from = rowMajor(a, n, n, lda)
		}
		if impl.ks != nil && !impl.ks.smallFactor(n) {
			s := impl.ks.begin(flops(1./3, n, n, n))
			defer s.end()
			return s.cholesky(from, to)
		}
		to.copyRegion(from, upper, 0, n, 0, n)
	}
	ok = lapackReference.Dpotrf(blas.Upper, n, u, ldu)
	if ok && n > 0 && k != 0 {
		reference.Dtrsm(blas.Left, blas.Upper, blas.Trans, blas.NonUnit, n, k, 1, u, ldu, u[n:], ldu)
	}
	return ok
}

// CholeskyInverse replaces the triangle ul of a, a factor computed by Cholesky, by
// that triangle of the inverse of the matrix that was factored. It returns false,
// a being unchanged, when the factor has a zero on its diagonal. It takes 2n³/3
// operations and panics as gonum's Dpotri does.
func (impl Implementation) CholeskyInverse(ul blas.Uplo, n int, a []float64, lda int) (ok bool) {
	if impl.ks == nil || impl.ks.smallFactor(n) || !validUplo(ul) || !holds(a, n, n, lda) {
		return lapackReference.Dpotri(ul, n, a, lda)
	}
	if singular(n, a, lda) {
		return false
	}
	s := impl.ks.begin(flops(2./3, n, n, n))
	defer s.end()
	s.invert(lowerView(ul, n, a, lda), reciprocal)
	s.gram(lowerView(ul, n, a, lda))
	return true
}

// TriangularInverse replaces the triangular matrix a of order n by its inverse. It
// returns false, a being unchanged, when there is a zero on the diagonal. It takes
// n³/3 operations and panics as gonum's Dtrtri does.
func (impl Implementation) TriangularInverse(ul blas.Uplo, d blas.Diag, n int, a []float64, lda int) (ok bool) {
	valid := validUplo(ul) && (d == blas.Unit || d == blas.NonUnit) && holds(a, n, n, lda)
	if impl.ks == nil || impl.ks.smallFactor(n) || !valid {
		return lapackReference.Dtrtri(ul, d, n, a, lda)
	}
	onDiagonal := ones
	if d == blas.NonUnit {
		if singular(n, a, lda) {
			return false
		}
		onDiagonal = reciprocal
	}
	s := impl.ks.begin(flops(1./3, n, n, n))
	defer s.end()
	s.invert(lowerView(ul, n, a, lda), onDiagonal)
	return true
}

// singular reports whether a triangular matrix has a zero on its diagonal.
func singular(n int, a []float64, lda int) bool {
	for i := range n {
		if a[i*lda+i] == 0 {
			return true
		}
	}
	return false
}

// lowerView is the triangle ul of a as a lower triangle. For factors that is all
// there is to the upper case: U = Lᵀ, and UᵀU = LLᵀ.
func lowerView(ul blas.Uplo, n int, a []float64, lda int) view {
	v := rowMajor(a, n, n, lda)
	if ul == blas.Upper {
		return v.t()
	}
	return v
}
