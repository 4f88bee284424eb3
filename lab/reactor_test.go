package lab

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer"
)

// figure1 is the reactor of the paper's Figure 1 with the data used throughout.
func figure1Reactor() Reactor {
	p := NewReactor(-1.1, -2.6, -4, 5.7, -1.1)
	p.Threshold, p.Utility = 2.2, decision.Table{{1, 0.01}, {0.9, 1}}
	return p
}

func solve(t *testing.T, p Reactor, method string) *ReactorAnswer {
	t.Helper()
	a, err := p.Solve(context.Background(), method)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Infer.NET's ClutterTest for EP; the exact row by enumeration in another program.
func TestClutter(t *testing.T) {
	p := NewReactor(0.1, 2.3)
	a := solve(t, p, "ep")
	near(t, "EP mean", a.Mean, 0.789959, 1e-6)
	near(t, "EP variance", a.Variance, 40.1263, 5e-5)
	near(t, "EP log Z", *a.LogEvidence, -5.12942, 5e-6)
	a = solve(t, p, "exact")
	near(t, "exact mean", a.Mean, 0.6371317, 5e-8)
	near(t, "exact variance", a.Variance, 51.601758, 5e-7)
	near(t, "exact log Z", *a.LogEvidence, -5.1054673, 5e-8)
	if a.Action != nil || a.ExpectedUtility != nil {
		t.Error("an action without anything to decide")
	}
}

// The reactor like Figure 1: EP leaves it on, Loss-EP and the truth shut it down.
func TestFigure1(t *testing.T) {
	p := figure1Reactor()
	a := solve(t, p, "exact")
	near(t, "exact U(on)", a.ExpectedUtility[0], 0.850, 5e-4)
	near(t, "exact U(off)", a.ExpectedUtility[1], 0.915, 5e-4)
	if *a.Action != 1 {
		t.Error("the reactor has to be shut down")
	}
	a = solve(t, p, "ep")
	near(t, "EP mean", a.Mean, -2.316, 5e-4)
	near(t, "EP variance", a.Variance, 2.802, 5e-4)
	if *a.Action != 0 {
		t.Error("EP is known to leave it on")
	}
	if len(a.OtherFixedPoints) == 0 {
		t.Error("EP has more than one fixed point on these data")
	}
	a = solve(t, p, "loss-ep")
	near(t, "q mean", a.Mean, 0.297, 5e-4)
	near(t, "q variance", a.Variance, 35.1, 0.05)
	near(t, "q̄ mean", *a.TiltedMean, 0.54, 5e-3)
	near(t, "q̄ variance", *a.TiltedVariance, 35.5, 0.05)
	if *a.Action != 1 {
		t.Error("Loss-EP shuts it down")
	}
	for _, c := range []struct {
		method         string
		mean, variance float64
	}{{"vi", -2.232, 1.252}, {"loss-vi", -2.232, 1.247}} {
		a = solve(t, p, c.method)
		near(t, c.method+" mean", a.Mean, c.mean, 5e-4)
		near(t, c.method+" variance", a.Variance, c.variance, 5e-4)
		if *a.Action != 0 || !a.Converged {
			t.Errorf("%s is known to leave it on: %+v", c.method, a)
		}
	}
}

// NUTS agrees with the exact answer within its own errors, on data with one mode.
func TestNUTS(t *testing.T) {
	p := NewReactor(1.8, 2.2, 2.9, 2.4)
	p.Threshold, p.Utility = 2, decision.Table{{1, 0}, {0, 1}}
	want, got := solve(t, p, "exact"), solve(t, p, "nuts")
	if !got.Converged || got.LogEvidence != nil {
		t.Errorf("%+v", got)
	}
	// Four standard errors: a chance of 6e-5 for a seed that is fixed.
	near(t, "mean", got.Mean, want.Mean, 4**got.MeanError)
	near(t, "variance", got.Variance, want.Variance, 4**got.VarianceError)
	// Its standard error is that of a probability from 5000 or more effective draws.
	near(t, "utility", got.ExpectedUtility[1], want.ExpectedUtility[1], 4*0.5/math.Sqrt(5000))
}

// Chains that stay in different modes disagree, and the answer says so.
func TestNUTSFlagsModes(t *testing.T) {
	p := NewReactor(-20, -20.5, 20, 20.5)
	p.ClutterVariance = 400
	if a := solve(t, p, "nuts"); a.Converged {
		t.Errorf("two modes 40 apart, and yet: %s", a.Status)
	}
}

// A utility of exactly zero on a half line has no logarithm: Loss-VI raises it and
// shows by how much.
func TestFloorIsVisible(t *testing.T) {
	p := figure1Reactor()
	p.Utility = decision.Table{{1, 0}, {0.9, 1}}
	if a := solve(t, p, "loss-vi"); *a.Action != 0 || !(a.Floor > 0) {
		t.Errorf("no floor: %+v", a)
	}
}

// More measurements than can be enumeratedMeasurements have an exact answer too. Where rounding hides
// it, it is left out, with the reason.
func TestSolveAllNamesWhatItLeavesOut(t *testing.T) {
	p := NewReactor(make([]float64, 21)...)
	answers, leftOut, err := p.SolveAll(context.Background())
	if err != nil || len(answers) != 5 || len(leftOut) > 0 || !strings.Contains(answers[0].Status, "quadrature") {
		t.Errorf("%d answers, left out %v, error %v", len(answers), leftOut, err)
	}
	p.Data[0], p.Data[1], p.ClutterWeight, p.NoiseVariance = 1e5, -1e5, 0, 1e-3
	answers, leftOut, err = p.SolveAll(context.Background())
	if err != nil || len(answers) != 4 || len(leftOut) != 1 || !strings.Contains(leftOut[0].Error(), "rounding hides") {
		t.Errorf("%d answers, left out %v, error %v", len(answers), leftOut, err)
	}
}

// A measurement on the threshold ties: the actions go round, are held, and the answer
// says so.
func TestActionsHeldAreReported(t *testing.T) {
	p := NewReactor(0)
	p.Utility = decision.Table{{1, 0}, {0, 1}}
	a := solve(t, p, "loss-ep")
	if !a.ActionsHeld || !strings.Contains(a.Status, "held") {
		t.Errorf("%+v", a)
	}
}

// On these data every sweep of the second attempt is taken back, and the double loop
// meets actions that were never chosen by a visit.
func TestActionsAreAlwaysChosen(t *testing.T) {
	p := NewReactor(5.692136968220615, 1.2433981582719946, 4.11770620775915, 4.7635167784497625, 7.606772224774279,
		3.459137539433817, -6.665579604333627, -2.8646339829801324, -0.07188426377989242, -2.2470434393591097)
	p.PriorVariance, p.Threshold = 22.42852801054779, 3.352007413933732
	p.Utility = decision.Table{{1, 0}, {0.5013531618986272, 1}}
	solve(t, p, "loss-ep")
}

// Shifting data, prior mean and threshold by the same amount shifts the answer,
// provided that nothing is clutter: clutter stays at zero.
func TestPriorMean(t *testing.T) {
	p := figure1Reactor()
	p.ClutterWeight = 0
	q := p
	q.Data = nil
	for _, y := range p.Data {
		q.Data = append(q.Data, y+7)
	}
	q.PriorMean, q.Threshold = 7, p.Threshold+7
	for _, method := range []string{"exact", "ep", "loss-ep"} {
		a, b := solve(t, p, method), solve(t, q, method)
		// Rounding of numbers of size 10.
		near(t, method+" mean", b.Mean-7, a.Mean, 1e-8)
		near(t, method+" variance", b.Variance, a.Variance, 1e-8)
		near(t, method+" log evidence", *b.LogEvidence, *a.LogEvidence, 1e-8)
		near(t, method+" utility", b.ExpectedUtility[1], a.ExpectedUtility[1], 1e-8)
	}
	// Without clutter the posterior is Gaussian and EP exact.
	near(t, "EP mean", solve(t, p, "ep").Mean, solve(t, p, "exact").Mean, 1e-9)
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct {
		change func(*Reactor)
		method string
		want   string
	}{
		{func(p *Reactor) { p.Data = nil }, "ep", "no measurements"},
		{func(p *Reactor) { p.Data[2] = math.Inf(1) }, "ep", "measurement 3"},
		{func(p *Reactor) { p.Data[1] = 1e300 }, "exact", "measurement 2"},
		{func(p *Reactor) { p.PriorVariance = 1e-300 }, "ep", "prior variance"},
		{func(p *Reactor) { p.PriorVariance = 0 }, "ep", "prior variance"},
		{func(p *Reactor) { p.ClutterVariance = math.NaN() }, "ep", "clutter variance"},
		{func(p *Reactor) { p.NoiseVariance = -1 }, "ep", "noise variance"},
		{func(p *Reactor) { p.ClutterWeight = 1 }, "ep", "clutter weight"},
		{func(p *Reactor) { p.PriorMean = math.NaN() }, "ep", "prior mean"},
		{func(p *Reactor) { p.Threshold = math.NaN() }, "ep", "threshold"},
		{func(p *Reactor) { p.Utility[0][1] = -1 }, "ep", "row 1, column 2"},
		{func(p *Reactor) { p.Utility = p.Utility[:1] }, "ep", "at least 2 actions"},
		{func(p *Reactor) { p.Utility = nil }, "loss-ep", "utility"},
		{func(*Reactor) {}, "magic", "choose one of"},
	} {
		p := figure1Reactor()
		c.change(&p)
		a, err := p.Solve(context.Background(), c.method)
		var input *InputError
		var table *decision.TableError
		if a != nil || !errors.As(err, &input) && !errors.As(err, &table) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want an input error about %q", err, c.want)
		}
	}
}

