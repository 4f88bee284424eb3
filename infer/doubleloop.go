package infer

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
)

// doubleLoop finds a fixed point of expectation propagation by descent, for the
// cases in which the plain iteration goes round it (Heskes and Zoeter 2002; Opper
// and Winther 2005).
//
// The fixed points are the stationary points of
//
//	log Z_EP = A(q; b) + Σ_i log Z̃_i(γ_i − b_i) − Σ_i A(γ_i),
//
// where b_i are the sites, γ_i the natural parameters of the marginals and
// Z̃_i(c) = ∫ t_i(s) exp(ν_c s − ½ τ_c s²) ds. The first two terms are convex in b
// for given γ; the inner loop minimises them by Newton's method with a line search,
// and the outer loop sets γ to the marginals found. Each outer step lowers the free
// energy, whatever the sign of the site precisions.
type doubleLoop struct {
	*engine
	marginals []gauss.Scalar // γ
	cavities  []gauss.Scalar // γ − b
	tmean     []float64      // moments of the tilted distributions
	tvar      []float64
	cross     *mat.SymDense // cov(s_i, s_j) under q̄
	hess      *mat.SymDense // 2N×2N
	chol      mat.Cholesky
	grad      []float64 // ν of all sites, then τ of all sites
	step      []float64
	trial     []gauss.Scalar
	jacobian  *mat.Dense
	lu        mat.LU
}

func (e *engine) doubleLoop(ctx context.Context, tol float64) error {
	n := len(e.sites.Terms)
	d := &doubleLoop{
		engine:    e,
		marginals: make([]gauss.Scalar, n), cavities: make([]gauss.Scalar, n),
		tmean: make([]float64, n), tvar: make([]float64, n),
		cross: mat.NewSymDense(n, nil), hess: mat.NewSymDense(2*n, nil),
		grad: make([]float64, 2*n), step: make([]float64, 2*n),
		trial: make([]gauss.Scalar, n),
	}
	return d.run(ctx, tol)
}

func (d *doubleLoop) run(ctx context.Context, tol float64) error {
	const outer = 300
	for i := range d.marginals {
		d.marginals[i] = gauss.ScalarFromMoments(d.mean[i], d.variance[i])
	}
	for range outer {
		if err := ctx.Err(); err != nil {
			return err
		}
		d.inner()
		residual := max(d.moveMarginals(), d.mismatch())
		d.status.DoubleLoop++
		d.record(residual)
		for residual > tol && residual < 0.1 {
			next, ok := d.polish(residual)
			if !ok {
				break
			}
			residual = next
			d.record(residual)
		}
		if residual <= tol {
			d.status.Converged = true
			d.status.Reason = ""
			return nil
		}
	}
	d.status.Reason = "the double loop has not settled either"
	return nil
}

// mismatch is how far the moments of the tilted distributions are from those of q̄.
func (d *doubleLoop) mismatch() (residual float64) {
	for i, m := range d.mean {
		v := d.variance[i]
		residual = max(residual, math.Abs(d.tmean[i]-m)/math.Sqrt(v), math.Abs(d.tvar[i]-v)/v)
	}
	return residual
}

// moveMarginals is the outer step: γ becomes the marginals of q̄, or goes as far
// towards them as keeps every cavity proper. It returns the length of the full
// step.
func (d *doubleLoop) moveMarginals() (residual float64) {
	full := 1.0
	for i, g := range d.marginals {
		to := gauss.ScalarFromMoments(d.mean[i], d.variance[i])
		residual = max(residual, math.Abs(1-g.Tau*d.variance[i]), math.Abs(g.Mean()-d.mean[i])/math.Sqrt(d.variance[i]))
		// The cavity's precision falls linearly along the step; keep a tenth.
		if cavity := g.Tau - d.sites.Terms[i].Tau; to.Tau < g.Tau {
			full = min(full, 0.9*cavity/(g.Tau-to.Tau))
		}
	}
	for i, g := range d.marginals {
		d.marginals[i] = damped(g, gauss.ScalarFromMoments(d.mean[i], d.variance[i]), full)
	}
	return residual
}

