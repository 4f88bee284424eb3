package decision_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/lossep/lossep/decision"
)

// Costs are the same after they were written and read; what no program writes is refused.
func TestNumberCostsInFiles(t *testing.T) {
	for _, yaml := range []string{
		"under: 15\nover: 2 * price", "cost: (outcome - action) * (outcome - action)\naction: {from: 0, to: 20, step: 5}",
		"cost: max(outcome - action, 0) + action\naction: [1, 2, 5]", "costs:\n  small: 3 * outcome\n  large: 40",
	} {
		s, err := decision.ParseNumberSpec("costs.yaml", []byte(yaml))
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var read decision.NumberCosts
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if again, _ := json.Marshal(&read); string(again) != string(text) || read.String() != s.String() {
			t.Errorf("%s is read as %s", text, again)
		}
	}
	for _, text := range []string{
		`{}`, `{"under":"1"}`, `{"under":"1","over":"1e200"}`, `{"under":"1","over":"("}`, `{"cost":"action","action":{"from":0,"to":1,"step":1e-300}}`,
		`{"cost":"action","action":{"from":2,"to":1}}`, `{"cost":"action","action":{"list":[2,1]}}`, `{"costs":{"a":"1"},"order":["a"]}`, `{"costs":{"a":"1","b":"2"},"order":["a","c"]}`,
	} {
		if err := json.Unmarshal([]byte(text), new(decision.NumberCosts)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

// Costs of a unit that no number can hold with those of the other side are refused where they are read.
func TestNumberCostsOutOfBounds(t *testing.T) {
	for _, text := range []string{
		"under=1e200,over=1", "under=1e-300,over=1e200", "under=1e16,over=1", "under=1,over=1e10", "under=1e150,over=1e150", "under=1e-150,over=1e-150",
	} {
		var fault *decision.SpecError
		if _, err := decision.ParseNumberCosts(text); !errors.As(err, &fault) || fault.Fix == "" {
			t.Errorf("%s: %v", text, err)
		}
		yaml := strings.NewReplacer("=", ": ", ",", "\n").Replace(text)
		if _, err := decision.ParseNumberSpec("costs.yaml", []byte(yaml)); err == nil || !strings.HasPrefix(err.Error(), "costs.yaml, line 1") {
			t.Errorf("%s: %v", yaml, err)
		}
	}
	s, err := decision.ParseNumberCosts("under=price,over=1")
	if err != nil {
		t.Fatal(err)
	}
	for _, price := range []float64{-1, 0, 1e10, 1e101} {
		if _, err := s.Stake(func(string) (float64, error) { return price, nil }); err == nil {
			t.Errorf("a unit costs %v", price)
		}
	}
}

// What a unit costs knows no outcome and no action: under these names stand columns, which a table has or lacks.
func TestUnitCostsOfColumns(t *testing.T) {
	for _, name := range []string{"outcome", "action", "price"} {
		for _, text := range []string{"under=" + name + ",over=1", "under=1,over=2+" + name} {
			s, err := decision.ParseNumberCosts(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Columns(); len(got) != 1 || got[0] != name {
				t.Errorf("%s has the columns %q", text, got)
			}
			var of decision.NumberCosts
			if err := json.Unmarshal([]byte(`{"under":"1","over":"`+name+`"}`), &of); err != nil || len(of.Columns()) != 1 {
				t.Errorf("%s as JSON: %v, columns %q", name, err, of.Columns())
			}
		}
	}
}

// What is wrong with costs is said with its place.
func TestWrongNumberCosts(t *testing.T) {
	for text, want := range map[string]string{
		"cost: 5":                                         "line 1",
		"under: 1":                                        "not one kind of costs",
		"under: 1\nover: 2\ncost: action":                 "not one kind of costs",
		"under: 1\nover: 2\nactoin: [1]":                  "line 3, column 1",
		"costs:\n  one: outcome":                          "fewer than two actions",
		"cost: action\naction: {from: 3}":                 "not a range",
		"cost: action\naction: {from: 0, to: 9, step: 0}": "line 2, column 32: the step is 0",
		"cost: action\naction: []":                        "empty",
		"cost: action\naction: [a]":                       "not a number",
		"costs: {a: 1, b: 2}\naction: [1, 2]":             "named actions have no range",
		"costs:\n  a: 1\n  b: 2 * action + outcome":       "line 3, column 6: \"b\": a named action is no number",
	} {
		if _, err := decision.ParseNumberSpec("costs.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Division by a column that is 0 in a case is refused with its name, and so is what columns make 0.
func TestDivisionByZeroColumns(t *testing.T) {
	for text, divisor := range map[string]string{
		"cost: max(outcome - action, action - outcome) / size": "size", "cost: min(outcome / (size * 2), 9) + action": "size * 2", "costs:\n  a: 3\n  b: 1 + 5 / (price - 3)": "price - 3",
	} {
		s, err := decision.ParseNumberSpec("costs.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range []bool{false, true} {
			_, err := s.Stake(func(column string) (float64, error) {
				if wrong {
					return map[string]float64{"size": 0, "price": 3}[column], nil
				}
				return 1, nil
			})
			var fault *decision.SpecError
			if wrong != errors.As(err, &fault) || wrong && !strings.Contains(err.Error(), "divided by, "+divisor+", is 0 in this case") {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}
