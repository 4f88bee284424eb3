package gauss

import (
	"errors"
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/finite"
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
	n.addIdentity()
}

// CopyFrom makes n equal to o.
func (n *Natural) CopyFrom(o *Natural) {
	copy(n.H, o.H)
	p, q := n.P.RawSymmetric(), o.P.RawSymmetric()
	if p.N <= rowGroup { // without a place in memory for what is to be done
		copyRows(p, q, 0, p.N)
		return
	}
	overGroups(p.N, func(from, to int) { copyRows(p, q, from, to) })
}

// copyRows copies some rows of an upper triangle.
func copyRows(to, from blas64.Symmetric, first, end int) {
	for i := first; i < end; i++ {
		copy(to.Data[i*to.Stride+i:i*to.Stride+to.N], from.Data[i*from.Stride+i:])
	}
}

// Times multiplies n by o to the given power: 1 for a product, −1 for a quotient.
func (n *Natural) Times(o *Natural, power float64) { n.SetProduct(n, o, power) }

// SetProduct makes n the product of a and b to the given power.
func (n *Natural) SetProduct(a, b *Natural, power float64) {
	floats.AddScaledTo(n.H, a.H, power, b.H)
	p, q, r := n.P.RawSymmetric(), a.P.RawSymmetric(), b.P.RawSymmetric()
	if p.N <= rowGroup {
		addRows(p, q, power, r, 0, p.N)
		return
	}
	overGroups(p.N, func(from, to int) { addRows(p, q, power, r, from, to) })
}

