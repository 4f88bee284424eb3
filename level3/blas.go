package level3

import "gonum.org/v1/gonum/blas"

// Every operation leaves to gonum what is too small to gain and what is wrong:
// gonum's code then panics with the message its users know.

// thinRows is how many rows of what is left to gonum are one core's share, and thinFlops the work, in operations of
// a product, that a multiplication of its code stands for.
const (
	thinRows  = 256
	thinFlops = 20
)

// rowsOf has gonum's code work on m rows: shares of them at once where they are independent and so much work.
func (impl Implementation) rowsOf(m int, work float64, independent bool, body func(from, rows int)) {
	if impl.ks == nil || !independent || m < 2*thinRows || work < parallelFlops {
		body(0, m)
		return
	}
	Share(work, ceilDiv(m, thinRows), func(task int) {
		from := task * thinRows
		body(from, min(thinRows, m-from))
	})
}

// Dgemm computes C = alpha·op(A)·op(B) + beta·C, op(A) being m×k and op(B) k×n.
func (impl Implementation) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if impl.ks == nil || impl.ks.smallProduct(m, n, k) || alpha == 0 || !validTranspose(tA) || !validTranspose(tB) ||
		!holdsOp(tA, a, m, k, lda) || !holdsOp(tB, b, k, n, ldb) || !holds(c, m, n, ldc) {
		impl.rowsOf(m, flops(thinFlops, m, n, k), tA == blas.NoTrans && holdsOp(tA, a, m, k, lda) && holds(c, m, n, ldc), func(from, rows int) {
			reference.Dgemm(tA, tB, rows, n, k, alpha, a[from*lda:], lda, b, ldb, beta, c[from*ldc:], ldc)
		})
		return
	}
	s := impl.ks.begin(flops(2, m, n, k))
	defer s.end()
	cv := rowMajor(c, m, n, ldc)
	if beta != 0 {
		cv.scale(beta, full)
	}
	s.multiply(alpha, operand(tA, a, m, k, lda), operand(tB, b, k, n, ldb), cv, full, beta != 0)
}

