package pages

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/report"
)

// Audit is what was found about decisions, in the form of Results.
type Audit struct {
	Origin
	Data string `json:"data"` // the name of the table
	*audit.Result
	// Recipe is how rows became numbers, in words.
	Recipe []string `json:"-"`
	// Trees is how to bring in the probabilities of programs that learn trees.
	Trees string `json:"-"`
}

// AuditFiles are the names of all files there may be.
func AuditFiles() []string {
	return []string{
		"index.html", "cost.svg", "cost.png", "reliability.svg", "reliability.png", "net_benefit.svg", "net_benefit.png",
		"sensitivity.svg", "sensitivity.png", "gains.svg", "gains.png",
		"folds.csv", "decisions.csv", "counts.csv", "quality.csv", "thresholds.csv", "gains.csv", "parts.csv", "columns.csv", Results,
	}
}

// Files are the contents of the report's files, by name.
func (r *Audit) Files() (map[string][]byte, error) {
	f := make(files)
	for name, figure := range r.figures() {
		if err := f.figure(name, figure); err != nil {
			return nil, err
		}
	}
	tables := map[string]func(io.Writer) error{
		"index.html": r.page().Write, "folds.csv": r.writeFolds, "decisions.csv": r.writeDecisions,
		"counts.csv": r.writeCounts, "quality.csv": r.writeQuality,
	}
	if !r.several() { // what ranks cases by one probability
		tables["thresholds.csv"], tables["gains.csv"] = r.writeCuts, r.writeGains
	}
	if len(r.Parts) > 0 {
		tables["parts.csv"] = r.writeParts
	}
	if len(r.Importances) > 0 {
		tables["columns.csv"] = r.writeImportances
	}
	for name, write := range tables {
		if err := f.add(name, write); err != nil {
			return nil, err
		}
	}
	return f, f.results(r, "  ")
}

func (r *Audit) figures() map[string]report.Figure {
	f := map[string]report.Figure{
		"cost":        r.costFigure(),
		"reliability": r.reliabilityFigure(r.Reliable),
	}
	if !r.several() {
		f["sensitivity"], f["gains"] = r.sensitivityFigure(), r.gainsFigure()
	}
	if r.Benefit != nil {
		f["net_benefit"] = r.benefitFigure()
	}
	return f
}

// costFigure leaves out constant actions but the best one: the others can cost so much
// that all else would be one point.
func (r *Audit) costFigure() report.Intervals {
	f := report.Intervals{X: report.Axis{Label: sentence(r.Noun()) + " per case, with 95 % interval"}}
	best := r.BestConstant().Method
	for i, s := range r.Methods {
		if i >= len(r.Methods)-len(r.Actions) && s.Method != best {
			continue
		}
		m := r.Stated(audit.Measure{Value: s.MeanCost, Low: s.Low, High: s.High})
		f.Rows = append(f.Rows, report.Interval{Method: r.look(s.Method), Label: audit.Label(s.Method), Value: m.Value, Low: m.Low, High: m.High})
	}
	return f
}

// several tells whether there are more than two outcomes.
func (r *Audit) several() bool { return len(r.Outcomes) > 2 }

func (r *Audit) reliabilityFigure(of audit.Reliability) report.Reliability {
	f := report.Reliability{Method: r.look(r.Method)}
	for _, b := range of.Bins {
		f.Bins = append(f.Bins, report.Bin(b))
	}
	return f
}

func (r *Audit) benefitFigure() report.Lines {
	share := r.Share
	if r.Benefit.By != "" {
		// Treating all is worth share − (1 − share)/ratio, where cases count by their stakes.
		all, last := r.Benefit.Curves[0].Values, len(r.Benefit.Ratios)-1
		share = (all[last]*r.Benefit.Ratios[last] + 1) / (r.Benefit.Ratios[last] + 1)
	}
	f := report.Lines{
		X: report.Axis{Label: "Cost of a miss, in false alarms", Log: true},
		// Treating all loses without bound where false alarms are dear.
		Y:     report.Axis{Label: "Net benefit per case", Min: -share / 5, Max: 1.05 * share},
		Rules: []report.Rule{{At: r.Benefit.Given, Label: "as given: " + report.Number(r.Benefit.Given)}},
	}
	for _, c := range r.Benefit.Curves {
		f.Series = append(f.Series, report.Series{Method: r.look(c.Method), Label: audit.Label(c.Method), X: r.Benefit.Ratios, Y: c.Values})
	}
	return f
}

