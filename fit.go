package lossep

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

// Fit fits a model to a table of past cases.
//
// Errors are those of Prepare, the context's, and *infer.ImproperError where no
// approximation exists. A run that did not converge is a Model whose Summary says so.
func Fit(ctx context.Context, t *data.Table, o Options) (*Model, error) {
	p, err := Prepare(t, o)
	if err != nil {
		return nil, err
	}
	return p.Fit(ctx)
}

// Fit finds the kernel and applies the method of the Options.
func (p *Problem) Fit(ctx context.Context) (*Model, error) {
	l, err := p.Learn(ctx)
	if err != nil {
		return nil, err
	}
	return l.Model(ctx, p.opt.Method)
}

// Learned is a problem with its kernel found. All methods can be applied to it, so
// that they differ in nothing else.
type Learned struct {
	problem *Problem
	process *gp.Process
	model   *infer.Model
	ep      *infer.EPResult
	search  *Search // nil if the kernel was fixed

	second []opinion // EP and its corrections, if they were made already
	doubts []string  // about EP, from which other methods start
}

// Learn finds the hyperparameters that maximise EP's evidence, or keeps them if they
// are fixed, and runs EP with them.
func (p *Problem) Learn(ctx context.Context) (*Learned, error) {
	terms := p.opt.Likelihood.terms(p.Labels)
	if !p.opt.Fixed {
		return p.optimise(ctx, terms)
	}
	process, err := gp.New(p.Kernel, p.X)
	if err != nil {
		return nil, &InputError{What: "kernel", Msg: err.Error(), Err: err}
	}
	l := &Learned{problem: p, process: process, model: &infer.Model{Views: process.Views(), Terms: terms}}
	p.tell("expectation propagation", 0, 0)
	if l.ep, err = p.engine().Fit(ctx, l.model); err != nil {
		return nil, err
	}
	l.doubts = doubtsOf(l.ep)
	return l, nil
}

// doubtsOf are the notes on a run of EP for those who use it.
func doubtsOf(r *infer.EPResult) []string {
	if r.Status.Converged {
		return nil
	}
	return []string{doubtOfEP(r.Status.String())}
}

func doubtOfEP(status string) string { return "EP, whose evidence is reported: " + status }

// optimise searches for the hyperparameters.
func (p *Problem) optimise(ctx context.Context, terms []factor.Factor) (*Learned, error) {
	o := gp.Options{Restarts: p.opt.Restarts, Seed: p.opt.Seed}
	if strings.Contains(p.opt.Kernel, "=") {
		o.Start = p.Kernel.Params(nil)
	}
	o.Progress = func(e gp.Evaluation) {
		p.tell(fmt.Sprintf("searching for the kernel with %d rows", e.Cases), e.Number, e.LogPosterior)
	}
	fit, err := gp.Optimise(ctx, p.Kernel, p.X, terms, o)
	if err != nil {
		return nil, err
	}
	search := &Search{Evaluations: fit.Evaluations, Stationary: fit.Stop == gp.Stationary, Stop: fit.Stop.String(), LogPrior: fit.LogPrior}
	for k, name := range fit.Process.Kernel().ParamNames() {
		if fit.AtBound[k] {
			search.AtBound = append(search.AtBound, name)
		}
	}
	return &Learned{
		problem: p, process: fit.Process, model: &infer.Model{Views: fit.Process.Views(), Terms: terms},
		ep: fit.EP, search: search, doubts: doubtsOf(fit.EP),
	}, nil
}

// engine is expectation propagation as it is used on all problems: all sites at once,
// in matrix products.
func (p *Problem) engine() infer.EP { return infer.EP{Schedule: infer.Parallel} }

func (p *Problem) tell(stage string, step int, logEvidence float64) {
	if p.opt.Progress != nil {
		p.opt.Progress(Progress{stage, step, logEvidence})
	}
}

// Kernel is the kernel found.
func (l *Learned) Kernel() kernel.Kernel { return l.process.Kernel() }

