package gauss

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/level3"
)

// Workspace holds the scratch of operations on views, so that a loop that calls
// them again and again allocates once. The zero value is ready. It must not be
// used by two goroutines at a time.
type Workspace struct {
	rows          *mat.Dense // one row per view
	held          heldViews  // whose whitened views they are
	first, second []float64  // one number per view
	square        *mat.Dense // M×M, and how many zeros its rows begin with
	lead          []int
	grad, squares []float64

	index    []int      // of the rows that matter
	kept     *mat.Dense // those rows
	keptDiag []float64  // and their part of the diagonal
	keptLead []int

	// The arguments of what is shared out, and that itself, made once.
	views              *Views
	white, parts       []float64
	mean, variance     []float64
	pullBody, readBody func(task int)
}

// heldViews names what the rows of a workspace hold.
type heldViews struct {
	g       *Gaussian
	version int
	views   *Views
}

// grow makes room for one row per view.
func (w *Workspace) grow(views *Views) {
	n, m := views.a.Dims()
	if w.rows == nil || w.rows.RawMatrix().Rows != n || w.rows.RawMatrix().Cols != m {
		w.rows = reshape(w.rows, n, m)
		w.held = heldViews{}
	}
	w.first, w.second = resize(w.first, n), resize(w.second, n)
}

// Forget makes the workspace refer to no Gaussian and no views any more. It keeps its
// memory.
func (w *Workspace) Forget() { w.held = heldViews{} }

// whitened is the rows of W as views.
func (w *Workspace) whitened(views *Views) *Views { return &Views{a: w.rows, lead: views.lead} }

// growSquare makes room for M×M matrices.
func (w *Workspace) growSquare(m int) {
	w.square = reshape(w.square, m, m)
	w.grad = resize(w.grad, m)
	w.lead = w.lead[:0]
	for i := range m {
		w.lead = append(w.lead, m-1-i)
	}
}

// pullRows is the number of rows of A that are a share of Aᵀν, and pullColumns that of its columns which are a task.
const (
	pullRows    = 4 * rowGroup
	pullColumns = 128
)

// pullScalars adds Aᵀν to h and returns τ. Shares of the sum are found apart, so that
// all cores can work, and added in order, so that it does not matter how many do.
func (w *Workspace) pullScalars(h []float64, views *Views, s []Scalar) (tau []float64) {
	w.grow(views)
	for i, si := range s {
		w.first[i], w.second[i] = si.Nu, si.Tau
	}
	if w.pullBody == nil {
		w.pullBody = w.pullTask
	}
	shares := (len(s) + pullRows - 1) / pullRows
	w.views, w.parts = views, resize(w.parts, shares*len(h))
	level3.Share(passing*float64(len(s)*len(h)), shares*pullStrips(len(h)), w.pullBody)
	for i := range shares {
		floats.Add(h, w.parts[i*len(h):(i+1)*len(h)])
	}
	w.views = nil
	return w.second
}

// pullStrips is how many tasks the columns of a share are.
func pullStrips(m int) int { return (m + pullColumns - 1) / pullColumns }

func (w *Workspace) pullTask(task int) {
	m := w.views.Dim()
	share, from := task/pullStrips(m), task%pullStrips(m)*pullColumns
	to := min(from+pullColumns, m)
	clear(w.parts[share*m+from : share*m+to])
	w.views.pull(w.parts[share*m:(share+1)*m], w.first, share*pullRows, min((share+1)*pullRows, len(w.first)), from, to)
}

// read finds mean and variance of what is seen through the rows of W when U·mean is
// white.
func (w *Workspace) read(views *Views, white, mean, variance []float64) {
	if w.readBody == nil {
		w.readBody = w.readTask
	}
	w.views, w.white, w.mean, w.variance = views, white, mean, variance
	level3.Share(passing*float64(len(mean)*len(white)), (len(mean)+rowGroup-1)/rowGroup, w.readBody)
	w.views, w.white, w.mean, w.variance = nil, nil, nil, nil
}

func (w *Workspace) readTask(task int) {
	for i := task * rowGroup; i < min((task+1)*rowGroup, len(w.mean)); i++ {
		lead := w.views.lead[i]
		row := vector(w.rows.RawRowView(i)[lead:])
		w.variance[i] = blas64.Dot(row, row)
		w.mean[i] = blas64.Dot(row, vector(w.white[lead:]))
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
		w.keptLead = append(w.keptLead, lead[i])
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

// passing is the work, in operations, that reading or writing a number stands for.
const passing = 20

// overRows calls body for rows of an upper triangle of n rows, on all processors where it is large.
func overRows(n int, body func(i int)) {
	overGroups(n, func(from, to int) {
		for i := from; i < to; i++ {
			body(i)
		}
	})
}

// overGroups is overRows for groups of rows.
func overGroups(n int, body func(from, to int)) {
	level3.Share(passing*float64(n*n), (n+rowGroup-1)/rowGroup, func(task int) {
		body(task*rowGroup, min((task+1)*rowGroup, n))
	})
}

// whole writes a symmetric matrix with both of its triangles.
func whole(to blas64.General, from blas64.Symmetric) {
	upper := blas64.Symmetric{N: to.Rows, Stride: to.Stride, Data: to.Data}
	if to.Rows <= rowGroup {
		copyRows(upper, from, 0, to.Rows)
		mirrorRows(to, from, 0, to.Rows)
		return
	}
	overGroups(to.Rows, func(first, end int) {
		copyRows(upper, from, first, end)
		mirrorRows(to, from, first, end)
	})
}

// mirrorRows writes some rows below the diagonal, in squares, so that what is near in memory is read and written together.
func mirrorRows(to blas64.General, from blas64.Symmetric, first, end int) {
	for j0 := 0; j0 < end; j0 += rowGroup {
		for i := max(first, j0); i < end; i++ {
			row := to.Data[i*to.Stride:]
			for j := j0; j < min(j0+rowGroup, i); j++ {
				row[j] = from.Data[j*from.Stride+i]
			}
		}
	}
}
