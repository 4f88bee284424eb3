package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/advise"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// ProbitRegression is the name of a baseline: Bayesian probit regression, which is the
// model with a linear kernel and an intercept.
const (
	ProbitRegression = "probit regression"
	linearKernel     = "linear + constant"
)

// Fold is what models that were fitted without some rows say about them. It is plain
// data that survives JSON bit for bit.
type Fold struct {
	Index  int   `json:"index"`  // among the folds of all repeats
	Repeat int   `json:"repeat"` // from 0
	Number int   `json:"fold"`   // within the repeat, from 0
	Rows   []int `json:"rows"`   // test rows, from 0
	// Trained is the number of rows that were learned from.
	Trained int `json:"trained"`
	// Kernel is that found from the training rows, and LogEvidence its evidence.
	Kernel      string  `json:"kernel"`
	LogEvidence float64 `json:"log_evidence"`
	// Inducing is how few points the rows were seen from, nil for the full process.
	Inducing *lossep.Inducing `json:"inducing,omitempty"`
	// Answers are the probabilities of the outcomes, of two the negative one first, for the test
	// rows, by the name of a method or of ProbitRegression. Each is accurate by itself.
	Answers map[string][][]float64 `json:"answers"`
	// Reference is what the exact posterior of the same model says, if it was asked.
	Reference *Reference `json:"reference,omitempty"`
	// Permuted and Unpermuted are what the cases cost with a column exchanged between them,
	// and as they are, by expectation propagation; Effects are those of columns on the rows
	// nearest to the boundary.
	Permuted   []Permuted       `json:"permuted,omitempty"`
	Unpermuted []float64        `json:"unpermuted,omitempty"`
	Effects    map[int][]Effect `json:"effects,omitempty"`
	// Families are the effects of the first fold that can be shown, the most important first.
	Families []lossep.EffectFamily `json:"families,omitempty"`
	// Notes are what a reader should know, such as a run that did not converge.
	Notes []string `json:"notes,omitempty"`
}

// mostFamilies is how many families of effects are kept.
const mostFamilies = 8

// concurrentRows is the number of rows, or of views of them, up to which several folds are computed at
// once; beyond it the matrices of one fold keep all processors busy.
const concurrentRows = 1000

// atOnce is how many folds are computed at the same time, and how many steps of each: as many
// as there are processors, as far as memory goes.
func (a *Audit) atOnce() (folds, steps int) {
	views := a.problem.Len() * lossep.ViewsOf(a.problem.Recipe)
	if views > concurrentRows {
		return 1, 1
	}
	largest := 0.0
	for _, m := range a.opt.Methods {
		largest = max(largest, m.FitBytes(views))
	}
	allowed := float64(cmp.Or(a.opt.Fit.MaxMemory, lossep.DefaultMaxMemory))
	most := int(min(allowed/max(largest, 1), math.MaxInt32))
	folds = max(1, min(tasks.Workers(), most, a.Len()))
	return folds, max(1, min((tasks.Workers()+folds-1)/folds, most/folds))
}

// Run computes the folds that are not among those done already and hands each to
// keep, never two at once, in the order they are finished. It returns all folds in
// order; what they hold does not depend on the number of processors.
func (a *Audit) Run(ctx context.Context, done []*Fold, keep func(*Fold) error) ([]*Fold, error) {
	folds := make([]*Fold, a.Len())
	for _, f := range done {
		folds[f.Index] = f
	}
	atOnce, _ := a.atOnce()
	return folds, tasks.Fill(ctx, folds, atOnce, a.fold, keep)
}

// Index is which of the folds it is.
func (a *Audit) Index(f *Fold) int { return f.Index }

// Fold is the fold with this index, for those who compute them elsewhere.
func (a *Audit) Fold(ctx context.Context, index int) (*Fold, error) {
	if index < 0 || index >= a.Len() {
		panic(fmt.Sprintf("audit: fold %d of %d", index, a.Len()))
	}
	return a.fold(ctx, index)
}

