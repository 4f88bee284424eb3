package decision

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const creditSpec = `# what a decision on a loan costs
outcomes: [good, bad]
costs:
  accept: {good: 0, bad: 0.6 * amount}
  refuse: {good: 1, bad: 0}
  defer:
    bad: 0.3
    good: 0.3
ceiling: 6
`

// specRow gives the columns of one case.
func specRow(values map[string]float64) func(string) (float64, error) {
	return func(column string) (float64, error) {
		v, ok := values[column]
		if !ok {
			return 0, fmt.Errorf("no column %q", column)
		}
		return v, nil
	}
}

func parsedSpec(t testing.TB, text string) *Spec {
	t.Helper()
	s, err := ParseSpec("costs.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParseSpec(t *testing.T) {
	s := parsedSpec(t, creditSpec)
	if got := s.Actions(); !slices.Equal(got, []string{"accept", "refuse", "defer"}) {
		t.Errorf("actions %q", got)
	}
	if got := s.Columns(); !slices.Equal(got, []string{"amount"}) {
		t.Errorf("columns %q", got)
	}
	if c, ok := s.Ceiling(); c != 6 || !ok || !s.Costs() {
		t.Errorf("ceiling %v %v, costs %v", c, ok, s.Costs())
	}
	costs, err := s.Entries(specRow(map[string]float64{"amount": 5}))
	if want := (Table{{0, 3}, {1, 0}, {0.3, 0.3}}); err != nil || !cmp.Equal(costs, want) {
		t.Errorf("costs %v, %v", costs, err)
	}
	utilities, err := s.Table(specRow(map[string]float64{"amount": 5}))
	if want := (Table{{6, 3}, {5, 6}, {5.7, 5.7}}); err != nil || !cmp.Equal(utilities, want) {
		t.Errorf("utilities %v, %v", utilities, err)
	}
}

// Names are what is written: nothing turns yes into true or 1 into a number.
func TestSpecSpelling(t *testing.T) {
	s := parsedSpec(t, "utilities:\n  1: {no: 1, yes: 0}\n  off: {yes: 1e0, no: .5}\noutcomes: [no, yes]\n")
	if negative, positive := s.Outcomes(); negative != "no" || positive != "yes" {
		t.Errorf("outcomes %q, %q", negative, positive)
	}
	if got := s.Actions(); !slices.Equal(got, []string{"1", "off"}) {
		t.Errorf("actions %q", got)
	}
	table, err := s.Table(nil)
	if err != nil || !cmp.Equal(table, Table{{1, 0}, {0.5, 1}}) {
		t.Errorf("%v, %v", table, err)
	}
}

func TestParseSpecRefuses(t *testing.T) {
	with := func(table string) string { return "outcomes: [good, bad]\n" + table }
	sound := "costs:\n  a: {good: 0, bad: 5}\n  b: {good: 1, bad: 0}\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "u.yaml, line 1, column 1: the file is empty"},
		{"comment only", "# nothing\n", "the file is empty"},
		{"not YAML", "outcomes: [good, bad\ncosts: {", "u.yaml, line 1: this is not YAML: did not find"},
		{"not YAML at once", "}", "u.yaml, line 1: this is not YAML"},
		{"not UTF-8", "outcomes: [good, bad]\ncosts:\n  \xe9t\xe9: 1\n", "u.yaml, line 3, column 3: the text is not UTF-8"},
		{"a list", "- 1\n", "line 1, column 1: the file is not a list of names"},
		{"two documents", with(sound) + "---\na: 1\n", "more than one document"},
		{"unknown key", with(sound) + "celing: 6\n", `line 5, column 1: "celing" is unknown; use outcomes, costs or utilities, and ceiling`},
		{"key twice", with(sound) + "costs: {}\n", `line 5, column 1: the file has "costs" twice`},
		{"costs and utilities", with(sound) + "utilities: {}\n", "line 5, column 1: costs and utilities are both given"},
		{"no outcomes", sound, "line 1, column 1: outcomes are missing; name the two"},
		{"no table", "outcomes: [good, bad]\n", "there is no table; give costs:"},
		{"three outcomes", "outcomes: [a, b, c]\n" + sound, "line 1, column 11: outcomes are not a list of two names"},
		{"same outcome", "outcomes: [a, a]\n" + sound, `line 1, column 15: both outcomes are called "a"`},
		{"nested outcome", "outcomes: [a, [b]]\n" + sound, "line 1, column 15: outcome 2 has no plain name"},
		{"unknown outcome", with("costs:\n  a: {good: 0, bda: 5}\n"), `line 3, column 16: action "a" has the unknown outcome "bda"; the outcomes are "good" and "bad"`},
		{"outcome missing", with("costs:\n  a: {good: 0}\n"), `line 3, column 3: action "a" has no entry for outcome "bad"`},
		{"outcome twice", with("costs:\n  a: {bad: 0, bad: 1}\n"), `line 3, column 15: action "a" has "bad" twice`},
		{"action twice", with(sound + "  a: {good: 0, bad: 5}\n"), `line 5, column 3: the table has "a" twice`},
		{"one action", with("costs:\n  a: {good: 0, bad: 5}\n"), "line 3, column 3: the number of actions is 1; give at least 2"},
		{"no action", with("costs: {}\n"), "line 2, column 8: the number of actions is 0"},
		{"table a number", with("costs: 5\n"), "line 2, column 8: the table is not a list of names with values"},
		{"action a number", with("costs:\n  a: 5\n"), `line 3, column 6: action "a" is not a list of names with values`},
		{"action without a name", with("costs:\n  '': 5\n"), "line 3, column 3: the table has an entry without a plain name"},
		{"entry empty", with("costs:\n  a: {good: , bad: 5}\n"), `action "a" under "good" is not a number or a column`},
		{"entry a list", with("costs:\n  a: {good: [1], bad: 5}\n"), `line 3, column 13: action "a" under "good" is not a number`},
		{"entry with a unit", with("costs:\n  a: {good: 5%, bad: 5}\n"), `"5%" is neither a number nor a column`},
		{"decimal comma", with("costs:\n  a:\n    good: 1,5\n    bad: 5\n"), `line 4, column 11: action "a" under "good": "1,5" is neither`},
		{"product turned round", with("costs:\n  a: {good: amount * 2, bad: 5}\n"), `"amount * 2" does not begin with a number`},
		{"product without column", with("costs:\n  a: {good: 2 *, bad: 5}\n"), `"2 *" names no column`},
		{"infinite", with("costs:\n  a: {good: inf, bad: 5}\n"), "not a finite number"},
		{"YAML's infinite", with("costs:\n  a: {good: .inf, bad: 5}\n"), "neither a number"},
		{"overflow", with("costs:\n  a: {good: 1e999, bad: 5}\n"), "not a finite number"},
		{"NaN", with("costs:\n  a: {good: NaN, bad: 5}\n"), "not a finite number"},
		{"negative utility", with("utilities:\n  a: {good: -1, bad: 5}\n"), `line 3, column 13: action "a" under "good": the utility -1 is negative`},
		{"negative share", with("utilities:\n  a: {good: -1 * x, bad: 5}\n"), "the utility -1 * x is negative"},
		{"alias", "outcomes: [good, bad]\ncosts:\n  a: &x {good: 0, bad: 5}\n  b: *x\n", "line 4, column 6: references (*name) are not read"},
		{"ceiling with utilities", with("utilities:\n  a: {good: 0, bad: 5}\n  b: {good: 1, bad: 0}\nceiling: 6\n"), "line 5, column 10: a ceiling turns costs into utilities"},
		{"ceiling a column", with(sound) + "ceiling: amount\n", `line 5, column 10: the ceiling "amount" is not a number`},
		{"ceiling too low", with(sound) + "ceiling: 4\n", `line 5, column 10: the ceiling 4 is below the cost 5 of action "a"`},
		{"ceiling infinite", with(sound) + "ceiling: 1e999\n", "not a finite number"},
		{"all zero", with("costs:\n  a: {good: 0, bad: 0}\n  b: {good: 0, bad: 0}\n"), "line 3, column 3: every entry is 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseSpec("u.yaml", []byte(c.text))
			var located *SpecError
			if !errors.As(err, &located) || located.File != "u.yaml" || located.Line < 1 {
				t.Fatalf("error %v", err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("message %q lacks %q", err, c.want)
			}
		})
	}
}

