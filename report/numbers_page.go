package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/numbers"
)

// subtitle says which cases were decided, and by what.
func (r *NumberAudit) subtitle() string {
	by := fmt.Sprintf("each decided by a model fitted without it, in %d folds", r.Folds)
	if r.Time != "" {
		by = fmt.Sprintf("each decided by a model fitted to the rows before it by %s, in %d folds", r.Time, r.Folds)
	}
	if r.Test != "" {
		by = "decided by a model fitted to " + r.Data
	} else if r.Groups != "" {
		by += " that keep " + r.Groups + " together"
	} else if r.Independent < r.Rows {
		by += " that keep copies of a row together"
	}
	return fmt.Sprintf("%s past cases of %s, %s", Count(r.Rows), r.Outcome, by)
}

// page is in the form of that of categories: a summary that fits on one printed page, then details.
func (r *NumberAudit) page() *Page {
	p := NewPage("Decision audit: "+cmp.Or(r.Test, r.Data), r.subtitle())
	p.Section("Summary")
	for _, v := range r.Verdicts {
		p.Verdict(tones[v.Tone], v.Answer, v.Question, v.Finding)
	}
	p.Table(r.summaryTable())
	p.PageBreak()

	p.Section("Cost of the decisions")
	p.Text("The cost is that of the action given the observed outcome, by " + r.Costs + ". The rule: the action of the least expected cost.")
	p.Figure(r.costFigure(), "Cost per case.", "Mean cost per case with interval, one row for each way to choose actions; the table below has the numbers.")
	p.Table(r.costTable())
	p.Text("p-values are for no difference in mean cost, Holm-adjusted over the comparisons with other models; those with one action for all and with the predicted median are planned and not adjusted." + r.baselineText())

	p.Section("Calibration of the predictions")
	p.Figure(r.pitFigure(), "Probability integral transform (PIT): histogram of the predictive distribution function at the observed outcome. Calibrated predictions give equal bars; 95 % of the bars are between the dashed lines by chance.",
		"Histogram of the predicted probability of outcomes up to those observed, in tenths.")
	p.Table(r.coverageTable())
	p.Table(r.qualityTable())
	p.Text(fmt.Sprintf("Pinball loss is what a quantile costs at p per unit too low and 1 − p per unit too high; the constant is the same quantile of the training rows. Of counts at a quantile the part below it is counted. The continuous ranked probability score (CRPS) is %s, in the units of %s; the mean log density %s.", Number(r.Scores.CRPS), r.Outcome, Number(r.Scores.LogDensity)))

	if r.Ratios != nil {
		p.Section("Sensitivity to the costs")
		p.Figure(r.ratioFigure(), "Cost per case if a unit too little costs more or less, and one too much the same.", "Cost per case against the ratio of the costs: with the action re-optimised, unchanged and constant.")
		p.Table(r.ratioTable())
	}
	if r.Limited != nil {
		p.Section("Capacity")
		p.Text(r.limitedText())
	}
	p.Section("Cases that cost most")
	p.Table(r.worstTable(len(r.Worst)))
	r.methodSection(p)
	return p
}

func (r *NumberAudit) baselineText() string {
	text := " The best constant action is the one that would have cost least in the training rows"
	if r.method(numbers.PredictedMedian) != nil {
		text += "; the predicted median is that of the model, and does not depend on the costs"
	}
	return text + "."
}

func (r *NumberAudit) methodSection(p *Page) {
	p.Section("Methods")
	units := "cases"
	if r.Groups != "" {
		units = fmt.Sprintf("%s values of %s", Count(r.Independent), r.Groups)
	} else if r.Independent < r.Rows {
		units = fmt.Sprintf("%s different cases, copies of a row being one", Count(r.Independent))
	}
	p.Text(fmt.Sprintf("Gaussian process regression; transformation, noise and kernel are chosen by the evidence of the training rows of each fold. Intervals are at 95 %%, by a Bayesian bootstrap over %s. Seed %d.", units, r.Seed))
	p.Details("Features", func(b *Body) { b.Code(strings.Join(r.Recipe, "\n")) })
	p.Details("Model of each fold", func(b *Body) {
		t := &Table{Columns: []Column{{Title: "fold", Align: Right}, {Title: "rows", Align: Right}, {Title: "outcome"}, {Title: "kernel"}, {Title: "log evidence", Align: Right}}}
		for k, m := range r.Models {
			t.AddRow(strconv.Itoa(k+1), Count(m.Rows), m.Outcome, shortKernel(m.Kernel), fixed(m.LogEvidence, 3))
		}
		b.Table(t)
	})
	if notes := r.notes(); len(notes) > 0 {
		p.Subsection("Notes")
		p.List(notes...)
	}
}

// caption is that of tables of costs.
func (r *NumberAudit) caption() string {
	text := "Cost per case"
	if r.Currency != "" {
		text += " in " + r.Currency
	}
	return text + ", with 95 % intervals"
}

// summaryTable is the decisions beside one action for all and beside those that ignore costs.
func (r *NumberAudit) summaryTable() *Table {
	t := newTable(r.caption(), "decided by", "cost per case", "model saves per case")
	var yearly scale
	if y := r.Yearly; y != nil {
		yearly = totalScale(y.Cost, y.Saved)
		t.addNumbers(fmt.Sprintf("%s cases a year", Count(y.Cases)))
	}
	for k, m := range r.Methods {
		if k > 0 && !m.Planned() {
			continue
		}
		row := []string{r.label(m.Name), r.perCase().measure(costOf(m)), ""}
		if k > 0 {
			row[2] = r.perCase().signed(savedOf(m))
		}
		if y := r.Yearly; y != nil {
			n := float64(y.Cases)
			row = append(row, yearly.measure(&audit.Measure{Value: n * m.Cost, Low: n * m.Low, High: n * m.High}))
		}
		t.AddRow(row...)
	}
	return t
}

