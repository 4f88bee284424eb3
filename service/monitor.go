package service

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/monitor"
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
		{Name: "time", Group: Basics, Help: "the column of the times of decisions (default: cases are in order, and windows are numbers of cases)", Value: text{&q.Time, "COLUMN"}},
		{Name: "window", Group: Basics, Help: "what is looked at together: hour, day, week, month, or a number of cases", Value: text{&q.Window, "WINDOW"}},
		{Name: "outcomes", Group: Basics, CommandOf: true, Help: "a table of outcomes that became known later, with the columns of the identifier and of the outcome; of several for a case the last counts", Value: text{&q.Outcomes, "FILE"}},
		{Name: "id", Group: Basics, Help: "the column that names cases, to find their outcomes by", Value: text{&q.ID, "COLUMN"}},
		{Name: "reference", Group: Basics, CommandOf: true, Help: "a table of cases with outcomes that the model was not fitted to, to compare with (default: training rows, each predicted without it)", Value: text{&q.Reference, "FILE"}},
		{Name: "level", Group: Basics, Help: "the probability of a false alarm, ever, however often one looks; and that of an interval to miss", Value: number{&q.Watch.Level}},
		{Name: "tolerance", Group: Basics, Help: "by how much costs may rise without an alarm, relative to those of the reference, such as 0.1 or 10%", Value: share{&q.Watch.Tolerance}},
		{Name: "dates", Group: Columns, Help: "the order of dates such as 03/04/2025, which could be either", Value: choice[table.DateOrder]{to: &q.dates, of: []table.DateOrder{table.DayFirst, table.MonthFirst}}},
	}, q.Table.Options()...)
	return q
}

// Complete checks options against each other.
func (q *Monitor) Complete() error {
	if l := q.Watch.Level; !(l > 0 && l < 1) {
		return optionError("level", "%v is not between 0 and 1", l)
	}
	if _, words := windows[q.Window]; !words {
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

// windows are where a time's window begins, and its name.
var windows = map[string]func(t time.Time) (time.Time, string){
	"hour": func(t time.Time) (time.Time, string) { return t.Truncate(time.Hour), "2006-01-02 15h" },
	"day":  func(t time.Time) (time.Time, string) { return t.Truncate(24 * time.Hour), "2006-01-02" },
	"week": func(t time.Time) (time.Time, string) { return t.Truncate(7 * 24 * time.Hour), "2006-01-02" }, // Mondays: the zero time is one
	"month": func(t time.Time) (time.Time, string) {
		return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC), "2006-01"
	},
}

// Of watches the decisions that a model makes about the cases of a table. Outcomes and reference may be nil.
func (q *Monitor) Of(ctx context.Context, m *lossep.Model, t, outcomes, reference *table.Table) (*monitor.Result, error) {
	r := m.Recipe()
	o := q.Watch
	o.Numbers = r.Coding().Numbers()
	for _, p := range r.Parts() {
		o.Columns = append(o.Columns, monitor.Column{Name: p.Column, At: p.At})
	}
	order, spans, err := q.spans(t)
	if err != nil {
		return nil, err
	}
	t = t.Subset(order)
	cases, err := decided(m, t)
	if err != nil {
		return nil, err
	}
	if cases.Outcomes, err = q.outcomes(r, t, outcomes); err != nil {
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
	return found, nil
}

// decided are the cases of a table as the model decides them.
func decided(m *lossep.Model, t *table.Table) (*monitor.Cases, error) {
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
	probabilities := make([][]float64, len(predicted))
	for i, p := range predicted {
		probabilities[i] = p.Probabilities
	}
	if posterior.Gaps(x) { // what rows are like is compared with cells filled
		if x, _, err = m.Recipe().Filled().Apply(t); err != nil {
			return nil, err
		}
	}
	return chosen(x, probabilities, stakes), nil
}

// chosen are cases with what the actions taken cost, by stakes of each or of all.
func chosen(x *mat.Dense, probabilities [][]float64, stakes []decision.Stakes) *monitor.Cases {
	c := &monitor.Cases{X: x, Probabilities: probabilities}
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
func referenceOf(ctx context.Context, m *lossep.Model, t *table.Table) (*monitor.Cases, error) {
	if t != nil {
		c, err := decided(m, t)
		if err == nil {
			c.Outcomes, err = m.Recipe().Labels(t)
		}
		return c, err
	}
	left, err := m.LeftOut(ctx)
	if err != nil {
		return nil, err
	}
	c := chosen(left.X, left.Probabilities, left.Stakes)
	c.Outcomes = left.Labels
	return c, nil
}

// spans are the rows in the order of time, and their windows.
func (q *Monitor) spans(t *table.Table) (order []int, spans []monitor.Span, err error) {
	order = indices.Of(t.Len())
	var times []float64
	if q.Time != "" {
		if times, err = t.Times(q.Time, q.dates); err != nil {
			return nil, nil, err
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(times[i], times[j]) })
	}
	begin, ofTime := windows[q.Window]
	size, _ := strconv.Atoi(q.Window)
	for k, i := range order {
		name := ""
		if ofTime {
			at, layout := begin(time.Unix(int64(times[i]), 0).UTC())
			name = at.Format(layout)
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

// outcomes are those of the cases, −1 where none is known; nil if none of them is.
func (q *Monitor) outcomes(r *recipe.Recipe, t, later *table.Table) ([]int, error) {
	labels := slices.Repeat([]int{-1}, t.Len())
	if later == nil {
		if _, err := t.Column(r.Target.Column); err != nil && !r.Target.Condition {
			return nil, nil
		}
		return labels, readOutcomes(r, t, func(i, y int) { labels[i] = y })
	}
	id := cmp.Or(q.ID, r.NameOf(recipe.Identity))
	if id == "" {
		return nil, optionError("id", "outcomes of another table are found by the column that names cases; give it")
	}
	names, err := t.Texts(id)
	if err != nil {
		return nil, err
	}
	known, err := later.Texts(id)
	if err != nil {
		return nil, err
	}
	of := make(map[string]int)
	if err := readOutcomes(r, later, func(i, y int) { of[known[i]] = y }); err != nil {
		return nil, err
	}
	for i, name := range names {
		if y, is := of[name]; is {
			labels[i] = y
		}
	}
	return labels, nil
}

// readOutcomes hands over the outcomes of a table that are not missing.
func readOutcomes(r *recipe.Recipe, t *table.Table, use func(row, label int)) error {
	if r.Target.Condition {
		labels, err := r.Labels(t)
		for i, y := range labels {
			use(i, y)
		}
		return err
	}
	j, err := t.Column(r.Target.Column)
	if err != nil {
		return err
	}
	texts, err := t.Texts(r.Target.Column)
	if err != nil {
		return err
	}
	missing := table.NewMarkers(r.Missing)
	for i, cell := range texts {
		y, known := r.Target.Label(cell)
		switch {
		case known:
			use(i, y)
		case !missing.Text([]byte(cell)):
			return t.CellPlace(i, j).Say("use the spellings of the training file",
				"the outcome %s is none of %s", table.Quote(cell), table.QuoteList(r.Target.Outcomes))
		}
	}
	return nil
}
