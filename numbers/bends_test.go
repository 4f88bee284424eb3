package numbers

import (
	"math"
	"testing"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/normal"
)

func stakeOf(t *testing.T, yaml string) decision.Stake {
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

// Expected costs of formulas that bend away from the action are those of closed forms: with E (y − a)⁺ of a normal, of a ramp that is
// next to a step, of an absolute error with a bound, of a bend that is no straight line, and of named actions.
func TestBendsOfFormulas(t *testing.T) {
	const mean, sd, at = 45, 4.0, 44.0
	d := newNormals([]Part{{1, mean, sd}}, &Transform{Scale: 1}, 0)
	call := func(log float64) float64 {
		k := (log - (mean - at)) / sd
		return math.Exp(mean-at+sd*sd/2)*normal.CDF(sd-k) - math.Exp(log)*normal.CDF(-k)
	}
	for _, c := range []struct {
		costs string
		want  float64
	}{
		{"cost: min(1, max(outcome - action, action - outcome))", 1 - d.Excess(at-1) + 2*d.Excess(at) - d.Excess(at+1)},
		{"cost: min(100, 1e9*max(outcome - action - 1, 0))", 100 * (1 - d.CDF(at+1+0.5e-7))},
		// Of y = a + x with x ~ N(μ, σ²): E (e^x − e²)⁺ = e^(μ + σ²/2)·Φ(σ − k) − e²·Φ(−k), k = (2 − μ)/σ, and so with the bound.
		{"cost: min(1000, max(exp(outcome - action) - exp(2), 0))", call(2) - call(math.Log(1000+math.Exp(2)))},
	} {
		if got := stakeOf(t, c.costs).Expected(at, d); !(math.Abs(got-c.want) <= 1e-9*c.want) {
			t.Errorf("%s: %v, want %v", c.costs, got, c.want)
		}
	}
	named := stakeOf(t, "costs:\n  small: 40 + 3*max(outcome - 46.3, 0)\n  large: 90")
	if got, want := named.Expected(0, d), 40+3*d.Excess(46.3); !(math.Abs(got-want) <= 1e-9*want) {
		t.Errorf("a named action: %v, want %v", got, want)
	}
	// A bend within a bend, narrow beside what outcomes may be.
	wide := newNormals([]Part{{0.999, mean, sd}, {0.001, mean, 3000}}, &Transform{Scale: 1}, 0)
	tent := stakeOf(t, "costs:\n  near: max(0, 1 - max(outcome - 52.3, 52.3 - outcome))\n  other: 90")
	if got, want := tent.Expected(0, wide), wide.Excess(51.3)-2*wide.Excess(52.3)+wide.Excess(53.3); !(math.Abs(got-want) <= 1e-9*want) {
		t.Errorf("a narrow cost: %v, want %v", got, want)
	}
}
