package lossep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/pass"
	"github.com/lossep/lossep/search"
)

// induce finds inducing points and the kernel.
func (p *Problem) induce(ctx context.Context) (*Learned, error) {
	var tried []Candidate
	if p.opt.Kernel == AutoKernel {
		var err error
		choose := p.chosen
		if several(p.Recipe) {
			choose = p.chosenApart
		}
		if p, tried, err = choose(ctx); err != nil {
			return nil, err
		}
	}
	o := search.InduceOptions{
		Options: search.Options{Seed: p.opt.Seed, Shrinkage: p.shrinkage}, Fixed: p.opt.Fixed,
		Points: p.opt.Inducing, Power: p.opt.Power, Memory: p.roomBytes(), ShardRows: p.opt.ShardRows, Sweeps: p.opt.Sweeps,
	}
	o.Order = p.order
	if p.effects != nil {
		o.Most = search.EffectsPoints(p.Len())
	}
	var err error
	if o.Resume, o.Checkpoint, err = p.resume(); err != nil {
		return nil, err
	}
	if p.start || strings.Contains(p.opt.Kernel, "=") {
		o.Start = p.Kernel.Params(nil)
	}
	if p.opt.Progress != nil {
		o.Pass = func(e search.Passed) {
			stage := fmt.Sprintf("searching for the kernel with %d rows and %d inducing points", e.Rows, e.Points)
			if e.Held {
				stage = fmt.Sprintf("expectation propagation with %d rows and %d inducing points", e.Rows, e.Points)
			}
			p.opt.Progress(Progress{Stage: stage, Step: e.Evaluation, Steps: e.Evaluations, Done: e.Done, Pass: e.Pass, Residual: e.Residual, LogEvidence: e.LogEvidence})
		}
	}
	if p.opt.Elsewhere != nil && p.order != nil {
		if o.Driver, err = p.opt.Elsewhere(p.training()); err != nil {
			return nil, err
		}
	}
	fit, err := search.Induce(ctx, p.Kernel, p.X, p.many(), o)
	if err != nil {
		return nil, err
	}
	var added *effects.Fit
	if p.effects != nil {
		if fit, added, err = p.addEffects(ctx, fit); err != nil {
			return nil, err
		}
	}
	l := &Learned{problem: p, induced: fit, effects: added, doubts: doubtsOf(fit.Result.Status), candidates: tried}
	if !p.opt.Fixed {
		l.search = newSearch(fit.Evaluations, fit.Stop, fit.LogPrior, fit.Process.Kernel(), fit.AtBound)
		if fit.SearchRows < p.Len() {
			l.search.Rows = fit.SearchRows
		}
	}
	return l, nil
}

// addEffects learns the effects of the kernel.
func (p *Problem) addEffects(ctx context.Context, fit *search.Induced) (*search.Induced, *effects.Fit, error) {
	o := search.EffectOptions{
		Families: p.families, Codes: p.coding.Codes(),
		ShardRows: p.opt.ShardRows, Sweeps: p.opt.Sweeps, Power: p.opt.Power,
	}
	if p.effects.auto {
		c := effects.DefaultChoice()
		o.Choice = &c
	}
	if p.opt.Progress != nil {
		o.Progress = func(e effects.Progress) {
			stage := fmt.Sprintf("effects of %s, %s", data.Plural(e.Groups, "group"), data.Plural(e.Families, "family"))
			p.opt.Progress(Progress{Stage: stage, Pass: e.Pass, LogEvidence: e.Bound})
		}
	}
	with, added, err := fit.AddEffects(ctx, p.X, p.many().(gp.SingleTerms), o)
	var many *effects.TooManyGroupsError
	if errors.As(err, &many) {
		return nil, nil, &InputError{What: "kernel", Msg: many.Family.Name(entryNames(p.Recipe)) + ": " + many.Error() + "; give fewer bins, or columns of fewer categories", Err: err}
	}
	return with, added, err
}

// effectsOf are the families of a process, as a summary has them.
func (p *Problem) effectsOf(set effects.Set) (all []Effects) {
	names := entryNames(p.Recipe)
	for _, e := range set {
		one := Effects{Term: e.Family.Name(names), Cells: len(e.Keys()), Counts: e.Rows != nil, Variance: e.Variance, Gain: e.Nats()}
		for k, part := range e.Family.Parts() {
			one.Columns = append(one.Columns, EffectsPart{Entry: part.Column, Bins: part.Bins, Cells: e.Axes[k].Cells})
		}
		all = append(all, one)
	}
	return all
}

