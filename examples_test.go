package lossep_test

import (
	"bytes"
	stdcmp "cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// A model keeps rows of the table as they are there, in the order of what it expects of them,
// with nothing that names a row; unless that is not wanted.
func TestExamples(t *testing.T) {
	var text strings.Builder
	text.WriteString("name;age;rate;job;amount;bad\n")
	for i := range 90 {
		age := 20 + i*37%50
		fmt.Fprintf(&text, "N%d;%d;%d,%d;%s;%d;%v\n", i, age, i%7, 1+i%9, []string{"clerk", ""}[i%2], 100+i, age < 35 != (i%11 == 0))
	}
	past, err := table.Read(context.Background(), strings.NewReader(text.String()), "loans.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	costs, err := decision.ParseCosts("fn=0.1*amount,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	o := lossep.Options{
		Data: recipe.Options{Target: "bad", Impute: true, Drop: []string{"name"}}, Utility: costs, Method: lossep.EP, Kernel: "rbf(variance=4, lengthscale=1)", Fixed: true,
	}
	m, err := lossep.Fit(t.Context(), past, o)
	if err != nil {
		t.Fatal(err)
	}
	kept := m.Examples()
	if want := []string{"age", "rate", "job", "amount", "bad"}; !slices.Equal(kept.Columns, want) || len(kept.Rows) != 8 {
		t.Fatalf("%d examples with the columns %q, not %q", len(kept.Rows), kept.Columns, want)
	}
	rows := make(map[string]bool)
	for i := range past.Len() {
		rows[strings.Join(past.Row(i)[1:], ";")] = true
	}
	var again strings.Builder
	again.WriteString(strings.Join(kept.Columns, ";") + "\n")
	for _, row := range kept.Rows {
		line := strings.Join(row, ";")
		if !rows[line] {
			t.Errorf("the example %q is no row of the table", line)
		}
		again.WriteString(line + "\n")
	}
	read, err := table.Read(context.Background(), strings.NewReader(again.String()), "examples.csv", table.Format{Separator: ";"})
	if err != nil {
		t.Fatal(err)
	}
	x, _, err := m.Recipe().Apply(read)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(p, func(a, b lossep.Prediction) int { return stdcmp.Compare(a.Probabilities[1], b.Probabilities[1]) }) || p[7].Probabilities[1]-p[0].Probabilities[1] < 0.5 {
		t.Errorf("the examples are not spread over what is expected: %v", p)
	}

	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	loaded, err := lossep.Read(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(kept.Rows, loaded.Examples().Rows); d != "" {
		t.Errorf("the file gives back other examples:\n%s", d)
	}
	o.NoExamples = true
	if m, err = lossep.Fit(t.Context(), past, o); err != nil || m.Examples() != nil {
		t.Errorf("examples that are not wanted: %v, %v", m.Examples(), err)
	}
}
