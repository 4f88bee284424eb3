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
	external.Methods[0].Quality = &audit.Quality{Area: &audit.Measure{Value: 0.2, Low: 0.1, High: 0.3}}
	yearly := small(t)
	yearly.Currency = "EUR"
	yearly.Yearly = &audit.Yearly{Cases: 12000, Cost: audit.Measure{Value: 6000, Low: 4800, High: 7200}, Saved: audit.Measure{Value: 2400, Low: 1200, High: 3600}}
	leaks := small(t)
	leaks.Leaks = []string{"discharge", "ward"}
	bring := small(t)
	bring.Costs = false
	for _, c := range []struct {
		got  string
		want []string
	}{
		{r.say(audit.AboutCost, audit.Good, audit.BetterThanConstant), []string{"0.50 per case.", "Decided by this model,", "This is 0.20 less (95 % interval 0.10 to 0.30) than the best constant action (always call: 0.70), a saving of 29 %; the difference is statistically significant."}},
		{r.say(audit.AboutCost, audit.Mixed, audit.UnclearOfConstant), []string{"The difference from the best constant action (always call: 0.70) is not clear (could be chance)."}},
		{r.say(audit.AboutCost, audit.Mixed, audit.SameForAll), []string{"Every case gets the same action (always call)"}},
		{r.say(audit.AboutOtherMethods, audit.Good, audit.LowerByChance), []string{"nothing tried is clearly cheaper.", "that of another inference method (Loss-EP), 0.05 less (95 % interval 0.15 less to 0.05 more; could be chance)", "Not tried: boosted trees"}},
		{r.say(audit.AboutRule, audit.Good, audit.RuleSaves), []string{"Does using the costs help? yes.", "With a threshold of 0.5, the same probabilities cost 0.30 more per case"}},
		{r.say(audit.AboutCalibration, audit.Neutral, audit.CalibrationNeutral), []string{"no significant difference.", "Loss-EP decides 3 of 90 cases differently from EP and costs 0.05 less per case"}},
		{external.say(audit.AboutProbabilities, audit.Mixed, audit.Miscalibrated), []string{"not quite: expected 0.30 per case, observed 0.50.", "(95 % interval of the difference 0.10 to 0.30)"}},
		{external.say(audit.AboutProbabilities, audit.Good, audit.Calibrated), []string{"trusted? no miscalibration detected.", "Expected cost according to the probabilities: 0.30 per case; realised: 0.50"}},
		{external.say(audit.AboutProbabilities, audit.Neutral, audit.TooFewToTell), []string{"trusted? too few cases to tell."}},
		{external.say(audit.AboutProbabilities, audit.Bad, audit.Inverted), []string{"no: they rank cases in reverse.", "(AUC 0.20, 95 % interval 0.10 to 0.30)", "The column may hold the probability of no"}},
		{external.say(audit.AboutOtherMethods, audit.Good, audit.LowerByChance), []string{"Not tried: any other model"}},
		{leaks.say(audit.AboutLeakage, audit.Bad, audit.TellsOutcome), []string{"check discharge and ward.", "Features discharge and ward each predict the outcome almost perfectly"}},
		{bring.say(audit.AboutCost, audit.Good, audit.BetterThanConstant), []string{"What will these decisions bring? −0.50 per case.", "bring −0.50 each"}},
		{yearly.say(audit.AboutCost, audit.Good, audit.BetterThanConstant), []string{
			"0.50 EUR per case, 6,000 EUR a year.", "cost 0.50 EUR each", "12,000 cases a year cost 6,000 EUR (95 % interval 4,800 to 7,200 EUR), 2,400 EUR less (95 % interval 1,200 to 3,600 EUR)",
		}},
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
		if got := r.costTable(r.Methods, MethodLabel).Rows[i].Cells[1].Text; got != want {
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
		value, _, _ := strings.Cut(r.costTable(r.Methods, MethodLabel).Rows[row].Cells[1].Text, " (")
		if !strings.Contains(text, value+" ") && !strings.Contains(text, value+")") {
			t.Errorf("%s of the table is not in %s", value, text)
		}
	}
}