// Dsymm computes C = alpha·A·B + beta·C (side Left) or alpha·B·A + beta·C (Right)
// with A symmetric, one triangle of it stored.
func (impl Implementation) Dsymm(side blas.Side, ul blas.Uplo, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	k := order(side, m, n)
	if impl.ks == nil || impl.ks.smallProduct(m, n, k) || alpha == 0 || !validSide(side) || !validUplo(ul) ||
		!holds(a, k, k, lda) || !holds(b, m, n, ldb) || !holds(c, m, n, ldc) {
		reference.Dsymm(side, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	s := impl.ks.begin(flops(2, m, n, k))
	defer s.end()
	cv := rowMajor(c, m, n, ldc)
	if beta != 0 {
		cv.scale(beta, full)
	}
	both := scratchPool.Get().(*scratch)
	defer scratchPool.Put(both)
	av := both.square(k)
	mirror(av, rowMajor(a, k, k, lda), triangleOf(ul))
	bv := rowMajor(b, m, n, ldb)
	if side == blas.Left {
		s.multiply(alpha, av, bv, cv, full, beta != 0)
	} else {
		s.multiply(alpha, bv, av, cv, full, beta != 0)
	}
}

// Dsyrk computes one triangle of C = alpha·A·Aᵀ + beta·C, A n×k (NoTrans), or of
// alpha·Aᵀ·A + beta·C, A k×n (Trans).
func (impl Implementation) Dsyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	valid := func() bool {
		return validUplo(ul) && validTranspose(tA) && holdsOp(tA, a, n, k, lda) && holds(c, n, n, ldc)
	}
	if impl.ks == nil || impl.ks.smallSymmetric(n, k) || alpha == 0 || !valid() {
		if beta == 0 && ul == blas.Lower && tA != blas.NoTrans && valid() {
			// Here gonum's code multiplies C by zero, which a NaN survives.
			rowMajor(c, n, n, ldc).scale(0, lower)
		}
		reference.Dsyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	impl.symmetric(ul, alpha, operand(tA, a, n, k, lda), nil, nil, beta, view{}, rowMajor(c, n, n, ldc))
}

// Dsyr2k computes one triangle of C = alpha·(A·Bᵀ + B·Aᵀ) + beta·C, A and B n×k
// (NoTrans), or of alpha·(Aᵀ·B + Bᵀ·A) + beta·C, A and B k×n (Trans).
func (impl Implementation) Dsyr2k(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if impl.ks == nil || impl.ks.smallSymmetric(n, k) || alpha == 0 || !validUplo(ul) || !validTranspose(tA) ||
		!holdsOp(tA, a, n, k, lda) || !holdsOp(tA, b, n, k, ldb) || !holds(c, n, n, ldc) {
		reference.Dsyr2k(ul, tA, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	s := impl.ks.begin(flops(2, n, n, k))
	defer s.end()
	cv, r := rowMajor(c, n, n, ldc), triangleOf(ul)
	if beta != 0 {
		cv.scale(beta, r)
	}
	av, bv := operand(tA, a, n, k, lda), operand(tA, b, n, k, ldb)
	s.multiply(alpha, av, bv.t(), cv, r, beta != 0)
	s.multiply(alpha, bv, av.t(), cv, r, true)
}

// Dtrsm replaces B, m×n, by the solution X of op(A)·X = alpha·B (side Left) or of
// X·op(A) = alpha·B (Right) with A triangular.
func (impl Implementation) Dtrsm(side blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	if impl.ks == nil || impl.ks.smallTriangle(side, m, n) || alpha == 0 || !validTriangular(side, ul, tA, d, m, n, a, lda, b, ldb) {
		impl.rowsOf(m, flops(thinFlops, m, n, n), side == blas.Right && holds(b, m, n, ldb), func(from, rows int) {
			reference.Dtrsm(side, ul, tA, d, rows, n, alpha, a, lda, b[from*ldb:], ldb)
		})
		return
	}
	s := impl.ks.begin(flops(1, m, n, order(side, m, n)))
	defer s.end()
	onDiagonal := reciprocal
	if d == blas.Unit {
		onDiagonal = ones
	}
	l, bv := fromLeft(side, ul, tA, m, n, a, lda, b, ldb)
	bv.scale(alpha, full)
	s.solve(l, triangleForm{diagonal: onDiagonal}, bv, stairs{})
}

// Dtrmm replaces B, m×n, by alpha·op(A)·B (side Left) or alpha·B·op(A) (Right) with
// A triangular.
func (impl Implementation) Dtrmm(side blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	if impl.ks == nil || impl.ks.smallTriangle(side, m, n) || alpha == 0 || !validTriangular(side, ul, tA, d, m, n, a, lda, b, ldb) {
		reference.Dtrmm(side, ul, tA, d, m, n, alpha, a, lda, b, ldb)
		return
	}
	s := impl.ks.begin(flops(1, m, n, order(side, m, n)))
	defer s.end()
	onDiagonal := asIs
	if d == blas.Unit {
		onDiagonal = ones
	}
	l, bv := fromLeft(side, ul, tA, m, n, a, lda, b, ldb)
	s.triangleTimes(l, triangleForm{diagonal: onDiagonal}, bv)
	bv.scale(alpha, full)
}

// fromLeft turns a triangular operation into one with a lower triangle from the
// left: X·op(A) is (op(A)ᵀ·Xᵀ)ᵀ, and an upper triangle is a lower one counted
// backwards.
func fromLeft(s blas.Side, ul blas.Uplo, tA blas.Transpose, m, n int, a []float64, lda int, b []float64, ldb int) (l, bv view) {
	k := order(s, m, n)
	l, bv = operand(tA, a, k, k, lda), rowMajor(b, m, n, ldb)
	r := triangleOf(ul)
	if tA != blas.NoTrans {
		r = r.t()
	}
	if s == blas.Right {
		l, bv, r = l.t(), bv.t(), r.t()
	}
	if r == upper {
		l, bv = l.flip(), bv.flipRows()
	}
	return l, bv
}

// order is the order of the square operand on side s of an m×n one.
func order(s blas.Side, m, n int) int {
	if s == blas.Left {
		return m
	}
	return n
}

func validTriangular(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, a []float64, lda int, b []float64, ldb int) bool {
	k := order(s, m, n)
	return validSide(s) && validUplo(ul) && validTranspose(tA) && (d == blas.Unit || d == blas.NonUnit) &&
		holds(a, k, k, lda) && holds(b, m, n, ldb)
}

func validSide(s blas.Side) bool  { return s == blas.Left || s == blas.Right }
func validUplo(ul blas.Uplo) bool { return ul == blas.Lower || ul == blas.Upper }
func validTranspose(t blas.Transpose) bool {
	return t == blas.NoTrans || t == blas.Trans || t == blas.ConjTrans
}

// holds reports whether data has room for a matrix of this shape, as gonum wants it.
func holds(data []float64, rows, cols, ld int) bool {
	return rows >= 0 && cols >= 0 && ld >= max(1, cols) &&
		(rows == 0 || cols == 0 || len(data) >= (rows-1)*ld+cols)
}

// holdsOp is holds for the matrix whose op is rows×cols.
func holdsOp(t blas.Transpose, data []float64, rows, cols, ld int) bool {
	if t == blas.NoTrans {
		return holds(data, rows, cols, ld)
	}
	return holds(data, cols, rows, ld)
}
