package infer

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/gauss"
)

// ascent is one climb of a variational bound.
//
// The sites of all terms, followed by the natural parameters of the drawn utility
// where there is one, form one vector: what is mixed, shortened and compared does
// not depend on which is which.
type ascent struct {
	opt    VI
	model  *Model // its utility, if any, is in drawn
	drawn  *drawnUtility
	status Status

	here, trial point
	mixer       mixer
	mixed       []gauss.Scalar // the accelerated step
	size        []float64      // the variances in whose units it is measured
	rate        float64        // of the last plain step

	*scratch
}

// quadrature is about how many operations of package level3 a core makes in the time that the
// expectation of a term's logarithm takes.
const quadrature = 100_000

// point is a q on the way, and what the bound says about it.
type point struct {
	params         []gauss.Scalar
	step           []gauss.Scalar // the full step, to the parameters that q asks for
	q              *gauss.Gaussian
	mean, variance []float64 // of s_i = a_i·v
	bound          float64
	rounding       float64 // the error that the bound may have from rounding
	residual       float64
}

func newAscent(o VI, m *Model, drawn *drawnUtility) *ascent {
	a := &ascent{opt: o.withDefaults(), model: m, drawn: drawn, rate: 1}
	n := len(m.Terms)
	total := n
	if drawn != nil {
		total += drawn.params()
	}
	a.mixed, a.size = make([]gauss.Scalar, total), make([]float64, total)
	for _, p := range []*point{&a.here, &a.trial} {
		p.params, p.step = make([]gauss.Scalar, total), make([]gauss.Scalar, total)
		p.q = gauss.NewGaussian(m.Dim())
		p.mean, p.variance = make([]float64, n), make([]float64, n)
	}
	if s := o.Start; s != nil {
		copy(a.here.params, s.Terms)
		if drawn != nil && s.Utility != nil {
			drawn.pack(a.here.params[n:], s.Utility)
		}
	}
	return a
}

// evaluate fills in p from its parameters. It reports false when q is improper or
// the bound is not finite.
//
// The divergence needs no matrix beyond q: tr ΛΣ = M gives
// tr Σ − M = −Σ_i τ_i c_i − tr(PΣ), with (H, P) the drawn utility's parameters, and
// log|Λ| = h·μ − 2A(q).
func (a *ascent) evaluate(p *point) bool {
	n := len(a.model.Terms)
	a.nat.SetPosterior(a.model.Views, p.params[:n], &a.ws)
	if a.drawn != nil {
		a.drawn.unpack(p.params[n:])
		a.nat.Times(a.drawn.site, 1)
	}
	if p.q.Exchange(a.nat) != nil {
		return false
	}
	p.q.Marginals(a.model.Views, p.mean, p.variance, &a.ws)
	mu := p.q.Mean()
	square, product := floats.Dot(mu, mu), floats.Dot(p.q.Natural().H, mu)
	logDet := product - 2*p.q.LogPartition()
	// Of copies, log|Λ| is larger by as much as their log partition is smaller, twice.
	copies := a.model.copies(p.params[:n])
	p.bound = copies - 0.5*(square+logDet)
	scale := 0.5*(square+math.Abs(product)+math.Abs(logDet)) + math.Abs(copies)
	if !a.response.project(proposal{rule: Variational{}, seen: a.model.copySeen, mean: p.mean, variance: p.variance, sites: p.params, work: quadrature}) {
		return false
	}
	for i, site := range p.params[:n] {
		to, c := a.response.asked[i], a.model.copySeen(i, p.mean[i], p.variance[i], p.params).Variance
		p.bound += to.Value + 0.5*site.Tau*c
		scale += math.Abs(to.Value) + 0.5*math.Abs(site.Tau)*c
		p.step[i] = to.Site.Over(site)
	}
	if a.drawn != nil {
		l, trace := a.drawn.evaluate(p.q, p.step[n:], &a.ws)
		p.bound += l + 0.5*trace
		scale += math.Abs(l) + 0.5*math.Abs(trace)
	}
	p.residual = a.length(p)
	// Quadratures are good to 1e-14 or so of their size, sums to fewer units.
	p.rounding = 2e-14 * scale
	return !math.IsNaN(p.bound) && !math.IsInf(p.bound, 0) && !math.IsNaN(p.residual)
}

// length is that of the full step in the metric of q: the norm of the natural
// gradient. It does not see moves of sites against each other that leave q as it is.
func (a *ascent) length(p *point) float64 {
	var change *gauss.Natural
	if a.drawn != nil {
		change = a.drawn.change
	}
	return p.q.Length(a.model.Views, p.step[:len(a.model.Terms)], change, &a.ws)
}

