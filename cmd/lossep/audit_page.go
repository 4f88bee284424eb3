package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/lossep/lossep/audit"
	reports "github.com/lossep/lossep/report"
)

// auditFiles are all the files an audit may write.
var auditFiles = []string{
	"index.html", "cost.svg", "cost.png", "reliability.svg", "reliability.png", "net_benefit.svg", "net_benefit.png",
	"sensitivity.svg", "sensitivity.png", "folds.csv", "decisions.csv", folderResults,
}

// files are all files of the report.
func (r *auditRun) files() (map[string][]byte, error) {
	files := make(map[string][]byte)
	add := func(name string, write func(io.Writer) error) error {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		files[name] = b.Bytes()
		return nil
	}
	for name, f := range r.figures() {
		if err := add(name+".svg", func(w io.Writer) error { return reports.WriteSVG(w, f) }); err != nil {
			return nil, err
		}
		if err := add(name+".png", func(w io.Writer) error { return reports.WritePNG(w, f) }); err != nil {
			return nil, err
		}
	}
	for name, write := range map[string]func(io.Writer) error{
		"index.html":    r.page().Write,
		"folds.csv":     r.writeFolds,
		"decisions.csv": r.writeDecisions,
		folderResults:   func(w io.Writer) error { return writeJSON(w, r) },
	} {
		if err := add(name, write); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func (r *auditRun) figures() map[string]reports.Figure {
	f := map[string]reports.Figure{
		"cost":        r.costFigure(),
		"reliability": r.reliabilityFigure(),
		"sensitivity": r.sensitivityFigure(),
	}
	if r.Benefit != nil {
		f["net_benefit"] = r.benefitFigure()
	}
	return f
}

// costFigure leaves out constant actions but the best one: the others can cost so much
// that all else would be one point.
func (r *auditRun) costFigure() reports.Intervals {
	f := reports.Intervals{X: reports.Axis{Label: "Cost per case, with 95 % interval"}}
	best := r.BestConstant().Method
	for i, s := range r.Methods {
		if i >= len(r.Methods)-len(r.Actions) && s.Method != best {
			continue
		}
		f.Rows = append(f.Rows, reports.Interval{Method: s.Method, Value: s.MeanCost, Low: s.Low, High: s.High})
	}
	return f
}

func (r *auditRun) reliabilityFigure() reports.Reliability {
	f := reports.Reliability{Method: r.Method}
	for _, b := range r.Reliable.Bins {
		f.Bins = append(f.Bins, reports.Bin(b))
	}
	return f
}

func (r *auditRun) benefitFigure() reports.Lines {
	share := float64(r.Positive) / float64(r.Rows)
	f := reports.Lines{
		X: reports.Axis{Label: "Cost of a miss, in false alarms", Log: true},
		// Treating all loses without bound where false alarms are dear.
		Y:     reports.Axis{Label: "Net benefit per case", Min: -share / 5, Max: 1.05 * share},
		Rules: []reports.Rule{{At: r.Benefit.Given, Label: "as given: " + reports.Number(r.Benefit.Given)}},
	}
	for _, c := range r.Benefit.Curves {
		f.Series = append(f.Series, reports.Series{Method: c.Method, X: r.Benefit.Ratios, Y: c.Values})
	}
	return f
}

func (r *auditRun) sensitivityFigure() reports.Lines {
	f := reports.Lines{
		X:     reports.Axis{Label: "Cost of " + r.Outcomes[1] + " cases, as a multiple of that stated", Log: true},
		Y:     reports.Axis{Label: "Cost per case at these costs"},
		Rules: []reports.Rule{{At: 1, Label: "as stated"}},
	}
	adapted := reports.Series{Method: r.Method, Label: "decided by these costs"}
	kept := reports.Series{Method: "kept", Label: "decided by the costs as stated"}
	for _, s := range r.Sensitive {
		adapted.X, adapted.Y = append(adapted.X, s.Factor), append(adapted.Y, s.Cost)
		kept.X, kept.Y = append(kept.X, s.Factor), append(kept.Y, s.Kept)
	}
	f.Series = []reports.Series{adapted, kept}
	return f
}

// tones are the colours of verdicts.
var tones = map[string]reports.Outcome{
	"good": reports.Holds, "mixed": reports.Partly, "bad": reports.Fails, "neutral": reports.Neutral,
}

func (r *auditRun) page() *reports.Page {
	method := reports.MethodLabel(r.Method)
	p := reports.NewPage("What these decisions cost", fmt.Sprintf("%s: %s past cases, %s of them %s; decided by %s",
		r.Data, reports.Count(r.Rows), reports.Count(r.Positive), r.Outcomes[1], method))

	p.Section("In short")
	for _, v := range r.Verdicts {
		p.Verdict(tones[v.Tone], v.Answer, v.Question, v.Finding)
	}

	p.Section("What decisions cost")
	p.Text(r.costText())
	p.Figure(r.costFigure(), "Cost per case of every method and baseline; of the actions that are the same for all, only the best is shown.", "Mean cost per case with interval, one row for each method and baseline; the table below has the numbers.")
	p.Table(r.costTable())
	p.Text("Intervals and p-values are those of Nadeau and Bengio (2003), which allow for folds that share training cases; Holm's correction keeps the chance of a single false claim in the table at 5 %. “Other decisions” is the share of cases that are decided otherwise than by " + method + ".")

	p.Section("Does calibration matter")
	r.calibrationSection(p)

	p.Section("Against the exact posterior")
	r.regretSection(p)

	p.Section("Can the probabilities be trusted")
	p.Figure(r.reliabilityFigure(), fmt.Sprintf("Observed frequency of %s against its predicted probability (%s).", r.Outcomes[1], method),
		"Reliability diagram with ten bins; points on the diagonal are reliable probabilities.")
	p.Text(fmt.Sprintf("Predicted and observed differ by %s on average over all cases.", reports.Number(r.Reliable.Error)))
	p.Table(r.qualityTable())

	if r.Benefit != nil {
		p.Section("At other costs: net benefit")
		p.Figure(r.benefitFigure(), "Decision curve: what deciding by a model is worth over costs of a miss, in true positives per case.",
			"Net benefit against the ratio of costs, for the audited method, probit regression, treating all and treating none.")
		p.Text("Where the curve of a model lies above those of treating all and treating none, deciding case by case pays.")
	}

	p.Section("If the costs are not quite right")
	p.Figure(r.sensitivityFigure(), "Cost per case if the cost of "+r.Outcomes[1]+" cases is a multiple of that stated.",
		"Cost per case against the multiple, decided by the costs that hold and by the costs as stated.")
	p.Table(r.sensitivityTable())

	p.Section("Cases nearest to the boundary")
	p.Text("For these the next best action is expected to cost little more: a second look is worth most here.")
	p.Table(r.nearestTable())

	p.Section("How it was done")
	r.methodSection(p)
	return p
}

func (r *auditRun) costText() string {
	s := fmt.Sprintf("Every case was decided by models that were fitted without it: %d-fold stratified cross-validation", r.Folds)
	if r.Repeats > 1 {
		s += fmt.Sprintf(", %d times", r.Repeats)
	}
	s += "; the cost of an action is what it turned out to cost. "
	if !r.Costs {
		s += "Utilities were given, so the cost of an action is by how much it falls short of the best action in hindsight. "
	}
	return s + "The rule: " + r.Utility.RuleLine() + "."
}

func (r *auditRun) calibrationSection(p *reports.Page) {
	if len(r.Calibrations) > 0 {
		t := &reports.Table{Caption: "Calibrated methods against their plain siblings", Columns: []reports.Column{
			{Title: "method"},
			{Title: "against"},
			{Title: "costs more by", Align: reports.Right},
			{Title: "95 % interval", Align: reports.Right},
			{Title: "p (Holm)", Align: reports.Right},
			{Title: "decisions that flip", Align: reports.Right},
		}}
		for _, c := range r.Calibrations {
			t.AddRow(reports.MethodLabel(c.Method), reports.MethodLabel(c.Than), fmt.Sprintf("%+.4f", c.Difference), reports.Range(c.Low, c.High),
				reports.PValue(c.Adjusted), fmt.Sprintf("%d of %s", c.Flips, reports.Count(c.Decisions)))
		}
		p.Table(t)
	}
	t := &reports.Table{Caption: "Decisions that flip between methods", Columns: []reports.Column{
		{Title: "between"},
		{Title: "and"},
		{Title: "decisions", Align: reports.Right},
		{Title: "the second costs more by, in all", Align: reports.Right},
	}}
	for _, f := range r.Flips {
		t.AddRow(reports.MethodLabel(f.A), reports.MethodLabel(f.B), reports.Count(f.Count), fmt.Sprintf("%+.4g", f.Cost))
	}
	p.Details("Decisions that flip between methods", func(b *reports.Body) { b.Table(t) })
}

func (r *auditRun) regretSection(p *reports.Page) {
	if len(r.Regrets) == 0 {
		p.Text("The exact posterior was not asked. It is available for the probit likelihood; --references N asks it on N folds.")
		return
	}
	g := r.Regrets[0]
	t := &reports.Table{Caption: "Regret under the exact posterior of the same model", Columns: []reports.Column{
		{Title: "method"},
		{Title: "regret per case", Align: reports.Right},
		{Title: "other decisions", Align: reports.Right},
		{Title: "mean error of the probability", Align: reports.Right},
	}}
	for _, g := range r.Regrets {
		regret := "0"
		if g.Differ > 0 {
			regret = reports.PlusMinus(g.Mean, g.StdErr)
		}
		t.AddRow(reports.MethodLabel(g.Method), regret, fmt.Sprintf("%d of %d", g.Differ, g.Cases), reports.Number(g.Off))
	}
	how := "independent draws from it"
	if g.By != "exact" {
		how = "the No-U-Turn sampler, as independent draws are out of reach here"
	}
	p.Text(fmt.Sprintf("What the decisions of a method are expected to cost more than those of the exact posterior, on %d cases, by %s. The number after ± bounds the Monte Carlo error. The exact posterior's own decision is open in %d of the cases: two standard errors of its draws reach past the boundary.", g.Cases, how, g.Open))
	if g.Doubt != "" {
		p.Text("The chains give reason for doubt: " + g.Doubt + ".")
	}
	p.Table(t)
}

func (r *auditRun) qualityTable() *reports.Table {
	t := &reports.Table{Caption: "Quality of the probabilities, whatever is decided by them", Columns: []reports.Column{
		{Title: "method"},
		{Title: "log loss", Align: reports.Right},
		{Title: "Brier score", Align: reports.Right},
		{Title: "accuracy at one half", Align: reports.Right},
	}}
	for _, s := range r.Methods {
		if q := s.Quality; q != nil {
			t.AddRow(reports.MethodLabel(s.Method), fmt.Sprintf("%.4f", q.LogLoss), fmt.Sprintf("%.4f", q.Brier), reports.Percent(q.Accuracy))
		}
	}
	return t
}

func (r *auditRun) sensitivityTable() *reports.Table {
	t := &reports.Table{Columns: []reports.Column{
		{Title: "multiple", Align: reports.Right},
		{Title: "decisions that change", Align: reports.Right},
		{Title: "cost, decided by it", Align: reports.Right},
		{Title: "cost, decided as stated", Align: reports.Right},
	}}
	for _, s := range r.Sensitive {
		t.AddRow(reports.Number(s.Factor), reports.Percent(s.Changed), fmt.Sprintf("%.4f", s.Cost), fmt.Sprintf("%.4f", s.Kept))
	}
	return t
}

func (r *auditRun) nearestTable() *reports.Table {
	t := &reports.Table{Columns: []reports.Column{
		{Title: "row", Align: reports.Right},
		{Title: "line", Align: reports.Right},
		{Title: "P(" + r.Outcomes[1] + ")", Align: reports.Right},
		{Title: "action"},
		{Title: "margin", Align: reports.Right},
		{Title: "outcome"},
		{Title: "cost", Align: reports.Right},
	}}
	for _, c := range r.Nearest {
		t.AddRow(strconv.Itoa(c.Row), strconv.Itoa(c.Line), fmt.Sprintf("%.4f", c.Probability), c.Action, reports.Number(c.Margin), c.Outcome, reports.Number(c.Cost))
	}
	return t
}

func (r *auditRun) methodSection(p *reports.Page) {
	how := "Its hyperparameters were found from the training rows of each fold, from the same start in all of them."
	if r.Fixed {
		how = "Its hyperparameters were kept as given."
	}
	p.Text(fmt.Sprintf("A Gaussian-process classifier with %d features, kernel %s and %s likelihood. %s Seed %d.", r.Features, r.Kernel, r.Likelihood, how, r.Seed))
	p.Code(strings.Join(append(r.Utility.TableLines(), r.Utility.RuleLine()), "\n"))
	p.Details("The columns", func(b *reports.Body) { b.Code(strings.Join(r.recipe, "\n")) })
	p.Details("The kernel of each fold", func(b *reports.Body) {
		t := &reports.Table{Columns: []reports.Column{{Title: "repeat", Align: reports.Right}, {Title: "fold", Align: reports.Right}, {Title: "log evidence", Align: reports.Right}, {Title: "kernel"}}}
		for _, f := range r.FoldModels {
			t.AddRow(strconv.Itoa(f.Repeat), strconv.Itoa(f.Fold), fmt.Sprintf("%.3f", f.LogEvidence), shortKernel(f.Kernel))
		}
		b.Table(t)
	})
	if notes := r.notes(); len(notes) > 0 {
		p.Subsection("Notes")
		p.List(notes...)
	}
}

// shortKernel keeps a kernel with a parameter for each column from filling the page.
func shortKernel(k string) string {
	const most = 160
	if len(k) > most {
		return k[:most] + " …"
	}
	return k
}

// writeFolds writes the cost of every method in every fold.
func (r *auditRun) writeFolds(w io.Writer) error {
	type key struct {
		repeat, fold int
		method       string
	}
	sums, counts := make(map[key]float64), make(map[key]int)
	var order []key
	for _, d := range r.Decisions {
		k := key{d.Repeat, d.Fold, d.Method}
		if counts[k] == 0 {
			order = append(order, k)
		}
		sums[k] += d.Cost
		counts[k]++
	}
	c := csv.NewWriter(w)
	rows := [][]string{{"repeat", "fold", "method", "cases", "mean_cost"}}
	for _, k := range order {
		rows = append(rows, []string{strconv.Itoa(k.repeat), strconv.Itoa(k.fold), k.method, strconv.Itoa(counts[k]), decimal(sums[k] / float64(counts[k]))})
	}
	return c.WriteAll(rows)
}

// writeDecisions writes every decision.
func (r *auditRun) writeDecisions(w io.Writer) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"row", "line", "repeat", "fold", "outcome", "method", "probability", "action", "cost"}}
	for _, d := range r.Decisions {
		rows = append(rows, r.decisionCells(d))
	}
	return c.WriteAll(rows)
}

func (r *auditRun) decisionCells(d audit.Decided) []string {
	outcome, probability := r.Outcomes[0], ""
	if d.Positive {
		outcome = r.Outcomes[1]
	}
	if !math.IsNaN(d.Probability) {
		probability = decimal(d.Probability)
	}
	return []string{
		strconv.Itoa(d.Row), strconv.Itoa(d.Line), strconv.Itoa(d.Repeat), strconv.Itoa(d.Fold),
		outcome, d.Method, probability, r.Actions[d.Action], decimal(d.Cost),
	}
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