// fold fits everything to the training rows of a fold and asks it about the test rows.
func (a *Audit) fold(ctx context.Context, index int) (*Fold, error) {
	f := &Fold{Index: index, Repeat: index / a.opt.Folds, Number: index % a.opt.Folds, Answers: make(map[string][][]float64)}
	s := a.splits[f.Repeat][f.Number]
	f.Rows, f.Trained = s.Test, len(s.Train)
	if len(a.given) > 0 {
		return f, a.answerGiven(ctx, f, s.Train)
	}
	train := a.table.Subset(s.Train)

	o := a.opt.Fit
	x, p, err := a.prepare(ctx, f, train, &o)
	if err != nil {
		return nil, f.locate(err)
	}
	l, err := p.Learn(ctx)
	if err != nil {
		return nil, f.locate(err)
	}
	f.Kernel = kernelText(l.Components())
	if index == 0 {
		f.Families = l.EffectFamilies()
		f.Families = f.Families[:min(len(f.Families), mostFamilies)]
	}
	// What all methods start from is found here; then they may go at the same time.
	ep, err := l.Model(ctx, lossep.EP)
	if err != nil {
		return nil, f.locate(fmt.Errorf("%s: %w", lossep.EP, err))
	}
	var steps []step
	for _, method := range a.opt.Methods {
		steps = append(steps, func(ctx context.Context, f *Fold) error { return a.ask(ctx, f, l, method, string(method), x) })
	}
	switch why := a.unreachable(p, l, len(f.Rows)); {
	case index >= a.opt.References:
	case why != "":
		f.Notes = append(f.Notes, "methods were not compared with the exact posterior: "+why)
	case posterior.Gaps(x):
		f.Notes = append(f.Notes, "methods were not compared with the exact posterior: some test rows lack a value of a column that all training rows have")
	case l.HasEffects():
		f.Notes = append(f.Notes, "methods were not compared with the exact posterior, which there is none of with effects")
	default:
		steps = append(steps, func(ctx context.Context, f *Fold) (err error) {
			if l.Inducing() > 0 {
				f.Reference, err = a.referenceOfSome(ctx, f, o, train, l, x)
			} else {
				f.Reference, err = a.reference(ctx, p, l, x)
			}
			return f.locate(err)
		})
	}
	steps = append(steps, func(ctx context.Context, f *Fold) error { return f.locate(a.explain(ctx, f, ep, p, x)) })
	steps = append(steps, func(ctx context.Context, f *Fold) error { return a.probitRegression(ctx, f, o, train, x) })
	return f, a.take(ctx, f, l.Inducing() == 0, steps)
}

// prepare has the rows to be answered, and the problem of those to learn from.
func (a *Audit) prepare(ctx context.Context, f *Fold, train *table.Table, o *lossep.Options) (*mat.Dense, *lossep.Problem, error) {
	recipe, err := a.recipe(ctx, f, train)
	if err != nil {
		return nil, nil, err
	}
	if o.Recipe, err = recipe.Refit(train); err != nil {
		return nil, nil, err
	}
	if o.Recipe.Target.Ordered && !a.problem.Recipe.Target.Ordered { // one function in place of several
		o.Kernel = a.kernel
	}
	x, _, err := o.Recipe.WithGaps().Apply(a.subject.Subset(f.Rows)) // as a model is called with them
	if err != nil {
		return nil, nil, err
	}
	p, err := lossep.Prepare(train, *o)
	return x, p, err
}

// step finds a part of a fold, which knows its rows and nothing of the other parts.
type step func(ctx context.Context, part *Fold) error

// take adds what steps find to a fold, in their order whichever is done first.
func (a *Audit) take(ctx context.Context, f *Fold, full bool, steps []step) error {
	atOnce := 1
	if full { // what inducing points are fitted from is changed by every fit
		_, atOnce = a.atOnce()
	}
	parts := make([]*Fold, len(steps))
	err := tasks.Fill(ctx, parts, atOnce, func(ctx context.Context, i int) (*Fold, error) {
		part := &Fold{Index: f.Index, Repeat: f.Repeat, Number: f.Number, Rows: f.Rows, Answers: make(map[string][][]float64)}
		return part, steps[i](ctx, part)
	}, func(*Fold) error { return nil })
	if err != nil {
		return err
	}
	for i, part := range parts {
		maps.Copy(f.Answers, part.Answers)
		f.Notes = append(f.Notes, part.Notes...)
		if i < len(a.opt.Methods) {
			f.LogEvidence, f.Inducing = part.LogEvidence, part.Inducing
		}
		if part.Reference != nil {
			f.Reference = part.Reference
		}
		if part.Permuted != nil {
			f.Permuted, f.Unpermuted, f.Effects = part.Permuted, part.Unpermuted, part.Effects
		}
	}
	return nil
}

