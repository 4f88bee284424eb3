package table

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestPeriods(t *testing.T) {
	now := time.Date(2026, 3, 1, 13, 45, 0, 0, time.UTC) // a Sunday
	for p, want := range map[Period][3]string{
		Hour:  {"2026-03-01 13:00", "2026-03-01T13:00", "2026-03-01T14:00"},
		Day:   {"2026-03-01", "2026-03-01T00:00", "2026-03-02T00:00"},
		Week:  {"2026-02-23", "2026-02-23T00:00", "2026-03-02T00:00"},
		Month: {"2026-03", "2026-03-01T00:00", "2026-04-01T00:00"},
	} {
		const form = "2006-01-02T15:04"
		begin := p.Begin(now)
		if got := [3]string{p.Name(now), begin.Format(form), p.Next(begin).Format(form)}; got != want {
			t.Errorf("%s: %q, want %q", p, got, want)
		}
	}
}

func TestPeriodsOfCells(t *testing.T) {
	for _, c := range []struct {
		cells, want, wrong string
		order              DateOrder
	}{
		{"2026-03-01,2026-03-01 23:59", "2026-03-01,2026-03-01", "", ""},
		{"13.04.2026,01.04.2026", "2026-04-13,2026-04-01", "", ""},
		{"04/13/2026,04/01/2026", "2026-04-13,2026-04-01", "", ""},
		{"03.04.2026,01.04.2026", "", "the dates could be day-first or month-first", ""},
		{"03.04.2026,01.04.2026", "2026-04-03,2026-04-01", "", DayFirst},
		{"03.04.2026,01.04.2026", "2026-03-04,2026-01-04", "", MonthFirst},
		{"2026-03-01,soon", "", `"soon" is not a date`, ""},
	} {
		cells := strings.Split(c.cells, ",")
		got, err := Day.Names(len(cells), c.order, func(i int) string { return cells[i] }, func(i int) *Error { return &Error{Row: i + 1} })
		if strings.Join(got, ",") != c.want || (err != nil) != (c.wrong != "") {
			t.Errorf("%s: %q, %v", c.cells, got, err)
		}
		var at *Error
		if err != nil && (!errors.As(err, &at) || at.Msg != c.wrong) {
			t.Errorf("%s: %v", c.cells, err)
		}
	}
}
