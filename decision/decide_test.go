package decision_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/normal"
)

// TestChoose: the utilities of all actions, the best of them and its lead.
func TestChoose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, _ := drawUtility(t, decision.Probit(), 2)
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		table := u.Table(1)
		want := make([]float64, len(table))
		for a, row := range table {
			want[a] = row[0]*(1-p) + row[1]*p
		}
		c := u.Choose(1, decision.Pair(p))
		// Actions that differ by rounding are equal, and the first of them is taken.
		rounding := 16 * 0x1p-52 * slices.Max(want)
		if !slices.Equal(c.Expected, want) || want[c.Action] < slices.Max(want)-rounding {
			t.Errorf("choice %+v of %v", c, want)
		}
		slices.Sort(want)
		if lead := want[len(want)-1] - want[len(want)-2]; math.Abs(c.Margin-lead) > rounding {
			t.Errorf("margin %v, want %v", c.Margin, lead)
		}
		actions := []int{-1, -1}
		u.Actions(actions, decision.Pairs([]float64{1 - p, p}))
		if actions[1] != c.Action {
			t.Errorf("Actions says %d, Choose %d", actions[1], c.Action)
		}
	})
}

// TestRegret against the definition, and its ends: 0 for the best actions, 1 for the
// worst.
func TestRegret(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "points")
		u, weights := drawUtility(t, decision.Probit(), n)
		p1 := make([]float64, n)
		taken, best, worst := make([]int, n), make([]int, n), make([]int, n)
		var bestU, worstU, takenU float64
		for j := range n {
			p := rapid.Float64Range(0, 1).Draw(t, "p")
			p1[j] = p
			table := u.Table(j)
			taken[j] = rapid.IntRange(0, len(table)-1).Draw(t, "action")
			best[j], worst[j] = worth(table).Best(odds(p), -1), worth(table).Worst(odds(p))
			bestU += weights[j] * worth(table).Expected(best[j], odds(p))
			worstU += weights[j] * worth(table).Expected(worst[j], odds(p))
			takenU += weights[j] * worth(table).Expected(taken[j], odds(p))
		}
		r := u.Regret(taken, decision.Pairs(p1))
		bound := 1e-14 * bestU // roundings of sums of up to six terms
		for what, pair := range map[string][2]float64{
			"utility": {r.Utility, takenU}, "best": {r.Best, bestU}, "worst": {r.Worst, worstU}, "absolute": {r.Absolute, bestU - takenU},
			"utility again": {r.Utility, u.Expected(taken, decision.Pairs(p1))},
		} {
			if !(math.Abs(pair[0]-pair[1]) <= bound) {
				t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
			}
		}
		if span := bestU - worstU; span > 1e-3*bestU {
			if want := (bestU - takenU) / span; !(math.Abs(r.Normalised-want) <= 1e-10) {
				t.Errorf("normalised regret %v, want %v", r.Normalised, want)
			}
			if got := u.Regret(worst, decision.Pairs(p1)).Normalised; math.Abs(got-1) > 1e-14 {
				t.Errorf("normalised regret of the worst actions: %v", got)
			}
		}
		if got := u.Regret(best, decision.Pairs(p1)); got.Absolute != 0 || got.Normalised != 0 {
			t.Errorf("regret of the best actions: %+v", got)
		}
		if !(r.Absolute >= 0) || !(r.Normalised >= 0 && r.Normalised <= 1+1e-14) {
			t.Errorf("regret out of range: %+v", r)
		}
	})
}

// TestSmallRegretIsKept: one point in a thousand decided wrongly by a hair.
func TestSmallRegretIsKept(t *testing.T) {
	const n, hair = 1000, 1e-13
	u, err := decision.NewUtility(decision.Probit(), n, nil, decision.Table{{1, 0}, {0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	actions, p1 := make([]int, n), make([]float64, n)
	for j := range n {
		p1[j] = 0.1
	}
	p1[500] = 0.5 + hair
	// Taking 0 there loses p − (1 − p) = 2·hair, a hair that is rounded to 2⁻⁵³.
	if got, want := u.Regret(actions, decision.Pairs(p1)).Absolute, 2*(p1[500]-0.5)/n; math.Abs(got-want) > 1e-12*want {
		t.Errorf("regret %v, want %v", got, want)
	}
}

// certain is a posterior without doubt: it expects a factor at the views' means.
type certain struct{ at []float64 }

func (c certain) Expect(views *gauss.Views, t factor.Factor, value, stderr []float64) {
	views.At(value, c.at)
	for i, m := range value {
		l, _, _ := t.LogMean(m, views.Residual(i))
		value[i], stderr[i] = math.Exp(l)*(1+1e-15), 0.01
	}
}

func TestProbabilities(t *testing.T) {
	views := gauss.NewViews(mat.NewDense(3, 1, []float64{-1, 0, 40}), nil, []float64{0, 3, 0})
	value, stderr := make([]float64, 3), make([]float64, 3)
	decision.Probit().Probabilities(certain{[]float64{1}}, views, value, stderr)
	for i, want := range []float64{0.15865525393145705, 0.5, 1} {
		if math.Abs(value[i]-want) > 2e-15 || value[i] > 1 || stderr[i] != 0.01 {
			t.Errorf("P(y = +1) at view %d: %v ± %v, want %v", i, value[i], stderr[i], want)
		}
	}
}

// TestPair: each probability is good relative to itself.
func TestPair(t *testing.T) {
	for _, z := range []float64{-30, -9, -1, 0, 0.5, 9, 30} {
		view := gauss.NewViews(mat.NewDense(1, 1, []float64{z}), nil, []float64{0})
		var pair [2]float64
		decision.Probit().Pair(certain{[]float64{1}}, view, pair[:])
		for y, want := range []float64{normal.CDF(-z), normal.CDF(z)} {
			if math.Abs(pair[y]-want) > 1e-12*want { // the logarithm of Φ(−30) is −454
				t.Errorf("z = %v: P(%d) = %v, want %v", z, y, pair[y], want)
			}
		}
	}
}

// TestTieHasNoRegret: at the threshold either action is as good, and the rounding of
// their utilities is no regret.
func TestTieHasNoRegret(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gain0 := rapid.Float64Range(0.5, 1).Draw(t, "gain of 0")
		gain1 := rapid.Float64Range(0.5, 1).Draw(t, "gain of 1")
		table := decision.Table{{gain0, 0}, {0, gain1}}
		u, err := decision.NewUtility(decision.Probit(), 2, nil, table)
		if err != nil {
			t.Fatal(err)
		}
		p, _, _ := worth(table).Threshold()
		if got := u.Regret([]int{0, 1}, decision.Pairs([]float64{p, p})); got.Absolute != 0 {
			t.Errorf("regret at the threshold of %v: %v", table, got)
		}
	})
}
