package recipe

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lossep/lossep/expr"
	"github.com/lossep/lossep/table"
)

// The outcome of a table is the text of one column, or a condition over several, such
// as delay >= 15. Columns that a condition names are no features: they say what is to
// be found out.

// The outcomes of a condition.
const (
	conditionHolds = "yes"
	conditionFails = "no"
)

// condition reads a target that names no column as a condition over columns. Where it
// is neither, the error is the one about columns.
func findCondition(t *table.Table, target string) (*expr.Condition, []int, error) {
	_, unknown := t.Column(target)
	c, err := expr.ParseCondition(target)
	if err != nil {
		var place *expr.Error
		if errors.As(err, &place) && slices.ContainsFunc([]rune(target), func(r rune) bool { return r == '<' || r == '>' || r == '=' }) {
			return nil, nil, &table.Error{File: t.Name(), Msg: fmt.Sprintf("the outcome %s is not a condition: %s", table.Quote(target), place.Msg), Fix: place.Fix, Err: err}
		}
		return nil, nil, unknown
	}
	columns := make([]int, len(c.Columns()))
	for k, name := range c.Columns() {
		if columns[k], err = t.Column(name); err != nil {
			return nil, nil, err
		}
	}
	return &c, columns, nil
}

// learnCondition evaluates the condition in every row.
func learnCondition(t *table.Table, c *expr.Condition, columns []int, o *Options, m *table.Markers) (Target, []int, error) {
	target := Target{Column: c.String(), Condition: true, Outcomes: []string{conditionFails, conditionHolds}}
	switch o.Positive {
	case "", conditionHolds:
	case conditionFails:
		slices.Reverse(target.Outcomes)
	default:
		return target, nil, table.In(t.Name()).Say("leave the positive one out, or name one of these two",
			"the outcome %s is a condition and takes the values yes and no, not %s", table.Quote(target.Column), table.Quote(o.Positive)).
			By(way(table.WayPositive, "yes", ""), way(table.WayPositive, "no", ""))
	}
	y, missing, err := target.evaluate(t, c, columns, m)
	if err != nil {
		return target, nil, err
	}
	if len(missing) > 0 {
		return target, nil, t.Place(missing[0]).Say("fill the cells in, or leave these rows out",
			"the outcome %s is missing in %s: %s", table.Quote(target.Column), table.Plural(len(missing), "row"), lineList(t, missing)).
			By(table.Way{Option: table.WayLabelled})
	}
	target.count(y)
	if slices.Contains(target.Rows, 0) {
		return target, nil, table.In(t.Name()).Say("give training rows of both outcomes, or another condition",
			"one class only: %s is %s in every row", table.Quote(target.Column), table.Quote(target.Outcomes[y[0]]))
	}
	return target, y, nil
}

// evaluate gives the labels of all rows, and the rows in which a cell is missing.
func (target *Target) evaluate(t *table.Table, c *expr.Condition, columns []int, m *table.Markers) (y, missing []int, err error) {
	where := make(map[string]int, len(columns))
	readers := make(map[string]*table.NumberReader, len(columns))
	for k, name := range c.Columns() {
		where[name] = columns[k]
		readers[name] = table.NewNumberReader(t, columns[k], m)
	}
	row := 0
	value := func(name string) (float64, error) { return readers[name].Value(row) }
	text := func(name string) (string, error) {
		j := where[name]
		cell := t.At(row, j)
		if table.IsText(cell) && m.Text(t.Cells(j).Bytes(cell)) || m.Number(cell) {
			return "", expr.ErrMissing
		}
		return table.Key(table.BytesOf(t.Cells(j).Text(cell)), t.Decimal()), nil
	}
	y = make([]int, t.Len())
	for row = range t.Len() {
		holds, err := c.Holds(value, text)
		switch {
		case errors.Is(err, expr.ErrMissing):
			missing = append(missing, row)
		case err != nil:
			if located, ok := err.(*table.Error); ok {
				return nil, nil, located
			}
			at := t.Place(row)
			at.Msg, at.Err = fmt.Sprintf("the outcome %s: %v", table.Quote(target.Column), err), err
			return nil, nil, at
		default:
			y[row] = target.conditionLabel(holds)
		}
	}
	return y, missing, nil
}

