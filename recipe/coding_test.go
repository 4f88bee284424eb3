package recipe_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// An encoded row is its numbers and then the codes of its categories, with the fill of a
// missing cell beside what says that it was missing, and −1 for what training had not.
func TestEncodedRows(t *testing.T) {
	read := func(text string) *table.Table {
		table, err := table.Read(context.Background(), strings.NewReader(text), "t.csv", table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	train := read("a,kind,b,size,y\n1,red,2.5,S,0\n2,green,,M,1\n3,,4,L,0\n4.5,blue,1,S,1\n5,red,2,M,0\n")
	l, err := recipe.Learn(train, recipe.Options{Target: "y", Impute: true})
	if err != nil {
		t.Fatal(err)
	}
	// Numbers: a, whether kind is missing, b, whether it is missing; codes: kind among blue,
	// green and red, of which red is the commonest, size among L, M and S.
	c := l.Recipe.Coding()
	if c.Codes() != 2 || c.Numbers() != 4 || l.Recipe.NumFeatures() != 10 {
		t.Fatalf("%d numbers, %d codes, %d features", c.Numbers(), c.Codes(), l.Recipe.NumFeatures())
	}
	for name, want := range map[string][][]float64{
		"training": {{0, 0, 2, 2}, {0, 1, 1, 1}, {1, 0, 2, 0}, {0, 0, 0, 2}, {0, 0, 2, 1}},
		"new":      {{0, 0, -1, 1}, {1, 1, 2, -1}},
	} {
		table := train
		if name == "new" {
			table = read("a,kind,b,size,y\n7,violet,1,M,0\n1,,,XL,1\n")
		}
		x, report, err := l.Recipe.Apply(table)
		if err != nil || report == nil {
			t.Fatal(err)
		}
		for i, w := range want {
			row := x.RawRowView(i)
			if got := []float64{row[1], row[3], row[4], row[5]}; !slices.Equal(got, w) {
				t.Errorf("%s row %d: %v, want %v", name, i, got, w)
			}
		}
		if name == "training" {
			for _, number := range []int{0, 2} { // standardised
				if mean := mat.Sum(x.ColView(number)) / 5; math.Abs(mean) > 0.2 {
					t.Errorf("number %d has the mean %v", number, mean)
				}
			}
		}
	}
	if c.Name(0) != "a" || c.Name(1) != "kind" || c.Name(2) != "b" || c.Size(0) != 3 {
		t.Errorf("names %q %q %q, %d kinds", c.Name(0), c.Name(1), c.Name(2), c.Size(0))
	}
	parts := l.Recipe.Parts()
	want := []recipe.Part{{Column: "a", At: []int{0}}, {Column: "kind", At: []int{1, 4}}, {Column: "b", At: []int{2, 3}}, {Column: "size", At: []int{5}}}
	if !slices.EqualFunc(parts, want, func(a, b recipe.Part) bool { return a.Column == b.Column && slices.Equal(a.At, b.At) }) {
		t.Errorf("parts %v, want %v", parts, want)
	}
}
