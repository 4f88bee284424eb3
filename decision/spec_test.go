package decision

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lossep/lossep/expr"
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
	costs, err := s.Stakes(specRow(map[string]float64{"amount": 5}))
	if want := (Table{{0, 3}, {1, 0}, {0.3, 0.3}}); err != nil || !costs.Costs || !cmp.Equal(costs.Table, want) {
		t.Errorf("costs %v, %v", costs, err)
	}
}

// Names are what is written: nothing turns yes into true or 1 into a number.
func TestSpecSpelling(t *testing.T) {
	s := parsedSpec(t, "utilities:\n  1: {no: 1, yes: 0}\n  off: {yes: 1e0, no: .5}\noutcomes: [no, yes]\n")
	if !slices.Equal(s.Outcomes(), []string{"no", "yes"}) {
		t.Errorf("outcomes %q", s.Outcomes())
	}
	if got := s.Actions(); !slices.Equal(got, []string{"1", "off"}) {
		t.Errorf("actions %q", got)
	}
	stakes, err := s.Stakes(nil)
	if err != nil || !cmp.Equal(stakes, Stakes{Table: Table{{1, 0}, {0.5, 1}}}) {
		t.Errorf("%v, %v", stakes, err)
	}
}

// Entries are expressions, of any number of outcomes.
func TestSpecExpressions(t *testing.T) {
	s := parsedSpec(t, "outcomes: [home, ward, intensive]\ncosts:\n"+
		"  discharge: {home: 0, ward: amount * 0.5 + 10, intensive: '`length of stay` * (2 + amount)'}\n"+
		"  admit:\n    home: min(amount, 3)\n    ward: -amount\n    intensive: max(1, amount - 100)\n")
	got, err := s.Stakes(specRow(map[string]float64{"amount": 4, "length of stay": 2}))
	if want := (Table{{0, 12, 12}, {3, -4, 1}}); err != nil || !cmp.Equal(got.Table, want) {
		t.Errorf("%v, %v", got, err)
	}
	if err := s.Bind("intensive", "home", "ward"); err != nil {
		t.Fatal(err)
	}
	if got, err = s.Stakes(specRow(map[string]float64{"amount": 4, "length of stay": 2})); err != nil || !cmp.Equal(got.Table, Table{{12, 0, 12}, {1, 3, -4}}) {
		t.Errorf("bound: %v, %v", got, err)
	}
	if err := s.Bind("home", "ward"); err == nil || !strings.Contains(err.Error(), `the target has "home" and "ward"`) {
		t.Errorf("two of three outcomes: %v", err)
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
		{"a list", "- 1\n", "line 1, column 1: the utility is a list"},
		{"two documents", with(sound) + "---\na: 1\n", "more than one document"},
		{"unknown key", with(sound) + "celing: 6\n", `line 5, column 1: "celing" is unknown; use outcomes, costs or utilities, ceiling and effort`},
		{"key twice", with(sound) + "costs: {}\n", `line 5, column 1: the utility has "costs" twice`},
		{"costs and utilities", with(sound) + "utilities: {}\n", "line 5, column 1: costs and utilities are both given"},
		{"no outcomes", sound, "line 1, column 1: outcomes are missing; name them"},
		{"no table", "outcomes: [good, bad]\n", "there is no table; give costs"},
		{"one outcome", "outcomes: [a]\n" + sound, "line 1, column 11: outcomes are not a list of two names or more"},
		{"three outcomes", "outcomes: [good, bad, c]\n" + sound, `line 3, column 3: action "a" has no entry for outcome "c"`},
		{"same outcome", "outcomes: [a, a]\n" + sound, `line 1, column 15: two outcomes are called "a"`},
		{"nested outcome", "outcomes: [a, [b]]\n" + sound, "line 1, column 15: outcome 2 is a list; give a plain name"},
		{"unknown outcome", with("costs:\n  a: {good: 0, bda: 5}\n"), `line 3, column 16: action "a" has the unknown outcome "bda"; the outcomes are "good" and "bad"`},
		{"outcome missing", with("costs:\n  a: {good: 0}\n"), `line 3, column 3: action "a" has no entry for outcome "bad"`},
		{"outcome twice", with("costs:\n  a: {bad: 0, bad: 1}\n"), `line 3, column 15: action "a" has "bad" twice`},
		{"action twice", with(sound + "  a: {good: 0, bad: 5}\n"), `line 5, column 3: the table has "a" twice`},
		{"one action", with("costs:\n  a: {good: 0, bad: 5}\n"), "line 3, column 3: the number of actions is 1; give at least 2"},
		{"no action", with("costs: {}\n"), "line 2, column 8: the number of actions is 0"},
		{"table a number", with("costs: 5\n"), "line 2, column 8: the table is a number; give an object of names and values"},
		{"action a number", with("costs:\n  a: 5\n"), `line 3, column 6: action "a" is a number`},
		{"action without a name", with("costs:\n  '': 5\n"), "line 3, column 3: the table has a name that is empty"},
		{"entry empty", with("costs:\n  a: {good: , bad: 5}\n"), `action "a" under "good" is null`},
		{"entry a list", with("costs:\n  a: {good: [1], bad: 5}\n"), `line 3, column 13: action "a" under "good" is a list`},
		{"entry with a unit", with("costs:\n  a: {good: 5%, bad: 5}\n"), `action "a" under "good": "%" is not understood; write a number`},
		{"decimal comma", with("costs:\n  a:\n    good: 1,5\n    bad: 5\n"), `line 4, column 11: action "a" under "good": "," is out of place`},
		{"two words", with("costs:\n  a: {good: 2 * credit amount, bad: 5}\n"), "stands in backticks, such as `credit amount`"},
		{"backticks first", with("costs:\n  a: {good: `credit amount`, bad: 5}\n"), "an entry that begins with a backtick stands in quotes"},
		{"a comma", with("costs:\n  a: {good: min(2, x), bad: 5}\n"), "an entry with a comma stands in quotes"},
		{"entry a truth value", with("costs:\n  a: {good: true, bad: 5}\n"), `action "a" under "good" is a truth value`},
		{"product without column", with("costs:\n  a: {good: 2 *, bad: 5}\n"), `"2 *" ends too early`},
		{"YAML's infinite", with("costs:\n  a: {good: .inf, bad: 5}\n"), "neither a number"},
		{"overflow", with("costs:\n  a: {good: 1e999, bad: 5}\n"), "not a finite number"},
		{"too large", with("costs:\n  a: {good: 1e150 * 1e150, bad: 5}\n"), `"1e150 * 1e150" is not a number that can be compared`},
		{"division by zero", with("costs:\n  a: {good: 1 / 0, bad: 5}\n"), `"1 / 0" is not a number that can be compared`},
		{"alias", "outcomes: [good, bad]\ncosts:\n  a: &x {good: 0, bad: 5}\n  b: *x\n", "line 4, column 6: references (*name) are not read"},
		{"ceiling with utilities", with("utilities:\n  a: {good: 0, bad: 5}\n  b: {good: 1, bad: 0}\nceiling: 6\n"), "line 5, column 10: a ceiling turns costs into utilities"},
		{"ceiling a column", with(sound) + "ceiling: amount\n", `line 5, column 10: the ceiling "amount" is not a finite number`},
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
		{"fn=1e3,fp=`7`", Table{{0, 1000}, {70, 0}}}, // a column called 7
		{"fn=min(amount,5)*2,fp=max(amount, `7`)/7", Table{{0, 10}, {10, 0}}},
	} {
		s, err := ParseCosts(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got, err := s.Stakes(specRow(map[string]float64{"amount": 10, "7": 70}))
		if err != nil || !cmp.Equal(got.Table, c.want) {
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
		{"fn=0,5*fee,fp=10", `column 1: "fn=0,5*fee" has a decimal comma; write a decimal point`},
		{"fn=5,fp=2,5", `column 6: "fp=2,5" has a decimal comma`},
		{"fn=5,fq=1", `column 6: "fq" is unknown; use fn and fp`},
		{"fn=5,fn=1", "column 6: fn is given twice"},
		{"fn=0,fp=1", "column 1: fn: invalid cost 0; give a cost above 0"},
		{"fn=5,fp=-1", "column 6: fp: invalid cost -1"},
		{"fn=-1*amount,fp=1", "invalid cost -1 * amount"},
		{"fn=0*amount,fp=1", "invalid cost 0 * amount"},
		{"fn=,fp=1", "fn: nothing is given"},
		{"fn=5€,fp=1", `fn: "€" is not understood`},
		{"fn=1e999,fp=1", "not a finite number"},
		{"fn=\xff,fp=1", "not UTF-8"},
	} {
		_, err := ParseCosts(c.text)
		var wrong *SpecError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v lacks %q", c.text, err, c.want)
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
	a, err := s.Stakes(amount)
	if err != nil {
		t.Fatal(err)
	}
	b, err := turned.Stakes(amount)
	if err != nil {
		t.Fatal(err)
	}
	for p := 0.05; p < 1; p += 0.1 {
		if a.Best([]float64{1 - p, p}, -1) != b.Best([]float64{p, 1 - p}, -1) {
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
	accented := parsedSpec(t, strings.ReplaceAll(creditSpec, "bad", "cass\u00e9"))
	if err := accented.Bind("good", "casse\u0301"); err != nil || accented.Outcomes()[1] != "casse\u0301" {
		t.Errorf("an outcome that is composed otherwise: %v, %+q", err, accented.Outcomes())
	}
	if err := accented.Bind("cass\u00e9", "casse\u0301"); err == nil {
		t.Error("one outcome was taken for two that look the same")
	}

	unbound, err := ParseCosts("fn=5,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	if err := unbound.Bind("1", "2", "3"); err == nil || !strings.Contains(err.Error(), `for two outcomes that have names; the target has "1", "2" and "3"`) {
		t.Errorf("three outcomes: %v", err)
	}
	if _, err := json.Marshal(unbound); err == nil {
		t.Error("stored without outcomes")
	}
	if err := unbound.Bind("1", "2"); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(unbound.Outcomes(), []string{"1", "2"}) {
		t.Errorf("outcomes %q", unbound.Outcomes())
	}
	if err := unbound.Bind("0", "1"); err == nil {
		t.Error("bound twice, to different outcomes")
	}
}

// Costs of different cases share one ceiling: the utility lost by a mistake is then
// its cost, in whatever case it is made. Negative utilities are shifted likewise.
func TestSpecZero(t *testing.T) {
	cases := func(s *Spec, amounts ...float64) []Stakes {
		all, err := s.Cases(len(amounts), func(i int, _ string) (float64, error) { return amounts[i], nil })
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	costs, err := ParseCosts("fn=amount,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	all := cases(costs, 3, 8, 0, 0.5)
	zero, err := costs.Zero(all)
	if err != nil || zero != 8 {
		t.Fatalf("zero %v: %v", zero, err)
	}
	for i, v := range []float64{3, 8, 0, 0.5} {
		u, err := all[i].Utilities(zero)
		if want := (Table{{8, 8 - v}, {7, 8}}); err != nil || !cmp.Equal(u, want) {
			t.Errorf("amount %v: %v, %v", v, u, err)
		}
	}
	given := parsedSpec(t, creditSpec)
	if zero, err := given.Zero(cases(given, 5, 10)); err != nil || zero != 6 {
		t.Errorf("the ceiling given: %v, %v", zero, err)
	}
	if _, err := given.Zero(cases(given, 5, 11)); err == nil || !strings.Contains(err.Error(), "a case costs 6.6, more than the ceiling 6; raise the ceiling") {
		t.Errorf("above the ceiling: %v", err)
	}
	gains := parsedSpec(t, "outcomes: [n, y]\nutilities:\n  a: {n: 1, y: -2 * amount}\n  b: {n: 0, y: amount}\n")
	if zero, err := gains.Zero(cases(gains, 5, 10)); err != nil || zero != -20 {
		t.Errorf("utilities: %v, %v", zero, err)
	}
}

func TestSpecValues(t *testing.T) {
	s := parsedSpec(t, creditSpec)
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		var wrong *expr.ValueError
		if _, err := s.Stakes(specRow(map[string]float64{"amount": bad})); !errors.As(err, &wrong) || wrong.Expr != "amount" {
			t.Errorf("amount %v: %v", bad, err)
		}
	}
	if _, err := s.Stakes(specRow(nil)); err == nil || err.Error() != `no column "amount"` {
		t.Errorf("error of the values: %v", err)
	}
	var one *CaseError
	if _, err := s.Cases(3, func(i int, _ string) (float64, error) { return math.Log(float64(1 - i)), nil }); !errors.As(err, &one) || one.Case != 1 {
		t.Errorf("the second case is wrong: %v", err)
	}
	huge, err := ParseCosts("fn=1e150*amount,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	var large *TableError
	if _, err := huge.Stakes(specRow(map[string]float64{"amount": 1e100})); !errors.As(err, &large) {
		t.Errorf("overflow: %v", err)
	}
}

func TestCheckColumns(t *testing.T) {
	s, err := ParseCosts("fn=credit-limit,fp=fee")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ columns, want string }{
		{"credit,limit,fee", ""},
		{"credit,limit", ""}, // that there is no fee is said by whoever looks for it
		{"age,credit-limit", "there is no column \"credit\"; the column \"credit-limit\" is written `credit-limit`, in backticks"},
		{"credit,credit limit", "the column \"credit limit\" is written `credit limit`, in backticks"},
		{"credits-limits", ""},
	} {
		err := s.CheckColumns(strings.Split(c.columns, ","))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.columns, err)
		}
	}
}

// Where all entries are multiples of the same thing, they decide every case alike.
func TestRule(t *testing.T) {
	for _, c := range []struct {
		text, by string
		want     Table // nil if there is none
	}{
		{"fn=5,fp=1", "", Table{{0, 5}, {1, 0}}},
		{"fn=5*amount,fp=amount", "amount", Table{{0, 5}, {1, 0}}},
		{"fn=amount*5,fp=amount/2,tp=-amount", "amount", Table{{0, 5}, {0.5, -1}}},
		{"fn=5*min(amount,9),fp=min(amount, 9)", "min(amount, 9)", Table{{0, 5}, {1, 0}}},
		{"fn=5*amount,fp=1", "amount", nil},
		{"fn=5*amount,fp=other", "amount", nil},
		{"fn=5*amount,fp=amount+1", "amount", nil},
	} {
		s, err := ParseCosts(c.text)
		if err != nil {
			t.Fatal(err)
		}
		rule, by, ok := s.Rule()
		if ok != (c.want != nil) || ok && (by != c.by || !rule.Costs || !cmp.Equal(rule.Table, c.want)) {
			t.Errorf("%s: %v, %q, %v", c.text, rule, by, ok)
		}
		for amount := 0.5; ok && amount < 20; amount *= 2 {
			one, err := s.Stakes(specRow(map[string]float64{"amount": amount}))
			if err != nil {
				t.Fatal(err)
			}
			for p := 0.01; p < 1; p += 0.07 {
				odds := []float64{1 - p, p}
				if got, want := rule.Best(odds, -1), one.Best(odds, -1); got != want {
					t.Errorf("%s: at %v and %v the rule says %d and the costs %d", c.text, amount, p, got, want)
				}
			}
		}
	}
}

func TestEqualMistakes(t *testing.T) {
	s := EqualMistakes("a", "b", "c")
	got, err := s.Stakes(nil)
	if want := (Table{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}}); err != nil || !got.Costs || !cmp.Equal(got.Table, want) || !slices.Equal(s.Actions(), s.Outcomes()) {
		t.Errorf("%v, %v", got, err)
	}
	checkSpec(t, s)
}

func sameSpec(a, b *Spec) bool {
	ceiling := a.ceiling == b.ceiling || math.IsNaN(a.ceiling) && math.IsNaN(b.ceiling)
	return ceiling && slices.Equal(a.outcomes, b.outcomes) && a.costs == b.costs && slices.Equal(a.actions, b.actions) &&
		slices.Equal(a.TableLines(), b.TableLines())
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
	costs, err := ParseCosts("fn=0.1*amount,fp=1")
	if err == nil {
		err = costs.Bind("no", "yes")
	}
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range map[*Spec]string{
		parsedSpec(t, creditSpec): `{"outcomes":["good","bad"],"costs":{"accept":{"good":0,"bad":"0.6 * amount"},"refuse":{"good":1,"bad":0},"defer":{"good":0.3,"bad":0.3}},"ceiling":6}`,
		costs:                     `{"outcomes":["no","yes"],"costs":{"negative":{"no":0,"yes":"0.1 * amount"},"positive":{"no":1,"yes":0}}}`,
		parsedSpec(t, "outcomes: [n, y]\nutilities:\n  a: {n: -1, y: '-`x y`'}\n  b: {n: 2 * 3, y: 0}\n"): `{"outcomes":["n","y"],"utilities":{"a":{"n":-1,"y":"-` + "`x y`" + `"},"b":{"n":"2 * 3","y":0}}}`,
	} {
		if text := storedText(t, s); text != want {
			t.Errorf("stored as %s\nwant %s", text, want)
		}
		if back := storedAndLoaded(t, s); !sameSpec(s, back) {
			t.Errorf("%+v became %+v", s, back)
		}
	}
	before := Spec{outcomes: []string{"left", "alone"}}
	if err := json.Unmarshal([]byte(`{"outcomes":["a","b"]}`), &before); err == nil || before.outcomes[0] != "left" {
		t.Errorf("error %v, spec %+v", err, before)
	}
}

// The ranges are those of the best action on a grid, and they meet.
func TestRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entry := rapid.Map(rapid.IntRange(0, 8), func(i int) float64 { return float64(i) })
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) []float64 {
			return []float64{entry.Draw(t, "u0"), entry.Draw(t, "u1")}
		}), 2, 6).Draw(t, "table")
		table := Stakes{Table: rows, Costs: rapid.Bool().Draw(t, "costs")}
		ranges := table.Ranges()
		at := 0.0
		for _, r := range ranges {
			if r.From != at || !(r.To > r.From) {
				t.Fatalf("%v do not follow one another", ranges)
			}
			at = r.To
			// Best, and the only best but for equal rows, in the middle.
			p := []float64{1 - (r.From+r.To)/2, (r.From + r.To) / 2}
			for a := range rows {
				if table.sign()*(table.Expected(a, p)-table.Expected(r.Action, p)) > 1e-12 {
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
		ranges := Stakes{Table: table}.Ranges()
		if ranges[0].From != 0 || ranges[len(ranges)-1].To != 1 || len(ranges) > len(table) {
			t.Errorf("%v: %v", table, ranges)
		}
	}
}

func TestRuleLine(t *testing.T) {
	for _, c := range []struct{ table, want string }{
		{"{a: {n: 0, y: 5}, b: {n: 1, y: 0}}", "b if P(y) > 0.166667, else a"},
		{"{b: {n: 1, y: 0}, a: {n: 0, y: 5}}", "a if P(y) < 0.166667; b above 0.166667"},
		{"{a: {n: 0, y: 5}, b: {n: 1, y: 0}, c: {n: 0.25, y: 0.5}}", "a if P(y) < 0.0526316; c from 0.0526316 to 0.6; b above 0.6"},
		{"{a: {n: 0, y: 5}, b: {n: 1, y: 0}, c: {n: 1, y: 5}}", "a if P(y) < 0.166667; b above 0.166667; never c"},
		{"{a: {n: 0, y: 1}, b: {n: 1, y: 2}}", "always a: no other action is better at any P(y)"},
		{"{a: {n: 0, y: 5 * x}, b: {n: x, y: 0}}", "b if P(y) > 0.166667, else a; the same in every case with x > 0, as all entries are multiples of x"},
		{"{a: {n: 0, y: x}, b: {n: 1, y: 2}}", "the threshold of P(y) depends on x"},
	} {
		if got := parsedSpec(t, "outcomes: [n, y]\ncosts: "+c.table).RuleLine(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.table, got, c.want)
		}
	}
	several := parsedSpec(t, "outcomes: [n, y, z]\ncosts: {a: {n: 0, y: x, z: 3}, b: {n: 1, y: 2, z: 0}}").RuleLine()
	if want := "which probabilities lead to which action depends on x"; several != want {
		t.Errorf("of three outcomes: %s, want %s", several, want)
	}
}

