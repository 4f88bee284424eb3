package lossep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/search"
)

// Calibrate is the model with expectation propagation calibrated to a specification
// that is bound to the model's outcomes (see Model.Bind); nil stands for the model's
// own. It keeps the kernel and starts from the sites of EP, so that it is what Fit
// would find by LossEP with the same kernel, in a few sweeps. The model itself stays as
// it is, and the result shares what it can with it.
//
// Costs that name columns need those of the training rows. A model knows numeric columns that make
// features, and those that the costs of its fit were made of; any other is an *InputError.
//
// Further errors are those of Fit. A run that did not converge is a Model whose Summary
// says so.
func (m *Model) Calibrate(ctx context.Context, s *decision.Spec) (*Model, error) {
	if s == nil {
		s = m.utility
	}
	if target := m.recipe.Target.Outcomes; !slices.Equal(s.Outcomes(), target) {
		return nil, inputf("utility", "its outcomes %q are not %q, those of the model; bind it first", s.Outcomes(), target)
	}
	if m.x == nil {
		return nil, inputf("utility", "a model of %d rows does not keep them, and calibration needs them; fit again with these costs and the method loss-ep", m.provenance.Rows)
	}
	p := &Problem{
		Recipe: m.recipe, coding: m.coding, X: m.x, Labels: m.labels, Weights: m.weights, costs: m.costs, Utility: s, Kernel: m.Kernel(),
		opt: Options{Method: LossEP, Likelihood: m.likelihood, Seed: m.provenance.Seed, MaxMemory: math.MaxInt64}, // see CalibrationBytes
	}
	if err := p.weigh(p.trainingValues()); err != nil {
		if input := new(InputError); errors.As(err, &input) {
			return nil, input
		}
		if one := new(decision.CaseError); errors.As(err, &one) { // whose number is not that in the table
			return nil, &InputError{What: "utility", Msg: fmt.Sprintf("a training row: %v", err), Err: err}
		}
		return nil, err
	}
	if s := m.summary.Inducing; s != nil {
		p.opt.Power, p.opt.MaxMemory = s.Power, 2*calibrationMemory
		if p.Len() > search.SearchRows { // as where it was fitted; others stand in their order
			p.order = p.Order()
		}
	}
	l, err := m.learned(ctx, p)
	if err != nil {
		return nil, err
	}
	return l.Model(ctx, LossEP)
}

// learned is what the model knows of its kernel and EP, for other methods to start from.
func (m *Model) learned(ctx context.Context, p *Problem) (_ *Learned, err error) {
	l := &Learned{problem: p, search: m.summary.Search, doubts: m.doubts(), candidates: m.summary.Candidates, sharpness: m.summary.Sharpness}
	if !m.summary.mixes() {
		l.process, err = m.relearned(ctx, p, m.by(EP), m.opinions, m.summary.LogEvidence)
		return l, err
	}
	mix := new(mixture)
	for _, c := range m.summary.Candidates {
		if c.Weight == 0 {
			continue
		}
		var opinions []opinion
		for _, o := range m.opinions {
			opinions = append(opinions, opinion{o.method, posterior.Parts(o.Posterior)[len(mix.parts)].Posterior})
		}
		part := &Learned{problem: p.tuned(c.Tuned), search: c.Search, doubts: l.doubts}
		if part.process, err = m.relearned(ctx, part.problem, posterior.Parts(m.by(EP))[len(mix.parts)].Posterior, opinions, c.LogEvidence); err != nil {
			return nil, err
		}
		mix.parts, mix.weights = append(mix.parts, part), append(mix.weights, c.Weight)
	}
	l.process = mix
	return l, nil
}

// relearned is a process as it was when EP had found a posterior, one of the opinions on it.
func (m *Model) relearned(ctx context.Context, p *Problem, ep posterior.Posterior, opinions []opinion, logEvidence float64) (learned, error) {
	state := ep.State()
	switch of := ep.(type) {
	case interface{ Process() *gp.Process }:
		process := of.Process()
		second := slices.DeleteFunc(slices.Clone(opinions), func(o opinion) bool { return o.method != EP && o.method != Corrected })
		slices.SortFunc(second, func(a, b opinion) int { return cmp.Compare(b.method, a.method) }) // EP first
		return &full{
			process: process, model: p.cases().Model(process), second: second,
			ep: &infer.Result{Sites: infer.Sites{Terms: state.Sites}, LogEvidence: logEvidence},
		}, nil
	case interface{ Process() *gp.Inducing }:
		process, s := of.Process(), m.summary.Inducing
		room := &gp.ViewBuffer{Bytes: p.roomBytes()}
		again, added, err := search.Relearned(ctx, process, state.Functions, state.Sites, p.X, p.many(), p.coding.Codes(), room, p.opt.ShardRows)
		if err != nil {
			return nil, err
		}
		again.LogEvidence, again.Bound, again.Share, again.Lost = logEvidence, s.Bound, s.Share, s.Lost
		return induced{again, added}, nil
	}
	panic(fmt.Sprintf("lossep: a posterior of type %T has no process", ep))
}

// doubts are what a status has to say about EP, for another method that starts from it.
func (m *Model) doubts() []string {
	s := m.summary.Status
	if isEP(m.method.row(m.provenance.Rows)) && !s.Converged {
		return []string{doubtOfEP(s.Text)}
	}
	return slices.Clone(s.Notes)
}

// trainingValues gives the numbers of training rows to costs.
func (p *Problem) trainingValues() func(row int, column string) (float64, error) {
	return p.costs.Of(p.Recipe, p.X)
}
