package recipe

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lossep/lossep/table"
)

// An outcome that a single row has beside a usual pair is ambiguous where it is the outcome of
// a line of totals, and is a rare outcome elsewhere, in parts of the table as well.
func TestTotalsInTheOutcome(t *testing.T) {
	word := func(i int) string { return []string{"north", "south"}[i%2] }
	few := func(i int) string { return fmt.Sprint((i + 1) / 15 % 2) } // half of the rows
	rows := manyRows(30, "a,b,c", amount, word, few)
	sum := 0.0
	for i := range 30 {
		x, _ := table.Number(amount(i))
		sum += x
	}
	for _, c := range []struct {
		table  string
		totals bool
	}{
		{rows + "3,north,1,2\n", false},
		{rows + "3,north,0,9\n", false},
		{rows + "3,north,0,maybe\n", false},
		{rows + "3,a total loss in north,0,2\n", false},
		{strings.Replace(rows, "\n0.0,north,0,0", "\n0.0,north,0,15", 1), false}, // a sum, but on top
		{rows + "3,north,1,15\n", true},                                          // the sum of outcomes
		{rows + "3,north,1,30\n", true},                                          // their number
		{rows + "3,north,1,0.50\n", true},                                        // their mean
		{rows + "3,Grand total,1,2\n", true},
		{rows + "3,SUMME:,1,2\n", true},
		{rows + fmt.Sprintf("%.1f,north,1,2\n", sum), true},
		{strings.NewReplacer(",0\n", ",no\n", ",1\n", ",yes\n").Replace(rows) + "3,north,1,21\n", true},
		{strings.NewReplacer(",0\n", ",no\n", ",1\n", ",yes\n").Replace(rows) + "3,north,1,unknown\n", false},
	} {
		data := mustRead(t, c.table, table.HeaderYes)
		l, err := Learn(data, Options{})
		located, _ := err.(*table.Error)
		if asked := located != nil && strings.Contains(located.Msg, "is it a line of totals?"); asked != c.totals || (err != nil) != c.totals {
			t.Errorf("%q: %v, want to be asked %t", c.table[len(c.table)-30:], err, c.totals)
		}
		if c.totals {
			continue
		}
		if l == nil || len(l.Recipe.Target.Outcomes) != 3 {
			t.Fatalf("%q: %v", c.table[len(c.table)-30:], l)
		}
		all := make([]int, data.Len()-5)
		for i := range all {
			all[i] = i + 5
		}
		if _, err := Learn(data.Subset(all), Options{}); err != nil {
			t.Errorf("a part of %q: %v", c.table[len(c.table)-30:], err)
		}
	}
}

