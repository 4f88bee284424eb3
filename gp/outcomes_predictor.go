package gp

import (
	"context"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/level3"
)

// OutcomesPredictor gives the mean and covariance of the functions of all outcomes at new
// inputs. It is safe for concurrent use.
//
// With k the covariances of one function at a new input with itself at the inputs, and
// D_c the matrix of the (e_y − e_j)_c, the covariances of f_c with the views are D_c k. So
// the means are k·D_cᵀβ, and the covariances [c = d]·k(x,x) − k·(D_cᵀMD_d)k, with β and M
// those of Predictor. All D_c together are zero, so that the matrices of c > d suffice: N²
// numbers for each pair of outcomes in place of the (C−1)²N² of M, and as many operations for a
// row.
type OutcomesPredictor struct {
	kernel  kernel.Kernel
	basis   *kernel.Basis
	number  int
	weights [][]float64 // D_cᵀβ
	pairs   []*mat.Dense
	pool    sync.Pool // of *outcomesScratch
}

// OutcomesPredictor returns the predictor of the posterior that the sites make with the
// prior. It reports false where it would not be accurate or does not exist; then
// OutcomesAt still serves. It does so, too, when the context ends before it is made.
func (p *Process) OutcomesPredictor(ctx context.Context, sites []gauss.Scalar) (*OutcomesPredictor, bool) {
	o := p.outcomes
	v, raised, beta, ok := p.inverted(ctx, o.covariance(p.kernel, p.x, new(outcomesMatrices)).RawSymmetric(), sites)
	if !ok {
		return nil, false
	}
	out := &OutcomesPredictor{kernel: p.kernel, basis: p.basis, number: o.Number, weights: o.Fold(beta)}
	m := inner(v, raised)
	for c := range o.Number {
		for d := range c {
			if ctx.Err() != nil {
				return nil, false
			}
			pair := o.foldPair(m, c, d)
			symmetrise(pair) // all that counts, k being the same on both sides
			out.pairs = append(out.pairs, pair)
		}
	}
	out.pool.New = func() any {
		return &outcomesScratch{
			k: make([]float64, outcomesRows*p.basis.Stride()), product: mat.NewDense(outcomesRows, p.x.RawMatrix().Rows, nil),
		}
	}
	return out, true
}

// inner is M = VVᵀ − PPᵀ.
func inner(v blas64.Triangular, raised *mat.Dense) *mat.SymDense {
	algebra, _ := level3.Selected()
	m := mat.NewSymDense(v.N, nil)
	raw := m.RawSymmetric()
	// What is below the diagonal of V was never written: it is zero.
	algebra.Dsyrk(blas.Upper, blas.NoTrans, v.N, v.N, 1, v.Data, v.Stride, 0, raw.Data, raw.Stride)
	if raised != nil {
		r := raised.RawMatrix()
		algebra.Dsyrk(blas.Upper, blas.NoTrans, v.N, r.Cols, -1, r.Data, r.Stride, 1, raw.Data, raw.Stride)
	}
	return m
}

// sign is (e_y − e_j)_c for the k-th view of a case with outcome y.
func sign(c, y, k int) float64 {
	switch c {
	case y:
		return 1
	case rival(y, k):
		return -1
	}
	return 0
}

// Fold implements Cases: D_cᵀβ of every outcome c.
func (o *Outcomes) Fold(beta []float64) [][]float64 {
	views := o.Views()
	all := make([][]float64, o.Number)
	for c := range all {
		all[c] = make([]float64, len(o.Of))
		for i, y := range o.Of {
			for k := range views {
				all[c][i] += sign(c, y, k) * beta[i*views+k]
			}
		}
	}
	return all
}

// foldPair is D_cᵀMD_d.
func (o *Outcomes) foldPair(m *mat.SymDense, c, d int) *mat.Dense {
	views, n := o.Views(), len(o.Of)
	raw, folded := m.RawSymmetric(), mat.NewDense(n, n, nil)
	for i, y := range o.Of {
		for l := range n {
			z, sum := o.Of[l], 0.0
			for p := range views {
				left := sign(c, y, p)
				if left == 0 {
					continue
				}
				for q := range views {
					if right := sign(d, z, q); right != 0 {
						from, to := i*views+p, l*views+q
						sum += left * right * raw.Data[min(from, to)*raw.Stride+max(from, to)]
					}
				}
			}
			folded.Set(i, l, sum)
		}
	}
	return folded
}

