package gp

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/internal/lanes"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/level3"
)

// Predictor gives the mean and variance of the process at new inputs under a posterior
// that is the prior times one site for each input, in N² operations a row and nothing
// else to solve. It is safe for concurrent use.
//
// With k the covariances of a new value with those at the inputs, its mean is k·β and its
// variance k(x,x) − kMk, where M = (K + T⁻¹)⁻¹ and β = MT⁻¹ν solves β + TKβ = ν. With
// T = T₊ − D divided by sign, E the columns of the sites of negative precision, and
//
//	B = I + T₊^½KT₊^½ = UᵀU,  V = T₊^½U⁻¹,
//	GᵀG = I − D^½(EᵀKE − (VᵀKE)ᵀ(VᵀKE))D^½,  P = (E − VVᵀKE)D^½G⁻¹,
//
// M is VVᵀ − PPᵀ, so that the variance is k(x,x) − |kV|² + |kP|².
//
// Nothing near singular is inverted: B has no eigenvalue below one, so that V is as
// well-conditioned as U, and GᵀG is positive definite when the posterior is proper.
type Predictor struct {
	kernel   kernel.Kernel
	basis    *kernel.Basis
	weights  []float64     // β
	taken    *lanes.Panels // V
	added    *lanes.Panels // P, nil if no precision is negative
	effects  effects.Set   // added to the process
	function int           // that it predicts
	leaning  *mat.Dense    // what covariances with the inputs add to variances by those with each effect; nil if there are none
	pool     sync.Pool     // of *predictorScratch
}

// mostCancelled bounds the error that the subtraction k(x,x) − |kV|² may leave in a
// variance, N·2⁻⁵²·k(x,x). Outcomes have a noise of about one on the scale of the
// process, to which a variance is added before anything is decided.
const mostCancelled = 1e-8

// Predictor returns the predictor of the posterior that the sites make with the prior.
// It reports false where it would not be accurate or does not exist: the variance of the
// prior is too large, or the posterior is improper. Then Process.At still serves. It does so, too,
// when the context ends before it is made.
func (p *Process) Predictor(ctx context.Context, sites []gauss.Scalar) (*Predictor, bool) {
	var gram mat.SymDense
	p.kernel.Gram(&gram, p.x)
	v, raised, beta, ok := p.inverted(ctx, gram.RawSymmetric(), sites)
	if !ok {
		return nil, false
	}
	return p.newPredictor(v, raised, beta), true
}

func (p *Process) newPredictor(v blas64.Triangular, raised *mat.Dense, beta []float64) *Predictor {
	out := &Predictor{kernel: p.kernel, basis: p.basis, weights: beta, taken: lanes.NewTriangle(v)}
	if raised != nil {
		out.added = lanes.NewPanels(raised.RawMatrix())
	}
	out.pool.New = func() any { return new(predictorScratch) }
	return out
}

// inverted are V, P and β of a prior with covariance k, to which the jitter is added. It
// reports false where they would not be accurate, or do not exist, or when the context ends.
func (p *Process) inverted(ctx context.Context, k blas64.Symmetric, sites []gauss.Scalar) (v blas64.Triangular, raised *mat.Dense, beta []float64, ok bool) {
	largest := 0.0
	for i := range k.N {
		k.Data[i*k.Stride+i] += p.Jitter()
		largest = max(largest, k.Data[i*k.Stride+i])
	}
	if float64(k.N)*0x1p-52*largest > mostCancelled {
		return v, nil, nil, false
	}
	if v, ok = whitening(ctx, k, sites); !ok || ctx.Err() != nil {
		return v, nil, nil, false
	}
	if raised, ok = raising(k, v, sites); !ok {
		return v, nil, nil, false
	}
	beta = meanWeights(k, v, raised, sites)
	// What is not finite in a site reaches the weights.
	sum := floats.Norm(beta, 1)
	return v, raised, beta, !math.IsNaN(sum) && !math.IsInf(sum, 0)
}

