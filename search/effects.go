package search

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/pass"
)

// EffectOptions of AddEffects.
type EffectOptions struct {
	// Families are taken as they are. Choice, if set, chooses further ones.
	Families          []effects.Family
	Choice            *effects.Choice
	Codes             int // columns that are codes, the last ones
	ShardRows, Sweeps int
	Power             float64
	// Search, if set, is how the kernel of the process is searched for again, beside the effects.
	Search *InduceOptions
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
// variance. The kernel is searched for again once families are found, where options say so: what they
// tell is no longer for the process to tell. Where no family is worth it the result is the same as
// before.
//
// Leaving a row out takes effects.Fit.Without, which is returned.
func (f *Induced) AddEffects(ctx context.Context, x *mat.Dense, terms gp.Terms, o EffectOptions) (*Induced, *effects.Fit, error) {
	fit := effects.NewFit(effects.NewTable(x, o.Codes), terms)
	smooth := f.Process.With(nil)
	n := terms.Len()
	fit.Offset, fit.Spread = make([]float64, n*gp.Functions(terms)), make([]float64, n*gp.Functions(terms))
	fit.Logs = f.Tuned
	f.moments(nil, fit)
	tolerance := effectTolerance * float64(n)
	for _, family := range o.Families {
		if err := fit.Add(family, 0); err != nil {
			return nil, nil, err
		}
	}
	if o.Choice != nil {
		c := *o.Choice
		c.Trace = o.Progress
		if err := fit.Choose(ctx, c); err != nil {
			return nil, nil, err
		}
	}
	settings := pass.Settings{Rule: infer.Propagation{Power: o.Power}, Sweeps: o.Sweeps, Tolerance: finalTolerance(n), Ahead: n > SearchRows, Warm: true}
	out := *f
	out.draft = false
	if len(fit.Effects()) == 0 {
		if t := newTuning(terms).terms; t != nil {
			t.Tune(f.Tuned)
		}
		if !f.draft {
			return f, nil, nil
		}
		return &out, nil, out.weigh(ctx, settings)
	}
	settings.Tolerance = roundTolerance
	driver := gp.InMemory(x, terms, f.buffer, o.ShardRows)
	var sums []effects.Moment
	if o.Search != nil {
		sums = fit.Sums(nil)
		again := *o.Search
		again.Beside, again.Tuned, again.buffer, again.Draft = sums, fit.Logs, f.buffer, true
		f.Engine = nil // collectable
		next, err := Induce(ctx, f.Process.Kernel(), x, terms, again)
		if err != nil {
			return nil, nil, err
		}
		out = *next
		smooth = out.Process.Trained(nil)
		out.draft = false
		out.moments(sums, fit)
		fit.Logs = out.Tuned
	}
	last := math.Inf(-1)
	for round, final := 1, false; ; round++ {
		passes := effectPasses
		if final {
			passes, settings.Tolerance, settings.MaxPasses = finalPasses, finalTolerance(n), 0
		} else if gp.Functions(terms) > 1 {
			settings.MaxPasses = roundPasses
		}
		bound, err := fit.Run(ctx, passes, tolerance, o.Progress)
		if err != nil {
			return nil, nil, err
		}
		sums = fit.Sums(sums)
		out.Process = smooth.With(fit.Effects()).Trained(sums)
		if out.Engine, err = driver.Drive(out.Process, out.Engine); err != nil {
			return nil, nil, err
		}
		if out.Result, err = pass.Settle(ctx, out.Engine, settings); err != nil {
			return nil, nil, err
		}
		out.moments(sums, fit)
		if final {
			break
		}
		final = round+1 == effectRounds || bound-last < roundGain*float64(n)
		last = bound
	}
	if err := fit.Look(); err != nil {
		return nil, nil, err
	}
	fit.Explain()
	out.Tuned = fit.Logs
	return &out, fit, out.weigh(ctx, settings)
}

// Effects are those of a process as they were when they were learnt from the rows, and the
// process that knows their sums there. A process without has none.
func Effects(p *gp.Inducing, q gauss.Gaussians, x *mat.Dense, terms gp.Terms, codes int) (*effects.Fit, *gp.Inducing, error) {
	if p.Effects() == nil {
		return nil, p, nil
	}
	fit := effects.NewFit(effects.NewTable(x, codes), terms)
	moments(p.With(nil), q, x, fit)
	if err := fit.Put(p.Effects()); err != nil {
		return nil, nil, err
	}
	return fit, p.Trained(fit.Sums(nil)), fit.Look()
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
		value := pass.Objective(rule, f.Result.Q, sums.Value) - f.Process.Effects().Divergence()
		if rule == o.Rule {
			f.LogEvidence = value
		} else {
			f.Bound = value
		}
	}
	return nil
}

// moments tells effects the mean and variance of the process at all rows, of which theirs, if
// there are any yet, are no part.
func (f *Induced) moments(sums []effects.Moment, to *effects.Fit) {
	f.Engine.(viewed).Predict(f.Result.Q, to.Offset, to.Spread)
	k := len(f.Result.Q)
	n := len(to.Offset) / k
	for i, w := range sums { // the functions of a row one after the other
		at := i%k*n + i/k
		to.Offset[at], to.Spread[at] = to.Offset[at]-w.Mean, max(0, to.Spread[at]-w.Variance)
	}
}

// viewed is an engine with its rows in memory.
type viewed interface {
	Views(func(from int, views *gauss.Views))
	Predict(q gauss.Gaussians, mean, variance []float64)
}

// momentRows is the number of rows of a task of moments.
const momentRows = 1024

// moments tells effects the mean and variance of a process without effects at the rows of x.
func moments(p *gp.Inducing, q gauss.Gaussians, x *mat.Dense, to *effects.Fit) {
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
