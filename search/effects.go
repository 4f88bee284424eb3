package search

import (
	"cmp"
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/sealed"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/pass"
)

// EffectOptions of AddEffects.
type EffectOptions struct {
	// Families are taken as they are. Choice, if set, chooses further ones.
	Families          []effects.Family
	Choice            *effects.Choice
	Codes             int // columns that are codes, the last ones
	Groups            int // the most groups of all families on all functions; 0 for no bound
	ShardRows, Sweeps int
	Power             float64
	// Search, if set, is how the kernel of the process is searched for again, beside the effects. If it resumes, these
	// are in the checkpoint, of which the process is.
	Search *InduceOptions
	// Driver, if set, makes passes over rows that are not in the memory of this machine.
	Driver gp.Driver
	// Progress, if set, is called with every pass.
	Progress func(effects.Progress)
}

// Rounds of AddEffects: the smooth part and the effects are found in turn, each with what is known of the
// other, until the bound rises by less than roundGain nats per row in one. Each makes the other larger: what
// one tells no longer dilutes the other. Then there is a last round for both to converge.
const (
	effectRounds    = 6
	roundGain       = 5e-4
	effectPasses    = 4
	finalPasses     = 25
	effectTolerance = 1e-5 // nats per row
)

// AddEffects adds effects of groups to a process that inducing points found. The two are
// learnt in turn: the effects with the moments of the process at the rows as offset and spread,
// by the variational bound; then the process with those of the effects as offset and residual
// variance. Effects of a single family are found jointly with the process in the end. The kernel is searched for again once families
// are found, where options say so: what they
// tell is no longer for the process to tell. Where no family is worth it the result is the same as
// before.
//
// Leaving a row out takes effects.Fit.Without, which is returned.
func (f *Induced) AddEffects(ctx context.Context, x *mat.Dense, terms gp.Terms, o EffectOptions) (*Induced, *effects.Fit, error) {
	b := &both{induced: *f, x: x, terms: terms, opt: o, smooth: f.Process.With(nil)}
	b.induced.draft = false
	b.begin()
	if err := b.families(ctx); err != nil {
		return nil, nil, err
	}
	if len(b.fit.Effects()) == 0 {
		b.tune(f.Tuned)
		if !f.draft {
			return f, nil, nil
		}
		return &b.induced, nil, b.induced.weigh(ctx, b.settings())
	}
	if o.Search != nil {
		f.Engine = nil // collectable
		if err := b.search(ctx); err != nil {
			return nil, nil, err
		}
	}
	if err := b.rounds(ctx); err != nil {
		return nil, nil, err
	}
	if err := b.last(ctx); err != nil {
		return nil, nil, err
	}
	if err := b.fit.Explain(ctx); err != nil {
		return nil, nil, err
	}
	b.induced.Tuned = b.fit.Logs
	return &b.induced, b.fit, b.induced.weigh(ctx, b.settings())
}

// both are a process and the effects beside it.
type both struct {
	induced Induced
	smooth  *gp.Inducing // the process without effects
	x       *mat.Dense
	terms   gp.Terms
	opt     EffectOptions
	driver  gp.Driver
	rows    effects.Rows
	fit     *effects.Fit
	sums    []effects.Moment // of effects on all rows; nil before there are some, and for rows elsewhere
}

// Placed is a driver whose rows are not in the memory of this machine.
type Placed interface {
	gp.Driver
	// Effects are the rows as effects see them, beside the process of the last engine that Rest was called of.
	Effects() effects.Rows
	// Made is how many passes there were, and GoOn says that there were so many before a fit was interrupted: what those
	// that followed came to is found again.
	Made() int
	GoOn(made int)
}

// Rest is an engine of a Placed driver.
type Rest interface {
	// Rest keeps the mean and variance of the process at every row, of which effects are no part, where the row is.
	Rest(ctx context.Context, q gauss.Gaussians) error
}

// begin finds where the rows are.
func (b *both) begin() {
	if b.driver = b.opt.Driver; b.driver != nil {
		b.rows = b.driver.(Placed).Effects()
	} else {
		n := b.terms.Len() * gp.Functions(b.terms)
		rows := effects.NewInMemory(b.x, b.terms, cmp.Or(b.opt.ShardRows, gp.ShardRows))
		rows.Offset, rows.Spread = make([]float64, n), make([]float64, n)
		b.driver, b.rows = gp.InMemory(b.x, b.terms, b.induced.buffer, b.opt.ShardRows), rows
	}
	b.fit = effects.NewFit(effects.NewTable(b.x, b.opt.Codes), b.rows)
	b.fit.Tuned, _ = b.terms.(effects.Tuned)
	b.fit.Logs = b.induced.Tuned
}