// energy is A(q; b) + Σ_i log Z̃_i(γ_i − b_i) at the sites b, or +Inf where q̄ or a
// cavity is improper. It leaves the moments of q̄ and of the tilted distributions
// behind.
func (d *doubleLoop) energy(b []gauss.Scalar) float64 {
	d.nat.SetStandard()
	d.nat.TimesScalars(d.model.Views, b, &d.ws)
	if d.model.Utility != nil {
		d.nat.Times(d.sites.Utility, 1)
	}
	if d.tilted.Set(d.nat) != nil {
		return math.Inf(1)
	}
	value := d.tilted.LogPartition()
	for i, s := range b {
		c := d.marginals[i].Over(s)
		if !c.Proper() {
			return math.Inf(1)
		}
		v, m := c.Variance(), c.Mean()
		l, g, g2 := d.model.Terms[i].LogMean(m+d.model.Views.Offset(i), v+d.model.Views.Residual(i))
		d.tmean[i], d.tvar[i] = m+v*g, v*(1+v*g2)
		value += l + c.LogPartition()
		if !(d.tvar[i] > 0) {
			return math.Inf(1)
		}
	}
	return value
}

// inner minimises the energy over the sites for the present marginals. Close to
// the minimum the energy no longer tells two points apart; there a step has to
// shrink the Newton decrement instead.
func (d *doubleLoop) inner() {
	const (
		iterations = 100
		armijo     = 1e-4
	)
	b := d.sites.Terms
	value := d.energy(b)
	last := math.Inf(1)
	for range iterations {
		d.tilted.Marginals(d.model.Views, d.mean, d.variance, &d.ws)
		decrement := d.newtonStep()
		noise := 1e-13 * (1 + math.Abs(value))
		if !(decrement > 1e-22) || decrement < noise && decrement > 0.5*last {
			return
		}
		last = decrement
		length := 1.0
		for ; length > 1e-8; length /= 2 {
			for i := range b {
				d.trial[i] = gauss.Scalar{Nu: b[i].Nu + length*d.step[i], Tau: b[i].Tau + length*d.step[len(b)+i]}
			}
			if next := d.energy(d.trial); next <= value-armijo*length*decrement || decrement < noise && !math.IsInf(next, 1) {
				value = next
				copy(b, d.trial)
				break
			}
		}
	}
}

// newtonStep writes the step −H⁻¹g and returns gᵀH⁻¹g, for the gradient
// g_i = E_q̄ φ_i − E_tilted φ_i with φ = (s, −½s²). H is the covariance of φ under
// q̄ plus, block by block, its covariance under the tilted distributions.
func (d *doubleLoop) newtonStep() float64 {
	n := len(d.sites.Terms)
	d.statistics()
	for i := range n {
		c := d.tiltedCovariance(i)
		d.hess.SetSym(i, i, d.hess.At(i, i)+c[0])
		d.hess.SetSym(i, n+i, d.hess.At(i, n+i)+c[1])
		d.hess.SetSym(n+i, n+i, d.hess.At(n+i, n+i)+c[2])
	}
	if !d.chol.Factorize(d.hess) {
		return 0
	}
	// An ill-conditioned H still gives a direction of descent; the line search
	// judges it.
	_ = d.chol.SolveVecTo(mat.NewVecDense(2*n, d.step), mat.NewVecDense(2*n, d.grad))
	decrement := floats.Dot(d.step, d.grad)
	floats.Scale(-1, d.step)
	return decrement
}

// statistics writes the gradient, and the covariance of φ under q̄ into hess:
// cov(s_i, s_j) = C_ij, cov(s_i, −½s_j²) = −C_ij m_j and
// cov(½s_i², ½s_j²) = ½C_ij² + m_i m_j C_ij.
func (d *doubleLoop) statistics() {
	n := len(d.sites.Terms)
	d.tilted.Cross(d.model.Views, d.cross, &d.ws)
	for i := range n {
		m, v, tm, tv := d.mean[i], d.variance[i], d.tmean[i], d.tvar[i]
		d.grad[i] = m - tm
		d.grad[n+i] = -0.5 * ((m-tm)*(m+tm) + v - tv)
		for j := range n {
			c, mj := d.cross.At(i, j), d.mean[j]
			if j >= i {
				d.hess.SetSym(i, j, c)
				d.hess.SetSym(n+i, n+j, 0.5*c*c+m*mj*c)
			}
			d.hess.SetSym(i, n+j, -c*mj)
		}
	}
}

