package infer

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
)

// doubleLoop finds a fixed point of expectation propagation by descent, for the
// cases in which the plain iteration goes round it (Heskes and Zoeter 2002; Opper
// and Winther 2005).
//
// The fixed points are the stationary points of
//
//	log Z_EP = A(q̄; b) + Σ_i [log Z̃_i(γ_i − β_i b_i) − A(γ_i)]/β_i,
//
// where b_i are the sites, γ_i the natural parameters of the marginals, β_i the share of the
// site that a cavity leaves out (Propagation.Share) and
// Z̃_i(c) = ∫ t_i(s) exp(ν_c s − ½ τ_c s²) ds. The first two terms are convex in b
// for given γ; the inner loop minimises them by Newton's method with a line search,
// and the outer loop sets γ to the marginals found. Each outer step lowers the free
// energy, whatever the sign of the site precisions. Close to a fixed point Newton's
// method on the equations themselves finishes the work.
type doubleLoop struct {
	views   *gauss.Views
	logMean func(i int, m, v float64) (l, d1, d2 float64)
	base    *gauss.Natural // everything that is no site here; nil for the prior
	b       []gauss.Scalar // the sites
	share   []float64      // β

	q              *gauss.Gaussian // q̄
	mean, variance []float64       // its marginals
	marginals      []gauss.Scalar  // γ
	tmean, tvar    []float64       // moments of the tilted distributions
	trial          []gauss.Scalar

	nat        *gauss.Natural
	ws         gauss.Workspace
	cross      *mat.SymDense // cov(s_i, s_j) under q̄
	hess       *mat.SymDense // 2N×2N, ν of all sites, then τ of all sites
	jacobian   *mat.Dense
	chol       mat.Cholesky
	lu         mat.LU
	grad, step []float64

	best float64 // the smallest residual so far

	visits, most int // of all terms in this descent, and how many there may be
}

// doubleLoop settles the sites by the double loop. A utility seen through one view
// is one more scalar site; one on many views is held while the others settle, and
// then updated, until neither moves.
//
// It starts from the sites as they are, and if that fails from empty ones.
func (e *engine) doubleLoop(ctx context.Context) error {
	if e.model.copied() {
		e.status.Reason = "sweeps did not converge, and the double loop is not for weights of cases that share a noise; repeat cases in place of weighting them"
		return e.recover()
	}
	d := e.newDoubleLoop()
	if err := e.descend(ctx, d); err != nil || e.status.Converged {
		return err
	}
	if d.base == nil && d.best < rounded {
		e.save()
		e.adopt(d)
		e.status.Reason = "rounding keeps the sites from converging further"
		return e.recover()
	}
	d = e.newDoubleLoop()
	clear(d.b)
	d.set(d.b)
	d.setMarginals()
	if err := e.descend(ctx, d); err != nil || e.status.Converged {
		return err
	}
	e.status.Reason = "neither damping nor the double loop converged; try other sites to start from"
	if e.status.Sweeps >= e.opt.MaxSweeps {
		e.status.Reason = sweepLimit
	}
	return e.recover()
}

// rounded is the residual below which steps that make no progress are those of rounding: its share in marginals is
// the relative error of float64 times the condition of the covariance, which is 1e8 and more for small noise.
const rounded = 1e-6

// descend runs the double loop from one start. As a step of it visits the terms many times where a sweep does once, it is their
// visits that the most sweeps bound: terms that are far from log-concave, or many, take hundreds for every step.
func (e *engine) descend(ctx context.Context, d *doubleLoop) error {
	const (
		outer    = 300
		visits   = 100
		patience = 100 // outer steps without progress
		brief    = 10  // and of those that may be rounding
	)
	tol := e.opt.Tolerance
	for range visits {
		residual, since := math.Inf(1), 0
		d.best, d.visits, d.most = residual, 0, e.opt.MaxSweeps
		for k := 0; k < outer && residual > tol && e.status.Sweeps < e.opt.MaxSweeps; k++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			residual = d.iterate(ctx, tol)
			e.status.DoubleLoop++
			e.record(residual)
			if residual < 0.9*d.best {
				d.best, since = residual, 0
			} else {
				since++
			}
			if math.IsInf(residual, 1) || d.visits > d.most || since > patience || since > brief && d.best < rounded {
				return nil
			}
		}
		if residual > tol {
			return nil
		}
		e.save()
		e.adopt(d)
		if e.refresh() != nil {
			e.restore()
			return nil
		}
		if d.base == nil {
			e.status.Converged = true
			return nil
		}
		e.save()
		e.status.Residual = e.sweepUtility()
		if e.status.Residual <= tol {
			e.status.Converged = true
			return nil
		}
		d.base.CopyFrom(e.sites.Utility)
	}
	return nil
}

