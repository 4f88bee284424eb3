package gauss

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Whiten writes W = AU⁻¹ into dst, one row for each view, where Λ = UᵀU: the views
// as seen from z = U(v − mean), which is standard under g. So a_i·v is a_i·mean
// plus w_i·z.
func (g *Gaussian) Whiten(dst *mat.Dense, views *Views, ws *Workspace) {
	g.whiten(views, ws)
	dst.Copy(ws.rows)
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
	u := g.factor.RawTriangular()
	blas64.Trmm(blas.Left, trans, 1, u, y)
	blas64.Trmm(blas.Right, noTrans, 1, u, y)
	for i := range m {
		copy(raw.Data[i*raw.Stride+i:i*raw.Stride+m], y.Data[i*y.Stride+i:i*y.Stride+m])
	}
}

// Length is the length of the change n of natural parameters in the metric of g, the
// Fisher information: √(|U⁻ᵀ(H − Pμ)|² + ½|U⁻ᵀPU⁻¹|²). It bounds what the change
// does, to first order, to every view at once: the mean moves by at most this many
// standard deviations, and the variance by at most √2 times this, relatively. Half
// its square is the divergence between g before and after.
func (g *Gaussian) Length(n *Natural, ws *Workspace) float64 {
	m := g.Dim()
	ws.growSquare(m)
	p, y := n.P.RawSymmetric(), ws.square.RawMatrix()
	for i := range m {
		for j := range m {
			y.Data[i*y.Stride+j] = p.Data[min(i, j)*p.Stride+max(i, j)]
		}
	}
	u := g.factor.RawTriangular()
	blas64.Trsm(blas.Left, trans, 1, u, y)
	blas64.Trsm(blas.Right, noTrans, 1, u, y)
	copy(ws.grad, n.H)
	blas64.Symv(-1, p, vector(g.mean), 1, vector(ws.grad))
	blas64.Trsv(trans, u, vector(ws.grad))
	return math.Hypot(floats.Norm(ws.grad, 2), mat.Norm(ws.square, 2)/math.Sqrt2)
}