// symmetrise replaces a matrix by its symmetric part.
func symmetrise(m *mat.Dense) {
	n, _ := m.Dims()
	for i := range n {
		for l := range i {
			s := 0.5 * (m.At(i, l) + m.At(l, i))
			m.Set(i, l, s)
			m.Set(l, i, s)
		}
	}
}

// outcomesRows is the number of rows in a block. It never varies, so that products of
// matrices round the same whatever the other rows.
const outcomesRows = 16

type outcomesScratch struct {
	k       []float64
	product *mat.Dense
}

// Moments hands over the means and the covariance of the functions of all outcomes at every
// row of x, which use must not keep; it may be called from several goroutines. Those of a
// row are the same bits whatever the other rows.
func (p *OutcomesPredictor) Moments(x *mat.Dense, use func(row int, mean []float64, cov *mat.SymDense)) {
	raw, n, stride := x.RawMatrix(), p.basis.Len(), p.basis.Stride()
	blocks := (raw.Rows + outcomesRows - 1) / outcomesRows
	tasks.For(blocks, func(b int) {
		s := p.pool.Get().(*outcomesScratch)
		defer p.pool.Put(s)
		from, to := b*outcomesRows, min((b+1)*outcomesRows, raw.Rows)
		clear(s.k[(to-from)*stride:])
		p.basis.At(s.k[:(to-from)*stride], blas64.General{Rows: to - from, Cols: raw.Cols, Stride: raw.Stride, Data: raw.Data[from*raw.Stride:]})
		row := func(i int) []float64 { return s.k[i*stride : i*stride+n] }
		forms := make([]float64, (to-from)*len(p.pairs))
		k := blas64.General{Rows: outcomesRows, Cols: n, Stride: stride, Data: s.k}
		for at, pair := range p.pairs {
			level3.Gemm(blas.NoTrans, blas.NoTrans, 1, k, pair.RawMatrix(), 0, s.product.RawMatrix())
			for i := range to - from {
				forms[i*len(p.pairs)+at] = floats.Dot(row(i), s.product.RawRowView(i))
			}
		}
		mean, cov := make([]float64, p.number), mat.NewSymDense(p.number, nil)
		for i := range to - from {
			for c, w := range p.weights {
				mean[c] = floats.Dot(row(i), w)
				cov.SetSym(c, c, p.kernel.Variance(x.RawRowView(from+i)))
			}
			p.collect(cov, forms[i*len(p.pairs):(i+1)*len(p.pairs)])
			use(from+i, mean, cov)
		}
	})
}

// collect takes what the pairs see off the variances of the prior: all D_c together are zero.
func (p *OutcomesPredictor) collect(cov *mat.SymDense, forms []float64) {
	for c := range p.number {
		for d := range c {
			q := forms[0]
			forms = forms[1:]
			cov.SetSym(c, d, -q)
			cov.SetSym(c, c, cov.At(c, c)+q)
			cov.SetSym(d, d, cov.At(d, d)+q)
		}
	}
	for c := range p.number { // rounding may leave less than nothing
		cov.SetSym(c, c, max(0, cov.At(c, c)))
	}
}

// functionsAt are the views of the functions of all outcomes at one input, each of which has the
// same variance before any data.
func (p *Process) functionsAt(x []float64) (at *gauss.Views, variance float64) {
	o := p.outcomes
	views := o.Views()
	var one mat.Dense
	p.basis.Cross(&one, mat.NewDense(1, len(x), x))
	k := one.RawRowView(0)
	cross := mat.NewDense(o.Number, views*len(o.Of), nil)
	for c := range o.Number {
		row := cross.RawRowView(c)
		for i, y := range o.Of {
			for v := range views {
				row[i*views+v] = sign(c, y, v) * k[i]
			}
		}
	}
	variance = p.kernel.Variance(x)
	return p.root.Project(cross, slices.Repeat([]float64{variance}, o.Number)), variance
}

