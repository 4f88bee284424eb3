package recipe

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

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
		return target, nil, (&answers{table: t, condition: c}).refuse(missing)
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

// learnNumber reads an outcome that is a number, and the weights of rows.
func (l *Learned) learnNumber(t *table.Table, o *Options, roles *roles, m *table.Markers) (err error) {
	refuse := func(msg, fix string) error { return &table.Error{File: t.Name(), Msg: msg, Fix: fix} }
	switch {
	case roles.condition != nil:
		return refuse("the outcome "+table.Quote(o.Target)+" is a condition and no number", "name the column of the outcome")
	case o.Positive != "":
		return refuse("the outcome is a number, which has no positive class", "leave the positive class out, or give the target as a condition, such as amount > 1000")
	case o.Prevalence > 0 || o.Population != nil:
		return refuse("a prevalence is the share of one of two outcomes, and the outcome is a number", "leave it out")
	}
	name := t.ColumnName(roles.target)
	l.Recipe.Target = Target{Column: name, Number: true}
	of := learner{estimator: estimator{Scan: table.NewScan(t, roles.target, m.OfColumn(name, l.Recipe.Missing))}, options: o, column: Column{Name: name, Kind: Outcome}}
	if of.Missing > 0 {
		return (&answers{table: t, column: roles.target}).refuse(missingIn(of.Scan))
	}
	if err := of.learnOutcome(); err != nil {
		return err
	}
	roles.notation, l.Values, l.Scans[roles.target] = of.column.Notation, of.all(), of.Scan
	l.Notes = append(l.Notes, of.notes...)
	if roles.weights < 0 {
		return nil
	}
	l.Weights, err = t.Weights(t.ColumnName(roles.weights), o.Markers...)
	return err
}

// Numbers are the outcomes of the rows of a table, where those are numbers.
func (r *Recipe) Numbers(t *table.Table) ([]float64, error) {
	values, err := r.KnownNumbers(t)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(values, math.IsNaN); i >= 0 {
		j, _ := t.Column(r.Target.Column) // which it has
		at := t.CellPlace(i, j)
		at.Msg, at.Fix, at.Err = "the outcome is missing", "fill it in, or leave the rows without an outcome out", expr.ErrMissing
		return nil, at
	}
	return values, nil
}

// KnownNumbers are the outcomes of the rows of a table, where those are numbers; NaN where a cell is missing.
func (r *Recipe) KnownNumbers(t *table.Table) ([]float64, error) {
	j, err := t.ReadColumn(r.Target.Column)
	if err != nil {
		return nil, err
	}
	c := &r.Columns[r.only(Outcome)]
	f := newField(c, false, table.NewMarkers(r.Missing).OfColumn(c.Name, r.Missing))
	var first *table.Error // of the cells that are no numbers
	cells := 0
	values := make([]float64, t.Len())
	for i := range values {
		switch v := f.cell(t, i, j); v.state {
		case gap:
			values[i] = math.NaN()
		case faulty:
			if cells++; first == nil {
				first = t.CellPlace(i, j)
				first.Msg, first.Fix = "the outcome "+v.problem, "correct the cell, or fit again with such cells in training"
				first.OtherMark(t.Cells(j).Text(t.At(i, j)), t.Decimal())
			}
		default:
			values[i] = v.x
		}
	}
	switch {
	case first == nil:
		return values, nil
	case cells > 1:
		first.Msg += fmt.Sprintf(" (%d such cells)", cells)
	}
	return nil, first
}

// OutcomeNumber is the outcome of the row, if it is a number; ok is false where the file has none or the
// cell is missing.
func (r *Row) OutcomeNumber() (y float64, ok bool, err error) {
	if r.bound.target < 0 {
		return 0, false, nil
	}
	if y, err = r.value(r.bound.target); err == expr.ErrMissing {
		return 0, false, nil
	}
	return y, err == nil, err
}

// LooksLikeNumber tells whether the outcome that options name is a number to predict rather than one of
// several categories, and how many different values it takes: all are numbers, more than ten and not all whole, or
// most are, and they are more than there can be categories.
func LooksLikeNumber(t *table.Table, o Options) (values int, is bool) {
	o.Number = true
	roles, named, err := o.assign(t)
	if err != nil || roles.condition != nil || o.Positive != "" {
		return 0, false
	}
	all := table.AllMarkers(named)
	s := table.NewScan(t, roles.target, table.NewMarkers(all).OfColumn(t.ColumnName(roles.target), all))
	if s.Missing > 0 {
		return 0, false
	}
	n, _ := s.Notation()
	fractions, cells := 0, 0
	count := s.Categories()
	for text, times := range count {
		x, ok := table.Number(text)
		if !ok && n != nil {
			x, ok = n.Parse(table.BytesOf(text))
		}
		if !ok {
			continue
		}
		cells += times
		if x != math.Trunc(x) {
			fractions++
		}
	}
	if 2*cells <= s.Present() || cells < s.Present() && len(count) <= MostOutcomes {
		return 0, false
	}
	return len(count), len(count) > MostOutcomes || fractions > 0 && len(count) > 10
}

