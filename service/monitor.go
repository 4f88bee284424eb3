package service

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/monitor"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// Monitor is a request to watch what decisions cost as time goes by.
type Monitor struct {
	Table
	Watch               monitor.Options
	Time, Window, ID    string
	Reference, Outcomes string // files
	Options             Options

	dates table.DateOrder
}

// NewMonitor is a request with every option at its default.
func NewMonitor() *Monitor {
	q := &Monitor{Watch: monitor.Options{Level: monitor.DefaultLevel, Tolerance: monitor.DefaultTolerance}, Window: "week"}
	q.Options = append(Options{
		{Name: "time", Group: Basics, Help: "column with the time of each decision (default: rows are in order of time, and windows are numbers of cases)", Value: text{&q.Time, "COLUMN"}},
		{Name: "window", Group: Basics, Help: "length of a window: hour, day, week, month, or a number of cases", Shown: "week with a time column, else 1000 cases", Value: text{&q.Window, "WINDOW"}},
		{Name: "outcomes", Group: Basics, CommandOf: true, Help: "table of outcomes that became known later, with the identifier and the outcome; if a case has several, the last counts", Value: text{&q.Outcomes, "FILE"}},
		{Name: "id", Group: Basics, Help: "identifier column, which joins cases and {outcomes}", Value: text{&q.ID, "COLUMN"}},
		{Name: "reference", Group: Basics, CommandOf: true, Help: "table of cases with outcomes to compare with, not used in training (default: training rows, each predicted by leaving it out)", Value: text{&q.Reference, "FILE"}},
		{Name: "level", Group: Basics, Help: "probability of a false alarm over the whole monitoring period, however often monitor is run; intervals have coverage 1 − level", Value: number{&q.Watch.Level}},
		{Name: "tolerance", Group: Basics, Help: "relative increase of the cost that is tolerated without an alarm, such as 0.1 or 10%", Value: share{&q.Watch.Tolerance}},
		{Name: "dates", Group: Columns, Help: "how to read ambiguous dates such as 03/04/2025", Value: choice[table.DateOrder]{to: &q.dates, of: []table.DateOrder{table.DayFirst, table.MonthFirst}}},
	}, q.Table.Options()...)
	return q
}

// Complete checks options against each other.
func (q *Monitor) Complete() error {
	if l := q.Watch.Level; !(l > 0 && l < 1) {
		return optionError("level", "%v is not between 0 and 1", l)
	}
	if !q.ofTime() {
		if n, err := strconv.Atoi(q.Window); err != nil || n < 1 {
			return optionError("window", "%q is none of hour, day, week, month, nor a number of cases", q.Window)
		}
	} else if q.Time == "" {
		if q.Options.Given("window") {
			return optionError("window", "a %s needs the times of decisions; name their column by {time}, or give a number of cases", q.Window)
		}
		q.Window = "1000"
	}
	return nil
}

// ofTime tells whether windows are periods, and not numbers of cases.
func (q *Monitor) ofTime() bool { return slices.Contains(table.Periods(), table.Period(q.Window)) }

// Of watches the decisions that a model makes about the cases of a table. Outcomes and reference may be nil.
func (q *Monitor) Of(ctx context.Context, m Loaded, t, outcomes, reference *table.Table) (*monitor.Result, error) {
	r := m.Recipe()
	o := q.Watch
	o.Numbers = r.Coding().Numbers()
	for _, p := range r.Parts() {
		o.Columns = append(o.Columns, monitor.Column{Name: p.Column, At: p.At})
	}
	order, spans, err := q.spans(t, cmp.Or(q.dates, r.DateOrder(t.Named(q.Time))))
	if err != nil {
		return nil, err
	}
	t = t.Subset(order)
	known, strangers, err := q.outcomes(m, t, outcomes)
	if err != nil {
		return nil, err
	}
	cases, err := m.decided(ctx, t, known)
	if err != nil {
		return nil, err
	}
	if cases.X, err = filled(r, t, cases.X); err != nil {
		return nil, err
	}
	before, err := referenceOf(ctx, m, reference)
	if err != nil {
		return nil, err
	}
	found, err := monitor.Watch(before, cases, spans, o)
	if err != nil {
		return nil, &lossep.InputError{What: "reference", Msg: err.Error(), Err: err}
	}
	found.Strangers = strangers
	return found, nil
}

