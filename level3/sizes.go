package level3

import (
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
)

// limits are the sizes below which packing costs more than the kernels save, and
// gonum's code runs instead. They were found by measurement.
type limits struct {
	side      int // smallest side of a product or of the right-hand side of a solve
	volume    int // smallest m·n·k
	symmetric int // smallest order of a symmetric product
	triangle  int // smallest order of a triangle to solve or multiply with
	factor    int // smallest order to factor or invert
}

// smallProduct reports whether an m×k by k×n product is left to gonum.
func (l limits) smallProduct(m, n, k int) bool {
	return min(m, n, k) < max(1, l.side) || m*n*k < l.volume
}

// smallSymmetric reports whether a symmetric product of order n and depth k is
// left to gonum.
func (l limits) smallSymmetric(n, k int) bool {
	return l.smallProduct(n, n, k) || n < l.symmetric
}

// smallTriangle reports whether a triangular operation on an m×n matrix is left
// to gonum. From the left gonum works along rows, and few columns are its worst
// case.
func (l limits) smallTriangle(s blas.Side, m, n int) bool {
	k := order(s, m, n)
	return min(m, n) < 1 || s == blas.Right && m < l.side || k < l.triangle || m*n*k < l.volume
}

// smallFactor reports whether a factorisation of order n is left to gonum.
func (l limits) smallFactor(n int) bool { return n < max(1, l.factor) }

// scratch is memory for a square matrix and for counts, kept in a pool.
type scratch struct {
	data    []float64
	numbers []int
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// square is an n×n matrix with whatever content.
func (s *scratch) square(n int) view {
	s.data = grown(s.data, n*n)
	return rowMajor(s.data, n, n, n)
}

// counts is n numbers with whatever content.
func (s *scratch) counts(n int) []int {
	s.numbers = slices.Grow(s.numbers[:0], n)[:n]
	return s.numbers
}

// mirror fills dst with the symmetric matrix whose triangle r is src's.
func mirror(dst, src view, r region) {
	for i := range dst.rows {
		lo, hi := r.columns(i, dst.cols)
		for j := lo; j < hi; j++ {
			x := src.data[src.index(i, j)]
			dst.data[dst.index(i, j)] = x
			dst.data[dst.index(j, i)] = x
		}
	}
}

// grown returns a slice of n elements, the old one if it is large enough.
func grown(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

func roundUp(a, b int) int { return ceilDiv(a, b) * b }

func roundDown(a, b int) int { return a / b * b }

// flops is c·m·n·k.
func flops(c float64, m, n, k int) float64 { return c * float64(m) * float64(n) * float64(k) }
