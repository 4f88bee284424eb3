package recipe

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lossep/lossep/table"
)

// A column without a name in the header whose whole numbers all differ is a row number,
// though it was shuffled or has gaps; the model takes rows without it. One that is called so
// in the header, or whose numbers come again, is decided by.
func TestNamelessRowNumbers(t *testing.T) {
	shuffled := func(i int) string { return fmt.Sprint(37 * i % 101) }
	for _, c := range []struct {
		head   string
		number func(i int) string
		want   Kind
	}{
		{"", shuffled, Dropped},
		{"c1", shuffled, Numeric},
		{"", func(i int) string { return fmt.Sprint(i / 2) }, Numeric},
		{"", func(i int) string { return fmt.Sprintf("%d.5", i) }, Numeric},
		{"Unnamed: 0", shuffled, Dropped},
		{"...1", shuffled, Dropped},
	} {
		data := mustRead(t, manyRows(60, c.head+",a", c.number, amount), table.HeaderYes)
		recipe, _, _ := mustLearn(t, data, Options{})
		if recipe.Columns[0].Kind != c.want {
			t.Errorf("%q: %s, want %s", c.head, recipe.Columns[0].Kind, c.want)
		}
		if c.want != Dropped {
			continue
		}
		if _, _, err := recipe.Apply(mustRead(t, "a\n1\n2\n", table.HeaderYes)); err != nil {
			t.Errorf("rows without it: %v", err)
		}
	}
}

// Whole numbers that all differ under the usual names of row numbers are dropped, and others
// are not.
func TestNamesOfIdentifiers(t *testing.T) {
	for name, want := range map[string]bool{
		"id": true, "PatientID": true, "nr": true, "Lfd. Nr.": true, "case_no": true, "No": true, "seqno": true, "obs": true, "row": true,
		"record": true, "Serial Number": true, "patient": true, "Index": true,
		"Madrid": false, "PAID": false, "amount": false, "piano": false, "income": false, "cases": false, "seen by client": false,
	} {
		table := mustRead(t, manyRows(20, name+",a", func(i int) string { return fmt.Sprint(100 - 3*i) }, amount), table.HeaderYes)
		recipe, _, _ := mustLearn(t, table, Options{})
		if dropped := recipe.Columns[0].Kind == Dropped; dropped != want {
			t.Errorf("%q dropped: %t, want %t", name, dropped, want)
		}
	}
}

// Copies of whole rows make no feature of an identifier; values that come again in other rows do.
func TestIdentifierOfCopiedRows(t *testing.T) {
	for _, c := range []struct {
		name string
		cell func(i int) string
	}{
		{"Beleg-Nr", func(i int) string { return fmt.Sprint(40000 + i) }},
		{"id", func(i int) string { return fmt.Sprintf("K%d", i) }},
		{"note", func(i int) string { return fmt.Sprintf("text %d", i) }},
	} {
		text := manyRows(60, c.name+",a", c.cell, amount)
		lines := strings.SplitAfter(text, "\n")
		copied := text + lines[5] + lines[6] + lines[7]
		recipe, _, _ := mustLearn(t, mustRead(t, copied, table.HeaderYes), Options{})
		if got := recipe.Columns[0]; got.Kind != Dropped {
			t.Errorf("%s: %+v, though only copied rows have the same", c.name, got)
		}
		other := text + strings.Replace(lines[5], ",", ",1", 1)
		if l, err := Learn(mustRead(t, other, table.HeaderYes), Options{}); err == nil && l.Recipe.Columns[0].Kind == Dropped {
			t.Errorf("%s: dropped, though another row has a value again", c.name)
		}
	}
}

// A missing cell that a model refuses needs no other training rows, but to be filled.
func TestMissingCellAtDecide(t *testing.T) {
	data := mustRead(t, manyRows(20, "a", amount), table.HeaderYes)
	later := mustRead(t, "a,y\n1,yes\n,no\n", table.HeaderYes)
	refusing, _, _ := mustLearn(t, data, Options{})
	_, _, err := refusing.Apply(later)
	if located, ok := err.(*table.Error); !ok || located.Line != 3 || len(located.Ways) != 1 || located.Ways[0].Option != table.WayImpute {
		t.Errorf("%v", err)
	}
	filling, _, _ := mustLearn(t, data, Options{Impute: true})
	if _, _, err := filling.Apply(later); err != nil {
		t.Error(err)
	}
}
