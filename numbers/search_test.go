package numbers

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/lossep/lossep/decision"
)

// asking counts how many expectations are taken.
type asking struct {
	Distribution
	calls *int
}

func (c asking) Expect(g func(y float64) float64, kinks ...float64) float64 {
	*c.calls++
	return c.Distribution.Expect(g, kinks...)
}

// searched are distributions of all kinds, most of whose outcomes are from 0 to 100.
func searched() map[string]Distribution {
	plain := &Transform{Name: "none", Scale: 1}
	return map[string]Distribution{
		"normal":  newNormals([]Part{{1, 45, 12}}, plain, 0),
		"narrow":  newNormals([]Part{{1, 45, 0.5}}, plain, 0),
		"two":     newNormals([]Part{{0.45, 20, 4}, {0.55, 70, 3}}, plain, 0),
		"log":     newNormals([]Part{{1, 0, 1}}, &Transform{Name: "log", Mean: 3.7, Scale: 0.4}, 0),
		"student": studentNoise{10, 5}.Predict(45, 4, plain),
		"counts":  newCounts(3, 0.05, math.Inf(1)),
		"blend":   blend{[]Distribution{newNormals([]Part{{1, 20, 2}}, plain, 0), newNormals([]Part{{1, 60, 5}}, plain, 0)}, []float64{0.4, 0.6}},
	}
}

// What costs least costs no more than the best of a fine grid, with fixed costs, steps in the price, bounds on what an error costs, two
// kinds of action that are as good, jumps, bends far from what is likely, and narrow ones.
func TestCheapestAgainstFineGrids(t *testing.T) {
	const from, to = 0.0, 200.0
	within := "\naction: {from: 0, to: 200}"
	pinball := "1.5*max(outcome - action, 0) + 0.5*max(action - outcome, 0)"
	for _, costs := range []string{
		"cost: 70*min(max(action - 1, 0)*1000, 1) + " + pinball + within,
		"cost: 70*min(max(action, 0), 1) + " + pinball + within,
		"cost: 30*min(max(action, 0), 1) + " + pinball + within,
		"cost: 15*min(max(action - 50, 0)*1000, 1) + max(outcome - action, 0) + 3*max(action - outcome, 0)",
		"cost: 3*min(max(action - 10, 0)*1000, 1) + 2*min(max(action - 30, 0)*1000, 1) + 5*min(max(action - 60, 0)*1000, 1) + " + pinball,
		"cost: min((outcome - action - 30)*(outcome - action - 30), (outcome - action + 30)*(outcome - action + 30))",
		"cost: min(10, max(outcome - action, action - outcome))" + within,
		"cost: min(1, max(outcome - action, action - outcome)/2)" + within,
		"cost: 5 - 5*min(max(action - 40, 0), 1) + 20*min(max(action - 41, 0), 1) + 0.1*max(outcome - action, 0) + 0.01*action" + within,
		"cost: 20 + " + pinball + " + 20*max(action - 50, 50 - action)/(action - 50)" + within,
		"cost: 0.1*(outcome - 5*action)*(outcome - 5*action)" + within,
		"cost: 3*max(outcome - 50*action, 0) + 40*action" + within,
	} {
		stake := stakeOf(t, costs)
		for name, d := range searched() {
			if name == "blend" { // to be quick
				continue
			}
			got := stake.Choose(d)
			best, at := math.Inf(1), 0.0
			for k := range 401 {
				a := from + (to-from)*float64(k)/400
				if c := stake.Expected(a, d); c < best {
					best, at = c, a
				}
			}
			if !(got.Expected <= best*(1+1e-9)) { // what rounding leaves of sums
				t.Errorf("%s, %s: action %v at %v; %v costs %v", name, costs, got.Action, got.Expected, at, best)
			}
		}
	}
}

