package lossep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/modelfile"
	"github.com/lossep/lossep/pass"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// induce finds inducing points and the kernel.
func (p *Problem) induce(ctx context.Context) (*Learned, error) {
	var tried []Candidate
	if p.opt.Kernel == AutoKernel {
		choice, err := p.searched().Choose(ctx)
		if err != nil {
			return nil, err
		}
		q := *p
		q.Kernel, q.shrinkage, q.start = choice.Kernel, choice.Shrinkage, choice.Fitted
		p, tried = &q, choice.Candidates
	}
	o := search.InduceOptions{
		Options: search.Options{Seed: p.opt.Seed, Shrinkage: p.shrinkage}, Fixed: p.opt.Fixed,
		Points: p.opt.Inducing, Power: p.opt.Power, Memory: p.roomBytes(), ShardRows: p.opt.ShardRows, Sweeps: p.opt.Sweeps,
	}
	o.Order = p.order
	if p.effects != nil {
		o.Most, o.Draft = search.EffectsPoints(p.Len(), p.link().functions()), true
		o.Withdrawn = p.effects.Alone(p.coding, cmp.Or(p.opt.Inducing, search.MostPoints(p.Len(), p.link().functions())))
	}
	terms := p.many()
	u, err := Resume(p.opt.Checkpoints, p.fingerprint)
	if err == nil {
		err = u.Search(&o, p.Kernel, p.X, terms, nil)
	}
	if err != nil {
		return nil, err
	}
	if p.start || strings.Contains(p.opt.Kernel, "=") {
		o.Start = p.Kernel.Params(nil)
	}
	if p.opt.Progress != nil {
		o.Pass = p.tellPass
	}
	if p.opt.Elsewhere != nil && p.order != nil {
		known := NewTraining(p.Recipe, p.opt.Likelihood, p.X, numbersOf(p.Labels), p.Weights, terms, p.opt.ShardRows, p.fingerprint())
		if o.Driver, err = p.opt.Elsewhere(known); err != nil {
			return nil, err
		}
	}
	fit, added, err := p.effects.Induce(ctx, p.Kernel, p.X, terms, p.Recipe, o, p.opt)
	if err != nil {
		return nil, err
	}
	p = p.tuned(fit.Tuned)
	l := &Learned{problem: p, process: induced{fit, added}, doubts: doubtsOf(fit.Result.Status), candidates: tried}
	if !p.opt.Fixed {
		l.search = fit.Record(p.Len())
	}
	return l, nil
}

// tellPass tells of a pass over rows that are seen from inducing points.
func (p *Problem) tellPass(e search.Passed) {
	stage := fmt.Sprintf("searching for the kernel with %d rows and %d inducing points", e.Rows, e.Points)
	if e.Held {
		stage = fmt.Sprintf("expectation propagation with %d rows and %d inducing points", e.Rows, e.Points)
	}
	p.opt.Progress(Progress{Stage: stage, Step: e.Evaluation, Steps: e.Evaluations, Done: e.Done, Pass: e.Pass, Residual: e.Residual, LogEvidence: e.LogEvidence})
}

// Induce finds inducing points and the kernel, and learns effects beside the process; nil has none.
func (t *EffectTerms) Induce(ctx context.Context, k kernel.Kernel, x *mat.Dense, terms gp.Terms, r *recipe.Recipe, o search.InduceOptions, opt Options) (*search.Induced, *effects.Fit, error) {
	fit, err := o.Resume.BesideEffects(k, o.Memory)
	if fit == nil && err == nil {
		fit, err = search.Induce(ctx, k, x, terms, o)
		o.Resume = nil // it is over
	}
	if err != nil || t == nil {
		return fit, nil, err
	}
	return t.learn(ctx, fit, x, terms, r, o, opt)
}

// learn learns the effects beside a process that inducing points found as search says.
func (t *EffectTerms) learn(ctx context.Context, fit *search.Induced, x *mat.Dense, terms gp.Terms, r *recipe.Recipe, again search.InduceOptions, opt Options) (*search.Induced, *effects.Fit, error) {
	o := search.EffectOptions{Families: t.families, Codes: r.Coding().Codes(), ShardRows: opt.ShardRows, Sweeps: opt.Sweeps, Power: opt.Power, Driver: again.Driver, Groups: opt.mostGroups()}
	if !opt.Fixed {
		again.Start = fit.Process.Kernel().Params(nil)
		o.Search = &again
	}
	if t.auto {
		c := effects.DefaultChoice()
		if r.Score() != "" {
			c.Except = []int{0} // which has a term of its own
		}
		o.Choice = &c
	}
	if opt.Progress != nil {
		o.Progress = func(e effects.Progress) {
			stage := fmt.Sprintf("effects of %s in %d families", table.Plural(e.Groups, "group"), e.Families)
			opt.Progress(Progress{Stage: stage, Pass: e.Pass, LogEvidence: e.Bound})
		}
	}
	with, added, err := fit.AddEffects(ctx, x, terms, o)
	var many *effects.TooManyGroupsError
	if errors.As(err, &many) {
		return nil, nil, &InputError{What: "kernel", Msg: many.Family.Name(EntryNames(r)) + ": " + many.Error() + "; give fewer bins, columns of fewer categories, or more memory", Err: err}
	}
	return with, added, err
}

