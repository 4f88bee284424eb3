package data

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/lossep/lossep/expr"
)

// usualPairs are the spellings whose positive member (the first) needs no
// saying, compared in lower case and without quotes around them.
func usualPairs() [][2]string {
	return [][2]string{
		{"1", "0"},
		{"1", "-1"},
		{"+1", "-1"},
		{"yes", "no"},
		{"y", "n"},
		{"ja", "nein"},
		{"oui", "non"},
		{"sí", "no"},
		{"si", "no"},
		{"true", "false"},
		{"t", "f"},
		{"positive", "negative"},
		{"pos", "neg"},
		{"+", "-"},
		{"bad", "good"},
		{"b", "g"},
		{"malignant", "benign"},
		{"m", "b"},
		{"m", "r"},
		{"mine", "rock"},
		{"fail", "pass"},
		{"failure", "ok"},
		{"abnormal", "normal"},
		{"sick", "healthy"},
		{"fraud", "legitimate"},
		{"spam", "ham"},
		{"default", "paid"},
	}
}

// MostOutcomes is the largest number of outcomes.
const MostOutcomes = 20

// learnTarget finds the values of the outcome in column j, of two which of them is
// positive, and the labels.
func learnTarget(t *Table, j int, o *Options, m *markers) (Target, []int, error) {
	s := scan(t, j, m)
	if s.present() == 0 {
		return Target{}, nil, &Error{
			File: t.file, Column: j + 1, ColumnName: t.columns[j], Msg: "the outcome is missing in every row",
			Fix: "name the column of the outcome", Ways: []Way{{Option: WayTarget}},
		}
	}
	if s.missing > 0 {
		var rows []int
		for i := s.gap; i < t.n && len(rows) < 6; i++ {
			if s.isMissing(t.at(i, j)) {
				rows = append(rows, i)
			}
		}
		at := t.cell(s.gap, j)
		at.Msg = fmt.Sprintf("the outcome is missing in %s: %s", Plural(s.missing, "row"), lineList(t, rows))
		at.Fix, at.Ways = "fill the outcomes in, or leave these rows out", []Way{{Option: WayLabelled}}
		return Target{}, nil, at
	}
	count := foldedCase(s.categories())
	values := slices.Sorted(maps.Keys(count))
	if at := s.oddOutcome(count); at != nil {
		return Target{}, nil, at
	}
	if len(values) > 2 && o.Positive == "" {
		return s.learnMany(values)
	}
	positive, err := choosePositive(values, o.Positive)
	if err != nil {
		// The first row that departs from two values is where to look.
		at := t.cell(firstOdd(t, j), j)
		at.Msg, at.Fix, at.Ways = err.Msg, err.Fix, err.Ways
		counts := make([]int, len(values))
		for k, value := range values {
			counts[k] = count[value]
		}
		for _, note := range misspelled(values, counts) {
			at.Msg += "; " + note
		}
		return Target{}, nil, at
	}
	if positive == values[0] {
		slices.Reverse(values)
	}
	target, labels := newTarget(t, j, values)
	target.Unsettled = o.Unsettled
	return target, labels, nil
}

// newTarget is the target of the outcomes in column j, with the labels.
func newTarget(t *Table, j int, outcomes []string) (Target, []int) {
	target := Target{Column: t.columns[j], Outcomes: outcomes}
	labels := target.labels(t, j)
	target.count(labels)
	return target, labels
}

// oddOutcome asks about a third outcome that a single row has beside two that make a usual
// pair in all others, if the row looks like a line of totals: a rare outcome is one, too.
func (s *scanned) oddOutcome(count map[string]int) error {
	t, j := s.table, s.column
	if len(count) != 3 || t.n < identifierRows {
		return nil
	}
	odd, pair := "", []string(nil)
	for _, value := range slices.Sorted(maps.Keys(count)) {
		if count[value] == 1 && odd == "" {
			odd = value
		} else {
			pair = append(pair, value)
		}
	}
	if len(pair) != 2 {
		return nil
	}
	if _, unusual := choosePositive(pair, ""); unusual != nil {
		return nil
	}
	place, alone := -1, 0
	t.cells[j].each(func(i int, cell float64) { // of the table that this may be a part of, too
		if key(bytesOf(t.cells[j].text(cell)), t.dialect.decimal) == odd {
			place, alone = i, alone+1
		}
	})
	if alone != 1 || !t.isTotals(place, j, pair) {
		return nil
	}
	at := s.firstOf(odd)
	at.Msg = fmt.Sprintf("%s is the outcome of this row alone, and all %d others have %s or %s: is it a line of totals?", quote(odd), t.n-1, quote(pair[0]), quote(pair[1]))
	at.Fix = "correct the outcome, delete the line, or make it one without an outcome, to be left out"
	at.Ways = []Way{{Option: WayMarkers, Value: t.columns[j] + "=" + odd}}
	return at
}

