package numbers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/methods"
	"github.com/lossep/lossep/modelfile"
	"github.com/lossep/lossep/pass"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/search"
)

// splitKernel takes the effects out of the kernel, or of that which none stands for.
func (p *Problem) splitKernel() (err error) {
	text := p.opt.Kernel
	if text == "" || text == lossep.AutoKernel {
		text = lossep.ManyRowsKernel
		if p.coding.Len() > lossep.FewColumns {
			text = lossep.ManyColumnsKernel
		}
		text += " + " + lossep.AutoEffects
	}
	if p.smooth, p.effects, err = lossep.SplitEffects(text, p.Recipe); err == nil && p.effects != nil && p.opt.Inducing == lossep.NoInducing && p.opt.Kernel == text {
		err = inputf("kernel", "effects are learnt beside inducing points; let there be some")
	}
	return err
}

// induced fits a process with inducing points, and effects of groups beside it.
func (p *Problem) induced(ctx context.Context, m *Model, of *terms, kept *lossep.Unfinished) error {
	k, err := p.parse(p.smooth)
	if err != nil {
		return err
	}
	o := search.InduceOptions{Options: search.Options{Seed: p.opt.Seed}, Order: p.order, Points: p.opt.Inducing, Memory: p.opt.MaxMemory / 2, ShardRows: p.opt.ShardRows, Sweeps: p.opt.Sweeps}
	if strings.Contains(p.smooth, "=") {
		o.Start = k.Params(nil)
	}
	if p.opt.Progress != nil {
		o.Pass = func(e search.Passed) {
			p.opt.Progress(lossep.Progress{Stage: fmt.Sprintf("expectation propagation with %d rows and %d inducing points", e.Rows, e.Points), Step: e.Evaluation, Steps: e.Evaluations, Done: e.Done, Pass: e.Pass, Residual: e.Residual, LogEvidence: e.LogEvidence})
		}
	}
	if p.effects != nil {
		o.Most, o.Draft = search.EffectsPoints(p.Len(), 1), true
		o.Withdrawn = p.effects.Alone(p.coding, cmp.Or(p.opt.Inducing, o.Most))
		if p.effects.Auto() {
			for _, l := range p.levels() {
				o.Withdrawn = append(o.Withdrawn, l.Column)
			}
		}
		o.Memory = max(0, o.Memory-lossep.EffectRowBytes*int64(p.Len()))
	}
	if p.opt.Elsewhere != nil && p.order != nil && p.known == nil { // terms elsewhere have the noise of the shape
		fingerprint := fmt.Sprint(lossep.Version, search.SearchPlan(), p.smooth, p.effects, p.opt.Seed, p.opt.Inducing, p.opt.Sweeps)
		known := lossep.NewTraining(p.Recipe, &m.shape, p.X, p.Values, p.Weights, of, p.opt.ShardRows, fingerprint)
		if o.Driver, err = p.opt.Elsewhere(known); err != nil {
			return err
		}
	}
	if err := kept.Search(&o, k, p.X, of, shapes{m.shape, m.summary.Shapes}); err != nil {
		return err
	}
	fit, added, err := p.effects.Induce(ctx, k, p.X, of, p.Recipe, o, p.opt)
	if err != nil {
		return err
	}
	if p.effects.Auto() {
		fit.Process = fit.Process.With(fit.Process.Effects().Walking(p.levels()))
	}
	m.weight, m.family = 1, of.family
	m.summary.Inducing, m.summary.LogEvidence, m.summary.Search = fit.Process.Dim(), fit.LogEvidence, fit.Record(p.Len())
	m.summary.Effects = modelfile.EffectsOf(fit.Process.Effects(), lossep.EntryNames(p.Recipe))
	found, err := p.applyByPasses(ctx, m, fit)
	if err != nil {
		return err
	}
	m.summary.status(found.Status)
	m.summary.Objective = found.Objective
	var sites []gauss.Scalar
	if lossep.KeepsRows(p.Len(), p.coding.Len(), 1) {
		if sites, err = found.Engine.Sites(ctx); err != nil {
			return err
		}
	} else {
		m.x, m.values, m.weights, m.kept = nil, nil, nil, lossep.CostColumns{}
	}
	m.posterior = posterior.NewInducing(fit.Under(found.Engine), posterior.Latent{}, found.Q[0], sites)
	d, _ := methods.Named(string(p.method()))
	left, err := leftOut(ctx, found.Engine, found.Q, d.Rule, added, p.Len())
	if err != nil {
		return err
	}
	if m.uneven, err = p.sampled().noise(ctx, of, &m.shape.Transform, left); err != nil {
		return err
	}
	m.summary.Noise = modelfile.EffectsOf(m.uneven.spread, lossep.EntryNames(p.Recipe))
	return p.leaveOneOut(ctx, m, [][]gauss.Scalar{left})
}

