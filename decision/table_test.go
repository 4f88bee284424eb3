package decision_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/normal"
)

// paper is a table like the paper's, with u10 = 0.5.
var paper = decision.Table{{1, 0}, {0.5, 1}}

func TestCheck(t *testing.T) {
	for _, good := range []decision.Table{paper, {{0, 0}, {5e-324, 1e-200}}, {{1, 1}, {1, 1}}, {{1, 0}, {0, 1}, {0.7, 0.7}}} {
		if err := good.Check(2); err != nil {
			t.Errorf("%v: %v", good, err)
		}
	}
	for _, bad := range []struct {
		table           decision.Table
		action, outcome int
		says            string
	}{
		{nil, -1, -1, "has 0"},
		{decision.Table{{1, 0}}, -1, -1, "has 1"},
		{decision.Table{{1, 0}, {0.5, -1}}, 1, 1, "row 2, column 2: -1 is negative"},
		{decision.Table{{math.NaN(), 0}, {0, 1}}, 0, 0, "row 1, column 1: NaN"},
		{decision.Table{{1, 0}, {math.Inf(1), 1}}, 1, 0, "row 2, column 1: +Inf"},
		{decision.Table{{0, 0}, {0, 0}}, -1, -1, "every entry is 0"},
		{decision.Table{{5e-324, 0}, {0, 5e-324}}, -1, -1, "the largest entry is 5e-324; only ratios matter, so multiply"},
	} {
		checkTableError(t, bad.table.Check(2), bad.action, bad.outcome, bad.says)
	}
}

func TestShape(t *testing.T) {
	checkTableError(t, decision.Table{{1, 0}, {0.5, 1, 2}}.Check(2), 1, -1, "2 outcomes and has 3")
	checkTableError(t, decision.Table{{}, {0.5, 1}}.Check(2), 0, -1, "2 outcomes and has 0")
	checkTableError(t, decision.Table{{1, 0}, {0.5, 1}}.Check(3), 0, -1, "3 outcomes and has 2")
	if err := (decision.Table{{1, 0, 2}, {0.5, 1, 0}}).Check(3); err != nil {
		t.Error(err)
	}
	// Where actions differ by rounding only there is nothing to decide.
	for _, same := range [][][]float64{{{1, 2}, {1, 2}}, {{1, 2}, {1, 2 + 0x1p-51}, {1, 2}}} {
		_, err := decision.NewTable(2, same)
		checkTableError(t, err, -1, -1, "all actions have the same entries")
	}
}

// Rules and ranges are those of the ratios, however small or large the entries are.
func TestRulesOfTinyAndHugeTables(t *testing.T) {
	for e := -1074; e <= 1021; e++ {
		scale := math.Ldexp(1, e)
		// Twice and three times a power of two are numbers down to the smallest.
		table := decision.Table{{3 * scale, 0}, {scale, 2 * scale}, {2 * scale, scale}}
		for _, r := range worth(table).Ranges() {
			if !(r.From >= 0 && r.To > r.From && r.To <= 1) {
				t.Fatalf("2^%d: %v", e, worth(table).Ranges())
			}
		}
		two := worth(table[:2])
		if p, b, ok := two.Threshold(); !ok || p != 0.5 || b != 0 {
			t.Fatalf("2^%d: %v %v %v", e, p, b, ok)
		}
		if got := two.Ranges(); len(got) != 2 || got[0].To != 0.5 {
			t.Fatalf("2^%d: %v", e, got)
		}
	}
	// A gain that is nothing beside the other divides no probabilities.
	if p, b, ok := worth(decision.Table{{5e-324, 0}, {0, 1e308}}).Threshold(); ok {
		t.Errorf("threshold %v, %v", p, b)
	}
}

// worth are stakes of utilities, and odds the probabilities of two outcomes.
func worth(t decision.Table) decision.Stakes { return decision.Stakes{Table: t} }

func odds(p float64) []float64 { return []float64{1 - p, p} }

func checkTableError(t *testing.T, err error, action, outcome int, says string) {
	t.Helper()
	var e *decision.TableError
	if !errors.As(err, &e) {
		t.Errorf("error %v, want a TableError saying %q", err, says)
		return
	}
	if e.Action != action || e.Outcome != outcome || !strings.Contains(e.Error(), says) {
		t.Errorf("error %q at (%d, %d), want (%d, %d) and %q", e, e.Action, e.Outcome, action, outcome, says)
	}
}