// filled are encoded rows of a table with gaps filled: what rows are like is compared so.
func filled(r *recipe.Recipe, t *table.Table, x *mat.Dense) (*mat.Dense, error) {
	if !posterior.Gaps(x) {
		return x, nil
	}
	x, _, err := r.Filled().Apply(t)
	return x, err
}

// decided implements Loaded.
func (m CategoryModel) decided(_ context.Context, t *table.Table, outcomes []float64) (*monitor.Cases, error) {
	x, _, err := m.Recipe().Apply(t)
	if err != nil {
		return nil, err
	}
	stakes, err := StakesOf(m.Utility(), t, m.Recipe().Missing...)
	if err != nil {
		return nil, err
	}
	predicted, err := m.Predict(x)
	if err != nil {
		return nil, err
	}
	probabilities, labels := make([][]float64, len(predicted)), make([]int, len(predicted))
	for i, p := range predicted {
		probabilities[i], labels[i] = p.Probabilities, -1
		if y := outcomes[i]; !math.IsNaN(y) {
			labels[i] = int(y)
		}
	}
	return &monitor.Cases{X: x, Decisions: chosen(probabilities, stakes, labels)}, nil
}

// leftOut implements Loaded.
func (m CategoryModel) leftOut(ctx context.Context) (*monitor.Cases, error) {
	left, err := m.LeftOut(ctx)
	if err != nil {
		return nil, err
	}
	return &monitor.Cases{X: left.X, Decisions: chosen(left.Probabilities, left.Stakes, left.Labels)}, nil
}

// decided implements Loaded.
func (m NumberModel) decided(ctx context.Context, t *table.Table, outcomes []float64) (*monitor.Cases, error) {
	x, all, err := m.Accounts(ctx, t, outcomes)
	return accounted(x, all), err
}

// leftOut implements Loaded.
func (m NumberModel) leftOut(ctx context.Context) (*monitor.Cases, error) {
	x, all, err := m.LeftOut(ctx)
	return accounted(x, all), err
}

func accounted(x *mat.Dense, all []numbers.Account) *monitor.Cases {
	c := new(monitor.Numbers)
	for _, a := range all {
		c.Means, c.Variances = append(c.Means, a.Expected), append(c.Variances, a.Variance)
		c.Costs, c.Inside = append(c.Costs, a.Cost), append(c.Inside, a.Inside)
	}
	return &monitor.Cases{X: x, Decisions: c}
}

// chosen are decisions with what the actions taken cost, by stakes of each or of all.
func chosen(probabilities [][]float64, stakes []decision.Stakes, labels []int) *monitor.Categories {
	c := &monitor.Categories{Probabilities: probabilities, Outcomes: labels}
	for i, p := range probabilities {
		c.Costs = append(c.Costs, costsOf(stakes[i%len(stakes)], p))
	}
	return c
}

// costsOf is what the best action costs under each outcome; of utilities the negative.
func costsOf(s decision.Stakes, p []float64) []float64 {
	costs := slices.Clone(s.Table[s.Best(p, -1)])
	if !s.Costs {
		for y := range costs {
			costs[y] = -costs[y]
		}
	}
	return costs
}

// referenceOf are cases that the model was not fitted to: those of a table, or training rows left out.
func referenceOf(ctx context.Context, m Loaded, t *table.Table) (*monitor.Cases, error) {
	if t == nil {
		return m.leftOut(ctx)
	}
	outcomes, err := m.outcomes(t)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(outcomes, math.IsNaN); i >= 0 {
		at := t.Place(i)
		at.ColumnName = m.Recipe().Target.Column
		return nil, at.Say("leave the row out", "the outcome is missing, and cases to compare with need it")
	}
	c, err := m.decided(ctx, t, outcomes)
	if err == nil {
		c.X, err = filled(m.Recipe(), t, c.X)
	}
	return c, err
}