func (r *Audit) sensitivityFigure() report.Lines {
	f := report.Lines{
		X:     report.Axis{Label: sentence(r.Noun()) + " of " + r.casesOf(1) + ", as a multiple of that stated", Log: true},
		Y:     report.Axis{Label: sentence(r.Noun()) + " per case at that multiple"},
		Rules: []report.Rule{{At: 1, Label: "as stated"}},
	}
	adapted := report.Series{Method: r.look(r.Method), Label: "decided by the multiple"}
	kept := report.Series{Method: "kept", Label: "decided as stated"}
	for _, s := range r.Sensitive {
		adapted.X, adapted.Y = append(adapted.X, s.Factor), append(adapted.Y, r.Stated(audit.Measure{Value: s.Cost}).Value)
		kept.X, kept.Y = append(kept.X, s.Factor), append(kept.Y, r.Stated(audit.Measure{Value: s.Kept}).Value)
	}
	f.Series = []report.Series{adapted, kept}
	return f
}

// tones are the colours of verdicts.
var tones = map[string]report.Outcome{
	"good": report.Holds, "mixed": report.Partly, "bad": report.Fails, "neutral": report.Neutral,
}

// subtitle says which cases were decided, for whom, and by what.
func (r *Audit) subtitle() string {
	method := audit.Label(r.Method)
	text := fmt.Sprintf("%s: %s past cases, %s; decided by %s", r.Data, report.Count(r.Rows), r.made(), method)
	if r.Test != "" {
		text = fmt.Sprintf("%s: %s cases, %s; decided by %s, learned from %s", r.Test, report.Count(r.Rows), r.made(), method, r.Data)
	}
	if r.Prevalence > 0 {
		text += fmt.Sprintf("; stated for a population of which %s %s", report.Percent(r.Prevalence), r.being(1))
	}
	return text
}

