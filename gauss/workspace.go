package gauss

import (
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"
)

// Workspace holds the scratch of operations on views, so that a loop that calls
// them again and again allocates once. The zero value is ready. It must not be
// used by two goroutines at a time.
type Workspace struct {
	rows          *mat.Dense // one row per view
	first, second []float64  // one number per view
	square        *mat.Dense // M×M, and how many zeros its blocks of rows begin with
	lead          []int
	grad          []float64
}

// grow makes room for one row per view.
func (w *Workspace) grow(views *Views) {
	n, m := views.a.Dims()
	w.rows = reshape(w.rows, n, m)
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

// resize is a slice of length n in the storage of x where that is large enough.
func resize(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}

// reshape is an n×m matrix that uses the storage of d where that is large enough.
func reshape(d *mat.Dense, n, m int) *mat.Dense {
	if d != nil {
		raw := d.RawMatrix()
		if raw.Rows == n && raw.Cols == m {
			return d
		}
		if cap(raw.Data) >= n*m {
			return mat.NewDense(n, m, raw.Data[:n*m])
		}
	}
	return mat.NewDense(n, m, nil)
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