// meanWeights is β = ν − MKν. (It is also ν − Tm with the means m at the inputs, but
// those carry the errors of a nearly singular K, which the product kβ magnifies again.)
func meanWeights(k blas64.Symmetric, v blas64.Triangular, raised *mat.Dense, sites []gauss.Scalar) []float64 {
	beta, prior := mat.NewVecDense(k.N, nil), mat.NewVecDense(k.N, nil)
	for i, s := range sites {
		beta.SetVec(i, s.Nu)
	}
	blas64.Symv(1, k, beta.RawVector(), 0, prior.RawVector())
	if raised != nil {
		var few, up mat.VecDense
		few.MulVec(raised.T(), prior)
		up.MulVec(raised, &few)
		beta.AddVec(beta, &up)
	}
	blas64.Trmv(blas.Trans, v, prior.RawVector())
	blas64.Trmv(blas.NoTrans, v, prior.RawVector())
	beta.SubVec(beta, prior)
	return beta.RawVector().Data
}

// whitening is V.
func whitening(ctx context.Context, k blas64.Symmetric, sites []gauss.Scalar) (blas64.Triangular, bool) {
	n := k.N
	algebra, _ := level3.Selected()
	v := blas64.Triangular{N: n, Stride: n, Data: make([]float64, n*n), Uplo: blas.Upper, Diag: blas.NonUnit}
	root := make([]float64, n)
	for i, s := range sites {
		root[i] = math.Sqrt(max(0, s.Tau))
	}
	for i := range n {
		for j := i; j < n; j++ {
			v.Data[i*n+j] = root[i] * root[j] * k.Data[i*k.Stride+j]
		}
		v.Data[i*n+i]++
	}
	if !algebra.Cholesky(blas.Upper, n, v.Data, n) || ctx.Err() != nil || !algebra.TriangularInverse(blas.Upper, blas.NonUnit, n, v.Data, n) {
		return v, false
	}
	for i, r := range root {
		floats.Scale(r, v.Data[i*n+i:(i+1)*n])
	}
	return v, true
}

// raising is P, nil if all precisions are at least zero.
func raising(k blas64.Symmetric, v blas64.Triangular, sites []gauss.Scalar) (*mat.Dense, bool) {
	var negative []int
	for i, s := range sites {
		if s.Tau < 0 {
			negative = append(negative, i)
		}
	}
	n, few := k.N, len(negative)
	if few == 0 {
		return nil, true
	}
	algebra, _ := level3.Selected()
	// VᵀKE, and the D^½ to be multiplied with its columns.
	reduced, root := mat.NewDense(n, few, nil), make([]float64, few)
	for c, e := range negative {
		root[c] = math.Sqrt(-sites[e].Tau)
		for i := range n {
			reduced.Set(i, c, k.Data[min(i, e)*k.Stride+max(i, e)])
		}
	}
	to := reduced.RawMatrix()
	algebra.Dtrmm(blas.Left, blas.Upper, blas.Trans, blas.NonUnit, n, few, 1, v.Data, v.Stride, to.Data, to.Stride)
	g := mat.NewSymDense(few, nil)
	for a := range few {
		for b := a; b < few; b++ {
			left := k.Data[negative[a]*k.Stride+negative[b]]
			left -= mat.Dot(reduced.ColView(a), reduced.ColView(b))
			g.SetSym(a, b, -root[a]*root[b]*left)
		}
		g.SetSym(a, a, 1+g.At(a, a))
	}
	raw := g.RawSymmetric()
	if !algebra.Cholesky(blas.Upper, few, raw.Data, raw.Stride) {
		return nil, false
	}
	algebra.Dtrmm(blas.Left, blas.Upper, blas.NoTrans, blas.NonUnit, n, few, -1, v.Data, v.Stride, to.Data, to.Stride)
	p := reduced // now −VVᵀKE
	for c, e := range negative {
		p.Set(e, c, 1+p.At(e, c))
		for i := range n {
			p.Set(i, c, p.At(i, c)*root[c])
		}
	}
	algebra.Dtrsm(blas.Right, blas.Upper, blas.NoTrans, blas.NonUnit, n, few, 1, raw.Data, raw.Stride, to.Data, to.Stride)
	return p, true
}

// predictorScratch is the memory of one block of rows.
type predictorScratch struct {
	k, sums, lengths []float64
}

// mostRows is the number of rows in a block: enough to read V from far away seldom, and
// their covariances stay in the second-level cache.
const mostRows = 128

// serialWork is the number of multiplications below which starting goroutines costs more
// than it saves.
const serialWork = 1 << 18

