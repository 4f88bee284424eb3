package recipe

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep/table"
)

// A number far outside those of training is told of a column that only costs are made of, whichever
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
