package recipe

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/table"
)

const scoredText = "a,p,b,y\n1,0.2,u,no\n2,0.9,v,yes\n4,0.5,u,yes\n3,1e-9,v,no\n"

// A score stands first in a row, as its probit, and new rows have to have one between 0 and 1.
func TestScore(t *testing.T) {
	t.Parallel()
	data := mustRead(t, scoredText, table.HeaderYes)
	l, err := Learn(data, Options{Score: "p", Impute: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Recipe.Entries(); strings.Join(got, " ") != "p a b" || !l.Recipe.Coding().Scored() {
		t.Errorf("a row has %v, want the score first", got)
	}
	r, err := l.Recipe.Refit(data.Subset([]int{0, 1, 2}))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	read := new(Recipe)
	if err := json.Unmarshal(text, read); err != nil {
		t.Fatal(err)
	}
	x, _, err := read.Apply(data)
	if err != nil {
		t.Fatal(err)
	}
	cells := read.Cells()
	for i, p := range []float64{0.2, 0.9, 0.5, 1e-9} {
		if want := normal.Quantile(p); x.At(i, 0) != want || l.X.At(i, 0) != want {
			t.Errorf("row %d has the score %v, and %v when the recipe is read again; want %v", i, l.X.At(i, 0), x.At(i, 0), want)
		}
		// What is kept of p is Φ⁻¹(p), of which a unit in the last place is φ/p times as much.
		if back, ok := cells.Number(1, x.RawRowView(i)); !ok || math.Abs(back-p) > 1e-14*p {
			t.Errorf("row %d: %v comes back as %v", i, p, back)
		}
	}
	for _, gaps := range []*Recipe{read, read.WithGaps()} {
		for cell, want := range map[string]string{"0": "0 is not between 0 and 1", "1": "1 is not between", "-0.1": "is not between", "": "missing cell", "NaN": "missing cell", "inf": "not a finite number", "high": "not a finite number"} {
			fresh := mustRead(t, "b,a,p\nu,1,0.5\nv,2,"+cell+"\n", table.HeaderYes)
			if _, _, err := gaps.Apply(fresh); err == nil || !strings.Contains(err.Error(), `test.csv, line 3, column 3 ("p")`) || !strings.Contains(err.Error(), want) {
				t.Errorf("a score of %q: %v", cell, err)
			}
		}
	}
	if _, _, err := read.Apply(mustRead(t, "a,b\n1,u\n", table.HeaderYes)); err == nil {
		t.Error("rows without a score are encoded")
	}
}

func TestScoresRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, want string
		options    Options
	}{
		"one":          {"a,p,y\n1,0.5,no\n2,1,yes\n", `line 3, column 2 ("p"): 1 is not between 0 and 1`, Options{Score: "p"}},
		"a gap":        {"a,p,y\n1,,no\n2,0.3,yes\n", `line 2, column 2 ("p"): missing cell`, Options{Score: "p", Impute: true}},
		"a word":       {"a,p,y\n1,0.5,no\n2,low,yes\n", `line 3, column 2 ("p"): "low" is not a number`, Options{Score: "p"}},
		"no such":      {"a,p,y\n1,0.5,no\n2,0.6,yes\n", "no such column", Options{Score: "q"}},
		"left out":     {"a,p,y\n1,0.5,no\n2,0.6,yes\n", "has another part", Options{Score: "p", Drop: []string{"p"}}},
		"the outcome":  {"a,p,y\n1,0.5,no\n2,0.6,yes\n", "has another part", Options{Score: "y"}},
		"transformed":  {"a,p,y\n1,0.5,no\n2,0.6,yes\n", "a scale of its own", Options{Score: "p", Bends: map[string]Bend{"p": LogOdds}}},
		"alone":        {"p,y\n0.5,no\n0.6,yes\n", "beside the outcome and the score", Options{Score: "p"}},
		"of three":     {"a,p,y\n1,0.5,no\n2,0.6,yes\n3,0.7,maybe\n4,0.7,no\n", "one of two outcomes, and there are 3", Options{Score: "p"}},
		"of a number":  {"a,p,y\n1,0.5,3\n2,0.6,4\n3,0.7,9\n", "the outcome is a number", Options{Score: "p", Number: true}},
		"of one grade": {"a,p,y\n1,0.5,1\n2,0.6,2\n3,0.7,3\n", "one of two outcomes, and there are 3", Options{Score: "p", Grading: Graded}},
	} {
		if _, err := Learn(mustRead(t, c.text, table.HeaderYes), c.options); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Features that are chosen do not leave the score out, and a scale that is kept changes nothing of it.
func TestScoreBesideFeatures(t *testing.T) {
	t.Parallel()
	l, err := Learn(mustRead(t, scoredText, table.HeaderYes), Options{Score: "2", Features: []string{"a"}, KeepScale: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Recipe.Entries(); strings.Join(got, " ") != "p a" || l.X.At(1, 0) != normal.Quantile(0.9) || l.X.At(1, 1) != 2 {
		t.Errorf("entries %v, row %v", got, l.X.RawRowView(1))
	}
}