// sweepUtility updates the utility site alone and returns the residual, +Inf when
// the update is not possible.
func (e *engine) sweepUtility() float64 {
	if e.deleteUtility() && e.projectUtility() {
		if residual := e.updateUtility(); e.complete() == nil {
			return residual
		}
	}
	e.restore()
	e.damping /= 2
	return math.Inf(1)
}

// recover goes back to the last sites that were proper, if the present ones are not,
// and measures how far from settled they are.
func (e *engine) recover() error {
	if e.refresh() != nil {
		e.restore()
		if err := e.refresh(); err != nil {
			return &ImproperError{Of: "q̄", Status: e.status}
		}
	}
	e.status.Residual = 0
	for i := range e.sites.Terms {
		at := marginal{e.mean[i], e.variance[i]}
		p, ok := e.project(i, at)
		if !ok {
			return &ImproperError{Of: "a cavity", Status: e.status}
		}
		e.status.Residual = max(e.status.Residual, p.Residual)
	}
	if e.model.Utility != nil {
		e.save()
		damping := e.damping
		e.damping = 0 // measured, not moved
		e.status.Residual = max(e.status.Residual, e.sweepUtility())
		e.damping = damping
	}
	if e.status.Residual <= e.opt.Tolerance { // it was there without knowing
		e.status.Converged, e.status.Reason = true, ""
	}
	return nil
}

func (e *engine) newDoubleLoop() *doubleLoop {
	m := e.model
	d := &doubleLoop{
		views: m.Views, q: gauss.NewGaussian(m.Dim()), nat: gauss.NewNatural(m.Dim()),
		b: append([]gauss.Scalar(nil), e.sites.Terms...),
	}
	tilts := make([]factor.Factor, len(m.Terms))
	for i, t := range m.Terms {
		tilts[i] = e.rule.Tilt(t, m.Count(i))
		d.share = append(d.share, e.rule.Share(m.Count(i)))
	}
	d.logMean = func(i int, mean, v float64) (l, d1, d2 float64) { return tilts[i].LogMean(mean, v) }
	switch {
	case m.Utility != nil && m.Points.Len() == 1:
		d.views = m.Views.Append(m.Points)
		d.b = append(d.b, alongView(e.sites.Utility, m.Points.Row(0)))
		d.share = append(d.share, 1)
		d.logMean = func(i int, mean, v float64) (l, d1, d2 float64) {
			if i < len(tilts) {
				return tilts[i].LogMean(mean, v)
			}
			var g, h [1]float64
			l = m.Utility.LogMean(e.sites.Actions, []float64{mean}, []float64{v}, g[:], h[:])
			return l, g[0], h[0] - g[0]*g[0]
		}
	case m.Utility != nil:
		d.base = gauss.NewNatural(m.Dim())
		d.base.CopyFrom(e.sites.Utility)
	}
	n := len(d.b)
	d.mean, d.variance = make([]float64, n), make([]float64, n)
	d.tmean, d.tvar = make([]float64, n), make([]float64, n)
	d.marginals, d.trial = make([]gauss.Scalar, n), make([]gauss.Scalar, n)
	d.cross, d.hess = mat.NewSymDense(n, nil), mat.NewSymDense(2*n, nil)
	d.jacobian = mat.NewDense(2*n, 2*n, nil)
	d.grad, d.step = make([]float64, 2*n), make([]float64, 2*n)
	d.set(d.b) // the engine's sites are proper
	d.setMarginals()
	return d
}

// alongView is the scalar site (ν, τ) of a dense site νa, τaaᵀ on one view.
func alongView(site *gauss.Natural, a []float64) gauss.Scalar {
	norm := floats.Dot(a, a)
	if norm == 0 {
		return gauss.Scalar{}
	}
	v := mat.NewVecDense(len(a), a)
	return gauss.Scalar{Nu: floats.Dot(site.H, a) / norm, Tau: mat.Inner(v, site.P, v) / (norm * norm)}
}

// adopt takes over the sites that the double loop found.
func (e *engine) adopt(d *doubleLoop) {
	copy(e.sites.Terms, d.b)
	if len(d.b) > len(e.sites.Terms) {
		e.sites.Utility.SetZero()
		e.sites.Utility.TimesScalar(e.model.Points.Row(0), d.b[len(d.b)-1], 1)
	}
}

