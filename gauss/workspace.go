package gauss

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Workspace holds the scratch of operations on views, so that a loop that calls
// them again and again allocates once. The zero value is ready. It must not be
// used by two goroutines at a time.
type Workspace struct {
	rows          *mat.Dense // one row per view
	held          whitened   // whose whitened views they are
	first, second []float64  // one number per view
	square        *mat.Dense // M×M, and how many zeros its blocks of rows begin with
	lead          []int
	grad          []float64

	index    []int      // of the rows that matter
	kept     *mat.Dense // those rows
	keptDiag []float64  // and their part of the diagonal
	keptLead []int
}

// whitened names what the rows of a workspace hold.
type whitened struct {
	g       *Gaussian
	version int
	views   *Views
}

// grow makes room for one row per view.
func (w *Workspace) grow(views *Views) {
	n, m := views.a.Dims()
	if w.rows == nil || w.rows.RawMatrix().Rows != n || w.rows.RawMatrix().Cols != m {
		w.rows = reshape(w.rows, n, m)
		w.held = whitened{}
	}
	w.first, w.second = resize(w.first, n), resize(w.second, n)
}

// growSquare makes room for M×M matrices.
func (w *Workspace) growSquare(m int) {
	w.square = reshape(w.square, m, m)
	w.grad = resize(w.grad, m)
	w.lead = w.lead[:0]
	for i := 0; i < m; i += rowBlock {
		w.lead = append(w.lead, max(0, m-i-rowBlock))
	}
}

// significant leaves out the rows w_i of W that do not matter to WᵀDW beside the
// identity: of all of them together |d_i|·w_i·w_i is below the rounding error of 1.
// Most points of a utility are far from its boundary, where its curvature vanishes.
func (w *Workspace) significant(lead []int, d []float64) (*mat.Dense, []int, []float64) {
	n, m := w.rows.Dims()
	least := 0x1p-54 / float64(n)
	w.index = w.index[:0]
	for i, di := range d {
		row := vector(w.rows.RawRowView(i))
		if !(math.Abs(di)*blas64.Dot(row, row) < least) {
			w.index = append(w.index, i)
		}
	}
	// Copying pays when it saves an eighth of the product.
	if len(w.index) > n-n/8 || len(w.index) == 0 {
		return w.rows, lead, d
	}
	w.kept = reshape(w.kept, len(w.index), m)
	w.keptDiag = resize(w.keptDiag, len(w.index))
	w.keptLead = w.keptLead[:0]
	for k, i := range w.index {
		copy(w.kept.RawRowView(k), w.rows.RawRowView(i))
		w.keptDiag[k] = d[i]
		if k%rowBlock == 0 {
			w.keptLead = append(w.keptLead, 0)
		}
	}
	return w.kept, w.keptLead, w.keptDiag
}

// resize is a slice of length n in the storage of x where that is large enough.
func resize(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}

// reshape is an n×m matrix that uses the storage of d where that is large enough.
func reshape(d *mat.Dense, n, m int) *mat.Dense {
	if d == nil {
		return mat.NewDense(n, m, nil)
	}
	raw := d.RawMatrix()
	switch {
	case raw.Rows == n && raw.Cols == m:
	case cap(raw.Data) >= n*m:
		d.SetRawMatrix(blas64.General{Rows: n, Cols: m, Stride: m, Data: raw.Data[:n*m]})
	default:
		return mat.NewDense(n, m, nil)
	}
	return d
}

// serialWork is the number of multiplications below which starting goroutines
// costs more than it saves.
const serialWork = 1 << 18

// shared reports whether n calls with that much work in all should go to several
// cores. Asking first keeps the closure that inParallel needs off the heap where it
// does not pay.
func shared(n, work int) bool { return min(runtime.GOMAXPROCS(0), n) > 1 && work >= serialWork }

// inParallel calls f(0) … f(n−1) on all cores. Calls must not depend on each other,
// so that the result is the same on any number of cores.
func inParallel(n int, f func(k int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for k := int(next.Add(1)) - 1; k < n; k = int(next.Add(1)) - 1 {
				f(k)
			}
		})
	}
	wg.Wait()
}
