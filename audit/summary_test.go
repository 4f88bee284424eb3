package audit

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/table"
)

// eight cases, the first four positive, with probabilities chosen so that everything
// in a result can be worked out by hand at a threshold of 1/6.
var (
	eightRows  = "x,class\n1,yes\n2,yes\n3,yes\n4,yes\n5,no\n6,no\n7,no\n8,no\n"
	corrected8 = []float64{0.9, 0.5, 0.2, 0.1, 0.05, 0.1, 0.3, 0.6}
	ep8        = []float64{0.9, 0.5, 0.2, 0.2, 0.05, 0.1, 0.3, 0.6} // finds the fourth
	exact8     = []float64{0.9, 0.5, 0.2, 0.3, 0.05, 0.1, 0.3, 0.6}
)

func tableOf(t *testing.T, text string) *table.Table {
	t.Helper()
	tab, err := table.Read(context.Background(), strings.NewReader(text), "test.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func costsOf(t *testing.T, text string) *decision.Spec {
	t.Helper()
	s, err := decision.ParseCosts(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func eight(t *testing.T) (*Audit, []*Fold) {
	t.Helper()
	a, err := New(t.Context(), tableOf(t, eightRows), Options{
		Fit:   lossep.Options{Utility: costsOf(t, "fn=5,fp=1"), Method: lossep.Corrected},
		Folds: 2, Methods: []lossep.Method{lossep.EP, lossep.LossEP}, References: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	var folds []*Fold
	for n, s := range a.splits[0] {
		f := &Fold{Index: n, Number: n, Rows: s.Test, Answers: make(map[string][][]float64), Reference: &Reference{By: "exact"}}
		for _, i := range s.Test {
			f.Answers["corrected"] = append(f.Answers["corrected"], decision.Pair(corrected8[i]))
			f.Answers["ep"] = append(f.Answers["ep"], decision.Pair(ep8[i]))
			f.Answers["loss-ep"] = append(f.Answers["loss-ep"], decision.Pair(corrected8[i]))
			f.Answers[ProbitRegression] = append(f.Answers[ProbitRegression], decision.Pair(1))
			f.Reference.Probabilities = append(f.Reference.Probabilities, decision.Pair(exact8[i]))
			f.Reference.StdErrs = append(f.Reference.StdErrs, []float64{0.01, 0.01})
		}
		folds = append(folds, f)
	}
	return a, folds
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-12 { // sums of eight numbers of order one
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestSummaryByHand(t *testing.T) {
	a, folds := eight(t)
	r, err := a.Summarise(folds)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "threshold", *r.Threshold, 1.0/6)
	// One miss and two false alarms; EP has the false alarms only; probit regression is
	// sure that all are positive; one half misses three and has one false alarm.
	want := map[string]float64{
		"corrected": 7.0 / 8, "ep": 2.0 / 8, "loss-ep": 7.0 / 8, ProbitRegression: 4.0 / 8,
		OneHalf: 16.0 / 8, "always negative": 20.0 / 8, "always positive": 4.0 / 8,
	}
	if len(r.Methods) != len(want) {
		t.Fatalf("%d scores, want %d", len(r.Methods), len(want))
	}
	for _, s := range r.Methods {
		near(t, s.Method, s.MeanCost, want[s.Method])
		// Two folds have an interval with one degree of freedom; costs are 0 to 5.
		if s.Low > s.MeanCost || s.High < s.MeanCost || s.Low < 0 || s.High > 5 {
			t.Errorf("%s: %v, interval [%v, %v]", s.Method, s.MeanCost, s.Low, s.High)
		}
	}
	near(t, "share of positive actions", r.Methods[0].Taken[1], 5.0/8)

	c := r.Comparisons[0]
	near(t, "EP less corrected", c.Difference, -5.0/8)
	if c.Method != "ep" || c.Than != "corrected" || c.Flips != 1 || c.Decisions != 8 {
		t.Errorf("comparison %+v", c)
	}
	if len(r.Calibrations) != 1 || r.Calibrations[0].Than != "ep" || r.Calibrations[0].Flips != 1 {
		t.Errorf("calibrations %+v", r.Calibrations)
	}
	if f := r.Flips[0]; f.A != "corrected" || f.B != "ep" || f.Count != 1 || f.Cost != -5 || !slices.Equal(f.Rows, []int{4}) {
		t.Errorf("flip %+v", f)
	}

	// At 0.3 the negative action costs 1.5 and the positive one 0.7; the difference
	// changes by 6 with the probability. EP decides as the exact posterior does.
	near(t, "regret", r.Regrets[0].Mean, 0.8/8)
	near(t, "error of the regret", r.Regrets[0].StdErr, 0.06/8)
	near(t, "error of the probability", r.Regrets[0].Off, 0.2/8)
	if g := r.Regrets; g[0].Differ != 1 || g[0].Open != 0 || g[1].Differ != 0 || g[1].Mean != 0 {
		t.Errorf("regrets %+v", g)
	}

	near(t, "ratio", r.Benefit.Given, 5)
	middle := len(r.Benefit.Ratios) / 2
	near(t, "middle ratio", r.Benefit.Ratios[middle], 5)
	for _, curve := range r.Benefit.Curves {
		// True positives less false ones at a fifth each.
		want := map[string]float64{"treat all": (4 - 4.0/5) / 8, "treat none": 0, ProbitRegression: (4 - 4.0/5) / 8, "corrected": (3 - 2.0/5) / 8}
		near(t, "net benefit of "+curve.Method, curve.Values[middle], want[curve.Method])
	}

	for _, s := range r.Sensitive {
		switch s.Factor {
		case 1:
			near(t, "changed", s.Changed, 0)
			near(t, "cost", s.Cost, 7.0/8)
		case 2: // the threshold falls to 1/11, and the cases at 0.1 become positive
			near(t, "changed at 2", s.Changed, 2.0/8)
			near(t, "cost at 2", s.Cost, 3.0/8)
			near(t, "cost at 2, kept", s.Kept, 12.0/8)
		}
	}

	// |6p − 1| is least at 0.2, and the same at both 0.1.
	if n := r.Nearest; n[0].Row != 3 || n[1].Row != 4 || n[2].Row != 6 || n[0].Line != 4 || n[0].Action != "positive" || n[0].Outcome != "yes" {
		t.Errorf("nearest %+v", n[:3])
	}
	near(t, "margin", r.Nearest[0].Margin, 0.2)
	near(t, "worth of the outcome", r.Nearest[0].Worth, 0.8)

	// Outcomes are worth 0.1, 0.5, 0.8, 0.5, 0.25, 0.5, 0.7 and 0.4. At three quarters of the
	// most it pays for the third, which had been decided rightly, and the seventh, which had
	// not.
	first, last := r.Known[0], r.Known[len(r.Known)-1]
	near(t, "share in which knowing for nothing pays", first.Share, 1)
	near(t, "saved for nothing", first.Saved.Value, 7.0/8)
	near(t, "expected for nothing", first.Expected, 3.75/8)
	near(t, "price", last.Price, 0.6)
	near(t, "share in which knowing pays", last.Share, 2.0/8)
	near(t, "saved", last.Saved.Value, (-0.6+0.4)/8)
	near(t, "expected", last.Expected, (0.2+0.1)/8)

	brier := 0.01 + 0.25 + 0.64 + 0.81 + 0.0025 + 0.01 + 0.09 + 0.36
	near(t, "Brier score", r.Methods[0].Quality.Brier.Value, brier/8)
	near(t, "accuracy", r.Methods[0].Quality.Accuracy.Value, 4.0/8)
	// Eight cases are one bin.
	if b := r.Reliable.Bins; len(b) != 1 || b[0].From != 0 || b[0].To != 1 || b[0].Count != 8 || b[0].Observed != 0.5 {
		t.Errorf("bins %+v", b)
	}

	if len(r.Decisions) != 8*len(want) || len(r.Verdicts) != 5 {
		t.Errorf("%d decisions, %d verdicts", len(r.Decisions), len(r.Verdicts))
	}
	// Two misses of 5 are most of what could have been avoided.
	near(t, "avoidable cost", r.Avoidable, 7.0/8)
	near(t, "effective mistakes", r.Mistakes, 7*7/(5.0*5+1+1))
	if !r.FewMistakes() || r.Approximation() != Costly {
		t.Errorf("few mistakes %v, approximation %v", r.FewMistakes(), r.Approximation())
	}
}

// Counts, ranks, thresholds and gains of the eight cases, by hand.
func TestCountsByHand(t *testing.T) {
	a, folds := eight(t)
	r, err := a.Summarise(folds)
	if err != nil {
		t.Fatal(err)
	}
	// Action by action, the negative outcome first.
	want := []struct{ cases, ofOutcome, ofAction float64 }{{2, 2.0 / 4, 2.0 / 3}, {1, 1.0 / 4, 1.0 / 3}, {2, 2.0 / 4, 2.0 / 5}, {3, 3.0 / 4, 3.0 / 5}}
	for k, c := range r.Methods[0].Counts {
		near(t, "cases", c.Cases, want[k].cases)
		near(t, "of the outcome", c.OfOutcome.Value, want[k].ofOutcome)
		near(t, "of the action", c.OfAction.Value, want[k].ofAction)
		if c.Action != k/2 || c.Outcome != k%2 || c.OfOutcome.Low < 0 || c.OfOutcome.High > 1 {
			t.Errorf("count %+v", c)
		}
	}
	// A constant action leaves nothing to say about the other one.
	constant := r.Methods[len(r.Methods)-1].Counts
	if constant[0].OfAction != nil || constant[3].OfAction.Value != 0.5 || constant[3].OfOutcome.Value != 1 {
		t.Errorf("constant: %+v", constant)
	}
	q := r.Methods[0].Quality
	near(t, "area", q.Area.Value, 10.5/16) // 4, 3, 2 and 1½ of 4 negative cases
	near(t, "average precision", q.Precision.Value, (1+2.0/3+3.0/5+4.0/7)/4)
	for _, m := range []*Measure{q.Area, q.Precision, q.Brier, q.LogLoss, q.Accuracy} {
		if !(m.Low < m.Value && m.Value < m.High) {
			t.Errorf("measure %+v", m)
		}
	}
	given := 0
	for _, c := range r.Cuts {
		switch {
		case c.Given:
			given++
			near(t, "cost at the threshold", c.Cost.Value, r.Methods[0].MeanCost)
		case c.Threshold == 0.5:
			if c.TruePositive != 1 || c.FalsePositive != 1 || c.FalseNegative != 3 || c.TrueNegative != 3 {
				t.Errorf("cut %+v", c)
			}
			near(t, "cost at one half", c.Cost.Value, 2)
			near(t, "net benefit at one half", c.NetBenefit, 0)
			near(t, "sensitivity", c.Sensitivity, 0.25)
			near(t, "specificity", c.Specificity, 0.75)
		}
	}
	if given != 1 {
		t.Errorf("%d thresholds are the given one", given)
	}
	for _, g := range r.Gains {
		switch g.Share {
		case 0.5:
			if g.Cases != 4 || g.Found != 2 || g.Lift != 1 || g.OfPositive.Value != 0.5 || g.Probability != 0.3 {
				t.Errorf("gain %+v", g)
			}
		case 0.8: // six cases: one of the two at 0.1, half of it positive
			near(t, "found", g.Found, 3.5)
		case 1:
			near(t, "all", g.Found, 4)
		}
	}
}

// A ranking without a mistake is not known to be perfect.
func TestPerfectRanking(t *testing.T) {
	a, folds := eight(t)
	for _, f := range folds {
		for k, i := range f.Rows {
			f.Answers["corrected"][k] = decision.Pair(0.9 - 0.1*float64(i))
		}
	}
	r, err := a.Summarise(folds)
	if err != nil {
		t.Fatal(err)
	}
	if q := r.Methods[0].Quality; q.Area.Value != 1 || q.Area.High != 1 || q.Area.Low > 0.95 || q.Precision.Value != 1 || q.Precision.Low > 0.95 {
		t.Errorf("area %+v, precision %+v", q.Area, q.Precision)
	}
}

// Utilities are costs with their sign turned: the best action and the margin stay.
func TestUtilitiesBecomeCosts(t *testing.T) {
	u := decision.Stakes{Table: decision.Table{{1, 0.2}, {0.6, 0.9}, {0.8, 0.7}}}
	c := costs(u)
	for p := 0.0; p <= 1; p += 1.0 / 64 {
		if got, want := cheapest(c, decision.Pair(p)), u.Best(decision.Pair(p), -1); got != want {
			t.Errorf("at %v: action %d, want %d", p, got, want)
		}
	}
	near(t, "cost of the third action", c.Table[2][1], -0.7)
	// At p = 0 the third action is worth 0.2 less than the first.
	near(t, "margin", margin(c, decision.Pair(0)), 0.2)
	r := &Result{}
	if m := r.Stated(Measure{Value: -3, Low: -4, High: -1}); m != (Measure{Value: 3, Low: 1, High: 4}) {
		t.Errorf("stated %+v", m)
	}
}

// Few cases that come out otherwise are said to be few, in units of what they could differ.
func TestTooFew(t *testing.T) {
	a, folds := eight(t)
	r, err := a.Summarise(folds)
	if err != nil {
		t.Fatal(err)
	}
	// Always negative against the audited decisions: 3 misses that cost 5 more, and 2 false
	// alarms less, together 17 of at most 5 a case.
	c := r.Comparison("always negative")
	if near(t, "difference", c.Difference, 13.0/8); !c.TooFew {
		t.Errorf("%+v", c)
	}
	losses, others := make([]float64, 8), make([]float64, 8)
	for n := 1; n <= 8; n++ {
		losses[n-1] = 5
		if got := a.tooFew(losses, others, &compare.Range{Least: -5, Most: 5}); got != (n < few) {
			t.Errorf("%d of the largest differences: too few %v", n, got)
		}
	}
}

// The headline comparisons do not depend on what else was compared: a model whose
// decisions are another's changes nothing, and is said to be identical.
func TestIdenticalModelsChangeNothing(t *testing.T) {
	comparisons := func(methods ...lossep.Method) map[string]Comparison {
		a, folds := eight(t)
		a.opt.Methods = append([]lossep.Method{lossep.Corrected}, methods...)
		r, err := a.Summarise(folds)
		if err != nil {
			t.Fatal(err)
		}
		all := make(map[string]Comparison)
		for _, c := range r.Comparisons {
			all[c.Method] = c
		}
		return all
	}
	alone, all := comparisons(), comparisons(lossep.EP, lossep.LossEP)
	for _, name := range []string{OneHalf, "always positive"} {
		c := alone[name]
		if !c.Headline || c.Corrected != c.P || all[name] != c {
			t.Errorf("%s alone: %+v, and with others: %+v", name, c, all[name])
		}
	}
	if c := all["always negative"]; c.Headline {
		t.Errorf("the worse constant action is in the headline: %+v", c)
	}
	// Here loss-ep decides as the audited method does, so that two models are left for
	// Holm's correction.
	if c := all["loss-ep"]; !c.Identical || c.P != 1 || c.Difference != 0 {
		t.Errorf("loss-ep: %+v", c)
	}
	low, high := all["ep"], all[ProbitRegression]
	if low.P > high.P {
		low, high = high, low
	}
	near(t, "corrected among two", low.Corrected, min(1, 2*low.P))
	near(t, "the larger of two", high.Corrected, max(high.P, low.Corrected))
}

// What is significant is said, in the direction that it has.
func TestVerdicts(t *testing.T) {
	score := func(name string, cost float64) Score { return Score{Method: name, MeanCost: cost} }
	base := func() *Result {
		return &Result{
			Costs: true, Method: "ep", Actions: []string{"no", "yes"}, Independent: 90,
			Methods: []Score{score("ep", 0.5), score("loss-ep", 0.45), score(OneHalf, 0.8), score("always no", 1), score("always yes", 0.7)},
			Comparisons: []Comparison{
				{Method: "loss-ep", Than: "ep", Difference: -0.05, Low: -0.1, High: 0.05, Corrected: 0.4},
				{Method: OneHalf, Than: "ep", Difference: 0.3, Corrected: 0.01},
				{Method: "always no", Than: "ep", Difference: 0.5, Corrected: 0.01},
				{Method: "always yes", Than: "ep", Difference: 0.2, Corrected: 0.01},
			},
			Calibrations: []Comparison{{Method: "loss-ep", Than: "ep", Difference: -0.05, Corrected: 0.4, Flips: 3, Decisions: 90}},
		}
	}
	tones := func(r *Result) (s string) {
		for _, v := range r.verdicts() {
			s += string(v.Tone) + " "
		}
		return strings.TrimSpace(s)
	}
	for name, c := range map[string]struct {
		change func(*Result)
		want   string
	}{
		"nothing is certain":           {func(*Result) {}, "good good good good neutral"},
		"a constant action is as good": {func(r *Result) { r.Comparisons[3].Corrected = 0.2 }, "mixed good good good neutral"},
		"a constant action is better": {func(r *Result) {
			r.Methods[4].MeanCost, r.Comparisons[3].Difference = 0.3, -0.2
		}, "bad bad good good neutral"},
		"calibration saves":         {func(r *Result) { r.Comparisons[0].Corrected, r.Calibrations[0].Corrected = 0.01, 0.01 }, "good bad good good good"},
		"calibration costs":         {func(r *Result) { r.Calibrations[0].Corrected, r.Calibrations[0].Difference = 0.01, 0.05 }, "good good good good bad"},
		"one half decides the same": {func(r *Result) { r.Comparisons[1].Identical = true }, "good good good neutral neutral"},
		"one half is better": {func(r *Result) {
			r.Methods[2].MeanCost, r.Comparisons[1].Difference = 0.3, -0.2
		}, "good bad good bad neutral"},
		"the cost is not as expected": {func(r *Result) { r.Reliable.Surprise = Measure{0.1, 0.05, 0.2} }, "good good mixed good neutral"},
		"the ranking is upside down":  {func(r *Result) { r.Methods[0].Quality = &Quality{Area: &Measure{0.2, 0.1, 0.4}} }, "bad good good good neutral"},
		"the ranking may be chance":   {func(r *Result) { r.Methods[0].Quality = &Quality{Area: &Measure{0.4, 0.2, 0.6}} }, "good good good good neutral"},
		"few cases":                   {func(r *Result) { r.Independent = 12 }, "good good neutral good neutral"},
		"calibration was not tried":   {func(r *Result) { r.Calibrations = nil }, "good good good good neutral"},
	} {
		r := base()
		c.change(r)
		if got := tones(r); got != c.want {
			t.Errorf("%s: %q, want %q: %+v", name, got, c.want, r.verdicts())
		}
	}
}

// Who acts above one half acts above a lower threshold too: a miss can be saved, not made.
func TestPairsOfActionsThatCanBe(t *testing.T) {
	c := decision.Stakes{Table: decision.Table{{0, 20}, {1, 0}}, Costs: true}
	if got, want := pairedEnds(c, likelier, cheapest), [2][2]float64{{-1, 0}, {0, 20}}; got != want {
		t.Errorf("a threshold of one half costs %v more, not %v", got, want)
	}
	if got := pairedEnds(c, cheapest, cheapest); got != [2][2]float64{} {
		t.Errorf("the same costs %v more", got)
	}
}

// Few cases in which the exact posterior decides alike tell nothing of the approximation.
func TestRegretOfFewCases(t *testing.T) {
	for _, c := range []struct {
		cases, differ int
		want          Approximation
	}{{3, 0, TooFewCases}, {29, 0, TooFewCases}, {30, 0, Negligible}, {3, 1, Costly}} {
		r := &Result{Regrets: []Regret{{By: "exact", Cases: c.cases, Differ: c.differ, Mean: float64(c.differ)}}}
		if got := r.Approximation(); got != c.want {
			t.Errorf("%d cases, %d decided otherwise: %v", c.cases, c.differ, got)
		}
	}
	for want, r := range map[Approximation]*Result{
		NotAsked: {Likelihood: "probit"}, OnlyProbit: {Likelihood: "logit"},
	} {
		if got := r.Approximation(); got != want {
			t.Errorf("%+v: %v, want %v", r, got, want)
		}
	}
}
