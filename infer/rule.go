package infer

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/internal/finite"
)

// Rule is by what a term is replaced: Propagation, Variational or Curvature. Rules differ in
// the derivatives that they ask a term for; whoever visits the terms, one by one, all at once
// or by blocks of many rows, does the same with what comes of it.
type Rule interface {
	// Project finds the site of a term, of which old is the present one. It reports false
	// when the cavity is improper or a number is not finite.
	Project(t Seen, old gauss.Scalar) (Projection, bool)
	// Objective is what the rule maximises, or makes stationary, where the terms' part in it
	// is value.
	Objective(q *gauss.Gaussian, value float64) float64
}

// Seen is a term on f = Offset + s + e, and what q says of s = a·v: N(Mean, Variance). The
// residual e is N(0, Residual).
type Seen struct {
	Term             factor.Factor
	Count            float64 // how often it counts
	Offset, Residual float64
	Mean, Variance   float64
}

// constant tells whether the view reads nothing, or as good as nothing: its precision is out
// of range. Its site stays empty.
func (t *Seen) constant() bool { return !(t.Variance > LeastVariance) }

// LeastVariance is well above the numbers that have no inverse.
const LeastVariance = 1e-300

// Projection is what a rule asks of one site.
type Projection struct {
	Site  gauss.Scalar
	Value float64 // the term's part in the objective
	// Rho is the derivative of Value in the residual variance.
	Rho float64
	// Residual is how far q is from what is asked for: the change of the site's precision
	// relative to that of s, or of the mean of s in its standard deviations.
	Residual float64
}

// Propagation is expectation propagation: the site has the moments of the cavity times the
// term. Its objective is the log evidence A(q) + Σ (log Z − A + A\).
//
// A Power α below one is that of power expectation propagation (Minka 2004): the cavity leaves
// out a fraction α of the site, and what matches the moments of the cavity times tᵅ is α times
// the new one. Zero stands for 1.
//
// A term that counts w ≥ 1 times is as many copies, each with a site of its own. At a fixed
// point these are equal, so that only their sum is kept, and the cavity of a copy is q without
// the w-th part of it: α/w in place of α. A term that counts less than once has no copy that
// could be left out, and tʷ is projected as a whole; at w = 1 the two are the same.
type Propagation struct {
	Power float64
}

// Share is how much of a site is left out in the cavity of a term that counts so often.
func (p Propagation) Share(count float64) float64 { return p.power() / max(count, 1) }

// Tilt is what the cavity is multiplied by: the term, or a power of it.
func (p Propagation) Tilt(t factor.Factor, count float64) factor.Factor {
	if alpha := p.power() * min(count, 1); alpha != 1 {
		return factor.Raise(t, alpha)
	}
	return t
}

func (p Propagation) power() float64 {
	if p.Power == 0 {
		return 1
	}
	return p.Power
}

// Project implements Rule.
func (p Propagation) Project(t Seen, old gauss.Scalar) (to Projection, ok bool) {
	share, term := p.Share(t.Count), p.Tilt(t.Term, t.Count)
	if t.constant() {
		l, g, h := term.LogMean(t.Offset, t.Residual)
		to.Value, to.Rho = l/share, 0.5*(g*g+h)/share
		return to, finite.All(to.Value)
	}
	part := old.Power(share)
	cavity := gauss.ScalarFromMoments(t.Mean, t.Variance).Over(part)
	if !cavity.Proper() {
		return to, false
	}
	c, m := cavity.Variance(), cavity.Mean()
	logZ, g, h := term.LogMean(m+t.Offset, c+t.Residual)
	site, proper := MatchMoments(m, c, g, h)
	if !proper {
		return to, false
	}
	to.Site = site.Power(1 / share)
	to.Value = (logZ + LeftOut(part, t.Mean, t.Variance)) / share
	to.Rho = 0.5 * (g*g + h) / share
	to.Residual = max(math.Abs(to.Site.Tau-old.Tau)*t.Variance, math.Abs(m+c*g-t.Mean)/math.Sqrt(t.Variance))
	return to, finite.All(to.Value, to.Site.Nu, to.Site.Tau, to.Residual)
}

