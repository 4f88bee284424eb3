package report

import (
	"strings"
	"testing"

	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/decision"
)

// small is the report of an audit of two methods, made up.
func small(t *testing.T) *Audit {
	t.Helper()
	spec, err := decision.ParseCosts("fn=5,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	score := func(name string, kind audit.Kind, cost float64) audit.Score {
		s := audit.Score{Method: name, Kind: kind, MeanCost: cost, Low: cost - 0.1, High: cost + 0.1}
		for a := range 2 {
			for y := range 2 {
				share := audit.Measure{Value: 0.25, Low: 0.0123, High: 0.5}
				s.Counts = append(s.Counts, audit.Count{Action: a, Outcome: y, Cases: 10, OfOutcome: &share, OfAction: &share})
			}
		}
		return s
	}
	compared := func(name string, difference, p float64) audit.Comparison {
		return audit.Comparison{Method: name, Than: "ep", Difference: difference, Low: difference - 0.1, High: difference + 0.1, P: p, Corrected: p, Flips: 3, Decisions: 90}
	}
	return &Audit{Result: &audit.Result{
		Rows: 90, Costs: true, Utility: spec, Method: "ep", Likelihood: "probit", Avoidable: 0.5, Mistakes: 20,
		Outcomes: []string{"no", "yes"}, Actions: []string{"keep", "call"}, Right: []int{0, 1},
		Methods: []audit.Score{
			score("ep", audit.Fitted, 0.5), score("loss-ep", audit.Fitted, 0.45), score(audit.OneHalf, audit.Baseline, 0.8),
			score("always keep", audit.Baseline, 1), score("always call", audit.Baseline, 0.7),
		},
		Comparisons: []audit.Comparison{
			compared("loss-ep", -0.05, 0.4), compared(audit.OneHalf, 0.3, 0.01), compared("always keep", 0.5, 0.01), compared("always call", 0.2, 0.01),
		},
		Calibrations: []audit.Comparison{compared("loss-ep", -0.05, 0.4)},
	}, called: []string{"no", "yes"}}
}

func (r *Audit) say(q audit.Question, tone audit.Tone, why audit.Reason) string {
	v := r.verdict(audit.Verdict{Question: q, Tone: tone, Reason: why})
	return v.Question + " " + v.Answer + ". " + v.Finding
}

// Every answer has its words, with its numbers, in the direction that they have.
func TestVerdictsInWords(t *testing.T) {
	r := small(t)
	external := small(t)
	external.Method, external.Methods[0].Kind = "p", audit.External
	external.Reliable = audit.Reliability{Expected: 0.3, Surprise: audit.Measure{Value: 0.2, Low: 0.1, High: 0.3}}
	leaks := small(t)
	leaks.Leaks = []string{"discharge", "ward"}
	bring := small(t)
	bring.Costs = false
	for _, c := range []struct {
		got  string
		want []string
	}{
		{r.say(audit.AboutCost, audit.Good, audit.BetterThanConstant), []string{"0.50 per case.", "This is 0.20 less (95 % interval 0.10 to 0.30) than the best constant decision (always call: 0.70), a saving of 29 %."}},
		{r.say(audit.AboutCost, audit.Mixed, audit.UnclearOfConstant), []string{"is not significant (p = 0.010)."}},
		{r.say(audit.AboutCost, audit.Mixed, audit.SameForAll), []string{"Every case gets the same action (always call)"}},
		{r.say(audit.AboutOtherMethods, audit.Good, audit.LowerByChance), []string{"no other method tried is significantly cheaper.", "that of Loss-EP, 0.05 less (95 % interval −0.05 to 0.15), which is not significant (p = 0.40)", "No fold was compared with the exact posterior"}},
		{r.say(audit.AboutCalibration, audit.Neutral, audit.CalibrationNeutral), []string{"no significant difference.", "Loss-EP decides 3 of 90 cases differently from EP and costs 0.05 less per case", "Deciding by the costs does matter: with a threshold of one half, the same probabilities cost 0.30 more per case"}},
		{external.say(audit.AboutProbabilities, audit.Mixed, audit.Miscalibrated), []string{"not quite: expected 0.30 per case, observed 0.50.", "(95 % interval of the difference 0.10 to 0.30)"}},
		{leaks.say(audit.AboutLeakage, audit.Bad, audit.TellsOutcome), []string{"check discharge and ward.", "Features discharge and ward each predict the outcome almost perfectly"}},
		{bring.say(audit.AboutCost, audit.Good, audit.BetterThanConstant), []string{"What will these decisions bring me? −0.50 per case.", "bring −0.50 each"}},
	} {
		for _, want := range c.want {
			if !strings.Contains(c.got, want) {
				t.Errorf("%q is not in\n%s", want, c.got)
			}
		}
	}
}