// OutcomesTogether are the mean and covariance under q of the functions of all outcomes at the rows of z, those of a row
// after each other: of what q knows, and what the process leaves open of each function.
func (p *Process) OutcomesTogether(q *gauss.Gaussian, z *mat.Dense) (mean []float64, cov *mat.SymDense) {
	n, _ := z.Dims()
	number := p.outcomes.Number
	rows := mat.NewDense(n*number, p.views.Dim(), nil)
	tasks.For(n, func(i int) {
		at, _ := p.functionsAt(z.RawRowView(i))
		for c := range number {
			rows.SetRow(i*number+c, at.Row(c))
		}
	})
	views := gauss.NewViews(rows, nil, nil)
	mean, cov = make([]float64, n*number), mat.NewSymDense(n*number, nil)
	views.At(mean, q.Mean())
	q.Cross(views, cov, new(gauss.Workspace))
	var prior, seen mat.SymDense
	p.kernel.Gram(&prior, z)
	seen.SymOuterK(-1, rows)
	cov.AddSym(cov, &seen)
	for i := range n {
		for j := i; j < n; j++ {
			for c := range number {
				cov.SetSym(i*number+c, j*number+c, cov.At(i*number+c, j*number+c)+prior.At(i, j))
			}
		}
	}
	return mean, cov
}

// OutcomesPoints are views of the functions of all outcomes at the rows of z, C−1 for each
// row and such that what the process leaves open of them is independent: in the directions
// of differences in which that is so. The maps B of the rows give the functions, f = Bs, but
// for what is the same for all.
func (p *Process) OutcomesPoints(z *mat.Dense) (points *gauss.Views, maps []*mat.Dense) {
	n, _ := z.Dims()
	number := p.outcomes.Number
	views := number - 1
	a, open := mat.NewDense(n*views, p.views.Dim(), nil), make([]float64, n*views)
	contrasts := gauss.Contrasts(number)
	maps = make([]*mat.Dense, n)
	tasks.For(n, func(j int) {
		at, variance := p.functionsAt(z.RawRowView(j))
		rows := mat.NewDense(number, p.views.Dim(), nil)
		for c := range number {
			rows.SetRow(c, at.Row(c))
		}
		var seen mat.Dense
		seen.Mul(contrasts, rows)
		left := mat.NewSymDense(views, nil)
		left.SymOuterK(-1, &seen)
		for a := range views { // contrasts are orthonormal
			left.SetSym(a, a, left.At(a, a)+variance)
		}
		var eigen mat.EigenSym
		var turn, turned mat.Dense
		if !eigen.Factorize(left, true) {
			turn.CloneFrom(eye(views))
		} else {
			eigen.VectorsTo(&turn)
		}
		turned.Mul(turn.T(), &seen)
		maps[j] = new(mat.Dense)
		maps[j].Mul(contrasts.T(), &turn)
		for c := range views {
			a.SetRow(j*views+c, turned.RawRowView(c))
			row := turned.RawRowView(c)
			open[j*views+c] = max(0, variance-floats.Dot(row, row))
		}
	})
	return gauss.NewViews(a, nil, open), maps
}

func eye(n int) *mat.Dense {
	e := mat.NewDense(n, n, nil)
	for i := range n {
		e.Set(i, i, 1)
	}
	return e
}

// OutcomesAt is the mean and covariance of the functions of all outcomes at one input under
// a Gaussian on what the views see, however large the variance of the prior is.
func (p *Process) OutcomesAt(q *gauss.Gaussian, x []float64) (mean []float64, cov *mat.SymDense) {
	number := p.outcomes.Number
	at, variance := p.functionsAt(x)
	mean = make([]float64, number)
	at.At(mean, q.Mean())
	white := mat.NewDense(number, at.Dim(), nil)
	q.Whiten(white, at, new(gauss.Workspace))
	cov = mat.NewSymDense(number, nil)
	for c := range number {
		for d := range c + 1 {
			left := -floats.Dot(at.Row(c), at.Row(d))
			if c == d {
				left = max(0, variance+left)
			}
			cov.SetSym(c, d, left+floats.Dot(white.RawRowView(c), white.RawRowView(d)))
		}
	}
	return mean, cov
}
