package advise

import (
	"maps"
	"slices"
	"strings"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// mostRounds bounds how often what is suggested is tried: a problem may hide another.
const mostRounds = 8

// settle lists all that is ambiguous about a table, with options that settle it: those have been
// tried. An error of another kind, or one that no option settles, is returned as it is.
func settle(t *table.Table, o recipe.Options, err error) error {
	all := new(table.Problems)
	if all.Add(err) != nil || len(all.All) == 0 {
		return err
	}
	s := &settlement{table: t, options: o}
	s.options.Drop, s.options.Categorical, s.options.Markers = slices.Clone(o.Drop), slices.Clone(o.Categorical), slices.Clone(o.Markers)
	s.options.Bends = maps.Clone(o.Bends)
	problems := all.All
	all.All = nil
	for range mostRounds {
		problems = s.first(problems)
		all.All = append(all.All, problems...)
		if !s.take(problems) {
			break
		}
		_, _, err := learnOnce(s.table, s.options)
		if err == nil {
			all.Suggest, all.Choices = table.Together(s.ways), s.choices
			break
		}
		next := new(table.Problems)
		if next.Add(err) != nil {
			break
		}
		problems = next.All
		if slices.ContainsFunc(problems, func(e *table.Error) bool { ways, _ := s.suggested(e); return ways == nil }) {
			break // which may come of what was suggested
		}
	}
	if len(all.All) == 1 { // its message says it
		one := *all.All[0]
		one.Settle, one.Choice = all.Suggest, nil
		if all.Choices != nil {
			one.Choice = all.Choices[0]
		}
		return &one
	}
	return all.Err()
}

// settlement is a table and options with what is suggested.
type settlement struct {
	table   *table.Table
	options recipe.Options
	ways    []table.Way
	choices [][]table.Way // of which the first of each is tried
}

// first are the problems that leave rows out, if there are some: without these rows others may not
// arise, and a line that is no row makes one in many columns. Otherwise they are all.
func (s *settlement) first(problems []*table.Error) []*table.Error {
	by := func(option table.Option) (rows []*table.Error) {
		for _, e := range problems {
			if ways, _ := s.suggested(e); slices.ContainsFunc(ways, func(w table.Way) bool { return w.Option == option }) {
				rows = append(rows, e)
			}
		}
		return rows
	}
	if rows := by(table.WayLabelled); rows != nil {
		return rows
	}
	if lines := by(table.WaySkip); lines != nil {
		return lines[:1]
	}
	return problems
}

// suggested are the options that settle a problem together, or of which any one does and only who
// knows the table can choose; nil if none does. To leave lines out that look like none is no choice,
// whatever else would settle them.
func (s *settlement) suggested(e *table.Error) (ways []table.Way, choice bool) {
	if e.Settle != nil {
		return e.Settle, false
	}
	for _, w := range e.Ways {
		if w.Option != table.WayID || s.options.ID == "" { // there is but one
			ways = append(ways, w)
		}
	}
	if len(ways) > 1 && (ways[0].Option == table.WaySkip || ways[0].Option == table.WayLabelled) {
		ways = ways[:1]
	}
	return ways, len(ways) > 1
}

// take takes what is suggested for problems, and reports whether there is something for each of
// them that needs no other reading of the file.
func (s *settlement) take(problems []*table.Error) bool {
	for _, e := range problems {
		ways, choice := s.suggested(e)
		switch {
		case ways == nil:
			return false
		case choice:
			if slices.ContainsFunc(s.choices, func(c []table.Way) bool { return slices.Equal(c, ways) }) {
				continue
			}
			s.choices = append(s.choices, ways)
			if !s.option(ways[0]) {
				return false
			}
			continue
		}
		for _, w := range ways {
			if slices.ContainsFunc(s.ways, func(v table.Way) bool { return v.Option == w.Option && v.Value == w.Value }) {
				continue
			}
			if !s.option(w) {
				return false
			}
			s.ways = append(s.ways, w)
		}
	}
	return s.leaveOut() == nil
}

// option sets an option of the recipe.
func (s *settlement) option(w table.Way) bool {
	o := &s.options
	switch w.Option {
	case table.WayDrop:
		o.Drop = append(o.Drop, w.Value)
	case table.WayCategorical:
		o.Categorical = append(o.Categorical, w.Value)
	case table.WayMarkers:
		o.Markers = append(o.Markers, w.Value)
	case table.WayImpute:
		o.Impute = true
	case table.WayID:
		o.ID = w.Value
	case table.WayDates:
		o.Dates = table.DateOrder(w.Value)
	case table.WayPositive:
		o.Positive = w.Value
	case table.WayScaling:
		column, bend, ok := strings.Cut(w.Value, "=")
		if o.Bends == nil {
			o.Bends = make(map[string]recipe.Bend)
		}
		o.Bends[column] = recipe.Bend(bend)
		return ok
	case table.WaySkip:
		t, err := s.table.Without(w.Value)
		if err != nil || t.Len() == s.table.Len() { // lines above the header
			return false
		}
		s.table = t
	case table.WayDecimal:
		t, changed := s.table.SureDecimal()
		s.table = t
		return changed
	case table.WayLabelled:
	default:
		return false
	}
	return true
}

// leaveOut leaves rows without an outcome out, if that is suggested.
func (s *settlement) leaveOut() error {
	if !slices.ContainsFunc(s.ways, func(w table.Way) bool { return w.Option == table.WayLabelled }) {
		return nil
	}
	t, err := recipe.Labelled(s.table, s.options)
	if err == nil {
		s.table = t
	}
	return err
}