// spans are the rows in the order of time, and their windows.
func (q *Monitor) spans(t *table.Table, dates table.DateOrder) (order []int, spans []monitor.Span, err error) {
	order = indices.Of(t.Len())
	var times []float64
	if q.Time != "" {
		if times, err = t.Times(q.Time, dates); err != nil {
			return nil, nil, err
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(times[i], times[j]) })
	}
	period, ofTime := table.Period(q.Window), q.ofTime()
	size, _ := strconv.Atoi(q.Window)
	for k, i := range order {
		name := ""
		if ofTime {
			name = period.Name(time.Unix(int64(times[i]), 0).UTC())
		} else {
			name = fmt.Sprintf("cases %d–%d", k/size*size+1, min((k/size+1)*size, len(order)))
		}
		if len(spans) == 0 || spans[len(spans)-1].Name != name {
			spans = append(spans, monitor.Span{Name: name, From: k})
		}
		spans[len(spans)-1].To = k + 1
	}
	return order, spans, nil
}

// outcomes are those of the cases, NaN where one is not known, and how many are of no case of the table.
func (q *Monitor) outcomes(m Loaded, t, later *table.Table) (all []float64, strangers int, err error) {
	r := m.Recipe()
	if later == nil && q.Outcomes == "" {
		if _, err := t.Column(r.Target.Column); err != nil && !r.Target.Condition {
			return slices.Repeat([]float64{math.NaN()}, t.Len()), 0, nil
		}
		all, err = m.outcomes(t)
		return all, 0, err
	}
	id := cmp.Or(q.ID, r.NameOf(recipe.Identity))
	if id == "" {
		return nil, 0, optionError("id", "outcomes of another table are found by the column that names cases; give it by {id=COLUMN}. %s", shared(t, later))
	}
	names, err := t.Texts(id)
	if err != nil {
		return nil, 0, err
	}
	if later == nil { // a file without a row, and without names
		return slices.Repeat([]float64{math.NaN()}, t.Len()), 0, nil
	}
	known, err := later.Texts(id)
	if err != nil {
		return nil, 0, err
	}
	outcomes, err := m.outcomes(later)
	if err != nil {
		return nil, 0, err
	}
	of := make(map[string]float64)
	for i, y := range outcomes {
		if !math.IsNaN(y) {
			of[known[i]] = y
		}
	}
	last := make(map[string]int) // decision of a case: its outcome is one piece of evidence, however often it was decided
	for i, name := range names {
		last[name] = i
	}
	all = slices.Repeat([]float64{math.NaN()}, len(names))
	for name, i := range last {
		if y, is := of[name]; is && name != "" {
			all[i] = y
			delete(of, name)
		}
	}
	return all, len(of), nil
}

// shared says which columns two tables share.
func shared(t, later *table.Table) string {
	both := slices.DeleteFunc(slices.Clone(later.Columns()), func(name string) bool { return !slices.Contains(t.Columns(), name) })
	if len(both) == 0 {
		return "The two tables have no column in common"
	}
	return "Both tables have " + table.QuoteList(both)
}

// outcomes implements Loaded.
func (m CategoryModel) outcomes(t *table.Table) ([]float64, error) {
	r := m.Recipe()
	all := slices.Repeat([]float64{math.NaN()}, t.Len())
	if r.Target.Condition {
		labels, err := r.Labels(t)
		for i, y := range labels {
			all[i] = float64(y)
		}
		return all, err
	}
	j, err := t.Column(r.Target.Column)
	if err != nil {
		return nil, err
	}
	texts, err := t.Texts(r.Target.Column)
	if err != nil {
		return nil, err
	}
	missing := table.NewMarkers(r.Missing)
	for i, cell := range texts {
		y, known := r.Target.Label(cell)
		switch {
		case known:
			all[i] = float64(y)
		case !missing.Text([]byte(cell)):
			return nil, t.CellPlace(i, j).Say("use the spellings of the training file",
				"the outcome %s is none of %s", table.Quote(cell), table.QuoteList(r.Target.Outcomes))
		}
	}
	return all, nil
}

// outcomes implements Loaded.
func (m NumberModel) outcomes(t *table.Table) ([]float64, error) {
	r := m.Recipe()
	all, err := r.KnownNumbers(t)
	if err != nil || !m.Counts() {
		return all, err
	}
	for i, y := range all {
		if err := m.CheckOutcome(y); err != nil && !math.IsNaN(y) {
			j, _ := t.Column(r.Target.Column) // which it has
			return nil, t.CellPlace(i, j).Say("correct it", "%v", err)
		}
	}
	return all, nil
}