// checkSpec holds for whatever was accepted.
func checkSpec(t *testing.T, s *Spec) {
	t.Helper()
	if s.Outcomes() == nil {
		if err := s.Bind("no", "yes"); err != nil {
			t.Fatal(err)
		}
	}
	if back := storedAndLoaded(t, s); !sameSpec(s, back) {
		t.Fatalf("%+v became %+v", s, back)
	}
	for _, line := range append(s.TableLines(), s.RuleLine()) {
		if strings.ContainsAny(line, "\n\r") {
			t.Fatalf("line %q", line)
		}
	}
	cases, err := s.Cases(2, func(int, string) (float64, error) { return 0.5, nil })
	if err != nil {
		if len(s.Columns()) == 0 {
			t.Fatalf("%+v: %v", s, err)
		}
		return
	}
	if zero, err := s.Zero(cases); err == nil {
		if _, err := cases[0].Utilities(zero); err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
	}
	p := make([]float64, len(s.Outcomes()))
	p[0] = 1
	if c := cases[0].Choose(make([]float64, len(s.Actions())), p); math.IsNaN(c.Margin) || math.IsInf(c.Margin, 0) {
		t.Fatalf("%+v: %+v", s, c)
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
	f.Add([]byte(`{"outcomes":["a","b","c"],"utilities":{"x":{"a":1,"b":"-y","c":0},"z":{"a":0,"b":-0.0,"c":"min(y, 1e3)"}}}`))
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
	// accept if P(bad) < 0.06; defer from 0.06 to 0.7; refuse above 0.7
	// loan.yaml, line 3, column 21: action "accept" has the unknown outcome "worse"; the outcomes are "good" and "bad"
}

// Costs that depend on the case.
func ExampleParseCosts() {
	spec, err := ParseCosts("fn=0.5*amount,fp=10")
	if err != nil {
		fmt.Println(err)
		return
	}
	amounts := []float64{100, 20}
	cases, err := spec.Cases(len(amounts), func(i int, column string) (float64, error) { return amounts[i], nil })
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, s := range cases {
		p, _, _ := s.Threshold()
		fmt.Printf("amount %g: costs %v, positive above P = %.3g\n", amounts[i], s.Table, p)
	}
	// Output:
	// amount 100: costs [[0 50] [10 0]], positive above P = 0.167
	// amount 20: costs [[0 10] [10 0]], positive above P = 0.5
}

// What the guide shows is what is read, and its two tables are the same.
func TestGuide(t *testing.T) {
	guide, err := os.ReadFile("../docs/guide/costs.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]string{}
	for _, b := range regexp.MustCompile("(?s)\n```(\\w*)\n(.*?)```").FindAllStringSubmatch(string(guide), -1) {
		blocks[b[1]] = b[2]
	}
	for _, line := range strings.Split(strings.TrimSpace(blocks[""]), "\n") {
		if _, err := ParseCosts(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	fromYAML := parsedSpec(t, strings.Replace(blocks["yaml"], "ceiling: 6000", "", 1))
	fromJSON, err := ParseSpecJSON([]byte(blocks["json"]))
	if err != nil || !sameSpec(fromYAML, fromJSON) {
		t.Errorf("%v, %v: %v", fromYAML, fromJSON, err)
	}
}