// LooksLikeCodes says why the outcome that options name is none to predict as a number, although all of it
// are numbers; empty if nothing speaks against it. Codes are spelled with zeros in front, number the rows, or
// are a few whole numbers of the same five digits or more, half of them no multiples of 5 as amounts
// so large often are.
func LooksLikeCodes(t *table.Table, o Options) string {
	roles, named, err := o.assign(t)
	if err != nil || roles.condition != nil || roles.target < 0 {
		return ""
	}
	values, err := t.Floats(t.ColumnName(roles.target), table.AllMarkers(named)...)
	if err != nil {
		return ""
	}
	few, whole, counting, uneven := make(map[float64]bool), true, len(values) >= leastCodes, 0
	for i, x := range values {
		if cell := t.At(i, roles.target); table.IsText(cell) { // a number that is spelled otherwise
			if text := t.Cells(roles.target).Text(cell); len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9' {
				return table.Quote(text) + " begins with a zero"
			}
		}
		counting = counting && x == values[0]+float64(i) && x == math.Trunc(x)
		whole = whole && x == math.Trunc(x) && x >= 10000 && math.Floor(math.Log10(x)) == math.Floor(math.Log10(values[0]))
		if whole && len(few) <= MostOutcomes && !few[x] {
			few[x] = true
			if math.Mod(x, 5) != 0 {
				uneven++
			}
		}
	}
	switch {
	case counting:
		return "it numbers the rows"
	case whole && len(few) <= MostOutcomes && len(values) >= 2*len(few) && 2*uneven >= len(few):
		return fmt.Sprintf("it takes only %d values, whole numbers of as many digits each", len(few))
	}
	return ""
}

// leastCodes is from how many rows on their numbers are distinguished from amounts.
const leastCodes = 10

// Rare names outcomes of which little can be known; of two the rarer one. One that is spelled
// almost like another may be no outcome at all.
func (t *Target) Rare() (notes []string) {
	const few = 10
	notes = t.Misspelled()
	for y, n := range t.Rows {
		commoner := t.Binary() && (n > t.Rows[1-y] || n == t.Rows[1-y] && y == 0)
		if n < few && !commoner && meant(t.Outcomes, t.Rows, y) < 0 {
			notes = append(notes, fmt.Sprintf("only %s of class %s: estimates are unreliable", table.Plural(n, "row"), table.Quote(t.Outcomes[y])))
		}
	}
	return notes
}

// Misspelled names outcomes of more than two that may be another one.
func (t *Target) Misspelled() []string { return misspelled(t.Outcomes, t.Rows) }

// misspelled is Misspelled of outcomes that so many rows have. What has more values than there may
// be outcomes is none, and would take the square of their number.
func misspelled(outcomes []string, counts []int) (notes []string) {
	if len(outcomes) > MostOutcomes {
		return nil
	}
	for y, name := range outcomes {
		if z := meant(outcomes, counts, y); z >= 0 {
			notes = append(notes, fmt.Sprintf("outcome %s, which %s, is spelled almost like %s, which %s: if they are the same, correct these cells",
				table.Quote(name), have(counts[y]), table.Quote(outcomes[z]), have(counts[z])))
		}
	}
	return notes
}

func have(rows int) string {
	if rows == 1 {
		return "1 row has"
	}
	return fmt.Sprintf("%d rows have", rows)
}

// meant is the outcome that y may be a misspelling of, if there are more than two: it is ten
// times as frequent and spelled almost the same, or begins with the one letter that y is. −1 if
// there is none.
func meant(outcomes []string, counts []int, y int) int {
	if len(outcomes) < 3 {
		return -1
	}
	own := []rune(strings.ToLower(outcomes[y]))
	for z, other := range outcomes {
		name := []rune(strings.ToLower(other))
		initial := len(own) == 1 && len(name) > 1 && unicode.IsLetter(own[0]) && own[0] == name[0]
		if counts[z] >= 10*counts[y] && (initial || almost(own, name)) {
			return z
		}
	}
	return -1
}

// almost says whether two words are one slip apart: a letter too many, too few, another one, or
// two that changed places. Digits and signs tell grades apart, and are no slips, nor is anything
// in words of two letters.
func almost(a, b []rune) bool {
	if max(len(a), len(b)) < 3 {
		return false
	}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	for _, r := range slices.Concat(a, b) {
		if unicode.IsDigit(r) || r == '+' || r == '-' {
			return false
		}
	}
	swapped := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	return swapped || len(a) <= 1 && len(b) <= 1
}
