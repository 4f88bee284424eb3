package decision

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
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

// ParseSpec reads a specification in YAML. The name is that of the file, for errors,
// which are *SpecError. Names of outcomes and actions are taken as they are spelled,
// so that yes, no and 1 need no quotes. Actions keep their order.
func ParseSpec(name string, text []byte) (*Spec, error) {
	p := specParser{file: name}
	root, err := p.document(text)
	if err != nil {
		return nil, err
	}
	parts, err := p.mapping(root, "the file")
	if err != nil {
		return nil, err
	}
	var outcomes, table, ceiling *yaml.Node
	s := &Spec{ceiling: math.NaN()}
	for _, part := range parts {
		switch part.key.Value {
		case "outcomes":
			outcomes = part.value
		case "costs", "utilities":
			if table != nil {
				return nil, p.errorf(part.key, "keep one of them", "costs and utilities are both given")
			}
			table, s.costs = part.value, part.key.Value == "costs"
		case "ceiling":
			ceiling = part.value
		default:
			return nil, p.errorf(part.key, "use outcomes, costs or utilities, and ceiling", "%s is unknown", quoted(part.key.Value))
		}
	}
	switch {
	case outcomes == nil:
		return nil, p.errorf(root, "name the two, the negative one first, as in outcomes: [good, bad]", "outcomes are missing")
	case table == nil:
		return nil, p.errorf(root, "give costs: or utilities:, with a line for each action", "there is no table")
	case ceiling != nil && !s.costs:
		return nil, p.errorf(ceiling, "remove it, or give costs", "a ceiling turns costs into utilities, and these are utilities")
	}
	if err := p.outcomes(s, outcomes); err != nil {
		return nil, err
	}
	if err := p.actions(s, table); err != nil {
		return nil, err
	}
	if ceiling != nil {
		e, err := p.entry(ceiling, "the ceiling")
		if err != nil {
			return nil, err
		}
		if e.column != "" {
			return nil, p.errorf(ceiling, "give one number for all cases", "the ceiling %s is not a number", quoted(ceiling.Value))
		}
		s.ceiling = e.factor
	}
	at := table
	if ceiling != nil {
		at = ceiling // what is left to go wrong then is the ceiling
	}
	if err := s.check(); err != nil {
		err.File, err.Line, err.Column = name, at.Line, at.Column
		return nil, err
	}
	return s, nil
}

// specParser reads the nodes of a YAML file and knows where it is.
type specParser struct{ file string }

func (p *specParser) errorf(at *yaml.Node, fix, format string, args ...any) *SpecError {
	return &SpecError{p.file, max(1, at.Line), max(1, at.Column), fmt.Sprintf(format, args...), fix}
}

