package recipe

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/lossep/lossep/table"
)

// A spelling that is missing in one column is a value in the others: when the recipe is learned,
// estimated anew, kept and read again, and applied to tables, texts and numbers.
func TestMarkerOfAColumn(t *testing.T) {
	table := mustRead(t, "a,b=c,y\n5,0,no\n7,1,yes\n0,2,no\n6,0,yes\n9,3,no\n0,1,yes\n", table.HeaderYes)
	l, err := Learn(table, Options{Impute: true, Markers: []string{"a=0", "b=c=2", "not a column=1"}})
	if err != nil {
		t.Fatal(err)
	}
	if told := `the missing marker "not a column=1" is looked for as it stands, as there is no column "not a column"`; l.Notes[0].Text != told || strings.Count(strings.Join(l.Notes.Texts(), ""), "missing marker") != 1 {
		t.Errorf("notes are %q, and of markers it is not %q alone", l.Notes.Texts(), told)
	}
	refitted, err := l.Recipe.Refit(table)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(refitted)
	if err != nil {
		t.Fatal(err)
	}
	var r Recipe
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if a, b := r.Columns[0], r.Columns[1]; math.Abs(a.Mean-40./6) > 1e-12 || !a.Indicator || b.Mean != 1 || !b.Indicator {
		t.Errorf("means %v and %v, indicators %v and %v", a.Mean, b.Mean, a.Indicator, b.Indicator)
	}
	x, _, err := r.Apply(table)
	if err != nil {
		t.Fatal(err)
	}
	// A column's number and its indicator.
	want := [][]float64{{5, 0, 0, 0}, {7, 0, 1, 0}, {6.5, 1, 2, 1}, {6, 0, 0, 0}, {9, 0, 3, 0}, {6.5, 1, 1, 0}}
	want[2][2] = r.Columns[1].Fill
	for i, row := range want {
		encoded := make([]float64, r.Dim())
		if _, err := r.Encode(map[string]any{"a": []float64{5, 7, 0, 6, 9, 0}[i], "b=c": []string{"0", "1", "2", "0", "3", "1"}[i]}, encoded); err != nil {
			t.Fatal(err)
		}
		for c := range r.Columns[:2] {
			number, indicator := x.At(i, 2*c)*r.Columns[c].Scale+r.Columns[c].Mean, x.At(i, 2*c+1)
			if math.Abs(number-row[2*c]) > 1e-12 || indicator != row[2*c+1] {
				t.Errorf("row %d, column %d: %v and %v, want %v", i+1, c+1, number, indicator, row[2*c:2*c+2])
			}
			if encoded[2*c] != x.At(i, 2*c) || encoded[2*c+1] != indicator {
				t.Errorf("row %d, column %d: encoded as %v by itself, in the table %v", i+1, c+1, encoded, x.RawRowView(i))
			}
		}
	}
}
