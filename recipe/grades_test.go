package recipe

import (
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
		{"3,1,10,2", "1,2,3,10"}, // may be codes: fits tell
		{"1,2,30", ""},           // not small
		{"1,2,2.5", ""},
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

// Categories whose order is known stand in it, and may be grades unless it was said what they are.
func TestGradesAreInOrder(t *testing.T) {
	const rows = "x,risk\n1,low\n2,medium\n3,high\n4,low\n5,medium\n6,high\n"
	for name, c := range map[string]struct {
		rows    string
		options Options
		want    string
		may     bool
	}{
		"words":       {rows, Options{}, "low,medium,high", true},
		"numbers":     {"x,risk\n1,10\n2,9\n3,-1\n4,10\n5,9\n6,9\n", Options{}, "-1,9,10", true},
		"an order":    {rows, Options{Ordered: []OrderedSet{{"risk", []string{"high", "medium", "low"}}}}, "high,medium,low", false},
		"grades":      {rows, Options{Grading: Graded}, "low,medium,high", false},
		"other words": {strings.ReplaceAll(rows, "low", "green"), Options{}, "green,high,medium", false},
		"two":         {strings.ReplaceAll(rows, "low", "high"), Options{Positive: "high"}, "medium,high", false},
	} {
		l, err := Learn(mustRead(t, c.rows, table.HeaderYes), c.options)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		target := &l.Recipe.Target
		if got := strings.Join(target.Outcomes, ","); got != c.want || target.MayBeGrades() != c.may {
			t.Errorf("%s: %s, may be grades %v", name, got, target.MayBeGrades())
		}
		for i, y := range l.Labels {
			if i == 0 && target.Outcomes[y] != strings.Split(strings.SplitN(c.rows, "\n", 3)[1], ",")[1] {
				t.Errorf("%s: label %d of the first row", name, y)
			}
		}
		if g := l.Recipe.AsGrades(); c.may && (!g.Target.Ordered || target.Ordered || g.Target.MayBeGrades()) {
			t.Errorf("%s: %+v", name, g.Target)
		}
	}
}
