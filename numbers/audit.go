package numbers

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/methods"
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
	whole   *Problem
	splits  []compare.Split // of which the only one has every row in both where there is a test set
	limits  *decision.Capacities
}

// Fold is what models that were fitted without some cases decide about them. It is plain data that survives JSON bit for bit.
type Fold struct {
	Index   int          `json:"index"`
	Rows    []int        `json:"rows"`  // that are decided, from 0
	Model   AuditedModel `json:"model"` // that decides them
	Cases   []scoredCase `json:"cases"`
	Ways    []way        `json:"ways"` // of choosing actions, the model first
	Ratios  []ratio      `json:"ratios,omitempty"`
	Weights []float64    `json:"weights,omitempty"`
	Groups  []string     `json:"groups,omitempty"`
	Notes   []string     `json:"notes,omitempty"` // of methods that have not converged
	// File is the model, kept where decisions of all folds share a capacity, which are made in the end.
	File []byte `json:"file,omitempty"`
}

// auditing gathers the cases of the folds.
type auditing struct {
	*Auditing
	cases   []scoredCase
	ways    []way
	ratios  []ratio
	weights []float64 // nil if each case counts once
	groups  []int     // nil if each is by itself
	models  []AuditedModel
	named   map[string]int // groups
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
		run.splits = []compare.Split{{Train: indices.Of(t.Len()), Test: indices.Of(run.subject.Len())}}
		return run, nil
	}
	if a.Folds > t.Len() {
		return nil, inputf("folds", "%d are more than the %d rows", a.Folds, t.Len())
	}
	run.splits, err = a.splits(t, o)
	return run, err
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
	run := &auditing{Auditing: a, named: make(map[string]int)}
	if a.limits != nil {
		run.shared = &sharing{limits: a.limits, over: table.Division{Per: a.opt.Per, Time: a.opt.Time}}
	}
	for _, f := range folds {
		if err := run.add(f); err != nil {
			return nil, err
		}
	}
	whole := a.whole
	out := &Audit{Outcome: whole.Recipe.Target.Column, Costs: whole.Costs.String(), Seed: a.options.Seed, Currency: a.opt.Currency, Groups: a.options.Data.Groups, Time: a.opt.Time, Recipe: whole.Recipe.Describe(), Notes: slices.Concat(whole.Notes, run.notes), Leaks: whole.Leaks, Findings: whole.Findings, Choices: whole.Costs.Actions().Choices}
	if a.opt.Test != nil {
		out.Test = a.opt.Test.Name()
	} else {
		out.Folds = a.opt.Folds
	}
	return out, run.finish(out)
}

