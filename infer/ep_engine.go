package infer

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
)

// engine is one run: the sites, the Gaussian they make, and the scratch of a sweep.
type engine struct {
	opt    EP
	rule   Propagation
	model  *Model
	sites  Sites
	saved  Sites // the sites before the sweep under way
	status Status

	damping float64 // δ in force

	tilted         *gauss.Gaussian // q̄, all sites
	mean, variance []float64       // marginals of s_i = a_i·v under q̄
	*scratch
	ws *gauss.Workspace // of the caller, or the scratch's

	proposed []gauss.Scalar // steps of a parallel sweep
	mixer    mixer
	order    []int         // of a sweep
	cov      *mat.SymDense // Σ of q̄, kept current during a sequential sweep
	mu, col  []float64     // mean of q̄, and Σa

	q                   *gauss.Gaussian // the utility's cavity
	points              gauss.Workspace // its own, so that neither is reshaped
	pointMean, pointVar []float64       // its marginals at the points
	lastMean, lastVar   []float64       // the same one visit earlier
	visited             bool            // whether the last sweep came to the utility
	lastVisit           float64         // the utility's step at its last visit
	block               int             // views of each point, whose variances are matrices
	d1, d2              []float64
	site                *gauss.Natural // the utility site that is proposed
}

func newEngine(o EP, m *Model) *engine {
	o = o.withDefaults()
	n, dim := m.Views.Len(), m.Dim()
	e := &engine{
		opt: o, model: m, damping: o.Damping, lastVisit: math.Inf(1),
		tilted: gauss.NewGaussian(dim), scratch: newScratch(dim),
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
		e.block = factor.ViewsOf(m.Utility)
		e.sites.Utility = gauss.NewNatural(dim)
		e.sites.Actions = make([]int, c/e.block)
		for j := range e.sites.Actions {
			e.sites.Actions[j] = -1
		}
		e.q, e.site = gauss.NewGaussian(dim), gauss.NewNatural(dim)
		e.pointMean, e.pointVar = make([]float64, c), make([]float64, c*e.block)
		e.lastMean, e.lastVar = make([]float64, c), make([]float64, c*e.block)
		e.d1, e.d2 = make([]float64, c), make([]float64, c*e.block)
	}
	if e.ws = o.Workspace; e.ws == nil {
		e.ws = &e.scratch.ws
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
	e.nat.SetPosterior(e.model.Views, e.sites.Terms, e.ws)
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
	e.tilted.Marginals(e.model.Views, e.mean, e.variance, e.ws)
	for i, s := range e.sites.Terms {
		// A view that reads nothing (a = 0) has no marginal to divide.
		at := e.model.copySeen(i, e.mean[i], e.variance[i], e.sites.Terms)
		if at.Variance > 0 && !(1/at.Variance-e.rule.Share(at.Count)*s.Tau > 0) {
			return gauss.ErrImproper
		}
	}
	return nil
}
