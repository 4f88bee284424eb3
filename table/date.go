package table

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// DateOrder is the order of day, month and year where all three are numbers.
type DateOrder string

// The orders. A file in which 03/04/2025 could be either is ambiguous.
const (
	YearFirst  DateOrder = "year-first"  // 2025-04-03, which needs no asking
	DayFirst   DateOrder = "day-first"   // 03.04.2025, whose points say so, and 3/4/2025
	MonthFirst DateOrder = "month-first" // 04/03/2025
	ClockTime  DateOrder = "time"        // 13:45, of no day
)

var months = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}

// ParseDate reads a date, a date with a time, or a time, as seconds since 1970. A time with
// a zone is that moment, and one without is taken for UTC: whatever the zone in which a moment
// is written, it is the same number to the last bit, as whole seconds are added as integers
// and the fraction is added last. Years have four digits.
func ParseDate(text []byte, order DateOrder) (seconds float64, ok bool) {
	if len(text) < 4 || len(text) > 35 {
		return 0, false
	}
	if order == ClockTime {
		s, fraction, rest, ok := parseClock(text)
		return float64(s) + fraction, ok && len(rest) == 0
	}
	y, m, d, rest, ok := parseDay(text, order)
	if !ok {
		return 0, false
	}
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	if t.Month() != time.Month(m) || t.Day() != d {
		return 0, false // there is no such day
	}
	if len(rest) == 0 {
		return float64(t.Unix()), true
	}
	if rest[0] != 'T' && rest[0] != 't' && rest[0] != ' ' {
		return 0, false
	}
	clock, fraction, zone, ok := parseClock(bytes.TrimLeft(rest[1:], " "))
	if !ok {
		return 0, false
	}
	offset, ok := parseZone(bytes.TrimSpace(zone))
	return float64(t.Unix()+clock-offset) + fraction, ok
}

// Zone tells of a text that is a date or a time whether it has a time of day, and whether that has a
// zone.
func Zone(text []byte, order DateOrder) (clock, zone bool) {
	if order == ClockTime {
		return false, false
	}
	_, _, _, rest, ok := parseDay(text, order)
	if !ok {
		_, _, _, rest, _ = parseDay(text, YearFirst)
	}
	if len(rest) < 2 {
		return false, false
	}
	_, _, after, ok := parseClock(bytes.TrimLeft(rest[1:], " "))
	return ok, ok && len(bytes.TrimSpace(after)) > 0
}

// number reads up to most digits.
func number(text []byte, most int) (n, digits int, rest []byte) {
	for digits < len(text) && digits < most && text[digits] >= '0' && text[digits] <= '9' {
		n = n*10 + int(text[digits]-'0')
		digits++
	}
	return n, digits, text[digits:]
}

// parseDay reads the three parts of a date in the given order, or with the month as a
// word.
func parseDay(text []byte, order DateOrder) (y, m, d int, rest []byte, ok bool) {
	a, digits, rest := number(text, 4)
	if digits == 0 || len(rest) < 2 {
		return 0, 0, 0, nil, false
	}
	separator := rest[0]
	if isLetter(separator) { // 05JAN2025
		separator = 0
	} else if bytes.IndexByte([]byte("-/. "), separator) < 0 {
		return 0, 0, 0, nil, false
	} else {
		rest = rest[1:]
	}
	var b, c, last int
	if isLetter(rest[0]) {
		if len(rest) < 7 || digits > 2 {
			return 0, 0, 0, nil, false
		}
		b = monthOf(rest[:3])
		rest = rest[3:]
		for len(rest) > 0 && isLetter(rest[0]) {
			rest = rest[1:] // the rest of the name
		}
		if order != DayFirst || b == 0 {
			return 0, 0, 0, nil, false
		}
	} else {
		var n int
		if b, n, rest = number(rest, 2); n == 0 {
			return 0, 0, 0, nil, false
		}
	}
	if separator != 0 {
		if len(rest) == 0 || rest[0] != separator {
			return 0, 0, 0, nil, false
		}
		rest = rest[1:]
	}
	c, last, rest = number(rest, 4)
	switch order {
	case YearFirst:
		if digits != 4 || last == 0 || last > 2 || separator == ' ' {
			return 0, 0, 0, nil, false
		}
		return a, b, c, rest, true
	case DayFirst:
		return c, b, a, rest, digits <= 2 && last == 4 && b <= 12
	}
	return c, a, b, rest, digits <= 2 && last == 4 && a <= 12 && separator != ' ' && separator != '.'
}

// isDotted tells of a date whether points are between its parts: the day comes first then.
func isDotted(text []byte) bool {
	_, digits, rest := number(text, 2)
	return digits > 0 && len(rest) > 0 && rest[0] == '.'
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func monthOf(name []byte) int {
	for k, m := range months {
		if strings.EqualFold(string(name), m) {
			return k + 1
		}
	}
	return 0
}

// parseClock reads h:mm, h:mm:ss or h:mm:ss.sss, and am or pm after it, as whole seconds and
// a fraction.
func parseClock(text []byte) (seconds int64, fraction float64, rest []byte, ok bool) {
	h, n, rest := number(text, 2)
	if n == 0 || len(rest) < 3 || rest[0] != ':' || h > 24 {
		return 0, 0, nil, false
	}
	m, n, rest := number(rest[1:], 2)
	if n != 2 || m > 59 {
		return 0, 0, nil, false
	}
	seconds = int64(h*3600 + m*60)
	if len(rest) > 0 && rest[0] == ':' {
		var s int
		s, n, rest = number(rest[1:], 2)
		if n != 2 || s > 60 {
			return 0, 0, nil, false
		}
		seconds += int64(s)
		if len(rest) > 0 && (rest[0] == '.' || rest[0] == ',') {
			var f int
			f, n, rest = number(rest[1:], 9)
			if n == 0 {
				return 0, 0, nil, false
			}
			fraction = float64(f) / powersOfTen[n]
		}
	}
	half := strings.ToLower(string(bytes.TrimSpace(rest)))
	if half == "am" || half == "pm" {
		if h < 1 || h > 12 {
			return 0, 0, nil, false
		}
		if half == "am" && h == 12 {
			seconds -= 12 * 3600
		}
		if half == "pm" && h < 12 {
			seconds += 12 * 3600
		}
		rest = nil
	}
	return seconds, fraction, rest, true
}

// parseZone reads Z, UTC, ±hh, ±hhmm or ±hh:mm as seconds east.
func parseZone(text []byte) (int64, bool) {
	if len(text) == 0 || strings.EqualFold(string(text), "z") || string(text) == "UTC" || string(text) == "GMT" {
		return 0, true
	}
	sign := int64(1)
	switch text[0] {
	case '-':
		sign = -1
	case '+':
	default:
		return 0, false
	}
	h, n, rest := number(text[1:], 2)
	if n != 2 || h > 14 {
		return 0, false
	}
	if len(rest) > 0 && rest[0] == ':' {
		rest = rest[1:]
	}
	m, n, rest := number(rest, 2)
	return sign * int64(h*3600+m*60), len(rest) == 0 && (n == 2 || n == 0) && m < 60
}

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
// them can be read in; the given order where day and month may be either. The error is at the time that cannot be read.
func (p Period) Names(n int, order DateOrder, text func(i int) string, place func(i int) *Error) ([]string, error) {
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
	case months < 0 && (days >= 0 || order == MonthFirst):
		return names, nil
	case days < 0 && (months >= 0 || order == DayFirst):
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
	// Dates is the order of times whose day and month may be either; they are refused without it.
	Dates DateOrder
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
		return p.Names(n, d.Dates, cell, place)
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
