package service

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// Decide is a request for the best action in new cases.
type Decide struct {
	Cases
	Costs
	Capacity
	Calibrate     bool
	SecondOpinion bool
	Why           int      // how many reasons are given for a decision
	WhyWithout    []string // columns that are no reason, and are not changed to flip a decision
	Baseline      string   // the action that savings are against
	Only          string   // the action whose cases are written; empty for all
	Probability   string   // the column of probabilities to decide by, in place of a model
	Memory        int64    // bytes that cases may take while they wait for a capacity to be shared out; 0 for any
	Options       Options
}

// NewDecide is a request with every option at its default.
func NewDecide() *Decide {
	d := new(Decide)
	d.Options = append(append(append(append(d.Costs.Options(), d.Cases.options("decisions", "saving (of numbers: cost)")...), d.Asked()...), d.Capacity.Periods()...),
		&Option{Name: "only", Group: Basics, CommandOf: true, Help: "output only rows with this action, such as refuse (of numbers: where actions have names); the summary is of all rows", Value: text{&d.Only, "ACTION"}},
		&Option{Name: "probability", Group: Basics, CommandOf: true, Help: "column of probabilities to use instead of a model; with more than two outcomes, the prefix NAME of columns NAME_OUTCOME", Value: text{&d.Probability, "COLUMN"}},
	)
	return d
}

// Asked are the options that are not about files, which all front ends have.
func (d *Decide) Asked() Options {
	return slices.Concat(Options{
		calibrateOption(&d.Calibrate),
		{Name: "second-opinion", Group: Basics, Help: "flag rows where EP or corrected EP would choose another action", Value: toggle{&d.SecondOpinion}},
	}, d.whyOptions(), Options{
		{Name: "baseline", Group: Basics, Help: "reference action for saving (default: the first of the costs, with {capacity} the first that takes none of it; the summary: the best constant action)", Value: text{&d.Baseline, "ACTION"}},
		d.Capacity.Limit(),
	})
}

// Complete checks options against each other and fills in what follows from them.
func (d *Decide) Complete() error {
	if d.Probability != "" {
		if err := d.Options.refuse("there is no model to ask where {probability} names the probabilities to decide by; leave one of them out",
			"second-opinion", "why", "why-without", "calibrate", "on-error", "strict", "allow-unseen"); err != nil {
			return err
		}
	}
	if err := d.CheckCapacity(); err != nil {
		return err
	}
	return d.Cases.complete("")
}

// CheckCapacity refuses a capacity with what explains cases one by one.
func (d *Decide) CheckCapacity() error {
	if len(d.Limits) > 0 && d.Why > 0 {
		return optionError("why", "reasons are those of cases that are decided one by one; leave out {capacity}, or {why}")
	}
	return d.Capacity.Check()
}

// Deciding is an answer that decides cases, and the counts of what was decided.
type Deciding struct {
	request  *Decide
	model    *lossep.Model
	spec     *decision.Spec
	given    bool // the costs are not those of the fit
	baseline int
	only     int // the action whose cases are handed over, −1 for all
	trained  *lossep.Trained
	explain  *lossep.Explainer // nil if no reasons are asked for
	limits   *Limits           // nil if there is no capacity
	shortage *Shortage
	Decided
}

// Decided counts what was decided about some rows. It can be written as JSON, for those who
// decide parts of a table.
type Decided struct {
	Rows, Disagree  int
	ByAction        []int
	Expected, Saved float64   // sums
	Constant        []float64 // sums of what each action would cost, or bring, in all rows
	Labelled        int
	Realised        float64 // of the labelled rows
	Seen            int     // of them, those equal to ones that the model was fitted to
	Strange         int     // outcomes that training did not know
	Doubts
}

// Of is the answer of a model, under its own costs if none are given.
func (d *Decide) Of(ctx context.Context, m *lossep.Model, given *decision.Spec) (*Deciding, error) {
	m, spec, err := underCosts(ctx, m, given, d.Calibrate)
	if err != nil {
		return nil, err
	}
	a, err := d.under(spec)
	if err != nil {
		return nil, err
	}
	a.model, a.given, a.trained = m, given != nil && !d.Calibrate, m.Trained()
	a.explain, err = d.Explainer(m, spec)
	return a, err
}

