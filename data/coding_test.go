package data_test

import (
	"context"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/data"
)

// The compact form is the features, and the other way round, missing cells and categories
// that were not seen included.
func TestCompactIsTheFeatures(t *testing.T) {
	read := func(text string) *data.Table {
		table, err := data.Read(context.Background(), strings.NewReader(text), "t.csv", data.Format{})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	train := read("a,kind,b,size,y\n1,red,2.5,S,0\n2,green,,M,1\n3,,4,L,0\n4.5,blue,1,S,1\n5,red,2,M,0\n")
	l, err := data.LearnCompact(train, data.Options{Target: "y", Impute: true})
	if err != nil {
		t.Fatal(err)
	}
	c := l.Recipe.Coding()
	if c.Codes() != 2 || c.Numbers() != 4 { // a, whether kind is missing, b, whether it is missing
		t.Fatalf("%d numbers and %d codes", c.Numbers(), c.Codes())
	}
	for name, table := range map[string]*data.Table{
		"training": train,
		"new":      read("a,kind,b,size,y\n7,violet,1,M,0\n1,,,XL,1\n"),
	} {
		x, _, err := l.Recipe.Apply(table)
		if err != nil {
			t.Fatal(err)
		}
		compact, report, err := l.Recipe.ApplyCompact(table)
		if err != nil || report == nil {
			t.Fatal(err)
		}
		if !mat.Equal(c.Compact(x), compact) {
			t.Errorf("%s rows: compact %v, want %v", name, mat.Formatted(c.Compact(x)), mat.Formatted(compact))
		}
		if !mat.Equal(c.Expand(compact), x) {
			t.Errorf("%s rows: expanded %v, want %v", name, mat.Formatted(c.Expand(compact)), mat.Formatted(x))
		}
	}
	if c.Name(0) != "a" || c.Name(1) != "kind" || c.Name(2) != "b" {
		t.Errorf("names %q %q %q", c.Name(0), c.Name(1), c.Name(2))
	}
}
