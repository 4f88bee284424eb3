package decision

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/lossep/lossep/expr"
)

// quantiles are values of a distribution at probabilities, by bisection of Below.
func quantile(d *expr.Distribution, p float64) float64 {
	low, high := -1e4, 1e6
	for range 200 {
		if mid := low + (high-low)/2; at(d, mid) < p {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

func at(d *expr.Distribution, x float64) float64 {
	p, _ := d.Below(x)
	return p
}

// TestWorthOfKnowingACost: in random cases the closed form equals the integral over quantiles of what is
// saved by deciding with the cost known, and with many draws of all unknowns decisions flip exactly where
// CouldFlip says they can, for those with bounded ranges.
func TestWorthOfKnowingACost(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 13))
	laws := []string{"uniform(4, 8)", "uniform(-3, 9) * amount", "triangular(0, 1, 12)", "triangular(2, 2, 5)", "normal(5, 2)", "2 - lognormal(4, 3) / 2", "1 + 0.5 * triangular(0, 6, 6)"}
	flips := 0
	for trial := range 300 {
		kind := []string{"costs", "utilities"}[trial%2]
		law := laws[trial%len(laws)]
		text := "outcomes: [no, yes]\n" + kind + ":\n  leave: {no: 0, yes: \"" + law + "\"}\n  call: {no: 1, yes: \"uniform(1, 3)\"}\n  visit: {no: 2, yes: 2}\n"
		spec, err := ParseSpec("test", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		s, err := spec.Stakes(func(string) (float64, error) { return 1.5, nil })
		if err != nil {
			t.Fatal(err)
		}
		p := Pair(rng.Float64())
		c := s.Choose(make([]float64, 3), p)
		worths := s.Worths(&c, p)
		best := func(moved []float64) (action int, x float64) { // least cost
			x = math.Inf(1)
			for a, y := range c.Expected {
				if cost := -s.sign() * (y + moved[a]); cost < x {
					action, x = a, cost
				}
			}
			return action, x
		}
		for k, u := range s.Spreads {
			_, before := best(make([]float64, 3))
			saved := quad.Fixed(func(q float64) float64 {
				moved := make([]float64, 3)
				moved[u.Action] = u.Slope * p[u.Outcome] * (quantile(u.Of, q) - u.Of.Mean())
				_, now := best(moved)
				return before - now
			}, 1e-9, 1-1e-9, 400, nil, 0)
			// 400 points of a function with a kink, and for lognormal numbers tails.
			if math.Abs(saved-worths[k]) > 2e-3*(1+worths[k]) {
				t.Errorf("%s, %s, P %.3f: worth %v, by quadrature %v", kind, law, p[1], worths[k], saved)
			}
		}
		could, does := s.CouldFlip(&c, p), false
		for range 300 {
			moved := make([]float64, 3)
			for _, u := range s.Spreads {
				low, high := u.Of.Range()
				x := low + (high-low)*rng.Float64()
				if rng.IntN(2) == 0 { // the ends, which linear functions are largest at
					x = []float64{low, high}[rng.IntN(2)]
				}
				moved[u.Action] += u.Slope * p[u.Outcome] * (x - u.Of.Mean())
			}
			a, _ := best(moved)
			does = does || a != c.Action
		}
		if could != does {
			t.Errorf("%s, %s, P %v: could flip %v, does %v", kind, law, p[1], could, does)
		}
		if does {
			flips++
		}
	}
	if flips == 0 || flips == 300 {
		t.Errorf("%d of 300 flip", flips)
	}
}

func TestUncertainCosts(t *testing.T) {
	s, err := ParseCosts("fn=uniform(4, 8),fp=1")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.RuleLine(), "positive if P(positive) > 0.142857, else negative; the threshold is 0.111111 to 0.2 within the ranges of the costs"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err := s.Bind("no", "yes"); err != nil {
		t.Fatal(err)
	}
	text, err := s.MarshalJSON()
	if err != nil || !strings.Contains(string(text), `"uniform(4, 8)"`) {
		t.Errorf("%s, %v", text, err)
	}
	if again, err := ParseSpecJSON(text); err != nil || len(again.Uncertain()) != 1 || again.Uncertain()[0].Name != "negative under yes" {
		t.Errorf("%+v, %v", again, err)
	}
	for wrong, says := range map[string]string{
		"fn=uniform(8, 4),fp=1":                     "rising order",
		"fn=uniform(4),fp=1":                        "the lowest and the highest",
		"fn=normal(5, 0),fp=1":                      "standard deviation above 0",
		"fn=lognormal(-1, 2),fp=1":                  "mean above 0",
		"fn=triangular(1, 3),fp=1":                  "most likely",
		"fn=uniform(1, amount),fp=1":                "multiply by columns",
		"fn=min(uniform(1, 2), 3),fp=1":             "only add it, or multiply it by what is known",
		"fn=3 / uniform(1, 2),fp=1":                 "only add it",
		"fn=uniform(1, 2) * normal(3, 1),fp=1":      "only add it",
		"fn=uniform(-5, 1),fp=1":                    "costs",
		"fn=gamma(1, 2),fp=1":                       "unknown",
		"fn=max(1, 2 + 3 * uniform(1, 2)) / 2,fp=1": "only add it",
	} {
		if _, err := ParseCosts(wrong); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
