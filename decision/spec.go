package decision

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Spec is a utility table as people write it: named actions and outcomes, costs or
// utilities, and entries that may depend on the case through a column of the data.
//
//	outcomes: [good, bad]        # the negative one first
//	costs:                       # or utilities:
//	  accept: {good: 0, bad: 0.6 * amount}
//	  refuse: {good: 1, bad: 0}
//	  defer:  {good: 0.3, bad: 0.3}
//	ceiling: 6000                # of costs only, and optional
//
// An entry is a number, the name of a column, or a number times a column; a column
// whose name looks like a number is written 1 * name. Values of columns are at least
// 0, so that a sign is always visible in the specification: a gain among costs is
// -0.1 * amount.
type Spec struct {
	outcomes [2]string // both empty until bound
	costs    bool      // entries are costs, not utilities
	actions  []specAction
	ceiling  float64 // of costs; NaN if none is set

	place SpecError // where the outcomes were named: file, line and column
}

type specAction struct {
	name    string
	entries [2]specEntry // by outcome
}

// specEntry is factor times the value of the column, or factor itself without one.
type specEntry struct {
	factor float64
	column string
}

// SpecError says what is wrong with a specification, where, and what to do.
type SpecError struct {
	File         string // name given to ParseSpec, or the option
	Line, Column int    // from 1; 0 where there is no such place
	Msg, Fix     string
}

