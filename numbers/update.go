package numbers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/methods"
	"github.com/lossep/lossep/modelfile"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// Update is the model with further rows; see lossep.Model.Update. The transformation of the outcome and its noise stay as well,
// unless the kernel is searched for again: then the hyperparameters of the noise are found with it.
func (m *Model) Update(ctx context.Context, more *table.Table, o lossep.UpdateOptions) (*Model, error) {
	if err := m.refuseKnown("update"); err != nil {
		return nil, err
	}
	var joining *Problem
	c, err := lossep.NewChange(m.training(), m.recipe, m.summary.Updates, more, o, func(t *table.Table) (lossep.TrainingRows[float64], error) {
		p, err := m.encoded(t)
		if err != nil {
			return m.training(), err
		}
		if t == more {
			joining = p
		}
		return lossep.TrainingRows[float64]{X: p.X, Outcomes: p.Values, Weights: p.Weights}, nil
	})
	if err != nil {
		return nil, err
	}
	rows := len(c.Kept) + len(c.New.Outcomes)
	if rows < max(1, m.summary.Inducing) {
		return nil, inputf("forget", "%s would be left, fewer than the model takes; fit again", table.Plural(rows, "row"))
	}
	p := m.problem(c, joining, o)
	var next *Model
	switch {
	case o.RefitKernel:
		if p.stakes == nil {
			return nil, inputf("refit kernel", "costs are made of %s, which is missing in some of the training rows; fit again", table.QuoteList(m.costs.Columns()))
		}
		if err = p.splitKernel(); err == nil {
			next, err = p.fit(ctx, m.shape, m.family, m.summary.Shapes, nil)
		}
	case m.summary.Inducing > 0 && m.Method() != lossep.EP:
		return nil, inputf("method", "a model by %s with inducing points is not updated with its kernel; have the kernel searched for again (refit kernel), or fit by %s", m.Method(), lossep.EP)
	case m.summary.Inducing > 0:
		next, err = m.updateInducing(ctx, p, c)
	default:
		next, err = m.updateFull(ctx, p, c)
	}
	if err != nil {
		return nil, err
	}
	next.examples = nil
	if len(c.Gone) == c.Dropped {
		next.examples = m.examples
	}
	next.summary.Updates = c.Updates(m.summary.Updates, o)
	return next, nil
}

// training are the rows that the model keeps.
func (m *Model) training() lossep.TrainingRows[float64] {
	return lossep.TrainingRows[float64]{X: m.x, Outcomes: m.values, Weights: m.weights}
}

// encoded are rows by the recipe of the model, whose outcomes it could have been fitted to.
func (m *Model) encoded(t *table.Table) (*Problem, error) {
	t = t.Counting(m.recipe.NameOf(recipe.Weights))
	p := &Problem{Recipe: m.recipe, Costs: m.costs}
	if err := p.encode(t); err != nil {
		return nil, err
	}
	for i, y := range p.Values {
		if err := m.CheckOutcome(y); err != nil {
			return nil, p.refuse(t, i, "correct it, or fit again", "%v", err)
		}
	}
	if err := p.check(t); err != nil {
		return nil, err
	}
	return p, p.weigh(t)
}

// CheckOutcome refuses an outcome that the model could not have been fitted to.
func (m *Model) CheckOutcome(y float64) error {
	t := &m.shape.Transform
	switch {
	case !(math.Abs(y) <= lossep.Farthest):
		return fmt.Errorf("%v is beyond %g", y, lossep.Farthest)
	case m.Counts() && (y < 0 || y != math.Trunc(y)):
		return fmt.Errorf("%v is no count, and the model is of counts", y)
	case m.Counts() && y > mostOfCounts:
		return fmt.Errorf("the count %v is above %g, the largest that a model of counts takes", y, mostOfCounts)
	case t.amounts() && (y < 0 || y+t.Unit == 0):
		return fmt.Errorf("%v has no %s, which is what the model is of", y, t.String())
	}
	return nil
}

// problem is that of the rows that are kept and those that join.
func (m *Model) problem(c *lossep.Change[float64], joining *Problem, o lossep.UpdateOptions) *Problem {
	all := c.All()
	r := *m.recipe
	r.Rows = len(c.Kept) + len(c.New.Outcomes)
	p := &Problem{
		Recipe: &r, X: all.X, Values: all.Outcomes, Weights: all.Weights, Costs: m.costs, coding: m.coding,
		at: func(int) *table.Error { return new(table.Error) },
		opt: lossep.Options{
			Kernel: m.Kernel(), Method: m.Method(), Seed: m.summary.Seed, MaxMemory: o.MaxMemory, Progress: o.Progress,
			Inducing: lossep.NoInducing, MaxRows: max(r.Rows, lossep.DefaultMaxRows),
		},
	}
	if p.opt.MaxMemory == 0 {
		p.opt.MaxMemory = lossep.DefaultMaxMemory
	}
	if len(m.others) > 0 {
		p.opt.Kernel = "" // all candidates are searched for again
	}
	if m.summary.Inducing > 0 {
		p.opt.Inducing, p.opt.MaxRows = m.summary.Inducing, 0
		if len(m.summary.Effects) > 0 {
			p.opt.Kernel += " + " + lossep.AutoEffects
		}
	}
	if m.summary.Inducing == 0 {
		p.together = r.Copies(p.X)
	}
	if all.X != nil {
		var others lossep.CostColumns
		if joining != nil {
			others = joining.kept
		}
		p.kept = m.kept.With(c.Kept, others)
		p.stakes, _ = stakesBy(p.Costs, p.Len(), p.kept.Of(p.Recipe, p.X), p.at) // without them what rows left out cost is not known
	}
	return p
}

