package infer

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/lossep/lossep/gauss"
)

// Schedule is the order in which expectation propagation visits the sites of a
// sweep.
type Schedule int

const (
	// Sequential visits sites one by one, each seeing the update of the one
	// before: the paper's Algorithm 1. One sweep takes 4NM² operations at the
	// speed of memory.
	Sequential Schedule = iota
	// Parallel updates all sites from one posterior. A sweep takes fewer
	// operations, N·M² to 2⅓·N·M², and all of them in matrix products; it suits
	// large models.
	Parallel
)

// EP is expectation propagation, and Loss-EP when the model has a utility. The
// zero value is ready to use.
type EP struct {
	Schedule Schedule
	// Damping is δ in site ← (1−δ)·site + δ·update, at most 1. Zero stands for 1,
	// no damping. It is shortened further by itself where a step would fail.
	Damping float64
	// Tolerance is the residual at which the sites have settled; 0 stands for
	// 1e-9. See Status.Residual.
	Tolerance float64
	// MaxSweeps bounds the work; 0 stands for 2000.
	MaxSweeps int
	// Rand, if set, draws a new order of the sites for every sequential sweep.
	// Without it they are visited in the order of the views.
	Rand *rand.Rand
	// Start are the sites to start from; nil stands for empty sites.
	Start *Sites
	// Workspace, if set, is used in place of one of the run's own. Afterwards it holds what
	// the views read of the posterior, so that what is asked of both next comes cheaper.
	Workspace *gauss.Workspace
	// Trace, if set, is called after every sweep.
	Trace func(Sweep)
}

// Sweep is what Trace is called with.
type Sweep struct {
	Number   int
	Residual float64
	Damping  float64
	Actions  []int // of a Loss-EP run; must not be kept or changed
}

// EPResult is what expectation propagation found. With its Q predictions and decisions
// are made; its LogEvidence includes the utility where there is one.
type EPResult struct {
	Result
	// Cavities are the marginals of s_i without the i-th term, however often it counts.
	// Without a utility that is the leave-one-out posterior.
	Cavities []gauss.Scalar
	// LogPredictive is log E t_i under the cavity of i: the leave-one-out log predictive
	// density of each term, counted once. NaN where the cavity is not proper, as may be
	// that of a term that counts more than once.
	LogPredictive []float64
}

// Fit runs expectation propagation on the model.
//
// The error is non-nil only when the context ends or no proper approximation
// exists to be returned; a run that did not converge is returned with a Status that
// says so.
func (o EP) Fit(ctx context.Context, m *Model) (*EPResult, error) {
	m.Check()
	if m.Utility == nil {
		return o.run(ctx, m, (*engine).settle)
	}
	r, err := o.run(ctx, m, (*engine).decide)
	if ctx.Err() != nil || err == nil && (r.Status.Converged || r.Status.Sweeps >= o.withDefaults().MaxSweeps) {
		return r, err
	}
	// From empty sites the utility meets the bare prior, and a strong one can lead
	// the sites astray. The fixed point without it is a start nearer to the end.
	first, plainErr := o.run(ctx, m.Plain(), (*engine).settle)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if plainErr != nil {
		return r, err
	}
	o.Start = &first.Sites
	again, againErr := o.run(ctx, m, (*engine).decide)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if againErr != nil {
		return r, err
	}
	again.Status.Sweeps += first.Status.Sweeps
	if r != nil {
		again.Status.Sweeps += r.Status.Sweeps
	}
	return again, nil
}

// run is one attempt from one start.
func (o EP) run(ctx context.Context, m *Model, loop func(*engine, context.Context) error) (*EPResult, error) {
	e := newEngine(o, m)
	defer e.release()
	if err := e.start(); err != nil {
		return nil, err
	}
	if err := loop(e, ctx); err != nil {
		return nil, err
	}
	return e.result()
}

// withDefaults panics on a damping that is none.
func (o EP) withDefaults() EP {
	if !(o.Damping >= 0 && o.Damping <= 1) {
		panic(fmt.Sprintf("infer: a damping of %v; it lies between 0 and 1", o.Damping))
	}
	if o.Damping == 0 {
		o.Damping = 1
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-9
	}
	if o.MaxSweeps == 0 {
		o.MaxSweeps = 2000
	}
	return o
}

// result collects what the engine holds, and the evidence:
// log Z_EP = A(q) + log Z_ℓ + Σ_i [log Z_i − A_i + A_i\], where A(q) is the
// log-partition of the utility's cavity; without a utility q = q̄ and log Z_ℓ = 0.
func (e *engine) result() (*EPResult, error) {
	r := &EPResult{
		Result:        gaussian(e.tilted, 0, e.sites.clone(), e.status),
		Cavities:      make([]gauss.Scalar, len(e.model.Terms)),
		LogPredictive: make([]float64, len(e.model.Terms)),
	}
	r.Tilted = e.tilted
	if e.model.Utility != nil {
		if !e.deleteUtility() {
			return nil, &ImproperError{Of: "q", Status: e.status}
		}
		r.Q, r.Posterior = e.q, Gaussian{e.q}
		r.LogEvidence += e.model.Utility.LogMean(e.sites.Actions, e.pointMean, e.pointVar, e.d1, e.d2)
	}
	r.LogEvidence += r.Q.LogPartition() + e.model.copies(e.sites.Terms)
	for i, t := range e.model.Terms {
		at := marginal{e.mean[i], e.variance[i]}
		p, ok := e.project(i, at)
		if !ok {
			return nil, &ImproperError{Of: "a cavity", Status: e.status}
		}
		r.LogEvidence += p.Value
		r.Cavities[i] = e.without(i, at)
		r.LogPredictive[i] = math.NaN()
		if mean, variance, ok := moments(r.Cavities[i]); ok {
			r.LogPredictive[i], _, _ = t.LogMean(mean+e.model.Views.Offset(i), variance+e.model.Views.Residual(i))
		}
	}
	if math.IsNaN(r.LogEvidence) || math.IsInf(r.LogEvidence, 0) {
		return nil, &ImproperError{Of: "the evidence", Status: e.status}
	}
	return r, nil
}

// without is the marginal of the i-th view without its site; of a copy, where cases with a
// shared noise have them.
func (e *engine) without(i int, at marginal) gauss.Scalar {
	old := e.sites.Terms[i]
	cavity := at.without(old)
	if e.model.Shared == 0 || e.model.Count(i) == 1 || !cavity.Proper() {
		return cavity
	}
	e.sites.Terms[i] = gauss.Scalar{}
	t := e.model.copySeen(i, cavity.Mean(), cavity.Variance(), e.sites.Terms)
	e.sites.Terms[i] = old
	return gauss.ScalarFromMoments(t.Mean, t.Variance)
}

// without is the marginal without a site. A view that reads nothing has a constant value.
func (at marginal) without(s gauss.Scalar) gauss.Scalar {
	if at.variance == 0 {
		return gauss.Scalar{Tau: math.Inf(1)}
	}
	return gauss.ScalarFromMoments(at.mean, at.variance).Over(s)
}

// moments are those of a marginal, if it is one.
func moments(c gauss.Scalar) (mean, variance float64, ok bool) {
	if math.IsInf(c.Tau, 1) {
		return 0, 0, true
	}
	return c.Mean(), c.Variance(), c.Proper()
}