// Utilities are what costs leave of the largest, or how far utilities are above the
// lowest if that is negative.
func TestUtilities(t *testing.T) {
	costs := decision.Stakes{Table: decision.Table{{0, 10}, {1, 0}}, Costs: true}
	for _, c := range []struct {
		stakes     decision.Stakes
		zero, with float64
		want       decision.Table
	}{
		{costs, 10, 10, decision.Table{{10, 0}, {9, 10}}},
		{costs, 10, 12, decision.Table{{12, 2}, {11, 12}}},
		{decision.Stakes{Table: decision.Table{{-5, 0}, {-1, -1}}, Costs: true}, 0, 0, decision.Table{{5, 0}, {1, 1}}}, // gains
		{worth(decision.Table{{-5, 2}, {1, 0}}), -5, -5, decision.Table{{0, 7}, {6, 5}}},
		{worth(decision.Table{{5, 2}, {1, 3}}), 0, 0, decision.Table{{5, 2}, {1, 3}}},
		{worth(decision.Table{{5, 2, 0}, {1, 3, -1}}), -1, -1, decision.Table{{6, 3, 1}, {2, 4, 0}}},
	} {
		got, err := c.stakes.Utilities(c.with)
		if zero := c.stakes.Zero(); zero != c.zero || err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("%v: zero %v, utilities %v, %v", c.stakes, zero, got, err)
		}
	}
	_, err := costs.Utilities(9.99)
	checkTableError(t, err, 0, 1, "negative")
	_, err = decision.Stakes{Table: decision.Table{{0, math.NaN()}, {1, 0}}, Costs: true}.Utilities(0)
	checkTableError(t, err, 0, 1, "NaN")
	_, err = costs.Utilities(math.Inf(1))
	checkTableError(t, err, 0, 0, "+Inf")
}

// drawTable draws a table of the given number of actions: round numbers, so that
// ties occur, or numbers of any size.
func drawTable(t *rapid.T, actions int) decision.Table { return drawTableOf(t, actions, 2) }

func drawTableOf(t *rapid.T, actions, outcomes int) decision.Table {
	entry := rapid.OneOf(
		rapid.Map(rapid.IntRange(0, 8), func(i int) float64 { return float64(i) / 8 }),
		rapid.Map(rapid.Float64Range(-6, 6), func(x float64) float64 { return math.Pow(10, x) }),
	)
	table := make(decision.Table, actions)
	for a := range table {
		for range outcomes {
			table[a] = append(table[a], entry.Draw(t, "u[a][c]"))
		}
	}
	if table.Check(outcomes) != nil {
		table[0][0] = 1
	}
	return table
}

// TestCostsAreUtilities: costs, what they leave of a ceiling and utilities with another
// zero lead to the same action, threshold, ranges and margin, but for rounding.
func TestCostsAreUtilities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		costs := decision.Stakes{Table: drawTable(t, rapid.IntRange(2, 4).Draw(t, "actions")), Costs: true}
		most := costs.Zero()
		table, err := costs.Utilities(2 * most)
		if err != nil {
			t.Fatal(err)
		}
		p := odds(rapid.Float64Range(0, 1).Draw(t, "p"))
		dst := make([]float64, len(table))
		a, b := costs.Choose(slices.Clone(dst), p), worth(table).Choose(dst, p)
		bound := 1e-14 * most // the rounding of the larger utilities
		if gap := a.Expected[b.Action] - a.Expected[a.Action]; gap > bound {
			t.Errorf("costs choose %d and utilities %d, which costs %v more", a.Action, b.Action, gap)
		}
		if math.Abs(a.Margin-b.Margin) > bound {
			t.Errorf("margins %v and %v", a.Margin, b.Margin)
		}
		for i, x := range a.Expected {
			if math.Abs(2*most-x-b.Expected[i]) > bound {
				t.Errorf("a cost of %v leaves %v of %v", x, b.Expected[i], 2*most)
			}
		}
		negated := make(decision.Table, len(table))
		for i, row := range costs.Table {
			negated[i] = []float64{-row[0], -row[1]}
		}
		if !slices.Equal(costs.Ranges(), worth(negated).Ranges()) {
			t.Errorf("ranges %v and %v", costs.Ranges(), worth(negated).Ranges())
		}
	})
}

// TestThreshold compares the closed form with the best action on a grid of p.
func TestThreshold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t, 2)
		p, b, ok := worth(table).Threshold()
		if ok != (table[0][0] > table[1][0] && table[1][1] > table[0][1]) {
			t.Fatalf("threshold of %v: %v, %v", table, p, ok)
		}
		if !ok {
			return
		}
		// p may round to 1, not b.
		if !(p > 0 && p <= 1) || math.Abs(normal.CDF(b)-p) > 1e-14*p || math.IsInf(b, 0) {
			t.Errorf("%v: threshold %v and %v do not belong together", table, p, b)
		}
		for k := range 401 {
			q := float64(k) / 400
			want := 0
			if q > p {
				want = 1
			}
			// Utilities of up to 1e6 beside 1e-6 leave a difference of their
			// own rounding undecided.
			size := max(table[0][0], table[0][1], table[1][0], table[1][1])
			gap := worth(table).Expected(1, odds(q)) - worth(table).Expected(0, odds(q))
			if got := worth(table).Best(odds(q), -1); got != want && math.Abs(gap) > 1e-15*size {
				t.Errorf("%v at p = %v, threshold %v: best action %d, want %d", table, q, p, got, want)
			}
		}
	})
}