// conditionLabel is the label where the condition holds, or where it does not.
func (target *Target) conditionLabel(holds bool) int {
	if holds == (target.Positive() == conditionHolds) {
		return 1
	}
	return 0
}

// Labels gives the labels of a table that has the columns they are made of.
func (r *Recipe) Labels(t *table.Table) ([]int, error) {
	b, err := r.bind(t.Name(), t.HeaderLine(), t.Columns(), t.HasHeader())
	if err != nil {
		return nil, err
	}
	if r.Target.Condition {
		c, columns, err := findCondition(t, r.Target.Column)
		if err != nil {
			return nil, err
		}
		y, missing, err := r.Target.evaluate(t, c, columns, table.NewMarkers(r.Missing))
		if err == nil && len(missing) > 0 {
			at := t.Place(missing[0])
			at.Msg, at.Fix = fmt.Sprintf("the outcome %s is missing", table.Quote(r.Target.Column)), "fill the cells in"
			err = at
		}
		return y, err
	}
	if b.target < 0 {
		_, err := b.column(r.Target.Column)
		return nil, err
	}
	c := t.Cells(b.target)
	seen := make(map[string]bool)
	for i := range t.Len() {
		text := c.Text(t.At(i, b.target))
		if !seen[text] {
			if _, known := r.Target.Label(text); !known {
				return nil, orNoRow(b.strangeOutcome(t.Place(i), text), t, i, "correct the outcome, or leave the line out")
			}
			seen[text] = true
		}
	}
	return r.Target.labels(t, b.target), nil
}

// strangeOutcome refuses an outcome that is none of those known.
func (b *binding) strangeOutcome(at *table.Error, text string) *table.Error {
	target := &b.recipe.Target
	at.Column, at.ColumnName = b.target+1, b.names[b.target]
	at.Msg = fmt.Sprintf("the outcome %s is none of %s", table.Quote(text), table.QuoteList(target.Outcomes))
	at.Fix = "use the spellings of the training file"
	if text == "" {
		at.Msg, at.Fix = "the outcome is missing", "fill it in"
	}
	return at
}

// Label is the label of the row; ok is false where the file has none or
// the cell is missing.
func (r *Row) Label() (y int, ok bool, err error) {
	b := r.bound
	m := b.missing
	if b.condition != nil {
		return r.conditionLabel(m)
	}
	if b.target < 0 {
		return 0, false, nil
	}
	text := r.Text(b.target)
	if y, ok = b.recipe.Target.label(text, r.Decimal()); ok {
		return y, true, nil
	}
	if m.Text(text) || b.unlabelled(text, r.Decimal()) {
		return 0, false, nil
	}
	return 0, false, b.strangeOutcome(r.Place(), string(text))
}

// unlabelled tells whether a text is a missing cell of the outcome alone.
func (b *binding) unlabelled(text []byte, decimal byte) bool {
	m := b.missing.OfColumn(b.recipe.Target.Column, b.recipe.Missing)
	x, kind := table.ParseNumber(text, decimal)
	return m != b.missing && (m.Text(text) || kind == table.Finite && m.Number(x))
}

// conditionLabel evaluates the condition that is the outcome.
func (r *Row) conditionLabel(m *table.Markers) (y int, ok bool, err error) {
	holds, err := r.bound.condition.Holds(func(name string) (float64, error) {
		j, err := r.bound.column(name)
		if err != nil {
			return 0, expr.ErrMissing
		}
		return r.value(j)
	}, func(name string) (string, error) {
		j, err := r.bound.column(name)
		if err != nil || m.Text(r.Text(j)) {
			return "", expr.ErrMissing
		}
		return table.Key(r.Text(j), r.Decimal()), nil
	})
	switch {
	case errors.Is(err, expr.ErrMissing):
		return 0, false, nil
	case err != nil:
		return 0, false, err
	}
	return r.bound.recipe.Target.conditionLabel(holds), true, nil
}