// training is what others need to know of the rows.
func (p *Problem) training() *Training {
	size := p.opt.ShardRows
	if size == 0 {
		size = gp.ShardRows
	}
	t := &Training{Recipe: p.Recipe, Likelihood: p.opt.Likelihood, Rows: p.Len(), ShardRows: size, Fingerprint: p.fingerprint()}
	all := &Part{p.X, t.Likelihood.many(p.Labels, p.Weights)}
	for from := 0; from < t.Rows; from += size {
		t.Checksums = append(t.Checksums, all.slice(from, min(from+size, t.Rows)).checksum())
	}
	return t
}

// inducedModel applies a method to a process with inducing points.
func (l *Learned) inducedModel(ctx context.Context, method Method) (*Model, error) {
	p, fit := l.problem, l.induced
	d := method.row(p.Len())
	p.tell(d.Title, 0, fit.LogEvidence)
	found, err := l.inferInduced(ctx, method)
	if err != nil {
		return nil, err
	}
	m := &Model{
		recipe: p.Recipe, coding: p.coding, utility: p.Utility, kernel: l.Kernel(), likelihood: p.opt.Likelihood, method: method,
		provenance: Provenance{Version: Version, Seed: p.opt.Seed, Rows: p.Len(), Features: p.Recipe.NumFeatures()},
		summary: Summary{
			LogEvidence: fit.LogEvidence, Search: l.search, Status: newStatus(found.Status), Zero: p.zero, Jitter: fit.Process.Jitter(),
			Candidates: l.candidates, Effects: p.effectsOf(fit.Process.Effects()),
			Inducing: &Inducing{Points: fit.Process.Dim(), Share: fit.Share, Lost: fit.Lost, Bound: fit.Bound, Power: p.opt.power()},
		},
		inducing: &inducing{process: fit.Process, ep: fit.Result.Q, own: found.Q},
	}
	if rows, features := p.X.Dims(); keepsRows(rows, features, p.functions()) {
		m.x, m.labels, m.weights = p.X, p.Labels, p.Weights
		if m.ep, err = fit.Engine.Sites(ctx); err != nil {
			return nil, err
		}
	}
	if d.Objective != "" {
		m.summary.Objective = &Objective{d.Objective, found.LogEvidence}
	}
	if method != EP {
		m.summary.Status.Notes = l.doubts
	}
	if fit.Fewer != nil {
		m.summary.Status.Notes = append(slices.Clone(m.summary.Status.Notes), "the inducing points are those of the search, as there is no result with all of them: "+fit.Fewer.Error())
	}
	if points := fit.Process.Dim(); p.opt.Inducing > points && fit.Fewer == nil {
		m.summary.Status.Notes = append(slices.Clone(m.summary.Status.Notes), fmt.Sprintf("%s in place of %d: with these nothing is left of the variance of the rows that could be told from rounding", data.Plural(points, "inducing point"), p.opt.Inducing))
	}
	m.summary.Status.Notes = append(slices.Clone(m.summary.Status.Notes), p.fewPoints(m.summary.Inducing)...)
	if p.groups != nil {
		m.summary.Status.Notes = append(m.summary.Status.Notes, fmt.Sprintf("leave-one-out leaves out single rows here, and those of the same %q flatter it; an audit leaves them out together", p.opt.Data.Groups))
	}
	if err := m.assembleInduced(); errors.Is(err, errNoPredictions) {
		return nil, &InputError{What: "kernel", Msg: err.Error(), Err: err}
	} else if err != nil {
		return nil, err
	}
	if several(p.Recipe) {
		err = l.leaveOneOutApart(ctx, m, found)
	} else {
		m.summary.LeaveOneOut, m.summary.Sharpness, err = l.leaveOneOut(ctx, method, found)
	}
	return m, err
}

// fewPoints says so where a number of inducing points was asked for that loses much of what more
// would tell. Five times what is tolerable is told apart from rows for which there are never
// points enough.
func (p *Problem) fewPoints(s *Inducing) []string {
	usual := search.MostPoints(p.Len(), p.functions())
	if p.opt.Inducing <= 0 || s.Points >= usual || s.Lost <= 5*search.TolerableLoss {
		return nil
	}
	return []string{fmt.Sprintf("with %s about %.2g nats per row are lost, which is much; unless a number is given there are as many points as lose %g at most, up to %d for %d rows",
		data.Plural(s.Points, "inducing point"), s.Lost, search.TolerableLoss, usual, p.Len())}
}

