package gauss

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// ErrImproper says that natural parameters do not belong to a density: the
// precision is not positive definite, or a number in it is not finite.
var ErrImproper = errors.New("gauss: precision is not positive definite")

// Natural is a Gaussian factor in natural form, exp(H·v − ½ vᵀPv). P is the
// precision Λ; it may be indefinite.
type Natural struct {
	H []float64
	P *mat.SymDense
}

// NewNatural is the factor that is constant in m dimensions: H and P are zero.
func NewNatural(m int) *Natural {
	return &Natural{H: make([]float64, m), P: mat.NewSymDense(m, nil)}
}

// Dim is the dimension of v.
func (n *Natural) Dim() int { return len(n.H) }

// SetStandard makes n the standard Gaussian N(0, I).
func (n *Natural) SetStandard() {
	clear(n.H)
	p := n.P.RawSymmetric()
	for i := range n.H {
		clear(p.Data[i*p.Stride : i*p.Stride+p.N])
		p.Data[i*p.Stride+i] = 1
	}
}

// CopyFrom makes n equal to o.
func (n *Natural) CopyFrom(o *Natural) {
	copy(n.H, o.H)
	n.P.CopySym(o.P)
}

// Times multiplies n by o to the given power: 1 for a product, −1 for a quotient.
func (n *Natural) Times(o *Natural, power float64) {
	floats.AddScaled(n.H, power, o.H)
	p, q := n.P.RawSymmetric(), o.P.RawSymmetric()
	for i := range n.H {
		floats.AddScaled(p.Data[i*p.Stride+i:i*p.Stride+p.N], power, q.Data[i*q.Stride+i:i*q.Stride+q.N])
	}
}

// TimesScalar multiplies n by a scalar factor on one view with row a, to the
// given power.
func (n *Natural) TimesScalar(a []float64, s Scalar, power float64) {
	floats.AddScaled(n.H, power*s.Nu, a)
	blas64.Syr(power*s.Tau, vector(a), n.P.RawSymmetric())
}

// TimesScalars multiplies n by a scalar factor for every view:
// H += Aᵀν and P += AᵀTA with T = diag(τ).
//
// It takes N·M² multiplications and additions, a third of that when A is
// triangular.
func (n *Natural) TimesScalars(views *Views, s []Scalar, ws *Workspace) {
	ws.grow(views)
	for i, si := range s {
		floats.AddScaled(n.H, si.Nu, views.Row(i))
		floats.ScaleTo(ws.rows.RawRowView(i), si.Tau, views.Row(i))
	}
	n.addProduct(views, ws.rows)
}

// addProduct adds AᵀB to P where the product is known to be symmetric and B has
// the zeros of A. Each panel of rows of P is summed over the blocks of rows of A
// in order, so the result does not depend on how the panels are shared out.
func (n *Natural) addProduct(views *Views, b *mat.Dense) {
	p := n.P.RawSymmetric()
	m := views.Dim()
	inParallel((m+rowBlock-1)/rowBlock, views.Len()*m*m, func(k int) {
		p0, p1 := k*rowBlock, min((k+1)*rowBlock, m)
		dst := blas64.General{Rows: p1 - p0, Cols: m - p0, Stride: p.Stride, Data: p.Data[p0*p.Stride+p0:]}
		views.blocks(func(i, j, lead int) {
			if lead >= p1 {
				return
			}
			blas64.Gemm(trans, noTrans, 1, sub(views.a, i, j, p0, p1), sub(b, i, j, p0, m), 1, dst)
		})
	})
}

// Gaussian is a proper Gaussian: natural parameters together with the Cholesky
// factor Λ = UᵀU that proves them proper, and the mean.
type Gaussian struct {
	nat    Natural
	factor *mat.TriDense
	mean   []float64
	logDet float64
}

// NewGaussian is the standard Gaussian in m dimensions.
func NewGaussian(m int) *Gaussian {
	g := &Gaussian{nat: *NewNatural(m), factor: mat.NewTriDense(m, mat.Upper, nil), mean: make([]float64, m)}
	n := NewNatural(m)
	n.SetStandard()
	if err := g.Set(n); err != nil {
		panic(err) // the identity is positive definite
	}
	return g
}