// tune sets the hyperparameters of the terms, if they have any.
func (b *both) tune(logs []float64) {
	if t := newTuning(b.terms).terms; t != nil {
		t.Tune(logs)
	}
}

// settings are those of a result.
func (b *both) settings() pass.Settings {
	n := b.terms.Len()
	return pass.Settings{Rule: infer.Propagation{Power: b.opt.Power}, Sweeps: b.opt.Sweeps, Tolerance: finalTolerance(n), Ahead: n > SearchRows, Warm: true}
}

// families adds those that are named, and those that are worth it, or those that were found before.
func (b *both) families(ctx context.Context) error {
	if s := b.opt.Search; s != nil && s.Resume != nil {
		b.fit.Dropped = s.Resume.Beside.Dropped
		b.tune(b.fit.Logs)
		err := b.fit.Restore(ctx, s.Resume.Beside.Families)
		if errors.Is(err, effects.ErrFamily) {
			err = sealed.ErrDamaged
		}
		return err
	}
	if err := b.moments(ctx, b.induced.Engine); err != nil {
		return err
	}
	for _, family := range b.opt.Families {
		if err := b.fit.Add(ctx, family, 0); err != nil {
			return err
		}
		if groups := b.fit.Effects().Groups(); b.opt.Groups > 0 && groups > b.opt.Groups {
			return &effects.TooManyGroupsError{Family: family, Cells: float64(groups), Most: float64(b.opt.Groups)}
		}
	}
	if b.opt.Choice == nil {
		return nil
	}
	c := *b.opt.Choice
	c.Trace = b.opt.Progress
	if b.opt.Groups > 0 {
		c.Groups = min(c.Groups, b.opt.Groups)
	}
	return b.fit.Choose(ctx, c)
}

// search searches for the kernel again, beside the effects.
func (b *both) search(ctx context.Context) (err error) {
	again := *b.opt.Search
	if b.sums, err = b.fit.Sums(nil); err != nil {
		return err
	}
	again.Beside, again.Sums, again.Tuned, again.buffer, again.Draft = b.fit.Effects(), b.sums, b.fit.Logs, b.induced.buffer, true
	kernel := b.induced.Process.Kernel()
	placed, _ := b.opt.Driver.(Placed)
	if placed != nil && again.Resume != nil {
		placed.GoOn(again.Resume.Beside.Passes)
	}
	if keep := again.Checkpoint; keep != nil {
		again.Checkpoint = func(c Checkpoint) {
			c.Rows, c.Beside = b.terms.Len(), &KeptEffects{Logs: kernel.Params(nil), Tuned: b.fit.Logs, Families: b.fit.Learnt(), Dropped: b.fit.Dropped}
			if placed != nil {
				c.Beside.Passes = placed.Made()
			}
			keep(c)
		}
	}
	b.induced.Engine = nil // collectable
	next, err := Induce(ctx, kernel, b.x, b.terms, again)
	if err != nil {
		return err
	}
	b.induced = *next
	b.induced.draft = false
	b.smooth = b.induced.Process.With(nil).Trained(nil)
	b.fit.Logs = b.induced.Tuned
	return b.moments(ctx, b.induced.Engine)
}

// rounds lets effects and process converge in turn.
func (b *both) rounds(ctx context.Context) error {
	settings, n := b.settings(), float64(b.terms.Len())
	settings.Tolerance = roundTolerance
	last := math.Inf(-1)
	for round, final := 1, false; ; round++ {
		passes := effectPasses
		if final {
			passes, settings.Tolerance, settings.MaxPasses = finalPasses, b.settings().Tolerance, 0
		} else if gp.Functions(b.terms) > 1 {
			settings.MaxPasses = roundPasses
		}
		bound, err := b.fit.Run(ctx, passes, effectTolerance*n, b.opt.Progress)
		if err != nil {
			return err
		}
		if b.sums, err = b.fit.Sums(b.sums); err != nil {
			return err
		}
		out := &b.induced
		out.Process = b.smooth.With(b.fit.Effects()).Trained(b.sums)
		if out.Engine, err = b.driver.Drive(out.Process, out.Engine); err != nil {
			return err
		}
		if out.Result, err = pass.Settle(ctx, out.Engine, settings); err != nil {
			return err
		}
		if err := b.moments(ctx, b.induced.Engine); err != nil || final {
			return err
		}
		final = round+1 == effectRounds || bound-last < roundGain*n
		last = bound
		if final && b.joins() {
			return nil
		}
	}
}

