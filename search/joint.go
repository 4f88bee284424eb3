package search

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/pass"
)

// mostJoint is the most covariances between effects and what the points see that are kept.
const mostJoint = 1 << 20

// joins tells whether effects are found jointly with the process: those of one family on one function. Groups by numbers
// of rows change when rows join.
func (b *both) joins() bool {
	set := b.fit.Effects()
	return len(set) == 1 && set[0].Functions() == 1 && set[0].Rows == nil && set[0].Groups() <= mostJoint/b.smooth.Dim()
}

// last is what a fit ends with: both found jointly, or terms looked at once more.
func (b *both) last(ctx context.Context) error {
	if b.joins() {
		return b.join(ctx)
	}
	_, err := b.fit.Look(ctx)
	return err
}

// Rounds of join end when the variance of the family moves by no more than a factor of 1 ± jointStep.
const (
	jointRounds = 30
	jointStep   = 1e-3
)

// join finds the posterior of the process and one family together, and the variance of the family at the maximum of
// the evidence. It begins where the two were found in turn.
func (b *both) join(ctx context.Context) error {
	e, out := b.fit.Effects()[0], &b.induced
	rows, err := b.driver.Drive(b.smooth, out.Engine)
	if err != nil {
		return err
	}
	means := make([]float64, e.Groups()) // sites are on what these leave
	for g, w := range e.Moments {
		means[g] = w.Mean
	}
	engine := gp.Group(b.driver, rows, e, nil, means)
	out.Engine = engine
	if out.Result, err = settleJoint(ctx, engine, e, b.fit.Held, nil, b.settings()); err != nil {
		return err
	}
	out.Process, b.sums = b.smooth.With(b.fit.Effects()), nil
	return b.moments(ctx, rows)
}

// Told is what rows told that stay, without the prior: of effects that are known jointly with what the points
// see the Arrow, whose marginal V is.
type Told struct {
	V     gauss.Naturals
	Arrow *pass.Arrow
}

// NewTold is what told a process that q is known of, without the sites of rows that are gone and to the power fade.
func NewTold(p *gp.Inducing, q gauss.Gaussians, x *mat.Dense, terms gp.Terms, gone []gauss.Scalar, fade float64) Told {
	e := p.Effects().Joint()
	if e == nil {
		told, prior := gauss.NewNaturals(len(q), q.Dim()), gauss.NewNaturals(len(q), q.Dim())
		prior.SetStandard()
		told.Times(q.Naturals(), fade)
		told.Times(prior, -fade)
		if len(gone) > 0 {
			told.Times(pass.Gather(p.Shard(x, terms), gone), -fade)
		}
		return Told{V: told}
	}
	a := pass.ArrowOf(q[0], e.Given, e.Variance)
	if len(gone) > 0 {
		groups, sites := make([]int32, len(gone)), make([]gauss.Scalar, len(gone))
		for i, s := range gone {
			groups[i], sites[i] = int32(e.Group(x.RawRowView(i))), s.Power(-1)
		}
		a.TimesScalars(p.With(nil).At(x), sites, groups, new(gauss.Workspace))
	}
	a = a.Power(fade)
	return Told{gauss.Naturals{a.Marginal(e.Variance)}, a}
}

// Jointly lets rows join a posterior whose effects are known jointly with what the points see, by the rule of the
// settings. The variance of the family is found again, unless it is held.
func Jointly(ctx context.Context, p *gp.Inducing, told Told, x *mat.Dense, terms gp.Terms, codes int, o pass.Settings, held bool) (*Continued, error) {
	e, smooth := p.Effects().Joint(), p.With(nil)
	if terms.Len() == 0 {
		q, err := Beside(gauss.Naturals{told.Arrow.Marginal(e.Variance)})
		if err != nil {
			return nil, err
		}
		with := effects.Set{e.Under(q[0], told.Arrow.Given(e.Variance))}
		return &Continued{Process: p.With(with), Q: q, Status: infer.Status{Converged: true}}, nil
	}
	fit, err := effects.Continue(effects.NewTable(x, codes), effects.NewInMemory(x, terms, 0), effects.Set{e}, 1)
	if err != nil {
		return nil, err
	}
	next := fit.Effects()[0]
	told.Arrow = told.Arrow.Among(next.Groups(), next.Places(e.Grouping))
	driver := gp.InMemory(x, terms, nil, 0)
	rows, err := driver.Drive(smooth, nil)
	if err != nil {
		return nil, err
	}
	engine := gp.Group(driver, rows, next, told.Arrow, nil)
	r, err := settleJoint(ctx, engine, next, held, told.Arrow, o)
	if err != nil {
		return nil, err
	}
	sums, err := engine.Look(ctx, r.Q.Naturals(), pass.Options{Rule: o.Rule}, nil)
	if err != nil {
		return nil, err
	}
	sites, err := engine.Sites(ctx)
	if err != nil {
		return nil, err
	}
	return &Continued{
		Process: smooth.With(fit.Effects()), Q: r.Q, Sites: sites,
		Gain: pass.Objective(o.Rule, r.Q, sums.Value), Status: r.Status,
	}, nil
}

// settleJoint lets the sites of rows converge, and finds the variance of the family with them, unless it is held.
func settleJoint(ctx context.Context, engine *gp.Grouped, e *effects.Effect, held bool, told *pass.Arrow, o pass.Settings) (r *pass.Result, err error) {
	for round := 1; ; round++ {
		if told != nil {
			o.Extra = gauss.Naturals{told.Marginal(e.Variance)}
		}
		if r, err = pass.Settle(ctx, engine, o); err != nil {
			return nil, err
		}
		*e = *e.Under(r.Q[0], engine.Given())
		next := e.Step()
		if math.Abs(math.Log(next/e.Variance)) < jointStep || held || round == jointRounds {
			return r, nil
		}
		e.Variance = next
		engine.SetVariance(next)
	}
}

// Under is the process with effects as the sites of an engine have them.
func (f *Induced) Under(e gp.Engine) *gp.Inducing {
	g, ok := e.(*gp.Grouped)
	if !ok {
		return f.Process
	}
	joint := *f.Process.Effects().Joint()
	joint.Given = g.Given()
	return f.Process.With(effects.Set{&joint})
}

// Relearned is a process that EP found with its sites of the rows of x, which have effects as they were when they were
// learnt from these rows.
func Relearned(ctx context.Context, p *gp.Inducing, q gauss.Gaussians, sites []gauss.Scalar, x *mat.Dense, terms gp.Terms, codes int, room *gp.ViewBuffer, size int) (*Induced, *effects.Fit, error) {
	fit, trained, err := Effects(ctx, p, q, x, terms, codes)
	if err != nil {
		return nil, nil, err
	}
	out := &Induced{Process: trained, Result: &pass.Result{Q: q}}
	joint := p.Effects().Joint()
	if joint == nil {
		out.Engine = gp.NewEngine(trained, trained.Shards(x, terms, room, size), sites)
		return out, fit, nil
	}
	driver := gp.InMemory(x, terms, room, size)
	engine, err := driver.Drive(p.With(nil), nil)
	if err != nil {
		return nil, nil, err
	}
	if err := engine.Put(ctx, sites); err != nil {
		return nil, nil, err
	}
	out.Process, out.Engine = p, gp.Group(driver, engine, joint, nil, nil)
	return out, fit, nil
}
