package decision

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// JSON text means the same as a specification and as the YAML file that it nearly is.
func TestParseSpecJSON(t *testing.T) {
	for _, text := range []string{
		`{"outcomes": ["good", "bad"], "costs": {"accept": {"good": 0, "bad": "0.6 * amount"}, "refuse": {"bad": 0, "good": 1}, "defer": {"good": 0.3, "bad": 0.3}}, "ceiling": 6}`,
		`{"utilities": {"z": {"yes": 2.5e1, "no": "amount"}, "a": {"yes": "1 * x7", "no": "4"}}, "outcomes": ["no", "yes"]}`,
		`{"outcomes": ["0", "1"], "costs": {"10": {"0": -0.0, "1": "-0.1 * x"}, "9": {"0": 1, "1": 0}}}`,
	} {
		got, err := ParseSpecJSON([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if a, b := storedText(t, got), storedText(t, parsedSpec(t, text)); a != b {
			t.Errorf("%s\nas JSON %s\nas YAML %s", text, a, b)
		}
	}
}

func storedText(t interface{ Fatal(...any) }, s *Spec) string {
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Any text can be a name, also those that other formats cannot spell.
func TestParseSpecJSONNames(t *testing.T) {
	check := func(t interface {
		Fatal(...any)
		Fatalf(string, ...any)
	}, names []string,
	) {
		q := make([]string, len(names))
		for i, name := range names {
			text, err := json.Marshal(name)
			if err != nil {
				t.Fatal(err)
			}
			q[i] = string(text)
		}
		text := fmt.Sprintf(`{"outcomes":[%[1]s,%[2]s],"costs":{%[3]s:{%[1]s:0,%[2]s:1},%[4]s:{%[2]s:0,%[1]s:2}}}`, q[0], q[1], q[2], q[3])
		s, err := ParseSpecJSON([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		stakes, err := s.Stakes(nil)
		if got := slices.Concat(s.Outcomes(), s.Actions()); !slices.Equal(got, names) || err != nil || !cmp.Equal(stakes.Table, Table{{0, 1}, {2, 0}}) {
			t.Fatalf("%s: %q %v %v", text, got, stakes, err)
		}
	}
	check(t, []string{"\x7f", "\u0085", "a\u2028b", "\ufeff"})
	check(t, []string{"true", "null", "~", "- a: b # c"})
	check(t, []string{"*a", "&b", " ", "\x01\x00\n"})
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.SliceOfNDistinct(rapid.StringN(1, -1, -1), 4, 4, rapid.ID[string]).Draw(t, "names"))
	})
}

// What is wrong is said in words that whoever writes JSON knows, with the action and the
// outcome.
func TestParseSpecJSONErrors(t *testing.T) {
	table := func(entry string) string {
		return `{"outcomes":["good","bad"],"costs":{"accept":{"good":` + entry + `,"bad":1},"refuse":{"good":1,"bad":0}}}`
	}
	const both = `"a":{"good":0,"bad":1},"b":{"good":1,"bad":0}`
	for _, c := range []struct{ text, want string }{
		{``, "this is not JSON"},
		{`{"outcomes":["good","bad"],}`, "this is not JSON"},
		{`{} {}`, "this is not JSON"},
		{"{\"\xff\":1}", "not UTF-8"},
		{`[]`, "the utility is a list"},
		{` null`, "the utility is null"},
		{`{}`, "outcomes are missing"},
		{`{"outcomes":["good","bad"]}`, "there is no table"},
		{`{"outcomes":["good","bad"],"costs":{},"utilities":{}}`, "both given"},
		{`{"outcomes":["good","bad"],"costs":{},"costs":{}}`, `"costs" twice`},
		{`{"outcomes":["good","bad"],"cost":{}}`, `"cost" is unknown`},
		{`{"outcomes":"good","costs":{}}`, "not a list of two names"},
		{`{"outcomes":["good"],"costs":{}}`, "not a list of two names"},
		{`{"outcomes":["good",["bad"]],"costs":{}}`, "outcome 2 is a list; give a plain name"},
		{`{"outcomes":["good",null],"costs":{}}`, "outcome 2 is empty"},
		{`{"outcomes":["good",""],"costs":{}}`, "outcome 2 is empty"},
		{`{"outcomes":["good","good"],"costs":{}}`, `two outcomes are called "good"`},
		{`{"outcomes":["good","bad"],"costs":[]}`, "the table is a list"},
		{`{"outcomes":["good","bad"],"costs":{}}`, "the number of actions is 0"},
		{`{"outcomes":["good","bad"],"costs":{"a":{"good":0,"bad":1}}}`, "at least 2"},
		{`{"outcomes":["good","bad"],"costs":{"a":5}}`, `action "a" is a number`},
		{`{"outcomes":["good","bad"],"costs":{"a":{"good":0}}}`, `action "a" has no entry for outcome "bad"`},
		{`{"outcomes":["good","bad"],"costs":{"a":{"good":0,"ugly":1}}}`, `action "a" has the unknown outcome "ugly"`},
		{`{"outcomes":["good","bad"],"costs":{"a":{"good":0,"good":1}}}`, `action "a" has "good" twice`},
		{`{"outcomes":["good","bad"],"costs":{` + both + `,"":{}}}`, "a name that is empty"},
		{table(`true`), `action "accept" under "good" is a truth value; give a number`},
		{table(`null`), `action "accept" under "good" is null`},
		{table(`[1]`), `action "accept" under "good" is a list`},
		{table(`{}`), `action "accept" under "good" is an object`},
		{table(`1e999`), "not a finite number"},
		{table(`""`), "nothing is given"},
		{table(`"5 EUR"`), "follows without an operator"},
		{table(`"2 *"`), "ends too early"},
		{`{"outcomes":["good","bad"],"costs":{` + both + `},"ceiling":0.5}`, "the ceiling 0.5 is below"},
		{`{"outcomes":["good","bad"],"costs":{` + both + `},"ceiling":"amount"}`, "the ceiling \"amount\" is not a finite number"},
		{`{"outcomes":["good","bad"],"utilities":{` + both + `},"ceiling":5}`, "these are utilities"},
	} {
		_, err := ParseSpecJSON([]byte(c.text))
		var e *SpecError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		} else if strings.Contains(err.Error(), "YAML") || strings.Contains(err.Error(), "indentation") || strings.Contains(err.Error(), "line") {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// TestEffortIsKept: what actions take comes back from JSON as it was written.
func TestEffortIsKept(t *testing.T) {
	s, err := ParseSpec("visits.yaml", []byte("outcomes: [no, yes]\ncosts:\n  leave: {no: 0, yes: 100}\n  call: {no: 2, yes: 60}\n  visit: {no: 20, yes: 20}\neffort:\n  visit: travel + 10\n  minutes: {visit: travel, call: 5}\n"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseSpecJSON(text)
	if err != nil {
		t.Fatal(string(text), err)
	}
	for _, of := range []*Spec{s, again} {
		c, err := of.Within([]Capacity{{"visit", 3}, {"minutes", 60}, {"call", 2}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Efforts(func(string) (float64, error) { return 30, nil })
		if want := [][]float64{{0, 0, 40}, {0, 5, 30}, {0, 1, 0}}; err != nil || !cmp.Equal(got, want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
		if columns := of.AllColumns(); len(columns) != 1 || columns[0] != "travel" || len(of.Columns()) != 0 {
			t.Errorf("columns %q, of costs %q", columns, of.Columns())
		}
	}
}