// Moments writes the mean and variance of the process at every row of x. Those of a row
// are the same bits whatever the other rows and the number of processors.
func (p *Predictor) Moments(x *mat.Dense, mean, variance []float64) {
	p.share(x, 1, func(s *predictorScratch, rows blas64.General, from, to int) {
		p.read(s, rows, mean[from:to], variance[from:to])
	})
}

// Predictors are those of functions that are independent of each other, and have the same kernel
// and inputs.
type Predictors []*Predictor

// Moments writes the means and variances of every function at every row of x, as
// Predictor.Moments does.
func (p Predictors) Moments(x *mat.Dense, mean, variance [][]float64) {
	p[0].share(x, len(p), func(s *predictorScratch, rows blas64.General, from, to int) {
		for c, one := range p {
			one.read(s, rows, mean[c][from:to], variance[c][from:to])
		}
	})
}

// share has the rows of x read in blocks, with their covariances in the scratch, for so many
// functions.
func (p *Predictor) share(x *mat.Dense, functions int, read func(s *predictorScratch, rows blas64.General, from, to int)) {
	raw, n := x.RawMatrix(), p.basis.Len()
	if raw.Rows == 0 {
		return
	}
	workers := tasks.Workers()
	if raw.Rows*n*n*functions < serialWork {
		workers = 1
	}
	// Equal shares for all workers, in blocks of whole groups.
	blocks := workers * ((raw.Rows + workers*mostRows - 1) / (workers * mostRows))
	size := (raw.Rows + blocks - 1) / blocks
	size = (size + lanes.Group - 1) / lanes.Group * lanes.Group
	blocks = (raw.Rows + size - 1) / size

	block := func(b int) {
		s := p.pool.Get().(*predictorScratch)
		defer p.pool.Put(s)
		from, to := b*size, min((b+1)*size, raw.Rows)
		rows := blas64.General{Rows: to - from, Cols: raw.Cols, Stride: raw.Stride, Data: raw.Data[from*raw.Stride:]}
		p.covariances(s, rows)
		read(s, rows, from, to)
	}
	if workers == 1 {
		for b := range blocks {
			block(b)
		}
		return
	}
	tasks.For(blocks, block)
}

// covariances finds those of a few rows with the inputs.
func (p *Predictor) covariances(s *predictorScratch, x blas64.General) {
	stride, padded := p.basis.Stride(), (x.Rows+lanes.Group-1)/lanes.Group*lanes.Group
	s.k = slices.Grow(s.k[:0], padded*stride)[:padded*stride]
	s.sums = slices.Grow(s.sums[:0], padded*lanes.Group)[:padded*lanes.Group]
	s.lengths = slices.Grow(s.lengths[:0], x.Rows)[:x.Rows]
	p.basis.At(s.k[:x.Rows*stride], x)
	clear(s.k[x.Rows*stride:])
}

// read is Moments for a few rows, whose covariances are in the scratch.
func (p *Predictor) read(s *predictorScratch, x blas64.General, mean, variance []float64) {
	stride := p.basis.Stride()
	k := blas64.General{Rows: x.Rows, Cols: stride, Stride: stride, Data: s.k}
	p.taken.SquaredLengths(s.lengths, k, s.sums)
	for i := range x.Rows {
		mean[i] = floats.Dot(s.k[i*stride:i*stride+len(p.weights)], p.weights)
		variance[i] = p.kernel.Variance(x.Data[i*x.Stride:i*x.Stride+x.Cols]) - s.lengths[i]
	}
	if p.added != nil {
		p.added.SquaredLengths(s.lengths, k, s.sums)
		floats.Add(variance, s.lengths)
	}
	for i, v := range variance {
		// Where the data determine a value the difference is rounding.
		variance[i] = max(0, v)
	}
	if len(p.effects) == 0 {
		return
	}
	for i := range x.Rows {
		row := x.Data[i*x.Stride : i*x.Stride+x.Cols]
		w := p.effects.At(row, p.function)
		mean[i] += w.Mean
		variance[i] += w.Variance
		if p.leaning == nil {
			continue
		}
		if g := p.effects[0].Group(row); g >= 0 {
			variance[i] = max(0, variance[i]+floats.Dot(s.k[i*stride:i*stride+len(p.weights)], p.leaning.RawRowView(g)))
		}
	}
}
