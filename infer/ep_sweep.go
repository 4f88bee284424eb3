package infer

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
)

// engine is one run: the sites, the Gaussian they make, and the scratch of a sweep.
type engine struct {
	opt    EP
	model  *Model
	sites  Sites
	saved  Sites // the sites before the sweep under way
	status Status

	damping float64 // δ in force

	tilted         *gauss.Gaussian // q̄, all sites
	mean, variance []float64       // marginals of s_i = a_i·v under q̄
	*room

	proposed []gauss.Scalar // steps of a parallel sweep
	mixer    mixer
	order    []int         // of a sequential sweep
	cov      *mat.SymDense // Σ of q̄, kept current during a sequential sweep
	mu, col  []float64     // mean of q̄, and Σa

	q                   *gauss.Gaussian // the utility's cavity
	points              gauss.Workspace // its own, so that neither is reshaped
	pointMean, pointVar []float64       // its marginals at the points
	lastMean, lastVar   []float64       // the same one visit earlier
	visited             bool            // whether the last sweep came to the utility
	lastVisit           float64         // the utility's step at its last visit
	d1, d2              []float64
	site                *gauss.Natural // the utility site that is proposed
}

func newEngine(o EP, m *Model) *engine {
	o = o.withDefaults()
	n, dim := m.Views.Len(), m.Dim()
	e := &engine{
		opt: o, model: m, damping: o.Damping, lastVisit: math.Inf(1),
		tilted: gauss.NewGaussian(dim), room: enter(dim),
		mean: make([]float64, n), variance: make([]float64, n),
		order: make([]int, n),
		mu:    make([]float64, dim), col: make([]float64, dim),
	}
	for i := range e.order {
		e.order[i] = i
	}
	if o.Schedule == Parallel {
		e.proposed = make([]gauss.Scalar, n)
	}
	e.sites.Terms = make([]gauss.Scalar, n)
	if m.Utility != nil {
		c := m.Points.Len()
		e.sites.Utility = gauss.NewNatural(dim)
		e.sites.Actions = make([]int, c)
		for j := range e.sites.Actions {
			e.sites.Actions[j] = -1
		}
		e.q, e.site = gauss.NewGaussian(dim), gauss.NewNatural(dim)
		e.pointMean, e.pointVar = make([]float64, c), make([]float64, c)
		e.lastMean, e.lastVar = make([]float64, c), make([]float64, c)
		e.d1, e.d2 = make([]float64, c), make([]float64, c)
	}
	if o.Start != nil {
		e.startFrom(o.Start)
	}
	e.saved = e.sites.clone()
	return e
}

// startFrom takes over sites fitted before, of the utility only if both have one. It
// panics when they are of another model.
func (e *engine) startFrom(s *Sites) {
	if len(s.Terms) != len(e.sites.Terms) {
		panic(fmt.Sprintf("infer: %d sites to start from for %d terms", len(s.Terms), len(e.sites.Terms)))
	}
	copy(e.sites.Terms, s.Terms)
	if e.sites.Utility == nil || s.Utility == nil {
		return
	}
	if s.Utility.Dim() != e.model.Dim() || len(s.Actions) != len(e.sites.Actions) {
		panic(fmt.Sprintf("infer: a utility site of %d dimensions and %d actions to start from for %d and %d",
			s.Utility.Dim(), len(s.Actions), e.model.Dim(), len(e.sites.Actions)))
	}
	e.sites.Utility.CopyFrom(s.Utility)
	copy(e.sites.Actions, s.Actions)
}

// start makes the first q̄. Sites to start from that do not give a proper one are
// put aside: starting empty is always possible.
func (e *engine) start() error {
	if e.refresh() == nil {
		return nil
	}
	clear(e.sites.Terms)
	if e.sites.Utility != nil {
		e.sites.Utility.SetZero()
	}
	if err := e.refresh(); err != nil {
		return &ImproperError{Of: "the prior", Status: e.status}
	}
	return nil
}

// refresh computes q̄ and the marginals of all views from the sites, which also
// removes the drift of a sequential sweep. It fails, leaving the sites as they are,
// when q̄ or any cavity is improper.
func (e *engine) refresh() error {
	e.nat.SetPosterior(e.model.Views, e.sites.Terms, &e.ws)
	return e.complete()
}

