package recipe

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lossep/lossep/table"
)

// flights are rows with a delay; every third is late.
func flights(n int) string {
	var b strings.Builder
	b.WriteString("flight,distance,delay,reason,weight\n")
	for i := range n {
		fmt.Fprintf(&b, "F%d,%d,%d,%s,%d\n", i, 100+i*i%97, []int{3, 14, 15 + i}[i%3], []string{"none at all", "weather"}[i%2], 1+i%2)
	}
	return b.String()
}

// The outcome is a condition: its columns are no features, and need not be there later.
func TestTargetCondition(t *testing.T) {
	data := mustRead(t, flights(30), table.HeaderYes)
	for target, late := range map[string]func(i int) bool{
		"delay >= 15":                         func(i int) bool { return i%3 == 2 },
		`delay >= 15 and reason != "weather"`: func(i int) bool { return i%3 == 2 && i%2 == 0 },
		"not delay < 15":                      func(i int) bool { return i%3 == 2 },
	} {
		l, err := Learn(data, Options{Target: target, ID: "flight", Drop: []string{"weight"}})
		if err != nil {
			t.Fatal(err)
		}
		for i, y := range l.Labels {
			if (y > 0) != late(i) {
				t.Errorf("%s: row %d has the label %d", target, i, y)
			}
		}
		for _, c := range l.Recipe.Columns {
			if strings.Contains(target, c.Name) && c.Kind != Dropped {
				t.Errorf("%s: column %s has kind %s", target, c.Name, c.Kind)
			}
		}
		rows, err := NewReader(context.Background(), strings.NewReader(flights(9)), "again.csv", l.Recipe, table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		block, err := rows.ReadBlock(9)
		if err != nil || !rows.HasTarget() {
			t.Fatal(err, rows.HasTarget())
		}
		for i := range block.Rows {
			if y, ok, err := block.Rows[i].Label(); !ok || err != nil || (y > 0) != late(i) {
				t.Errorf("%s: new row %d: %d, %v, %v", target, i, y, ok, err)
			}
		}
		again, err := l.Recipe.Labels(data)
		if err != nil || !cmp.Equal(again, l.Labels) {
			t.Errorf("%s: labels %v, %v", target, again, err)
		}
		features := "distance,reason\n120,weather\n"
		if rows, err = NewReader(context.Background(), strings.NewReader(features), "new.csv", l.Recipe, table.Format{}); err != nil || rows.HasTarget() {
			t.Errorf("%s: without the outcome: %v", target, err)
		}
	}
	for target, want := range map[string][]string{
		"delay >= ":       {"messy", "not a condition"},
		"late >= 15":      {`column "late"`, "no such column"},
		"reason >= 15":    {"line 2", `column 4 ("reason")`, "not a finite number"},
		"delay >= 100000": {"one class only", `"no"`},
	} {
		_, err := Learn(data, Options{Target: target})
		if err == nil {
			t.Errorf("%s: no error", target)
			continue
		}
		if want[0] == "messy" {
			want = want[1:]
		}
		checkError(t, err, want)
	}
	gaps := strings.Replace(flights(30), ",3,", ",,", 1)
	_, err := Learn(mustRead(t, gaps, table.HeaderYes), Options{Target: "delay >= 15", Impute: true})
	checkError(t, err, []string{"line 2", `outcome "delay >= 15" is missing in 1 row`})
}

func TestRolesOfColumns(t *testing.T) {
	table := mustRead(t, flights(30), table.HeaderYes)
	l, err := Learn(table, Options{Target: "delay >= 15", ID: "flight", Weights: "weight", Features: []string{"distance", "weight"}})
	if err != nil {
		t.Fatal(err)
	}
	kinds := make(map[string]Kind)
	for _, c := range l.Recipe.Columns {
		kinds[c.Name] = c.Kind
	}
	want := map[string]Kind{"flight": Identity, "distance": Numeric, "delay": Dropped, "reason": Dropped, "weight": Weights}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(l.Weights) != 30 || l.Weights[0] != 1 || l.Weights[1] != 2 {
		t.Errorf("weights %v", l.Weights)
	}
	// The even rows of every third, 2 and 8 and so on, weigh 1, the odd ones 2.
	if share := l.Recipe.Target.PositiveShare(); share != 15.0/45 {
		t.Errorf("share of the positive outcome %v", share)
	}
	if err := l.Recipe.Validate(); err != nil {
		t.Error(err)
	}
	for _, o := range []Options{
		{Target: "reason", Positive: "weather", ID: "reason"},
		{Target: "reason", Positive: "weather", Weights: "reason"},
		{Target: "reason", Positive: "weather", ID: "weight", Weights: "weight"},
		{Target: "reason", Positive: "weather", Drop: []string{"reasons"}},
		{Target: "reason", Positive: "weather", Weights: "flight"},
	} {
		if _, err := Learn(table, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// An outcome that is a number keeps how its numbers are written, as a feature does: later rows are read by it, and
// what is no such number is said, with how many there are.
func TestNumberOutcomeKeepsItsNotation(t *testing.T) {
	for _, c := range []struct{ cell, notation, other, problem string }{
		{`"$%d,250"`, `thousands by ",", in $`, "€1", `"€1" is not a finite number in $ (2 such cells)`},
		{"%d kg", "in kg", "5 g", `"5 g" is not a finite number in kg (2 such cells)`},
		{"%d", "", "$1", `"$1" is not a finite number (2 such cells)`},
	} {
		head := "a,b,price\n"
		text := manyRows(30, "a,b", amount, amount)[len("a,b,y\n"):]
		text = strings.NewReplacer(",0\n", ","+fmt.Sprintf(c.cell, 3)+"\n", ",1\n", ","+fmt.Sprintf(c.cell, 71)+"\n").Replace(text)
		data := mustRead(t, head+text, table.HeaderYes)
		l, err := Learn(data, Options{Target: "price", Number: true})
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(l.Notes.Texts(), "\n")
		if want := `column "price" is read as numbers: ` + c.notation; strings.Contains(notes, want) != (c.notation != "") {
			t.Errorf("%s: notes %q", c.cell, notes)
		}
		if again, err := l.Recipe.Numbers(data); err != nil || !cmp.Equal(again, l.Values) {
			t.Errorf("%s: read again as %v, %v", c.cell, again, err)
		}
		_, err = l.Recipe.Numbers(mustRead(t, head+"1.5,2.5,7\n1.5,2.5,"+c.other+"\n1.5,2.5,"+c.other+"\n", table.HeaderYes))
		checkError(t, err, []string{"line 3, column 3", c.problem})
		rows, err := NewReader(context.Background(), strings.NewReader(head+text+"1,1,?\n1,1,"+c.other+"\n"), "new.csv", l.Recipe, table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		block, err := rows.ReadBlock(40)
		if err != nil || len(block.Rows) != 32 {
			t.Fatal(err)
		}
		for i := range l.Values {
			if y, known, err := block.Rows[i].OutcomeNumber(); !known || err != nil || y != l.Values[i] {
				t.Fatalf("%s: row %d is %v, %t, %v", c.cell, i, y, known, err)
			}
		}
		if _, known, err := block.Rows[30].OutcomeNumber(); known || err != nil {
			t.Errorf("%s: a missing outcome is %t, %v", c.cell, known, err)
		}
		_, _, err = block.Rows[31].OutcomeNumber()
		checkError(t, err, []string{"line 33, column 3", strings.TrimSuffix(c.problem, " (2 such cells)")})
	}
}

// Most of an outcome being numbers is enough to take it for one, so that the rest is said and not made categories.
func TestOutcomeLooksLikeNumber(t *testing.T) {
	for cell, want := range map[string]bool{"%d": true, "$%d": true, "%d EUR": true, "c%d": false} {
		text := "a,y\n"
		for i := range 40 {
			text += fmt.Sprintf("%d.5,"+cell+"\n", i, 3*i)
		}
		for _, odd := range []string{"", "1,closed\n"} {
			if _, is := LooksLikeNumber(mustRead(t, text+odd, table.HeaderYes), Options{}); is != want {
				t.Errorf("%q with %q: %t", cell, odd, is)
			}
		}
	}
}
