package gauss

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/level3"
)

// Whiten writes W = AU⁻¹ into dst, one row for each view, where Λ = UᵀU: the views
// as seen from z = U(v − mean), which is standard under g. So a_i·v is a_i·mean
// plus w_i·z.
func (g *Gaussian) Whiten(dst *mat.Dense, views *Views, ws *Workspace) {
	g.whiten(views, ws)
	to, from := dst.RawMatrix(), ws.rows.RawMatrix()
	level3.Share(passing*float64(from.Rows*from.Cols), (from.Rows+rowGroup-1)/rowGroup, func(task int) {
		for i := task * rowGroup; i < min((task+1)*rowGroup, from.Rows); i++ {
			copy(to.Data[i*to.Stride:i*to.Stride+to.Cols], from.Data[i*from.Stride:i*from.Stride+from.Cols])
		}
	})
}

// Unwhiten replaces s by UᵀSU: what is a symmetric form in z = U(v − mean) becomes
// the one in v.
func (g *Gaussian) Unwhiten(s *mat.SymDense, ws *Workspace) {
	m := g.Dim()
	ws.growSquare(m)
	raw, y := s.RawSymmetric(), ws.square.RawMatrix()
	for i := range m {
		for j := range m {
			y.Data[i*y.Stride+j] = raw.Data[min(i, j)*raw.Stride+max(i, j)]
		}
	}
	u := g.factor
	kernels.Dtrmm(blas.Left, u.Uplo, trans, u.Diag, m, m, 1, u.Data, u.Stride, y.Data, y.Stride)
	kernels.Dtrmm(blas.Right, u.Uplo, noTrans, u.Diag, m, m, 1, u.Data, u.Stride, y.Data, y.Stride)
	for i := range m {
		copy(raw.Data[i*raw.Stride+i:i*raw.Stride+m], y.Data[i*y.Stride+i:i*y.Stride+m])
	}
}

// Covariances writes the covariances Σa_i of v with what each view reads, as rows:
// AΣ = (AU⁻¹)U⁻ᵀ. They take N·M² operations beyond those of the marginals.
func (g *Gaussian) Covariances(dst *mat.Dense, views *Views, ws *Workspace) {
	g.Whiten(dst, views, ws)
	d, u := dst.RawMatrix(), g.factor
	kernels.Dtrsm(blas.Right, u.Uplo, trans, u.Diag, d.Rows, d.Cols, 1, u.Data, u.Stride, d.Data, d.Stride)
}

// Step is the Length of a change of natural parameters that is given as a whole. With Y = U⁻ᵀPU⁻¹ it has
// U⁻ᵀ(H − Pμ) = U⁻ᵀH − Y·Uμ. It is not for several goroutines at a time.
func (g *Gaussian) Step(change *Natural, ws *Workspace) float64 {
	m := g.Dim()
	ws.growSquare(m)
	y, grad := ws.square.RawMatrix(), ws.grad
	level3.Wake(2 * float64(m) * float64(m) * float64(m))
	g.whitenForm(y, change.P)
	copy(grad, change.H)
	blas64.Trsv(trans, g.factor, vector(grad))
	ws.squares = resize(ws.squares, m)
	squares := ws.squares
	level3.Share(passing*float64(m*m), (m+rowGroup-1)/rowGroup, func(task int) {
		for i := task * rowGroup; i < min((task+1)*rowGroup, m); i++ {
			row := y.Data[i*y.Stride : i*y.Stride+m]
			grad[i] -= floats.Dot(row, g.white)
			squares[i] = floats.Dot(row, row)
		}
	})
	return math.Sqrt(floats.Dot(grad, grad) + 0.5*floats.Sum(squares))
}

// Length is the length of a change of natural parameters in the metric of g, the Fisher
// information. The change is a scalar factor (ν_i, τ_i) for every view, and more if that
// is not nil. With H and P all of it together, the length is
// √(|U⁻ᵀ(H − Pμ)|² + ½|U⁻ᵀPU⁻¹|²). It bounds what the change does, to first order, to
// every view at once: the mean moves by at most this many standard deviations, and the
// variance by at most √2 times this, relatively. Half its square is the divergence
// between g before and after.
//
// What the views contribute is Wᵀ(ν − τ∘Aμ) and Wᵀdiag(τ)W with W = AU⁻¹, which a
// workspace that was used for their marginals holds.
func (g *Gaussian) Length(views *Views, s []Scalar, more *Natural, ws *Workspace) float64 {
	sameLength(views, len(s))
	m := g.Dim()
	g.whiten(views, ws)
	ws.growSquare(m)
	y, grad := ws.square.RawMatrix(), ws.grad
	clear(grad)
	beta := 0.0
	if more != nil {
		g.whitenForm(y, more.P)
		copy(grad, more.H)
		blas64.Symv(-1, more.P.RawSymmetric(), vector(g.Mean()), 1, vector(grad))
		blas64.Trsv(trans, g.factor, vector(grad))
		beta = 1
	}
	residual, tau := ws.first, ws.second
	ws.read(views, g.white, residual, tau) // means and, of no use here, variances
	for i, si := range s {
		residual[i], tau[i] = si.Nu-si.Tau*residual[i], si.Tau
	}
	ws.whitened(views).Pull(grad, residual)
	w := ws.rows.RawMatrix()
	kernels.SymProduct(blas.Upper, trans, m, w.Rows, 1, w.Data, w.Stride, views.lead, tau, beta, y.Data, y.Stride, y.Data, y.Stride)
	return lengthOf(y, grad)
}

// lengthOf is √(|g|² + ½|Y|²) for a symmetric Y of which the upper triangle is given.
func lengthOf(y blas64.General, g []float64) float64 {
	square := floats.Dot(g, g)
	for i := range g {
		row := y.Data[i*y.Stride+i : i*y.Stride+len(g)]
		square += floats.Dot(row, row) - 0.5*row[0]*row[0] // each pair twice
	}
	return math.Sqrt(square)
}

// whitenForm writes U⁻ᵀPU⁻¹ into y.
func (g *Gaussian) whitenForm(y blas64.General, s *mat.SymDense) {
	m, u := g.Dim(), g.factor
	whole(y, s.RawSymmetric())
	kernels.Dtrsm(blas.Left, u.Uplo, trans, u.Diag, m, m, 1, u.Data, u.Stride, y.Data, y.Stride)
	kernels.Dtrsm(blas.Right, u.Uplo, noTrans, u.Diag, m, m, 1, u.Data, u.Stride, y.Data, y.Stride)
}
