package numbers_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
)

func stake(t *testing.T, yaml string) decision.Stake {
	t.Helper()
	s, err := decision.ParseNumberSpec("costs.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	one, err := s.Stake(nil)
	if err != nil {
		t.Fatal(err)
	}
	return one
}

// A formula is what its closed form is: the quantile for a pinball cost, the mean for squares; a grid
// has the best of its steps, which is beside the best of all numbers.
func TestFormulasAgreeWithClosedForms(t *testing.T) {
	_, m := fit(t, drawn(t, 60, 31, func(a, b float64, rng *rand.Rand) float64 {
		return math.Exp(3 + 0.5*smooth(a, b) + 0.3*rng.NormFloat64())
	}), "matern32 + constant", "under=1,over=1")
	all, err := m.Predict(mat.NewDense(1, 2, []float64{0.4, 0.2}))
	if err != nil {
		t.Fatal(err)
	}
	d := all[0]
	closed := stake(t, "under: 15\nover: 5").Choose(d)
	written := "cost: 15*max(outcome - action, 0) + 5*max(action - outcome, 0)"
	searched := stake(t, written).Choose(d)
	// Costs are flat at their least: the action is found to the root of their precision.
	if !near(searched.Action, closed.Action, 1e-5*closed.Action) || !near(searched.Expected, closed.Expected, 1e-6*closed.Expected) {
		t.Errorf("by the formula %+v, in closed form %+v", searched, closed)
	}
	if squares := stake(t, "cost: (outcome - action)*(outcome - action)").Choose(d); !near(squares.Action, d.Mean(), 1e-5*d.Mean()) {
		t.Errorf("squares are least at %v, the mean is %v", squares.Action, d.Mean())
	}
	for _, yaml := range []string{"under: 15\nover: 5", written} {
		step := stake(t, yaml+"\naction: {from: 0, to: 100, step: 4}").Choose(d)
		if math.Mod(step.Action, 4) != 0 || math.Abs(step.Action-closed.Action) > 4 || step.AtEdge ||
			step.Lower != step.Action-4 || step.ExpectedLower < step.Expected || step.ExpectedHigher < step.Expected {
			t.Errorf("in steps of 4 %+v, the best is %+v", step, closed)
		}
		if edge := stake(t, yaml+"\naction: {from: 0, to: 3}").Choose(d); edge.Action != 3 || !edge.AtEdge {
			t.Errorf("up to 3 the best is %+v", edge)
		}
		if list := stake(t, yaml+"\naction: [1000, 20, 0]").Choose(d); list.Action != 20 {
			t.Errorf("of a list the best is %+v", list)
		}
	}
	// A van of 20 for 40 a day, or one that holds all for as much as makes both the same.
	small := d.Expect(func(y float64) float64 { return 40 + 3*max(y-20, 0) }, 20)
	for _, more := range []float64{-0.1, 0.1} {
		named := stake(t, "costs:\n  small: 40 + 3*max(outcome - 20, 0)\n  large: "+formatted(small+more)).Choose(d)
		if (named.Action == 1) != (more < 0) {
			t.Errorf("a large van for %v more is chosen: %+v", more, named)
		}
	}
}

func formatted(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