// Committees do not have to know methods of inference: only the appendix names them.
func TestMethodsAreInTheAppendix(t *testing.T) {
	r := small(t)
	r.Reliable.Bins = []audit.Bin{{To: 1, Count: 90, Predicted: 0.5, Observed: 0.5, High: 1}}
	r.Nearest = []audit.Case{{Line: 2, Outcome: "yes", Probabilities: []float64{0.5, 0.5}, Action: "keep"}}
	r.Sensitive = []audit.Shift{{Factor: 0.5}, {Factor: 1}, {Factor: 2}}
	r.Gains = []audit.Gain{{Share: 1, OfPositive: &audit.Measure{Value: 1, Low: 1, High: 1}}}
	for k := range r.Methods[:2] {
		r.Methods[k].Quality = &audit.Quality{}
	}
	for _, v := range []audit.Verdict{{Question: audit.AboutCost, Reason: audit.BetterThanConstant}, {Question: audit.AboutRule, Reason: audit.RuleSaves}, {Question: audit.AboutCalibration, Reason: audit.CalibrationNeutral}} {
		r.Verdicts = append(r.Verdicts, r.verdict(v))
	}
	var b strings.Builder
	if err := r.page().Write(&b); err != nil {
		t.Fatal(err)
	}
	body, appendix, ok := strings.Cut(b.String(), ">Methods</h2>")
	if !ok || !strings.Contains(appendix, "EP (this model)") || !strings.Contains(appendix, "Effect of loss calibration") {
		t.Error("the appendix does not name the methods")
	}
	_, body, _ = strings.Cut(body, "<main>")
	for _, name := range []string{">EP", " EP", "Loss-EP", "Laplace", "posterior", "loss calibration"} {
		if k := strings.Index(body, name); k >= 0 {
			t.Errorf("%q before the appendix: …%s", name, body[max(0, k-60):k+40])
		}
	}
}

// Decisions of more than two outcomes come with all probabilities, and cases with their names.
func TestDecisionsOfSeveral(t *testing.T) {
	r := small(t)
	r.ID, r.Outcomes = "case", []string{"a", "b", "c"}
	r.Decisions = []audit.Decided{
		{Row: 1, Line: 2, ID: "007", Repeat: 1, Fold: 1, Outcome: 2, Method: "ep", Probabilities: []float64{0.25, 0.25, 0.5}, Action: 1, Cost: 3},
		{Row: 1, Line: 2, ID: "007", Repeat: 1, Fold: 1, Outcome: 2, Method: "always keep"},
	}
	var b strings.Builder
	if err := r.writeDecisions(&b); err != nil {
		t.Fatal(err)
	}
	want := "row,line,case,repeat,fold,outcome,method,probability_a,probability_b,probability_c,action,cost\n" +
		"1,2,007,1,1,c,ep,0.25,0.25,0.5,call,3\n1,2,007,1,1,c,always keep,,,,keep,0\n"
	if b.String() != want {
		t.Errorf("%s, want\n%s", b.String(), want)
	}
}

// Each outcome is said to get the wrong action that costs most, though another is more frequent; the costs stand in
// a table, with their mean where they depend on cases; and cases of a small margin have the columns of the costs.
func TestCostlyMistakes(t *testing.T) {
	r := small(t)
	spec, err := decision.ParseSpec("costs.yaml", []byte("outcomes: [no, yes]\ncosts:\n  keep: {no: 0, yes: 6 * amount}\n  ask: {no: 1, yes: 1}\n  call: {no: 2, yes: 0}\n"))
	if err != nil {
		t.Fatal(err)
	}
	r.Utility, r.Actions, r.Right, r.Means = spec, []string{"keep", "ask", "call"}, []int{0, 2}, [][]float64{{0, 1, 2}, {30, 1, 0}}
	r.Methods[0].Counts = nil
	for a, of := range [][2]float64{{40, 4}, {9, 20}, {7, 10}} {
		for y := range 2 {
			r.Methods[0].Counts = append(r.Methods[0].Counts, audit.Count{Action: a, Outcome: y, Cases: of[y]})
		}
	}
	if got, want := r.mistakesText(r.Methods[0]), "4 of 34 yes cases get “keep”. 7 of 56 no cases get “call”."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var b strings.Builder
	if err := r.entriesTable().WriteText(&b); err != nil || !strings.Contains(b.String(), "6 * amount (30 on average)") {
		t.Errorf("%v: %s", err, b.String())
	}
	r.Nearest = []audit.Case{{Line: 2, Outcome: "yes", Probabilities: []float64{0.8, 0.2}, Action: "ask", Stakes: []string{"1,200"}}}
	b.Reset()
	if err := r.nearestTable().WriteText(&b); err != nil || !strings.Contains(b.String(), "1,200") || !strings.Contains(b.String(), "amount") {
		t.Errorf("%v: %s", err, b.String())
	}
}
