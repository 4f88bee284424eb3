package recipe

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/table"
)

// A table of counts is the table written out, to the last bit of what is learned from it, but that a
// number of the row is still known for one.
func TestTablesOfCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	var counted, written strings.Builder
	counted.WriteString("id,dose,job,n,y\n")
	written.WriteString("id,dose,job,y\n")
	for i := range 60 {
		n, outcome := rng.IntN(5), []string{"no", "yes"}[i%2]
		row := fmt.Sprintf("%d,%g,%s", 100+i, float64(i/6), []string{"a", "b", "c"}[i/2%3])
		fmt.Fprintf(&counted, "%s,%d,%s\n", row, n, outcome)
		for range n {
			fmt.Fprintf(&written, "%s,%s\n", row, outcome)
		}
	}
	once := mustRead(t, counted.String(), table.HeaderYes)
	all, err := once.Repeated("n", 1000)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Learn(all, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Learn(mustRead(t, written.String(), table.HeaderYes), Options{Drop: []string{"id"}})
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(got.X, want.X) || !slices.Equal(got.Labels, want.Labels) || got.Weights != nil {
		t.Error("the rows are not those of the table written out")
	}
	if d := cmp.Diff(want.Recipe.Target, got.Recipe.Target); d != "" || got.Recipe.Rows != want.Recipe.Rows {
		t.Errorf("%d rows of %d, and the target differs: %s", got.Recipe.Rows, want.Recipe.Rows, d)
	}
	for k, name := range []string{"id", "n"} {
		if c := got.Recipe.Columns[3*k]; c.Kind != Dropped || c.Name != name {
			t.Errorf("column %s is %s", c.Name, c.Kind)
		}
	}
	// A part of it is learned from in the same way.
	var some []int
	for i := 0; i < all.Len(); i += 2 {
		some = append(some, i)
	}
	part, err := Learn(all.Subset(some), Options{})
	if err != nil || len(part.Labels) != len(some) || part.Recipe.Columns[0].Kind != Dropped {
		t.Errorf("of a part: %v", err)
	}
}

func TestCountsThatAreNone(t *testing.T) {
	const data = "age,n,y\n31,COUNT,no\n40,3,yes\n"
	for _, c := range []struct{ count, o, want string }{
		{"2.5", "", `line 2, column 2 ("n"): 2.5 is no number of cases; give whole numbers from 0 on, or make the column weights instead`},
		{"-1", "", `line 2, column 2 ("n"): -1 is no number of cases`},
		{"", "", `line 2, column 2 ("n"): a missing cell`},
		{"many", "", `line 2, column 2 ("n"): "many" is not a finite number`},
		{"1e15", "", `line 2, column 2 ("n"): the counts up to here are of more than 100 cases; give a sample of them`},
		{"98", "", `line 3, column 2 ("n"): the counts up to here are of more than 100 cases`},
		{"4", "weights", `rows come as often as "n" says, and are weighted besides; give counts or weights`},
		{"4", "target", `column 2 ("n"): the column that says how often a row comes cannot be the outcome`},
	} {
		all, err := mustRead(t, strings.Replace(data, "COUNT", c.count, 1), table.HeaderYes).Repeated("n", 100)
		if err == nil {
			o := map[string]Options{"weights": {Weights: "age"}, "target": {Target: "n"}}[c.o]
			_, err = Learn(all, o)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, and not %s", c.count, err, c.want)
		}
	}
	if _, err := mustRead(t, "age,n,y\n31,0,no\n40,0,yes\n", table.HeaderYes).Repeated("n", 100); err == nil || !strings.Contains(err.Error(), "all counts are 0") {
		t.Errorf("counts of nothing: %v", err)
	}
}