// tiltedCovariance is the covariance of φ = (s, −½s²) under the tilted distribution
// of site i: the derivative of its expectation in the natural parameters of the
// cavity, by central differences. Where these are not positive definite it is that
// of the Gaussian with the same moments.
func (d *doubleLoop) tiltedCovariance(i int) (c [3]float64) {
	const h = 1e-5 // balances rounding against the cubic term
	cavity := d.marginals[i].Over(d.sites.Terms[i])
	tm, tv := d.tmean[i], d.tvar[i]
	second := func(c gauss.Scalar) float64 {
		m, v := d.tiltedMoments(i, c)
		return -0.5 * (m*m + v)
	}
	dn, dt := h/math.Sqrt(tv), h*min(cavity.Tau, 1/tv)
	c[0] = tv
	c[1] = (second(gauss.Scalar{Nu: cavity.Nu + dn, Tau: cavity.Tau}) - second(gauss.Scalar{Nu: cavity.Nu - dn, Tau: cavity.Tau})) / (2 * dn)
	c[2] = (second(gauss.Scalar{Nu: cavity.Nu, Tau: cavity.Tau + dt}) - second(gauss.Scalar{Nu: cavity.Nu, Tau: cavity.Tau - dt})) / (2 * dt)
	if !(c[0]*c[2]-c[1]*c[1] > 0) {
		return [3]float64{tv, -tm * tv, 0.5*tv*tv + tm*tm*tv}
	}
	return c
}

// tiltedMoments are the moments of the cavity c times the i-th term.
func (d *doubleLoop) tiltedMoments(i int, c gauss.Scalar) (m, v float64) {
	cv, cm := c.Variance(), c.Mean()
	_, g, g2 := d.model.Terms[i].LogMean(cm+d.model.Views.Offset(i), cv+d.model.Views.Residual(i))
	return cm + cv*g, cv * (1 + cv*g2)
}

// polish takes a step of Newton's method on the equations of the fixed point
// themselves, in which γ moves with the sites: the derivative of the gradient is
// C + T − TG⁻¹C, where C is the covariance of φ under q̄, T under the tilted
// distributions and G under the marginals. Near a fixed point it converges
// quadratically, whether or not the plain iteration is stable there. It reports
// false, with the sites as they were, where it does not lower the residual.
func (d *doubleLoop) polish(residual float64) (float64, bool) {
	n := len(d.sites.Terms)
	if d.energy(d.sites.Terms); d.refresh() != nil {
		return 0, false
	}
	for i := range d.marginals {
		d.marginals[i] = gauss.ScalarFromMoments(d.mean[i], d.variance[i])
	}
	d.energy(d.sites.Terms)
	d.statistics()
	if d.jacobian == nil {
		d.jacobian = mat.NewDense(2*n, 2*n, nil)
	}
	d.jacobian.Copy(d.hess)
	for i := range n {
		t := d.tiltedCovariance(i)
		m, v := d.mean[i], d.variance[i]
		// T G⁻¹ of the 2×2 blocks, with G = [v, −mv; −mv, ½v²+m²v].
		g00, g01, g11 := v, -m*v, 0.5*v*v+m*m*v
		det := 0.5 * v * v * v
		a := (t[0]*g11 - t[1]*g01) / det
		b := (t[1]*g00 - t[0]*g01) / det
		c := (t[1]*g11 - t[2]*g01) / det
		e := (t[2]*g00 - t[1]*g01) / det
		for j := range 2 * n {
			top, low := d.hess.At(i, j), d.hess.At(n+i, j)
			d.jacobian.Set(i, j, top-a*top-b*low)
			d.jacobian.Set(n+i, j, low-c*top-e*low)
		}
		d.jacobian.Set(i, i, d.jacobian.At(i, i)+t[0])
		d.jacobian.Set(i, n+i, d.jacobian.At(i, n+i)+t[1])
		d.jacobian.Set(n+i, i, d.jacobian.At(n+i, i)+t[1])
		d.jacobian.Set(n+i, n+i, d.jacobian.At(n+i, n+i)+t[2])
	}
	d.lu.Factorize(d.jacobian)
	if d.lu.SolveVecTo(mat.NewVecDense(2*n, d.step), false, mat.NewVecDense(2*n, d.grad)) != nil {
		return 0, false
	}
	copy(d.trial, d.sites.Terms)
	for i := range n {
		d.sites.Terms[i] = d.sites.Terms[i].Over(gauss.Scalar{Nu: d.step[i], Tau: d.step[n+i]})
	}
	if d.refresh() == nil {
		next, ok := 0.0, true
		for i := range n {
			p, proper := d.project(i, d.mean[i], d.variance[i])
			next, ok = max(next, p.residual), ok && proper
		}
		if ok && next < residual && (d.model.Utility == nil || d.setCavityOfUtility() == nil) {
			return next, true
		}
	}
	copy(d.sites.Terms, d.trial)
	return 0, false
}