// add gathers the cases of a fold.
func (a *auditing) add(f *Fold) error {
	a.models, a.cases, a.weights = append(a.models, f.Model), append(a.cases, f.Cases...), append(a.weights, f.Weights...)
	for _, g := range f.Groups {
		if _, seen := a.named[g]; !seen {
			a.named[g] = len(a.named)
		}
		a.groups = append(a.groups, a.named[g])
	}
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

// splits divides rows into those that models are fitted to and those that they decide: by time, or at
// random. A group is never in both.
func (a *AuditOptions) splits(t *table.Table, o lossep.Options) ([]compare.Split, error) {
	groups := make([]string, t.Len())
	for i := range groups {
		groups[i] = fmt.Sprint(i)
	}
	if o.Data.Groups != "" {
		var err error
		if groups, err = t.Groups(o.Data.Groups, o.Data.Markers...); err != nil {
			return nil, err
		}
	}
	if a.Time != "" {
		times, err := t.Times(a.Time, o.Data.Dates)
		if err != nil {
			return nil, err
		}
		splits, err := compare.Rolling(times, a.Folds)
		if err != nil {
			return nil, inputf("folds", "%v", err)
		}
		for k, s := range splits {
			decided := make(map[string]bool)
			for _, i := range s.Test {
				decided[groups[i]] = true
			}
			splits[k].Train = slices.DeleteFunc(s.Train, func(i int) bool { return decided[groups[i]] })
			if len(splits[k].Train) == 0 {
				return nil, inputf("groups", "every group before fold %d by %q has rows in it, which leaves no rows to fit; leave out one of the two columns", k+1, a.Time)
			}
		}
		return splits, nil
	}
	k := a.Folds
	names := slices.Compact(slices.Sorted(slices.Values(groups)))
	if len(names) < k {
		return nil, inputf("folds", "%d are more than the %d groups", k, len(names))
	}
	of := make(map[string]int)
	for at, i := range rand.New(rand.NewPCG(o.Seed, 3)).Perm(len(names)) {
		of[names[i]] = at % k
	}
	parts := make([][]int, k)
	for i, g := range groups {
		parts[of[g]] = append(parts[of[g]], i)
	}
	return compare.Splits(parts), nil
}

// fold decides cases by a model of others, and by what it is compared with.
func (a *Auditing) fold(ctx context.Context, index int) (*Fold, error) {
	s, p := a.splits[index], a.whole
	if a.opt.Test == nil {
		train, o := a.table.Subset(s.Train), a.options
		var err error
		if o.Recipe, err = a.whole.Recipe.Refit(train); err != nil {
			return nil, err
		}
		if p, err = Prepare(train, o, a.whole.Costs); err != nil {
			return nil, err
		}
	}
	m, err := p.Fit(ctx)
	if err != nil {
		return nil, err
	}
	f, test := &Fold{Index: index, Rows: s.Test}, a.subject.Subset(s.Test)
	x, all, stakes, err := a.predicted(m, test)
	if err != nil {
		return nil, err
	}
	y, err := p.Recipe.Numbers(test)
	if err != nil {
		return nil, err
	}
	if err := a.count(f, test); err != nil {
		return nil, err
	}
	f.Model = AuditedModel{m.summary.Rows, m.shape.Transform.String() + ", with " + m.noise(), m.recipe.NameEntries(m.Kernel()), m.summary.LogEvidence, m.Warnings()}
	var constants [len(scoredLevels)]float64
	unconditional := newSample(p.Values, p.Weights)
	for k, level := range scoredLevels {
		constants[k] = unconditional.Quantile(level)
	}
	for i, d := range all {
		c := stakes[i%len(stakes)].Choose(d)
		if err := p.Costs.CheckChoice(c); err != nil {
			return nil, Located(test.Place(i), err)
		}
		f.Cases = append(f.Cases, newCase(test.Line(i), c, d, y[i], &constants))
	}
	if err := f.compare("model", stakes, y, func(i int) float64 { return f.Cases[i].Action }); err != nil {
		return nil, err
	}
	for i, c := range f.Ways[0].Costs {
		f.Cases[i].Cost = c
	}
	if err := f.baselines(p, stakes, all, test, y); err != nil {
		return nil, err
	}
	if err := a.others(ctx, f, p, m, x, test, stakes, y); err != nil {
		return nil, err
	}
	for _, name := range a.opt.Predictions {
		actions, err := test.Floats(name, p.Recipe.Missing...)
		if err != nil {
			return nil, err
		}
		if err := f.compare(name, stakes, y, func(i int) float64 { return actions[i] }); err != nil {
			return nil, err
		}
	}
	f.otherRatios(p, stakes, all, y)
	if a.limits != nil {
		var file bytes.Buffer
		if err := m.Write(&file); err != nil {
			return nil, err
		}
		f.File = file.Bytes()
	}
	return f, nil
}

// predicted are the features of cases, what a model predicts of them, and what is at stake.
func (a *Auditing) predicted(m *Model, test *table.Table) (x *mat.Dense, all []Distribution, stakes []decision.Stake, err error) {
	if x, _, err = m.Recipe().Apply(test); err != nil {
		return nil, nil, nil, err
	}
	all, err = m.Predict(x)
	if far, ok := err.(*lossep.FarError); ok {
		err = far.In(test.Place(far.Row))
	}
	if err == nil {
		all, err = a.whole.allMeasured(all, test)
	}
	if err == nil {
		stakes, err = StakesOf(a.whole.Costs, test, a.whole.Recipe.Missing...)
	}
	return x, all, stakes, err
}

// others decides by the other methods.
func (a *Auditing) others(ctx context.Context, f *Fold, p *Problem, m *Model, x *mat.Dense, test *table.Table, stakes []decision.Stake, y []float64) error {
	for _, method := range a.opt.Methods {
		if method == m.Method() {
			continue
		}
		other, err := m.by(ctx, p, method)
		if open := new(infer.UnsupportedError); method == Exact && errors.As(err, &open) {
			f.Notes = append(f.Notes, fmt.Sprintf("%s: there is no closed form with %s; drawn by %s in its place", method, m.noise(), NUTS))
			other, err = m.by(ctx, p, NUTS)
		}
		if err != nil {
			return err
		}
		all, err := other.Predict(x)
		if err == nil {
			all, err = p.allMeasured(all, test)
		}
		if err != nil {
			return err
		}
		if s := other.summary; !s.Converged {
			f.Notes = append(f.Notes, fmt.Sprintf("%s: %s", method, s.Status))
		}
		d, _ := methods.Named(string(method))
		if err := f.compare(d.Label, stakes, y, func(i int) float64 { return stakes[i%len(stakes)].Best(all[i]) }); err != nil {
			return err
		}
	}
	return nil
}

// count keeps how much the cases of a table count, and which of them belong together.
func (a *Auditing) count(f *Fold, test *table.Table) (err error) {
	if name := a.whole.Recipe.NameOf(recipe.Weights); name != "" {
		if f.Weights, err = test.Weights(name, a.whole.Recipe.Missing...); err != nil {
			return err
		}
	}
	if name := a.options.Data.Groups; name != "" {
		f.Groups, err = test.Groups(name, a.options.Data.Markers...)
	}
	return err
}

// The ways to choose actions that models are compared with.
const (
	BestConstant    = "best constant action"
	PredictedMedian = "predicted median"
	LinearQuantile  = "linear quantile regression"
)

// baselines are one action for all, the median of what is predicted, which heeds no costs, and a
// line through the quantile that is the action.
func (f *Fold) baselines(p *Problem, stakes []decision.Stake, all []Distribution, test *table.Table, y []float64) error {
	constant := p.constant(1)
	if err := f.compare(BestConstant, stakes, y, func(int) float64 { return constant }); err != nil {
		return err
	}
	actions := p.Costs.Actions()
	if actions.Choices != nil {
		return nil
	}
	if err := f.compare(PredictedMedian, stakes, y, func(i int) float64 { return actions.Nearest(all[i].Quantile(0.5)) }); err != nil {
		return err
	}
	if loss, ok := p.stakes[0].Loss.(decision.Pinball); ok && len(p.stakes) == 1 {
		line := linearQuantile(design(p.coding, p.X), p.Values, p.Weights, loss.Under/(loss.Under+loss.Over))
		x, _, err := p.Recipe.Apply(test)
		if err != nil {
			return err
		}
		z := design(p.coding, x)
		return f.compare(LinearQuantile, stakes, y, func(i int) float64 { return actions.Nearest(mat.Dot(z.RowView(i), line)) })
	}
	return nil
}

// constant is the one action that would have cost least in all training rows, if every unit too little
// had cost so many times as much.
func (p *Problem) constant(times float64) float64 {
	if len(p.stakes) == 1 {
		return scaled(p.stakes[0], times).Choose(newSample(p.Values, p.Weights)).Action
	}
	stakes := make([]decision.Stake, len(p.stakes))
	for i, s := range p.stakes {
		stakes[i] = scaled(s, times)
	}
	total := decision.Formula{Of: func(action, _ float64) (sum float64) {
		for i, y := range p.Values {
			c := stakes[i%len(stakes)].Cost(action, y)
			if p.Weights != nil {
				c *= p.Weights[i]
			}
			sum += c
		}
		return sum
	}}
	return decision.Stake{Loss: total, Actions: *p.Costs.Actions()}.Best(newSample([]float64{slices.Min(p.Values), slices.Max(p.Values)}, nil))
}

// scaled is a stake in which every unit too little costs so many times as much.
func scaled(s decision.Stake, times float64) decision.Stake {
	if c, ok := s.Loss.(decision.Pinball); ok {
		s.Loss = decision.Pinball{Under: times * c.Under, Over: c.Over}
	}
	return s
}

// compare adds what the actions of somebody cost.
func (f *Fold) compare(name string, stakes []decision.Stake, y []float64, action func(i int) float64) error {
	w := way{Name: name}
	for i, v := range y {
		act := action(i)
		c := stakes[i%len(stakes)].Cost(act, v)
		if math.IsNaN(c) || math.IsInf(c, 0) {
			return inputf("cost", "action %v under outcome %v costs %v (%s); give costs that are numbers under every outcome", act, v, c, name)
		}
		w.Actions, w.Costs = append(w.Actions, act), append(w.Costs, c)
	}
	f.Ways = append(f.Ways, w)
	return nil
}

// multiples are how many times as much every unit too little costs at other ratios.
var multiples = []float64{0.125, 0.25, 0.5, 1, 2, 4, 8}

// ratio is what cases cost if a unit too little costs so many times as much.
type ratio struct {
	Times    float64   `json:"times"`
	Adapted  []float64 `json:"adapted"`
	Kept     []float64 `json:"kept"`
	Constant []float64 `json:"constant"`
}

// otherRatios are costs of cases at other ratios of under to over: of actions that are chosen for them,
// of those that were chosen, and of the best constant action.
func (f *Fold) otherRatios(p *Problem, stakes []decision.Stake, all []Distribution, y []float64) {
	if _, ok := stakes[0].Loss.(decision.Pinball); !ok {
		return
	}
	for _, times := range multiples {
		r, constant := ratio{Times: times}, p.constant(times)
		for i, d := range all {
			s := scaled(stakes[i%len(stakes)], times)
			r.Adapted = append(r.Adapted, s.Cost(s.Best(d), y[i]))
			r.Kept = append(r.Kept, s.Cost(f.Ways[0].Actions[i], y[i]))
			r.Constant = append(r.Constant, s.Cost(constant, y[i]))
		}
		f.Ratios = append(f.Ratios, r)
	}
}

// given is under:over where it is the same in all cases, else 0.
func (a *Auditing) given() float64 {
	if c, ok := a.whole.stakes[0].Loss.(decision.Pinball); ok && len(a.whole.Costs.Columns()) == 0 {
		return c.Under / c.Over
	}
	return 0
}
