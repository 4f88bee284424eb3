package decision_test

import (
	"encoding/json"
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
		`{}`, `{"under":"1"}`, `{"under":"1","over":"("}`, `{"cost":"action","action":{"from":0,"to":1,"step":1e-300}}`,
		`{"cost":"action","action":{"from":2,"to":1}}`, `{"cost":"action","action":{"list":[2,1]}}`, `{"costs":{"a":"1"},"order":["a"]}`, `{"costs":{"a":"1","b":"2"},"order":["a","c"]}`,
	} {
		if err := json.Unmarshal([]byte(text), new(decision.NumberCosts)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

// What is wrong with costs is said with its place.
func TestWrongNumberCosts(t *testing.T) {
	for text, want := range map[string]string{
		"cost: 5":                             "line 1",
		"under: 1":                            "not one kind of costs",
		"under: 1\nover: 2\ncost: action":     "not one kind of costs",
		"under: 1\nover: 2\nactoin: [1]":      "line 3, column 1",
		"costs:\n  one: outcome":              "fewer than two actions",
		"cost: action\naction: {from: 3}":     "not a range",
		"cost: action\naction: []":            "empty",
		"cost: action\naction: [a]":           "not a number",
		"costs: {a: 1, b: 2}\naction: [1, 2]": "named actions have no range",
	} {
		if _, err := decision.ParseNumberSpec("costs.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