func (r *Audit) page() *report.Page {
	method := audit.Label(r.Method)
	p := report.NewPage("What these decisions "+r.verb(), r.subtitle())

	p.Section("In short")
	for _, v := range r.Verdicts {
		p.Verdict(tones[v.Tone], v.Answer, v.Question, v.Finding)
	}

	p.Section("Who is decided how")
	if r.Prevalence > 0 {
		p.Text(fmt.Sprintf("Counts are of %s cases of the population that decisions are for, of which %s %s; they need not be whole numbers.", report.Count(r.Rows), report.Percent(r.Prevalence), r.being(1)))
	}
	p.Text(r.missed(r.Methods[0]))
	p.Table(r.countsTable(r.Methods[0]))
	if len(r.Actions) == 2 && !r.several() {
		p.Table(r.ratesTable(r.shown(audit.OneHalf)))
		p.Details("The same for everything that was tried", func(b *report.Body) { b.Table(r.ratesTable(r.Methods)) })
	}

	p.Section("What decisions " + r.verb())
	p.Text(r.costText())
	p.Figure(r.costFigure(), sentence(r.Noun())+" per case of every method and baseline; of the actions that are the same for all, only the best is shown.", "Mean "+r.Noun()+" per case with interval, one row for each method and baseline; the table below has the numbers.")
	p.Table(r.costTable())
	p.Text("“Other decisions” is the share of cases that are decided otherwise than by " + method + ". The comparisons with the best action that is the same for all and with " + map[bool]string{true: "taking the most probable outcome for certain", false: "a threshold of one half"}[r.several()] + " were stated beforehand, and their p stand alone; those with other models are corrected (Holm), among the models that decide otherwise at least once" + map[bool]string{true: ", and those with recalibrated probabilities among themselves"}[len(r.Recalibrations) > 0] + ".")

	p.Section("Can the probabilities be trusted")
	r.reliabilitySection(p)
	p.Text(r.trust())
	first := r.shown(audit.ProbitRegression)
	p.Table(r.qualityTable(first))
	if r.ranked() > len(first) {
		p.Details("The same for everything that was tried", func(b *report.Body) { b.Table(r.qualityTable(r.Methods)) })
	}

	if !r.several() {
		r.rankedSections(p)
	}

	if len(r.Parts) > 0 {
		p.Section("By " + r.By)
		r.partsSection(p)
	}

	p.Section("Cases nearest to the boundary")
	p.Text("For these the next best action is expected to be worse by the margin only: a second look is worth most here." + r.effectsText())
	p.Table(r.nearestTable())
	if len(r.Known) > 0 {
		p.Section("Would it pay to know more first")
		p.Text(r.knownText())
		p.Table(r.knownTable())
	}
	if len(r.Importances) > 0 {
		p.Section("What the columns are worth")
		p.Text("What a case " + map[bool]string{true: "costs more", false: "brings less"}[r.Costs] + " on average if a column's cell is that of another case, so that the column tells nothing about it and all others do. Cases were decided by models that had not seen them, by expectation propagation. The p are corrected for the number of columns that change a decision (Holm). Columns that tell the same share what they are worth, and may each seem worth little.")
		p.Table(r.importanceTable(mostColumns))
		if len(r.Importances) > mostColumns {
			p.Details("All columns", func(b *report.Body) { b.Table(r.importanceTable(len(r.Importances))) })
		}
	}

	if len(r.Recalibrations) > 0 {
		p.Section("What recalibrating would bring")
		p.Text("Probabilities as they are after recalibration by the cases of all other folds: isotonic frequencies, log odds shifted and scaled (Platt), and a Gaussian process over the probability alone.")
		p.Table(r.pairsTable("Recalibrated probabilities against those given", r.Recalibrations))
	}
	if r.Methods[0].Kind != "given" {
		p.Section("Does calibration matter")
		r.calibrationSection(p)

		p.Section("Against the exact posterior")
		r.regretSection(p)
	}

	p.Section("How it was done")
	r.methodSection(p)
	return p
}

// rankedSections are those that rank cases by the probability of the positive outcome.
func (r *Audit) rankedSections(p *report.Page) {
	p.Section("At other thresholds")
	if r.Benefit != nil {
		p.Figure(r.benefitFigure(), "Decision curve: what deciding by a model is worth over costs of a miss, in true positives per case.",
			"Net benefit against the ratio of costs, for the audited method, probit regression, treating all and treating none.")
		text := "Where the curve of a model lies above those of treating all and treating none, deciding case by case pays."
		if r.Benefit.By != "" {
			text += fmt.Sprintf(" All costs are multiples of %[1]s, so that the threshold is the same in every case; a case counts by its %[1]s.", r.Benefit.By)
		}
		p.Text(text)
	}
	if len(r.Cuts) > 0 {
		p.Table(r.cutsTable())
	}

	p.Section("Where to look first")
	p.Figure(r.gainsFigure(), fmt.Sprintf("Gains: the share of %s found among the cases most probably so.", r.casesOf(1)),
		"Share of positive cases found against the share of cases looked at, most probable first, with interval, and the diagonal of looking at random.")
	p.Table(r.gainsTable())

	p.Section("If the " + r.nouns() + " are not quite right")
	p.Figure(r.sensitivityFigure(), sentence(r.Noun())+" per case if the "+r.Noun()+" of "+r.casesOf(1)+" is a multiple of that stated.",
		sentence(r.Noun())+" per case against the multiple, decided by the multiple and as stated.")
	p.Table(r.sensitivityTable())
}