// moments finds the mean and variance of the process at all rows of an engine, of which those of effects, if
// there are any yet, are no part.
func (b *both) moments(ctx context.Context, e gp.Engine) error {
	to, here := b.rows.(*effects.InMemory)
	if !here {
		return e.(Rest).Rest(ctx, b.induced.Result.Q)
	}
	e.(viewed).Predict(b.induced.Result.Q, to.Offset, to.Spread)
	effects.TakeOut(b.sums, len(b.induced.Result.Q), to.Offset, to.Spread)
	return nil
}

// Effects are those of a process as they were when they were learnt from the rows, and the
// process that knows their sums there. A process without has none.
func Effects(ctx context.Context, p *gp.Inducing, q gauss.Gaussians, x *mat.Dense, terms gp.Terms, codes int) (*effects.Fit, *gp.Inducing, error) {
	if p.Effects() == nil {
		return nil, p, nil
	}
	rows := effects.NewInMemory(x, terms, 0)
	fit := effects.NewFit(effects.NewTable(x, codes), rows)
	moments(p.With(nil), q, x, rows)
	fit.Put(p.Effects())
	sums, err := fit.Sums(nil)
	if err != nil {
		return nil, nil, err
	}
	_, err = fit.Look(ctx)
	return fit, p.Trained(sums), err
}

// roundTolerance is that of the process while effects still move.
const roundTolerance = 1e-2

// roundPasses is the most passes of the process in a round where terms couple functions: steps become
// shorter slowly, a pass takes longer than those of the effects, and the next round goes on from there.
const roundPasses = 2

// weigh finds the evidence and the bound of a process with effects. That of the process given
// what is known of the effects is lower by their divergence from the prior.
func (f *Induced) weigh(ctx context.Context, o pass.Settings) error {
	for _, rule := range []infer.Rule{o.Rule, infer.Variational{}} {
		sums, err := f.Engine.Look(ctx, f.Result.Q.Naturals(), pass.Options{Rule: rule}, nil)
		if err != nil {
			return err
		}
		value := pass.Objective(rule, f.Result.Q, sums.Value)
		if f.Process.Effects().Joint() == nil { // otherwise it is the value of both
			value -= f.Process.Effects().Divergence()
		}
		if rule == o.Rule {
			f.LogEvidence = value
		} else {
			f.Bound = value
		}
	}
	return nil
}

// viewed is an engine with its rows in memory.
type viewed interface {
	Views(func(from int, views *gauss.Views))
	Predict(q gauss.Gaussians, mean, variance []float64)
}

// momentRows is the number of rows of a task of moments.
const momentRows = 1024

// moments tells effects the mean and variance of a process without effects at the rows of x.
func moments(p *gp.Inducing, q gauss.Gaussians, x *mat.Dense, to *effects.InMemory) {
	n, d := x.Dims()
	to.Offset, to.Spread = make([]float64, n*len(q)), make([]float64, n*len(q))
	mean, variance := make([][]float64, len(q)), make([][]float64, len(q))
	for c := range q {
		mean[c], variance[c] = to.Offset[c*n:(c+1)*n], to.Spread[c*n:(c+1)*n]
	}
	if predictors, ok := p.Predictors(q); ok {
		predictors.Moments(x, mean, variance)
		return
	}
	tasks.Each((n+momentRows-1)/momentRows, func() func(int) {
		var ws gauss.Workspace
		return func(task int) {
			from, to := task*momentRows, min((task+1)*momentRows, n)
			views := p.At(x.Slice(from, to, 0, d).(*mat.Dense))
			for c, one := range q {
				one.Predict(views, mean[c][from:to], variance[c][from:to], &ws)
			}
		}
	})
}

// EffectsPoints is the most inducing points that are chosen beside effects: as many as without,
// and beyond 150,000 rows fewer the more rows there are. Of so many rows effects tell most of what
// there is to tell, and the kernel of every row with every point takes most of the time.
func EffectsPoints(rows, functions int) int {
	share := min(1, manyEffectsRows/float64(max(1, rows)))
	return min(rows, max(leastEffectsPoints, int(share*share*float64(MostPoints(rows, functions)))))
}

const (
	manyEffectsRows    = 150_000
	leastEffectsPoints = 32
)
