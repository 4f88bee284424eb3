package gauss

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
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
