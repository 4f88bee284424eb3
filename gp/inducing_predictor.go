package gp

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/internal/lanes"
	"github.com/lossep/lossep/level3"
)

// Predictor returns the predictor of a posterior q on v. With k = k(z, x) the mean is k·β,
// β = U⁻¹μ, and the variance k(x,x) − |U⁻ᵀk|² + |U⁻ᵀk|²_Σ. Where the sites left no
// precision below the prior's, I − Σ is PPᵀ with P upper triangular, and the variance is
// k(x,x) − |kV|² with one triangle V = U⁻¹P; otherwise what is added back is another.
//
// It reports false where it would not be accurate, as Process.Predictor does.
func (p *Inducing) Predictor(q *gauss.Gaussian) (*Predictor, bool) {
	m := p.Dim()
	largest := 0.0
	for i := range m {
		largest = max(largest, p.kernel.Variance(p.z.RawRowView(i)))
	}
	if float64(m)*0x1p-52*largest > mostCancelled {
		return nil, false
	}
	inverse := mat.NewDense(m, m, nil) // U⁻¹
	for i := range m {
		inverse.Set(i, i, 1)
	}
	p.root.Whiten(inverse.RawMatrix())
	out := &Predictor{kernel: p.kernel, basis: p.basis, weights: make([]float64, m), effects: p.effects}
	out.pool.New = func() any { return new(predictorScratch) }
	blas64.Gemv(blas.NoTrans, 1, inverse.RawMatrix(), blas64.Vector{N: m, Inc: 1, Data: q.Mean()}, 0, blas64.Vector{N: m, Inc: 1, Data: out.weights})

	raw := inverse.RawMatrix()
	triangle := blas64.Triangular{N: m, Stride: raw.Stride, Data: raw.Data, Uplo: blas.Upper, Diag: blas.NonUnit}
	if gain, ok := gainOf(q); ok {
		v := gain.RawMatrix()
		algebra, _ := level3.Selected()
		algebra.Dtrmm(blas.Left, blas.Upper, blas.NoTrans, blas.NonUnit, m, m, 1, triangle.Data, triangle.Stride, v.Data, v.Stride)
		out.taken = lanes.NewTriangle(blas64.Triangular{N: m, Stride: v.Stride, Data: v.Data, Uplo: blas.Upper, Diag: blas.NonUnit})
	} else {
		out.taken = lanes.NewTriangle(triangle)
		raised := mat.NewDense(m, m, nil)
		q.Whiten(raised, gauss.NewViews(inverse, nil, nil), new(gauss.Workspace))
		out.added = lanes.NewPanels(raised.RawMatrix())
	}
	if e := p.effects.Joint(); e != nil { // 2a·cov(v, w) = 2k·U⁻¹cov(v, w)
		out.leaning = mat.NewDense(e.Groups(), m, nil)
		q.Covariances(out.leaning, e.Given, new(gauss.Workspace))
		p.root.Pull(out.leaning.RawMatrix())
		out.leaning.Scale(2, out.leaning)
	}
	size := floats.Norm(out.weights, 1)
	return out, !math.IsNaN(size) && !math.IsInf(size, 0)
}

// Predictors are the predictors of posteriors of several functions. It reports false where one
// of them would not be accurate.
func (p *Inducing) Predictors(q gauss.Gaussians) (Predictors, bool) {
	all := make(Predictors, len(q))
	for c, one := range q {
		var ok bool
		if all[c], ok = p.Predictor(one); !ok {
			return nil, false
		}
		all[c].function = c
	}
	return all, true
}

// gainJitter is added to the diagonal of I − Σ, which vanishes in directions that no row
// has anything to say about. It takes as much of a variance, relatively.
const gainJitter = 1e-12

// gainOf is P upper triangular with PPᵀ = I − Σ, if that is positive definite: the
// Cholesky factor in the reverse order of rows and columns.
func gainOf(q *gauss.Gaussian) (*mat.Dense, bool) {
	m := q.Dim()
	cov := mat.NewSymDense(m, nil)
	q.Covariance(cov)
	reversed := mat.NewDense(m, m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			g := -cov.At(m-1-i, m-1-j)
			if i == j {
				g += 1 + gainJitter
			}
			reversed.Set(i, j, g)
		}
	}
	algebra, _ := level3.Selected()
	r := reversed.RawMatrix()
	if !algebra.Cholesky(blas.Upper, m, r.Data, r.Stride) {
		return nil, false
	}
	// With J the reversal and J(I − Σ)J = GᵀG, P = JGᵀJ.
	p := mat.NewDense(m, m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			p.Set(i, j, reversed.At(m-1-j, m-1-i))
		}
	}
	return p, true
}
