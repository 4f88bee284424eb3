package numbers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer"
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

// auditing gathers the cases of an audit.
type auditing struct {
	opt     AuditOptions
	options lossep.Options
	cases   []CostCase
	notes   []string // of methods that have not converged
	ways    []way    // of choosing actions, the model first
	ratios  []ratio
	weights []float64 // nil if each case counts once
	groups  []int     // nil if each is by itself
	models  []AuditedModel
	named   map[string]int // groups
	given   float64        // under:over where it is the same in all cases, else 0
	shared  *sharing       // nil without a capacity
}

// way is what somebody chose in every case, and what it cost.
type way struct {
	name           string
	actions, costs []float64
}

// RunAudit fits models and decides cases that they have not seen.
func RunAudit(ctx context.Context, t *table.Table, o lossep.Options, costs *decision.NumberCosts, a AuditOptions) (*Audit, error) {
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
	if a.Test != nil {
		a.Test = a.Test.Counting(o.WeightsColumn())
	}
	if err := checkCompared(a.Methods); err != nil {
		return nil, err
	}
	if len(a.Predictions) > 0 && whole.Costs.Actions().Choices != nil {
		return nil, inputf("prediction", "actions have names here, and a column of numbers is none of them; leave it out")
	}
	run := &auditing{opt: a, options: o, named: make(map[string]int)}
	if run.shared, err = newSharing(whole.Costs, a); err != nil {
		return nil, err
	}
	out := &Audit{Outcome: whole.Recipe.Target.Column, Costs: whole.Costs.String(), Seed: o.Seed, Currency: a.Currency, Groups: o.Data.Groups, Time: a.Time, Recipe: whole.Recipe.Describe(), Notes: whole.Notes, Findings: whole.Findings, Choices: whole.Costs.Actions().Choices}
	if a.Test != nil {
		out.Test = a.Test.Name()
		err = run.part(ctx, whole, a.Test)
	} else {
		if a.Folds > t.Len() {
			return nil, inputf("folds", "%d are more than the %d rows", a.Folds, t.Len())
		}
		out.Folds = a.Folds
		var splits []compare.Split
		if splits, err = a.splits(t, o); err != nil {
			return nil, err
		}
		for k, s := range splits {
			whole.tell(fmt.Sprintf("fold %d of %d", k+1, a.Folds), 0, 0)
			if err = run.fold(ctx, whole, t, s); err != nil {
				break
			}
		}
	}
	if err != nil {
		return nil, err
	}
	out.Notes = append(out.Notes, run.notes...)
	return out, run.finish(out)
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

// fold fits a model to some rows, and decides others.
func (a *auditing) fold(ctx context.Context, whole *Problem, t *table.Table, s compare.Split) error {
	train, o := t.Subset(s.Train), a.options
	var err error
	if o.Recipe, err = whole.Recipe.Refit(train); err != nil {
		return err
	}
	p, err := Prepare(train, o, whole.Costs)
	if err != nil {
		return err
	}
	return a.part(ctx, p, t.Subset(s.Test))
}

// part decides the cases of a table by a model of a problem, and by what it is compared with.
func (a *auditing) part(ctx context.Context, p *Problem, test *table.Table) error {
	m, err := p.Fit(ctx)
	if err != nil {
		return err
	}
	x, _, err := m.Recipe().Apply(test)
	if err != nil {
		return err
	}
	y, err := p.Recipe.Numbers(test)
	if err != nil {
		return err
	}
	stakes, err := StakesOf(p.Costs, test, p.Recipe.Missing...)
	if err != nil {
		return err
	}
	if err := a.count(p, test); err != nil {
		return err
	}
	all, err := m.Predict(x)
	if far, ok := err.(*lossep.FarError); ok {
		return far.In(test.Place(far.Row))
	} else if err != nil {
		return err
	}
	if all, err = p.allMeasured(all, test); err != nil {
		return err
	}
	a.models = append(a.models, AuditedModel{m.summary.Rows, m.shape.Transform.String() + ", with " + m.noise(), m.recipe.NameEntries(m.Kernel()), m.summary.LogEvidence, m.Warnings()})
	at := len(a.cases)
	var constants [len(scoredLevels)]float64
	unconditional := newSample(p.Values, p.Weights)
	for k, level := range scoredLevels {
		constants[k] = unconditional.Quantile(level)
	}
	for i, d := range all {
		c := stakes[i%len(stakes)].Choose(d)
		if err := p.Costs.CheckChoice(c); err != nil {
			return Located(test.Place(i), err)
		}
		a.cases = append(a.cases, newCase(test.Line(i), c, d, y[i], &constants))
	}
	if err := a.compare("model", stakes, y, func(i int) float64 { return a.cases[at+i].Action }); err != nil {
		return err
	}
	for i, c := range a.ways[0].costs[at:] {
		a.cases[at+i].Cost = c
	}
	if err := a.shared.add(test, stakes, all, p.Recipe.Missing...); err != nil {
		return err
	}
	if err := a.baselines(p, stakes, all, test, y); err != nil {
		return err
	}
	if err := a.others(ctx, p, m, x, test, stakes, y); err != nil {
		return err
	}
	for _, name := range a.opt.Predictions {
		actions, err := test.Floats(name, p.Recipe.Missing...)
		if err != nil {
			return err
		}
		if err := a.compare(name, stakes, y, func(i int) float64 { return actions[i] }); err != nil {
			return err
		}
	}
	a.otherRatios(p, stakes, all, y, a.ways[0].actions[at:])
	return nil
}

// others decides by the other methods.
func (a *auditing) others(ctx context.Context, p *Problem, m *Model, x *mat.Dense, test *table.Table, stakes []decision.Stake, y []float64) error {
	for _, method := range a.opt.Methods {
		if method == m.Method() {
			continue
		}
		other, err := m.by(ctx, p, method)
		if open := new(infer.UnsupportedError); method == Exact && errors.As(err, &open) {
			a.note(fmt.Sprintf("%s: there is no closed form with %s; drawn by %s in its place", method, m.noise(), NUTS))
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
			a.note(fmt.Sprintf("%s: %s", method, s.Status))
		}
		d, _ := methods.Named(string(method))
		if err := a.compare(d.Label, stakes, y, func(i int) float64 { return stakes[i%len(stakes)].Best(all[i]) }); err != nil {
			return err
		}
	}
	return nil
}

// note keeps what is said of several folds once.
func (a *auditing) note(text string) {
	if !slices.Contains(a.notes, text) {
		a.notes = append(a.notes, text)
	}
}

// count keeps how much the cases of a table count, and which of them belong together.
func (a *auditing) count(p *Problem, test *table.Table) error {
	if name := p.Recipe.NameOf(recipe.Weights); name != "" {
		w, err := test.Weights(name, p.Recipe.Missing...)
		if err != nil {
			return err
		}
		a.weights = append(a.weights, w...)
	}
	if name := a.options.Data.Groups; name != "" {
		groups, err := test.Groups(name, a.options.Data.Markers...)
		if err != nil {
			return err
		}
		for _, g := range groups {
			if _, seen := a.named[g]; !seen {
				a.named[g] = len(a.named)
			}
			a.groups = append(a.groups, a.named[g])
		}
	}
	return nil
}

// The ways to choose actions that models are compared with.
const (
	BestConstant    = "best constant action"
	PredictedMedian = "predicted median"
	LinearQuantile  = "linear quantile regression"
)

// baselines are one action for all, the median of what is predicted, which heeds no costs, and a
// line through the quantile that is the action.
func (a *auditing) baselines(p *Problem, stakes []decision.Stake, all []Distribution, test *table.Table, y []float64) error {
	constant := p.constant(1)
	if err := a.compare(BestConstant, stakes, y, func(int) float64 { return constant }); err != nil {
		return err
	}
	actions := p.Costs.Actions()
	if actions.Choices != nil {
		return nil
	}
	if err := a.compare(PredictedMedian, stakes, y, func(i int) float64 { return actions.Nearest(all[i].Quantile(0.5)) }); err != nil {
		return err
	}
	if loss, ok := p.stakes[0].Loss.(decision.Pinball); ok && len(p.stakes) == 1 {
		line := linearQuantile(design(p.coding, p.X), p.Values, p.Weights, loss.Under/(loss.Under+loss.Over))
		x, _, err := p.Recipe.Apply(test)
		if err != nil {
			return err
		}
		z := design(p.coding, x)
		return a.compare(LinearQuantile, stakes, y, func(i int) float64 { return actions.Nearest(mat.Dot(z.RowView(i), line)) })
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
func (a *auditing) compare(name string, stakes []decision.Stake, y []float64, action func(i int) float64) error {
	k := slices.IndexFunc(a.ways, func(w way) bool { return w.name == name })
	if k < 0 {
		k = len(a.ways)
		a.ways = append(a.ways, way{name: name})
	}
	w := &a.ways[k]
	for i, v := range y {
		act := action(i)
		c := stakes[i%len(stakes)].Cost(act, v)
		if math.IsNaN(c) || math.IsInf(c, 0) {
			return inputf("cost", "action %v under outcome %v costs %v (%s); give costs that are numbers under every outcome", act, v, c, name)
		}
		w.actions, w.costs = append(w.actions, act), append(w.costs, c)
	}
	return nil
}

// multiples are how many times as much every unit too little costs at other ratios.
var multiples = []float64{0.125, 0.25, 0.5, 1, 2, 4, 8}

// ratio is what cases cost if a unit too little costs so many times as much.
type ratio struct {
	times                   float64
	adapted, kept, constant []float64
}

// otherRatios are costs of cases at other ratios of under to over: of actions that are chosen for them,
// of those that were chosen, and of the best constant action.
func (a *auditing) otherRatios(p *Problem, stakes []decision.Stake, all []Distribution, y, chosen []float64) {
	if _, ok := stakes[0].Loss.(decision.Pinball); !ok {
		return
	}
	if a.ratios == nil {
		a.ratios = make([]ratio, len(multiples))
		if c := stakes[0].Loss.(decision.Pinball); len(p.Costs.Columns()) == 0 {
			a.given = c.Under / c.Over
		}
	}
	for k, times := range multiples {
		r, constant := &a.ratios[k], p.constant(times)
		r.times = times
		for i, d := range all {
			s := scaled(stakes[i%len(stakes)], times)
			r.adapted = append(r.adapted, s.Cost(s.Best(d), y[i]))
			r.kept = append(r.kept, s.Cost(chosen[i], y[i]))
			r.constant = append(r.constant, s.Cost(constant, y[i]))
		}
	}
}
