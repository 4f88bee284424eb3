// Package methods is the table of methods of inference. Whoever offers methods, names them,
// runs them or draws them takes them from there.
package methods

import (
	"context"
	"errors"
	"slices"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/corrected"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/nuts"
)

// Method is a row of the table.
type Method struct {
	Name  string `json:"name"`  // in data, options and files
	Label string `json:"label"` // in print
	Title string `json:"title"` // in full
	About string `json:"about"` // in words for those who know none of the others

	// Of names the method that this one builds on: its sibling that knows of no utility,
	// or the one whose posterior it refines. Empty for others.
	Of string `json:"of,omitempty"`
	// Calibrated methods need a utility, and their posterior depends on it. The others
	// leave it aside.
	Calibrated bool `json:"calibrated"`
	// Exact methods are the truth, but for the error that they state.
	Exact bool `json:"exact"`
	// Bound says that LogEvidence is a lower bound.
	Bound bool `json:"bound"`
	// Objective is what LogEvidence is where it is not the evidence by EP.
	Objective string `json:"-"`
	// Kept methods leave sites behind that a file can keep, and answer quickly: models
	// of rows are fitted by them.
	Kept bool `json:"-"`
	// Paper methods are those that the paper compares.
	Paper bool `json:"-"`
	// Rule is by what the method replaces terms in passes over many rows (package pass); nil
	// where it cannot be had by passes.
	Rule infer.Rule `json:"-"`
	// Matrices is how many matrices of n×n numbers a fit to n rows takes at its largest,
	// measured with 1000 and 2000 rows, for methods that models are fitted by.
	Matrices int `json:"-"`

	// One of these is set.
	fit    func(context.Context, *infer.Model, Options) (*infer.Result, error)
	refine func(*infer.Model, *infer.Result) infer.Posterior
}

// table is in the order of print.
var table = []Method{
	{
		Name: "exact", Label: "Exact", Title: "the exact posterior",
		About: "the true answer, by enumeration or many independent draws",
		Exact: true, Paper: true, fit: fitExact,
	},
	{
		Name: "corrected", Label: "Corrected", Title: "EP with marginal corrections",
		About: "EP, with the shape it misses put back at each point",
		Of:    "ep", Kept: true, Matrices: 12,
		refine: func(m *infer.Model, r *infer.Result) infer.Posterior {
			return corrected.New(m, r, corrected.Factorised)
		},
	},
	{
		Name: "ep", Label: "EP", Title: "expectation propagation",
		About: "expectation propagation: one bell curve fitted to the data",
		Kept:  true, Matrices: 12, Rule: infer.Propagation{}, Paper: true, fit: fitEP,
	},
	{
		Name: "loss-ep", Label: "Loss-EP", Title: "loss-calibrated expectation propagation",
		About: "expectation propagation that also knows what mistakes cost",
		Of:    "ep", Calibrated: true, Objective: "log evidence times expected utility",
		Kept: true, Matrices: 18, Rule: infer.Propagation{}, Paper: true, fit: fitEP,
	},
	{
		Name: "vi", Label: "VI", Title: "variational inference",
		About: "variational inference: one bell curve, prone to overconfidence",
		Bound: true, Objective: "lower bound on the log evidence",
		Kept: true, Matrices: 12, Rule: infer.Variational{}, Paper: true, fit: fitVI,
	},
	{
		Name: "loss-vi", Label: "Loss-VI", Title: "loss-calibrated variational inference",
		About: "variational inference that also knows what mistakes cost",
		Of:    "vi", Calibrated: true, Bound: true, Objective: "calibrated lower bound",
		Kept: true, Matrices: 40, Rule: infer.Variational{}, Paper: true, fit: fitLossVI,
	},
	{
		Name: "laplace", Label: "Laplace", Title: "Laplace approximation",
		About:     "one bell curve at the most probable state",
		Objective: "log evidence by Laplace", Kept: true, Matrices: 12, Rule: infer.Curvature{}, fit: fitLaplace,
	},
	{
		Name: "nuts", Label: "NUTS", Title: "the No-U-Turn sampler",
		About: "draws from chains that wander through the posterior", fit: fitNUTS,
	},
	{
		Name: "evidence", Label: "Evidence", Title: "expectation propagation for every question anew",
		About: "EP, run again for each answer", Of: "ep", refine: func(m *infer.Model, r *infer.Result) infer.Posterior { return corrected.NewEvidence(m, r) },
	},
	{
		Name: "paired", Label: "Paired", Title: "EP with pairwise marginal corrections",
		About: "EP, corrected for pairs of cases too", Of: "ep", Matrices: 12,
		refine: func(m *infer.Model, r *infer.Result) infer.Posterior { return corrected.New(m, r, corrected.Paired) },
	},
}

