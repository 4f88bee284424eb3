package table

import (
	"fmt"
	"slices"
	"time"
)

// Period is a stretch of time that cases are counted in.
type Period string

// The periods. Weeks begin on Monday.
const (
	Hour  Period = "hour"
	Day   Period = "day"
	Week  Period = "week"
	Month Period = "month"
)

// Periods are all of them, the shortest first.
func Periods() []Period { return []Period{Hour, Day, Week, Month} }

// Begin is when the period begins that a moment is in, by the clock of the moment's zone.
func (p Period) Begin(t time.Time) time.Time {
	y, m, d := t.Date()
	switch p {
	case Hour:
		return time.Date(y, m, d, t.Hour(), 0, 0, 0, t.Location())
	case Week:
		d -= (int(t.Weekday()) + 6) % 7
	case Month:
		d = 1
	}
	return time.Date(y, m, d, 0, 0, 0, 0, t.Location())
}

// Next is when the period after one that begins at that time does.
func (p Period) Next(begin time.Time) time.Time {
	switch p {
	case Hour:
		return begin.Add(time.Hour)
	case Week:
		return begin.AddDate(0, 0, 7)
	case Month:
		return begin.AddDate(0, 1, 0)
	}
	return begin.AddDate(0, 0, 1)
}

// Name is what the period of a moment is called: when it begins.
func (p Period) Name(t time.Time) string {
	switch p {
	case Hour:
		return p.Begin(t).Format("2006-01-02 15:00")
	case Month:
		return t.Format("2006-01")
	}
	return p.Begin(t).Format(time.DateOnly)
}

// Names are those of times as a column has them, dates in the order of day, month and year that all of
// them can be read in. The error is at the time that cannot be read.
func (p Period) Names(n int, text func(i int) string, place func(i int) *Error) ([]string, error) {
	names := make([]string, n)
	read := func(order DateOrder) (bad int) {
		for i := range names {
			seconds, ok := ParseDate([]byte(text(i)), order)
			if !ok {
				return i
			}
			names[i] = p.Name(time.Unix(int64(seconds), 0).UTC())
		}
		return -1
	}
	bad := read(YearFirst)
	if bad < 0 {
		return names, nil
	}
	days, months := read(DayFirst), read(MonthFirst)
	var at *Error
	switch {
	case days >= 0 && months < 0:
		return names, nil
	case months >= 0 && days < 0:
		read(DayFirst)
		return names, nil
	case days < 0:
		at = place(0)
		at.Msg, at.Fix = "the dates could be day-first or month-first", "write them as 2025-04-03"
	default:
		bad = max(bad, days, months)
		at = place(bad)
		at.Msg, at.Fix = fmt.Sprintf("%s is not a date", Quote(text(bad))), "write it as 2025-04-03 or 2025-04-03 13:45"
	}
	return nil, at
}

// Division divides cases by a period of a column of times, or by the values of a column.
type Division struct {
	Per  string // a period of the column Time, or a column; empty for all cases together
	Time string
}

// Period is the one that is named, empty if a column is.
func (d Division) Period() Period {
	if p := Period(d.Per); slices.Contains(Periods(), p) && d.Time != "" {
		return p
	}
	return ""
}

// Column is the one that divides cases, empty if none does.
func (d Division) Column() string {
	if d.Period() != "" {
		return d.Time
	}
	return d.Per
}

// Groups names what each case belongs to, given the cells of the column; nil if nothing divides them.
func (d Division) Groups(n int, cell func(i int) string, place func(i int) *Error) ([]string, error) {
	if p := d.Period(); p != "" {
		return p.Names(n, cell, place)
	}
	if d.Per == "" {
		return nil, nil
	}
	groups := make([]string, n)
	for i := range groups {
		groups[i] = cell(i)
	}
	return groups, nil
}

// Divided is Groups of the rows of a table.
func (t *Table) Divided(d Division) ([]string, error) {
	if d.Column() == "" {
		return nil, nil
	}
	texts, err := t.Texts(d.Column())
	if err != nil {
		return nil, err
	}
	return d.Groups(t.Len(), func(i int) string { return texts[i] }, t.Place)
}