func TestParseCosts(t *testing.T) {
	for _, c := range []struct {
		text string
		want Table // with amount 10
	}{
		{"fn=5,fp=1", Table{{0, 5}, {1, 0}}},
		{" fp = 1 , fn = 5 ", Table{{0, 5}, {1, 0}}},
		{"fn=amount,fp=1", Table{{0, 10}, {1, 0}}},
		{"fn=0.5*amount,fp=1,tp=0.25,tn=-1", Table{{-1, 5}, {1, 0.25}}},
		{"fn=1e3,fp=1 * 7", Table{{0, 1000}, {70, 0}}}, // a column called 7
	} {
		s, err := ParseCosts(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got, err := s.Entries(specRow(map[string]float64{"amount": 10, "7": 70}))
		if err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("%s: %v, %v", c.text, got, err)
		}
		if !s.Costs() || !slices.Equal(s.Actions(), []string{"negative", "positive"}) {
			t.Errorf("%s: costs %v, actions %q", c.text, s.Costs(), s.Actions())
		}
	}
	for _, c := range []struct{ text, want string }{
		{"", `costs, column 1: "" has no =; write the costs of mistakes as in fn=5,fp=1`},
		{"5,1", "no ="},
		{"fn=5", "fp is missing"},
		{"fp=5", "fn is missing"},
		{"fn=5,fp=1,", `column 11: "" has no =`},
		{"fn=5,fq=1", `column 6: "fq" is unknown; use fn and fp`},
		{"fn=5,fn=1", "column 6: fn is given twice"},
		{"fn=0,fp=1", "column 1: fn: a mistake that costs 0 is none; give a cost above 0"},
		{"fn=5,fp=-1", "column 6: fp: a mistake that costs -1 is none"},
		{"fn=-1*amount,fp=1", "costs -1 * amount is none"},
		{"fn=0*amount,fp=1", "costs 0 is none"},
		{"fn=,fp=1", "fn: nothing is given"},
		{"fn=5€,fp=1", `fn: "5€" is neither a number nor a column`},
		{"fn=inf,fp=1", "not a finite number"},
		{"fn=\xff,fp=1", "not UTF-8"},
	} {
		_, err := ParseCosts(c.text)
		var wrong *SpecError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v lacks %q", c.text, err, c.want)
		}
	}
}