// Why there is no exact posterior is said as it is.
func TestWhyNothingWasCompared(t *testing.T) {
	for want, change := range map[string]func(*audit.Result){
		"No fold was compared":                    func(*audit.Result) {},
		"for two outcomes only":                   func(r *audit.Result) { r.Outcomes = []string{"a", "b", "c"} },
		"for the probit likelihood only, not for": func(r *audit.Result) { r.Likelihood = "logit" },
	} {
		r := small(t)
		if change(r.Result); !strings.Contains(r.notCompared(), want) {
			t.Errorf("%q is not in %q", want, r.notCompared())
		}
	}
}

// The numbers of a column are written to the same place, and zero has no sign.
func TestColumnsHaveOnePlace(t *testing.T) {
	r := small(t)
	r.Methods[3].MeanCost, r.Methods[3].Low, r.Methods[3].High = 7.4521, 6.67, 8.26
	r.Methods[1].MeanCost, r.Methods[1].Low, r.Methods[1].High = -0.0001, -0.04, 0.04
	for i, want := range []string{"0.50 (0.40 to 0.60)", "0.00 (−0.04 to 0.04)", "0.80 (0.70 to 0.90)", "7.45 (6.67 to 8.26)"} {
		if got := r.costTable().Rows[i].Cells[1].Text; got != want {
			t.Errorf("row %d is %q, want %q", i, got, want)
		}
	}
	if got := r.ratesTable(r.Methods[:2]).Rows[0].Cells[1].Text; got != "25.0 % (1.2 to 50.0 %)" {
		t.Errorf("a rate is %q", got)
	}
	r.Cuts = []audit.Cut{{Threshold: 0.5, NetBenefit: -0.0001}}
	if got := r.cutsTable().Rows[0].Cells[5].Text; got != "0.000" {
		t.Errorf("net benefit %q", got)
	}
}

// The row of the threshold that costs imply is set in bold, and bold is explained only where
// there is one.
func TestThresholdOfCosts(t *testing.T) {
	r := small(t)
	r.Cuts = []audit.Cut{{Threshold: 0.1}, {Threshold: 1.0 / 6, Given: true}}
	table := r.cutsTable()
	for _, c := range table.Rows[1].Cells {
		if !c.Best {
			t.Errorf("%q is not bold", c.Text)
		}
	}
	if table.Best == "" || table.Rows[0].Cells[0].Best {
		t.Errorf("%+v", table)
	}
	r.Cuts[1].Given = false
	if table := r.cutsTable(); table.Best != "" {
		t.Errorf("bold is explained as %q, and nothing is", table.Best)
	}
}

// Tables of a terminal are no wider than the text above them.
func TestTablesFitTheText(t *testing.T) {
	r := small(t)
	r.Outcomes, r.called = []string{"setosa", "versicolor", "virginica"}, []string{"setosa", "versicolor", "virginica"}
	r.Actions = r.Outcomes
	r.Methods[0].Counts = nil
	for a := range 3 {
		for y := range 3 {
			r.Methods[0].Counts = append(r.Methods[0].Counts, audit.Count{Action: a, Outcome: y, Cases: 1000, OfOutcome: &audit.Measure{Value: 1, Low: 0.9, High: 1}})
		}
	}
	var b strings.Builder
	if err := r.countsTable(r.Methods[0]).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimSpace(line))); n > textWidth {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}

// A percent sign is not torn from its number.
func TestWrappedPercent(t *testing.T) {
	if got := wrapText("an interval of 95 % of all", 18); got != "an interval of\n95 % of all" {
		t.Errorf("%q", got)
	}
}

// A number is the same in the text and in the table, whatever its own interval deserves.
func TestTextAndTableAgree(t *testing.T) {
	r := small(t)
	r.Methods[4].MeanCost, r.Methods[4].Low, r.Methods[4].High = 0.6259, 0.585, 0.666
	r.Methods[0].Low, r.Methods[0].High = 0.2, 2.1 // one decimal by itself
	text := r.say(audit.AboutCost, audit.Good, audit.BetterThanConstant)
	for _, row := range []int{0, 4} {
		value, _, _ := strings.Cut(r.costTable().Rows[row].Cells[1].Text, " (")
		if !strings.Contains(text, value+" ") && !strings.Contains(text, value+")") {
			t.Errorf("%s of the table is not in %s", value, text)
		}
	}
}
