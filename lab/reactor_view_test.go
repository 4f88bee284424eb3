package lab_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate"

	"github.com/lossep/lossep/decision"

	"github.com/lossep/lossep/lab"
)

// figure1 is the reactor of the paper's Figure 1, with data that reproduce its
// caption.
func figure1() lab.ReactorRequest {
	return lab.ReactorRequest{
		Data:      []float64{-1.1, -2.6, -4, 5.7, -1.1},
		Utility:   [][]float64{{1, 0.01}, {0.9, 1}},
		Threshold: 2.2,
	}
}

// randomReactor is a state and n measurements of it, some of them clutter.
func randomReactor(seed uint64, n int) lab.ReactorRequest {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	state := 3 * rng.NormFloat64()
	r := lab.ReactorRequest{Utility: [][]float64{{1, 0.01}, {0.9, 1}}, Threshold: state + 2*rng.NormFloat64()}
	for range n {
		y := state + rng.NormFloat64()
		if rng.IntN(2) == 0 {
			y = math.Sqrt(10) * rng.NormFloat64()
		}
		r.Data = append(r.Data, y)
	}
	return r
}

func solveReactor(t *testing.T, r lab.ReactorRequest) *lab.ReactorView {
	t.Helper()
	v, err := r.Solve(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v to %v", what, got, want, tolerance)
	}
}

// Every method ends where it is known to end, to the digits it is known to.
func TestReactorFigure1(t *testing.T) {
	v := solveReactor(t, figure1())
	want := []struct {
		method                string
		mean, variance, digit float64
		action                int
		above                 float64
	}{
		{"exact", -1.139, 16.015, 5e-4, 1, 0.151},
		{"ep", -2.316, 2.802, 5e-4, 0, math.NaN()},
		{"loss-ep", 0.297, 35.1, 5e-2, 1, math.NaN()},
		{"vi", -2.232, 1.252, 5e-4, 0, math.NaN()},
		{"loss-vi", -2.232, 1.247, 5e-4, 0, math.NaN()},
	}
	if len(v.Answers) != len(want) || len(v.LeftOut) > 0 {
		t.Fatalf("%d answers, left out %v", len(v.Answers), v.LeftOut)
	}
	for i, a := range v.Answers {
		w := want[i]
		if a.Method != w.method || *a.Action != w.action || *a.Agrees != (w.action == 1) || a.Posterior != nil {
			t.Errorf("%s does %d and agrees: %v; want %s, %d", a.Method, *a.Action, *a.Agrees, w.method, w.action)
		}
		near(t, a.Method+" mean", a.Mean, w.mean, w.digit)
		near(t, a.Method+" variance", a.Variance, w.variance, w.digit)
		if !math.IsNaN(w.above) {
			near(t, a.Method+" probability above", a.ProbabilityAbove, w.above, 5e-4)
		}
		for k, u := range figure1().Utility {
			near(t, "expected utility", a.ExpectedUtility[k], u[0]*(1-a.ProbabilityAbove)+u[1]*a.ProbabilityAbove, 1e-12)
		}
		// Of two actions the wrong one has all the regret there is.
		wrong := 1 - float64(w.action)
		near(t, a.Method+" regret", a.Regret.Normalised, wrong, 0)
		near(t, a.Method+" regret", a.Regret.Absolute, wrong*(0.915-0.850), 1e-3)
	}
	near(t, "needs", *v.Needs, 0.1/1.09, 1e-15)
}

// The densities are those of the probabilities: they integrate to one, and beyond the
// threshold to the probability above.
func TestReactorDensities(t *testing.T) {
	for _, n := range []int{5, 20} { // enumerated, and not
		r := randomReactor(4, n)
		// The domain holds all but e^−18 of the prior, and the threshold is a node.
		r.Domain, r.Threshold = []float64{-60, 60}, 0.3
		v := solveReactor(t, r)
		at := slices.IndexFunc(v.Phi, func(phi float64) bool { return math.Abs(phi-r.Threshold) < 1e-9 })
		if at < 0 || len(v.Answers) != 5 {
			t.Fatalf("threshold at %d, %d answers", at, len(v.Answers))
		}
		for _, a := range v.Answers {
			// On equally spaced nodes the trapezoidal rule is exact to rounding for a
			// whole density that is no narrower than about the spacing of 0.3 …
			near(t, a.Method+": density", integrate.Trapezoidal(v.Phi, a.Density), 1, 1e-4)
			// … and Simpson's to the fourth power of spacing over width for a part.
			narrow := 0.3 / math.Sqrt(a.Variance)
			if a.Method == "exact" {
				narrow = 0.3 * math.Sqrt(float64(n)) // of its narrowest part
			}
			near(t, a.Method+": part above", integrate.Simpsons(v.Phi[at:], a.Density[at:]), a.ProbabilityAbove, max(1e-4, 1e-2*math.Pow(narrow, 4)))
		}
	}
}