// Objective implements Rule.
func (Propagation) Objective(q *gauss.Gaussian, value float64) float64 {
	return value + q.LogPartition()
}

// MatchMoments is the site that gives N(m, c) the moments of it times a term whose log mean
// has the derivatives g and h in m: mean m + cg and variance c(1 + hc). It reports false where
// that is no variance.
func MatchMoments(m, c, g, h float64) (site gauss.Scalar, ok bool) {
	shrink := 1 + h*c
	return gauss.Scalar{Nu: (g - h*m) / shrink, Tau: -h / shrink}, shrink > 0
}

// LeftOut is A\ − A: the difference that it makes to the log partition of N(m, v) to leave a
// site out, in a form that stays exact as v → 0.
func LeftOut(s gauss.Scalar, m, v float64) float64 {
	return 0.5 * ((s.Tau*m*m-2*s.Nu*m+s.Nu*s.Nu*v)/(1-s.Tau*v) - math.Log1p(-s.Tau*v))
}

// Variational maximises the bound Σ E log t − KL(q‖N(0, I)): the limit of power expectation
// propagation as the power goes to zero. For terms that are log-concave it has one maximum.
type Variational struct{}

// Project implements Rule.
func (Variational) Project(t Seen, old gauss.Scalar) (to Projection, ok bool) {
	l, g, h := t.Term.MeanLog(t.Mean+t.Offset, t.Variance+t.Residual)
	to.Rho = 0.5 * t.Count * h
	return to.bySlope(t, old, l, g, h)
}

// Objective implements Rule.
func (Variational) Objective(q *gauss.Gaussian, value float64) float64 {
	cov := mat.NewSymDense(q.Dim(), nil)
	q.Covariance(cov)
	mu := q.Mean()
	return value - 0.5*(mat.Trace(cov)+floats.Dot(mu, mu)-float64(q.Dim())+logDet(q))
}

// Curvature is Laplace's approximation: the second order of the log density at its mode. Its
// objective is Σ log t − ½|μ|² − ½log|Λ|.
type Curvature struct{}

// Project implements Rule.
func (Curvature) Project(t Seen, old gauss.Scalar) (to Projection, ok bool) {
	l, g, h := t.Term.LogMean(t.Mean+t.Offset, t.Residual)
	to.Rho = 0.5 * t.Count * (g*g + h)
	return to.bySlope(t, old, l, g, h)
}

// Objective implements Rule.
func (Curvature) Objective(q *gauss.Gaussian, value float64) float64 {
	return value - 0.5*floats.Dot(q.Mean(), q.Mean()) - 0.5*logDet(q)
}

// bySlope is the projection of a rule that looks at a term where q is: the site has the slope
// g and the curvature h at the mean of q.
func (to Projection) bySlope(t Seen, old gauss.Scalar, l, g, h float64) (Projection, bool) {
	to.Value = t.Count * l
	if t.constant() {
		return to, finite.All(to.Value)
	}
	to.Site = gauss.Scalar{Nu: t.Count * (g - h*t.Mean), Tau: -t.Count * h}
	// A step to this site moves the mean by c(g − (ν − τm)) with c the variance after it.
	step := to.Site.Over(old)
	to.Residual = max(math.Abs(step.Tau)*t.Variance, math.Abs(step.Nu-step.Tau*t.Mean)*math.Sqrt(t.Variance))
	return to, finite.All(to.Value, to.Site.Nu, to.Site.Tau, to.Residual)
}

// logDet is log|Λ| = h·μ − 2A(q).
func logDet(q *gauss.Gaussian) float64 {
	return floats.Dot(q.Natural().H, q.Mean()) - 2*q.LogPartition()
}