func TestBinaryCosts(t *testing.T) {
	s, err := BinaryCosts(5, 1)
	if err != nil {
		t.Fatal(err)
	}
	line, err := ParseCosts("fn=5,fp=1")
	if err != nil || !sameSpec(s, line) {
		t.Errorf("%+v and %+v, %v", s, line, err)
	}
	for _, bad := range [][2]float64{{0, 1}, {1, 0}, {-1, 1}, {1, math.NaN()}, {math.Inf(1), 1}} {
		if _, err := BinaryCosts(bad[0], bad[1]); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}

// It is the names that count: told the positive outcome is the other one, the table
// turns round, and the same action is best for the same beliefs.
func TestBind(t *testing.T) {
	s, turned := parsedSpec(t, creditSpec), parsedSpec(t, creditSpec)
	if err := s.Bind("good", "bad"); err != nil {
		t.Fatal(err)
	}
	if err := turned.Bind("bad", "good"); err != nil {
		t.Fatal(err)
	}
	amount := specRow(map[string]float64{"amount": 5})
	a, err := s.Table(amount)
	if err != nil {
		t.Fatal(err)
	}
	b, err := turned.Table(amount)
	if err != nil {
		t.Fatal(err)
	}
	for p := 0.05; p < 1; p += 0.1 {
		if a.Best(1-p, p, -1) != b.Best(p, 1-p, -1) {
			t.Errorf("P(bad) = %v: %v and turned %v", p, a, b)
		}
	}
	if !sameSpec(parsedSpec(t, creditSpec), s) {
		t.Error("binding in the order of the file changes it")
	}
	err = s.Bind("1", "2")
	if err == nil || !strings.Contains(err.Error(), `"good" and "bad"`) || !strings.Contains(err.Error(), `"1" and "2"`) {
		t.Errorf("unknown outcomes: %v", err)
	}
	if err := s.Bind("good", "good"); err == nil {
		t.Error("one outcome was taken for two")
	}

	unbound, err := ParseCosts("fn=5,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	if err := unbound.Bind("1", "2"); err != nil {
		t.Fatal(err)
	}
	if negative, positive := unbound.Outcomes(); negative != "1" || positive != "2" {
		t.Errorf("outcomes %q, %q", negative, positive)
	}
	if err := unbound.Bind("0", "1"); err == nil {
		t.Error("bound twice, to different outcomes")
	}
}

// Costs of different cases share one ceiling: the utility lost by a mistake is then
// its cost, in whatever case it is made.
func TestSpecCeiling(t *testing.T) {
	s, err := ParseCosts("fn=amount,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	var missing *CeilingError
	if _, err := s.Table(specRow(map[string]float64{"amount": 3})); !errors.As(err, &missing) || !slices.Equal(missing.Columns, []string{"amount"}) {
		t.Errorf("without a ceiling: %v", err)
	}
	amounts := []float64{3, 8, 0, 0.5}
	most := 0.0
	for _, v := range amounts {
		costs, err := s.Entries(specRow(map[string]float64{"amount": v}))
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, costs.Max())
	}
	if err := s.SetCeiling(most); err != nil || most != 8 {
		t.Fatalf("ceiling %v: %v", most, err)
	}
	for _, v := range amounts {
		u, err := s.Table(specRow(map[string]float64{"amount": v}))
		if want := (Table{{8, 8 - v}, {7, 8}}); err != nil || !cmp.Equal(u, want) {
			t.Errorf("amount %v: %v, %v", v, u, err)
		}
	}
	var dear *TableError
	if _, err := s.Table(specRow(map[string]float64{"amount": 9})); !errors.As(err, &dear) {
		t.Errorf("above the ceiling: %v", err)
	}
	for _, bad := range []float64{0.5, math.NaN(), math.Inf(1)} {
		if err := s.SetCeiling(bad); err == nil {
			t.Errorf("ceiling %v was taken", bad)
		}
	}
	if c, _ := s.Ceiling(); c != 8 {
		t.Errorf("a refused ceiling leaves %v", c)
	}
	utilities := parsedSpec(t, "outcomes: [n, y]\nutilities:\n  a: {n: 1, y: 0}\n  b: {n: 0, y: x}\n")
	if err := utilities.SetCeiling(3); err == nil {
		t.Error("utilities took a ceiling")
	}
}

func TestSpecValues(t *testing.T) {
	s := parsedSpec(t, creditSpec)
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		var wrong *ValueError
		if _, err := s.Table(specRow(map[string]float64{"amount": bad})); !errors.As(err, &wrong) || wrong.Column != "amount" {
			t.Errorf("amount %v: %v", bad, err)
		}
	}
	if _, err := s.Table(specRow(nil)); err == nil || err.Error() != `no column "amount"` {
		t.Errorf("error of the values: %v", err)
	}
	huge, err := ParseCosts("fn=1e300*amount,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	var large *TableError
	if _, err := huge.Entries(specRow(map[string]float64{"amount": 1e300})); !errors.As(err, &large) {
		t.Errorf("overflow: %v", err)
	}
}

// An entry reads back from what it prints, whatever its column is called.
func TestEntryText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := specEntry{factor: rapid.Float64().Draw(t, "factor")}
		e.column = strings.TrimSpace(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"5", "1e3", "a*b", "* x", "inf", "2 * x", "-", "amount", ".inf"})).Draw(t, "column"))
		if rapid.Bool().Draw(t, "one") {
			e.factor = 1
		}
		if msg, _ := e.fault(true); msg != "" {
			return
		}
		back, msg, _ := parseEntry(e.String())
		if msg != "" || back != e {
			t.Fatalf("%+v prints %q and reads %+v (%s)", e, e.String(), back, msg)
		}
	})
}