func (d *Decide) under(spec *decision.Spec) (*Deciding, error) {
	baseline, err := Baseline(spec, d.Baseline)
	if err != nil {
		return nil, err
	}
	only, err := d.onlyOf(spec.Actions())
	if err != nil {
		return nil, err
	}
	if d.Top > 0 && len(d.Limits) == 0 { // listed has an order of its own
		d.Sort = cmp.Or(d.Sort, "saving")
	}
	limits, err := d.Within(spec)
	if d.Baseline == "" && limits != nil { // so that rows that get some of a capacity are in the order of what it saves in them
		baseline = limits.Idle()
	}
	return &Deciding{request: d, spec: spec, baseline: baseline, only: only, limits: limits, Decided: Decided{ByAction: make([]int, len(spec.Actions())), Constant: make([]float64, len(spec.Actions()))}}, err
}

// onlyOf is the one of the actions whose cases are handed over, −1 for all.
func (d *Decide) onlyOf(actions []string) (int, error) {
	if d.Only == "" {
		return -1, nil
	}
	return actionOf(actions, "only", d.Only)
}

// Counted and Count implement Parted.
func (a *Deciding) Counted() any { return &a.Decided }

func (a *Deciding) Count(others []byte) error {
	var o Decided
	err := json.Unmarshal(others, &o)
	a.add(&o)
	return err
}

// Fields implements Answer.
func (a *Deciding) Fields() []Field {
	return fileFields(append(DecideFields(a.spec, a.baseline, a.request.SecondOpinion, a.explain), a.limits.Fields()...))
}

// Columns implements Answer.
func (a *Deciding) Columns() []string {
	columns := append(a.spec.Columns(), a.limits.Columns()...)
	if name := a.request.Column(); name != "" {
		columns = append(columns, name)
	}
	return columns
}

// Recipe implements Answer.
func (a *Deciding) Recipe() *recipe.Recipe { return a.model.Recipe() }

// Rows implements Answer.
func (a *Deciding) Rows(ctx context.Context, rd *recipe.Reader, several bool, emit Emit) error {
	id := a.request.identity(rd, several)
	if a.limits != nil {
		return a.allocated(ctx, rd, id, emit)
	}
	if key := a.keyOfTop(); key != nil {
		return a.topRows(ctx, rd, id, key, emit)
	}
	some := make([]lossep.DecidedRow, 0, explainedAtOnce)
	for d, err := range a.model.Decisions(ctx, rd, a.spec, a.request.SecondOpinion) {
		if err != nil {
			return err
		}
		if !a.shows(&d.Decision) {
			a.tally(&d, &Case{Decision: &d.Decision})
			continue
		}
		if some = append(some, d); a.explain == nil || len(some) == cap(some) {
			if err := a.emit(ctx, some, id, emit); err != nil {
				return err
			}
			some = some[:0]
		}
	}
	return a.emit(ctx, some, id, emit)
}

// emit gives reasons for some decisions, if they are asked for, counts and hands over.
func (a *Deciding) emit(ctx context.Context, some []lossep.DecidedRow, id identity, emit Emit) error {
	if a.explain != nil && len(some) > 0 {
		err := a.reason(ctx, len(some), func(k int) (*lossep.Decision, []float64, *table.Error) {
			return &some[k].Decision, some[k].Row.Features, some[k].Row.Place()
		})
		if err != nil {
			return err
		}
	}
	for k := range some {
		d := &some[k]
		c := Case{ID: id.of(d.Row), Decision: &d.Decision, Unusual: d.Row.Unusual()}
		a.tally(d, &c)
		if err := emit(d.Row.Pointed, &c); err != nil {
			return err
		}
	}
	return nil
}

// shows tells whether a case is handed over.
func (a *Deciding) shows(d *lossep.Decision) bool { return a.only < 0 || d.Action == a.only }

// tally counts a decision, and what the action really cost.
func (a *Deciding) tally(d *lossep.DecidedRow, c *Case) {
	a.count(c)
	a.countOutcome(a.outcomeOf(d), c.Decision)
}

func (a *Deciding) count(c *Case) {
	d := c.Decision
	a.Decided.Rows++
	a.ByAction[d.Action]++
	a.Expected += d.Expected[d.Action]
	a.Saved += c.saving(a.baseline, a.spec.Costs())
	for k, x := range d.Expected {
		a.Constant[k] += x
	}
	a.Doubts.add(&d.Stakes, c.free(), d.Probabilities)
	if len(d.Disagreeing) > 0 {
		a.Disagree++
	}
}

// knownOutcome is what a row says of its outcome.
type knownOutcome struct {
	y                    int
	known, strange, seen bool
}

func (a *Deciding) outcomeOf(d *lossep.DecidedRow) knownOutcome {
	y, ok, err := d.Row.Label()
	return knownOutcome{y, ok && err == nil, err != nil, ok && err == nil && a.trained.Has(d.Row.Features)}
}

