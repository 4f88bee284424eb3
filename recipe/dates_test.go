package recipe

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/lossep/lossep/table"
)

// moments is a table of times, each with what is put after it.
func moments(zone string) string {
	var b strings.Builder
	b.WriteString("when,x,y\n")
	for i := range 20 {
		fmt.Fprintf(&b, "2024-03-%02d 0%d:30%s,%d,%d\n", 1+i, i%10, zone, i*i%7, i%2)
	}
	return b.String()
}

// A model of times with a zone that is given times without one says so, and the reverse; it does so of
// streams, tables and single rows.
func TestOtherZones(t *testing.T) {
	for _, c := range []struct {
		train, row, note string
	}{
		{"+02:00", "2024-03-05 04:00", `column "when": 1 row of 2 with times without a zone, which are read as UTC; those seen in training have one. Check that they are the same clock`},
		{"", "2024-03-05 04:00Z", `column "when": 1 row of 2 with times with a zone; those seen in training have none and were read as UTC. Check that they are the same clock`},
		{"Z", "2024-03-05 04:00+01", ""},
		{"", "2024-03-05 04:00", ""},
		{"Z", "2024-03-05", ""}, // a day has none
	} {
		r, _, _ := mustLearn(t, mustRead(t, moments(c.train), table.HeaderYes), Options{Target: "y"})
		text := "when,x\n2024-03-02 01:30" + c.train + ",3\n" + c.row + ",3\n"
		rd, err := NewReader(context.Background(), strings.NewReader(text), "new.csv", r, table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rd.ReadBlock(2); err != nil {
			t.Fatal(err)
		}
		_, report, err := r.Apply(mustRead(t, text, table.HeaderYes))
		if err != nil {
			t.Fatal(err)
		}
		for name, p := range map[string]*Report{"stream": rd.Report(), "table": report} {
			if got := strings.Join(p.Lines(), "\n"); got != c.note {
				t.Errorf("%s, trained with %q, %s: %q, want %q", name, c.train, c.row, got, c.note)
			}
		}
		e := r.NewEncoder()
		e.Begin(make([]float64, r.Dim()))
		e.Text(0, []byte(c.row))
		e.Number(1, 3)
		if remarks, err := e.End(); err != nil || (len(remarks.Zones) > 0) != (c.note != "") {
			t.Errorf("trained with %q, %s: %v, %q", c.train, c.row, err, remarks.Zones)
		}
	}
}

// Dates of new rows that could be either are read in the order of training, and one that cannot be in
// it is refused with its place.
func TestDatesFollowTheRecordedOrder(t *testing.T) {
	for _, c := range []struct {
		order table.DateOrder
		rows  string
		same  string // the same days as ISO 8601 writes them
	}{
		{table.DayFirst, "03/04/2024\n", "2024-04-03\n"},
		{table.MonthFirst, "03/04/2024\n", "2024-03-04\n"},
	} {
		r, _, _ := mustLearn(t, mustRead(t, "day,y\n01/02/2024,0\n05/06/2024,1\n11/03/2024,0\n07/08/2024,1\n", table.HeaderYes), Options{Dates: c.order})
		var first []float64
		for _, rows := range []string{c.rows, c.same} {
			rd, err := NewReader(context.Background(), strings.NewReader("day\n"+rows), "new.csv", r, table.Format{})
			if err != nil {
				t.Fatal(err)
			}
			b, err := rd.ReadBlock(1)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = b.Rows[0].Features
			} else if fmt.Sprint(first) != fmt.Sprint(b.Rows[0].Features) {
				t.Errorf("%s: %v, %v", c.order, first, b.Rows[0].Features)
			}
		}
		bad := map[table.DateOrder]string{table.DayFirst: "03/25/2024", table.MonthFirst: "25/03/2024"}[c.order]
		rd, err := NewReader(context.Background(), strings.NewReader("day\n"+c.rows+bad+"\n"), "new.csv", r, table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = rd.ReadBlock(5)
		_, err = rd.ReadBlock(5)
		checkError(t, err, []string{"new.csv, line 3", `column 1 ("day")`, bad, string(c.order)})
	}
}

// A number with the other decimal mark is refused by a message that says which is expected, and how to
// set it.
func TestOtherDecimalMark(t *testing.T) {
	r, _, _ := mustLearn(t, mustRead(t, "a,b,y\n1.5,2,0\n2.5,3,1\n4.5,4,0\n6.5,1,1\n", table.HeaderYes), Options{})
	rd, err := NewReader(context.Background(), strings.NewReader("a;b\n1.5;2\n2,5;3\n"), "new.csv", r, table.Format{Decimal: "."})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = rd.ReadBlock(5)
	_, err = rd.ReadBlock(5)
	checkError(t, err, []string{"new.csv, line 3", `column 1 ("a")`, `"2,5" is not a finite number with the decimal mark ".", which is expected`, `the option Decimal ","`})
	_, _, err = r.Apply(mustRead(t, "a,b\n1.5,2\n\"2,5\",3\n", table.HeaderYes))
	checkError(t, err, []string{"line 3", `the decimal mark "."`, `the option Decimal ","`})
	_, err = mustRead(t, "a;b\n1,5;2\n2.25;3\n", table.HeaderYes).Floats("a")
	if err == nil {
		t.Error("two marks in a column are read")
	}
}