func sameSpec(a, b *Spec) bool {
	ceiling := a.ceiling == b.ceiling || math.IsNaN(a.ceiling) && math.IsNaN(b.ceiling)
	return ceiling && a.outcomes == b.outcomes && a.costs == b.costs && reflect.DeepEqual(a.actions, b.actions)
}

func storedAndLoaded(t testing.TB, s *Spec) *Spec {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back Spec
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return &back
}

func TestSpecStored(t *testing.T) {
	unbound, err := ParseCosts("fn=0.1*amount,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Spec{parsedSpec(t, creditSpec), unbound} {
		if back := storedAndLoaded(t, s); !sameSpec(s, back) {
			t.Errorf("%+v became %+v", s, back)
		}
	}
	sound, err := json.Marshal(parsedSpec(t, creditSpec))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"kind":            {`"costs"`, `"losses"`},
		"no kind":         {`"kind":"costs",`, ``},
		"unknown field":   {`"kind"`, `"x":1,"kind"`},
		"outcomes":        {`["good","bad"]`, `["good"]`},
		"outcome empty":   {`["good","bad"]`, `["good",""]`},
		"outcomes empty":  {`["good","bad"]`, `["",""]`},
		"same outcomes":   {`["good","bad"]`, `["bad","bad"]`},
		"same actions":    {`"defer"`, `"accept"`},
		"action empty":    {`"defer"`, `""`},
		"entry null":      {`{"number":1}`, `null`},
		"entry no number": {`"number":0.6,`, ``},
		"zero share":      {`0.6`, `0`},
		"third entry":     {`[{"number":1}`, `[{"number":1},{"number":1}`},
		"blank in column": {`"amount"`, `" amount"`},
		"ceiling too low": {`"ceiling":6`, `"ceiling":0.5`},
		"utilities":       {`"costs"`, `"utilities"`}, // with a ceiling
		"broken":          {`}]}`, `}`},
	} {
		text := strings.Replace(string(sound), change[0], change[1], 1)
		if text == string(sound) {
			t.Fatalf("%s: nothing changed in %s", name, sound)
		}
		before := Spec{outcomes: [2]string{"left", "alone"}}
		if err := json.Unmarshal([]byte(text), &before); err == nil || before.outcomes[0] != "left" {
			t.Errorf("%s: error %v, spec %+v", name, err, before)
		}
	}
	var s Spec
	if err := s.UnmarshalJSON(append(slices.Clone(sound), '{', '}')); err == nil {
		t.Error("a second object was overlooked")
	}
}

