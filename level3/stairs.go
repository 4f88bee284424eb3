package level3

import (
	"slices"

	"gonum.org/v1/gonum/blas"
)

// stairs say how many zeros each column of a matrix begins with, counted from a row
// of it on. The zero value knows of none. The zeros are there in memory; to know of
// them saves work, two thirds of it where they are half of a matrix.
type stairs struct {
	lead  []int
	start int
}

// below is the stairs of the rows from n on.
func (s stairs) below(n int) stairs { return stairs{s.lead, s.start + n} }

// begin is the number of zeros that all columns in [lo,hi) begin with.
func (s stairs) begin(lo, hi int) int {
	if s.lead == nil {
		return 0
	}
	return max(0, slices.Min(s.lead[lo:hi])-s.start)
}

const (
	shortLead = "level3: insufficient length of lead"
	badLead   = "level3: lead out of range"
)

// checkLead panics unless lead has n numbers from 0 to most.
func checkLead(lead []int, n, most int) {
	if len(lead) < n {
		panic(shortLead)
	}
	for _, l := range lead[:n] {
		if l < 0 || l > most {
			panic(badLead)
		}
	}
}

// SolveStairs writes into X, m×n, the solution of X·U = A (side Right) or of Uᵀ·X = A
// (Left) with U upper triangular. lead[i] is the number of zeros that row i of A
// (Right), or its column i (Left), begins with; a nil lead knows of none. So does that
// of X, where most of these zeros are not written: X has to have them already. X may be
// A itself. It takes n³/3 operations for square matrices of which half is zero, a third
// of what Dtrsm needs. It panics as Dtrsm does, and when lead is short or out of range.
func (impl Implementation) SolveStairs(side blas.Side, m, n int, u []float64, ldu int, a []float64, lda int, lead []int, x []float64, ldx int) {
	tU := blas.NoTrans
	if side == blas.Left {
		tU = blas.Trans
	}
	if !validTriangular(side, blas.Upper, tU, blas.NonUnit, m, n, u, ldu, a, lda) || !holds(x, m, n, ldx) {
		if holds(x, m, n, ldx) {
			x, ldx = a, lda
		}
		reference.Dtrsm(side, blas.Upper, tU, blas.NonUnit, m, n, 1, u, ldu, x, ldx)
		return
	}
	k := order(side, m, n)
	if lead != nil {
		checkLead(lead, m+n-k, k)
	}
	av, xv := rowMajor(a, m, n, lda), rowMajor(x, m, n, ldx)
	if impl.ks == nil || impl.ks.smallTriangle(side, m, n) {
		for i := range m {
			copy(xv.row(i, full), av.row(i, full))
		}
		reference.Dtrsm(side, blas.Upper, tU, blas.NonUnit, m, n, 1, u, ldu, x, ldx)
		return
	}
	s := impl.ks.begin(flops(1, m, n, k))
	defer s.end()
	l, xv := fromLeft(side, blas.Upper, tU, m, n, u, ldu, x, ldx)
	if side == blas.Right {
		av = av.t()
	}
	s.solveFrom(l, triangleForm{diagonal: reciprocal}, av, xv, stairs{lead: lead})
}