// complete is refresh when nat already holds the prior and the terms' sites.
func (e *engine) complete() error {
	if e.model.Utility != nil {
		e.nat.Times(e.sites.Utility, 1)
	}
	if err := e.tilted.Exchange(e.nat); err != nil {
		return err
	}
	e.tilted.Marginals(e.model.Views, e.mean, e.variance, &e.ws)
	for i, s := range e.sites.Terms {
		// A view that reads nothing (a = 0) has no marginal to divide.
		if e.variance[i] > 0 && !(1/e.variance[i]-s.Tau > 0) {
			return gauss.ErrImproper
		}
	}
	return nil
}

// projection is what moment matching asks of one site.
type projection struct {
	cavity   gauss.Scalar
	logZ     float64
	site     gauss.Scalar // that matches the moments
	residual float64      // how far the marginal is from them
}

// project deletes site i from its marginal N(m, c0) and matches the moments of the
// cavity times the term. It reports false when the cavity is improper or the
// moments are not finite.
func (e *engine) project(i int, m, c0 float64) (projection, bool) {
	var p projection
	old := e.sites.Terms[i]
	// A view that reads nothing has a constant value; its site stays empty.
	if c0 == 0 {
		p.logZ, _, _ = e.model.Terms[i].LogMean(e.model.Views.Offset(i), e.model.Views.Residual(i))
		p.cavity = gauss.Scalar{Tau: math.Inf(1)}
		return p, !math.IsNaN(p.logZ)
	}
	p.cavity = gauss.ScalarFromMoments(m, c0).Over(old)
	if !p.cavity.Proper() {
		return p, false
	}
	c, mc := p.cavity.Variance(), p.cavity.Mean()
	logZ, g, d2 := e.model.Terms[i].LogMean(mc+e.model.Views.Offset(i), c+e.model.Views.Residual(i))
	eta := -d2
	shrink := 1 - eta*c // variance of the tilted distribution over c
	if !(shrink > 0) || math.IsNaN(logZ) || math.IsInf(logZ, 0) || math.IsInf(g, 0) {
		return p, false
	}
	p.logZ = logZ
	p.site = gauss.Scalar{Nu: (g + eta*mc) / shrink, Tau: eta / shrink}
	p.residual = max(math.Abs(p.site.Tau-old.Tau)*c0, math.Abs(mc+c*g-m)/math.Sqrt(c0))
	return p, !math.IsNaN(p.residual)
}

// damped is the step of size δ from one site to another.
func damped(from, to gauss.Scalar, delta float64) gauss.Scalar {
	return gauss.Scalar{Nu: from.Nu + delta*(to.Nu-from.Nu), Tau: from.Tau + delta*(to.Tau-from.Tau)}
}

// sweep visits every site once: deletion, projection, update; for the utility also
// the selection of actions unless they are held. It returns the residual before
// the updates. When the sites it leads to are improper it takes the sweep back,
// shortens the step and returns +Inf.
//
// One by one, the utility comes last in every sweep. All at once, a visit to it costs
// three times what a sweep of the terms does, so it waits until the terms have
// followed its last update: until their residual is a tenth of that step.
func (e *engine) sweep(hold bool) float64 {
	e.save()
	var residual float64
	var ok bool
	if e.opt.Schedule == Parallel {
		residual, ok = e.sweepParallel()
	} else {
		residual, ok = e.sweepSequential()
	}
	e.visited = e.model.Utility != nil &&
		(e.opt.Schedule == Sequential || residual <= 0.1*e.lastVisit || residual <= e.opt.Tolerance)
	if ok && e.opt.Schedule == Parallel && !e.visited && residual <= e.opt.Tolerance {
		return residual // nothing has moved
	}
	if ok {
		e.nat.SetPosterior(e.model.Views, e.sites.Terms, &e.ws)
	}
	if ok && e.visited {
		r, done := e.visitUtility(hold)
		residual, ok = max(residual, r), done
		e.mixer.forget() // what it remembers was seen under another utility site
	}
	if ok && e.complete() == nil {
		return residual
	}
	e.restore()
	e.mixer.forget()
	e.damping /= 2
	if err := e.refresh(); err != nil {
		panic(err) // the sites before the sweep were proper
	}
	return math.Inf(1)
}

func (e *engine) save() {
	copy(e.saved.Terms, e.sites.Terms)
	if e.sites.Utility != nil {
		e.saved.Utility.CopyFrom(e.sites.Utility)
		copy(e.saved.Actions, e.sites.Actions)
	}
}

func (e *engine) restore() { e.sites, e.saved = e.saved, e.sites }