// All answers are JSON that holds every field a program needs.
func TestReactorAnswerJSON(t *testing.T) {
	answers, leftOut, err := figure1Reactor().SolveAll(context.Background())
	if err != nil || len(leftOut) > 0 {
		t.Fatal(err, leftOut)
	}
	for _, a := range answers {
		b, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(b, &fields); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"method", "mean", "variance", "log_evidence", "action", "expected_utility", "converged", "sweeps"} {
			if fields[name] == nil && !(a.Method == "nuts" && name == "log_evidence") {
				t.Errorf("%s: no %s in %s", a.Method, name, b)
			}
		}
		if _, tilted := fields["tilted_mean"]; tilted != (a.Method == "loss-ep") {
			t.Errorf("%s: tilted_mean is there: %v", a.Method, tilted)
		}
	}
}

var robust = flag.Int("robust", 500, "number of random problems in TestRobustness")

// TestRobustness runs EP and Loss-EP on random clutter and reactor problems of 2 to
// 12 points; at least 99 % of the runs must converge, and none may fail without
// saying so. Run it at full size with -run Robustness -robust 10000.
func TestRobustness(t *testing.T) {
	var converged, looped, cycled [2]int
	for seed := range *robust {
		rng := rand.New(rand.NewPCG(uint64(seed), 2))
		p := NewReactor(make([]float64, 2+rng.IntN(11))...)
		p.PriorVariance = math.Exp(6 * rng.Float64()) // 1 to 400
		p.ClutterWeight = 0.1 + 0.8*rng.Float64()
		state := math.Sqrt(p.PriorVariance) * rng.NormFloat64()
		for i := range p.Data {
			p.Data[i] = state + rng.NormFloat64()
			if rng.Float64() < p.ClutterWeight {
				p.Data[i] = math.Sqrt(p.ClutterVariance) * rng.NormFloat64()
			}
		}
		p.Threshold = state + 3*rng.NormFloat64()
		low := math.Pow(10, -6*rng.Float64())
		p.Utility = []decision.Table{{{1, low}, {0.9, 1}}, {{1, 0}, {rng.Float64(), 1}}, {{1, 0}, {0, low}}}[rng.IntN(3)]
		m, err := p.Model()
		if err != nil {
			t.Fatal(err)
		}
		for k := range 2 {
			if k == 1 {
				u, err := p.utility()
				if err != nil {
					t.Fatal(err)
				}
				m.Utility, m.Points = u, p.views(1)
			}
			r, err := infer.EP{Damping: 0.5, Tolerance: 1e-8}.Fit(context.Background(), m)
			if err != nil {
				t.Logf("seed %d: %v", seed, err)
				continue
			}
			mean, variance := p.moments(infer.Gaussian{Gaussian: r.Q})
			if math.IsNaN(mean) || !(variance > 0) || math.IsNaN(r.LogEvidence) {
				t.Errorf("seed %d: mean %v, variance %v, log evidence %v", seed, mean, variance, r.LogEvidence)
			}
			if r.Status.Converged != (r.Status.Residual <= 1e-8) {
				t.Errorf("seed %d: status contradicts itself: %+v", seed, r.Status)
			}
			if r.Status.Converged {
				converged[k]++
			} else {
				t.Logf("seed %d: %v", seed, r.Status)
			}
			if r.Status.DoubleLoop > 0 {
				looped[k]++
			}
			if r.Status.ActionsHeld {
				cycled[k]++
			}
		}
	}
	for k, name := range []string{"EP", "Loss-EP"} {
		t.Logf("%s: %d of %d converged, %d by the double loop, %d with actions held", name, converged[k], *robust, looped[k], cycled[k])
		if float64(converged[k]) < 0.99*float64(*robust) {
			t.Errorf("%s: %d of %d converged", name, converged[k], *robust)
		}
	}
}
