package decision

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lossep/lossep/expr"
)

// Spec is what actions cost or bring as people write it: named actions and outcomes,
// costs or utilities, and entries that may depend on the case through columns of the data.
//
//	outcomes: [good, bad]        # of two, the negative one first
//	costs:                       # or utilities:
//	  accept: {good: 0, bad: 0.6 * amount}
//	  refuse: {good: 1, bad: 0}
//	  defer:  {good: 0.3, bad: 0.3}
//	ceiling: 6000                # of costs only, and optional
//	effort: {refuse: minutes}    # what actions take of a capacity, optional; see Within
//
// An entry is a number or an expression over columns (see package expr), such as
// 0.6 * amount + 10 or min(amount, 5000). Negative costs are gains.
type Spec struct {
	outcomes []string // nil until bound
	costs    bool     // entries are costs, not utilities
	mistakes bool     // they are those of false negatives and positives, which are not below 0
	actions  []string
	entries  [][]expr.Expr // by action and outcome
	ceiling  float64       // of costs; NaN if none is set
	efforts  []effort

	place SpecError // where the outcomes were named: file, line and column
}

// SpecError says what is wrong with a specification, where, and what to do.
type SpecError struct {
	File         string // name given to ParseSpec, or the option
	Line, Column int    // from 1; 0 where there is no such place
	Msg, Fix     string
	Example      string // lines that ParseCostMatrix would take, where a table is what is missing
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

func specFault(fix, format string, args ...any) *SpecError {
	return &SpecError{Msg: fmt.Sprintf(format, args...), Fix: fix}
}

// largest is the largest cost or utility, so that differences and sums of cases are
// finite.
const largest = 1e200

// EqualMistakes is the specification that stands for none: an action for each outcome,
// named like it, that costs nothing if it is right and 1 if it is wrong.
func EqualMistakes(outcomes ...string) *Spec {
	s := &Spec{costs: true, ceiling: math.NaN(), outcomes: slices.Clone(outcomes), actions: slices.Clone(outcomes)}
	for a := range outcomes {
		row := make([]expr.Expr, len(outcomes))
		for y := range row {
			row[y] = expr.Number(1)
		}
		row[a] = expr.Number(0)
		s.entries = append(s.entries, row)
	}
	return s
}

// check is the rules every specification keeps, whatever it was made from.
func (s *Spec) check() *SpecError {
	if len(s.actions) < 2 {
		return specFault("give at least 2 to choose from", "the number of actions is %d", len(s.actions))
	}
	for a, name := range s.actions {
		if name == "" || slices.Contains(s.actions[:a], name) {
			return specFault("give each its own name", "the name of action %s is empty or used twice", quoted(name))
		}
		if !utf8.ValidString(name) {
			return specFault("spell it in UTF-8", "the name of action %s is not UTF-8", quoted(name))
		}
	}
	if len(s.Columns()) > 0 {
		return nil
	}
	one, err := s.Stakes(nil)
	if err == nil {
		var t Table
		if t, err = one.Utilities(one.Zero()); err == nil {
			err = t.Check(len(t[0]))
		}
		if err == nil {
			err = one.checkChoice()
		}
	}
	if err != nil {
		return specFault("", "%s", strings.TrimPrefix(err.Error(), tableName+": "))
	}
	return nil
}

// checkCeiling refuses a ceiling that is below a cost that is the same in all cases.
func (s *Spec) checkCeiling() *SpecError {
	if !s.costs {
		return specFault("remove it, or give costs", "a ceiling turns costs into utilities, and these are utilities")
	}
	for a, row := range s.entries {
		for _, e := range row {
			if cost, err := e.Eval(noValues); err == nil && cost > s.ceiling {
				return specFault("raise it to at least that", "the ceiling %v is below the cost %v of action %s", s.ceiling, cost, quoted(s.actions[a]))
			}
		}
	}
	return nil
}

// Outcomes are the names of the outcomes, of two the negative one first; nil until Bind
// if the specification does not name them itself.
func (s *Spec) Outcomes() []string { return s.outcomes }

// Bind settles which outcome is which, by the spelling of the target column. Outcomes
// that the specification names must be these; should it name them in another order, its
// table is rearranged, for it is the names that count. Otherwise the error lists them.
func (s *Spec) Bind(target ...string) error {
	names := s.outcomes
	if names == nil {
		names = target
	}
	order := make([]int, len(target))
	fits := len(target) == len(names) && len(target) == len(s.entries[0])
	for y, name := range target {
		if order[y] = slices.Index(names, name); order[y] < 0 { // it may be spelled otherwise
			order[y] = slices.IndexFunc(names, func(own string) bool { return sameName(own, name) })
		}
		fits = fits && name != "" && order[y] >= 0 && !slices.Contains(order[:y], order[y])
	}
	if !fits {
		e := s.place
		e.Msg = fmt.Sprintf("the utility names the outcomes %s, which are not those of the target", listed(s.outcomes))
		if len(target) > 2 {
			e.Msg += difference(s.outcomes, target, "unknown") + difference(target, s.outcomes, "missing")
		}
		e.Fix = fmt.Sprintf("the target has %s: spell them the same", listed(target))
		if s.outcomes == nil {
			e.Msg = "costs of true and false negatives and positives are for two outcomes that have names"
			e.Fix = fmt.Sprintf("the target has %s: give a table of what every action costs under each of them", listed(target))
			e.Example = exampleMatrix(target)
		}
		return &e
	}
	entries := make([][]expr.Expr, len(s.entries))
	for a, row := range s.entries {
		for _, y := range order {
			entries[a] = append(entries[a], row[y])
		}
	}
	s.outcomes, s.entries = slices.Clone(target), entries
	return nil
}

// sameName tells whether names are the same in two spellings: of composed letters, or of a number,
// as 1 and 1.0, of which a table has one.
func sameName(a, b string) bool {
	if expr.Composed(a) == expr.Composed(b) {
		return true
	}
	x, notX := strconv.ParseFloat(a, 64)
	y, notY := strconv.ParseFloat(b, 64)
	return notX == nil && notY == nil && x == y
}

// difference says which names of the first list are not in the second.
func difference(one, other []string, what string) (text string) {
	for _, name := range one {
		if !slices.Contains(other, name) {
			text += fmt.Sprintf("; %s is %s", quoted(name), what)
		}
	}
	return text
}

// Costs reports whether the entries are costs, not utilities.
func (s *Spec) Costs() bool { return s.costs }

// Kind is "cost" or "utility", to name what is expected of an action.
func (s *Spec) Kind() string {
	if s.costs {
		return "cost"
	}
	return "utility"
}

// Actions are the names of the actions, in the order of the tables' rows.
func (s *Spec) Actions() []string { return slices.Clone(s.actions) }

// Entry is what an action costs, or brings, under an outcome.
func (s *Spec) Entry(action, outcome int) expr.Expr { return s.entries[action][outcome] }

// Columns are the columns that a case must give, in the order of their first use. None
// means that all cases share a table.
func (s *Spec) Columns() []string {
	var columns []string
	for _, row := range s.entries {
		for _, e := range row {
			for _, name := range e.Columns() {
				if !slices.Contains(columns, name) {
					columns = append(columns, name)
				}
			}
		}
	}
	return columns
}

// CheckColumns refuses columns that are not among those of a table, where the reason may
// be a name that lacks its backticks; others are left to whoever looks for them.
func (s *Spec) CheckColumns(columns []string) error {
	for _, name := range s.Columns() {
		if slices.Contains(columns, name) {
			continue
		}
		for _, other := range columns {
			if written := expr.Name(other); written != other && slices.Contains(strings.FieldsFunc(other, func(r rune) bool { return strings.ContainsRune(" +-*/()<>=!,", r) }), name) {
				return specFault(fmt.Sprintf("the column %s is written %s, in backticks", quoted(other), written), "there is no column %s", quoted(name))
			}
		}
	}
	return nil
}

// noValues are the columns of a case that has none.
func noValues(column string) (float64, error) {
	return 0, fmt.Errorf("the costs depend on the column %s", quoted(column))
}

// Stakes is the table of one case; values gives the case's columns, and may be nil if
// there are none. An error of values is returned as it is; a value that is not finite is
// an *expr.ValueError, and an entry that is too large a *TableError.
func (s *Spec) Stakes(values func(column string) (float64, error)) (Stakes, error) {
	t := make(Table, len(s.entries))
	for a, row := range s.entries {
		t[a] = make([]float64, len(row))
		for y, e := range row {
			u, err := e.Eval(values)
			if err != nil {
				return Stakes{}, err
			}
			if s.mistakes && a != y && u < 0 {
				return Stakes{}, &TableError{a, y, fmt.Sprintf("%v is %v in this case, a negative cost of a mistake", e, u)}
			}
			if math.Abs(u) > largest {
				return Stakes{}, &TableError{a, y, fmt.Sprintf("%v is too large: costs and utilities beyond %g cannot be compared", u, largest)}
			}
			t[a][y] = u
		}
	}
	spreads, err := s.spreads(values)
	return Stakes{t, s.costs, spreads}, err
}

// CaseError says in which of several cases the stakes cannot be had.
type CaseError struct {
	Case int // from 0
	Err  error
}

func (e *CaseError) Error() string { return e.Err.Error() }

// Unwrap gives the error of the case.
func (e *CaseError) Unwrap() error { return e.Err }

// Cases are the stakes of n cases: of each, or one for all if they do not depend on the
// case. Errors are those of Stakes, as a *CaseError.
func (s *Spec) Cases(n int, values func(i int, column string) (float64, error)) ([]Stakes, error) {
	if len(s.Columns()) == 0 {
		n = 1
	}
	all := make([]Stakes, n)
	for i := range all {
		var err error
		if all[i], err = s.Stakes(func(column string) (float64, error) { return values(i, column) }); err != nil {
			return nil, &CaseError{i, err}
		}
	}
	return all, nil
}

// Gaps counts in how many cases columns of the costs are missing, as costs of cases are worked out one
// by one.
type Gaps struct {
	Cases map[string]int
	last  map[string]int
}

// Count is values that are counted where they are missing.
func (g *Gaps) Count(values func(i int, column string) (float64, error)) func(i int, column string) (float64, error) {
	g.Cases, g.last = make(map[string]int), make(map[string]int)
	return func(i int, column string) (float64, error) {
		x, err := values(i, column)
		if errors.Is(err, expr.ErrMissing) && g.last[column] <= i { // an expression may ask twice
			g.Cases[column]++
			g.last[column] = i + 1
		}
		return x, err
	}
}

// Missing is in how many of n cases costs cannot be worked out since a column is missing.
func (s *Spec) Missing(n int, values func(i int, column string) (float64, error)) (cases int) {
	for i := range n {
		if _, err := s.Stakes(func(column string) (float64, error) { return values(i, column) }); errors.Is(err, expr.ErrMissing) {
			cases++
		}
	}
	return cases
}

// Rule is the stakes that decide every case alike, and reports false if there are none.
// Where all entries are multiples of the same positive quantity, such as 5 * amount and
// amount, these are the multiples, and by is that quantity; where no entry depends on the
// case, by is empty.
func (s *Spec) Rule() (rule Stakes, by string, ok bool) {
	t := make(Table, len(s.entries))
	fixed := false // there is an entry other than 0 that does not depend on the case
	for a, row := range s.entries {
		for _, e := range row {
			scale, rest := e.Scale()
			switch {
			case rest.Constant():
				fixed = fixed || scale != 0
			case by == "" || by == rest.String():
				by = rest.String()
			default:
				return Stakes{}, "", false
			}
			t[a] = append(t[a], scale)
		}
	}
	rule = Stakes{Table: t, Costs: s.costs}
	if by == "" {
		rule.Spreads, _ = s.spreads(nil) // which needs no columns
	}
	return rule, by, by == "" || !fixed
}

// Ceiling is what costs are subtracted from to be utilities, and whether it is set.
func (s *Spec) Ceiling() (float64, bool) { return s.ceiling, !math.IsNaN(s.ceiling) }

// Zero is the cost or utility that counts as no utility at all in the given cases: the
// ceiling, which must not be below any cost, or where none is set the worst of what Zero
// says of each.
func (s *Spec) Zero(cases []Stakes) (float64, error) {
	zero := commonZero(cases)
	ceiling, ok := s.Ceiling()
	if !ok {
		return zero, nil
	}
	if zero > ceiling {
		return 0, specFault("raise the ceiling", "a case costs %v, more than the ceiling %v", zero, ceiling)
	}
	return ceiling, nil
}

// quoted makes a name from a file safe and short enough for a message.
func quoted(name string) string {
	const longest = 40
	if runes := []rune(name); len(runes) > longest {
		name = string(runes[:longest]) + "…"
	}
	return strconv.Quote(name)
}

// listed are names in a message.
func listed(names []string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = quoted(name)
	}
	if last := len(parts) - 1; last > 0 {
		return strings.Join(parts[:last], ", ") + " and " + parts[last]
	}
	return strings.Join(parts, "")
}
