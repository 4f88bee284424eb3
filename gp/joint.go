package gp

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/level3"
)

// Joint is a Predictor that also gives the covariances of new values with those at the
// inputs. They are kR with R = I − MK, in the notation of Predictor.
type Joint struct {
	*Predictor
	across blas64.General // R
}

// Joint returns the joint predictor, and reports false where there is no Predictor.
func (p *Process) Joint(sites []gauss.Scalar) (*Joint, bool) {
	var gram mat.SymDense
	p.kernel.Gram(&gram, p.x)
	k := gram.RawSymmetric()
	v, raised, beta, ok := p.inverted(context.Background(), k, sites)
	if !ok {
		return nil, false
	}
	n := k.N
	// −MK = −V(VᵀK) + P(PᵀK).
	full := mat.NewDense(n, n, nil)
	full.Copy(&gram)
	across := mat.DenseCopyOf(full)
	to := across.RawMatrix()
	algebra, _ := level3.Selected()
	algebra.Dtrmm(blas.Left, blas.Upper, blas.Trans, blas.NonUnit, n, n, 1, v.Data, v.Stride, to.Data, to.Stride)
	algebra.Dtrmm(blas.Left, blas.Upper, blas.NoTrans, blas.NonUnit, n, n, -1, v.Data, v.Stride, to.Data, to.Stride)
	j := &Joint{Predictor: p.newPredictor(v, raised, beta), across: to}
	if raised != nil {
		var few mat.Dense
		few.Mul(raised.T(), full)
		level3.Gemm(blas.NoTrans, blas.NoTrans, 1, raised.RawMatrix(), few.RawMatrix(), 1, to)
	}
	for i := range n {
		to.Data[i*to.Stride+i]++
	}
	return j, true
}

// jointRows is the number of rows that are predicted together. It is always the same, with
// rows of zeros if there are fewer, because what a product rounds to depends on its shape.
const jointRows = 64

// Moments calls use for blocks of the rows of x with the number of the first, the means and
// variances, and the covariances with the values at the inputs, one row for each. It is
// called from several goroutines at once. What it is called with for a row are the same bits
// whatever the other rows and the number of processors.
func (p *Joint) Moments(x *mat.Dense, use func(first int, mean, variance []float64, cov *mat.Dense)) {
	raw, n, stride := x.RawMatrix(), p.basis.Len(), p.basis.Stride()
	blocks := (raw.Rows + jointRows - 1) / jointRows
	block := func(b int) {
		s := p.pool.Get().(*predictorScratch)
		defer p.pool.Put(s)
		from, to := b*jointRows, min((b+1)*jointRows, raw.Rows)
		rows := blas64.General{Rows: to - from, Cols: raw.Cols, Stride: raw.Stride, Data: raw.Data[from*raw.Stride:]}
		mean, variance := make([]float64, rows.Rows), make([]float64, rows.Rows)
		p.covariances(s, rows)
		p.read(s, rows, mean, variance)
		k := blas64.General{Rows: jointRows, Cols: n, Stride: stride, Data: make([]float64, jointRows*stride)}
		copy(k.Data, s.k[:rows.Rows*stride])
		cov := mat.NewDense(jointRows, n, nil)
		level3.Gemm(blas.NoTrans, blas.NoTrans, 1, k, p.across, 0, cov.RawMatrix())
		use(from, mean, variance, cov.Slice(0, rows.Rows, 0, n).(*mat.Dense))
	}
	tasks.For(blocks, block)
}
