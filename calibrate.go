package lossep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/pass"
	"github.com/lossep/lossep/search"
)

// Calibrate is the model with expectation propagation calibrated to a specification
// that is bound to the model's outcomes (see Model.Bind); nil stands for the model's
// own. It keeps the kernel and starts from the sites of EP, so that it is what Fit
// would find by LossEP with the same kernel, in a few sweeps. The model itself stays as
// it is, and the result shares what it can with it.
//
// Costs that name columns need those of the training rows. A model knows them of
// numeric columns that make features; any other column is an *InputError.
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
		Recipe: m.recipe, coding: m.coding, X: m.x, Labels: m.labels, Weights: m.weights, Utility: s, Kernel: m.kernel,
		opt: Options{Method: LossEP, Likelihood: m.likelihood, Seed: m.provenance.Seed},
	}
	if err := p.weigh(func(name string) ([]float64, error) { return trainingColumn(m.recipe, m.x, name) }); err != nil {
		if one := new(decision.CaseError); errors.As(err, &one) { // whose number is not that in the table
			return nil, &InputError{What: "utility", Msg: fmt.Sprintf("a training row: %v", err), Err: err}
		}
		return nil, err
	}
	if m.mixture != nil {
		return m.calibrated(ctx, func(part *Model) (*Model, error) { return part.Calibrate(ctx, s) }, p)
	}
	if m.inducing != nil {
		return m.calibrateInduced(ctx, p)
	}
	l := &Learned{
		problem: p, process: m.full,
		model:  m.terms(),
		ep:     &infer.Result{Sites: infer.Sites{Terms: m.ep}, LogEvidence: m.summary.LogEvidence},
		search: m.summary.Search,
		second: m.second(),
		doubts: m.doubts(),
	}
	return l.Model(ctx, LossEP)
}

// doubts are what a status has to say about EP, for another method that starts from it.
func (m *Model) doubts() []string {
	s := m.summary.Status
	if isEP(m.method.row(m.provenance.Rows)) && !s.Converged {
		return []string{doubtOfEP(s.Text)}
	}
	return slices.Clone(s.Notes)
}

// trainingColumn is a numeric column of the training rows, as it was before it was
// encoded but for rounding.
func trainingColumn(r *data.Recipe, x *mat.Dense, name string) ([]float64, error) {
	values, ok := r.Values(x, name)
	if !ok {
		return nil, inputf("utility", "calibration needs the column %q of the training rows, and a model keeps numeric columns that make features only; fit again with these costs and the method loss-ep", name)
	}
	if slices.ContainsFunc(values, math.IsNaN) {
		return nil, inputf("utility", "calibration needs the column %q of the training rows, and it is missing in some of them; name another column", name)
	}
	return values, nil
}

// calibrateInduced is Calibrate for a model with inducing points.
func (m *Model) calibrateInduced(ctx context.Context, p *Problem) (*Model, error) {
	s := m.summary.Inducing
	p.opt.Power, p.opt.MaxMemory = s.Power, 2*calibrationMemory
	if p.Len() > search.SearchRows { // as where it was fitted; others stand in their order
		p.order = p.Order()
	}
	process := m.inducing.process
	room := &gp.ViewBuffer{Bytes: p.roomBytes()}
	shards := process.Shards(p.X, p.many(), room, p.opt.ShardRows)
	l := &Learned{
		problem: p, search: m.summary.Search, doubts: m.doubts(), candidates: m.summary.Candidates,
		induced: &search.Induced{
			Process: process, Result: &pass.Result{Q: m.inducing.ep}, Engine: gp.NewEngine(process, shards, m.ep),
			LogEvidence: m.summary.LogEvidence, Bound: s.Bound, Share: s.Share, Lost: s.Lost,
		},
	}
	return l.inducedModel(ctx, LossEP)
}

// calibrated is the mixture of the parts, each calibrated by itself.
func (m *Model) calibrated(ctx context.Context, calibrate func(*Model) (*Model, error), p *Problem) (*Model, error) {
	var parts []*Model
	for _, part := range m.mixture.parts {
		c, err := calibrate(part)
		if err != nil {
			return nil, err
		}
		parts = append(parts, c)
	}
	c := mixed(m.mixture.weights, parts, m.summary.Candidates, m.summary.Sharpness)
	var err error
	if c.summary.LeaveOneOut, err = c.leaveOneOut(ctx, p); err != nil {
		return nil, err
	}
	return c, nil
}
