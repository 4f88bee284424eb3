package decision_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/normal"
)

// TestProbability: P(y = ±1) under N(m, v) add to one exactly, and each is good
// relative to itself.
func TestProbability(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := rapid.Float64Range(-37, 37).Draw(t, "z")
		v := math.Pow(10, rapid.Float64Range(-6, 6).Draw(t, "log10 v"))
		threshold := rapid.Float64Range(-3, 3).Draw(t, "threshold")
		for what, p := range map[string][2]float64{
			"Probit":  pair(decision.Probit().Probability(z*math.Sqrt(1+v), v)),
			"Exceeds": pair(decision.Exceeds(threshold).Probability(threshold+z*math.Sqrt(v), v)),
		} {
			if p[0]+p[1] != 1 {
				t.Errorf("%s: %v + %v is not 1", what, p[0], p[1])
			}
			for y, want := range []float64{normal.CDF(-z), normal.CDF(z)} {
				// z is rounded to 1e-16 of itself, and of the threshold where √v
				// is small, which changes Φ by 1 + |z| times that. Its logarithm,
				// about z²/2, carries 1e-16 of itself.
				bound := 1e-15 * (1 + math.Abs(z)) * (1 + math.Abs(z) + math.Abs(threshold)/math.Sqrt(v))
				if !(math.Abs(p[y]-want) <= bound*want) {
					t.Errorf("%s at z = %v: P(outcome %d) = %v, want %v", what, z, y, p[y], want)
				}
			}
		}
	})
	// Without variance the outcome is certain, on the closed side as well.
	for m, want := range map[float64][2]float64{1.9: {1, 0}, 2: {1, 0}, 2.1: {0, 1}} {
		if got := pair(decision.Exceeds(2).Probability(m, 0)); got != want {
			t.Errorf("P(%v exceeds 2) = %v", m, got)
		}
	}
}

func pair(a, b float64) [2]float64 { return [2]float64{a, b} }

func TestNewUtility(t *testing.T) {
	u, err := decision.NewUtility(decision.Probit(), 3, []float64{2, 0, 6}, paper)
	if err != nil {
		t.Fatal(err)
	}
	// Weights add to one: with every probability one, so does the utility.
	certain := decision.Table{{1, 1}, {1, 1}}
	for _, weights := range [][]float64{nil, {2, 0, 6}, {1e-300, 2e-300, 1e-310}} {
		c, err := decision.NewUtility(decision.Probit(), 3, weights, certain)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Expected([]int{0, 1, 0}, decision.Pairs([]float64{0.1, 0.2, 0.3})); math.Abs(got-1) > 1e-15 {
			t.Errorf("weights %v add to %v", weights, got)
		}
	}
	if got := u.Expected([]int{0, 0, 1}, decision.Pairs([]float64{0, 0.5, 1})); got != 0.25*1+0.75*1 {
		t.Errorf("expected utility %v", got)
	}
	if got := u.Expected([]int{1, 0, 0}, decision.Pairs([]float64{0, 0.5, 1})); got != 0.25*0.5 {
		t.Errorf("expected utility %v", got)
	}
	if u.Len() != 3 || !slices.Equal(u.Outcome(), decision.Probit()) {
		t.Error("the utility does not give back what it was made of")
	}
}

