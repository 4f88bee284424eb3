package numbers

import (
	"bytes"
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// AuditOptions say how decisions are tested.
type AuditOptions struct {
	Folds int          // of a cross-validation
	Time  string       // the column of times, each fold decided by a model of what was before; empty for folds at random
	Test  *table.Table // cases that nothing is learned from, in place of folds; nil for none
	// Methods are those that cases are decided by as well, with the same kernel and noise.
	Methods []lossep.Method
	// Predictions are columns of actions that somebody else chose.
	Predictions  []string
	Currency     string
	CasesPerYear int
	// Capacity is how much there is of actions, for all cases together or by Per, a period of the column
	// Time or a column; decisions within it are measured beside those without.
	Capacity []decision.Capacity
	Per      string
}

// Auditing is an audit that is ready to run.
type Auditing struct {
	opt     AuditOptions
	options lossep.Options
	table   *table.Table // what is learned from
	subject *table.Table // what is decided
	ids     []string     // of every row of the subject, by the column idColumn; nil if none has them
	whole   *Problem
	splits  []compare.Split // of which the only one has every row in both where there is a test set
	units   []int           // of every row of the subject, the same of those that belong together; nil if each is by itself
	limits  *decision.Capacities

	idColumn string
}

// auditing gathers the cases of the folds.
type auditing struct {
	*Auditing
	cases   []scoredCase
	ways    []way
	ratios  []ratio
	weights []float64 // nil if each case counts once
	units   []int     // nil if each is by itself
	models  []AuditedModel
	notes   []string
	shared  *sharing // nil without a capacity
}

// way is what somebody chose in every case, and what it cost.
type way struct {
	Name    string    `json:"name"`
	Actions []float64 `json:"actions"`
	Costs   []float64 `json:"costs"`
}

// RunAudit fits models and decides cases that they have not seen.
func RunAudit(ctx context.Context, t *table.Table, o lossep.Options, costs *decision.NumberCosts, a AuditOptions) (*Audit, error) {
	run, err := NewAudit(t, o, costs, a)
	if err != nil {
		return nil, err
	}
	folds, err := run.Run(ctx, nil, func(*Fold) error { return nil })
	if err != nil {
		return nil, err
	}
	return run.Summarise(folds)
}

// NewAudit checks everything that can be checked without a fit.
func NewAudit(t *table.Table, o lossep.Options, costs *decision.NumberCosts, a AuditOptions) (*Auditing, error) {
	if a.Time != "" && a.Test != nil {
		return nil, inputf("time", "a time column and a test set exclude each other; give one of them")
	}
	a.Time, o.Data.Groups = t.Named(a.Time), t.Named(o.Data.Groups)
	if a.Time != "" && len(o.Data.Features) == 0 {
		o.Data.Drop = append(slices.Clone(o.Data.Drop), a.Time)
	}
	whole, err := Prepare(t, o, costs)
	if err != nil {
		return nil, err
	}
	t = t.Counting(o.WeightsColumn())
	run := &Auditing{opt: a, options: o, table: t, subject: t, whole: whole}
	if err := checkCompared(a.Methods); err != nil {
		return nil, err
	}
	if len(a.Predictions) > 0 && whole.Costs.Actions().Choices != nil {
		return nil, inputf("prediction", "actions have names here, and a column of numbers is none of them; leave it out")
	}
	if len(a.Capacity) > 0 {
		if run.limits, err = whole.Costs.Within(a.Capacity); err != nil {
			return nil, &lossep.InputError{What: "capacity", Msg: err.Error(), Err: err}
		}
	}
	if a.Test != nil {
		run.subject = a.Test.Counting(o.WeightsColumn())
	}
	if err := run.split(); err != nil {
		return nil, err
	}
	return run, run.name()
}

// name reads the column of identifiers, as they stand there.
func (a *Auditing) name() (err error) {
	if column := a.options.Data.ID; column != "" {
		a.idColumn, a.ids, err = a.subject.Spelled(column)
	}
	return err
}

// Problem is what models are fitted to, by all rows that are learned from.
func (a *Auditing) Problem() *Problem { return a.whole }

// Split of the cases.
func (a *Auditing) Split() audit.Split {
	s := audit.Split{Kind: audit.AtRandom, Folds: a.opt.Folds, Table: a.table.Name(), Test: a.subject.Name()}
	switch {
	case a.opt.Test != nil:
		s.Kind = audit.TestSet
	case a.opt.Time != "":
		s.Kind, s.Column = audit.ByTime, a.opt.Time
	case a.options.Data.Groups != "":
		s.Kind, s.Column = audit.ByGroups, a.options.Data.Groups
	case a.units != nil:
		s.Kind = audit.ByCopies
	}
	return s
}

// Cases is the number of cases that are decided.
func (a *Auditing) Cases() (number int) {
	for _, s := range a.splits {
		number += len(s.Test)
	}
	return number
}

// Len is the number of folds.
func (a *Auditing) Len() int { return len(a.splits) }

// Index is which of the folds it is.
func (a *Auditing) Index(f *Fold) int { return f.Index }

// Settings are what the folds depend on. Folds that were computed under the same settings can be taken up again.
func (a *Auditing) Settings() any {
	o := a.options
	s := struct {
		Version  string              `json:"version"`
		Rows     string              `json:"rows"` // checksum of the table
		Test     string              `json:"test,omitempty"`
		Costs    string              `json:"costs"`
		Method   lossep.Method       `json:"method"`
		Methods  []lossep.Method     `json:"methods"`
		Actions  []string            `json:"predictions"`
		Kernel   string              `json:"kernel"`
		Restarts int                 `json:"restarts"`
		Count    bool                `json:"count"`
		NoiseSD  string              `json:"noise_sd"`
		Inducing int                 `json:"inducing"`
		Shard    int                 `json:"shard_rows"`
		Sweeps   int                 `json:"sweeps"`
		Memory   int64               `json:"max_memory"`
		Folds    int                 `json:"folds"`
		Groups   string              `json:"groups"`
		Time     string              `json:"time"`
		Capacity []decision.Capacity `json:"capacity"`
		Seed     uint64              `json:"seed"`
		Recipe   *recipe.Recipe      `json:"recipe"`
	}{
		lossep.Version, audit.Checksum(a.table), "", a.whole.Costs.String(), a.whole.method(), a.opt.Methods, a.opt.Predictions, o.Kernel, o.Restarts, o.Data.Count, o.Data.NoiseSD,
		o.Inducing, o.ShardRows, o.Sweeps, o.MaxMemory, len(a.splits), o.Data.Groups, a.opt.Time, a.opt.Capacity, o.Seed, a.whole.Recipe,
	}
	if a.opt.Test != nil {
		s.Test = audit.Checksum(a.subject)
	}
	return s
}

// Fits tells whether a fold that was kept is one of this audit.
func (a *Auditing) Fits(f *Fold) bool {
	if f.Index < 0 || f.Index >= a.Len() || !slices.Equal(f.Rows, a.splits[f.Index].Test) || len(f.Cases) != len(f.Rows) || len(f.Ways) == 0 || (f.File != nil) != (a.limits != nil) {
		return false
	}
	return !slices.ContainsFunc(f.Ways, func(w way) bool { return len(w.Actions) != len(f.Rows) || len(w.Costs) != len(f.Rows) })
}

// Run computes the folds that are not among those done already, and hands each to keep. It returns all folds in order.
func (a *Auditing) Run(ctx context.Context, done []*Fold, keep func(*Fold) error) ([]*Fold, error) {
	folds := make([]*Fold, a.Len())
	for _, f := range done {
		folds[f.Index] = f
	}
	return folds, tasks.Fill(ctx, folds, 1, a.fold, keep)
}

// Summarise makes means with intervals of the folds.
func (a *Auditing) Summarise(folds []*Fold) (*Audit, error) {
	run := &auditing{Auditing: a}
	if a.limits != nil {
		run.shared = &sharing{limits: a.limits, over: table.Division{Per: a.opt.Per, Time: a.opt.Time, Dates: a.options.Data.Dates}}
	}
	for _, f := range folds {
		if err := run.add(f); err != nil {
			return nil, err
		}
	}
	whole := a.whole
	out := &Audit{Outcome: whole.Recipe.Target.Column, Costs: whole.Costs.String(), Seed: a.options.Seed, Currency: a.opt.Currency, ID: a.idColumn, Groups: a.options.Data.Groups, Time: a.opt.Time, Recipe: whole.Recipe.Describe(), Notes: slices.Concat(whole.Notes, run.notes), Leaks: whole.Leaks, Findings: whole.Findings, Choices: whole.Costs.Actions().Choices}
	if a.opt.Test != nil {
		out.Test = a.opt.Test.Name()
	} else {
		out.Folds = a.opt.Folds
	}
	return out, run.finish(out)
}

// add gathers the cases of a fold.
func (a *auditing) add(f *Fold) error {
	a.models, a.weights = append(a.models, f.Model), append(a.weights, f.Weights...)
	for k, c := range f.Cases {
		if a.ids != nil {
			c.ID = a.ids[f.Rows[k]]
		}
		a.cases = append(a.cases, c)
	}
	a.units = append(a.units, indices.Take(a.Auditing.units, f.Rows)...)
	for _, text := range f.Notes {
		if !slices.Contains(a.notes, text) { // what is said of several folds, once
			a.notes = append(a.notes, text)
		}
	}
	for _, w := range f.Ways {
		k := slices.IndexFunc(a.ways, func(before way) bool { return before.Name == w.Name })
		if k < 0 {
			k = len(a.ways)
			a.ways = append(a.ways, way{Name: w.Name})
		}
		a.ways[k].Actions, a.ways[k].Costs = append(a.ways[k].Actions, w.Actions...), append(a.ways[k].Costs, w.Costs...)
	}
	if a.ratios == nil {
		a.ratios = make([]ratio, len(f.Ratios))
	}
	for k, r := range f.Ratios {
		to := &a.ratios[k]
		to.Times = r.Times
		to.Adapted, to.Kept, to.Constant = append(to.Adapted, r.Adapted...), append(to.Kept, r.Kept...), append(to.Constant, r.Constant...)
	}
	if a.shared == nil {
		return nil
	}
	m, err := Read(bytes.NewReader(f.File), cmp.Or(a.options.MaxMemory, lossep.DefaultMaxMemory))
	if err != nil {
		return err
	}
	test := a.subject.Subset(f.Rows)
	_, all, stakes, err := a.predicted(m, test)
	if err != nil {
		return err
	}
	return a.shared.add(test, stakes, all, a.whole.Recipe.Missing...)
}

// split divides rows into those that models are fitted to and those that they decide: by time, or at random. A group, or a
// row with its copies, is never in both.
func (a *Auditing) split() (err error) {
	p, groups := a.whole, a.options.Data.Groups != ""
	switch {
	case a.opt.Test != nil:
		if groups {
			a.units, err = lossep.RowsTogether(a.subject, p.Recipe, nil, a.options)
		}
		a.splits = []compare.Split{{Train: indices.Of(a.table.Len()), Test: indices.Of(a.subject.Len())}}
		return err
	case a.opt.Time != "":
		times, err := a.table.Times(a.opt.Time, a.options.Data.Dates)
		if err != nil {
			return err
		}
		if a.splits, err = compare.Rolling(times, a.opt.Folds); err != nil {
			return inputf("folds", "%v", err)
		}
		if groups {
			a.units, err = lossep.RowsTogether(a.table, p.Recipe, nil, a.options)
			return cmp.Or(err, a.keepApart())
		}
		return nil
	}
	if p.stays() && !groups {
		if err := p.gather(a.table); err != nil {
			return err
		}
	}
	outcomes, units := inOrder(p, p.Values), inOrder(p, p.together)
	folds, err := deal(outcomes, units, a.opt.Folds, rand.New(rand.NewPCG(a.options.Seed, 3)))
	if err != nil {
		return inputf("folds", "%v", err)
	}
	for k, places := range folds {
		folds[k] = indices.Take(p.rows, places)
		slices.Sort(folds[k])
	}
	a.splits = compare.Splits(folds)
	if units != nil {
		a.units = make([]int, len(units))
		for place, row := range p.rows {
			a.units[row] = units[place]
		}
	}
	return nil
}

// keepApart takes the rows of groups that a fold decides out of those that it learns from.
func (a *Auditing) keepApart() error {
	for k, s := range a.splits {
		decided := make(map[int]bool)
		for _, i := range s.Test {
			decided[a.units[i]] = true
		}
		a.splits[k].Train = slices.DeleteFunc(s.Train, func(i int) bool { return decided[a.units[i]] })
		if len(a.splits[k].Train) == 0 {
			return inputf("groups", "every group before fold %d by %q has rows in it, which leaves no rows to fit; leave out one of the two columns", k+1, a.opt.Time)
		}
	}
	return nil
}