// document parses the text, which holds one document that is not empty.
func (p *specParser) document(text []byte) (*yaml.Node, error) {
	if !utf8.Valid(text) {
		valid := 0
		for valid < len(text) {
			r, size := utf8.DecodeRune(text[valid:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			valid += size
		}
		before := text[:valid]
		line := before[bytes.LastIndexByte(before, '\n')+1:]
		return nil, &SpecError{p.file, 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(line), "the text is not UTF-8", "save the file as UTF-8"}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var root yaml.Node
	err := decoder.Decode(&root)
	if errors.Is(err, io.EOF) || err == nil && (len(root.Content) == 0 || root.Content[0].ShortTag() == "!!null") {
		return nil, &SpecError{p.file, 1, 1, "the file is empty", "give outcomes, and costs or utilities"}
	}
	if err != nil {
		return nil, p.notYAML(err)
	}
	var more yaml.Node
	if err := decoder.Decode(&more); err == nil {
		return nil, p.errorf(&more, "keep one", "the file holds more than one document")
	} else if !errors.Is(err, io.EOF) {
		return nil, p.notYAML(err)
	}
	return root.Content[0], nil
}

// notYAML takes the line from the parser's message, which has the form
// "yaml: line 3: what is wrong", without the number on the first line.
func (p *specParser) notYAML(err error) error {
	e := &SpecError{File: p.file, Line: 1, Msg: strings.TrimPrefix(err.Error(), "yaml: "), Fix: "check indentation, colons and brackets around there"}
	if rest, ok := strings.CutPrefix(e.Msg, "line "); ok {
		if number, msg, ok := strings.Cut(rest, ": "); ok {
			if line, err := strconv.Atoi(number); err == nil {
				e.Line, e.Msg = line, msg
			}
		}
	}
	e.Msg = "this is not YAML: " + e.Msg
	return e
}

type specPair struct{ key, value *yaml.Node }

// mapping is the pairs of a YAML mapping, in order, without duplicates.
func (p *specParser) mapping(n *yaml.Node, what string) ([]specPair, error) {
	if n.Kind != yaml.MappingNode {
		return nil, p.errorf(n, "write it as name: value", "%s is not a list of names with values", what)
	}
	var pairs []specPair
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		for _, side := range []*yaml.Node{key, value} {
			if side.Kind == yaml.AliasNode {
				return nil, p.errorf(side, "write the value out", "references (*name) are not read here")
			}
		}
		if key.Kind != yaml.ScalarNode || key.Value == "" {
			return nil, p.errorf(key, "give it a name", "%s has an entry without a plain name", what)
		}
		if seen[key.Value] {
			return nil, p.errorf(key, "keep one of them", "%s has %s twice", what, quoted(key.Value))
		}
		seen[key.Value] = true
		pairs = append(pairs, specPair{key, value})
	}
	return pairs, nil
}

func (p *specParser) outcomes(s *Spec, n *yaml.Node) error {
	const fix = "name the two, the negative one first, as in outcomes: [good, bad]"
	if n.Kind != yaml.SequenceNode || len(n.Content) != 2 {
		return p.errorf(n, fix, "outcomes are not a list of two names")
	}
	for y, item := range n.Content {
		if item.Kind != yaml.ScalarNode || item.Value == "" {
			return p.errorf(item, fix, "outcome %d has no plain name", y+1)
		}
		s.outcomes[y] = item.Value
	}
	if s.outcomes[0] == s.outcomes[1] {
		return p.errorf(n.Content[1], fix, "both outcomes are called %s", quoted(s.outcomes[0]))
	}
	return nil
}

func (p *specParser) actions(s *Spec, n *yaml.Node) error {
	rows, err := p.mapping(n, "the table")
	if err != nil {
		return err
	}
	for _, row := range rows {
		action := specAction{name: row.key.Value}
		what := "action " + quoted(action.name)
		cells, err := p.mapping(row.value, what)
		if err != nil {
			return err
		}
		var given [2]bool
		for _, cell := range cells {
			y := slices.Index(s.outcomes[:], cell.key.Value)
			if y < 0 {
				return p.errorf(cell.key, "the outcomes are "+quotedPair(s.outcomes), "%s has the unknown outcome %s", what, quoted(cell.key.Value))
			}
			given[y] = true
			if action.entries[y], err = p.entry(cell.value, what+" under "+quoted(cell.key.Value)); err != nil {
				return err
			}
			if msg, fix := action.entries[y].fault(s.costs); msg != "" {
				return p.errorf(cell.value, fix, "%s under %s: %s", what, quoted(cell.key.Value), msg)
			}
		}
		for y, ok := range given {
			if !ok {
				return p.errorf(row.key, "give a number or a column for both "+quotedPair(s.outcomes), "%s has no entry for outcome %s", what, quoted(s.outcomes[y]))
			}
		}
		s.actions = append(s.actions, action)
	}
	if len(s.actions) < 2 {
		return p.errorf(n, "give at least 2 to choose from", "the number of actions is %d", len(s.actions))
	}
	return nil
}

// entry reads a scalar as an entry of the table.
func (p *specParser) entry(n *yaml.Node, what string) (specEntry, error) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return specEntry{}, p.errorf(n, "give a number, a column, or number * column", "%s is not a number or a column", what)
	}
	e, msg, fix := parseEntry(n.Value)
	if msg != "" {
		return specEntry{}, p.errorf(n, fix, "%s: %s", what, msg)
	}
	return e, nil
}