// trust says whether probabilities are what they claim to be, as far as costs go.
func (r *Audit) trust() string {
	m := r.Reliable
	surprise := r.Stated(m.Surprise)
	if r.several() {
		return fmt.Sprintf("Predicted and observed differ by %s on average over all cases and outcomes. By the probabilities' own account the decisions %s %s per case; the truth is %s (%s).",
			report.Percent(m.Error), r.verb(), report.Within(r.Stated(audit.Measure{Value: m.Expected}).Value, m.Surprise.Low, m.Surprise.High),
			more(surprise.Value, surprise.Low, surprise.High, "", "", "the same"), report.Range(surprise.Low, surprise.High))
	}
	return fmt.Sprintf("Predicted and observed differ by %s on average over all cases. %s of the cases %s, %s (95 %% interval of the difference %s). By the probabilities' own account the decisions %s %s per case; the truth is %s (%s).",
		report.Percent(m.Error), report.Percent(r.Share), r.being(1),
		more(100*m.Excess.Value, 100*m.Excess.Low, 100*m.Excess.High, " %", "than predicted", "as predicted"), percents(m.Excess.Low, m.Excess.High),
		r.verb(), report.Within(r.Stated(audit.Measure{Value: m.Expected}).Value, m.Surprise.Low, m.Surprise.High),
		more(surprise.Value, surprise.Low, surprise.High, "", "", "the same"), report.Range(surprise.Low, surprise.High))
}

// more writes a difference in words: so much more or less than something, or as much.
func more(v, low, high float64, unit, than, same string) string {
	text, word := report.Within(math.Abs(v), low, high), "more"
	if v < 0 {
		word = "less"
	}
	if strings.Trim(text, "0.") == "" {
		return same
	}
	return strings.TrimSpace(text + unit + " " + word + " " + than)
}

func (r *Audit) costText() string {
	s := "Every case was decided by models that had not seen it: " + r.Split + ". "
	if r.Methods[0].Kind == "given" {
		s = "Decided by " + r.Split + ". Whether the models had seen the cases is for those to say who made the probabilities. "
	}
	s += fmt.Sprintf("The %s of an action is what it turned out to %s. ", r.Noun(), r.verb())
	if r.Threshold != nil {
		return s + fmt.Sprintf("The rule: “%s” where P(%s) is above %s, else “%s”.", r.Actions[1], r.Called[1], threshold(*r.Threshold), r.Actions[0])
	}
	return s + "The rule: " + r.Utility.RuleLine() + "."
}

// casesOf is what the cases of an outcome are called.
func (r *Audit) casesOf(y int) string {
	if r.Called[y] == r.Outcomes[y] {
		return r.Called[y] + " cases"
	}
	return "cases with " + r.Called[y]
}

// being says that cases are of an outcome: they are malignant, or have churned = 1.
func (r *Audit) being(y int) string {
	if r.Called[y] == r.Outcomes[y] {
		return "are " + r.Called[y]
	}
	return "have " + r.Called[y]
}

// look is the look of a way to decide in figures: the audited one stands out, even if its
// probabilities were made elsewhere.
func (r *Audit) look(method string) string {
	if method == r.Method && r.Methods[0].Kind == "given" {
		return "loss-ep"
	}
	return method
}

// verb and nouns are how decisions have a cost, or a utility, and what several are called.
func (r *Audit) verb() string {
	if r.Costs {
		return "cost"
	}
	return "bring"
}

func (r *Audit) nouns() string {
	if r.Costs {
		return "costs"
	}
	return "utilities"
}

// ranked is how many ways to decide have probabilities of their own.
func (r *Audit) ranked() (n int) {
	for _, s := range r.Methods {
		if s.Quality != nil {
			n++
		}
	}
	return n
}

// shown are the ways to decide that a reader looks at first: the audited one, other
// probabilities that were given, and one baseline.
func (r *Audit) shown(baseline string) []audit.Score {
	var all []audit.Score
	for i, s := range r.Methods {
		if i == 0 || s.Kind == "given" || s.Method == baseline {
			all = append(all, s)
		}
	}
	return all
}

// pairsTable is comparisons of pairs.
func (r *Audit) pairsTable(caption string, pairs []audit.Comparison) *report.Table {
	t := &report.Table{Caption: caption, Columns: []report.Column{
		{Title: "decided by"},
		{Title: "against"},
		{Title: r.verb() + "s more by", Align: report.Right},
		{Title: "p", Align: report.Right},
		{Title: "decisions that flip", Align: report.Right},
	}}
	tooFew := false
	for _, c := range pairs {
		row := report.Row{Cells: make([]report.Cell, len(t.Columns))}
		row.Cells[0].Text, row.Cells[1].Text = audit.Label(c.Method), audit.Label(c.Than)
		tooFew = r.differenceCells(row.Cells[2:], c, true) || tooFew
		row.Cells[4].Text = fmt.Sprintf("%d of %s", c.Flips, report.Count(c.Decisions))
		t.Rows = append(t.Rows, row)
	}
	if tooFew {
		t.Notes = append(t.Notes, tooFewNote)
	}
	return t
}

