package recipe

import (
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep/table"
)

func TestGradesOf(t *testing.T) {
	for _, c := range []struct{ column, values, want string }{
		{"y", "high,low,medium", "low,medium,high"},
		{"y", "High,Low,Very-high,medium", "Low,medium,High,Very-high"},
		{"y", "mild,moderate,none,severe", "none,mild,moderate,severe"},
		{"y", "L,M,S,XL", "S,M,L,XL"},
		{"y", "Agree,Disagree,Neutral,Strongly agree,Strongly disagree", "Strongly disagree,Disagree,Neutral,Agree,Strongly agree"},
		{"y", "average,high,low,medium", ""}, // two of the same place
		{"y", "high,low,medium,unknown", ""}, // not a word of the scale
		{"y", "high,low", ""},                // two outcomes have an order anyway
		{"y", "S1,M2,L3", ""},
		{"y", "low+,low,high", ""},
		{"species", "setosa,versicolor,virginica", ""},
		{"wine quality", "3,4,5,6,7,8", "3,4,5,6,7,8"},
		{"starRating", "1,10,2", "1,2,10"},
		{"SEVERITY", "-1,0,1", "-1,0,1"},
		{"class", "1,2,3", ""},
		{"separating", "1,2,3", ""},
		{"rating", "1,2.5,3", ""},
		{"rating", "1,2,30", ""},
		{"rating", "1,2,low", ""},
	} {
		got, why := gradesOf(c.column, strings.Split(c.values, ","))
		if strings.Join(got, ",") != c.want || (why != "") != (c.want != "") {
			t.Errorf("%s of %s: %q (%s), want %q", c.column, c.values, got, why, c.want)
		}
	}
	for _, scale := range scales() { // a word that stood twice would have the later place
		seen := make(map[int]bool)
		for word, place := range scale {
			if seen[place] = true; strings.Join(words(word), " ") != word {
				t.Errorf("%q is never found", word)
			}
		}
		if len(seen) < fewestGrades || len(seen) != slices.Max(slices.Collect(func(yield func(int) bool) {
			for place := range seen {
				yield(place)
			}
		}))+1 {
			t.Errorf("%v: a place without words", scale)
		}
	}
}

// Outcomes in the words of a scale are grades with a reason that says how to have it otherwise, unless something else was asked for.
func TestGradesByWords(t *testing.T) {
	rows := "x,risk\n1,low\n2,medium\n3,high\n4,low\n5,medium\n6,high\n"
	learn := func(o Options) *Learned {
		l, err := Learn(mustRead(t, rows, table.HeaderYes), o)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := learn(Options{})
	target := l.Recipe.Target
	if !target.Ordered || !slices.Equal(target.Outcomes, []string{"low", "medium", "high"}) || !slices.Equal(l.Labels, []int{0, 1, 2, 0, 1, 2}) {
		t.Errorf("%+v %v", target, l.Labels)
	}
	k := slices.IndexFunc(l.Notes, func(f table.Finding) bool { return f.Check == "grades" })
	if k < 0 || !strings.Contains(l.Notes[k].Text, `"low" < "medium" < "high"`) || l.Notes[k].Ways[0].Value != "categories" {
		t.Errorf("%+v", l.Notes)
	}
	reversed := []OrderedSet{{"risk", []string{"high", "medium", "low"}}}
	for name, o := range map[string]Options{"categories": {Grading: Ungraded}, "another order": {Ordered: reversed}, "given orders alone": {Grading: GivenGrades}} {
		l := learn(o)
		if given := o.Ordered != nil; l.Recipe.Target.Ordered != given || given && l.Recipe.Target.Outcomes[0] != "high" || slices.ContainsFunc(l.Notes, func(f table.Finding) bool { return f.Check == "grades" }) {
			t.Errorf("%s: %+v, %v", name, l.Recipe.Target, l.Notes)
		}
	}
}