// A line of totals is ambiguous whatever the options say of the pair, and can be left out,
// then and in new rows. What comes twice in the table is an outcome, also in a part that has one
// of them.
func TestOddOutcome(t *testing.T) {
	text := manyRows(30, "a", amount) + "99,30\n"
	data := mustRead(t, text, table.HeaderYes)
	for _, o := range []Options{{}, {Positive: "1"}} {
		_, err := Learn(data, o)
		located, ok := err.(*table.Error)
		if !ok || located.Line != 32 || len(located.Ways) != 1 || located.Ways[0] != (table.Way{Option: table.WaySkip, Value: "last"}) || !strings.Contains(located.Msg, `"30" is the outcome of this row alone`) {
			t.Fatal(err)
		}
	}
	o := Options{Markers: []string{"y=30"}}
	known, err := Labelled(data, o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Learn(known, o)
	if err != nil || !l.Recipe.Target.Binary() || l.Recipe.Rows != 30 {
		t.Fatal(err)
	}
	rows, err := NewReader(context.Background(), strings.NewReader("a,y\n1,30.0\n2,1\n3,7\n"), "new.csv", l.Recipe, table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	block, err := rows.ReadBlock(3)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"false <nil>", "true <nil>", "false new.csv, line 4"} {
		_, ok, err := block.Rows[i].Label()
		if got := fmt.Sprint(ok, " ", err); !strings.HasPrefix(got, want) {
			t.Errorf("row %d: %s, want %s", i, got, want)
		}
	}
	data = mustRead(t, text+"98,30\n", table.HeaderYes)
	all := make([]int, 31)
	for i := range all {
		all[i] = i
	}
	if _, err := Learn(data.Subset(all), Options{}); err != nil {
		t.Error(err)
	}
}

// A rare outcome that is one slip away from a frequent one is reported as what it may be, where it is
// taken for an outcome and where that is refused. Grades are no slips.
func TestMisspelledOutcome(t *testing.T) {
	for _, c := range []struct {
		odd  string
		rows int
		like string
	}{
		{"nien", 2, "nein"},
		{"neinn", 2, "nein"},
		{"nin", 2, "nein"},
		{"Mein", 2, "nein"},
		{"jaa", 2, "ja"},
		{"n", 2, "nein"},
		{"nie", 2, ""},
		{"nein2", 2, ""},
		{"ja-", 2, ""},
		{"j", 2, "ja"},
		{"jo", 2, ""},
		{"nien", 4, ""},
		{"vielleicht", 2, ""},
	} {
		text := "a,y\n"
		for i := range 70 + c.rows {
			outcome := c.odd
			if i >= c.rows {
				outcome = []string{"ja", "nein"}[i%2]
			}
			text += fmt.Sprintf("%d,%s\n", i*i%37, outcome)
		}
		table := mustRead(t, text, table.HeaderYes)
		want := fmt.Sprintf("outcome %q, which %d rows have, is spelled almost like %q, which 35 rows have: if they are the same, correct these cells", c.odd, c.rows, c.like)
		l, err := Learn(table, Options{})
		if err != nil {
			t.Fatal(c.odd, err)
		}
		if slices.Contains(l.Recipe.Target.Rare(), want) != (c.like != "") {
			t.Errorf("%s: %q", c.odd, l.Recipe.Target.Rare())
		}
		if _, err := Learn(table, Options{Positive: "ja"}); err == nil || strings.Contains(err.Error(), want) != (c.like != "") {
			t.Errorf("%s: %v", c.odd, err)
		}
	}
}

// Outcomes of more than two values keep their order, as numbers where they are numbers, and
// are compared by value.
func TestSeveralOutcomes(t *testing.T) {
	for text, want := range map[string]struct {
		outcomes []string
		labels   []int
	}{
		"a,y\n1,ward\n2,home\n3,icu\n4,home\n":        {[]string{"home", "icu", "ward"}, []int{2, 0, 1, 0}},
		"a,y\n1,10\n2,9\n3,1\n4,9.0\n5,10\n":          {[]string{"1", "9", "10"}, []int{2, 1, 0, 1, 2}},
		"a,y\n1,2\n2,low\n3,high\n4,2.0\n5,\"low\"\n": {[]string{"2", "high", "low"}, []int{0, 2, 1, 0, 2}},
	} {
		data, err := table.Read(context.Background(), strings.NewReader(text), "train.csv", table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		l, err := Learn(data, Options{})
		if err != nil {
			t.Fatal(err)
		}
		target := l.Recipe.Target
		if !slices.Equal(target.Outcomes, want.outcomes) || !slices.Equal(l.Labels, want.labels) {
			t.Errorf("outcomes %q, labels %v", target.Outcomes, l.Labels)
		}
		again, err := l.Recipe.Labels(data)
		if err != nil || !slices.Equal(again, want.labels) {
			t.Errorf("labels %v, %v", again, err)
		}
		var kept Recipe
		written, err := json.Marshal(l.Recipe)
		if err == nil {
			err = json.Unmarshal(written, &kept)
		}
		if err != nil || !cmp.Equal(kept, *l.Recipe, cmp.AllowUnexported(Recipe{})) {
			t.Errorf("read back: %v\n%s", err, cmp.Diff(kept, *l.Recipe))
		}
		rows, err := NewReader(context.Background(), strings.NewReader(text), "new.csv", l.Recipe, table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		block, err := rows.ReadBlock(10)
		if err != nil {
			t.Fatal(err)
		}
		for i := range block.Rows {
			if y, ok, err := block.Rows[i].Label(); y != want.labels[i] || !ok || err != nil {
				t.Errorf("row %d: %v, %v, %v", i, y, ok, err)
			}
		}
	}
}

// A part of the rows may lack an outcome, which is still one.
func TestSeveralOutcomesOfAFold(t *testing.T) {
	const head = "a,y\n"
	whole, err := table.Read(context.Background(), strings.NewReader(head+"1,x\n2,y\n3,z\n4,x\n5,z\n"), "train.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := Learn(whole, Options{})
	if err != nil {
		t.Fatal(err)
	}
	part, err := table.Read(context.Background(), strings.NewReader(head+"1,x\n3,z\n4,x\n5,z\n"), "train.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Recipe.Refit(part)
	if err != nil || !slices.Equal(r.Target.Rows, []int{2, 0, 2}) {
		t.Errorf("%v, %v", r, err)
	}
}

func TestBadOutcomes(t *testing.T) {
	for name, target := range map[string]Target{
		"one":        {Column: "y", Outcomes: []string{"a"}, Rows: []int{3}},
		"two in one": {Column: "y", Outcomes: []string{"a", "b"}, Rows: []int{3, 0}},
		"twice":      {Column: "y", Outcomes: []string{"a", "b", "a"}, Rows: []int{1, 1, 1}},
		"no counts":  {Column: "y", Outcomes: []string{"a", "b", "c"}},
		"more rows":  {Column: "y", Outcomes: []string{"a", "b", "c"}, Rows: []int{2, 1, 1}},
		"fewer rows": {Column: "y", Outcomes: []string{"a", "b", "c"}, Rows: []int{1, 1, 0}},
		"negative":   {Column: "y", Outcomes: []string{"a", "b", "c"}, Rows: []int{5, -1, -1}},
		"condition":  {Column: "y", Outcomes: []string{"a", "b", "c"}, Rows: []int{1, 1, 1}, Condition: true},
	} {
		if target.badOutcomes(3) == "" {
			t.Errorf("%s: no problem", name)
		}
	}
}

// An outcome of few rows gives a warning, be it one of two or of more.
func TestRareOutcomes(t *testing.T) {
	for _, c := range []struct {
		counts []int // of a, b, c
		want   []string
	}{
		{[]int{12, 3}, []string{`only 3 rows of class "b": estimates are unreliable`}},
		{[]int{1, 12}, []string{`only 1 row of class "a": estimates are unreliable`}},
		{[]int{10, 12}, nil},
		{[]int{12, 2, 30}, []string{`only 2 rows of class "b": estimates are unreliable`}},
	} {
		text := "x,y\n"
		for y, n := range c.counts {
			for i := range n {
				text += fmt.Sprintf("%d,%c\n", i*(y+1), 'a'+y)
			}
		}
		table, err := table.Read(context.Background(), strings.NewReader(text), "train.csv", table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		o := Options{}
		if len(c.counts) == 2 {
			o.Positive = "b"
		}
		l, err := Learn(table, o)
		if err != nil {
			t.Fatal(err)
		}
		notes := slices.DeleteFunc(l.Recipe.Target.Rare(), func(note string) bool { return !strings.Contains(note, "estimates are unreliable") })
		if !slices.EqualFunc(notes, c.want, strings.HasPrefix) {
			t.Errorf("%v: %q, want %q", c.counts, notes, c.want)
		}
	}
}

// More values than there may be outcomes are not compared with each other in search of
// misspellings: of a column of numbers or names, given with a positive one, that took hours.
func TestManyOutcomesAreNotCompared(t *testing.T) {
	for others, want := range map[int]bool{MostOutcomes - 2: true, MostOutcomes - 1: false} {
		text := "a,y\n1,nien\n" + strings.Repeat("2,nein\n", 20)
		for i := range others {
			text += fmt.Sprintf("3,name %d\n", i)
		}
		_, err := Learn(mustRead(t, text, table.HeaderYes), Options{Positive: "nein"})
		if err == nil || strings.Contains(err.Error(), "almost like") != want {
			t.Errorf("with %d others: %v", others, err)
		}
	}
}