// Model applies a method. The result does not depend on which methods were applied
// before.
func (l *Learned) Model(ctx context.Context, method Method) (*Model, error) {
	if err := method.check(); err != nil {
		return nil, err
	}
	p := l.problem
	p.tell(method.describe(p.Len()), 0, l.ep.LogEvidence)
	found, err := l.infer(ctx, method)
	if err != nil {
		return nil, err
	}
	m := &Model{
		recipe: p.Recipe, utility: p.Utility, kernel: l.Kernel(), likelihood: p.opt.Likelihood, method: method,
		x: p.X, labels: p.Labels,
		ep: l.ep.Sites.Terms, sites: found.sites, calibration: found.calibration,
		provenance: Provenance{Version: Version, Seed: p.opt.Seed, Rows: p.Len(), Features: p.Recipe.Dim()},
		summary: Summary{
			LogEvidence: l.ep.LogEvidence, Objective: found.objective, Search: l.search,
			Status: newStatus(found.status), Jitter: l.process.Jitter(),
		},
	}
	if method != EP && method != Corrected {
		m.summary.Status.Notes = l.doubts
	}
	if err := m.assemble(l.process, l.second); errors.Is(err, errNoPredictions) {
		return nil, &InputError{What: "kernel", Msg: err.Error(), Err: err}
	} else if err != nil {
		return nil, err
	}
	m.summary.LeaveOneOut = m.leaveOneOut(p)
	return m, nil
}

// inferred is what a method leaves behind: everything that is needed to make its
// Gaussian again.
type inferred struct {
	sites       []gauss.Scalar
	calibration *gauss.Natural // what a calibrated VI adds to them
	objective   *Objective
	status      infer.Status
}

func (l *Learned) infer(ctx context.Context, method Method) (*inferred, error) {
	switch method {
	case LossEP:
		return l.lossEP(ctx)
	case VI:
		r, err := infer.VI{Start: &l.ep.Sites}.Fit(ctx, l.model)
		if err != nil {
			return nil, err
		}
		return &inferred{sites: r.Sites.Terms, objective: &Objective{"lower bound on the log evidence", r.Bound}, status: r.Status}, nil
	case LossVI:
		return l.lossVI(ctx)
	case Laplace:
		r, err := infer.Laplace{}.Fit(ctx, l.model)
		if err != nil {
			return nil, err
		}
		return &inferred{sites: curvatureSites(l.model, r.Q.Mean()), objective: &Objective{"log evidence by Laplace", r.LogEvidence}, status: r.Status}, nil
	}
	return &inferred{sites: l.ep.Sites.Terms, status: l.ep.Status}, nil
}

// lossEP starts from the fixed point of EP. Its q, with which decisions are made, has
// likelihood sites only.
func (l *Learned) lossEP(ctx context.Context) (*inferred, error) {
	m, err := l.withUtility()
	if err != nil {
		return nil, err
	}
	engine := l.problem.engine()
	engine.Start = &l.ep.Sites
	r, err := engine.Fit(ctx, m)
	if err != nil {
		return nil, err
	}
	return &inferred{sites: r.Sites.Terms, objective: &Objective{"log evidence times expected utility", r.LogEvidence}, status: r.Status}, nil
}

func (l *Learned) lossVI(ctx context.Context) (*inferred, error) {
	m, err := l.withUtility()
	if err != nil {
		return nil, err
	}
	r, err := infer.LossVI{VI: infer.VI{Start: &l.ep.Sites}, Seed: l.problem.opt.Seed}.Fit(ctx, m)
	if err != nil {
		return nil, err
	}
	return &inferred{
		sites: r.Sites.Terms, calibration: r.Sites.Utility,
		objective: &Objective{"calibrated lower bound", r.Bound}, status: r.Status,
	}, nil
}

// withUtility is the model with the utility as one more factor. The points that stand
// for p(x) are new cases with the inputs of training rows.
func (l *Learned) withUtility() (*infer.Model, error) {
	p := l.problem
	rows, tables, err := p.points()
	if err != nil {
		return nil, err
	}
	u, err := decision.NewUtility(p.opt.Likelihood.outcome(), len(rows), nil, tables...)
	if err != nil {
		return nil, fmt.Errorf("utility: %w", err)
	}
	m := *l.model
	m.Utility, m.Points = u, l.process.At(rowsOf(p.X, rows))
	return &m, nil
}

// curvatureSites are the sites of a Gaussian at the mode of a posterior: with s the
// values there, τ = −(log t)″ and ν = (log t)′ + τs, so that the mean is at the mode
// because the gradient vanishes there.
func curvatureSites(m *infer.Model, mode []float64) []gauss.Scalar {
	sites := make([]gauss.Scalar, len(m.Terms))
	for i, t := range m.Terms {
		s := floats.Dot(m.Views.Row(i), mode)
		_, d1, d2 := t.LogMean(s+m.Views.Offset(i), m.Views.Residual(i))
		sites[i] = gauss.Scalar{Nu: d1 - d2*s, Tau: -d2}
	}
	return sites
}