func (r *Audit) calibrationSection(p *report.Page) {
	if len(r.Calibrations) > 0 {
		p.Table(r.pairsTable("Calibrated methods against their plain siblings", r.Calibrations))
	}
	t := &report.Table{Caption: "Decisions that flip between methods", Columns: []report.Column{
		{Title: "between"},
		{Title: "and"},
		{Title: "decisions", Align: report.Right},
		{Title: "the second " + r.verb() + "s more by, in all", Align: report.Right},
	}}
	for _, f := range r.Flips {
		t.AddRow(audit.Label(f.A), audit.Label(f.B), report.Count(f.Count), report.Signed(report.Number(r.Stated(audit.Measure{Value: f.Cost}).Value)))
	}
	p.Details("Decisions that flip between methods", func(b *report.Body) { b.Table(t) })
}

func (r *Audit) regretSection(p *report.Page) {
	if len(r.Regrets) == 0 {
		p.Text("The exact posterior was not asked. It is available for the probit likelihood, on as many folds as the audit is told to compare with it.")
		return
	}
	g := r.Regrets[0]
	t := &report.Table{Caption: "Regret under the exact posterior of the same model", Columns: []report.Column{
		{Title: "method"},
		{Title: "regret per case", Align: report.Right},
		{Title: "other decisions", Align: report.Right},
		{Title: "mean error of the probability", Align: report.Right},
	}}
	for _, g := range r.Regrets {
		regret := "0"
		if g.Differ > 0 {
			regret = report.PlusMinus(g.Mean, g.StdErr)
		}
		t.AddRow(audit.Label(g.Method), regret, fmt.Sprintf("%d of %d", g.Differ, g.Cases), report.Number(g.Off))
	}
	how := "independent draws from it"
	if g.By != "exact" {
		how = "the No-U-Turn sampler, as independent draws are out of reach here"
	}
	p.Text(fmt.Sprintf("What the decisions of a method are expected to cost more than those of the exact posterior, on %d cases, by %s. The number after ± bounds the Monte Carlo error. The exact posterior's own decision is open in %d of the cases: two standard errors of its draws reach past the boundary.", g.Cases, how, g.Open))
	if g.Rows > 0 {
		p.Text(fmt.Sprintf("All training rows are too many for that: the methods and the exact posterior learned from %s of them here, with the kernel that all rows gave.", report.Count(g.Rows)))
	}
	if g.Doubt != "" {
		p.Text("The chains give reason for doubt: " + g.Doubt + ".")
	}
	p.Table(t)
}

func (r *Audit) sensitivityTable() *report.Table {
	t := &report.Table{Columns: []report.Column{
		{Title: "multiple", Align: report.Right},
		{Title: "decisions that change", Align: report.Right},
		{Title: r.Noun() + ", decided by it", Align: report.Right},
		{Title: r.Noun() + ", decided as stated", Align: report.Right},
	}}
	own := r.Methods[0]
	text := func(cost float64) string {
		return report.Within(r.Stated(audit.Measure{Value: cost}).Value, own.Low, own.High)
	}
	for _, s := range r.Sensitive {
		t.AddRow(threshold(roundTo(s.Factor, 2)), report.Percent(s.Changed), text(s.Cost), text(s.Kept))
	}
	return t
}

func (r *Audit) nearestTable() *report.Table {
	t := &report.Table{Columns: []report.Column{
		{Title: "line", Align: report.Right},
		{Title: "P(" + r.listed() + ")", Align: report.Right},
		{Title: "action"},
		{Title: "margin", Align: report.Right},
		{Title: "worth of the outcome", Align: report.Right},
		{Title: "outcome"},
	}}
	explained := len(r.Nearest) > 0 && len(r.Nearest[0].Effects) > 0
	if explained {
		t.Columns = append(t.Columns, report.Column{Title: "P raised or lowered by"})
	}
	for _, c := range r.Nearest {
		row := []string{strconv.Itoa(c.Line), probability(c.Probability), c.Action, report.Within(c.Margin, 0, r.Nearest[len(r.Nearest)-1].Margin), report.Number(c.Worth), c.Outcome}
		if explained {
			row = append(row, effects(c.Effects))
		}
		t.AddRow(row...)
	}
	return t
}