// Whether to order at all: with a fixed cost K the quantile costs K more than without, and nothing costs under·E y.
func TestFixedCostInClosedForm(t *testing.T) {
	for name, d := range searched() {
		if name == "counts" { // cost on a lattice
			continue
		}
		free := decision.Stake{Loss: decision.Pinball{Under: 1.5, Over: 0.5}}.Choose(d)
		none := 1.5*d.Excess(0) + 0.5*d.Short(0)
		for _, times := range []float64{0.99, 1.01} {
			fixed := times * (none - free.Expected)
			got := stakeOf(t, "cost: "+formattedCost(fixed)+"*min(max(action, 0)*1000, 1) + 1.5*max(outcome - action, 0) + 0.5*max(action - outcome, 0)\naction: {from: 0, to: 300}").Choose(d)
			action, cost := free.Action, free.Expected+fixed
			if times > 1 {
				action, cost = 0, none
			}
			// Costs are flat at their least: the action is found to the root of their precision.
			if !(math.Abs(got.Action-action) <= 1e-5*free.Action) || !(math.Abs(got.Expected-cost) <= 1e-6*cost) {
				t.Errorf("%s, fixed cost %v: action %v at %v, want %v at %v", name, fixed, got.Action, got.Expected, action, cost)
			}
		}
	}
}

// A range of a million steps has the step beside the best of all numbers, and no more than 10,000 of them are looked at; with several dips it
// has the best of all.
func TestManySteps(t *testing.T) {
	const pinball = "1.5*max(outcome - action, 0) + 0.5*max(action - outcome, 0)"
	for name, d := range searched() {
		if name != "normal" && name != "two" && name != "log" { // to be quick
			continue
		}
		calls := 0
		fine := stakeOf(t, "cost: "+pinball+"\naction: {from: 0, to: 200, step: 0.0002}").Choose(asking{d, &calls})
		want := decision.Stake{Loss: decision.Pinball{Under: 1.5, Over: 0.5}}.Choose(d)
		// Half a step off costs no more than its share of a unit, and quadrature of powers and roots is as exact.
		if !(fine.Expected <= want.Expected+1e-4*1.5) || calls > 10000 {
			t.Errorf("%s: %v at %v after %d, want %v at %v", name, fine.Action, fine.Expected, calls, want.Action, want.Expected)
		}
		steps := decision.Actions{To: 200, Step: 0.08} // 2501, of which not all are looked at
		for _, costs := range []string{
			"cost: 70*min(max(action - 1, 0)*1000, 1) + " + pinball,
			"cost: min(1, max(outcome - action, action - outcome)/2)",
			"cost: min((outcome - action - 30)*(outcome - action - 30), (outcome - action + 30)*(outcome - action + 30))",
		} {
			stake := stakeOf(t, costs)
			stake.Actions = steps
			got, best := stake.Choose(d), math.Inf(1)
			for k := range steps.Len() {
				best = min(best, stake.Expected(float64(k)*steps.Step, d))
			}
			if !(got.Expected <= best*(1+1e-9)) {
				t.Errorf("%s, %s: %v at %v, the best costs %v", name, costs, got.Action, got.Expected, best)
			}
		}
	}
}

// A search ends when it is stopped, whatever its actions are.
func TestSearchStops(t *testing.T) {
	list := make([]float64, 100000)
	for k := range list {
		list[k] = float64(k) / 1000
	}
	for name, actions := range map[string]decision.Actions{"a list": {List: list}, "steps": {To: 200, Step: 0.0002}, "a range": {To: 200}, "all": {}} {
		calls, asked := 0, 0
		stake := stakeOf(t, "cost: max(outcome - action, action - outcome) + (outcome - action)*(outcome - action)")
		stake.Actions = actions
		stake.Stop = func() error {
			if asked++; asked > 10 {
				return errors.New("stop")
			}
			return nil
		}
		if stake.Choose(asking{searched()["normal"], &calls}); calls > 20 {
			t.Errorf("%s: %d expectations were taken after it was to end", name, calls)
		}
	}
}