// parseEntry reads "5", "amount" or "0.6 * amount"; msg is empty if it succeeds.
func parseEntry(text string) (e specEntry, msg, fix string) {
	const form = "write a number, the name of a column, or a number times a column, such as 0.6 * amount"
	text = strings.TrimSpace(text)
	left, right, product := strings.Cut(text, "*")
	factor, err := strconv.ParseFloat(strings.TrimSpace(left), 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && (math.IsNaN(factor) || math.IsInf(factor, 0)):
		return e, quoted(text) + " is not a finite number", form
	case err == nil && !product:
		return specEntry{factor: factor + 0}, "", "" // the sum turns −0 into 0
	case err == nil && factor == 0:
		return specEntry{}, "", "" // whatever the column holds
	case err == nil:
		e = specEntry{factor, strings.TrimSpace(right)}
		if e.column == "" {
			return e, quoted(text) + " names no column", form
		}
		return e, "", ""
	case product:
		return e, quoted(text) + " does not begin with a number", form
	case text == "":
		return e, "nothing is given", form
	case strings.ContainsAny(text[:1], "0123456789+-."):
		return e, quoted(text) + " is neither a number nor a column", form + ", with a point for decimals and no unit; a column of that name is 1 * " + text
	}
	return specEntry{1, text}, "", ""
}

// fault says what is wrong with an entry, and what to do.
func (e specEntry) fault(costs bool) (msg, fix string) {
	switch {
	case math.IsNaN(e.factor) || math.IsInf(e.factor, 0):
		return fmt.Sprintf("%v is not a finite number", e.factor), "give a number"
	case !utf8.ValidString(e.column):
		return "the column's name is not UTF-8", "spell it in UTF-8"
	case e.column != strings.TrimSpace(e.column):
		return "the column's name begins or ends with a blank", "remove it"
	case e.column != "" && e.factor == 0:
		return "zero times a column", "write 0"
	case !costs && e.factor < 0:
		return fmt.Sprintf("the utility %v is negative", e), "utilities are at least 0: add the same amount to every entry, or give costs"
	}
	return "", ""
}

// String writes the entry so that it reads back the same.
func (e specEntry) String() string {
	number := strconv.FormatFloat(e.factor, 'g', -1, 64)
	if e.column == "" {
		return number
	}
	if e.factor == 1 {
		if plain, msg, _ := parseEntry(e.column); msg == "" && plain == e {
			return e.column
		}
	}
	return number + " * " + e.column
}

// BinaryCosts is the specification for two actions, "negative" and "positive", where
// a wrong one costs fn (negative for a case that is positive) or fp and a right one
// nothing. The names of the outcomes are set by Bind.
func BinaryCosts(fn, fp float64) (*Spec, error) {
	return binarySpec(map[string]specEntry{"fn": {factor: fn}, "fp": {factor: fp}})
}

// ParseCosts reads the costs of two actions from one line, such as "fn=5,fp=1" or
// "fn=0.6*amount,fp=1,tp=0.2": false negatives and false positives, which cost
// something, and if need be true ones, which cost 0 unless given. Entries are as in
// ParseSpec. Errors are *SpecError, with the place in the line as their column.
func ParseCosts(text string) (*Spec, error) {
	const form = "write the costs of mistakes as in fn=5,fp=1"
	entries := make(map[string]specEntry)
	column := 1
	for part := range strings.SplitSeq(text, ",") {
		refuse := func(fix, format string, args ...any) (*Spec, error) {
			return nil, &SpecError{"costs", 0, column, fmt.Sprintf(format, args...), fix}
		}
		name, value, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		if !ok {
			return refuse(form, "%s has no =", quoted(part))
		}
		if !slices.Contains([]string{"fn", "fp", "tp", "tn"}, name) {
			return refuse("use fn and fp for false negatives and positives, and if need be tp and tn", "%s is unknown", quoted(name))
		}
		if _, twice := entries[name]; twice {
			return refuse("keep one of them", "%s is given twice", name)
		}
		e, msg, fix := parseEntry(value)
		if msg == "" {
			msg, fix = e.fault(true)
		}
		if msg == "" {
			msg, fix = e.mistake(name)
		}
		if msg != "" {
			return refuse(fix, "%s: %s", name, msg)
		}
		entries[name] = e
		column += utf8.RuneCountInString(part) + 1
	}
	for _, name := range []string{"fn", "fp"} {
		if _, ok := entries[name]; !ok {
			return nil, &SpecError{File: "costs", Msg: name + " is missing", Fix: form}
		}
	}
	return binarySpec(entries)
}

// mistake refuses a mistake, fn or fp, that costs nothing.
func (e specEntry) mistake(name string) (msg, fix string) {
	if (name == "fn" || name == "fp") && !(e.factor > 0) {
		return fmt.Sprintf("a mistake that costs %v is none", e), "give a cost above 0"
	}
	return "", ""
}

