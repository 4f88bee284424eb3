package lossep

import (
	"context"
	"fmt"
	"slices"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/modelfile"
	"github.com/lossep/lossep/pass"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// Update is the model with further rows, whose outcomes are known; nil stands for none. The recipe and
// the kernel stay, and nothing is fitted anew: new rows have new sites. With the full process
// expectation propagation goes on with all rows, from the sites that are kept. With inducing points it
// goes over the new rows, with what the others told held as a Gaussian. The model itself stays as it is.
//
// Rows that are taken away leave no trace in the full process. With inducing points their sites are
// taken out, and what they told of effects is to first order.
func (m *Model) Update(ctx context.Context, more *table.Table, o UpdateOptions) (*Model, error) {
	u, err := m.updating(more, o)
	if err != nil {
		return nil, err
	}
	switch {
	case o.RefitKernel:
		p, err := u.refitted()
		if err != nil {
			return nil, err
		}
		return u.finish(p.Fit(ctx))
	case m.summary.Inducing != nil:
		return u.finish(u.induced(ctx))
	}
	return u.finish(u.full(ctx))
}

// updating is a model that is being updated.
type updating struct {
	*Model
	*Change[int]
	opt     UpdateOptions
	more    CostColumns // of the new rows
	problem *Problem    // of all rows, those that are kept first
}

// updating reads the rows and makes the problem of all of them.
func (m *Model) updating(more *table.Table, o UpdateOptions) (u *updating, err error) {
	u = &updating{Model: m, opt: o}
	if u.opt.MaxMemory == 0 {
		u.opt.MaxMemory = DefaultMaxMemory
	}
	old := TrainingRows[int]{m.x, m.labels, m.weights}
	u.Change, err = NewChange(old, m.recipe, m.summary.Updates, more, o, func(t *table.Table) (TrainingRows[int], error) {
		p, err := m.encoded(t)
		if err != nil {
			return old, err
		}
		if t == more {
			u.more = p.costs
		}
		return TrainingRows[int]{p.X, p.Labels, p.Weights}, nil
	})
	if err != nil {
		return nil, err
	}
	return u, u.combine()
}

// encoded are rows as numbers, by the recipe of the model.
func (m *Model) encoded(t *table.Table) (p *Problem, err error) {
	t = t.Counting(m.recipe.NameOf(recipe.Weights))
	p = &Problem{coding: m.coding, costs: CostColumns{Names: m.costs.Names}}
	if p.X, p.Labels, p.Weights, err = encode(m.recipe, t); err != nil {
		return nil, err
	}
	values := t.Values(m.recipe.Missing...)
	if _, err := m.utility.Cases(p.Len(), values); err != nil { // as in a fit
		return nil, AtCaseOf(t, m.utility, values, err)
	}
	p.costs.Read(p.Len(), values)
	return p, CheckTraining(t, p.X, p.coding)
}

// combine makes the problem of the rows that are kept and the new ones.
func (u *updating) combine() error {
	m := u.Model
	counts, before := slices.Clone(m.recipe.Target.Rows), 0
	for _, i := range u.Gone {
		counts[m.labels[i]]--
	}
	for _, n := range counts {
		before += n
	}
	for _, y := range u.New.Outcomes {
		counts[y]++
	}
	rows := before + len(u.New.Outcomes)
	if m.recipe.Target.Binary() && slices.Contains(counts, 0) || rows == 0 {
		what := "forget"
		if u.Dropped > 0 {
			what = "half life"
		}
		return inputf(what, "no row of %q would be left; fit again", m.recipe.Target.Outcomes[max(0, slices.Index(counts, 0))])
	}
	p := &Problem{
		coding: m.coding, Utility: m.utility, Kernel: m.Kernel(), zero: m.summary.Zero,
		Recipe: m.recipe.Recounted(counts, u.share(before)),
		opt: Options{
			Method: m.method, Likelihood: m.likelihood, Seed: m.provenance.Seed, Kernel: m.Kernel().String(), Fixed: true,
			MaxMemory: u.opt.MaxMemory, Progress: u.opt.Progress, Inducing: NoInducing,
		},
	}
	if s := m.summary.Inducing; s != nil {
		p.opt.Inducing, p.opt.Power = s.Points, s.Power
		if s.Points > rows {
			return inputf("forget", "%d rows would be left for %d inducing points; fit again", rows, s.Points)
		}
	}
	u.problem = p
	if m.x == nil {
		return nil
	}
	all := u.All()
	p.X, p.Labels, p.Weights = all.X, all.Outcomes, all.Weights
	p.costs = m.costs.With(u.Kept, u.more)
	err := p.weigh(p.trainingValues())
	if err != nil && (m.method.Calibrated() || u.opt.RefitKernel) {
		return err
	} else if err != nil {
		p.stakes = nil // then what rows left out would have cost is not known
	}
	return nil
}

// share is the positive outcome's in the weights of rows that have any, 0 if they have none. Rows that
// are not kept count one each on average, before they fade.
func (u *updating) share(before int) float64 {
	t := &u.recipe.Target
	if !t.Binary() || !u.Weighted {
		return 0
	}
	var sums [2]float64
	if u.Model.x == nil {
		sums[1] = u.Fade * float64(before) * t.PositiveShare()
		sums[0] = u.Fade*float64(before) - sums[1]
	}
	for i, w := range u.keptWeights() {
		sums[u.Model.labels[u.Kept[i]]] += w
	}
	for i, w := range u.New.Weights {
		sums[u.New.Outcomes[i]] += w
	}
	return sums[1] / (sums[0] + sums[1])
}

// refitted is the problem with a search for hyperparameters, from those of the model.
func (u *updating) refitted() (*Problem, error) {
	p := u.problem
	p.opt.Fixed = false
	if u.summary.Inducing == nil && u.summary.mixes() {
		p.opt.Kernel = AutoKernel
		return p, nil
	}
	if len(u.summary.Effects) > 0 {
		p.opt.Kernel += " + " + AutoEffects
	}
	return p, p.splitKernel(p.opt.Kernel)
}

// full goes on with expectation propagation on all rows, from the sites that are kept.
func (u *updating) full(ctx context.Context) (*Model, error) {
	p := u.problem
	if err := p.opt.affordable(fmt.Sprintf("the model would have %d rows", p.Len()), p.Len()*p.link().views()); err != nil {
		return nil, err
	}
	m := u.Model
	l, err := m.learned(ctx, &Problem{Recipe: m.recipe, X: m.x, Labels: m.labels, Weights: m.weights, opt: Options{Likelihood: m.likelihood}})
	if err != nil {
		return nil, err
	}
	l.problem = p
	switch of := l.process.(type) {
	case *full:
		l.process, err = u.goOn(ctx, p, of)
	case *mixture:
		for _, part := range of.parts {
			q := *p
			q.opt.Likelihood = part.problem.opt.Likelihood
			part.problem = &q
			if part.process, err = u.goOn(ctx, &q, part.process.(*full)); err != nil {
				return nil, err
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return l.Model(ctx, u.method)
}

// goOn is expectation propagation with one kernel.
func (u *updating) goOn(ctx context.Context, p *Problem, from *full) (learned, error) {
	p.tell("expectation propagation", 0, 0)
	process, model, ep, err := u.Full(ctx, from.process.Kernel(), p.cases(), p.X, from.ep.Sites.Terms, p.options())
	return &full{process: process, model: model, ep: ep}, err
}

// induced goes over the new rows, with what the others told held as a Gaussian.
func (u *updating) induced(ctx context.Context) (*Model, error) {
	if u.method.Calibrated() {
		return nil, inputf("method", "a model of inducing points that %s calibrated is not updated; fit again, or update one that was fitted by %s", u.method, EP)
	}
	m, p := *u.Model, u.problem
	ep := m.by(EP).(interface {
		posterior.Posterior
		Process() *gp.Inducing
	})
	state := ep.State()
	terms := func(r TrainingRows[int]) gp.Terms { return p.link().terms(r.Outcomes, r.Weights) }
	c, err := u.Inducing(ctx, ep.Process(), state, terms, m.coding.Codes(), m.summary.Inducing.Power)
	if err != nil {
		return nil, err
	}
	by, own := c.Process, c.Q
	if m.method != EP {
		if by, own, err = u.own(ctx, c.Process, state.Sites, terms); err != nil {
			return nil, err
		}
	}
	next := posterior.State{Functions: c.Q}
	var kept TrainingRows[int]
	kept, next.Sites = u.Keeping(m.coding.Len(), p.link().functions(), state, c)
	m.x, m.labels, m.weights, m.costs = kept.X, kept.Outcomes, kept.Weights, CostColumns{}
	if kept.X != nil {
		m.costs = p.costs
	}
	m.opinions = inducedOpinions(p.link(), c.Process, m.method, next, by, own)
	m.recipe = p.Recipe
	m.provenance.Rows, m.provenance.Version = p.Recipe.Rows, Version
	m.summary.LogEvidence += c.Gain
	m.summary.Inducing = &Inducing{Points: m.summary.Inducing.Points, Power: m.summary.Inducing.Power}
	m.summary.LeaveOneOut, m.summary.Status = nil, newStatus(c.Status)
	m.summary.Effects = modelfile.Updated(m.summary.Effects, c.Process.Effects())
	if err := m.checkPredictions(); err != nil {
		return nil, err
	}
	return &m, nil
}

// own is the posterior of a method other than EP, whose sites are not kept: those of EP stand for rows
// that are taken away. Families have the variances that EP found.
func (u *updating) own(ctx context.Context, process *gp.Inducing, sites []gauss.Scalar, terms func(TrainingRows[int]) gp.Terms) (*gp.Inducing, gauss.Gaussians, error) {
	of := u.opinions[0].Posterior.(interface{ Process() *gp.Inducing }).Process()
	before := u.before(u.opinions[0].State().Functions, of, sites, terms)
	settings := pass.Settings{Rule: u.method.row(0).Rule, Tolerance: induceTolerance, Extra: before.V}
	if e := of.Effects().Joint(); e != nil {
		joint := *e
		joint.Variance = process.Effects().Joint().Variance
		c, err := search.Jointly(ctx, of.With(effects.Set{&joint}), before, u.New.X, terms(u.New), u.coding.Codes(), settings, true)
		if err != nil {
			return nil, nil, err
		}
		return c.Process, c.Q, nil
	}
	if u.New.X == nil {
		q, err := search.Beside(before.V)
		return process, q, err
	}
	engine := gp.NewEngine(process, process.Shards(u.New.X, terms(u.New), nil, 0), nil)
	r, err := pass.Settle(ctx, engine, settings)
	if err != nil {
		return nil, nil, err
	}
	return process, r.Q, nil
}

// finish notes what was done.
func (u *updating) finish(m *Model, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	m.summary.Updates = u.Updates(u.summary.Updates, u.opt)
	return m, nil
}