// inferInduced runs a method from the fixed point of EP.
func (l *Learned) inferInduced(ctx context.Context, method Method) (*foundByPasses, error) {
	p, fit := l.problem, l.induced
	d := method.row(p.Len())
	found := &foundByPasses{engine: fit.Engine, rule: d.Rule}
	o := pass.Settings{Warm: true, Sweeps: p.opt.Sweeps, Tolerance: induceTolerance, Trace: p.traced(method)}
	switch {
	case d.Rule == nil:
		return nil, inputf("method", "%s cannot be had from inducing points", method)
	case method == EP:
		found.Q, found.LogEvidence, found.Status = fit.Result.Q, fit.LogEvidence, fit.Result.Status
		return found, nil
	}
	found.engine = fit.Engine.Fork()
	if d.Calibrated {
		rows, tables, err := p.points()
		if err != nil {
			return nil, err
		}
		u, err := p.utilityOf(rows, tables)
		if err != nil {
			return nil, fmt.Errorf("utility: %w", err)
		}
		o.Rule = infer.Propagation{Power: p.opt.Power}
		r, err := pass.Calibrate(ctx, found.engine, u, fit.Process.At(rowsOf(p.X, rows)), o)
		if err != nil {
			return nil, err
		}
		found.Q, found.LogEvidence, found.Status = r.Q, r.LogEvidence, r.Status
		return found, nil
	}
	o.Rule = found.rule
	r, err := pass.Settle(ctx, found.engine, o)
	if err != nil {
		return nil, err
	}
	sums, err := found.engine.Look(ctx, r.Q.Naturals(), pass.Options{Rule: found.rule}, nil)
	if err != nil {
		return nil, err
	}
	found.Q, found.Status, found.LogEvidence = r.Q, r.Status, pass.Objective(found.rule, r.Q, sums.Value)
	return found, nil
}

// induceTolerance is how far the last pass of a method may move its posterior; see
// pass.Settings.
const induceTolerance = 1e-5

// traced tells Progress of the passes of a method.
func (p *Problem) traced(method Method) func(pass.Step) {
	if p.opt.Progress == nil {
		return nil
	}
	title := method.row(p.Len()).Title
	return func(s pass.Step) {
		p.opt.Progress(Progress{Stage: title, Pass: s.Number, Residual: s.Residual, LogEvidence: s.Objective})
	}
}

// leaveOneOut predicts and decides every training row without it, in one pass. With effects it
// tells by how much probabilities are to be sharpened, too: a product over effects knows nothing
// of how they hang together.
func (l *Learned) leaveOneOut(ctx context.Context, method Method, found *foundByPasses) (*LeaveOneOut, float64, error) {
	p := l.problem
	tally := p.newTally(method)
	add := func(i int, mean, variance []float64) { tally.add(i, mean[0], variance[0]) }
	var left []effects.Moment
	if l.effects != nil {
		left = make([]effects.Moment, p.Len())
		add = func(i int, mean, variance []float64) {
			without := l.effects.Without(i)
			left[i] = effects.Moment{Mean: mean[0] + without.Mean, Variance: variance[0] + without.Variance}
		}
	}
	if _, err := found.engine.Look(ctx, found.Q.Naturals(), pass.Options{Rule: found.rule}, add); err != nil {
		return nil, 0, err
	}
	if left != nil {
		tally.power = p.sharpnessOf(left)
	}
	for i, w := range left {
		tally.add(i, w.Mean, w.Variance)
	}
	return tally.result(), tally.power, nil
}

// sharpnessRows is how many rows tell how sharp probabilities are to be.
const sharpnessRows = 100_000

// sharpnessOf is the sharpness that rows ask for whose values have these moments without them.
func (p *Problem) sharpnessOf(left []effects.Moment) float64 {
	var pairs [][]float64
	var outcomes []int
	var counts []float64
	outcome := p.opt.Likelihood.outcome()
	step := max(1, len(left)/sharpnessRows)
	for place := 0; place < len(left); place += step {
		i := place
		if p.order != nil {
			i = p.order[place]
		}
		pair := make([]float64, 2)
		pair[0], pair[1] = probabilities(outcome, left[i].Mean, left[i].Variance)
		if !finite.All(pair...) {
			continue
		}
		count := 1.0
		if p.Weights != nil {
			count = p.Weights[i]
		}
		pairs, outcomes, counts = append(pairs, pair), append(outcomes, p.Labels[i]), append(counts, count)
	}
	return sharpness(pairs, outcomes, counts, nil)
}

// inducingLines say what the points leave open.
func (m *Model) inducingLines() []string {
	s := m.summary.Inducing
	if s == nil {
		return nil
	}
	lines := []string{
		fmt.Sprintf("inducing points                %d for %d rows; %s of the variance is left, about %.2g nats per row", s.Points, m.provenance.Rows, s.Left(), s.Lost),
		fmt.Sprintf("lower bound on the evidence    %.6f", s.Bound),
	}
	if s.Power != 1 {
		lines = append(lines, fmt.Sprintf("power                          %v", s.Power))
	}
	for _, e := range m.summary.Effects {
		lines = append(lines, fmt.Sprintf("%s   %s, standard deviation %.3g, %.4g nats", e.Term, data.Plural(e.Cells, "group"), math.Sqrt(e.Variance), e.Gain))
	}
	return lines
}