// countOutcome adds what the action really cost, or brought, where the row has its outcome.
func (a *Deciding) countOutcome(o knownOutcome, d *lossep.Decision) {
	switch {
	case o.strange:
		a.Strange++
	case o.known:
		a.Labelled++
		if o.seen {
			a.Seen++
		}
		a.Realised += d.Stakes.Table[d.Action][o.y]
	}
}

// add adds what was decided about other rows.
func (d *Decided) add(other *Decided) {
	d.Rows += other.Rows
	d.Disagree += other.Disagree
	d.Labelled += other.Labelled
	d.Seen += other.Seen
	d.Strange += other.Strange
	d.Expected += other.Expected
	d.Saved += other.Saved
	d.Realised += other.Realised
	d.Flippable += other.Flippable
	d.sum(other.Worths)
	for a, n := range other.ByAction {
		d.ByAction[a] += n
		d.Constant[a] += other.Constant[a]
	}
}

// inSample is a note beside a cost of rows that the model was fitted to.
func inSample(rows int) string {
	return table.Plural(rows, "training row") + " among them, so this is optimistic (in-sample); use lossep audit"
}

// Lines implements Answer.
func (a *Deciding) Lines(n Naming) []string {
	lines := a.counted("method "+string(a.model.Method()), "estimated by the model")
	if a.Decided.Rows == 0 {
		return lines
	}
	if a.Labelled > 0 {
		lines = append(lines, fmt.Sprintf("realised %s per row %.6g, on the %s with a known outcome", a.spec.Kind(), a.Realised/float64(a.Labelled), table.Plural(a.Labelled, "row")))
		if a.trained.Optimistic(a.Seen, a.Labelled) {
			lines = append(lines, inSample(a.Seen))
		}
	}
	if a.Strange > 0 {
		lines = append(lines, "unknown classes: "+table.Plural(a.Strange, "row"))
	}
	if a.request.SecondOpinion && len(a.spec.Outcomes()) == 2 {
		lines = append(lines, fmt.Sprintf("methods disagree on %d of %s", a.Disagree, table.Plural(a.Decided.Rows, "row")))
	}
	if a.given && a.model.Method().Calibrated() && !slices.Equal(a.spec.TableLines(), a.model.Utility().TableLines()) {
		lines = append(lines, fmt.Sprintf("the model was calibrated to other costs; refit, or give %s, to calibrate %s to these", n("calibrate", ""), a.model.Method()))
	}
	return append(lines, warnings(a.model)...)
}

// counted says by what rows were decided, how often each action is taken, what that is expected
// to cost by somebody's account, and what it saves.
func (a *Deciding) counted(by, account string) []string {
	rows := a.Decided.Rows
	lines := []string{fmt.Sprintf("decided %s (%s; %s)", table.Plural(rows, "row"), by, a.spec.RuleLine())}
	if rows == 0 {
		return lines
	}
	actions := a.spec.Actions()
	width := 12
	for _, name := range actions {
		width = max(width, utf8.RuneCountInString(name))
	}
	shares := recipe.Percents(a.ByAction...)
	for k, name := range actions {
		what := "rows"
		if a.ByAction[k] == 1 {
			what = "row"
		}
		lines = append(lines, fmt.Sprintf("%-*s %6d %-4s (%s)", width, name, a.ByAction[k], what, shares[k]))
	}
	lines = append(lines, fmt.Sprintf("expected %s per row %.6g, %s", a.spec.Kind(), a.Expected/float64(rows), account), a.saves())
	if a.shortage != nil {
		lines = append(lines, a.shortage.Lines()...)
	}
	return append(lines, a.Doubts.lines(a.spec, rows)...)
}

// saves says what decisions save compared with doing the same in every row: the baseline if one is named, or
// else what is best of that.
func (a *Deciding) saves() string {
	costs, actions, rows := a.spec.Costs(), a.spec.Actions(), float64(a.Decided.Rows)
	text := "saves %.6g per row compared with always “%s”"
	if !costs {
		text = "brings %.6g more per row compared with always “%s”"
	}
	best := a.bestConstant()
	if a.request.Baseline != "" {
		return fmt.Sprintf(text, a.Saved/rows, actions[a.baseline])
	}
	saved, what := gain(a.Expected, a.Constant[best], costs), ", which takes least of the capacity"
	if a.fits(best) {
		saved, what = max(0, saved), ", the best constant action" // equal to rounding is equal
	}
	text = fmt.Sprintf(text+what, saved/rows, actions[best])
	if best != a.baseline {
		text += fmt.Sprintf("; column saving is compared with “%s”", actions[a.baseline])
	}
	return text
}