func TestNewUtilityErrors(t *testing.T) {
	for _, bad := range []struct {
		n       int
		weights []float64
		says    string
	}{
		{0, nil, "no points"},
		{2, []float64{1, -1}, "weight 2 is -1"},
		{2, []float64{math.NaN(), 1}, "weight 1 is NaN"},
		{2, []float64{math.Inf(1), 1}, "weight 1 is +Inf"},
		{2, []float64{0, 0}, "all weights are 0"},
		{2, []float64{1e308, 1.7e308}, "overflows"},
	} {
		if u, err := decision.NewUtility(decision.Probit(), bad.n, bad.weights, paper); err == nil || u != nil || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("weights %v: error %v, want %q", bad.weights, err, bad.says)
		}
	}
	_, err := decision.NewUtility(decision.Probit(), 2, nil, paper, decision.Table{{1, 0}, {0, -1}})
	var table *decision.TableError
	if !errors.As(err, &table) {
		t.Errorf("a bad second table: error %v", err)
	}
	for what, try := range map[string]func(){
		"tables":  func() { _, _ = decision.NewUtility(decision.Probit(), 3, nil, paper, paper) },
		"weights": func() { _, _ = decision.NewUtility(decision.Probit(), 3, []float64{1}, paper) },
	} {
		t.Run(what, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("mismatched lengths do not panic")
				}
			}()
			try()
		})
	}
}

// drawUtility draws a utility of n points with a table for all or one for each, and
// some weights zero, and those weights made to add to one.
func drawUtility(t *rapid.T, outcome decision.Outcome, n int) (u *decision.Utility, weights []float64) {
	tables := []decision.Table{drawTableOf(t, rapid.IntRange(2, 4).Draw(t, "actions"), len(outcome))}
	if rapid.Bool().Draw(t, "a table for each") {
		for range n - 1 {
			tables = append(tables, drawTableOf(t, rapid.IntRange(2, 4).Draw(t, "actions"), len(outcome)))
		}
	}
	weights = make([]float64, n)
	total := 1.0
	for j := range weights {
		weights[j] = float64(rapid.IntRange(0, 5).Draw(t, "weight"))
		total += weights[j]
	}
	weights[0]++
	u, err := decision.NewUtility(outcome, n, weights, tables...)
	if err != nil {
		t.Fatal(err)
	}
	for j := range weights {
		weights[j] /= total
	}
	return u, weights
}

// TestUtilityLogMean against the sum as it is written, and its derivatives against
// differences.
func TestUtilityLogMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		outcome := rapid.SampledFrom([]decision.Outcome{decision.Probit(), decision.Exceeds(0.7), decision.Ordered([]float64{-1, 0.5, 2})}).Draw(t, "outcome")
		n := rapid.IntRange(1, 6).Draw(t, "points")
		u, weights := drawUtility(t, outcome, n)
		m, v, actions := make([]float64, n), make([]float64, n), make([]int, n)
		for j := range n {
			m[j] = rapid.Float64Range(-5, 5).Draw(t, "m")
			v[j] = rapid.Float64Range(0.2, 4).Draw(t, "v")
			actions[j] = rapid.IntRange(0, len(u.Table(j))-1).Draw(t, "action")
		}
		d1, d2 := make([]float64, n), make([]float64, n)
		logZ := u.LogMean(actions, m, v, d1, d2)
		z := 0.0
		for j, a := range actions {
			p := make([]float64, len(outcome))
			outcome.At(p, m[j], v[j])
			z += weights[j] * floats.Dot(u.Table(j)[a], p)
		}
		if z == 0 {
			if !math.IsInf(logZ, -1) || slices.ContainsFunc(slices.Concat(d1, d2), func(x float64) bool { return x != 0 }) {
				t.Errorf("no utility: %v, %v, %v", logZ, d1, d2)
			}
			return
		}
		if math.Abs(math.Exp(logZ)-z) > 1e-13*z {
			t.Errorf("Z = %v, want %v", math.Exp(logZ), z)
		}
		// d1 and d2 are derivatives of Z, not of its logarithm, relative to Z at m.
		// Central differences err by h²/6 of the third and h²/12 of the fourth
		// derivative of the probability; with √v ≥ 0.45 these are below 20 and 80.
		for j := range n {
			at := func(x float64) float64 {
				moved := slices.Clone(m)
				moved[j] = x
				scratch1, scratch2 := make([]float64, n), make([]float64, n)
				return math.Exp(u.LogMean(actions, moved, v, scratch1, scratch2) - logZ)
			}
			row := u.Table(j)[actions[j]]
			size := 1 + (slices.Max(row)-slices.Min(row))/z
			const h = 1e-3
			slope := fd.Derivative(at, m[j], &fd.Settings{Formula: fd.Central, Step: h})
			bend := fd.Derivative(at, m[j], &fd.Settings{Formula: fd.Central2nd, Step: h})
			if !(math.Abs(slope-d1[j]) <= 1e-5*size) {
				t.Errorf("slope in m[%d]: %v, differences give %v", j, d1[j], slope)
			}
			if !(math.Abs(bend-d2[j]) <= 1e-5*size) {
				t.Errorf("curvature in m[%d]: %v, differences give %v", j, d2[j], bend)
			}
		}
	})
}