// set makes q̄ from sites and reports whether it is proper.
func (d *doubleLoop) set(b []gauss.Scalar) bool {
	d.nat.SetPosterior(d.views, b, &d.ws)
	if d.base != nil {
		d.nat.Times(d.base, 1)
	}
	if d.q.Exchange(d.nat) != nil {
		return false
	}
	d.q.Marginals(d.views, d.mean, d.variance, &d.ws)
	return true
}

// setMarginals makes γ the marginals of q̄.
func (d *doubleLoop) setMarginals() {
	for i, m := range d.mean {
		d.marginals[i] = gauss.ScalarFromMoments(m, d.variance[i])
	}
}

// iterate is one outer step, and Newton's method as long as it helps.
func (d *doubleLoop) iterate(ctx context.Context, tol float64) float64 {
	if math.IsInf(d.energy(d.b), 1) {
		return math.Inf(1) // nowhere to descend from
	}
	d.inner(ctx)
	mismatch := d.mismatch()
	residual := max(mismatch, d.moveMarginals())
	for residual > tol && residual < 0.1 {
		next, ok := d.polish(residual)
		if !ok {
			break
		}
		residual = next
	}
	if math.IsNaN(residual) {
		return math.Inf(1)
	}
	return residual
}

// mismatch is how far the moments of the tilted distributions are from those of q̄.
func (d *doubleLoop) mismatch() (residual float64) {
	for i, m := range d.mean {
		v := d.variance[i]
		residual = max(residual, math.Abs(d.tmean[i]-m)/math.Sqrt(v), math.Abs(d.tvar[i]-v)/v)
	}
	return residual // max passes a NaN on
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
		if cavity := g.Tau - d.share[i]*d.b[i].Tau; to.Tau < g.Tau {
			full = min(full, 0.9*cavity/(g.Tau-to.Tau))
		}
	}
	for i, g := range d.marginals {
		d.marginals[i] = g.Towards(gauss.ScalarFromMoments(d.mean[i], d.variance[i]), full)
	}
	return residual
}

// tilt is the log-normaliser and the moments of the cavity c times the i-th factor.
func (d *doubleLoop) tilt(i int, c gauss.Scalar) (logZ, mean, variance float64) {
	v, m := c.Variance(), c.Mean()
	l, g, g2 := d.logMean(i, m+d.views.Offset(i), v+d.views.Residual(i))
	return l, m + v*g, v * (1 + v*g2)
}

// cavity is γ_i without the share of a site.
func (d *doubleLoop) cavity(i int, site gauss.Scalar) gauss.Scalar {
	return d.marginals[i].Over(site.Power(d.share[i]))
}

// energy is A(q̄; b) + Σ_i log Z̃_i(γ_i − β_i b_i)/β_i at the sites b, or +Inf where q̄ or a
// cavity is improper. It leaves the moments of q̄ and of the tilted distributions
// behind.
func (d *doubleLoop) energy(b []gauss.Scalar) float64 {
	d.visits++
	if !d.set(b) {
		return math.Inf(1)
	}
	value := d.q.LogPartition()
	for i, s := range b {
		c := d.cavity(i, s)
		if !c.Proper() {
			return math.Inf(1)
		}
		var logZ float64
		logZ, d.tmean[i], d.tvar[i] = d.tilt(i, c)
		value += (logZ + c.LogPartition()) / d.share[i]
		if !(d.tvar[i] > 0) || math.IsNaN(value) {
			return math.Inf(1)
		}
	}
	return value
}

// inner minimises the energy over the sites for the present marginals. Close to
// the minimum the energy no longer tells two points apart; there a step has to
// shrink the Newton decrement instead. It ends early with the context.
func (d *doubleLoop) inner(ctx context.Context) {
	const (
		iterations = 100
		armijo     = 1e-4
		settled    = 1e-22 // a squared length
	)
	value := d.energy(d.b)
	last := math.Inf(1)
	for step := 0; step < iterations && d.visits <= d.most && ctx.Err() == nil; step++ {
		decrement := d.newtonStep()
		noise := 1e-13 * (1 + math.Abs(value)) // rounding of the energy
		if !(decrement > settled) || decrement < noise && decrement > 0.5*last {
			return
		}
		last = decrement
		moved := false
		for length := 1.0; length > 1e-8 && !moved; length /= 2 {
			for i, s := range d.b {
				d.trial[i] = gauss.Scalar{Nu: s.Nu + length*d.step[i], Tau: s.Tau + length*d.step[len(d.b)+i]}
			}
			next := d.energy(d.trial)
			moved = next <= value-armijo*length*decrement || decrement < noise && !math.IsInf(next, 1)
			if moved {
				value = next
				copy(d.b, d.trial)
			}
		}
		if !moved {
			d.energy(d.b)
			return
		}
	}
}