// learnMany is learnTarget of more than two values.
func (s *scanned) learnMany(values []string) (Target, []int, error) {
	t, j := s.table, s.column
	refuse := func(fix, format string, args ...any) (Target, []int, error) {
		at := t.cell(firstOdd(t, j), j)
		at.Msg, at.Fix = fmt.Sprintf(format, args...), fix
		return Target{}, nil, at
	}
	numbers, fractions := make(map[string]float64, len(values)), 0
	for _, v := range values {
		if x, ok := Number(v); ok {
			if numbers[v] = x; x != math.Trunc(x) {
				fractions++
			}
		}
	}
	const condition = "write it as a condition, such as %s >= %s, or choose another target column"
	switch {
	case len(numbers) == len(values) && (len(values) > MostOutcomes || fractions > 0 && len(values) > 10):
		return refuse(fmt.Sprintf(condition, expr.Name(t.columns[j]), values[len(values)/2]),
			"this looks like a number to predict, not an outcome: it takes %d different values", len(values))
	case len(values) == t.n:
		return refuse("choose another target column, or give more rows", "every row has an outcome of its own, and there is nothing to learn from")
	case len(values) > MostOutcomes:
		return refuse("merge rare ones, or choose another target column", "%d outcomes are more than %d: %s", len(values), MostOutcomes, quoteList(values))
	}
	if len(numbers) == len(values) {
		slices.SortFunc(values, func(a, b string) int { return cmp.Compare(numbers[a], numbers[b]) })
	}
	target, labels := newTarget(t, j, values)
	return target, labels, nil
}

