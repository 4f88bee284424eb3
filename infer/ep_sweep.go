package infer

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
)

// algorithm1 is one sweep of Algorithm 1 of the paper, Loss-EP: every site in turn is
// deleted from q̄, the Gaussian that all sites make; what its factor makes of the rest is
// projected onto a Gaussian; and the site is updated to what that asks for. The last site
// stands for the utility, whose actions are selected before its projection unless they
// are held. Without a utility it is a sweep of expectation propagation.
//
// It returns the residual before the updates, and false if the sites it leads to are
// improper. What follows from either is decided in ep_settle.go; the order of the sites
// and whether each sees the update of the one before are the business of visiting.
func (e *engine) algorithm1(hold bool) (residual float64, ok bool) {
	visit := e.begin()
	for _, i := range e.order {
		at := visit.marginal(i)
		// Deletion and projection.
		next, ok := e.project(i, at)
		if !ok && visit.skip() {
			residual = math.Inf(1)
			continue
		} else if !ok {
			return 0, false
		}
		// Update.
		visit.update(i, at, next.Site)
		residual = max(residual, next.Residual)
	}
	moved := visit.end(residual)
	if e.visited = e.utilityIsDue(residual); !e.visited {
		return residual, !moved || e.refresh() == nil
	}
	// Deletion: what is left is q, with which predictions and decisions are made.
	if !e.deleteUtility() {
		return 0, false
	}
	// Action selection.
	if !hold {
		e.selectActions()
	}
	// Projection.
	if !e.projectUtility() {
		return 0, false
	}
	// Update.
	residual = max(residual, e.updateUtility())
	return residual, e.complete() == nil
}

// marginal is N(mean, variance), of s_i = a_i·v.
type marginal struct{ mean, variance float64 }

// project is what the rule asks of site i.
func (e *engine) project(i int, at marginal) (Projection, bool) {
	return e.rule.Project(e.model.copySeen(i, at.mean, at.variance, e.sites.Terms), e.sites.Terms[i])
}

// visiting is a Schedule at work: how a sweep goes through the sites of the terms.
type visiting interface {
	// marginal is that of s_i under q̄, as far as the sweep has come.
	marginal(i int) marginal
	// skip tells whether a site that has no projection may keep its value while the sweep
	// goes on.
	skip() bool
	// update moves site i, of that marginal, towards another value.
	update(i int, at marginal, to gauss.Scalar)
	// end ends the sweep, and reports whether any site has moved.
	end(residual float64) bool
}

// begin makes ready for a sweep.
func (e *engine) begin() visiting {
	if e.opt.Schedule == Parallel {
		return allAtOnce{e}
	}
	if e.cov == nil {
		e.cov = mat.NewSymDense(e.model.Dim(), nil)
	}
	e.tilted.Covariance(e.cov)
	copy(e.mu, e.tilted.Mean())
	if e.opt.Rand != nil {
		e.opt.Rand.Shuffle(len(e.order), func(i, j int) { e.order[i], e.order[j] = e.order[j], e.order[i] })
	}
	return oneByOne{e}
}

// oneByOne is the paper's schedule: it keeps Σ and the mean of q̄ current by one rank-one
// update for each site.
type oneByOne struct{ *engine }

func (e oneByOne) marginal(i int) marginal {
	a := e.model.Views.Row(i)
	blas64.Symv(1, e.cov.RawSymmetric(), column(a), 0, column(e.col))
	return marginal{floats.Dot(a, e.mu), floats.Dot(a, e.col)}
}

// Updates earlier in the sweep may have taken the cavity of a site away; the whole sweep
// is judged at its end.
func (oneByOne) skip() bool { return true }

func (e oneByOne) update(i int, at marginal, to gauss.Scalar) {
	old := e.sites.Terms[i]
	next := old.Towards(to, e.damping)
	e.sites.Terms[i] = next
	step := next.Over(old)
	gain := 1 / (1 + step.Tau*at.variance)
	blas64.Syr(-step.Tau*gain, column(e.col), e.cov.RawSymmetric())
	floats.AddScaled(e.mu, (step.Nu-step.Tau*at.mean)*gain, e.col)
}

func (oneByOne) end(float64) bool { return true }

// allAtOnce updates all sites from one posterior, by an accelerated step.
type allAtOnce struct{ *engine }

func (e allAtOnce) marginal(i int) marginal { return marginal{e.mean[i], e.variance[i]} }

func (allAtOnce) skip() bool { return false }

func (e allAtOnce) update(i int, _ marginal, to gauss.Scalar) {
	e.proposed[i] = to.Over(e.sites.Terms[i])
}

func (e allAtOnce) end(residual float64) bool {
	if residual <= e.opt.Tolerance {
		return false // what was measured is what is returned
	}
	// Where sweeps have run into trouble before, shorter steps are due. Natural parameters of
	// the sweep before are of no more use.
	foreseen := e.damping == 1 && e.response.foresee(proposal{
		rule: e.rule, seen: e.model.copySeen, covariance: cross(e.tilted, e.model.Views, e.ws), mean: e.mean, variance: e.variance,
		sites: e.sites.Terms, steps: e.proposed, residual: residual, tolerance: e.opt.Tolerance,
	}, e.nat.P)
	if !foreseen {
		e.mixer.propose(e.sites.Terms, e.proposed, e.variance, e.damping)
	}
	for i, step := range e.proposed {
		s := &e.sites.Terms[i]
		s.Nu += step.Nu
		s.Tau += step.Tau
	}
	return true
}
