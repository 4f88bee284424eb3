package recipe

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lossep/lossep/table"
)

// A number far outside those of training is reported of a column that only costs are made of, whichever
// way the row comes in, and in the notation of the table.
func TestStakesFar(t *testing.T) {
	past := mustRead(t, "age;amount;late\n1;1.100,00;no\n2;2.250,50;yes\n3;900,00;no\n4;1.080,00;yes\n", table.HeaderYes)
	l, err := Learn(past, Options{Target: "late", Costs: []string{"amount"}})
	if err != nil {
		t.Fatal(err)
	}
	const rows = "age;amount\n2;1.500,00\n3;1.234.567,00\n2;\n3;1,50\n"
	want := []bool{false, true, false, true}
	rd, err := NewReader(context.Background(), strings.NewReader(rows), "new.csv", l.Recipe, table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := rd.ReadBlock(10)
	if err != nil {
		t.Fatal(err)
	}
	_, report, err := l.Recipe.Apply(mustRead(t, rows, table.HeaderYes))
	if err != nil {
		t.Fatal(err)
	}
	e := l.Recipe.NewEncoder()
	for i, amount := range []any{1500.0, 1234567.0, nil, 1.5} {
		e.Begin(make([]float64, l.Recipe.Dim()))
		e.give(0, 2.0)
		e.give(1, amount)
		remarks, err := e.End()
		if err != nil {
			t.Fatal(err)
		}
		for way, got := range map[string][]string{"stream": b.Rows[i].Unusual(), "table": report.Unusual[i], "object": remarks.Far} {
			if slices.Contains(got, "amount") != want[i] {
				t.Errorf("%s: row %d has unusual %q", way, i, got)
			}
		}
	}
}

// A date beyond those of training is unusual however near it is, and so is what is no probability where
// log odds are taken.
func TestBeyondTraining(t *testing.T) {
	past := mustRead(t, "day,p,late\n2024-01-01,0.2,no\n2024-02-01,0.9,yes\n2024-03-01,0.4,no\n2024-03-31,0.6,yes\n", table.HeaderYes)
	l, err := Learn(past, Options{Target: "late", Bends: map[string]Bend{"p": LogOdds}})
	if err != nil {
		t.Fatal(err)
	}
	new := mustRead(t, "day,p\n2024-03-31,0.99\n2024-04-01,0.5\n2023-12-31,0.5\n2024-01-01,1.01\n2024-02-02,0.3\n2024-02-02,-0.01\n", table.HeaderYes)
	_, report, err := l.Recipe.Apply(new)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{nil, {"day"}, {"day"}, {"p"}, nil, {"p"}} {
		if !slices.Equal(report.Unusual[i], want) {
			t.Errorf("row %d: %q, want %q", i, report.Unusual[i], want)
		}
	}
	lines := strings.Join(report.Lines(), "\n")
	for _, want := range []string{
		`column "day": 2 rows of 6 with a date outside those seen in training, 2024-01-01 to 2024-03-31`,
		`column "p": 2 rows of 6 outside 0 to 1 or far outside the values seen in training, which are probabilities from 0.2 to 0.9`,
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("%s is not in\n%s", want, lines)
		}
	}
}

// Rows are numbered by their table, however many are encoded at a time.
func TestUnusualFarDown(t *testing.T) {
	l, err := Learn(mustRead(t, "x,y\n1,no\n2,yes\n3,no\n4,yes\n", table.HeaderYes), Options{Target: "y"})
	if err != nil {
		t.Fatal(err)
	}
	const far = 2*blockOfRows + 7
	_, report, err := l.Recipe.Apply(mustRead(t, "x\n"+strings.Repeat("2\n", far)+"900\n"+strings.Repeat("3\n", blockOfRows), table.HeaderYes))
	if err != nil {
		t.Fatal(err)
	}
	if want := map[int][]string{far: {"x"}}; !cmp.Equal(report.Unusual, want) {
		t.Errorf("unusual are %v, want %v", report.Unusual, want)
	}
}
