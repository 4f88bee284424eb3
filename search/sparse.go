package search

import (
	"context"
	"errors"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/pass"
)

// sparse is the evidence of the process approximated with inducing inputs z, which stay where
// they are. The sites stay from one kernel to the next, each a start for the other.
type sparse struct {
	x       *mat.Dense
	terms   gp.Terms
	tuning  tuning
	effects effects.Set      // beside the process
	beside  []effects.Moment // their sums on the rows of x; nil for none, or if these are not in memory
	driver  gp.Driver        // makes passes over x
	z       *mat.Dense
	options pass.Options
	held    bool // the kernel is not going to move: gradients are not asked for
	draft   bool // neither is the evidence
	trace   func(pass.Step)

	engine    gp.Engine    // nil before the first run
	converged *gp.Inducing // the process that the engine's sites have converged for, if any
}

// sparseFit is the process with one kernel and what expectation propagation found for it.
type sparseFit struct {
	process *gp.Inducing
	result  *pass.Result
	log     float64
	slope   []float64
	logs    []float64 // of the hyperparameters of the terms
}

func (e *sparse) rows() int { return e.terms.Len() }

// looser is how much further q may move in the last pass than a single site in the last
// sweep of the full process. A step of q is that of all sites together, the next one is
// several times shorter, and the error of the evidence is half the square of what is left.
const looser = 1000

// finalTolerance is that of a result; see pass.Settings. A pass over more rows than a search looks
// at takes seconds, and a few thousandths of a standard deviation are nothing to log losses.
func finalTolerance(rows int) float64 {
	if rows > SearchRows {
		return 3e-3
	}
	return 1e-5
}

func (e *sparse) converge(ctx context.Context, k kernel.Kernel, logs []float64, _ *point, tolerance float64) (fitted, error) {
	p, err := gp.NewInducing(k, e.z)
	if err != nil {
		return nil, err
	}
	return e.fit(ctx, sparseFit{process: p.With(e.effects).Trained(e.beside), logs: logs[k.NumParams():]}, nil, tolerance)
}

// tune sets the hyperparameters of the terms.
func (e *sparse) tune(logs []float64) {
	if e.tuning.terms != nil {
		e.tuning.terms.Tune(logs)
	}
}

// first is how far the sites have to converge at a first point: where the kernel is held and
// this is the result, for good.
func (e *sparse) first(o *objective, result bool, tolerance float64) float64 {
	if e.held && result {
		return 0
	}
	return o.siteTolerance(1, tolerance)
}

func (e *sparse) refine(ctx context.Context, f fitted, tolerance float64) (fitted, error) {
	c := *f.(*sparseFit)
	return e.fit(ctx, c, c.result, tolerance)
}

// fit lets the sites converge for the process of f, and finds the evidence and its gradient. It
// keeps the gradient with a final result: there is no further step to be taken by
// it, and to find it takes as long as two passes. A final result that does not converge has a
// status that says so: what led to it is not thrown away.
func (e *sparse) fit(ctx context.Context, f sparseFit, before *pass.Result, tolerance float64) (fitted, error) {
	e.tune(f.logs)
	r, err := e.run(ctx, f.process, before, tolerance)
	var open *NotConvergedError
	if err != nil && !(tolerance == 0 && errors.As(err, &open)) {
		return nil, err
	}
	f.result = r
	if e.draft {
		return &f, nil
	}
	var sums *pass.Sums
	if tolerance == 0 || e.held {
		sums, err = e.engine.Look(ctx, r.Q.Naturals(), e.options, nil)
	} else {
		f.slope, sums, err = f.process.EvidenceGradient(ctx, e.engine, r.Q, e.options)
	}
	if err != nil {
		return nil, err
	}
	if f.slope != nil && e.tuning.terms != nil {
		sites, err := e.engine.Sites(ctx)
		if err != nil {
			return nil, err
		}
		f.slope = append(f.slope, e.tuning.slope(f.logs, e.options.Rule, r.Q[0], sites, e.engine.(viewed).Views)...)
	}
	f.log = pass.Objective(e.options.Rule, r.Q, sums.Value)
	sums.Release()
	return &f, nil
}

// run lets the sites converge for a process, for which they may have converged before, to a lower
// tolerance, and came to the result given. With a *NotConvergedError there is
// a result as well.
func (e *sparse) run(ctx context.Context, p *gp.Inducing, before *pass.Result, tolerance float64) (*pass.Result, error) {
	if tolerance *= looser; tolerance == 0 {
		tolerance = finalTolerance(e.rows())
	}
	o := pass.Settings{Rule: e.options.Rule, Sweeps: e.options.Sweeps, Tolerance: tolerance, Ahead: e.rows() > SearchRows, Trace: e.trace, Warm: e.engine != nil}
	if e.converged == p {
		o.From = before
	} else {
		engine, err := e.driver.Drive(p, e.engine)
		if err != nil {
			return nil, err
		}
		e.engine = engine
	}
	e.converged = nil
	r, err := converge(ctx, p, e.engine, e.x, e.terms, o)
	if err != nil {
		return nil, err
	}
	if !r.Status.Converged {
		return r, &NotConvergedError{Kernel: p.Kernel(), Status: r.Status}
	}
	e.converged = p
	return r, nil
}

func (f *sparseFit) kernelOf() kernel.Kernel { return f.process.Kernel() }
func (f *sparseFit) logEvidence() float64    { return f.log }
func (f *sparseFit) sweeps() int             { return f.result.Status.Sweeps }

func (f *sparseFit) gradient(context.Context) ([]float64, error) { return slices.Clone(f.slope), nil }

// fewRows is the number of views, times their dimension, up to which those for which passes do
// not converge are held in memory and visited one by one.
const fewRows = 1 << 22

// converge drives passes over the rows of x to a fixed point. Where they do not converge
// and rows are few, the engine that visits sites one by one, with its double loop, takes
// over.
func converge(ctx context.Context, p *gp.Inducing, e gp.Engine, x *mat.Dense, terms gp.Terms, o pass.Settings) (*pass.Result, error) {
	r, err := pass.Settle(ctx, e, o)
	plain := (o.Rule == nil || o.Rule == infer.Propagation{} || o.Rule == infer.Propagation{Power: 1}) && o.Extra == nil
	_, single := terms.(gp.SingleTerms)
	if err != nil || r.Status.Converged || !plain || !single || terms.Len()*p.Dim() > fewRows {
		return r, err
	}
	all := gp.CasesOf(terms).(gp.Values)
	ep, err := infer.EP{Tolerance: o.Tolerance}.Fit(ctx, &infer.Model{Views: p.At(x), Terms: all.Factors, Counts: all.Counts})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return r, nil // what passes found, with a status that says that it has not converged
	}
	ep.Status.Sweeps += r.Status.Sweeps
	return &pass.Result{Q: gauss.Gaussians{ep.Q}, Status: ep.Status}, e.Put(ctx, ep.Sites.Terms)
}