// knownText says what information can be worth at most.
func (r *Audit) knownText() string {
	all := r.Known[0]
	return fmt.Sprintf("Had the outcome of every case been known before acting, a case would have %s %s on average (95 %% interval %s); by the probabilities' own account %s. No test, expert or delay can be worth more. Finding out has a price, and pays where the outcome is worth more than that by the probability. What it would have %s to find out there, and only there:",
		map[bool]string{true: "cost less by", false: "brought more by"}[r.Costs], report.Within(all.Saved.Value, all.Saved.Low, all.Saved.High), report.Range(all.Saved.Low, all.Saved.High),
		report.Within(all.Expected, all.Saved.Low, all.Saved.High), map[bool]string{true: "saved", false: "brought"}[r.Costs])
}

// knownTable is what it would have brought to find out outcomes first, by what that costs.
func (r *Audit) knownTable() *report.Table {
	t := &report.Table{Columns: []report.Column{
		{Title: "price of finding out", Align: report.Right},
		{Title: "pays in", Align: report.Right},
		{Title: "what that " + map[bool]string{true: "saves", false: "brings"}[r.Costs], Align: report.Right},
		{Title: "by the probabilities", Align: report.Right},
	}, Caption: "Per case, less the price, with 95 % intervals"}
	for _, k := range r.Known {
		m := k.Saved
		t.AddRow(threshold(k.Price), report.Percent(k.Share), fmt.Sprintf("%s (%s)", report.Within(m.Value, m.Low, m.High), report.Range(m.Low, m.High)), report.Within(k.Expected, m.Low, m.High))
	}
	return t
}

// roundTo keeps some significant digits.
func roundTo(v float64, digits int) float64 {
	kept, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		panic("pages: " + err.Error()) // of what has just been written
	}
	return kept
}

// writeFolds writes the cost of every method in every fold.
func (r *Audit) writeFolds(w io.Writer) error {
	type key struct {
		repeat, fold int
		method       string
	}
	sums, weights, counts := make(map[key]float64), make(map[key]float64), make(map[key]int)
	var order []key
	for _, d := range r.Decisions {
		k := key{d.Repeat, d.Fold, d.Method}
		if counts[k] == 0 {
			order = append(order, k)
		}
		sums[k] += d.Weight * d.Cost
		weights[k] += d.Weight
		counts[k]++
	}
	c := csv.NewWriter(w)
	rows := [][]string{{"repeat", "fold", "method", "cases", "mean_" + r.Noun()}}
	for _, k := range order {
		rows = append(rows, []string{strconv.Itoa(k.repeat), strconv.Itoa(k.fold), k.method, strconv.Itoa(counts[k]), decimal(r.Stated(audit.Measure{Value: sums[k] / weights[k]}).Value)})
	}
	return c.WriteAll(rows)
}

// writeDecisions writes every decision.
func (r *Audit) writeDecisions(w io.Writer) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"row", "line", "repeat", "fold", "outcome", "method", "probability", "action", r.Noun()}}
	for _, d := range r.Decisions {
		rows = append(rows, r.decisionCells(d))
	}
	return c.WriteAll(rows)
}

func (r *Audit) decisionCells(d audit.Decided) []string {
	outcome, probability := r.Outcomes[d.Outcome], ""
	if !math.IsNaN(d.Probability) {
		probability = decimal(d.Probability)
	}
	return []string{
		strconv.Itoa(d.Row), strconv.Itoa(d.Line), strconv.Itoa(d.Repeat), strconv.Itoa(d.Fold),
		outcome, d.Method, probability, r.Actions[d.Action], decimal(r.Stated(audit.Measure{Value: d.Cost}).Value),
	}
}