// TestUtilityLogMeanFarAway: actions held far on the wrong side, where Z itself
// underflows. One point then dominates, and Z is its Φ(z).
func TestUtilityLogMeanFarAway(t *testing.T) {
	u, err := decision.NewUtility(decision.Probit(), 2, nil, decision.Table{{1, 0}, {0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, far := range []float64{30, 60, 1e4, 1e7} {
		d1, d2 := make([]float64, 2), make([]float64, 2)
		got := u.LogMean([]int{1, 1}, []float64{-far, -2 * far}, []float64{0, 0}, d1, d2)
		l, g, h := normal.LogCDFDerivatives(-far)
		if want := l - math.Ln2; math.Abs(got-want) > 1e-14*math.Abs(want) {
			t.Errorf("%v away: log Z = %v, want %v", far, got, want)
		}
		if math.Abs(d1[0]-g) > 1e-11*g || math.Abs(d2[0]-(h+g*g)) > 1e-11*g*g || !(math.Abs(d1[1]) < 1e-100) {
			t.Errorf("%v away: derivatives %v and %v, want %v and %v for the first", far, d1, d2, g, h+g*g)
		}
	}
	// Certainly no utility at all.
	e, err := decision.NewUtility(decision.Exceeds(0), 1, nil, decision.Table{{1, 0}, {0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	d1, d2 := []float64{7}, []float64{7}
	if got := e.LogMean([]int{1}, []float64{-1}, []float64{0}, d1, d2); !math.IsInf(got, -1) || d1[0] != 0 || d2[0] != 0 {
		t.Errorf("no utility: %v, %v, %v", got, d1, d2)
	}
}

// TestSelect: the best action at every point by its own table; ties keep the action
// that is there.
func TestSelect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "points")
		u, _ := drawUtility(t, decision.Probit(), n)
		m, v, actions := make([]float64, n), make([]float64, n), make([]int, n)
		for j := range n {
			m[j] = rapid.Float64Range(-5, 5).Draw(t, "m")
			v[j] = rapid.Float64Range(0, 4).Draw(t, "v")
			actions[j] = -1
		}
		u.Select(actions, m, v)
		for j, a := range actions {
			p := normal.CDF(m[j] / math.Sqrt(1+v[j]))
			table := u.Table(j)
			best := worth(table).Expected(worth(table).Best(odds(p), -1), odds(p))
			if got := worth(table).Expected(a, odds(p)); best-got > 1e-14*best {
				t.Errorf("point %d: action %d is worth %v, the best %v", j, a, got, best)
			}
		}
		again := slices.Clone(actions)
		u.Select(again, m, v)
		if !slices.Equal(again, actions) {
			t.Errorf("selecting again turns %v into %v", actions, again)
		}
	})
	u, err := decision.NewUtility(decision.Probit(), 3, nil, decision.Table{{1, 0}, {0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	actions := []int{0, 1, -1}
	u.Select(actions, make([]float64, 3), []float64{1, 2, 3})
	if !slices.Equal(actions, []int{0, 1, 0}) {
		t.Errorf("at a tie 0, 1 and none become %v", actions)
	}
}