// Rare names outcomes of which little can be known; of two the rarer one. One that is spelled
// almost like another may be no outcome at all.
func (t *Target) Rare() (notes []string) {
	const few = 10
	others := "others"
	if t.Binary() {
		others = "other"
	}
	notes = t.Misspelled()
	for y, n := range t.Rows {
		commoner := t.Binary() && (n > t.Rows[1-y] || n == t.Rows[1-y] && y == 0)
		if n < few && !commoner && meant(t.Outcomes, t.Rows, y) < 0 {
			notes = append(notes, fmt.Sprintf("outcome %s has %s: what tells it from the %s, and how often it occurs, can hardly be known", quote(t.Outcomes[y]), Plural(n, "row"), others))
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
				quote(name), have(counts[y]), quote(outcomes[z]), have(counts[z])))
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

// foldedCase counts outcomes that differ in upper and lower case only as one, in the
// commonest spelling, unless nothing else tells any two apart.
func foldedCase(count map[string]int) map[string]int {
	spelling, cells := make(map[string]string), make(map[string]int)
	for _, text := range slices.Sorted(maps.Keys(count)) {
		plain := strings.ToLower(text)
		if best, seen := spelling[plain]; !seen || count[text] > count[best] {
			spelling[plain] = text
		}
		cells[plain] += count[text]
	}
	if len(cells) < 2 {
		return count
	}
	folded := make(map[string]int)
	for plain, n := range cells {
		folded[spelling[plain]] = n
	}
	return folded
}

// labels are those of the rows of a table in which the outcomes, and no other, occur
// in column j.
func (t *Target) labels(table *Table, j int) []int {
	c := table.cells[j]
	words := make([]int, c.words.len())
	for k := range words {
		words[k], _ = t.label(c.words.word(uint32(k)), table.dialect.decimal)
	}
	numbers := make(map[float64]int)
	for k, name := range t.Outcomes {
		if x, ok := Number(name); ok {
			numbers[x] = k
		}
	}
	y := make([]int, table.n)
	for first, part := range table.stretches(j) {
		for k, cell := range part {
			if isWord(cell) {
				y[first+k] = words[wordOf(cell)]
			} else {
				y[first+k] = numbers[cell]
			}
		}
	}
	return y
}

// label turns a text into a label. Case tells outcomes apart only where nothing else does.
func (t *Target) label(text []byte, decimal byte) (y int, known bool) {
	spelled := key(text, decimal)
	alike := 0
	for k, name := range t.Outcomes {
		if key(bytesOf(name), '.') == spelled {
			return k, true
		}
		if strings.EqualFold(spelled, expr.Composed(name)) {
			y, alike = k, alike+1
		}
	}
	if alike != 1 {
		return 0, false
	}
	return y, true
}

// Label is the label that a text spells; numbers are compared by value.
func (t *Target) Label(text string) (y int, known bool) {
	return t.label(bytesOf(strings.TrimSpace(text)), '.')
}

// choosePositive picks the positive one of two spellings: the one asked for
// (quotes around it may be left out when nothing else fits), or else the one
// that convention makes positive. It refuses to guess.
func choosePositive(values []string, wanted string) (string, *Error) {
	wanted = expr.Composed(wanted)
	switch {
	case len(values) == 1:
		return "", &Error{
			Msg: fmt.Sprintf("one class only: the outcome is %s in every row", quote(values[0])),
			Fix: "give training rows of two outcomes or more, or another target column",
		}
	case len(values) > 2:
		return "", &Error{
			Msg: fmt.Sprintf("the outcome takes %d values, %s, and a positive one is one of two", len(values), quoteList(values)),
			Fix: "leave the positive one out to have them all, or write the outcome as a condition, such as " + conditionOn(wanted),
		}
	case slices.Contains(values, key(bytesOf(strings.TrimSpace(wanted)), '.')):
		return key(bytesOf(strings.TrimSpace(wanted)), '.'), nil
	case strings.EqualFold(values[0], wanted):
		return values[0], nil
	case strings.EqualFold(values[1], wanted):
		return values[1], nil
	}
	listed := fmt.Sprintf("%s and %s", quote(values[0]), quote(values[1]))
	if wanted != "" {
		if k := slices.IndexFunc(values, func(v string) bool { return unquoted(v) == unquoted(wanted) }); k >= 0 {
			return values[k], nil
		}
		return "", &Error{
			Msg: fmt.Sprintf("no row has the outcome %s that is to be positive; the values are %s", quote(wanted), listed),
			Fix: "name one of these two", Ways: []Way{{WayPositive, values[0], ""}, {WayPositive, values[1], ""}},
		}
	}
	if k := Conventional([2]string(values)); k >= 0 {
		return values[k], nil
	}
	return "", &Error{
		Msg: fmt.Sprintf("the outcome takes the values %s, and neither is the positive one by convention", listed),
		Fix: "name the positive one", Ways: []Way{{WayPositive, values[0], ""}, {WayPositive, values[1], ""}},
	}
}

// Conventional is the place of the one of two outcomes that is positive by convention, -1 if
// neither is.
func Conventional(outcomes [2]string) int {
	var plain [2]string
	for k, text := range outcomes {
		plain[k] = strings.ToLower(unquoted(key(bytesOf(strings.TrimSpace(text)), '.')))
	}
	for _, pair := range usualPairs() {
		switch pair {
		case plain:
			return 0
		case [2]string{plain[1], plain[0]}:
			return 1
		}
	}
	return -1
}

// conditionOn is one outcome against all others, as a target.
func conditionOn(value string) string { return fmt.Sprintf("column == %q", value) }

// unquoted takes one pair of single or double quotes away.
func unquoted(s string) string {
	if n := len(s); n >= 2 && s[0] == s[n-1] && (s[0] == '\'' || s[0] == '"') {
		return s[1 : n-1]
	}
	return s
}

// variants says which spellings of column j were taken for the same outcome.
func (t *Target) variants(table *Table, j int) []string {
	if t.Condition || table.cells[j].words.len() == 0 { // numbers have one spelling each
		return nil
	}
	outcomes := t.Outcomes
	var others []string
	for _, text := range slices.Sorted(maps.Keys(scan(table, j, newMarkers(nil)).categories())) {
		if !slices.Contains(outcomes, text) {
			others = append(others, text)
		}
	}
	if others == nil {
		return nil
	}
	return []string{fmt.Sprintf("outcomes that differ in upper and lower case only are the same: %s beside %s", quoteList(others), quoteList(outcomes))}
}

// Labelled is the table without the rows whose outcome, by the options, is missing.
func (t *Table) Labelled(o Options) (*Table, error) {
	if o.Target == "" {
		o.Target = "last"
	}
	roles, err := o.roles(t)
	if err != nil {
		return nil, err
	}
	named, err := roles.named(t, o.Markers)
	if err != nil {
		return nil, err
	}
	missing := allMarkers(named)
	m := newMarkers(missing)
	unknown := make(map[int]bool)
	if roles.condition != nil {
		_, missing, err := new(Target).evaluate(t, roles.condition, roles.parts, m)
		if err != nil {
			return nil, err
		}
		for _, i := range missing {
			unknown[i] = true
		}
	} else {
		s := scan(t, roles.target, m.ofColumn(t.columns[roles.target], missing))
		for i := range t.n {
			if s.isMissing(t.at(i, roles.target)) {
				unknown[i] = true
			}
		}
	}
	if len(unknown) == 0 {
		return t, nil
	}
	var rows []int
	for i := range t.n {
		if !unknown[i] {
			rows = append(rows, i)
		}
	}
	if rows == nil {
		return t, nil // there is none to be had, which Learn says
	}
	known := t.Subset(rows)
	known.notes = append(slices.Clone(t.notes), fmt.Sprintf("%s without an outcome left out", Plural(len(unknown), "row")))
	return known, nil
}

// firstOdd is the row with the third different value of column j, or the first
// row if there are not so many.
func firstOdd(t *Table, j int) int {
	seen := make(map[string]bool)
	for i := range t.n {
		if seen[t.cells[j].text(t.at(i, j))] = true; len(seen) > 2 {
			return i
		}
	}
	return 0
}

// lineList names the lines of the first few of the rows.
func lineList(t *Table, rows []int) string {
	const most = 5
	var b strings.Builder
	for k, i := range rows[:min(len(rows), most)] {
		if k > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %d", t.unit(), t.Line(i))
	}
	if len(rows) > most {
		b.WriteString(", …")
	}
	return b.String()
}
