package recipe

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/lossep/lossep/expr"
	"github.com/lossep/lossep/table"
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
func learnTarget(t *table.Table, j int, o *Options, order *OrderedSet, m *table.Markers) (Target, []int, error) {
	s := table.NewScan(t, j, m)
	if s.Present() == 0 {
		return Target{}, nil, t.ColumnPlace(j).Say("name the column of the outcome",
			"the outcome is missing in every row").By(table.Way{Option: table.WayTarget})
	}
	if s.Missing > 0 {
		return Target{}, nil, (&answers{table: t, column: j}).refuse(missingIn(s))
	}
	count := foldedCase(s.Categories())
	values := slices.Sorted(maps.Keys(count))
	if o.Grading == Graded || o.Grading == AutoGrades && order != nil {
		return learnGrades(s, values, o, order)
	}
	if at := oddOutcome(s, count); at != nil {
		return Target{}, nil, at
	}
	if len(values) > 2 && o.Positive == "" {
		return learnMany(s, values)
	}
	positive, err := choosePositive(values, o.Positive)
	if err != nil {
		// The first row that departs from two values is where to look.
		at := t.CellPlace(firstOdd(t, j), j)
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
func newTarget(t *table.Table, j int, outcomes []string) (Target, []int) {
	target := Target{Column: t.ColumnName(j), Outcomes: outcomes}
	labels := target.labels(t, j)
	target.count(labels)
	return target, labels
}

// oddOutcome asks about a third outcome that a single row has beside two that make a usual
// pair in all others, if the row looks like a line of totals: a rare outcome is one, too.
func oddOutcome(s *table.Scan, count map[string]int) error {
	t, j := s.Table, s.Column
	if len(count) != 3 || t.Len() < IdentifierRows {
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
	t.Cells(j).Each(func(i int, cell float64) { // of the table that this may be a part of, too
		if table.Key(table.BytesOf(t.Cells(j).Text(cell)), t.Decimal()) == odd {
			place, alone = i, alone+1
		}
	})
	if alone != 1 || !isTotals(t, place, j, pair) {
		return nil
	}
	at := s.FirstOf(odd)
	at.Msg = fmt.Sprintf("%s is the outcome of this row alone, and all %d others have %s or %s: is it a line of totals?", table.Quote(odd), t.Len()-1, table.Quote(pair[0]), table.Quote(pair[1]))
	at.Fix = "correct the outcome, delete the line, or make it one without an outcome, to be left out"
	at.Ways = []table.Way{{Option: table.WayMarkers, Value: t.ColumnName(j) + "=" + odd}}
	at.Settle = append(at.Ways, table.Way{Option: table.WayLabelled})
	if at.Line > 0 && at.Line == t.Line(t.Len()-1) {
		at.Fix, at.Ways, at.Settle = "correct the outcome, or leave the line out", []table.Way{{Option: table.WaySkip, Value: "last"}}, nil
	}
	return at
}

// learnMany is learnTarget of more than two values.
func learnMany(s *table.Scan, values []string) (Target, []int, error) {
	t, j := s.Table, s.Column
	refuse := func(fix, format string, args ...any) (Target, []int, error) {
		return Target{}, nil, t.CellPlace(firstOdd(t, j), j).Say(fix, format, args...)
	}
	numbers, fractions := make(map[string]float64, len(values)), 0
	for _, v := range values {
		if x, ok := table.Number(v); ok {
			if numbers[v] = x; x != math.Trunc(x) {
				fractions++
			}
		}
	}
	const condition = "predict it as a number, by costs such as under=15,over=5, write it as a condition, such as %s >= %s, or choose another target column"
	switch {
	case len(numbers) == len(values) && (len(values) > MostOutcomes || fractions > 0 && len(values) > 10):
		return refuse(fmt.Sprintf(condition, expr.Name(t.ColumnName(j)), values[len(values)/2]),
			"this looks like a number to predict, not an outcome: it takes %d different values", len(values))
	case len(values) == t.Len():
		return refuse("choose another target column, or give more rows", "every row has an outcome of its own, and there is nothing to learn from")
	case len(values) > MostOutcomes:
		return refuse("merge rare ones, or choose another target column", "%d outcomes are more than %d: %s", len(values), MostOutcomes, table.QuoteList(values))
	}
	if inOrder := gradesOf(values); inOrder != nil {
		values = inOrder
	} else if len(numbers) == len(values) {
		slices.SortFunc(values, func(a, b string) int { return cmp.Compare(numbers[a], numbers[b]) })
	}
	target, labels := newTarget(t, j, values)
	return target, labels, nil
}

// learnGrades is learnTarget of outcomes that have an order: the one given, or that of numbers. A grade of the
// order that no row has stays one where others are more than two.
func learnGrades(s *table.Scan, values []string, o *Options, order *OrderedSet) (Target, []int, error) {
	t, j := s.Table, s.Column
	refuse := func(at *table.Error, fix, format string, args ...any) (Target, []int, error) {
		at.Msg, at.Fix = fmt.Sprintf(format, args...), fix
		return Target{}, nil, at
	}
	place := t.CellPlace(firstOdd(t, j), j)
	switch {
	case len(values) == 1:
		return refuse(place, "give training rows of two outcomes or more, or another target column", "one class only: the outcome is %s in every row", table.Quote(values[0]))
	case o.Positive != "":
		return refuse(place, "leave the positive class out", "ordered outcomes have no positive class")
	case order == nil && !slices.ContainsFunc(values, func(v string) bool { _, number := table.Number(v); return !number }):
		slices.SortFunc(values, func(a, b string) int {
			x, _ := table.Number(a)
			y, _ := table.Number(b)
			return cmp.Compare(x, y)
		})
	case order == nil && gradesOf(values) != nil:
		values = gradesOf(values)
	case order == nil:
		place.Ways = []table.Way{way(table.WayOrdered, t.ColumnName(j)+"="+strings.Join(values, ","), "from the lowest, if that is their order")}
		return refuse(place, "give the order of the outcomes", "the outcome takes the values %s, whose order is not known", table.QuoteList(values))
	}
	if order != nil {
		target := Target{Column: t.ColumnName(j)}
		for _, grade := range order.Categories {
			target.Outcomes = append(target.Outcomes, table.Key(table.BytesOf(strings.TrimSpace(grade)), '.'))
		}
		for _, v := range values {
			if _, known := target.Label(v); !known {
				return refuse(s.FirstOf(v), "add it to the order, or correct the cell", "the outcome %s is not in the order %s", table.Quote(v), strings.Join(order.Categories, ","))
			}
		}
		values = target.Outcomes
	}
	if len(values) > MostOutcomes {
		return refuse(place, "merge grades, or predict a number", "%d grades are more than %d", len(values), MostOutcomes)
	}
	target, labels := newTarget(t, j, values)
	target.Ordered = true
	return target, labels, nil
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
func (t *Target) labels(data *table.Table, j int) []int {
	c := data.Cells(j)
	words := make([]int, c.Words())
	for k := range words {
		words[k], _ = t.label(c.Word(uint32(k)), data.Decimal())
	}
	numbers := make([]float64, len(t.Outcomes))
	for k, name := range t.Outcomes {
		var ok bool
		if numbers[k], ok = table.Number(name); !ok {
			numbers[k] = math.NaN() // which no cell is equal to
		}
	}
	y := make([]int, data.Len())
	for first, part := range data.Stretches(j) {
		for k, cell := range part {
			if table.IsText(cell) {
				y[first+k] = words[table.TextCode(cell)]
			} else {
				y[first+k] = max(0, slices.Index(numbers, cell)) // outcomes are few
			}
		}
	}
	return y
}

// label turns a text into a label. Case tells outcomes apart only where nothing else does.
func (t *Target) label(text []byte, decimal byte) (y int, known bool) {
	spelled := table.Key(text, decimal)
	alike := 0
	for k, name := range t.Outcomes {
		if table.Key(table.BytesOf(name), '.') == spelled {
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
	return t.label(table.BytesOf(strings.TrimSpace(text)), '.')
}

// choosePositive picks the positive one of two spellings: the one asked for
// (quotes around it may be left out when nothing else fits), or else the one
// that convention makes positive. It refuses to guess.
func choosePositive(values []string, wanted string) (string, *table.Error) {
	wanted = expr.Composed(wanted)
	switch {
	case len(values) == 1:
		return "", new(table.Error).Say("give training rows of two outcomes or more, or another target column",
			"one class only: the outcome is %s in every row", table.Quote(values[0]))
	case len(values) > 2:
		return "", new(table.Error).Say(
			"leave the positive class out to model all of them, or give the target as a condition, such as "+conditionOn(wanted),
			"the outcome takes %d values, %s, and only one of two can be positive", len(values), table.QuoteList(values))
	case slices.Contains(values, table.Key(table.BytesOf(strings.TrimSpace(wanted)), '.')):
		return table.Key(table.BytesOf(strings.TrimSpace(wanted)), '.'), nil
	case strings.EqualFold(values[0], wanted):
		return values[0], nil
	case strings.EqualFold(values[1], wanted):
		return values[1], nil
	}
	listed := fmt.Sprintf("%s and %s", table.Quote(values[0]), table.Quote(values[1]))
	if wanted != "" {
		if k := slices.IndexFunc(values, func(v string) bool { return unquoted(v) == unquoted(wanted) }); k >= 0 {
			return values[k], nil
		}
		return "", new(table.Error).Say("name one of these two",
			"no row has the positive class %s; the values are %s", table.Quote(wanted), listed).
			By(way(table.WayPositive, values[0], ""), way(table.WayPositive, values[1], ""))
	}
	if k := Conventional([2]string(values)); k >= 0 {
		return values[k], nil
	}
	return "", new(table.Error).Say("name the positive class",
		"the outcome takes the values %s, and neither is positive by convention", listed).
		By(way(table.WayPositive, values[0], ""), way(table.WayPositive, values[1], ""))
}

// Conventional is the place of the one of two outcomes that is positive by convention, -1 if
// neither is.
func Conventional(outcomes [2]string) int {
	var plain [2]string
	for k, text := range outcomes {
		plain[k] = strings.ToLower(unquoted(table.Key(table.BytesOf(strings.TrimSpace(text)), '.')))
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
func conditionOn(value string) string { return fmt.Sprintf("COLUMN == %q", value) }

// unquoted takes one pair of single or double quotes away.
func unquoted(s string) string {
	if n := len(s); n >= 2 && s[0] == s[n-1] && (s[0] == '\'' || s[0] == '"') {
		return s[1 : n-1]
	}
	return s
}

// variants says which spellings of column j were taken for the same outcome.
func (t *Target) variants(data *table.Table, j int) []string {
	if t.Condition || data.Cells(j).Words() == 0 { // numbers have one spelling each
		return nil
	}
	outcomes := t.Outcomes
	var others []string
	for _, text := range slices.Sorted(maps.Keys(table.NewScan(data, j, table.NewMarkers(nil)).Categories())) {
		if !slices.Contains(outcomes, text) {
			others = append(others, text)
		}
	}
	if others == nil {
		return nil
	}
	return []string{fmt.Sprintf("outcomes that differ in upper and lower case only are the same: %s beside %s", table.QuoteList(others), table.QuoteList(outcomes))}
}

// firstOdd is the row with the third different value of column j, or the first
// row if there are not so many.
func firstOdd(t *table.Table, j int) int {
	seen := make(map[string]bool)
	for i := range t.Len() {
		if seen[t.Cells(j).Text(t.At(i, j))] = true; len(seen) > 2 {
			return i
		}
	}
	return 0
}

// lineList names the lines of the first few of the rows.
func lineList(t *table.Table, rows []int) string {
	const most = 5
	var b strings.Builder
	for k, i := range rows[:min(len(rows), most)] {
		if k > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %d", t.Unit(), t.Line(i))
	}
	if len(rows) > most {
		b.WriteString(", …")
	}
	return b.String()
}