// kernelText is the kernel in its language, or those of a mixture with their weights.
func kernelText(all []lossep.Component) string {
	if len(all) == 1 {
		return all[0].Kernel.String()
	}
	var parts []string
	for _, c := range all {
		parts = append(parts, fmt.Sprintf("%.3f of %v", c.Weight, c.Kernel))
	}
	return strings.Join(parts, "; ")
}

// recipe is how the rows of a fold are read, before its numbers are estimated: as those of
// the whole table, but for what the training rows decide about its columns.
func (a *Audit) recipe(ctx context.Context, f *Fold, train *table.Table) (*recipe.Recipe, error) {
	o := a.opt.Fit
	o.Kernel = a.kernel
	chosen, said, err := a.open.Decide(ctx, train, o)
	if err != nil {
		return nil, err
	}
	for _, s := range said {
		f.Notes = append(f.Notes, s.Text)
	}
	return a.open.Recipe(chosen), nil
}

// ask records what a method says about the test rows. Where a method finds no
// approximation expectation propagation answers for it, and the notes say why.
func (a *Audit) ask(ctx context.Context, f *Fold, l *lossep.Learned, method lossep.Method, name string, x *mat.Dense) error {
	m, err := l.Model(ctx, method)
	improper := new(infer.ImproperError)
	replaced := errors.As(err, &improper)
	if replaced {
		f.Notes = append(f.Notes, fmt.Sprintf("%s: %v; EP is used instead", name, err))
		m, err = l.Model(ctx, lossep.EP)
	}
	if err != nil {
		return f.locate(fmt.Errorf("%s: %w", name, err))
	}
	s := m.Summary()
	if m.Method() != method && !replaced && len(s.Status.Notes) > 0 {
		f.Notes = append(f.Notes, name+": "+s.Status.Notes[0]) // why it is not the method that was asked for
	}
	if name == string(method) {
		f.LogEvidence, f.Inducing = s.LogEvidence, s.Inducing
	}
	if !s.Status.Converged {
		f.Notes = append(f.Notes, name+": "+s.Status.Text)
	}
	p, err := probabilities(m, x)
	if far := (*lossep.FarError)(nil); errors.As(err, &far) {
		err = far.In(a.subject.Place(f.Rows[far.Row]))
	}
	if err != nil {
		return f.locate(fmt.Errorf("%s: %w", name, err))
	}
	f.Answers[name] = p
	return nil
}

// probitRegression asks the baseline with a linear kernel, by expectation
// propagation.
func (a *Audit) probitRegression(ctx context.Context, f *Fold, o lossep.Options, train *table.Table, x *mat.Dense) error {
	o.Kernel, o.Fixed = linearKernel, false
	p, err := lossep.Prepare(train, o)
	if err != nil {
		return f.locate(err)
	}
	l, err := p.Learn(ctx)
	if err != nil {
		return f.locate(err)
	}
	return a.ask(ctx, f, l, lossep.EP, ProbitRegression, x)
}

// locate says which fold an error is of; nil stays nil.
func (f *Fold) locate(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("repeat %d, fold %d: %w", f.Repeat+1, f.Number+1, err)
}

// Fits tells whether a fold that was kept is one of this audit.
func (a *Audit) Fits(f *Fold) bool {
	if f.Index < 0 || f.Index >= a.Len() || f.Repeat != f.Index/a.opt.Folds || f.Number != f.Index%a.opt.Folds {
		return false
	}
	rows := a.splits[f.Repeat][f.Number].Test
	if len(rows) != len(f.Rows) {
		return false
	}
	for i, row := range rows {
		if f.Rows[i] != row {
			return false
		}
	}
	for _, name := range a.models() {
		if len(f.Answers[name]) != len(rows) || slices.ContainsFunc(f.Answers[name], func(p []float64) bool { return len(p) != len(a.outcomes()) }) {
			return false
		}
	}
	return true
}