// More measurements than enumeration is used for here: the same problem by package
// reactor.
func TestReactorBeyondEnumeration(t *testing.T) {
	r := randomReactor(7, 14)
	v := solveReactor(t, r)
	p := lab.NewReactor(r.Data...)
	p.Threshold, p.Utility = r.Threshold, decision.Table{{1, 0.01}, {0.9, 1}}
	want, err := p.Solve(context.Background(), "exact")
	if err != nil {
		t.Fatal(err)
	}
	got := v.Answers[0]
	// Both are exact but for rounding, and for the parts below 1e-18 that enumeration
	// drops.
	near(t, "mean", got.Mean, want.Mean, 1e-9)
	near(t, "variance", got.Variance, want.Variance, 1e-9)
	near(t, "log evidence", *got.LogEvidence, *want.LogEvidence, 1e-9)
	near(t, "expected utility", got.ExpectedUtility[0], want.ExpectedUtility[0], 1e-9)
	if *got.Action != *want.Action {
		t.Errorf("action %d, want %d", *got.Action, *want.Action)
	}
}

// The ranges are what one finds by moving the threshold and asking again.
func TestReactorRanges(t *testing.T) {
	requests := []lab.ReactorRequest{figure1(), randomReactor(2, 4)}
	requests[1].Utility = [][]float64{{1, 0.2}, {0.8, 0.9}, {0, 1}} // three actions
	rng := rand.New(rand.NewPCG(1, 1))
	for _, r := range requests {
		v := solveReactor(t, r)
		for range 8 {
			moved := r
			moved.Domain = v.Domain[:]
			moved.Threshold = v.Domain[0] + (v.Domain[1]-v.Domain[0])*rng.Float64()
			again := solveReactor(t, moved)
			for i, a := range v.Answers {
				checkRanges(t, a, v.Domain, moved.Threshold, *again.Answers[i].Action)
				checkRanges(t, again.Answers[i], v.Domain, moved.Threshold, *again.Answers[i].Action)
			}
		}
	}
}

// Where Loss-EP's actions do not come to rest it turns from one to the other and back
// between neighbours of the sweep: at thresholds on both sides of every turn its action
// is what Reactor.Solve says there.
func TestReactorRangesHeld(t *testing.T) {
	r := lab.ReactorRequest{Data: []float64{4.3, -3.7, 3.8}, Utility: [][]float64{{1, 0.01}, {0.9244716446327346, 1}}, Threshold: 9}
	p := lab.NewReactor(r.Data...)
	p.Utility = decision.Table{{1, 0.01}, {0.9244716446327346, 1}}
	v := solveReactor(t, r)
	a := v.Answers[2]
	if a.Method != "loss-ep" || a.Sweep.Held == 0 || len(a.Ranges) != 4 {
		t.Fatalf("%s: %v, %+v", a.Method, a.Ranges, a.Sweep)
	}
	var at []float64
	for _, turn := range a.Ranges[1:] {
		at = append(at, turn.From-a.Sweep.Precision, turn.From+a.Sweep.Precision)
	}
	for between := 9.6; between < 11.6; between += 0.13 { // the nodes are 0.8 apart
		at = append(at, between)
	}
	for _, threshold := range at {
		p.Threshold = threshold
		want, err := p.Solve(context.Background(), "loss-ep")
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range a.Ranges {
			if threshold > part.From && threshold < part.To && part.Action != *want.Action {
				t.Errorf("action %d at threshold %v, want %d; ranges %v", part.Action, threshold, *want.Action, a.Ranges)
			}
		}
	}
}