// The ranges are those of the best action on a grid, and they meet.
func TestRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entry := rapid.Map(rapid.IntRange(0, 8), func(i int) float64 { return float64(i) })
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]float64 {
			return [2]float64{entry.Draw(t, "u0"), entry.Draw(t, "u1")}
		}), 2, 6).Draw(t, "table")
		table := Table(rows)
		ranges := table.Ranges()
		at := 0.0
		for _, r := range ranges {
			if r.From != at || !(r.To > r.From) {
				t.Fatalf("%v do not follow one another", ranges)
			}
			at = r.To
			// Best, and the only best but for equal rows, in the middle.
			p := (r.From + r.To) / 2
			for a := range table {
				if table.ExpectedUtility(a, 1-p, p) > table.ExpectedUtility(r.Action, 1-p, p)+1e-12 {
					t.Fatalf("%v: at %v action %d is better", ranges, p, a)
				}
			}
		}
		if at != 1 {
			t.Fatalf("%v end at %v", ranges, at)
		}
		if p, _, ok := table.Threshold(); ok && (len(ranges) != 2 || math.Abs(ranges[0].To-p) > 1e-15) {
			t.Fatalf("%v beside the threshold %v", ranges, p)
		}
	})
}

// Nearly parallel lines and the largest numbers neither loop nor overflow.
func TestRangesExtremes(t *testing.T) {
	most := math.MaxFloat64
	for _, table := range []Table{
		{{most, 0}, {0, most}},
		{{most, 0}, {most, most}, {0, most}},
		{{1, 1}, {1, 1}},
		{{1, 1}, {math.Nextafter(1, 0), math.Nextafter(1, 2)}, {math.Nextafter(1, 0), 1}},
		{{5e-324, 0}, {0, 5e-324}},
	} {
		ranges := table.Ranges()
		if ranges[0].From != 0 || ranges[len(ranges)-1].To != 1 || len(ranges) > len(table) {
			t.Errorf("%v: %v", table, ranges)
		}
	}
}

func TestRuleLine(t *testing.T) {
	for _, c := range []struct{ table, want string }{
		{"{a: {n: 0, y: 5}, b: {n: 1, y: 0}}", "b where P(y) is above 0.166667, else a (threshold -0.967422 on the standardised latent mean)"},
		{"{b: {n: 1, y: 0}, a: {n: 0, y: 5}}", "a where P(y) is below 0.166667; b above 0.166667"},
		{"{a: {n: 0, y: 5}, b: {n: 1, y: 0}, c: {n: 0.25, y: 0.5}}", "a where P(y) is below 0.0526316; c from 0.0526316 to 0.6; b above 0.6"},
		{"{a: {n: 0, y: 5}, b: {n: 1, y: 0}, c: {n: 1, y: 5}}", "a where P(y) is below 0.166667; b above 0.166667; never c"},
		{"{a: {n: 0, y: 1}, b: {n: 1, y: 2}}", "always a: no other action is better at any P(y)"},
		{"{a: {n: 0, y: x}, b: {n: 1, y: 2}}", "which P(y) leads to which action differs from case to case with x"},
	} {
		if got := parsedSpec(t, "outcomes: [n, y]\ncosts: "+c.table).RuleLine(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.table, got, c.want)
		}
	}
}