// addRows writes a sum of upper triangles, some rows of it.
func addRows(to, a blas64.Symmetric, x float64, b blas64.Symmetric, first, end int) {
	for i := first; i < end; i++ {
		floats.AddScaledTo(to.Data[i*to.Stride+i:i*to.Stride+to.N], a.Data[i*a.Stride+i:i*a.Stride+to.N], x, b.Data[i*b.Stride+i:i*b.Stride+to.N])
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
	n.SetTimesScalars(n, views, s, ws)
}

// SetTimesScalars makes n the product of o and a scalar factor for every view.
func (n *Natural) SetTimesScalars(o *Natural, views *Views, s []Scalar, ws *Workspace) {
	sameLength(views, len(s))
	copy(n.H, o.H)
	tau := ws.pullScalars(n.H, views, s)
	n.product(views.a, views.lead, tau, 1, o.P)
}

// SetPosterior makes n the standard Gaussian times a scalar factor for every view. It
// is SetStandard and TimesScalars with two passes over P less.
func (n *Natural) SetPosterior(views *Views, s []Scalar, ws *Workspace) {
	sameLength(views, len(s))
	clear(n.H)
	tau := ws.pullScalars(n.H, views, s)
	n.product(views.a, views.lead, tau, 0, n.P)
	n.addIdentity()
}

// product replaces P by AᵀDA + beta·Q for a diagonal D of any sign, leaving out the
// leading zeros of rows of A. A nil D is the identity. Q may be P.
func (n *Natural) product(a *mat.Dense, lead []int, d []float64, beta float64, q *mat.SymDense) {
	p, r, b := n.P.RawSymmetric(), a.RawMatrix(), q.RawSymmetric()
	kernels.SymProduct(blas.Upper, trans, p.N, r.Rows, 1, r.Data, r.Stride, lead, d, beta, b.Data, b.Stride, p.Data, p.Stride)
}

func (n *Natural) addIdentity() {
	p := n.P.RawSymmetric()
	for i := range p.N {
		p.Data[i*p.Stride+i]++
	}
}

// Gaussian is a proper Gaussian: natural parameters together with the Cholesky
// factor Λ = UᵀU that proves them proper, and the mean.
type Gaussian struct {
	nat    Natural
	factor blas64.Triangular // U, with room for a column beside it
	white  []float64         // U·mean = U⁻ᵀh, the mean of the standardised Uv
	logDet float64
	// The mean itself is found when it is asked for: a sweep does without.
	mean     []float64
	meanOnce sync.Once
	// version changes with every Exchange, so that a workspace knows what it holds.
	version int
}

// NewGaussian is the standard Gaussian in m dimensions.
func NewGaussian(m int) *Gaussian {
	stride := (m/8 + 1) * 8 // rows begin where vectors do
	g := &Gaussian{
		nat:    *NewNatural(m),
		factor: blas64.Triangular{N: m, Stride: stride, Data: make([]float64, m*stride), Uplo: blas.Upper, Diag: blas.NonUnit},
		mean:   make([]float64, m), white: make([]float64, m),
	}
	g.nat.SetStandard()
	for i := range m {
		g.factor.Data[i*stride+i] = 1
	}
	return g
}

// FromMoments is the Gaussian with the given mean and covariance.
func FromMoments(mean []float64, cov *mat.SymDense) (*Gaussian, error) {
	c := NewGaussian(len(mean))
	if err := c.Exchange(&Natural{H: make([]float64, len(mean)), P: cov}); err != nil {
		return nil, err
	}
	n := NewNatural(len(mean))
	c.Covariance(n.P) // the inverse of the covariance
	blas64.Symv(1, n.P.RawSymmetric(), vector(mean), 0, vector(n.H))
	g := NewGaussian(len(mean))
	if err := g.Exchange(n); err != nil {
		return nil, err
	}
	return g, nil
}

// Exchange gives g the natural parameters n and n those that g had, or returns ErrImproper
// and leaves both as they were. It takes M³/3 operations.
func (g *Gaussian) Exchange(n *Natural) error {
	ok := g.factorise(n)
	f := g.factor
	logDet, least := 0.0, math.Inf(1)
	for i := 0; i < f.N && ok; i++ {
		d := f.Data[i*f.Stride+i]
		logDet += 2 * math.Log(d)
		least = min(least, d)
		ok = d > 0
	}
	// What is not finite in P reaches the diagonal of the factor, and in H the
	// standardised mean; both end here, as does a mean or a log-partition too large
	// for a number.
	square := floats.Dot(g.white, g.white)
	if !(ok && finite.All(logDet, square, math.Sqrt(square)/least)) {
		g.factorise(&g.nat) // back to what g was
		return ErrImproper
	}
	g.logDet = logDet
	g.version++
	g.nat, *n = *n, g.nat
	return nil
}

// factorise finds the factor of n's precision and the standardised mean, and reports
// whether the precision is positive definite.
func (g *Gaussian) factorise(n *Natural) bool {
	f, p := g.factor, n.P.RawSymmetric()
	for i, h := range n.H {
		f.Data[i*f.Stride+f.N] = h
	}
	ok := kernels.CholeskySolve(f.N, 1, p.Data, p.Stride, f.Data, f.Stride)
	for i := range g.white {
		g.white[i] = f.Data[i*f.Stride+f.N]
	}
	g.meanOnce = sync.Once{}
	return ok
}

// Dim is the dimension of v.
func (g *Gaussian) Dim() int { return g.factor.N }

// Natural is the natural form of g. It must not be changed.
func (g *Gaussian) Natural() *Natural { return &g.nat }

// Mean is the mean of v. It must not be changed.
func (g *Gaussian) Mean() []float64 {
	g.meanOnce.Do(func() {
		copy(g.mean, g.white)
		blas64.Trsv(noTrans, g.factor, vector(g.mean))
	})
	return g.mean
}

// Covariance writes Λ⁻¹ into dst, in 2M³/3 operations.
func (g *Gaussian) Covariance(dst *mat.SymDense) {
	d, f := dst.RawSymmetric(), g.factor
	for i := 0; i < f.N; i++ {
		copy(d.Data[i*d.Stride+i:i*d.Stride+d.N], f.Data[i*f.Stride+i:i*f.Stride+f.N])
	}
	kernels.CholeskyInverse(blas.Upper, d.N, d.Data, d.Stride)
}

// LogPartition is A(h, Λ) = ½ hᵀΛ⁻¹h − ½ log|Λ|, zero for the standard Gaussian.
func (g *Gaussian) LogPartition() float64 {
	return 0.5 * (floats.Dot(g.white, g.white) - g.logDet)
}

// Marginals writes the mean and variance of s_i = a_i·v for every view: what the
// views read, without their offsets and residuals.
//
// The variance is the squared norm of a row of AU⁻¹, so it is never negative, and the
// mean the product of that row with U·mean. The work is N·M² operations, a third of
// that for a triangular A.
func (g *Gaussian) Marginals(views *Views, mean, variance []float64, ws *Workspace) {
	sameLength(views, len(mean))
	sameLength(views, len(variance))
	g.whiten(views, ws)
	ws.read(views, g.white, mean, variance)
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
	held := heldViews{g, g.version, views}
	if ws.held == held {
		return
	}
	ws.grow(views)
	a, w, u := views.a.RawMatrix(), ws.rows.RawMatrix(), g.factor
	if ws.held.views != views { // the zeros that the rows of W begin with are not written
		for i, zeros := range views.lead {
			clear(w.Data[i*w.Stride : i*w.Stride+zeros])
		}
	}
	kernels.SolveStairs(blas.Right, w.Rows, w.Cols, u.Data, u.Stride, a.Data, a.Stride, views.lead, w.Data, w.Stride)
	ws.held = held
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
	clear(grad)
	ws.whitened(views).Pull(grad, d1)
	rows, lead, bends := ws.significant(views.lead, d2)
	dst.product(rows, lead, bends, 0, dst.P)
	dst.addIdentity()
	blas64.Syr(-1, vector(grad), dst.P.RawSymmetric())
	// P is the Cholesky factor in the reverse order of rows and columns, turned
	// round: with J the reversal, J(I + H̃)J = GᵀG and P = JGᵀJ, so that
	// JY = G⁻ᵀ(JU), in which row i, and column i, begins with m−1−i zeros.
	inner := dst.P.RawSymmetric()
	reverse(inner)
	if floats.HasNaN(grad) || !kernels.Cholesky(blas.Upper, m, inner.Data, inner.Stride) {
		return ErrImproper
	}
	y, u := ws.square.RawMatrix(), g.factor
	for i := range m {
		row := y.Data[(m-1-i)*y.Stride : (m-1-i)*y.Stride+m]
		clear(row[:i])
		copy(row[i:], u.Data[i*u.Stride+i:i*u.Stride+m])
	}
	kernels.SolveStairs(blas.Left, m, m, inner.Data, inner.Stride, y.Data, y.Stride, ws.lead, y.Data, y.Stride)
	blas64.Trsv(noTrans, u, vector(grad))
	floats.Add(grad, g.Mean())
	dst.product(ws.square, ws.lead, nil, 0, dst.P)
	blas64.Symv(1, inner, vector(grad), 0, vector(dst.H))
	return nil
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
// in N²M operations, a third of that when A is triangular.
func (g *Gaussian) Cross(views *Views, dst *mat.SymDense, ws *Workspace) {
	g.whiten(views, ws)
	r, d := ws.rows.RawMatrix(), dst.RawSymmetric()
	kernels.SymProduct(blas.Upper, noTrans, r.Rows, r.Cols, 1, r.Data, r.Stride, views.lead, nil, 0, nil, 0, d.Data, d.Stride)
}