// checkRanges sees that the ranges cover the domain and have the action at a
// threshold, unless that is as near to a change as rounding.
func checkRanges(t *testing.T, a lab.ReactorMethodView, domain [2]float64, threshold float64, action int) {
	t.Helper()
	precision := 1e-9
	if a.Sweep != nil {
		precision = a.Sweep.Precision
		if len(a.Sweep.Failures) > 0 || a.Sweep.Unsettled > 0 {
			t.Errorf("%s: %+v", a.Method, a.Sweep)
		}
	}
	from := domain[0]
	for _, r := range a.Ranges {
		if r.From != from || !(r.To > r.From) {
			t.Errorf("%s: %v after %v", a.Method, r, from)
		}
		from = r.To
		if threshold > r.From+precision && threshold < r.To-precision && r.Action != action {
			t.Errorf("%s: action %d at threshold %v in %v", a.Method, action, threshold, a.Ranges)
		}
	}
	if from != domain[1] {
		t.Errorf("%s: ranges end at %v and the domain at %v", a.Method, from, domain[1])
	}
}

// The domain has the data, the threshold and nearly all of the posterior in it.
func TestReactorDomain(t *testing.T) {
	for seed := range uint64(5) {
		r := randomReactor(seed, 3)
		if seed == 4 {
			r.Threshold = 80
		}
		v := solveReactor(t, r)
		for _, x := range append(r.Data, r.Threshold) {
			if x < v.Domain[0] || x > v.Domain[1] {
				t.Errorf("%v is not in %v", x, v.Domain)
			}
		}
		if p := integrate.Trapezoidal(v.Phi, v.Answers[0].Density); p < 0.98-1e-3 {
			t.Errorf("%v of the posterior in %v", p, v.Domain)
		}
		if v.Phi[0] != v.Domain[0] || v.Phi[len(v.Phi)-1] != v.Domain[1] {
			t.Errorf("states from %v to %v in %v", v.Phi[0], v.Phi[len(v.Phi)-1], v.Domain)
		}
	}
}

// Without clutter the posterior is a Gaussian that EP and VI find.
func TestReactorWithoutClutter(t *testing.T) {
	r := figure1()
	r.ClutterWeight, r.PriorMean = new(0.0), new(1.0)
	r.PriorVariance, r.NoiseVariance = new(4.0), new(2.0)
	v := solveReactor(t, r)
	precision := 1/4.0 + 5/2.0
	mean := (1/4.0 + (-1.1-2.6-4+5.7-1.1)/2) / precision
	for _, a := range v.Answers {
		if a.Method == "loss-vi" {
			continue // carries the utility
		}
		near(t, a.Method+" mean", a.Mean, mean, 1e-8)
		near(t, a.Method+" variance", a.Variance, 1/precision, 1e-8)
	}
	// Where P(state > T) = p* in closed form.
	flip := v.Answers[0].Ranges[0].To
	near(t, "flip of EP", v.Answers[1].Ranges[0].To, flip, 1e-7)
	near(t, "flip of VI", v.Answers[3].Ranges[0].To, flip, 1e-7)
}

// At any ratio of utilities an action is the best by the probability of what is all but
// impossible, which one minus that of the rest does not tell.
func TestReactorAtExtremeRatios(t *testing.T) {
	seen := make(map[string]map[int]bool)
	for _, ratio := range []float64{1, 1e12, 1e15, 1e18, 1e30, 1e60, 1e90} {
		v, err := lab.ReactorRequest{
			Data: []float64{4.1, 3.9, 4, 4.2, 3.8}, NoiseVariance: new(0.1), Threshold: 2.5, ClutterWeight: new(0.0),
			Utility: [][]float64{{1, 0}, {0, 1 / ratio}}, // worth it below the threshold, and above
		}.Solve(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range v.Answers {
			want := 1
			if ratio*a.ProbabilityBelow > a.ProbabilityAbove {
				want = 0
			}
			if *a.Action != want {
				t.Errorf("%s at %g: action %d, where P is %g below and %g above", a.Method, ratio, *a.Action, a.ProbabilityBelow, a.ProbabilityAbove)
			}
			if a.ProbabilityAbove == 1 { // to rounding
				if seen[a.Method] == nil {
					seen[a.Method] = make(map[int]bool)
				}
				seen[a.Method][*a.Action] = true
			}
		}
	}
	for _, name := range []string{"exact", "ep", "vi"} {
		if len(seen[name]) != 2 {
			t.Errorf("%s: actions %v, so that nothing is tested", name, seen[name])
		}
	}
}