// costTable is what all ways to choose cost.
func (r *NumberAudit) costTable() *Table {
	t := newTable(r.caption(), "decided by", "cost per case", "model saves", "p")
	t.Best = "lowest mean cost"
	least := slices.MinFunc(r.Methods, func(a, b numbers.Audited) int { return cmp.Compare(a.Cost, b.Cost) }).Cost
	for k, m := range r.Methods {
		cells := []Cell{{Text: r.label(m.Name)}, {Text: r.perCase().measure(costOf(m)), Best: m.Cost == least}, {}, {}}
		if k > 0 {
			cells[2].Text, cells[3].Text = r.perCase().signed(savedOf(m)), PValue(m.P)
		}
		t.Rows = append(t.Rows, Row{Cells: cells})
	}
	return t
}

func (r *NumberAudit) axis() string { return perCase("cost", r.Currency) }

func (r *NumberAudit) costFigure() Figure {
	f := Intervals{X: Axis{Label: r.axis() + ", with 95 % interval"}}
	for k, m := range r.Methods {
		look, label := m.Name, m.Name // in short
		if k == 0 {
			look, label = "loss-ep", r.label(m.Name)
		}
		f.Rows = append(f.Rows, Interval{Method: look, Label: label, Value: m.Cost, Low: m.Low, High: m.High})
	}
	return f
}

func (r *NumberAudit) pitFigure() Figure {
	n, share := float64(r.Independent), 1/float64(len(r.Scores.PIT))
	chance := -normal.Quantile((1-audit.Level)/2) * math.Sqrt(share*(1-share)/n) * float64(r.Rows)
	level := share * float64(r.Rows)
	return Histogram{Method: "loss-ep", XLabel: "Predicted probability of outcomes up to the observed", YLabel: "Cases", Counts: r.Scores.PIT[:], Level: level, Low: max(0, level-chance), High: level + chance}
}

// coverageTable is how many outcomes are in intervals.
func (r *NumberAudit) coverageTable() *Table {
	t := newTable("Coverage of predicted intervals, with their ends", "interval", "outcomes in it", "expected by the model")
	s := percentColumn(r.Scores.Coverage, func(c numbers.Covered) *audit.Measure { return &c.Share })
	for _, c := range r.Scores.Coverage {
		t.AddRow(Number(100*c.Level)+" %", s.measure(&c.Share), s.number(c.Expected))
	}
	return t
}

// qualityTable is how good quantiles are.
func (r *NumberAudit) qualityTable() *Table {
	t := newTable("Predicted quantiles", "quantile", "outcomes below", "pinball loss", "pinball loss of the constant")
	s := percentColumn(r.Scores.Quantiles, func(q numbers.Scored) *audit.Measure { return &q.Below })
	for _, q := range r.Scores.Quantiles {
		t.AddRow(Number(100*q.Level)+" %", s.measure(&q.Below), Number(q.Pinball), Number(q.Constant))
	}
	return t
}

// at is a ratio as it was written, or a multiple where cases have their own.
func at(x numbers.Ratio) float64 {
	if x.Ratio > 0 {
		return x.Ratio
	}
	return x.Times
}

func (r *NumberAudit) ratioFigure() Figure {
	f := Lines{X: Axis{Label: "Multiplier of the cost of a unit too little", Log: true}, Y: Axis{Label: r.axis()}}
	if r.Ratios[0].Ratio > 0 {
		f.X.Label = "Cost ratio under:over"
	}
	for _, way := range []struct {
		method, label string
		of            func(numbers.Ratio) audit.Measure
	}{
		{"loss-ep", "action re-optimised", func(x numbers.Ratio) audit.Measure { return x.Adapted }},
		{"kept", "action unchanged", func(x numbers.Ratio) audit.Measure { return x.Kept }},
		{"constant", "best constant action", func(x numbers.Ratio) audit.Measure { return x.Constant }},
	} {
		s := Series{Method: way.method, Label: way.label}
		for _, x := range r.Ratios {
			if s.X, s.Y = append(s.X, at(x)), append(s.Y, way.of(x).Value); x.Times == 1 {
				f.Rules = []Rule{{At: at(x), Label: "as given: " + Number(at(x))}}
			}
		}
		f.Series = append(f.Series, s)
	}
	return f
}

func (r *NumberAudit) ratioTable() *Table {
	title := "multiplier"
	if r.Ratios[0].Ratio > 0 {
		title = "under:over"
	}
	t := newTable(r.caption(), title, "action re-optimised", "action unchanged", "best constant action")
	s := columnScale(r.Ratios, func(x numbers.Ratio) *audit.Measure { return &x.Adapted })
	for _, x := range r.Ratios {
		t.AddRow(Number(at(x)), s.measure(&x.Adapted), s.measure(&x.Kept), s.measure(&x.Constant))
	}
	return t
}

// worstTable is so many of the cases that cost most.
func (r *NumberAudit) worstTable(most int) *Table {
	t := newTable("The cases that cost most", cmp.Or(r.ID, "line"), "outcome", "predicted (90 % interval)", "action", "expected cost", "cost")
	for _, c := range r.Worst[:min(most, len(r.Worst))] {
		name := c.ID
		if r.ID == "" {
			name = strconv.Itoa(c.Line)
		}
		t.AddRow(name, Number(c.Outcome), Number(c.Low)+" to "+Number(c.High), r.action(c.Action, Number), Number(c.Expected), Number(c.Cost))
	}
	return t
}