func (e *SpecError) Error() string {
	place := e.File
	if e.Line > 0 {
		place += fmt.Sprintf(", line %d", e.Line)
	}
	if e.Column > 0 {
		place += fmt.Sprintf(", column %d", e.Column)
	}
	text := e.Msg
	if place = strings.TrimPrefix(place, ", "); place != "" {
		text = place + ": " + text
	}
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// ValueError says that a case's value cannot enter a table.
type ValueError struct {
	Column string
	Value  float64
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("column %s is %v in this case; costs and utilities take finite values from 0, and a gain among costs is written with a negative factor, such as -1 * %s",
		strconv.Quote(e.Column), e.Value, e.Column)
}

// CeilingError says that costs cannot become utilities yet, because they vary from
// case to case and no ceiling common to all cases is set.
type CeilingError struct{ Columns []string }

func (e *CeilingError) Error() string {
	return fmt.Sprintf("costs that vary with %s need a ceiling common to all cases; set ceiling to the largest cost", strings.Join(e.Columns, ", "))
}

// check is the rules every specification keeps, whatever it was made from.
func (s *Spec) check() *SpecError {
	bad := func(fix, format string, args ...any) *SpecError {
		return &SpecError{Msg: fmt.Sprintf(format, args...), Fix: fix}
	}
	if s.bound() && (slices.Contains(s.outcomes[:], "") || s.outcomes[0] == s.outcomes[1]) {
		return bad("name the two", "the outcomes %s are not two names", quotedPair(s.outcomes))
	}
	if len(s.actions) < 2 {
		return bad("give at least 2 to choose from", "the number of actions is %d", len(s.actions))
	}
	names := map[string]bool{}
	for _, a := range s.actions {
		if a.name == "" || names[a.name] {
			return bad("give each its own name", "the name of action %s is empty or used twice", quoted(a.name))
		}
		names[a.name] = true
		for y, e := range a.entries {
			if msg, fix := e.fault(s.costs); msg != "" {
				return bad(fix, "action %s, outcome %d: %s", quoted(a.name), y+1, msg)
			}
		}
	}
	for name := range names {
		if !utf8.ValidString(name + s.outcomes[0] + s.outcomes[1]) {
			return bad("spell them in UTF-8", "names of actions or outcomes are not UTF-8")
		}
	}
	if math.IsInf(s.ceiling, 0) || !s.costs && !math.IsNaN(s.ceiling) {
		return bad("give a finite number, and only with costs", "there is a ceiling of %v", s.ceiling)
	}
	for _, a := range s.actions {
		for _, e := range a.entries {
			if e.column == "" && e.factor > s.ceiling {
				return bad("raise it to at least that", "the ceiling %v is below the cost %v of action %s", s.ceiling, e.factor, quoted(a.name))
			}
		}
	}
	if len(s.Columns()) == 0 {
		t, err := s.Table(nil)
		if err == nil {
			err = t.checkChoice()
		}
		if err != nil {
			return bad("", "%s", strings.TrimPrefix(err.Error(), "utility table: "))
		}
	}
	return nil
}

// bound reports whether the outcomes have names.
func (s *Spec) bound() bool { return s.outcomes != [2]string{} }

// Outcomes are the names of the negative and the positive outcome, empty until Bind if
// the specification does not name them itself.
func (s *Spec) Outcomes() (negative, positive string) { return s.outcomes[0], s.outcomes[1] }

// Bind settles which outcome is which, by the spelling of the target column. Outcomes
// that the specification names must be these two; should it name them in the other
// order, its table is turned round, for it is the names that count. Otherwise the
// error lists them.
func (s *Spec) Bind(negative, positive string) error {
	target := [2]string{negative, positive}
	if negative == "" || positive == "" || negative == positive {
		return &SpecError{Msg: fmt.Sprintf("the target's outcomes %s are not two names", quotedPair(target)), Fix: "name the two"}
	}
	switch {
	case !s.bound() || s.outcomes == target:
	case s.outcomes == [2]string{positive, negative}:
		actions := slices.Clone(s.actions)
		for i, a := range actions {
			actions[i].entries = [2]specEntry{a.entries[1], a.entries[0]}
		}
		s.actions = actions
	default:
		e := s.place
		e.Msg = fmt.Sprintf("the utility names the outcomes %s, which are not those of the target", quotedPair(s.outcomes))
		e.Fix = fmt.Sprintf("the target has %s: spell them the same", quotedPair(target))
		return &e
	}
	s.outcomes = target
	return nil
}

// Costs reports whether the entries are costs, not utilities.
func (s *Spec) Costs() bool { return s.costs }

// Actions are the names of the actions, in the order of the tables' rows.
func (s *Spec) Actions() []string {
	names := make([]string, len(s.actions))
	for i, a := range s.actions {
		names[i] = a.name
	}
	return names
}

// Columns are the columns that a case must give, in the order of their first use. None
// means that all cases share a table.
func (s *Spec) Columns() []string {
	var columns []string
	for _, a := range s.actions {
		for _, e := range a.entries {
			if e.column != "" && !slices.Contains(columns, e.column) {
				columns = append(columns, e.column)
			}
		}
	}
	return columns
}

// Entries is the table of one case as it is written, costs or utilities; values gives
// the case's columns, and may be nil if there are none. An error of values is returned
// as it is; a value that is negative or not finite is a *ValueError, and an entry that
// overflows a *TableError.
func (s *Spec) Entries(values func(column string) (float64, error)) (Table, error) {
	t := make(Table, len(s.actions))
	for i, a := range s.actions {
		for y, e := range a.entries {
			t[i][y] = e.factor
			if e.column == "" {
				continue
			}
			v, err := values(e.column)
			if err != nil {
				return nil, err
			}
			if !(v >= 0) || math.IsInf(v, 1) {
				return nil, &ValueError{e.column, v}
			}
			if t[i][y] *= v; math.IsInf(t[i][y], 0) {
				return nil, &TableError{i, y, fmt.Sprintf("%v times %v is too large", e.factor, v)}
			}
		}
	}
	return t, nil
}

// Table is the utility table of one case, which calibrated inference and decisions
// take; see Entries for values. Costs are subtracted from the ceiling. Without one, costs
// common to all cases are subtracted from the largest of them; costs that vary from
// case to case are a *CeilingError, for each case would be on a scale of its own: take
// the largest Max of the Entries of all training cases, and give it to SetCeiling. A
// case that costs more than the ceiling is a *TableError; which action is best for it
// can still be told by FromCosts with a ceiling of its own.
func (s *Spec) Table(values func(column string) (float64, error)) (Table, error) {
	if columns := s.Columns(); s.costs && math.IsNaN(s.ceiling) && len(columns) > 0 {
		return nil, &CeilingError{columns}
	}
	t, err := s.Entries(values)
	if err != nil {
		return nil, err
	}
	if s.costs {
		return FromCosts(t, s.ceiling)
	}
	return t, t.Check()
}

// Ceiling is what costs are subtracted from, and whether it is set.
func (s *Spec) Ceiling() (float64, bool) { return s.ceiling, !math.IsNaN(s.ceiling) }

// SetCeiling sets what costs are subtracted from. It must not be below any cost.
func (s *Spec) SetCeiling(ceiling float64) error {
	changed := *s
	if changed.ceiling = ceiling; math.IsNaN(ceiling) {
		changed.ceiling = math.Inf(1) // refused, where NaN would stand for none
	}
	if err := changed.check(); err != nil {
		return err
	}
	*s = changed
	return nil
}