// FromMoments is the Gaussian with the given mean and covariance.
func FromMoments(mean []float64, cov *mat.SymDense) (*Gaussian, error) {
	c := NewGaussian(len(mean))
	if err := c.Set(&Natural{H: make([]float64, len(mean)), P: cov}); err != nil {
		return nil, err
	}
	n := NewNatural(len(mean))
	c.Covariance(n.P) // the inverse of the covariance
	blas64.Symv(1, n.P.RawSymmetric(), vector(mean), 0, vector(n.H))
	g := NewGaussian(len(mean))
	return g, g.Set(n)
}

// Set gives g the natural parameters n, which it copies, or returns ErrImproper
// and leaves g as it was. It takes M³/3 operations.
func (g *Gaussian) Set(n *Natural) error {
	f := g.factor.RawTriangular()
	ok := factorise(f, n.P.RawSymmetric())
	logDet := 0.0
	for i := 0; i < f.N && ok; i++ {
		d := f.Data[i*f.Stride+i]
		logDet += 2 * math.Log(d)
		ok = d > 0
	}
	// A NaN anywhere in P reaches the diagonal of the factor, and one in H the
	// mean; both end here.
	if !ok || math.IsNaN(logDet) || math.IsInf(logDet, 0) || floats.HasNaN(n.H) {
		factorise(f, g.nat.P.RawSymmetric()) // what g was before
		return ErrImproper
	}
	g.logDet = logDet
	g.nat.CopyFrom(n)
	copy(g.mean, n.H)
	g.solve(g.mean)
	return nil
}

// factorise writes the upper Cholesky factor of p into f and reports whether p is
// positive definite.
func factorise(f blas64.Triangular, p blas64.Symmetric) bool {
	for i := range f.N {
		copy(f.Data[i*f.Stride+i:i*f.Stride+f.N], p.Data[i*p.Stride+i:i*p.Stride+p.N])
	}
	return cholesky(f)
}

// cholesky replaces the upper triangle of a symmetric matrix by its Cholesky factor
// and reports whether the matrix is positive definite.
func cholesky(f blas64.Triangular) bool {
	_, ok := lapack64.Potrf(blas64.Symmetric{N: f.N, Stride: f.Stride, Data: f.Data, Uplo: blas.Upper})
	return ok
}

// solve replaces x by Λ⁻¹x.
func (g *Gaussian) solve(x []float64) {
	blas64.Trsv(trans, g.factor.RawTriangular(), vector(x))
	blas64.Trsv(noTrans, g.factor.RawTriangular(), vector(x))
}

// Dim is the dimension of v.
func (g *Gaussian) Dim() int { return len(g.mean) }

// Natural is the natural form of g. It must not be changed.
func (g *Gaussian) Natural() *Natural { return &g.nat }

// Mean is the mean of v. It must not be changed.
func (g *Gaussian) Mean() []float64 { return g.mean }

// Covariance writes Λ⁻¹ into dst, in 2M³/3 operations.
func (g *Gaussian) Covariance(dst *mat.SymDense) {
	d := dst.RawSymmetric()
	f := g.factor.RawTriangular()
	for i := 0; i < f.N; i++ {
		copy(d.Data[i*d.Stride+i:i*d.Stride+d.N], f.Data[i*f.Stride+i:i*f.Stride+f.N])
	}
	lapack64.Potri(blas64.Triangular{N: d.N, Stride: d.Stride, Data: d.Data, Uplo: blas.Upper, Diag: blas.NonUnit})
}

// LogPartition is A(h, Λ) = ½ hᵀΛ⁻¹h − ½ log|Λ|, zero for the standard Gaussian.
func (g *Gaussian) LogPartition() float64 {
	return 0.5 * (floats.Dot(g.nat.H, g.mean) - g.logDet)
}

// Marginals writes the mean and variance of s_i = a_i·v for every view: what the
// views read, without their offsets and residuals.
//
// The variance is the squared norm of a row of AU⁻¹, so it is never negative. The
// work is N·M² operations, a third of that for a triangular A.
func (g *Gaussian) Marginals(views *Views, mean, variance []float64, ws *Workspace) {
	g.whiten(views, ws)
	for i := range variance {
		variance[i] = blas64.Dot(vector(ws.rows.RawRowView(i)), vector(ws.rows.RawRowView(i)))
	}
	blas64.Gemv(noTrans, 1, views.a.RawMatrix(), vector(g.mean), 0, vector(mean))
}

