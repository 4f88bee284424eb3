package decision_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep/decision"
)

func TestParseCostMatrix(t *testing.T) {
	s, err := decision.ParseCostMatrix("costs.csv", []byte("\ufeffaction, home, ward,\"icu, east\"\ndischarge,0,5,100\nadmit,1,0,0.2 * amount\ndefer,2,2,2\n"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Outcomes(), []string{"home", "ward", "icu, east"}) || !slices.Equal(s.Actions(), []string{"discharge", "admit", "defer"}) || !s.Costs() {
		t.Errorf("%v, %v", s.Outcomes(), s.Actions())
	}
	// The names count, not their order.
	if err := s.Bind("icu, east", "home", "ward"); err != nil {
		t.Fatal(err)
	}
	one, err := s.Stakes(func(string) (float64, error) { return 50, nil })
	if err != nil || !slices.Equal(one.Table[1], []float64{10, 1, 0}) {
		t.Errorf("%v, %v", one, err)
	}
	if _, err := decision.ParseCostMatrix("costs.csv", []byte("a;x;y\nleft;0;1\nright;2;0\n")); err != nil {
		t.Error(err)
	}
}

func TestBadCostMatrix(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "costs.csv, line 1, column 1: the file is empty",
		"action,x\na,0\n":                "costs.csv, line 1, column 1: the costs have fewer than two outcomes",
		"action,x,x\na,0,1\n":            `costs.csv, line 1, column 3: the name of outcome "x" is empty or used twice`,
		"action,x,y\na,0\n":              `costs.csv, line 2, column 2: action "a" has 1 costs for 2 outcomes; give a cost for each of "x" and "y"`,
		"action,x,y\na,0,1,2\n":          `action "a" has 3 costs for 2 outcomes`,
		"action,x,y\na,0,\nb,1,0\n":      `costs.csv, line 2, column 3: action "a" under "y"`,
		"action,x,y\na,0,1\n":            "costs.csv: the number of actions is 1",
		"action,x,y\na,0,1\na,1,0\n":     `the name of action "a" is empty or used twice`,
		"action,x,y\na,1,1\nb,1,1\n":     "no action is better than another",
		"action,x,y\na,\"0,1\nb,1,0\n":   "this is no CSV",
		"action,x,y\na,0,1e300\nb,1,0\n": "is not a number that can be compared",
	} {
		_, err := decision.ParseCostMatrix("costs.csv", []byte(text))
		var e *decision.SpecError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Costs of two outcomes for a target of more are refused with an example that would be taken.
func TestExampleForSeveral(t *testing.T) {
	costs, err := decision.ParseCosts("fn=5,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	target := []string{"home", "icu, east", `the "ward"`}
	var refused *decision.SpecError
	if err := costs.Bind(target...); !errors.As(err, &refused) {
		t.Fatal(err)
	}
	s, err := decision.ParseCostMatrix("example", []byte(refused.Example))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Bind(target...); err != nil || !slices.Equal(s.Actions(), target) {
		t.Errorf("%v of %s", err, refused.Example)
	}
}

// Bind says which outcome is missing and which is unknown.
func TestBindSeveral(t *testing.T) {
	s, err := decision.ParseCostMatrix("costs.csv", []byte("action,home,ward,ICU\na,0,1,2\nb,1,0,2\n"))
	if err != nil {
		t.Fatal(err)
	}
	err = s.Bind("home", "icu", "ward")
	for _, want := range []string{"costs.csv, line 1", `"ICU" is unknown`, `"icu" is missing`, `"home", "icu" and "ward"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}
