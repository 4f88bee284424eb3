package decision

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Entries that other programs read otherwise, or that would become another number than what is
// written, are refused with what to write; names are taken as they are spelled, if people can tell
// them apart.
func TestSpecReadsWhatIsMeant(t *testing.T) {
	for entry, want := range map[string]string{
		"2024-01-05":    `"2024-01-05" looks like a date`,
		"2024-10-12":    `looks like a date`,
		"5/1/2024":      `looks like a date`,
		"2 * 2024-1-5":  `looks like a date`,
		"1e-400":        `"1e-400" is too small to be told from 0`,
		"1e400":         "not a finite number",
		"017":           `"017" begins with zeros`,
		"0o17":          "neither a number nor a column",
		"0x1F":          "neither a number nor a column",
		"1_000":         "neither a number nor a column",
		".inf":          "neither a number nor a column",
		".nan":          "neither a number nor a column",
		"null":          "is null",
		"true":          "is a truth value",
		"[1]":           "is a list",
		"2024 - 10 - 1": "", "10/4/2": "", "0.5": "", "1 + 0e5": "", "1e-150": "", "007.5 + 0": "begins with zeros", "100/20/2024": "",
	} {
		text := fmt.Sprintf("outcomes: [no, yes]\ncosts: {x: {no: 0, yes: '%s'}, y: {no: 1, yes: 0}}\n", entry)
		if strings.HasPrefix(want, "is ") {
			text = strings.ReplaceAll(text, "'", "")
		}
		_, err := ParseSpec("f.yaml", []byte(text))
		_, other := ParseCosts("fp=1,fn=" + entry)
		var fault *SpecError
		switch {
		case want == "":
			if err != nil || other != nil {
				t.Errorf("%s: %v, %v", entry, err, other)
			}
		case !errors.As(err, &fault) || !strings.Contains(fault.Msg, want) || fault.Line != 2 || fault.Fix == "":
			t.Errorf("%s: %v", entry, err)
		case !strings.HasPrefix(want, "is ") && (other == nil || !strings.Contains(other.Error(), want)):
			t.Errorf("fn=%s: %v", entry, other)
		}
	}
}

// Names of outcomes and actions.
func TestSpecNames(t *testing.T) {
	long := strings.Repeat("n", 1001)
	for _, c := range []struct{ one, other, want string }{
		{"yes", "no", ""},
		{"on", "off", ""},
		{"true", "null", ""},
		{"1", "1.0", ""}, // two spellings are two names
		{"1", "\"1\"", `"1"`},
		{"a", `"a "`, "begins or ends with white space"},
		{"a", `"a\tb\n"`, "white space"},
		{"a", `"a\nb"`, "control characters"},
		{"a", `"a\u200b"`, `the names "a" and "a\u200b" look the same`},
		{"a", "\u0430", `the names "a" and "\u0430" look the same`},
		{"a b", "a\u00a0b", "look the same"},
		{"\u00e9", "e\u0301", "look the same"},
		{"a", long, "more than 1000 letters"},
		{"a", "A", ""},
	} {
		actions := fmt.Sprintf("outcomes: [no, yes]\ncosts:\n  %s: {no: 0, yes: 1}\n  %s: {no: 1, yes: 0}\n", c.one, c.other)
		outcomes := fmt.Sprintf("outcomes: [%[1]s, %[2]s]\ncosts:\n  x: {%[1]s: 0, %[2]s: 1}\n  y: {%[1]s: 1, %[2]s: 0}\n", c.one, c.other)
		for _, text := range []string{actions, outcomes} {
			_, err := ParseSpec("f.yaml", []byte(text))
			if c.want == "" && err != nil {
				t.Errorf("%s: %v", text, err)
			}
			if fault := new(SpecError); c.want != "" && (!errors.As(err, &fault) || !strings.Contains(fault.Error(), c.want) || fault.Line == 0 || fault.Fix == "") {
				t.Errorf("%s: %v, want %s", text, err, c.want)
			}
		}
	}
	_, err := ParseCostMatrix("m.csv", []byte("action,no,yes\na,0,1\na\u200b,1,0\n"))
	if fault := new(SpecError); !errors.As(err, &fault) || fault.Line != 3 || !strings.Contains(fault.Msg, "look the same") {
		t.Errorf("%v", err)
	}
}

// A text that is nested without end is refused, and does not end the program.
func TestSpecJSONNested(t *testing.T) {
	_, err := ParseSpecJSON([]byte(strings.Repeat("[", 10_000_000)))
	if err == nil || !strings.Contains(err.Error(), "nested more than 20 deep") {
		t.Errorf("%v", err)
	}
}

// A number is an outcome in whatever spelling, if there is one of it only.
func TestBindNumbers(t *testing.T) {
	s := parsedSpec(t, "outcomes: [2.0, 1.0]\ncosts: {x: {1.0: 0, 2.0: 5}, y: {1.0: 1, 2.0: 0}}\n")
	if err := s.Bind("1", "2"); err != nil {
		t.Fatal(err)
	}
	if one, err := s.Stakes(nil); err != nil || fmt.Sprint(one.Table) != "[[0 5] [1 0]]" || fmt.Sprint(s.Outcomes()) != "[1 2]" {
		t.Errorf("%v of %v, %v", one.Table, s.Outcomes(), err)
	}
	for _, text := range []string{
		"outcomes: [1, 1.0]\ncosts: {x: {1: 0, 1.0: 5}, y: {1: 1, 1.0: 0}}\n",
		"outcomes: [01x, 2]\ncosts: {x: {01x: 0, 2: 5}, y: {01x: 1, 2: 0}}\n",
	} {
		if err := parsedSpec(t, text).Bind("1", "2"); err == nil {
			t.Errorf("%s names the outcomes 1 and 2", text)
		}
	}
}

// A mistake that costs less than nothing is none, in a single case as in all of them; and actions
// that look the same are refused for those who ask.
func TestMistakesOfCases(t *testing.T) {
	s, err := ParseCosts("fn=amount,fp=1,tp=0-amount")
	if err != nil {
		t.Fatal(err)
	}
	for amount, fine := range map[float64]bool{5: true, 0: true, -5: false} {
		_, err := s.Cases(1, func(int, string) (float64, error) { return amount, nil })
		if table := new(TableError); fine != (err == nil) || !fine && (!errors.As(err, &table) || !strings.Contains(err.Error(), "amount is -5 in this case, a negative cost of a mistake")) {
			t.Errorf("amount %v: %v", amount, err)
		}
	}
	text := `{"outcomes":["good","bad"],"costs":{"ask":{"good":0,"bad":5},"` + "\u0430sk" + `":{"good":1,"bad":0}}}`
	alike, err := ParseSpecJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if fault := new(SpecError); !errors.As(alike.CheckActions(), &fault) || !strings.Contains(fault.Msg, "look the same") {
		t.Errorf("%v", alike.CheckActions())
	}
}