// Predict writes the mean and variance of f_i = B_i + a_i·v + e_i for every view.
func (g *Gaussian) Predict(views *Views, mean, variance []float64, ws *Workspace) {
	g.Marginals(views, mean, variance, ws)
	floats.Add(mean, views.b)
	floats.Add(variance, views.r)
}

// whiten writes W = AU⁻¹ into the workspace: the views of the standard Gaussian
// U(v − mean).
func (g *Gaussian) whiten(views *Views, ws *Workspace) {
	ws.grow(views)
	ws.rows.Copy(views.a)
	f := g.factor.RawTriangular()
	m := f.N
	inParallel(len(views.lead), views.Len()*m*m, func(k int) {
		lead := views.lead[k]
		if lead == m {
			return
		}
		i, j := k*rowBlock, min((k+1)*rowBlock, views.Len())
		// The leading zeros stay zero through a forward solve, so only the
		// trailing triangle takes part.
		tail := blas64.Triangular{N: m - lead, Stride: f.Stride, Data: f.Data[lead*f.Stride+lead:], Uplo: blas.Upper, Diag: blas.NonUnit}
		blas64.Trsm(blas.Right, noTrans, 1, tail, sub(ws.rows, i, j, lead, m))
	})
}

// Tilt writes into dst the natural form of the Gaussian with the moments that g
// has after being multiplied by a factor with the given derivatives of its
// log-mean: gradient Aᵀd1 and Hessian Aᵀdiag(d2)A − (Aᵀd1)(Aᵀd1)ᵀ in the mean of
// g. That is the projection of expectation propagation for a factor that is a sum
// over views.
//
// With g's covariance Σ = U⁻¹U⁻ᵀ, W = AU⁻¹ and H̃ = Wᵀdiag(d2)W − (Wᵀd1)(Wᵀd1)ᵀ
// the new moments are μ + U⁻¹Wᵀd1 and U⁻¹(I + H̃)U⁻ᵀ. Only I + H̃ is inverted, by
// its Cholesky factor GᵀG: the new precision is YᵀY with Y = G⁻ᵀU. It returns
// ErrImproper when I + H̃ is not positive definite, which the moments of a positive
// factor rule out.
func (g *Gaussian) Tilt(dst *Natural, views *Views, d1, d2 []float64, ws *Workspace) error {
	m := g.Dim()
	g.whiten(views, ws)
	ws.growSquare(m)
	clear(ws.grad)
	blas64.Gemv(trans, 1, ws.rows.RawMatrix(), vector(d1), 0, vector(ws.grad))
	for i, d := range d2 {
		floats.ScaleTo(ws.scaled.RawRowView(i), d, ws.rows.RawRowView(i))
	}
	dst.SetStandard()
	white := &Views{a: ws.rows, b: views.b, r: views.r, lead: views.lead}
	dst.addProduct(white, ws.scaled)
	blas64.Syr(-1, vector(ws.grad), dst.P.RawSymmetric())
	if _, ok := lapack64.Potrf(dst.P.RawSymmetric()); !ok || floats.HasNaN(ws.grad) {
		return ErrImproper
	}
	inner := dst.P.RawSymmetric()
	y := ws.square.RawMatrix()
	u := g.factor.RawTriangular()
	for i := 0; i < m; i++ {
		row := y.Data[i*y.Stride : i*y.Stride+m]
		clear(row[:i])
		copy(row[i:], u.Data[i*u.Stride+i:i*u.Stride+m])
	}
	blas64.Trsm(blas.Left, trans, 1, blas64.Triangular{N: m, Stride: inner.Stride, Data: inner.Data, Uplo: blas.Upper, Diag: blas.NonUnit}, y)
	blas64.Trsv(noTrans, u, vector(ws.grad))
	floats.Add(ws.grad, g.mean)
	blas64.Syrk(trans, 1, y, 0, dst.P.RawSymmetric())
	blas64.Symv(1, dst.P.RawSymmetric(), vector(ws.grad), 0, vector(dst.H))
	return nil
}

// Cross writes the covariances of the s_i = a_i·v of all pairs of views into dst,
// in N²M operations.
func (g *Gaussian) Cross(views *Views, dst *mat.SymDense, ws *Workspace) {
	g.whiten(views, ws)
	blas64.Syrk(noTrans, 1, ws.rows.RawMatrix(), 0, dst.RawSymmetric())
}
