package kernel

import (
	"fmt"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/fault"
	"github.com/lossep/lossep/internal/tasks"
)

// tileSize is the side of the tiles of the pair matrix. A tile of it, the
// scaled inputs of its rows and columns and a few of its like fit the
// second-level cache. It is a constant so that results are the same everywhere.
const tileSize = 128

// Gram fills dst with the covariances of the cases in the rows of x. An empty
// dst is sized; any other must be N×N.
func (k Kernel) Gram(dst *mat.SymDense, x *mat.Dense) {
	cases := k.rawInputs(x)
	n := cases.Rows
	if dst.IsEmpty() {
		dst.ReuseAsSym(n)
	}
	checkShape("Gram matrix", dst, n, n)
	raw := dst.RawSymmetric()
	into := blas64.General{Rows: n, Cols: n, Stride: raw.Stride, Data: raw.Data}
	tiles := triangle(n)
	overTasks(len(tiles), func(t int, s *scratch) {
		tile := tiles[t]
		if tile.rows != tile.cols {
			fill(k.term, tile.of(into), tile.pairs(cases, cases, false), s)
			return
		}
		// Only the upper triangle of a symmetric matrix is ours to write.
		defer s.release(s.mark())
		square := s.matrix(tile.rows.len(), tile.rows.len())
		fill(k.term, square, tile.pairs(cases, cases, true), s)
		upper := tile.of(into)
		for i := range square.Rows {
			copy(row(upper, i)[i:], row(square, i)[i:])
		}
	})
}

// Diag fills dst with the covariance of each row of x with itself, the
// diagonal of [Kernel.Gram], and returns it. A nil dst is allocated.
func (k Kernel) Diag(dst []float64, x *mat.Dense) []float64 {
	cases := k.rawInputs(x)
	if dst == nil {
		dst = make([]float64, cases.Rows)
	}
	if len(dst) != cases.Rows {
		panic(fmt.Sprintf("kernel: diagonal of length %d for %d cases", len(dst), cases.Rows))
	}
	for i := range dst {
		dst[i] = k.term.variance(row(cases, i))
	}
	return dst
}

// WeightedGrad sets dst[k] to Σ_ij W_ij ∂K_ij/∂θ_k, where K is the Gram matrix
// of the rows of x and θ the log parameters, and returns it. A nil dst is
// allocated. The cost is about that of two Gram matrices.
func (k Kernel) WeightedGrad(dst []float64, w *mat.SymDense, x *mat.Dense) []float64 {
	cases := k.rawInputs(x)
	n, params := cases.Rows, k.NumParams()
	checkShape("weight matrix", w, n, n)
	if dst == nil {
		dst = make([]float64, params)
	}
	k.checkParams(dst)
	raw := w.RawSymmetric()
	from := blas64.General{Rows: n, Cols: n, Stride: raw.Stride, Data: raw.Data}

	// Every tile has a gradient of its own, added up in a fixed order below.
	tiles := triangle(n)
	partial := make([]float64, len(tiles)*params)
	overTasks(len(tiles), func(t int, s *scratch) {
		tile := tiles[t]
		grad := partial[t*params : (t+1)*params]
		upper := tile.of(from)
		if tile.rows != tile.cols {
			// This tile also stands for its mirror image.
			k.term.addGrad(grad, upper, tile.pairs(cases, cases, false), s)
			for p := range grad {
				grad[p] *= 2
			}
			return
		}
		defer s.release(s.mark())
		weights := s.matrix(tile.rows.len(), tile.rows.len())
		for i := range weights.Rows {
			for j, v := range row(upper, i)[i:] {
				weights.Data[i*weights.Stride+i+j] = v
				weights.Data[(i+j)*weights.Stride+i] = v
			}
		}
		k.term.addGrad(grad, weights, tile.pairs(cases, cases, true), s)
	})

	clear(dst)
	for t := range tiles {
		for p, v := range partial[t*params : (t+1)*params] {
			dst[p] += v
		}
	}
	return dst
}

func (k Kernel) rawInputs(x *mat.Dense) blas64.General {
	raw := x.RawMatrix()
	k.checkColumns(raw.Cols)
	return raw
}

func checkShape(what string, m mat.Matrix, rows, cols int) {
	if r, c := m.Dims(); r != rows || c != cols {
		panic(fmt.Sprintf("kernel: %s is %d×%d, not %d×%d", what, r, c, rows, cols))
	}
}

// span is the half-open range of indices [from, to).
type span struct{ from, to int }

func (s span) len() int { return s.to - s.from }

// spans cuts [0, n) into runs of tileSize, the last one shorter.
func spans(n int) []span {
	var cut []span
	for from := 0; from < n; from += tileSize {
		cut = append(cut, span{from, min(from+tileSize, n)})
	}
	return cut
}

// tile is a rectangle of a matrix of pairs.
type tile struct{ rows, cols span }

// triangle covers the upper triangle of an n×n matrix by tiles.
func triangle(n int) []tile {
	var tiles []tile
	for i, rows := range spans(n) {
		for _, cols := range spans(n)[i:] {
			tiles = append(tiles, tile{rows, cols})
		}
	}
	return tiles
}

// of returns the tile of m, sharing its storage.
func (t tile) of(m blas64.General) blas64.General {
	return blas64.General{
		Rows: t.rows.len(), Cols: t.cols.len(), Stride: m.Stride,
		Data: m.Data[t.rows.from*m.Stride+t.cols.from : (t.rows.to-1)*m.Stride+t.cols.to],
	}
}

// pairs returns the pairs of cases of the tile, its rows from x and its
// columns from z.
func (t tile) pairs(x, z blas64.General, same bool) pairs {
	return pairs{x: casesIn(x, t.rows), z: casesIn(z, t.cols), same: same}
}

func casesIn(m blas64.General, s span) blas64.General {
	return tile{rows: s, cols: span{0, m.Cols}}.of(m)
}

// scratches are those of earlier tasks. The buffers of one are of very different sizes from
// task to task only when kernels change.
var scratches = sync.Pool{New: func() any { return new(scratch) }}

// overTasks calls work for every task below n on all processors, each with a scratch of
// its own.
func overTasks(n int, work func(t int, s *scratch)) {
	tasks.Each(n, func() func(int) {
		return func(t int) {
			fault.At(fault.Kernel)
			s := scratches.Get().(*scratch)
			defer scratches.Put(s)
			work(t, s)
		}
	})
}