// fewLevels is the most values of a number that bins tell apart, whatever their number.
const fewLevels = 16

// levels are the columns of numbers with few values, such as years, of which effects say all that can be said: a length scale
// would be a guess, and with it what is beyond the last of them.
func (p *Problem) levels() (columns []effects.Levels) {
	rows, _ := p.X.Dims()
	for k := range p.coding.Numbers() {
		seen := make(map[float64]bool)
		for i := 0; i < rows && len(seen) <= fewLevels; i++ {
			if x := p.X.At(i, k); !math.IsNaN(x) {
				seen[x] = true
			}
		}
		if len(seen) <= fewLevels {
			columns = append(columns, effects.Levels{Column: k, Values: slices.Sorted(maps.Keys(seen))})
		}
	}
	return columns
}

// leftOut is what is known of every row without it, by a pass over all of them.
func leftOut(ctx context.Context, engine gp.Engine, q gauss.Gaussians, rule infer.Rule, added *effects.Fit, rows int) ([]gauss.Scalar, error) {
	left := make([]gauss.Scalar, rows)
	_, err := engine.Look(ctx, q.Naturals(), pass.Options{Rule: rule}, func(first int, mean, variance []float64) {
		for j, m := range mean {
			at := effects.Moment{Mean: m, Variance: variance[j]}
			if added != nil {
				change := added.Without(first+j, 0)
				at.Mean, at.Variance = at.Mean+change.Mean, at.Variance+change.Variance
			}
			left[first+j] = gauss.ScalarFromMoments(at.Mean, at.Variance)
		}
	})
	return left, err
}

// leftOutRows is the most rows that are predicted and decided without them.
const leftOutRows = 5000

// leaveOneOut predicts and decides training rows, given what each part knows of the latent value without each.
func (p *Problem) leaveOneOut(ctx context.Context, m *Model, left [][]gauss.Scalar) error {
	loo := new(LeaveOneOut)
	constant := p.constant(1)
	sum, squares, variance, largest, heaviest := 0.0, 0.0, 0.0, 0.0, 1.0
	var differences []float64
	if p.Weights != nil { // so that squares of small ones are numbers
		heaviest = slices.Max(p.Weights)
	}
	rows := indices.Of(p.Len())
	if p.Len() > leftOutRows {
		rows = p.sample(leftOutRows)
	}
	for _, i := range rows {
		d, ok := m.without(i, p.X.RawRowView(i), left)
		if !ok {
			return nil
		}
		d = measured(d, p.known, i)
		w := 1.0
		if p.Weights != nil {
			w = p.Weights[i] / heaviest
		}
		sum += w
		squares += w * w
		s := p.Stake(i)
		a := NewAccount(ctx, s, d, p.Values[i])
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.Costs.CheckChoice(a.NumberChoice); err != nil {
			return Located(p.at(i), err)
		}
		loo.LogDensity += w * d.LogDensity(p.Values[i])
		loo.Cost += w * a.Cost
		largest = max(largest, w*a.Cost)
		always := s.Cost(constant, p.Values[i])
		loo.Constant += w * always
		differences = append(differences, a.Cost-always)
		loo.Expected += w * a.Expected
		variance += w * w * a.Variance
		loo.Coverage += w * a.Inside
	}
	if share := largest / loo.Cost; len(rows) >= noiseRows && share > 0.5 {
		loo.Dominant = min(share, 1)
	}
	for _, x := range []*float64{&loo.LogDensity, &loo.Cost, &loo.Constant, &loo.Coverage, &loo.Expected} {
		*x /= sum
	}
	// Squares beyond the largest number say that costs may be anything.
	loo.Error, loo.Rows = min(math.Sqrt(variance)/sum, math.MaxFloat64), sum*sum/squares
	loo.LogDensity = max(loo.LogDensity, -math.MaxFloat64)
	if what := "copies"; p.together != nil && m.summary.Inducing > 0 {
		if column := p.opt.Data.Groups; column != "" {
			what = fmt.Sprintf("those of the same %q", column)
		}
		loo.Note = lossep.OneByOne(what)
	}
	if worst := loo.Cost + loo.Constant; math.IsNaN(worst) || math.IsInf(worst, 0) || math.IsNaN(loo.Error) {
		return inputf("utility", "the costs of the training rows are not finite; give costs that are numbers for every action and outcome")
	}
	if _, stdErr, err := compare.NewCases(len(rows), indices.Take(p.Weights, rows), indices.Take(p.together, rows)).MeanError(differences); err == nil {
		loo.Difference = stdErr
	}
	m.summary.LeaveOneOut = loo
	return nil
}