// newtonStep writes the step −H⁻¹g and returns gᵀH⁻¹g, for the gradient
// g_i = E_q̄ φ_i − E_tilted φ_i with φ = (s, −½s²). H is the covariance of φ under
// q̄ plus, block by block, β times its covariance under the tilted distributions.
func (d *doubleLoop) newtonStep() float64 {
	n := len(d.b)
	d.statistics()
	d.visits += 4 // of every term by tiltedCovariance
	for i := range n {
		c := d.tiltedCovariance(i)
		d.hess.SetSym(i, i, d.hess.At(i, i)+d.share[i]*c[0])
		d.hess.SetSym(i, n+i, d.hess.At(i, n+i)+d.share[i]*c[1])
		d.hess.SetSym(n+i, n+i, d.hess.At(n+i, n+i)+d.share[i]*c[2])
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
	n := len(d.b)
	d.q.Cross(d.views, d.cross, &d.ws)
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
	cavity := d.cavity(i, d.b[i])
	tm, tv := d.tmean[i], d.tvar[i]
	second := func(dn, dt float64) float64 {
		_, m, v := d.tilt(i, gauss.Scalar{Nu: cavity.Nu + dn, Tau: cavity.Tau + dt})
		return -0.5 * (m*m + v)
	}
	dn, dt := h/math.Sqrt(tv), h*min(cavity.Tau, 1/tv)
	c[0] = tv
	c[1] = (second(dn, 0) - second(-dn, 0)) / (2 * dn)
	c[2] = (second(0, dt) - second(0, -dt)) / (2 * dt)
	if !(c[0]*c[2]-c[1]*c[1] > 0) {
		return [3]float64{tv, -tm * tv, 0.5*tv*tv + tm*tm*tv}
	}
	return c
}

// polish takes a step of Newton's method on the equations of the fixed point
// themselves, in which γ moves with the sites: the derivative of the gradient is
// C + βT − TG⁻¹C, where C is the covariance of φ under q̄, T under the tilted
// distributions and G under the marginals. Near a fixed point it converges
// quadratically, whether or not the plain iteration is stable there. It reports
// false, with the sites as they were, where it does not lower the residual.
func (d *doubleLoop) polish(residual float64) (float64, bool) {
	n := len(d.b)
	saved := append([]gauss.Scalar(nil), d.marginals...)
	d.setMarginals()
	if math.IsInf(d.energy(d.b), 1) {
		copy(d.marginals, saved)
		d.energy(d.b)
		return 0, false
	}
	d.statistics()
	d.visits += 4 // of every term by tiltedCovariance
	for i := range n {
		t := d.tiltedCovariance(i)
		m, v := d.mean[i], d.variance[i]
		// TG⁻¹ of the 2×2 blocks, with G = [v, −mv; −mv, ½v²+m²v].
		g00, g01, g11, det := v, -m*v, 0.5*v*v+m*m*v, 0.5*v*v*v
		a, b := (t[0]*g11-t[1]*g01)/det, (t[1]*g00-t[0]*g01)/det
		c, e := (t[1]*g11-t[2]*g01)/det, (t[2]*g00-t[1]*g01)/det
		for j := range 2 * n {
			top, low := d.hess.At(i, j), d.hess.At(n+i, j)
			d.jacobian.Set(i, j, top-a*top-b*low)
			d.jacobian.Set(n+i, j, low-c*top-e*low)
		}
		d.jacobian.Set(i, i, d.jacobian.At(i, i)+d.share[i]*t[0])
		d.jacobian.Set(i, n+i, d.jacobian.At(i, n+i)+d.share[i]*t[1])
		d.jacobian.Set(n+i, i, d.jacobian.At(n+i, i)+d.share[i]*t[1])
		d.jacobian.Set(n+i, n+i, d.jacobian.At(n+i, n+i)+d.share[i]*t[2])
	}
	d.lu.Factorize(d.jacobian)
	// A nearly singular Jacobian gives a long step, which is judged below.
	_ = d.lu.SolveVecTo(mat.NewVecDense(2*n, d.step), false, mat.NewVecDense(2*n, d.grad))
	for i, s := range d.b {
		d.trial[i] = s.Over(gauss.Scalar{Nu: d.step[i], Tau: d.step[n+i]})
	}
	if !floats.HasNaN(d.step) && d.set(d.trial) {
		d.setMarginals()
		if !math.IsInf(d.energy(d.trial), 1) {
			if next := d.mismatch(); next < residual {
				copy(d.b, d.trial)
				return next, true
			}
		}
	}
	copy(d.marginals, saved)
	d.energy(d.b)
	return 0, false
}
