package gauss

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
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

// SetZero makes n the constant factor.
func (n *Natural) SetZero() {
	clear(n.H)
	p := n.P.RawSymmetric()
	for i := range n.H {
		clear(p.Data[i*p.Stride+i : i*p.Stride+p.N]) // the upper triangle is all there is
	}
}

// SetStandard makes n the standard Gaussian N(0, I).
func (n *Natural) SetStandard() {
	n.SetZero()
	p := n.P.RawSymmetric()
	for i := range n.H {
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
	sameLength(views, len(s))
	ws.grow(views)
	nu, tau := ws.first, ws.second
	for i, si := range s {
		nu[i], tau[i] = si.Nu, si.Tau
	}
	blas64.Gemv(trans, 1, views.a.RawMatrix(), vector(nu), 1, vector(n.H))
	n.addProduct(views.a, views.lead, tau)
}

// addProduct adds AᵀDA to P for a diagonal D of any sign, leaving out the leading
// zeros of each block of rows of A. A nil D is the identity.
func (n *Natural) addProduct(a *mat.Dense, lead []int, d []float64) {
	p, r := n.P.RawSymmetric(), a.RawMatrix()
	for k, l := range lead {
		i, j := k*rowBlock, min((k+1)*rowBlock, r.Rows)
		// Blocks with no zeros to leave out are taken together.
		if l == 0 {
			j = r.Rows
		}
		if l < p.N {
			var diag []float64
			if d != nil {
				diag = d[i:j]
			}
			kernels.SymProduct(blas.Upper, trans, p.N-l, j-i, 1, r.Data[i*r.Stride+l:], r.Stride, diag, 1, p.Data[l*p.Stride+l:], p.Stride)
		}
		if l == 0 {
			break
		}
	}
}

// Gaussian is a proper Gaussian: natural parameters together with the Cholesky
// factor Λ = UᵀU that proves them proper, and the mean.
type Gaussian struct {
	nat    Natural
	factor *mat.TriDense
	mean   []float64
	logDet float64
	// version changes with every Set, so that a workspace knows what it holds.
	version int
}

// NewGaussian is the standard Gaussian in m dimensions.
func NewGaussian(m int) *Gaussian {
	g := &Gaussian{nat: *NewNatural(m), factor: mat.NewTriDense(m, mat.Upper, nil), mean: make([]float64, m)}
	g.nat.SetStandard()
	for i := range m {
		g.factor.SetTri(i, i, 1)
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
	if err := g.Set(n); err != nil {
		return nil, err
	}
	return g, nil
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
	// What is not finite in P reaches the diagonal of the factor, and in H the
	// mean; both end here.
	ok = ok && finite(logDet)
	if ok {
		copy(g.mean, n.H)
		g.solve(g.mean)
		ok = finite(g.mean...)
	}
	if !ok { // back to what g was
		factorise(f, g.nat.P.RawSymmetric())
		copy(g.mean, g.nat.H)
		g.solve(g.mean)
		return ErrImproper
	}
	g.logDet = logDet
	g.version++
	g.nat.CopyFrom(n)
	return nil
}

// finite reports whether no number is NaN or infinite.
func finite(xs ...float64) bool {
	for _, x := range xs {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return false
		}
	}
	return true
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
	return kernels.Cholesky(blas.Upper, f.N, f.Data, f.Stride)
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
	kernels.CholeskyInverse(blas.Upper, d.N, d.Data, d.Stride)
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
	sameLength(views, len(mean))
	sameLength(views, len(variance))
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
// U(v − mean). A workspace that holds it already is left as it is.
func (g *Gaussian) whiten(views *Views, ws *Workspace) {
	held := whitened{g, g.version, views}
	if ws.held == held {
		return
	}
	ws.grow(views)
	ws.rows.Copy(views.a)
	solveRight(ws.rows, views.lead, g.factor.RawTriangular())
	ws.held = held
}

// solveRight replaces A by AU⁻¹. The leading zeros of a row stay zero through the
// forward solve, so only the trailing triangle of U takes part.
func solveRight(a *mat.Dense, lead []int, u blas64.Triangular) {
	r := a.RawMatrix()
	if !shared(len(lead), r.Rows*u.N*u.N) {
		for k := range lead {
			solveBlock(r, lead, u, k)
		}
		return
	}
	inParallel(len(lead), func(k int) { solveBlock(r, lead, u, k) })
}

// solveBlock is solveRight for the k-th block of rows.
func solveBlock(r blas64.General, lead []int, u blas64.Triangular, k int) {
	l := lead[k]
	i, j := k*rowBlock, min((k+1)*rowBlock, r.Rows)
	if l < u.N {
		kernels.Dtrsm(blas.Right, blas.Upper, noTrans, blas.NonUnit, j-i, u.N-l, 1,
			u.Data[l*u.Stride+l:], u.Stride, r.Data[i*r.Stride+l:], r.Stride)
	}
}

// Tilt writes into dst the natural form of the Gaussian with the moments that g
// has after being multiplied by a factor with the given derivatives of its
// log-mean: gradient Aᵀd1 and Hessian Aᵀdiag(d2)A − (Aᵀd1)(Aᵀd1)ᵀ in the mean of
// g. That is the projection of expectation propagation for a factor that is a sum
// over views.
//
// With g's covariance Σ = U⁻¹U⁻ᵀ, W = AU⁻¹ and H̃ = Wᵀdiag(d2)W − (Wᵀd1)(Wᵀd1)ᵀ
// the new moments are μ + U⁻¹Wᵀd1 and U⁻¹(I + H̃)U⁻ᵀ. Only I + H̃ is inverted, by
// an upper triangular P with I + H̃ = PPᵀ: the new precision is YᵀY with Y = P⁻¹U,
// which is upper triangular again. It returns ErrImproper when I + H̃ is not
// positive definite, which the moments of a positive factor rule out.
func (g *Gaussian) Tilt(dst *Natural, views *Views, d1, d2 []float64, ws *Workspace) error {
	sameLength(views, len(d1))
	sameLength(views, len(d2))
	m := g.Dim()
	g.whiten(views, ws)
	ws.growSquare(m)
	grad := ws.grad
	blas64.Gemv(trans, 1, ws.rows.RawMatrix(), vector(d1), 0, vector(grad))
	dst.SetStandard()
	rows, lead, bends := ws.significant(views.lead, d2)
	dst.addProduct(rows, lead, bends)
	blas64.Syr(-1, vector(grad), dst.P.RawSymmetric())
	// P is the Cholesky factor in the reverse order of rows and columns, turned
	// round: with J the reversal, J(I + H̃)J = GᵀG and P = JGᵀJ, so that
	// JY = G⁻ᵀ(JU), in which row i begins with m−1−i zeros.
	inner := dst.P.RawSymmetric()
	reverse(inner)
	if floats.HasNaN(grad) || !kernels.Cholesky(blas.Upper, m, inner.Data, inner.Stride) {
		return ErrImproper
	}
	y, u := ws.square.RawMatrix(), g.factor.RawTriangular()
	for i := range m {
		row := y.Data[(m-1-i)*y.Stride : (m-1-i)*y.Stride+m]
		clear(row[:i])
		copy(row[i:], u.Data[i*u.Stride+i:i*u.Stride+m])
	}
	blocks := (m + rowBlock - 1) / rowBlock
	if shared(blocks, m*m*m) {
		inParallel(blocks, func(k int) { solveLeft(inner, y, k) })
	} else {
		for k := range blocks {
			solveLeft(inner, y, k)
		}
	}
	blas64.Trsv(noTrans, u, vector(grad))
	floats.Add(grad, g.mean)
	dst.SetZero()
	dst.addProduct(ws.square, ws.lead, nil)
	blas64.Symv(1, inner, vector(grad), 0, vector(dst.H))
	return nil
}

// solveLeft replaces the k-th block of columns of Y, whose row i begins with m−1−i
// zeros, by G⁻ᵀY.
func solveLeft(g blas64.Symmetric, y blas64.General, k int) {
	j0, j1 := k*rowBlock, min((k+1)*rowBlock, g.N)
	top := g.N - j1 // the first row with anything in these columns
	kernels.Dtrsm(blas.Left, blas.Upper, trans, blas.NonUnit, j1, j1-j0, 1,
		g.Data[top*g.Stride+top:], g.Stride, y.Data[top*y.Stride+j0:], y.Stride)
}

// reverse turns the order of rows and columns of a symmetric matrix round.
func reverse(s blas64.Symmetric) {
	n := s.N
	for i := range n {
		for j := i; i+j < n-1; j++ {
			a, b := i*s.Stride+j, (n-1-j)*s.Stride+n-1-i
			s.Data[a], s.Data[b] = s.Data[b], s.Data[a]
		}
	}
}

// Cross writes the covariances of the s_i = a_i·v of all pairs of views into dst,
// in N²M operations.
func (g *Gaussian) Cross(views *Views, dst *mat.SymDense, ws *Workspace) {
	g.whiten(views, ws)
	r, d := ws.rows.RawMatrix(), dst.RawSymmetric()
	kernels.Dsyrk(blas.Upper, noTrans, r.Rows, r.Cols, 1, r.Data, r.Stride, 0, d.Data, d.Stride)
}
