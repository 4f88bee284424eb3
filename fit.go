package lossep

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

// Fit fits a model to a table of past cases.
//
// Errors are those of Prepare, the context's, and *infer.ImproperError where no
// approximation exists. A run that did not converge is a Model whose Summary says so.
func Fit(ctx context.Context, t *data.Table, o Options) (*Model, error) {
	p, err := PrepareSettled(ctx, t, o)
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
	induced *gp.Induced // set with inducing points, and then the next three are not
	process *gp.Process
	model   *infer.Model
	ep      *infer.Result
	search  *Search // nil if the kernel was fixed

	second []opinion // EP and its corrections, if they were made already
	doubts []string  // about EP, from which other methods start

	// A mixture has parts with weights, and then nothing of the above but the problem.
	parts      []*Learned
	weights    []float64
	candidates []Candidate // that were tried, nil if the kernel was given
}

// Learn finds the hyperparameters that maximise EP's evidence, or keeps them if they
// are fixed, and runs EP with them.
func (p *Problem) Learn(ctx context.Context) (*Learned, error) {
	if p.opt.Induces(p.Len()) {
		return p.induce(ctx)
	}
	if several(p.Recipe) {
		return p.learnSeveral(ctx)
	}
	if p.opt.Kernel == AutoKernel {
		return p.learnAuto(ctx)
	}
	terms := p.opt.Likelihood.terms(p.Labels, p.Weights)
	if !p.opt.Fixed {
		return p.optimise(ctx, terms)
	}
	process, err := gp.New(p.Kernel, p.inputs)
	if err != nil {
		return nil, &InputError{What: "kernel", Msg: err.Error(), Err: err}
	}
	l := &Learned{problem: p, process: process, model: &infer.Model{Views: process.Views(), Terms: terms}}
	p.tell("expectation propagation", 0, 0)
	if l.ep, err = EP.row(p.Len()).Fit(ctx, l.model, p.options()); err != nil {
		return nil, err
	}
	l.doubts = doubtsOf(l.ep.Status)
	return l, nil
}

// doubtsOf are the notes on a run of EP for those who use it.
func doubtsOf(s infer.Status) []string {
	if s.Converged {
		return nil
	}
	return []string{doubtOfEP(s.String())}
}

func doubtOfEP(status string) string { return "EP, whose evidence is reported: " + status }

// searchOptions are those of the search for hyperparameters.
func (p *Problem) searchOptions() gp.Options {
	o := gp.Options{Restarts: p.opt.Restarts, Seed: p.opt.Seed}
	if strings.Contains(p.opt.Kernel, "=") {
		o.Start = p.Kernel.Params(nil)
	}
	o.Progress = func(e gp.Evaluation) {
		p.tell(fmt.Sprintf("searching for the kernel with %d rows", e.Cases), e.Number, e.LogPosterior)
	}
	return o
}

// optimise searches for the hyperparameters.
func (p *Problem) optimise(ctx context.Context, terms []factor.Factor) (*Learned, error) {
	fit, err := gp.Optimise(ctx, p.Kernel, p.inputs, terms, p.searchOptions())
	if err != nil {
		return nil, err
	}
	return p.learned(fit, terms), nil
}

// learned is what a search found.
func (p *Problem) learned(fit *gp.Fit, terms []factor.Factor) *Learned {
	search := newSearch(fit.Evaluations, fit.Stop, fit.LogPrior, fit.Process.Kernel(), fit.AtBound)
	return &Learned{
		problem: p, process: fit.Process, model: &infer.Model{Views: fit.Process.Views(), Terms: terms},
		ep: &fit.EP.Result, search: search, doubts: doubtsOf(fit.EP.Status),
	}
}

// newSearch is how a search ended.
func newSearch(evaluations int, stop gp.Stop, logPrior float64, k kernel.Kernel, atBound []bool) *Search {
	s := &Search{Evaluations: evaluations, Stationary: stop == gp.Stationary, Stop: stop.String(), LogPrior: logPrior}
	for i, name := range k.ParamNames() {
		if atBound[i] {
			s.AtBound = append(s.AtBound, name)
		}
	}
	return s
}

// options are those of all methods: all sites at once, in matrix products.
func (p *Problem) options() infer.Options {
	return infer.Options{Schedule: infer.Parallel, Seed: p.opt.Seed}
}

func (p *Problem) tell(stage string, step int, logEvidence float64) {
	if p.opt.Progress != nil {
		p.opt.Progress(Progress{Stage: stage, Step: step, LogEvidence: logEvidence})
	}
}

// Kernel is the kernel found, of a mixture that with the largest weight.
func (l *Learned) Kernel() kernel.Kernel {
	if l.parts != nil {
		return l.parts[heaviest(l.weights)].Kernel()
	}
	if l.induced != nil {
		return l.induced.Process.Kernel()
	}
	return l.process.Kernel()
}

// Model applies a method. The result does not depend on which methods were applied
// before.
func (l *Learned) Model(ctx context.Context, method Method) (*Model, error) {
	if err := method.check(); err != nil {
		return nil, err
	}
	if l.induced != nil {
		return l.inducedModel(ctx, method)
	}
	if several(l.problem.Recipe) {
		if _, err := l.problem.opt.forSeveral(method, l.problem.Recipe, "", l.problem.Len()); err != nil {
			return nil, err
		}
	}
	if l.parts != nil {
		return l.mixtureModel(ctx, method)
	}
	p := l.problem
	d := method.row(p.Len())
	p.tell(d.Title, 0, l.ep.LogEvidence)
	found, err := l.infer(ctx, d)
	if err != nil {
		return nil, err
	}
	m := &Model{
		recipe: p.Recipe, utility: p.Utility, kernel: l.Kernel(), likelihood: p.opt.Likelihood, method: method,
		x: p.inputs, coding: p.coding, labels: p.Labels, weights: p.Weights,
		ep: l.ep.Sites.Terms, sites: found.Sites.Terms, calibration: found.Calibration(),
		provenance: Provenance{Version: Version, Seed: p.opt.Seed, Rows: p.Len(), Features: p.Recipe.Dim()},
		summary: Summary{
			LogEvidence: l.ep.LogEvidence, Search: l.search,
			Status: newStatus(found.Status), Zero: p.zero, Jitter: l.process.Jitter(),
		},
	}
	if d.Objective != "" {
		m.summary.Objective = &Objective{d.Objective, found.LogEvidence}
	}
	if !isEP(d) {
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

// infer runs a method from the fixed point of EP, which EP itself and what refines it
// have reached.
func (l *Learned) infer(ctx context.Context, d infer.Method) (*infer.Result, error) {
	if isEP(d) {
		return l.ep, nil
	}
	m := l.model
	if d.Calibrated {
		var err error
		if m, err = l.withUtility(); err != nil {
			return nil, err
		}
	}
	o := l.problem.options()
	o.Start = &l.ep.Sites
	return d.Fit(ctx, m, o)
}

// isEP tells whether the sites of a method are those of EP.
func isEP(d infer.Method) bool { return d.Name == string(EP) || d.Refines() }

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
	m.Utility, m.Points = u, l.process.At(rowsOf(p.inputs, rows))
	return &m, nil
}
