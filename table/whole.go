package table

import (
	"fmt"
	"slices"
)

// Texts returns a column, found as by Column, as text: groups that cases belong to, for
// example. Numbers are spelled the shortest way, so that 7 and 007 are the same.
func (t *Table) Texts(ref string) ([]string, error) {
	j, err := t.ReadColumn(ref)
	if err != nil {
		return nil, err
	}
	texts := make([]string, t.n)
	for i := range texts {
		texts[i] = Key(BytesOf(t.cells[j].Text(t.At(i, j))), t.dialect.decimal)
	}
	return texts, nil
}

// Spelled returns a column, found as by Column, as Row has its cells, and its name.
func (t *Table) Spelled(ref string) (name string, cells []string, err error) {
	j, err := t.ReadColumn(ref)
	if err != nil {
		return "", nil, err
	}
	cells = make([]string, t.n)
	for i := range cells {
		cells[i] = t.cells[j].Text(t.At(i, j))
	}
	return t.columns[j], cells, nil
}

// Groups is Texts of a column that says which rows belong together. Cells that are missing, by the
// usual spellings and those that are given, are refused: nothing says that such rows are one group.
func (t *Table) Groups(ref string, missing ...string) ([]string, error) {
	texts, err := t.Texts(ref)
	if err != nil {
		return nil, err
	}
	j, err := t.Column(ref)
	if err != nil {
		return nil, err
	}
	all := AllMarkers(missing)
	markers := NewMarkers(all).OfColumn(t.columns[j], all)
	for i, text := range texts {
		if markers.Text([]byte(text)) {
			return nil, t.CellPlace(i, j).Say("fill it, with a value of its own if it belongs to no other",
				"a missing cell, and nothing says which rows this one belongs together with")
		}
	}
	return texts, nil
}

// Times returns a column, found as by Column, as numbers that increase with time: dates
// as seconds, and numbers as they are. Where the order of day and month is not known it
// is asked for, unless it is given.
func (t *Table) Times(ref string, order DateOrder) ([]float64, error) {
	j, err := t.ReadColumn(ref)
	if err != nil {
		return nil, err
	}
	s := NewScan(t, j, NewMarkers(DefaultMissing()))
	if s.Missing > 0 {
		return nil, t.CellPlace(s.Gap, j).Say("fill it in, or leave the row out", "the time is missing")
	}
	if !slices.ContainsFunc(s.Words, func(k uint32) bool { return !IsPadded(s.Word(k)) }) {
		return t.Floats(ref)
	}
	orders, odd := s.DateOrders(order)
	switch {
	case s.Numbers > 0 || len(orders) == 0:
		at, text := s.At(s.Words[0]), s.Word(s.Words[0])
		if len(odd) > 0 {
			at, text = s.At(odd[0]), s.Word(odd[0])
		}
		at.Msg, at.Fix = fmt.Sprintf("%s is neither a number nor a date like the others", Quote(string(text))), "write all times as dates, such as 2025-04-03 13:45, or all as numbers"
		return nil, at
	case len(orders) > 1 && orders[0] != YearFirst:
		return nil, t.CellPlace(0, j).Say("say which",
			"its dates could be day-first or month-first").
			By(Way{Option: WayDates, Value: string(DayFirst)}, Way{Option: WayDates, Value: string(MonthFirst)})
	}
	times := make([]float64, t.n)
	for i := range times {
		text, known := t.cells[j].Bytes(t.At(i, j)), false
		if times[i], known = ParseDate(text, orders[0]); !known {
			times[i], _ = ParseDate(text, YearFirst)
		}
	}
	return times, nil
}

// LeastWeight is the weight below which a row counts for nothing: a thousand million such rows would count less than one.
// One of zero is left out (Counting).
const LeastWeight, mostWeight = 1e-9, 1e9

// Weights reads how much each row counts from a column, in which missing cells are refused as by
// Floats.
func (t *Table) Weights(column string, missing ...string) ([]float64, error) {
	values, err := t.Floats(column, missing...)
	if err != nil {
		return nil, err
	}
	j, _ := t.Column(column)
	for i, w := range values {
		if w > 0 && w < LeastWeight {
			return nil, t.CellPlace(i, j).Say("give every row a weight of how often it counts, such as its part of the mean weight, or 0 for none",
				"the weight %v is below a thousand-millionth, and counts for nothing", w)
		}
		if !(w >= 0) || w > mostWeight {
			return nil, t.CellPlace(i, j).Say("give every row a weight of how often it counts",
				"the weight %v is below zero, or above a thousand million", w)
		}
	}
	return values, nil
}

// Counting is the table without the rows that count nothing by the weights in a column: a row
// of weight zero is as good as none, in everything that is learned. It is the table itself
// where every row counts, where no column is named, and where the weights are none.
func (t *Table) Counting(column string) *Table {
	if column == "" {
		return t
	}
	weights, err := t.Weights(column)
	if err != nil || !slices.Contains(weights, 0) {
		return t
	}
	rows := make([]int, 0, len(weights))
	for i, w := range weights {
		if w > 0 {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		return t
	}
	return t.Subset(rows)
}
