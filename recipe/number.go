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
