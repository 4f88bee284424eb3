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
		{"03/04/2026,01/04/2026", "", "the dates could be day-first or month-first", ""},
		{"03/04/2026,01/04/2026", "2026-04-03,2026-04-01", "", DayFirst},
		{"03/04/2026,01/04/2026", "2026-03-04,2026-01-04", "", MonthFirst},
		{"03.04.2026,01.04.2026", "2026-04-03,2026-04-01", "", ""},
		{"03.04.2026,01.04.2026", "2026-04-03,2026-04-01", "", MonthFirst},
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

// Dates with points have the day first, whatever is said of others, and stand beside dates with the year first.
func TestDatesWithPoints(t *testing.T) {
	for _, c := range []struct {
		text  string
		order DateOrder
		want  []float64 // in days since the first
	}{
		{"day,a\n03.04.2025,1\n04.04.2025,2\n2025-04-06,3\n", "", []float64{0, 1, 3}},
		{"day,a\n03.04.2025,1\n04.04.2025,2\n05.04.2025,3\n", MonthFirst, []float64{0, 1, 2}},
		{"day,a\n03/04/2025,1\n04/04/2025,2\n05/04/2025,3\n", MonthFirst, []float64{0, 31, 61}},
		{"day,a\n03/04/2025,1\n04/04/2025,2\n05/04/2025,3\n", "", nil},
	} {
		data, err := Read(t.Context(), strings.NewReader(c.text), "days.csv", Format{})
		if err != nil {
			t.Fatal(err)
		}
		times, err := data.Times("1", c.order)
		if (err != nil) != (c.want == nil) {
			t.Fatalf("%q: %v", c.text, err)
		}
		for i, days := range c.want {
			if got := (times[i] - times[0]) / 86400; got != days {
				t.Errorf("%q (%s): row %d is %v days after the first, want %v", c.text, c.order, i+1, got, days)
			}
		}
	}
}