func (e *engine) sweepParallel() (residual float64, ok bool) {
	for i, s := range e.sites.Terms {
		p, ok := e.project(i, e.mean[i], e.variance[i])
		if !ok {
			return 0, false
		}
		e.proposed[i] = p.site.Over(s)
		residual = max(residual, p.residual)
	}
	if residual <= e.opt.Tolerance {
		return residual, true // what was measured is what is returned
	}
	e.mixer.propose(e.sites.Terms, e.proposed, e.variance, e.damping)
	for i, step := range e.proposed {
		s := &e.sites.Terms[i]
		s.Nu += step.Nu
		s.Tau += step.Tau
	}
	return residual, true
}

// sweepSequential keeps Σ and the mean of q̄ current by one rank-one update for
// each site.
func (e *engine) sweepSequential() (residual float64, ok bool) {
	if e.cov == nil {
		e.cov = mat.NewSymDense(e.model.Dim(), nil)
	}
	e.tilted.Covariance(e.cov)
	copy(e.mu, e.tilted.Mean())
	if e.opt.Rand != nil {
		e.opt.Rand.Shuffle(len(e.order), func(i, j int) { e.order[i], e.order[j] = e.order[j], e.order[i] })
	}
	cov := e.cov.RawSymmetric()
	col := blas64.Vector{N: len(e.col), Inc: 1, Data: e.col}
	for _, i := range e.order {
		a := e.model.Views.Row(i)
		blas64.Symv(1, cov, blas64.Vector{N: len(a), Inc: 1, Data: a}, 0, col)
		c0, m := floats.Dot(a, e.col), floats.Dot(a, e.mu)
		p, ok := e.project(i, m, c0)
		if !ok {
			// The updates so far in this sweep have taken this site's cavity
			// away. It keeps its value; refresh judges the whole sweep.
			residual = math.Inf(1)
			continue
		}
		old := e.sites.Terms[i]
		next := damped(old, p.site, e.damping)
		e.sites.Terms[i] = next
		step := next.Over(old)
		gain := 1 / (1 + step.Tau*c0)
		blas64.Syr(-step.Tau*gain, col, cov)
		floats.AddScaled(e.mu, (step.Nu-step.Tau*m)*gain, e.col)
		residual = max(residual, p.residual)
	}
	return residual, true
}

// settle sweeps with the actions held until the residual is within the tolerance. It halves
// the damping when the residual stops falling. When that does not help, sites that
// were updated all at once are visited one by one, and when that does not help
// either the double loop takes over.
func (e *engine) settle(ctx context.Context) error {
	least := e.opt.Damping / 64
	e.status.Converged, e.status.Reason = false, ""
	// How many sweeps may pass without a new best residual. One by one, sites may
	// take a detour; all at once, they overshoot together and only get worse.
	patience := 12
	if e.opt.Schedule == Parallel {
		patience = 3
	}
	// The residuals of sweeps with and without a visit to the utility say different
	// things, and are watched apart.
	var all, terms progress
	for e.damping >= least {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.status.Sweeps >= e.opt.MaxSweeps {
			e.status.Reason = sweepLimit
			return nil
		}
		residual := e.sweep(true)
		e.record(residual)
		complete := e.visited || e.model.Utility == nil
		if complete && residual <= e.opt.Tolerance {
			e.status.Converged = true
			return nil
		}
		watch := &all
		if !complete {
			watch = &terms
		} else {
			terms = progress{}
		}
		if watch.stalled(residual, patience) {
			e.mixer.forget()
			e.damping /= 2
		}
	}
	e.damping = e.opt.Damping
	if e.opt.Schedule == Parallel {
		e.opt.Schedule = Sequential
		return e.settle(ctx)
	}
	return e.doubleLoop(ctx)
}

// progress watches a residual fall.
type progress struct {
	best  float64 // 0 before the first
	since int
}

// stalled notes a residual, and reports whether so many have come in a row without a
// new best that something has to change; it then starts anew from this one.
func (p *progress) stalled(residual float64, patience int) bool {
	const improvement = 0.95
	if p.best == 0 || residual < improvement*p.best {
		p.best, p.since = residual, 0
		return false
	}
	if p.since++; p.since < patience {
		return false
	}
	p.best, p.since = residual, 0
	return true
}

// record notes the end of a sweep and tells the trace.
func (e *engine) record(residual float64) {
	e.status.Sweeps++
	e.status.Residual = residual
	e.status.Damping = e.damping
	if e.opt.Trace != nil {
		e.opt.Trace(Sweep{Number: e.status.Sweeps, Residual: residual, Damping: e.damping, Actions: e.sites.Actions})
	}
}
