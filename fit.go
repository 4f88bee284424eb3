package lossep

import (
	"context"
	"runtime/debug"

	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/search"
)

// Fit finds the kernel and applies the method of the Options.
func (p *Problem) Fit(ctx context.Context) (*Model, error) {
	if p.effects != nil && p.Len() > 10*search.SearchRows {
		// Garbage of steps that each take much of the memory would double what the process has, and as
		// little of it has pointers it is collected in no time.
		defer debug.SetGCPercent(debug.SetGCPercent(10))
	}
	l, err := p.Learn(ctx)
	if err != nil {
		return nil, err
	}
	m, err := l.Model(ctx, p.opt.Method)
	if err == nil {
		m.examples = p.examples.spread(m.by(EP))
	}
	return m, err
}

// Learn finds the hyperparameters that maximise EP's evidence, or keeps them if they
// are fixed, and runs EP with them.
func (p *Problem) Learn(ctx context.Context) (*Learned, error) {
	p = p.ordered()
	if p.opt.Induces(p.Len()) {
		return p.induce(ctx)
	}
	if p.opt.Kernel == AutoKernel {
		return p.learnMixed(ctx)
	}
	if !p.opt.Fixed {
		fit, err := search.Optimise(ctx, p.Kernel, p.X, p.many(), p.searchOptions())
		if err != nil {
			return nil, err
		}
		return p.learned(fit), nil
	}
	cases := p.cases()
	process, err := cases.Process(p.Kernel, p.X, new(gp.Scratch))
	if err != nil {
		return nil, &InputError{What: "kernel", Msg: err.Error(), Err: err}
	}
	l := &full{process: process, model: cases.Model(process)}
	p.tell("expectation propagation", 0, 0)
	if l.ep, err = EP.row(p.Len()).Fit(ctx, l.model, p.options()); err != nil {
		return nil, err
	}
	return &Learned{problem: p, process: l, doubts: doubtsOf(l.ep.Status)}, nil
}