// climb steps up the bound until the residual is within the tolerance.
func (a *ascent) climb(ctx context.Context) error {
	a.scratch = newScratch(a.model.Dim())
	defer a.release()
	if !a.evaluate(&a.here) {
		// Sites to start from that do not give a proper q are put aside: starting
		// from the prior is always possible.
		clear(a.here.params)
		if !a.evaluate(&a.here) {
			return &ImproperError{Of: "the variational bound at the prior", Status: a.status}
		}
	}
	for {
		a.status.Sweeps++
		a.status.Residual = a.here.residual
		a.status.Damping = a.rate
		if a.opt.Trace != nil {
			a.opt.Trace(VIStep{a.status.Sweeps - 1, a.here.bound, a.here.residual})
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case a.here.residual <= a.opt.Tolerance:
			a.status.Converged = true
			return nil
		case a.status.Sweeps > a.opt.MaxIterations:
			a.status.Reason = "the bound was still rising; allow more iterations"
			return nil
		case !a.stepForeseen() && !a.stepMixed() && !a.stepPlain():
			a.status.Reason = "no step raises the bound beyond rounding"
			return nil
		}
		a.here, a.trial = a.trial, a.here
	}
}

// stepForeseen tries the step to where the sites of the terms settle as the response has it.
func (a *ascent) stepForeseen() bool {
	if a.drawn != nil || a.rate < 1 {
		return false
	}
	p, residual := &a.here, 0.0
	for i, step := range p.step {
		c := p.variance[i]
		residual = max(residual, math.Abs(step.Tau)*c, math.Abs(step.Nu-step.Tau*p.mean[i])*math.Sqrt(c))
	}
	copy(a.mixed, p.step)
	foreseen := a.response.foresee(proposal{
		rule: Variational{}, seen: a.model.copySeen, covariance: cross(p.q, a.model.Views, &a.ws), mean: p.mean, variance: p.variance,
		sites: p.params, steps: a.mixed, residual: residual, tolerance: a.opt.Tolerance, work: quadrature,
	}, a.nat.P)
	return foreseen && a.try(a.mixed, 1)
}

// stepMixed tries the accelerated step. One that fails says that the memory misleads:
// only the present point is kept of it.
func (a *ascent) stepMixed() bool {
	for i := range a.size {
		a.size[i] = 1
	}
	for i, c := range a.here.variance {
		if c > 0 {
			a.size[i] = c
		}
	}
	copy(a.mixed, a.here.step)
	a.mixer.propose(a.here.params, a.mixed, a.size, a.rate)
	if len(a.mixer.steps) == 1 {
		return false // the plain step
	}
	if a.try(a.mixed, 1) {
		return true
	}
	a.mixer.forget()
	copy(a.mixed, a.here.step)
	a.mixer.propose(a.here.params, a.mixed, a.size, a.rate)
	return false
}

// stepPlain takes the longest of the steps along the natural gradient, halved again
// and again, that the bound allows.
func (a *ascent) stepPlain() bool {
	const least = 1e-6
	for a.rate = min(1, 2*a.rate); a.rate > least; a.rate /= 2 {
		if a.try(a.here.step, a.rate) {
			return true
		}
	}
	return false
}

// try moves the parameters by rate·step and reports whether that is a way up. Where
// the bound can no longer tell, because it is flat to rounding, the residual must
// fall.
func (a *ascent) try(step []gauss.Scalar, rate float64) bool {
	for i, s := range a.here.params {
		a.trial.params[i] = gauss.Scalar{Nu: s.Nu + rate*step[i].Nu, Tau: s.Tau + rate*step[i].Tau}
	}
	if !a.evaluate(&a.trial) {
		return false
	}
	gain, rounding := a.trial.bound-a.here.bound, max(a.here.rounding, a.trial.rounding)
	return gain > rounding || gain >= -rounding && a.trial.residual < a.here.residual
}

func (a *ascent) result() Result {
	n := len(a.model.Terms)
	sites := Sites{Terms: slices.Clone(a.here.params[:n])}
	if a.drawn != nil {
		sites.Utility = gauss.NewNatural(a.model.Dim())
		a.drawn.unpack(a.here.params[n:])
		sites.Utility.CopyFrom(a.drawn.site)
	}
	return gaussian(a.here.q, a.here.bound, sites, a.status)
}