func binarySpec(entries map[string]specEntry) (*Spec, error) {
	for _, name := range []string{"fn", "fp"} {
		if msg, fix := entries[name].mistake(name); msg != "" {
			return nil, &SpecError{File: "costs", Msg: name + ": " + msg, Fix: fix}
		}
	}
	s := &Spec{costs: true, ceiling: math.NaN(), actions: []specAction{
		{"negative", [2]specEntry{entries["tn"], entries["fn"]}},
		{"positive", [2]specEntry{entries["fp"], entries["tp"]}},
	}}
	if err := s.check(); err != nil {
		err.File = "costs"
		return nil, err
	}
	return s, nil
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
		if _, err := s.Table(nil); err != nil {
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
		return &SpecError{
			Msg: fmt.Sprintf("the utility names the outcomes %s, which are not those of the target", quotedPair(s.outcomes)),
			Fix: fmt.Sprintf("the target has %s: spell them the same", quotedPair(target)),
		}
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

// Max is the largest entry of a table.
func (t Table) Max() float64 {
	most := math.Inf(-1)
	for _, row := range t {
		most = max(most, row[0], row[1])
	}
	return most
}

// Range is the probabilities of outcome 1 for which an action is best.
type Range struct {
	Action   int
	From, To float64
}

// Ranges divides [0, 1] by the best action of a utility table. Expected utilities are
// lines over the probability p of outcome 1, and the best is their upper envelope:
// from p = 0, where the highest intercept leads, and the steepest among equals, the
// next leader is always the steeper line that is met first. Actions that are never
// best, or only at a point, do not occur.
func (t Table) Ranges() []Range {
	slope := func(a int) float64 { return t[a][1] - t[a][0] }
	best := 0
	for a := range t {
		if t[a][0] > t[best][0] || t[a][0] == t[best][0] && t[a][1] > t[best][1] {
			best = a
		}
	}
	ranges := []Range{{best, 0, 1}}
	for {
		next, at := -1, 1.0
		for a := range t {
			// Halves, so that their sum cannot overflow.
			gain0, gain1 := t[best][0]/2-t[a][0]/2, t[a][1]/2-t[best][1]/2
			if !(gain0+gain1 > 0) || !(gain1 > 0) {
				continue // not steeper, or not met before p = 1
			}
			p := gain0 / (gain0 + gain1)
			if p < at || next >= 0 && p == at && slope(a) > slope(next) {
				next, at = a, p
			}
		}
		if next < 0 {
			return ranges
		}
		last := &ranges[len(ranges)-1]
		if at > last.From {
			last.To = at
			ranges = append(ranges, Range{next, at, 1})
		} else {
			last.Action = next // three lines through one point, to rounding
		}
		best = next
	}
}

// TableLines is the specification as an aligned table for people to read.
func (s *Spec) TableLines() []string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	kind := "utilities"
	if s.costs {
		kind = "costs"
	}
	// Nothing can fail: the writers below are in memory.
	fmt.Fprintf(w, "%s\t%s\t%s\n", kind, printable(s.outcomeName(0)), printable(s.outcomeName(1)))
	for _, a := range s.actions {
		fmt.Fprintf(w, "%s\t%s\t%s\n", printable(a.name), printable(a.entries[0].String()), printable(a.entries[1].String()))
	}
	if c, ok := s.Ceiling(); ok {
		fmt.Fprintf(w, "ceiling\t%s\n", strconv.FormatFloat(c, 'g', -1, 64))
	}
	_ = w.Flush()
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// RuleLine says in words which probabilities of the positive outcome lead to which
// action.
func (s *Spec) RuleLine() string {
	positive := "P(" + printable(s.outcomeName(1)) + ")"
	if columns := s.Columns(); len(columns) > 0 {
		return fmt.Sprintf("which %s leads to which action differs from case to case with %s", positive, printable(strings.Join(columns, ", ")))
	}
	t, err := s.Table(nil)
	if err != nil {
		return err.Error() // a specification without columns was checked when it was made
	}
	name := func(a int) string { return printable(s.actions[a].name) }
	if p, b, ok := t.Threshold(); ok {
		return fmt.Sprintf("%s where %s is above %.6g, else %s (threshold %.6g on the standardised latent mean)", name(1), positive, p, name(0), b)
	}
	ranges := t.Ranges()
	if len(ranges) == 1 {
		return fmt.Sprintf("always %s: no other action is better at any %s", name(ranges[0].Action), positive)
	}
	used := make([]bool, len(t))
	var parts, never []string
	for i, r := range ranges {
		used[r.Action] = true
		switch i {
		case 0:
			parts = append(parts, fmt.Sprintf("%s where %s is below %.6g", name(r.Action), positive, r.To))
		case len(ranges) - 1:
			parts = append(parts, fmt.Sprintf("%s above %.6g", name(r.Action), r.From))
		default:
			parts = append(parts, fmt.Sprintf("%s from %.6g to %.6g", name(r.Action), r.From, r.To))
		}
	}
	for a, ok := range used {
		if !ok {
			never = append(never, name(a))
		}
	}
	if len(never) > 0 {
		parts = append(parts, "never "+strings.Join(never, ", "))
	}
	return strings.Join(parts, "; ")
}

func (s *Spec) outcomeName(y int) string {
	if s.bound() {
		return s.outcomes[y]
	}
	return [2]string{"negative", "positive"}[y]
}

// The stored form of a Spec.
type (
	specJSON struct {
		Outcomes []string     `json:"outcomes,omitempty"`
		Kind     string       `json:"kind"` // "costs" or "utilities"
		Actions  []actionJSON `json:"actions"`
		Ceiling  *float64     `json:"ceiling,omitempty"`
	}
	actionJSON struct {
		Name    string      `json:"name"`
		Entries []entryJSON `json:"entries"` // in the order of the outcomes
	}
	entryJSON struct {
		Number *float64 `json:"number"`
		Column string   `json:"column,omitempty"`
	}
)

// MarshalJSON stores the specification.
func (s *Spec) MarshalJSON() ([]byte, error) {
	stored := specJSON{Kind: "utilities"}
	if s.costs {
		stored.Kind = "costs"
	}
	if s.bound() {
		stored.Outcomes = s.outcomes[:]
	}
	if c, ok := s.Ceiling(); ok {
		stored.Ceiling = &c
	}
	for _, a := range s.actions {
		row := actionJSON{Name: a.name}
		for _, e := range a.entries {
			row.Entries = append(row.Entries, entryJSON{&e.factor, e.column})
		}
		stored.Actions = append(stored.Actions, row)
	}
	return json.Marshal(stored)
}

// UnmarshalJSON loads a stored specification and checks it as if it were new.
func (s *Spec) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var stored specJSON
	if err := decoder.Decode(&stored); err != nil {
		return fmt.Errorf("stored utility: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return &SpecError{File: "stored utility", Msg: "more follows the object"}
	}
	refuse := func(format string, args ...any) error {
		return &SpecError{File: "stored utility", Msg: fmt.Sprintf(format, args...), Fix: "save it again"}
	}
	loaded := Spec{costs: stored.Kind == "costs", ceiling: math.NaN()}
	if !loaded.costs && stored.Kind != "utilities" {
		return refuse("the kind %s is not costs or utilities", quoted(stored.Kind))
	}
	switch len(stored.Outcomes) {
	case 0:
	case 2:
		if slices.Contains(stored.Outcomes, "") {
			return refuse("an outcome has no name")
		}
		loaded.outcomes = [2]string(stored.Outcomes)
	default:
		return refuse("there are %d outcomes and not 2", len(stored.Outcomes))
	}
	if stored.Ceiling != nil {
		loaded.ceiling = *stored.Ceiling
	}
	for _, row := range stored.Actions {
		action := specAction{name: row.Name}
		if len(row.Entries) != 2 {
			return refuse("action %s has %d entries and not 2", quoted(row.Name), len(row.Entries))
		}
		for y, e := range row.Entries {
			if e.Number == nil {
				return refuse("action %s has an entry without a number", quoted(row.Name))
			}
			action.entries[y] = specEntry{*e.Number, e.Column}
		}
		loaded.actions = append(loaded.actions, action)
	}
	if err := loaded.check(); err != nil {
		err.File = "stored utility"
		return err
	}
	*s = loaded
	return nil
}

// quoted makes a name from a file safe and short enough for a message.
func quoted(name string) string {
	const longest = 40
	if runes := []rune(name); len(runes) > longest {
		name = string(runes[:longest]) + "…"
	}
	return strconv.Quote(name)
}

func quotedPair(names [2]string) string { return quoted(names[0]) + " and " + quoted(names[1]) }

// printable is the name itself where that fits on a line, and quoted otherwise.
func printable(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) >= 0 {
		return strconv.Quote(name)
	}
	return name
}