// A divisor that may be zero makes costs infinite, which is said with its name; one that is kept away from it does not.
func TestDivisorsOfOutcomes(t *testing.T) {
	const off = "max(outcome - action, action - outcome)"
	for _, c := range []struct{ costs, divisor, except string }{
		{"cost: " + off + " + 0.01/" + off, off, "counts"}, // an action between counts is never one
		{"cost: " + off + " + 0.01/((outcome - action)*(outcome - action))\naction: {from: -20, to: 200}", "(outcome - action) * (outcome - action)", "counts"},
		{"cost: " + off + " + 1/((outcome - 20.5)*(outcome - 20.5))", "(outcome - 20.5) * (outcome - 20.5)", "counts narrow"},
		{"cost: " + off + " + 1/(outcome*outcome - 41*outcome + 420.25)", "outcome * outcome - 41 * outcome + 420.25", "counts narrow"},
		{"cost: 50 + " + off + " + 1/(outcome - 22)", "outcome - 22", "narrow"},
		{"cost: 50 + " + off + " + 1e-6*exp(1/max(0, outcome - 42))", "max(0, outcome - 42)", "narrow"},
		{"costs:\n  a: 5 + 1/max(outcome - 22, 22 - outcome)\n  b: 1000", "max(outcome - 22, 22 - outcome)", "narrow"},
	} {
		s, err := decision.ParseNumberSpec("costs.yaml", []byte(c.costs))
		if err != nil {
			t.Fatal(err)
		}
		stake, err := s.Stake(nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, d := range searched() {
			if strings.Contains(c.except, name) {
				continue
			}
			err := s.CheckChoice(stake.Choose(d))
			if err == nil || !strings.Contains(err.Error(), c.divisor+", may be 0") || !strings.Contains(err.Error(), "max("+c.divisor+", 0.1)") {
				t.Errorf("%s, %s: %v", name, c.costs, err)
			}
		}
	}
}

// Divisors that come close to zero, or whose quotient is bounded, have the expectations that closed forms give.
func TestNearZeroDivisors(t *testing.T) {
	const mean, sd, at = 45.0, 12.0, 38.0
	d := newNormals([]Part{{1, mean, sd}}, &Transform{Name: "none", Scale: 1}, 0)
	for _, eps := range []float64{3, 0.1, 1e-3} {
		// Of y ~ N(μ, σ²): E 1/((y − μ)² + ε²) = √(π/2)/(εσ)·exp(ε²/2σ²)·erfc(ε/√2σ).
		want := math.Sqrt(math.Pi/2) / (eps * sd) * math.Exp(eps*eps/(2*sd*sd)) * math.Erfc(eps/(math.Sqrt2*sd))
		stake := stakeOf(t, "cost: 1/((outcome - action)*(outcome - action) + "+formattedCost(eps*eps)+")")
		if got := stake.Expected(mean, d); !(math.Abs(got-want) <= 1e-8*want) {
			t.Errorf("ε = %v: %v, want %v", eps, got, want)
		}
	}
	// By the trapezoidal rule over log-distances from the action, on either side.
	sum := func(g func(x float64) float64) (s float64) {
		for l := -40.0; l < math.Log(200); l += 1e-4 {
			x := math.Exp(l)
			for _, side := range []float64{-x, x} {
				z := (at + side - mean) / sd
				s += 1e-4 * x * g(x) * math.Exp(-z*z/2) / (sd * math.Sqrt(2*math.Pi))
			}
		}
		return s
	}
	const off = "max(outcome - action, action - outcome)"
	for costs, g := range map[string]func(x float64) float64{
		"cost: 1/max(" + off + ", 0.1)":                            func(x float64) float64 { return 1 / max(x, 0.1) },
		"cost: min(1/" + off + ", 1000)":                           func(x float64) float64 { return min(1/x, 1000) },
		"cost: min(1/((outcome - action)*(outcome - action)), 50)": func(x float64) float64 { return min(1/(x*x), 50) },
		"cost: (outcome - action)*(outcome - action)/" + off:       func(x float64) float64 { return x },
	} {
		if got, want := stakeOf(t, costs).Expected(at, d), sum(g); !(math.Abs(got-want) <= 1e-6*want) { // of the sum, which ends at kinks
			t.Errorf("%s: %v, want %v", costs, got, want)
		}
	}
}

func formattedCost(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