func TestThresholdExtremes(t *testing.T) {
	// The paper's b for u = [[1, 0], [0.5, 1]] is Φ⁻¹(1/3).
	if p, b, ok := worth(paper).Threshold(); !ok || math.Abs(p-1./3) > 1e-16 || math.Abs(b-normal.Quantile(1./3)) > 1e-15 {
		t.Errorf("%v, %v, %v", p, b, ok)
	}
	// So asymmetric that p is 1 − 1e-12 one way round and 1e-12 the other: b keeps
	// its digits on both sides.
	rare := decision.Table{{1, 1 - 1e-12}, {0, 1}}
	often := decision.Table{{1, 0}, {1 - 1e-12, 1}}
	_, high, ok1 := worth(rare).Threshold()
	_, low, ok0 := worth(often).Threshold()
	if !ok0 || !ok1 || math.Abs(high+low) > 1e-15*high {
		t.Errorf("b = %v and %v are no mirror images", high, low)
	}
	if p, _, ok := worth(decision.Table{{1.5e308, 0}, {0, 1.5e308}}).Threshold(); !ok || p != 0.5 {
		t.Errorf("huge utilities: %v, %v", p, ok)
	}
	for _, none := range []decision.Table{
		{{1, 1}, {1, 1}}, {{1, 1}, {0, 0}}, {{0, 1}, {1, 0}}, {{1, 0}, {1, 1}}, {{1, 0}, {0, 1}, {0.7, 0.7}},
	} {
		if p, _, ok := worth(none).Threshold(); ok {
			t.Errorf("%v has threshold %v", none, p)
		}
	}
}

// TestBestAndWorst against the definition, for tables of any number of actions.
func TestBestAndWorst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t, rapid.IntRange(2, 5).Draw(t, "actions"))
		p := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 0.25, 0.5, 1})).Draw(t, "p")
		all := worth(table).Choose(make([]float64, len(table)), odds(p)).Expected
		best, worst := worth(table).Best(odds(p), -1), worth(table).Worst(odds(p))
		for a, u := range all {
			if want := table[a][0]*(1-p) + table[a][1]*p; u != want {
				t.Errorf("expected utility of %d is %v, want %v", a, u, want)
			}
			// The best, or the first of those that differ from it by rounding.
			rounding := 16 * 0x1p-52 * slices.Max(all)
			if u > all[best]+rounding || u >= slices.Max(all)-rounding/2 && a < best {
				t.Errorf("best of %v is %d", all, best)
			}
			if u < all[worst] || u == all[worst] && a < worst {
				t.Errorf("worst of %v is %d", all, worst)
			}
			// A held action stays exactly when it is as good as the best, to a
			// few units in the last place.
			if got := worth(table).Best(odds(p), a); got != a && (got != best || u == slices.Max(all)) {
				t.Errorf("holding %d of %v: %d", a, all, got)
			} else if got == a && slices.Max(all)-u > 1e-14*slices.Max(all) {
				t.Errorf("holding %d of %v though it is worse", a, all)
			}
		}
	})
}

// TestTiesKeepHeldAction at the threshold itself, where rounding would flip it.
func TestTiesKeepHeldAction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gain0 := rapid.Float64Range(0.01, 1).Draw(t, "gain of 0")
		gain1 := rapid.Float64Range(0.01, 1).Draw(t, "gain of 1")
		table := decision.Table{{gain0, 0}, {0, gain1}}
		// Both probabilities to full accuracy, as Outcome.Probability gives them.
		p0, p1 := gain1/(gain0+gain1), gain0/(gain0+gain1)
		for held := range 2 {
			if got := worth(table).Best([]float64{p0, p1}, held); got != held {
				t.Errorf("%v at p = %v: %d was held, now %d", table, p1, held, got)
			}
		}
	})
}

// TestDefer: deferring is one more action, best where neither outcome is sure.
func TestDefer(t *testing.T) {
	table := decision.Table{{1, 0}, {0, 1}, {0.8, 0.8}}
	for _, c := range []struct {
		p    float64
		want int
	}{{0, 0}, {0.19, 0}, {0.21, 2}, {0.5, 2}, {0.79, 2}, {0.81, 1}, {1, 1}} {
		if got := worth(table).Best(odds(c.p), -1); got != c.want {
			t.Errorf("at p = %v: action %d, want %d", c.p, got, c.want)
		}
	}
}