// bestConstant is the action that would be best in all rows together, of those that there is enough capacity for; if there is for
// none, that which takes least of it.
func (a *Deciding) bestConstant() int {
	best := 0
	for k, x := range a.Constant {
		switch fits := a.fits(k); {
		case fits != a.fits(best):
			if fits {
				best = k
			}
		case fits && gain(x, a.Constant[best], a.spec.Costs()) > 0, !fits && a.shortage.shares[k] < a.shortage.shares[best]:
			best = k
		}
	}
	return best
}

// fits tells whether there is enough capacity to take an action in all rows.
func (a *Deciding) fits(action int) bool {
	return a.shortage == nil || a.shortage.shares[action] <= 1+1e-12 // the rounding of sums
}

// GivenDeciding decides the rows of a table by probabilities that stand in it.
type GivenDeciding struct {
	*Deciding
	table         *table.Table
	stakes        []decision.Stakes
	probabilities [][]float64
	decisions     []lossep.Decision // of all rows, which share a capacity; nil if there is none
	limited       []Limited
}

// Given is the answer by the probabilities in a table, under the costs that are given.
func (d *Decide) Given(t *table.Table, given *decision.Spec) (*GivenDeciding, error) {
	if given == nil {
		return nil, optionError("probability", "no costs given, and there is no model to know them; give {cost=fn=5,fp=1} or {utility=FILE.yaml}")
	}
	if err := d.CheckID(t.Columns()); err != nil {
		return nil, err
	}
	p, err := audit.Given(t, d.Probability, given.Outcomes())
	if err != nil {
		return nil, err
	}
	stakes, err := StakesOf(given, t)
	if err != nil {
		return nil, err
	}
	a, err := d.under(given)
	if err != nil {
		return nil, err
	}
	g := &GivenDeciding{Deciding: a, table: t, stakes: stakes, probabilities: p}
	if a.limits != nil {
		g.decisions = Choose(stakes, p)
		g.limited, a.shortage, err = a.limits.AllocateTable(t, g.decisions, d.Capacity)
	}
	return g, err
}

// Choose decides cases by the probabilities of their outcomes, whoever found them; what is at
// stake is given for each case, or once for all.
func Choose(stakes []decision.Stakes, probabilities [][]float64) []lossep.Decision {
	all := make([]lossep.Decision, len(probabilities))
	for i := range all {
		all[i] = choose(stakes, probabilities, i)
	}
	return all
}

// choose decides one of the cases.
func choose(stakes []decision.Stakes, probabilities [][]float64, i int) lossep.Decision {
	s, p := stakes[i%len(stakes)], probabilities[i]
	return lossep.Decision{Choice: s.Choose(make([]float64, len(s.Table)), p), Probabilities: p, Stakes: s}
}

// Fields are what is said about every case.
func (g *GivenDeciding) Fields() []Field {
	return append(append([]Field{IDField}, DecideFields(g.spec, g.baseline, false, nil)...), g.limits.Fields()...)
}

// Rows goes over the rows. Only those that share a capacity are held all at once.
func (g *GivenDeciding) Rows(several bool, emit Emit) error {
	column := slices.Index(g.table.Columns(), g.request.ID)
	of := func(i int, d *lossep.Decision) *Case {
		c := &Case{Decision: d}
		if column >= 0 {
			c.ID = g.table.Cells(column).Text(g.table.At(i, column))
		} else {
			c.ID = lineID(g.table.Place(i), several)
		}
		if g.limited != nil {
			c.Limited = &g.limited[i]
		}
		g.count(c)
		return c
	}
	if g.limited == nil {
		for i := range g.probabilities {
			d := choose(g.stakes, g.probabilities, i)
			c := of(i, &d)
			if !g.shows(&d) {
				continue
			}
			if err := emit(func() []string { return g.table.Row(i) }, c); err != nil {
				return err
			}
		}
		return nil
	}
	cases := make([]*Case, len(g.decisions))
	for i := range cases {
		cases[i] = of(i, &g.decisions[i])
	}
	for _, i := range g.listed(cases) {
		if err := emit(func() []string { return g.table.Row(i) }, cases[i]); err != nil {
			return err
		}
	}
	return nil
}

// Lines are what is to be said of all rows together.
func (g *GivenDeciding) Lines(n Naming) []string {
	column := g.request.Probability
	return g.counted("probabilities in "+column, fmt.Sprintf("estimated from the probabilities; lossep audit %s says whether they can be trusted", n("probability", column)))
}