// split decides what each fold learns from and what it is judged by.
func (a *Audit) split(ctx context.Context) error {
	var err error
	groups := a.opt.Fit.Data.Groups
	if groups != "" {
		if a.groups, a.groupNames, err = a.numbered(a.subject, groups); err != nil {
			return err
		}
	}
	if len(a.opt.Probabilities) == 0 {
		a.notes = append(a.notes, advise.Weights(a.problem.Recipe, a.problem.Weights)...)
	}
	switch {
	case a.opt.Test != nil:
		a.opt.Folds, a.opt.Repeats = 1, 1
		s := compare.Split{Train: indices.Of(a.table.Len()), Test: indices.Of(a.subject.Len())}
		a.splits = [][]compare.Split{{s}}
		return a.keepApart()
	case a.opt.Time != "":
		a.opt.Repeats = 1
		times, err := a.table.Times(a.opt.Time, a.opt.Fit.Data.Dates)
		if err != nil {
			return err
		}
		splits, err := compare.Rolling(times, a.opt.Folds)
		if err != nil {
			return &lossep.InputError{What: "folds", Msg: err.Error(), Err: err}
		}
		a.splits = [][]compare.Split{splits}
		return a.keepApart()
	}
	if groups == "" && len(a.opt.Probabilities) == 0 {
		a.groups = a.problem.Together() // copies of one another
		a.notes = append(a.notes, advise.Copies(a.groups)...)
	}
	for r := range a.opt.Repeats {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rng := rand.New(rand.NewPCG(a.opt.Fit.Seed, uint64(r)))
		folds, err := a.problem.Folds(a.groups, a.opt.Folds, rng)
		if err != nil {
			return &lossep.InputError{What: "folds", Msg: err.Error(), Err: err}
		}
		a.splits = append(a.splits, compare.Splits(folds))
	}
	return nil
}

// keepApart takes the cases of a group that is judged out of what is learned from, and
// sees to it that both outcomes are left.
func (a *Audit) keepApart() error {
	var teachers []int
	if groups := a.opt.Fit.Data.Groups; groups != "" {
		teachers = a.groups
		if a.opt.Test != nil {
			var err error
			if teachers, err = a.renumbered(a.table, groups, a.groupNames); err != nil {
				return err
			}
		}
	}
	judgedBy := make(map[int]bool) // outcomes
	for k := range a.splits[0] {
		s := &a.splits[0][k]
		for _, i := range s.Test {
			judgedBy[a.outcome(i)] = true
		}
		if teachers != nil {
			judged := make(map[int]bool)
			for _, i := range s.Test {
				judged[a.groups[i]] = true
			}
			before := len(s.Train)
			s.Train = slices.DeleteFunc(s.Train, func(i int) bool { return judged[teachers[i]] })
			if gone := before - len(s.Train); gone > 0 {
				a.notes = append(a.notes, fmt.Sprintf("fold %d: %d training rows excluded, because their groups are in the test part", k+1, gone))
			}
		}
		seen := make(map[int]bool)
		for _, i := range s.Train {
			seen[a.problem.Labels[i]] = true
		}
		if len(seen) < 2 {
			return &lossep.InputError{What: "folds", Msg: fmt.Sprintf(
				"the %d training rows of fold %d have only one outcome; use fewer folds, so that each has more training rows", len(s.Train), k+1)}
		}
	}
	if !a.several() && len(judgedBy) < 2 { // nothing is found or missed, nor ranked
		return &lossep.InputError{What: "test", Msg: "all cases that decisions are judged by have one outcome; give cases of both"}
	}
	return nil
}

// doubts are what may be wrong with the table, but for columns that tell the outcome, which have
// their own verdict.
func doubts(p *lossep.Problem) (notes []string) {
	for _, f := range p.Findings {
		if f.Severity == table.Warning && !slices.Contains(p.Leaks, f.Column) {
			notes = append(notes, table.Findings{f}.Texts()...)
		}
	}
	if len(p.Codes) > 0 {
		notes = append(notes, "few different whole numbers, treated as numeric: "+strings.Join(p.Codes, ", ")+"; if they are codes, make them categorical")
	}
	return notes
}