// induced is a process with inducing points, and effects added to it, nil if there are none.
type induced struct {
	*search.Induced
	effects *effects.Fit
}

func (f induced) components() []Component {
	return []Component{{Weight: 1, Kernel: f.Process.Kernel()}}
}
func (f induced) points() int          { return f.Process.Dim() }
func (f induced) logEvidence() float64 { return f.LogEvidence }

// apply implements learned.
func (f induced) apply(ctx context.Context, l *Learned, method Method) (*applied, error) {
	p := l.problem
	d := method.row(p.Len())
	p.tell(d.Title, 0, f.LogEvidence)
	q, found, err := f.infer(ctx, p, method)
	if err != nil {
		return nil, err
	}
	var sites []gauss.Scalar
	if rows, features := p.X.Dims(); KeepsRows(rows, features, p.link().functions()) {
		if sites, err = f.Engine.Sites(ctx); err != nil {
			return nil, err
		}
	}
	found.opinions = inducedOpinions(p.link(), f.Process, method, posterior.State{Functions: f.Result.Q, Sites: sites}, f.Under(found.engine), q)
	if method != EP {
		found.status.Notes = l.doubts
	}
	left := posterior.Passes{Engine: found.engine, Rule: d.Rule, Of: found.opinions[0].Posterior.(posterior.ByPasses)}
	if f.effects != nil {
		left.Without = f.effects.Without
		found.effects = modelfile.EffectsOf(f.Process.Effects(), EntryNames(p.Recipe))
	}
	found.left = left
	// A product over functions, or effects, knows nothing of how they hang together.
	found.sharpens = p.link().functions() > 1 || f.effects != nil && f.Process.Effects().Joint() == nil
	found.logEvidence, found.search, found.jitter = f.LogEvidence, l.search, f.Process.Jitter()
	found.inducing = &Inducing{Points: f.Process.Dim(), Share: f.Share, Lost: f.Lost, Bound: f.Bound, Power: p.opt.power()}
	found.status.Notes = append(slices.Clone(found.status.Notes), f.notes(p, found.inducing)...)
	return &found.applied, nil
}

// inducedOpinions are that of a method, whose Gaussians are own, and that of EP. Their processes differ in effects only.
func inducedOpinions(l link, process *gp.Inducing, method Method, ep posterior.State, by *gp.Inducing, own gauss.Gaussians) []opinion {
	all := []opinion{{EP, l.inducing(process, ep.Functions, ep.Sites)}}
	if method != EP {
		all = append([]opinion{{method, l.inducing(by, own, nil)}}, all...)
	}
	return all
}

// notes are what a person should know about the points.
func (f induced) notes(p *Problem, s *Inducing) (notes []string) {
	if f.Fewer != nil {
		notes = append(notes, "the inducing points are those of the search, as there is no result with all of them: "+f.Fewer.Error())
	}
	if points := f.Process.Dim(); p.opt.Inducing > points && f.Fewer == nil {
		notes = append(notes, fmt.Sprintf("%s in place of %d: with these nothing is left of the variance of the rows that could be distinguished from rounding", table.Plural(points, "inducing point"), p.opt.Inducing))
	}
	notes = append(notes, p.fewPoints(s)...)
	for _, e := range f.Process.Effects() {
		if e.Separates() {
			notes = append(notes, fmt.Sprintf("%s nearly determines the outcome (standard deviation %.3g): is the column known before the outcome is?", e.Family.Name(EntryNames(p.Recipe)), math.Sqrt(e.Variance)))
		}
	}
	if f.effects != nil {
		for _, d := range f.effects.Dropped {
			notes = append(notes, fmt.Sprintf("%s is left out: its %d groups are too many beside those of other families", d.Family.Name(EntryNames(p.Recipe)), d.Groups))
		}
	}
	if p.groups != nil {
		notes = append(notes, OneByOne(fmt.Sprintf("those of the same %q", p.opt.Data.Groups)))
	}
	return notes
}

// fewPoints says so where a number of inducing points was asked for that loses much of what more
// would tell. Five times what is tolerable is distinguished from rows for which there are never
// points enough.
func (p *Problem) fewPoints(s *Inducing) []string {
	usual, tolerable := search.MostPoints(p.Len(), p.link().functions()), search.TolerableLoss(p.Len())
	if p.opt.Inducing <= 0 || s.Points >= usual || s.Lost <= 5*tolerable {
		return nil
	}
	return []string{fmt.Sprintf("with %s about %.2g nats per row are lost, which is much; unless a number is given there are as many points as lose %.2g at most, up to %d for %d rows",
		table.Plural(s.Points, "inducing point"), s.Lost, tolerable, usual, p.Len())}
}

