package recipe

import (
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep/table"
)

func TestGradesOf(t *testing.T) {
	for _, c := range []struct{ values, want string }{
		{"high,low,medium", "low,medium,high"},
		{"High,Low,Very-high,medium", "Low,medium,High,Very-high"},
		{"mild,moderate,none,severe", "none,mild,moderate,severe"},
		{"L,M,S,XL", "S,M,L,XL"},
		{"Agree,Disagree,Neutral,Strongly agree,Strongly disagree", "Strongly disagree,Disagree,Neutral,Agree,Strongly agree"},
		{"average,high,low,medium", ""}, // two of the same place
		{"high,low,medium,unknown", ""}, // not a word of the scale
		{"high,low", ""},                // two outcomes have an order anyway
		{"S1,M2,L3", ""},
		{"low+,low,high", ""},
		{"setosa,versicolor,virginica", ""},
		{"1,2,3", ""}, // may be codes
	} {
		if got := strings.Join(gradesOf(strings.Split(c.values, ",")), ","); got != c.want {
			t.Errorf("%s: %q, want %q", c.values, got, c.want)
		}
	}
	for _, scale := range scales() {
		places := make(map[int]bool)
		for word, place := range scale {
			if places[place] = true; strings.Join(words(word), " ") != word {
				t.Errorf("%q is never found", word)
			}
		}
		for place := range len(places) { // a word that stood twice would leave one empty
			if !places[place] || len(places) < fewestGrades {
				t.Errorf("%v: nothing at place %d", scale, place)
			}
		}
	}
}

// Outcomes in the words of a scale are said to be grades in their order, unless something was asked for.
func TestGradesAreNoted(t *testing.T) {
	rows := "x,risk\n1,low\n2,medium\n3,high\n4,low\n5,medium\n6,high\n"
	for name, o := range map[string]Options{"": {}, "categories": {Grading: Ungraded}, "an order": {Ordered: []OrderedSet{{"risk", []string{"high", "medium", "low"}}}}} {
		l, err := Learn(mustRead(t, rows, table.HeaderYes), o)
		if err != nil {
			t.Fatal(err)
		}
		k := slices.IndexFunc(l.Notes, func(f table.Finding) bool { return f.Check == "grades" })
		if (k >= 0) != (name == "") || k >= 0 && l.Notes[k].Ways[0].Value != "risk=low,medium,high" {
			t.Errorf("%s: %+v", name, l.Notes)
		}
	}
}