// checkSpec holds for whatever was accepted.
func checkSpec(t *testing.T, s *Spec) {
	t.Helper()
	if back := storedAndLoaded(t, s); !sameSpec(s, back) {
		t.Fatalf("%+v became %+v", s, back)
	}
	for _, line := range append(s.TableLines(), s.RuleLine()) {
		if strings.ContainsAny(line, "\n\r") {
			t.Fatalf("line %q", line)
		}
	}
	table, err := s.Table(func(string) (float64, error) { return 0.5, nil })
	if err == nil {
		err = table.Check()
	}
	if len(s.Columns()) == 0 && err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
}

func FuzzParseSpec(f *testing.F) {
	f.Add([]byte(creditSpec))
	f.Add([]byte("{outcomes: [a, b], utilities: {x: {a: 1, b: 0}, y: {a: 0, b: -0}}}"))
	f.Add([]byte("outcomes: &o [a, b]\ncosts: *o\n"))
	f.Add([]byte("? [a]\n: b\n"))
	f.Add([]byte("%YAML 1.1\n---\n!!set {a}\n...\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseSpec("fuzz.yaml", text)
		if err != nil {
			var located *SpecError
			if !errors.As(err, &located) || located.Line < 1 {
				t.Fatalf("error %v is not located", err)
			}
			return
		}
		checkSpec(t, s)
	})
}

func FuzzSpecJSON(f *testing.F) {
	sound, err := json.Marshal(parsedSpec(f, creditSpec))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sound)
	f.Add([]byte(`{"kind":"utilities","actions":[{"name":"a","entries":[{"number":1},{"number":0}]},{"name":"b","entries":[{"number":0},{"number":1,"column":"x"}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var s Spec
		if err := s.UnmarshalJSON(text); err != nil {
			return
		}
		checkSpec(t, &s)
	})
}

func FuzzParseCosts(f *testing.F) {
	f.Add("fn=5,fp=1")
	f.Add("fn=0.5 * amount,fp=1,tp=-1,tn=2*x")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := ParseCosts(text); err == nil {
			checkSpec(t, s)
		}
	})
}

func ExampleParseSpec() {
	spec, err := ParseSpec("loan.yaml", []byte(`
outcomes: [good, bad]
costs:
  accept: {good: 0, bad: 5}
  refuse: {good: 1, bad: 0}
  defer:  {good: 0.3, bad: 0.3}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range spec.TableLines() {
		fmt.Println(line)
	}
	fmt.Println(spec.RuleLine())

	_, err = ParseSpec("loan.yaml", []byte("outcomes: [good, bad]\ncosts:\n  accept: {good: 0, worse: 5}\n"))
	fmt.Println(err)
	// Output:
	// costs   good  bad
	// accept  0     5
	// refuse  1     0
	// defer   0.3   0.3
	// accept where P(bad) is below 0.06; defer from 0.06 to 0.7; refuse above 0.7
	// loan.yaml, line 3, column 21: action "accept" has the unknown outcome "worse"; the outcomes are "good" and "bad"
}

// Costs that depend on the case: first the ceiling common to all, then utilities.
func ExampleParseCosts() {
	spec, err := ParseCosts("fn=0.5*amount,fp=10")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := spec.Bind("repaid", "lost"); err != nil {
		fmt.Println(err)
		return
	}
	amounts := []float64{100, 20}
	ceiling := 0.0
	for _, amount := range amounts {
		costs, err := spec.Entries(func(string) (float64, error) { return amount, nil })
		if err != nil {
			fmt.Println(err)
			return
		}
		ceiling = max(ceiling, costs.Max())
	}
	if err := spec.SetCeiling(ceiling); err != nil {
		fmt.Println(err)
		return
	}
	for _, amount := range amounts {
		table, err := spec.Table(func(string) (float64, error) { return amount, nil })
		if err != nil {
			fmt.Println(err)
			return
		}
		p, _, _ := table.Threshold()
		fmt.Printf("amount %g: utilities %v, positive above P(lost) = %.3g\n", amount, table, p)
	}
	// Output:
	// amount 100: utilities [[50 0] [40 50]], positive above P(lost) = 0.167
	// amount 20: utilities [[50 40] [40 50]], positive above P(lost) = 0.5
}