// byPasses is what a method found, and the engine that has its sites.
type byPasses struct {
	applied
	engine gp.Engine
}

// infer runs a method from the fixed point of EP. It returns its Gaussians.
func (f induced) infer(ctx context.Context, p *Problem, method Method) (gauss.Gaussians, *byPasses, error) {
	run := Passes{Method: method, Sweeps: p.opt.Sweeps, Power: p.opt.Power, Seed: p.opt.Seed, Trace: p.traced(method)}
	run.Utility = func() (factor.Utility, *mat.Dense, error) {
		rows, tables, err := p.pointsOfUtility()
		if err != nil {
			return nil, nil, err
		}
		u, err := p.link().utility(len(rows), indices.Take(p.Weights, rows), tables)
		if err != nil {
			return nil, nil, fmt.Errorf("utility: %w", err)
		}
		return u, gp.RowsOf(p.X, rows), nil
	}
	r, err := run.From(ctx, f.Induced)
	if err != nil {
		return nil, nil, err
	}
	return r.Q, &byPasses{applied{status: newStatus(r.Status), objective: r.Objective}, r.Engine}, nil
}

// Passes is a run of a method with inducing points, by passes over all rows.
type Passes struct {
	Method Method
	Sweeps int
	Power  float64
	Trace  func(pass.Step)
	// Utility is that of calibrated methods, with the features of the points that stand for p(x).
	Utility func() (factor.Utility, *mat.Dense, error)
	// Draws and Seed are of Loss-VI; see pass.Settings.
	Draws int
	Seed  uint64
}

// Passed is what it found: its Gaussians, the engine that has its sites, and the objective of the method.
type Passed struct {
	Q         gauss.Gaussians
	Engine    gp.Engine
	Status    infer.Status
	Objective float64
}

// From runs the method from the fixed point of EP.
func (b Passes) From(ctx context.Context, fit *search.Induced) (*Passed, error) {
	d := b.Method.row(math.MaxInt)
	o := pass.Settings{Warm: true, Sweeps: b.Sweeps, Tolerance: induceTolerance, Trace: b.Trace, Rule: d.Rule, Draws: b.Draws, Seed: b.Seed}
	switch {
	case d.Rule == nil:
		return nil, inputf("method", "%s cannot be had from inducing points", b.Method)
	case b.Method == EP:
		return &Passed{fit.Result.Q, fit.Engine, fit.Result.Status, fit.LogEvidence}, nil
	}
	if d.Calibrated { // from where its sibling ends
		plain := b
		plain.Method = Method(d.Of)
		from, err := plain.From(ctx, fit)
		if err != nil {
			return nil, err
		}
		u, points, err := b.Utility()
		if err != nil {
			return nil, err
		}
		if d.Rule == (infer.Propagation{}) {
			o.Rule = infer.Propagation{Power: b.Power}
		}
		engine := from.Engine.Fork()
		r, err := pass.Calibrate(ctx, engine, u, fit.Process.At(points), o)
		if err != nil {
			return nil, err
		}
		return &Passed{r.Q, engine, r.Status, r.LogEvidence}, nil
	}
	engine := fit.Engine.Fork()
	r, err := pass.Settle(ctx, engine, o)
	if err != nil {
		return nil, err
	}
	sums, err := engine.Look(ctx, r.Q.Naturals(), pass.Options{Rule: d.Rule}, nil)
	if err != nil {
		return nil, err
	}
	return &Passed{r.Q, engine, r.Status, pass.Objective(d.Rule, r.Q, sums.Value)}, nil
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

// EffectLines describe families.
func EffectLines(all []Effects) (lines []string) {
	for _, e := range all {
		lines = append(lines, fmt.Sprintf("%s   %s, standard deviation %.3g, %.4g nats, %s of the variance", e.Term, table.Plural(e.Cells, "group"), math.Sqrt(e.Variance), e.Gain, percent(e.Share)))
	}
	return lines
}

// inducingLines say what the points leave open.
func (m *Model) inducingLines() []string {
	s := m.summary.Inducing
	if s == nil {
		return nil
	}
	lines := []string{fmt.Sprintf("inducing points                %d for %d rows", s.Points, m.provenance.Rows)}
	if s.Bound != 0 {
		lines[0] += fmt.Sprintf("; %s of the variance unexplained, approximation error about %.2g nats per row", s.Left(), s.Lost)
		lines = append(lines, fmt.Sprintf("lower bound on the evidence    %.6f", s.Bound))
	}
	if s.Power != 1 {
		lines = append(lines, fmt.Sprintf("power                          %v", s.Power))
	}
	return append(lines, EffectLines(m.summary.Effects)...)
}
