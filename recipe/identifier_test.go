package recipe

import (
	"fmt"
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
