package recipe

import (
	"fmt"
	"math"

	"github.com/lossep/lossep/table"
)

// learnNumber reads an outcome that is a number, and the weights of rows.
func (l *Learned) learnNumber(t *table.Table, o *Options, roles *roles) (err error) {
	refuse := func(msg, fix string) error { return &table.Error{File: t.Name(), Msg: msg, Fix: fix} }
	switch {
	case roles.condition != nil:
		return refuse("the outcome "+table.Quote(o.Target)+" is a condition and no number", "name the column of the outcome")
	case o.Positive != "":
		return refuse("an outcome that is a number has no positive one", "leave the positive outcome out, or write the outcome as a condition")
	case o.Prevalence > 0 || o.Population != nil:
		return refuse("a prevalence is the share of one of two outcomes, and the outcome is a number", "leave it out")
	}
	l.Recipe.Target = Target{Column: t.ColumnName(roles.target), Number: true}
	if l.Values, err = l.Recipe.Numbers(t); err != nil || roles.weights < 0 {
		return err
	}
	l.Weights, err = t.Weights(t.ColumnName(roles.weights), o.Markers...)
	return err
}

// Numbers are the outcomes of the rows of a table, where those are numbers.
func (r *Recipe) Numbers(t *table.Table) ([]float64, error) {
	values, err := t.Floats(r.Target.Column, r.Missing...)
	if err != nil {
		return nil, fmt.Errorf("the outcome: %w", err)
	}
	return values, nil
}

// OutcomeNumber is the outcome of the row, if it is a number; ok is false where the file has none or the
// cell is missing.
func (r *Row) OutcomeNumber() (y float64, ok bool) {
	if r.bound.target < 0 {
		return 0, false
	}
	y, err := r.Value(r.bound.recipe.Target.Column)
	return y, err == nil
}

// LooksLikeNumber tells whether the outcome that options name is a number to predict rather than one of
// several categories, and how many different values it takes: all are numbers, more than there can be
// categories, or more than ten and not all whole.
func LooksLikeNumber(t *table.Table, o Options) (values int, is bool) {
	roles, named, err := o.assign(t)
	if err != nil || roles.condition != nil || o.Positive != "" {
		return 0, false
	}
	all := table.AllMarkers(named)
	s := table.NewScan(t, roles.target, table.NewMarkers(all).OfColumn(t.ColumnName(roles.target), all))
	if s.Missing > 0 {
		return 0, false
	}
	fractions := 0
	count := s.Categories()
	for text := range count {
		x, ok := table.Number(text)
		if !ok {
			return 0, false
		}
		if x != math.Trunc(x) {
			fractions++
		}
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