// updateFull goes on with expectation propagation on all rows.
func (m *Model) updateFull(ctx context.Context, p *Problem, c *lossep.Change[float64]) (*Model, error) {
	p.tell("expectation propagation", 0, 0)
	next, err := m.each(func(one *Model) error {
		of := one.terms(c.All())
		process, _, ep, err := c.Full(ctx, one.posterior.Kernel(), gp.CasesOf(of), p.X, one.posterior.State().Sites, methods.Options{Schedule: infer.Parallel, Seed: m.summary.Seed})
		if err != nil {
			return err
		}
		one.updated(p.Len(), ep.LogEvidence)
		return p.conclude(ctx, one, process, of, ep)
	})
	if err != nil {
		return nil, err
	}
	next.recipe, next.x, next.values, next.weights, next.kept = p.Recipe, p.X, p.Values, p.Weights, p.kept
	if err := next.checkPredictions(); err != nil || p.stakes == nil {
		return next, err
	}
	left, err := next.cavities(ctx, p.units())
	if err != nil {
		return nil, err
	}
	return next, p.leaveOneOut(ctx, next, left)
}

// updated notes what further rows made of the summary.
func (m *Model) updated(rows int, logEvidence float64) {
	m.summary.Rows, m.summary.Version, m.summary.LogEvidence, m.summary.LeaveOneOut = rows, lossep.Version, logEvidence, nil
}

// terms are those of rows.
func (m *Model) terms(r lossep.TrainingRows[float64]) gp.Terms {
	of := &terms{y: m.shape.Transform.all(r.Outcomes), weights: r.Weights, family: m.family}
	if m.summary.Inducing > 0 {
		return of // whose latent value is that of even noise
	}
	return of.under(m.uneven, r.X)
}

// updateInducing goes over the new rows, with what the others told held as a Gaussian.
func (m *Model) updateInducing(ctx context.Context, p *Problem, c *lossep.Change[float64]) (*Model, error) {
	next, state := *m, m.posterior.State()
	found, err := c.Inducing(ctx, m.inducing(), state, m.terms, m.coding.Codes(), 1)
	if err != nil {
		return nil, err
	}
	kept, sites := c.Keeping(m.coding.Len(), 1, state, found)
	next.recipe, next.x, next.values, next.weights, next.kept = p.Recipe, kept.X, kept.Outcomes, kept.Weights, p.kept
	if kept.X == nil {
		next.kept = lossep.CostColumns{}
	}
	next.posterior = posterior.NewInducing(found.Process, posterior.Latent{}, found.Q[0], sites)
	next.updated(p.Recipe.Rows, m.summary.LogEvidence+found.Gain)
	next.summary.status(found.Status)
	next.summary.Objective = next.summary.LogEvidence
	next.summary.Effects = modelfile.Updated(m.summary.Effects, found.Process.Effects())
	var ended []string
	for k, e := range next.summary.Effects {
		if len(e.Walks) < len(m.summary.Effects[k].Walks) {
			ended = append(ended, e.Term)
		}
	}
	if ended != nil {
		next.summary.Status += fmt.Sprintf("; new rows lie beyond the values that %s had, whose trend does not go on any more: have the kernel searched for again (refit kernel)", strings.Join(ended, " and "))
	}
	return &next, next.checkPredictions()
}

// inducing is the process of a model with inducing points.
func (m *Model) inducing() *gp.Inducing {
	return m.posterior.(interface{ Process() *gp.Inducing }).Process()
}

// cavities are what each part knows of the latent value of the training rows without each, and of the full process without those
// of its unit.
func (m *Model) cavities(ctx context.Context, units [][]int) (left [][]gauss.Scalar, err error) {
	if m.summary.Inducing == 0 {
		for _, p := range m.parts() {
			of := make([]gauss.Scalar, len(m.values))
			err := p.posterior.(*posterior.Full).Cavities(ctx, units, func(i int, mean, variance float64) { of[i] = gauss.ScalarFromMoments(mean, variance) })
			if err != nil && !errors.Is(err, posterior.ErrImproper) {
				return nil, err
			}
			left = append(left, of)
		}
		return left, nil
	}
	state, of := m.posterior.State(), m.terms(m.training())
	again, added, err := search.Relearned(ctx, m.inducing(), state.Functions, state.Sites, m.x, of, m.coding.Codes(), nil, 0)
	if err != nil {
		return nil, err
	}
	one, err := leftOut(ctx, again.Engine, state.Functions, infer.Propagation{}, added, len(m.values))
	return [][]gauss.Scalar{one}, err
}
