package data

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
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

// learnTarget finds the two values of the outcome in column j, which of them is
// positive, and the labels ±1.
func learnTarget(t *Table, j int, o *Options, m *markers) (Target, []int, error) {
	s := scan(t, j, m)
	if s.missing > 0 {
		var rows []int
		for i := s.gap; i < t.n && len(rows) < 6; i++ {
			if s.isMissing(t.at(i, j)) {
				rows = append(rows, i)
			}
		}
		at := t.cell(s.gap, j)
		at.Msg = fmt.Sprintf("the outcome is missing in %s: %s", plural(s.missing, "row"), lineList(t, rows))
		at.Fix = "fill the outcomes in, or leave these rows out of the training file"
		return Target{}, nil, at
	}
	count := s.categories()
	values := slices.Sorted(maps.Keys(count))
	positive, err := choosePositive(values, o.Positive)
	if err != nil {
		// The first row that departs from two values is where to look.
		at := t.cell(firstOdd(t, j), j)
		at.Msg, at.Fix, at.Ways = err.Msg, err.Fix, err.Ways
		return Target{}, nil, at
	}
	target := Target{
		Column: t.columns[j], Positive: positive, Negative: values[0],
		PositiveRows: count[positive], NegativeRows: t.n - count[positive],
	}
	if positive == values[0] {
		target.Negative = values[1]
	}
	return target, target.labels(t, j), nil
}

// labels are those of the rows of a table in which both outcomes, and no other, occur
// in column j.
func (t *Target) labels(table *Table, j int) []int {
	c := table.cells[j]
	words := make([]int, c.words.len())
	for k := range words {
		words[k], _ = t.label(c.words.word(uint32(k)), table.dialect.decimal)
	}
	x, isNumber := Number(t.Positive)
	y := make([]int, table.n)
	for i := range y {
		switch cell := table.at(i, j); {
		case isWord(cell):
			y[i] = words[wordOf(cell)]
		case isNumber && cell == x:
			y[i] = +1
		default:
			y[i] = -1
		}
	}
	return y
}

// label turns a text into ±1.
func (t *Target) label(text []byte, decimal byte) (y int, known bool) {
	switch key(text, decimal) {
	case key(bytesOf(t.Positive), '.'):
		return +1, true
	case key(bytesOf(t.Negative), '.'):
		return -1, true
	}
	if isTruth(text) { // however it is spelled
		switch {
		case bytes.EqualFold(text, bytesOf(t.Positive)):
			return +1, true
		case bytes.EqualFold(text, bytesOf(t.Negative)):
			return -1, true
		}
	}
	return 0, false
}

// Label is the outcome ±1 that a text spells; numbers are compared by value.
func (t *Target) Label(text string) (y int, known bool) {
	return t.label(bytesOf(strings.TrimSpace(text)), '.')
}

// choosePositive picks the positive one of two spellings: the one asked for
// (quotes around it may be left out when nothing else fits), or else the one
// that convention makes positive. It refuses to guess.
func choosePositive(values []string, wanted string) (string, *Error) {
	switch {
	case len(values) == 1:
		return "", &Error{
			Msg: fmt.Sprintf("one class only: the outcome is %s in every row", quote(values[0])),
			Fix: "give training rows of both outcomes, or another target column",
		}
	case len(values) > 2:
		return "", &Error{
			Msg: fmt.Sprintf("%d classes: the outcome takes the values %s", len(values), quoteList(values)),
			Fix: "choose a target column of two values, or merge the classes into two",
		}
	case slices.Contains(values, key(bytesOf(strings.TrimSpace(wanted)), '.')):
		return key(bytesOf(strings.TrimSpace(wanted)), '.'), nil
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
	plain := [2]string{strings.ToLower(unquoted(values[0])), strings.ToLower(unquoted(values[1]))}
	for _, pair := range usualPairs() {
		switch pair {
		case plain:
			return values[0], nil
		case [2]string{plain[1], plain[0]}:
			return values[1], nil
		}
	}
	return "", &Error{
		Msg: fmt.Sprintf("the outcome takes the values %s, and neither is the positive one by convention", listed),
		Fix: "name the positive one", Ways: []Way{{WayPositive, values[0], ""}, {WayPositive, values[1], ""}},
	}
}

// unquoted takes one pair of single or double quotes away.
func unquoted(s string) string {
	if n := len(s); n >= 2 && s[0] == s[n-1] && (s[0] == '\'' || s[0] == '"') {
		return s[1 : n-1]
	}
	return s
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
