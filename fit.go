package lossep

import (
	"context"
	"errors"
	"fmt"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/methods"
	"github.com/lossep/lossep/search"
)

// Fit finds the kernel and applies the method of the Options.
func (p *Problem) Fit(ctx context.Context) (*Model, error) {
	l, err := p.Learn(ctx)
	if err != nil {
		return nil, err
	}
	return l.Model(ctx, p.opt.Method)
}

// Learn finds the hyperparameters that maximise EP's evidence, or keeps them if they
// are fixed, and runs EP with them.
func (p *Problem) Learn(ctx context.Context) (*Learned, error) {
	p = p.ordered()
	if p.opt.Induces(p.Len()) {
		return p.induce(ctx)
	}
	if p.opt.Kernel == AutoKernel {
		return p.learnAuto(ctx)
	}
	cases := p.cases()
	if !p.opt.Fixed {
		fit, err := search.Optimise(ctx, p.Kernel, p.X, cases, p.searchOptions())
		if err != nil {
			return nil, err
		}
		return p.learned(fit, cases), nil
	}
	process, err := cases.Process(p.Kernel, p.X, new(gp.Scratch))
	if err != nil {
		return nil, &InputError{What: "kernel", Msg: err.Error(), Err: err}
	}
	l := &Learned{problem: p, process: process, model: cases.Model(process)}
	p.tell("expectation propagation", 0, 0)
	if l.ep, err = EP.row(p.Len()).Fit(ctx, l.model, p.options()); err != nil {
		return nil, err
	}
	l.doubts = doubtsOf(l.ep.Status)
	return l, nil
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
		if err := method.checkSeveral(len(l.problem.Recipe.Target.Outcomes)); err != nil {
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
		x: p.X, coding: p.coding, labels: p.Labels, weights: p.Weights,
		ep: l.ep.Sites.Terms, sites: found.Sites.Terms, calibration: found.Calibration(),
		provenance: Provenance{Version: Version, Seed: p.opt.Seed, Rows: p.Len(), Features: p.Recipe.NumFeatures()},
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
	if err := m.assemble(ctx, l.process, l.second); errors.Is(err, errNoPredictions) {
		return nil, &InputError{What: "kernel", Msg: err.Error(), Err: err}
	} else if err != nil {
		return nil, err
	}
	if m.summary.LeaveOneOut, err = m.leaveOneOut(ctx, p); err != nil {
		return nil, err
	}
	return m, nil
}

// infer runs a method from the fixed point of EP, which EP itself and what refines it
// have reached.
func (l *Learned) infer(ctx context.Context, d methods.Method) (*infer.Result, error) {
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

// withUtility is the model with the utility as one more factor. The points that stand
// for p(x) are new cases with the inputs of training rows, as frequent as these.
func (l *Learned) withUtility() (*infer.Model, error) {
	p := l.problem
	rows, tables, err := p.points()
	if err != nil {
		return nil, err
	}
	if several(p.Recipe) {
		return l.contest(rows, tables)
	}
	u, err := decision.NewUtility(p.opt.Likelihood.outcome(), len(rows), taken(p.Weights, rows), tables...)
	if err != nil {
		return nil, fmt.Errorf("utility: %w", err)
	}
	m := *l.model
	m.Utility, m.Points = u, l.process.At(rowsOf(p.X, rows))
	return &m, nil
}

// mixtureModel applies a method to every part.
func (l *Learned) mixtureModel(ctx context.Context, method Method) (*Model, error) {
	var parts []*Model
	for _, part := range l.parts {
		if need := nextBytes(parts, l.problem.Recipe, l.problem.coding.Len()); len(parts) > 0 && need > float64(l.problem.opt.MaxMemory) {
			return nil, l.problem.tooManyParts(len(l.parts), need)
		}
		m, err := part.Model(ctx, method)
		if err != nil {
			return nil, err
		}
		parts = append(parts, m)
	}
	m := mixed(l.weights, parts, l.candidates, l.sharpness)
	var err error
	if m.summary.LeaveOneOut, err = m.leaveOneOut(ctx, l.problem); err != nil {
		return nil, err
	}
	return m, nil
}