// List is the rows of the table that keep asks for, in its order; nil asks for all.
func List(keep func(Method) bool) []Method {
	return slices.DeleteFunc(slices.Clone(table), func(d Method) bool { return keep != nil && !keep(d) })
}

// Named is the row of that name.
func Named(name string) (Method, bool) {
	i := slices.IndexFunc(table, func(d Method) bool { return d.Name == name })
	if i < 0 {
		return Method{}, false
	}
	return table[i], true
}

// Options are what can be said about a run whatever the method is, which takes of them
// what it has a use for. Zero values stand for the method's own.
type Options struct {
	Start     *infer.Sites   // to start from
	Schedule  infer.Schedule // of EP
	Damping   float64        // of EP
	Tolerance float64        // at which a run has settled
	MaxSweeps int            // sweeps, or iterations, that bound the work
	Draws     int
	Warmup    int // of chains
	Seed      uint64
}

// Fit runs the method on the model. Errors are those of the method itself, and an
// *UnsupportedError where it is not made for the model.
func (d Method) Fit(ctx context.Context, m *infer.Model, o Options) (*infer.Result, error) {
	switch {
	case d.Calibrated && m.Utility == nil:
		return nil, &infer.UnsupportedError{Method: d.Label, Reason: "it is calibrated to a utility, and the model has none"}
	case !d.Calibrated && m.Utility != nil:
		m = m.Plain()
	}
	if !d.Refines() {
		return d.fit(ctx, m, o)
	}
	of, _ := Named(d.Of)
	r, err := of.Fit(ctx, m, o)
	if err != nil {
		return nil, err
	}
	return d.Refine(m, r), nil
}

// Refines tells whether the method changes nothing of another, Of, but how its posterior
// answers.
func (d Method) Refines() bool { return d.refine != nil }

// Refine is what the method makes of a result of the method that it refines.
func (d Method) Refine(m *infer.Model, r *infer.Result) *infer.Result {
	refined := *r
	refined.Posterior = d.refine(m, r)
	return &refined
}

// fitEP runs EP, or Loss-EP where the model has a utility.
func fitEP(ctx context.Context, m *infer.Model, o Options) (*infer.Result, error) {
	r, err := infer.EP{Schedule: o.Schedule, Damping: o.Damping, Tolerance: o.Tolerance, MaxSweeps: o.MaxSweeps, Start: o.Start}.Fit(ctx, m)
	if err != nil {
		return nil, err
	}
	return &r.Result, nil
}

func (o Options) vi() infer.VI {
	return infer.VI{Tolerance: o.Tolerance, MaxIterations: o.MaxSweeps, Start: o.Start}
}

func fitVI(ctx context.Context, m *infer.Model, o Options) (*infer.Result, error) {
	return o.vi().Fit(ctx, m)
}

func fitLossVI(ctx context.Context, m *infer.Model, o Options) (*infer.Result, error) {
	r, err := infer.LossVI{VI: o.vi(), Draws: o.Draws, Seed: o.Seed}.Fit(ctx, m)
	if err != nil {
		return nil, err
	}
	return &r.Result, nil
}

func fitLaplace(ctx context.Context, m *infer.Model, o Options) (*infer.Result, error) {
	return infer.Laplace{Tolerance: o.Tolerance, MaxIterations: o.MaxSweeps}.Fit(ctx, m)
}

// fitExact is the exact answer made for the model: regression, enumeration, quadrature or independent
// draws.
func fitExact(ctx context.Context, m *infer.Model, o Options) (*infer.Result, error) {
	if regression(m) { // of which EP's fixed point is the posterior
		return fitEP(ctx, m, o)
	}
	if m.Dim() == 1 {
		r, err := exact.Mixture{}.Fit(ctx, m)
		if err == nil {
			return &r.Result, nil
		}
		if unsupported := new(infer.UnsupportedError); !errors.As(err, &unsupported) {
			return nil, err
		}
	}
	if m.Dim() <= 2 {
		return exact.Grid{Tolerance: o.Tolerance}.Fit(ctx, m)
	}
	r, err := exact.Sampler{Draws: o.Draws, Seed: o.Seed}.Fit(ctx, m)
	if err != nil {
		return nil, err
	}
	return &r.Result, nil
}

// regression tells whether all terms are normal.
func regression(m *infer.Model) bool {
	return len(m.Terms) > 0 && !slices.ContainsFunc(m.Terms, func(t factor.Factor) bool { _, ok := t.(factor.Gaussian); return !ok })
}

func fitNUTS(ctx context.Context, m *infer.Model, o Options) (*infer.Result, error) {
	r, err := exact.NUTS{Options: nuts.Options{Draws: o.Draws, Warmup: o.Warmup, Seed: o.Seed}}.Fit(ctx, m)
	if err != nil {
		return nil, err
	}
	return &r.Result, nil
}
