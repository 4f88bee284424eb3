package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lossep/lossep/audit"
)

// columnScale is the scale of a column of measures, and percentColumn that of shares.
func columnScale[T any](rows []T, of func(T) *audit.Measure) scale {
	return scaleOf(present(rows, of)...)
}

func percentColumn[T any](rows []T, of func(T) *audit.Measure) scale {
	return percentScale(present(rows, of)...)
}

// present are the measures that there are.
func present[T any](rows []T, of func(T) *audit.Measure) (all []audit.Measure) {
	for _, row := range rows {
		if m := of(row); m != nil {
			all = append(all, *m)
		}
	}
	return all
}

// asStated is a cost, or the utility that it is.
func (r *Audit) asStated(m *audit.Measure) *audit.Measure {
	if m == nil {
		return nil
	}
	stated := r.Stated(*m)
	return &stated
}

// statedCost is what a way to decide costs, or brings, and statedDifference what it does
// more than another.
func (r *Audit) statedCost(s audit.Score) *audit.Measure {
	m := r.Stated(cost(s))
	return &m
}

func (r *Audit) statedDifference(c audit.Comparison) *audit.Measure {
	m := r.Stated(difference(c))
	return &m
}

// cases writes a number of cases, which repeats or weights may have made broken.
func cases(n float64) string {
	if n == math.Trunc(n) {
		return Count(int(n))
	}
	return fixed(n, 1)
}

// threshold writes a probability to three digits without zeros at its end.
func threshold(p float64) string { return minus(strconv.FormatFloat(p, 'g', 3, 64)) }

// probability writes one to three decimals.
func probability(p float64) string {
	switch {
	case p < 0.0005:
		return "< 0.001"
	case p > 0.9995:
		return "> 0.999"
	}
	return fixed(p, 3)
}

// costCaption is that of tables of costs per case, with what they are in.
func (r *Audit) costCaption() string {
	text := sentence(r.noun()) + " per case"
	if r.Currency != "" {
		text += " in " + r.Currency
	}
	return text + " and difference from " + r.label(r.Method) + ", with 95 % intervals"
}

// withoutMethods leaves other methods of inference out, which are for the appendix.
func (r *Audit) withoutMethods() []audit.Score {
	return slices.DeleteFunc(slices.Clone(r.Methods), func(s audit.Score) bool { return s.Kind == audit.Fitted && s.Method != r.Method })
}

// costTable is what the decisions of ways to decide cost, or bring, by the names of a function.
func (r *Audit) costTable(scores []audit.Score, label func(method string) string) *Table {
	t := newTable(r.costCaption(), "decided by", r.noun()+" per case", "difference", "p", "differs in")
	t.Best = r.either("lowest mean cost", "highest mean utility")
	groups := map[audit.Kind]string{audit.Fitted: "methods", audit.External: "external probabilities", audit.Recalibrated: "recalibrated", audit.Baseline: "baselines"}
	if !slices.ContainsFunc(scores, func(s audit.Score) bool { return s.Kind == audit.Fitted && s.Method != r.Method }) {
		groups[audit.Fitted] = ""
	}
	lowest := slices.MinFunc(r.Methods, func(a, b audit.Score) int { return cmp.Compare(a.MeanCost, b.MeanCost) })
	for _, s := range scores {
		cells := []Cell{{Text: label(s.Method)}, {Text: r.perCase().measure(r.statedCost(s)), Best: !lowest.Cheaper(&s)}, {}, {}, {}}
		if s.Method != r.Method {
			c := r.Comparison(s.Method)
			r.differenceCells(t, cells[2:], c, c.Headline || s.Quality != nil)
		}
		t.Rows = append(t.Rows, Row{Group: groups[s.Kind], Cells: cells})
	}
	if lowest.Method != r.Method && !slices.ContainsFunc(r.Methods, func(s audit.Score) bool { return s.Method != r.Method && r.Comparison(s.Method).Better() }) {
		t.Best += "; the difference from " + r.label(r.Method) + " could be chance"
	}
	if slices.ContainsFunc(t.Rows, func(row Row) bool { return row.Cells[3].Text == "" && strings.Contains(row.Cells[2].Text, "(") }) {
		t.Notes = append(t.Notes, Note{Text: "No p: not tested. Of the constant actions, only the best is tested."})
	}
	return t
}

// entriesTable is what every action costs, or brings, under each outcome: as it was given, with the mean
// over cases where it depends on them.
func (r *Audit) entriesTable() *Table {
	t := newTable(sentence(r.noun())+" of an action, by outcome", "action")
	if r.Currency != "" {
		t.Caption += ", in " + r.Currency
	}
	t.addNumbers(r.called...)
	for action, name := range r.Actions {
		row := []string{name}
		for y := range r.called {
			text := r.Utility.Entry(action, y).String()
			if _, err := strconv.ParseFloat(text, 64); err != nil {
				text += " (" + Number(r.Stated(audit.Measure{Value: r.Means[y][action]}).Value) + " on average)"
			}
			row = append(row, text)
		}
		t.AddRow(row...)
	}
	return t
}

// summaryTable is the audited decisions beside one action for all and beside ignoring costs: per
// case, and in a year if the number of cases is known.
func (r *Audit) summaryTable() *Table {
	t := newTable(r.costCaption(), "decided by", r.noun()+" per case")
	best := r.BestConstant()
	rows := []struct{ label, method string }{
		{r.label(r.Method), r.Method},
		{r.mostProbable(), r.MostProbable().Method},
		{"best constant action: " + best.Method, best.Method},
	}
	var totals scale
	if y := r.Yearly; y != nil {
		t.addNumbers(fmt.Sprintf("%s cases a year", Count(y.Cases)))
		totals = totalScale(y.Cost)
	}
	t.addNumbers("difference per case")
	for _, row := range rows {
		for _, s := range r.Methods {
			if s.Method != row.method {
				continue
			}
			m := r.statedCost(s)
			cells := []string{row.label, r.perCase().measure(m)}
			if y := r.Yearly; y != nil {
				n := float64(y.Cases)
				cells = append(cells, totals.measure(&audit.Measure{Value: n * m.Value, Low: n * m.Low, High: n * m.High}))
			}
			difference := ""
			if s.Method != r.Method {
				if c := r.Comparison(s.Method); c.Identical {
					difference = "the same"
				} else {
					difference = r.perCase().signed(r.statedDifference(c))
				}
			}
			t.AddRow(append(cells, difference)...)
		}
	}
	return t
}

// tooFewNote explains why there is no p.
var tooFewNote = Note{Mark: "a", Text: "not tested: the absolute differences sum to less than five times the largest possible difference in one case"}

// differenceCells are what is known of a difference: its size with its interval, p, and
// the share of decisions that differ. What was not put to a test has no p; where that is because
// no p could be small, a mark and a note of the table say so.
func (r *Audit) differenceCells(t *Table, cells []Cell, c audit.Comparison, tested bool) {
	if c.Identical {
		cells[0].Text, cells[2].Text = "the same", "none"
		return
	}
	cells[0].Text = r.perCase().signed(r.statedDifference(c))
	cells[2].Text = Percent(float64(c.Flips) / float64(c.Decisions))
	if !tested {
		return
	}
	cells[1].Text = PValue(c.Corrected)
	if c.TooFew && !c.Significant() {
		cells[1] = Cell{Text: "–", Mark: tooFewNote.Mark}
		if !slices.Contains(t.Notes, tooFewNote) {
			t.Notes = append(t.Notes, tooFewNote)
		}
	}
}

// pairsTable is comparisons of pairs.
func (r *Audit) pairsTable(caption string, pairs []audit.Comparison) *Table {
	t := newTable(caption, "decided by", "compared with", r.noun()+" difference per case", "p", "decisions that differ")
	t.Columns[1].Align = Left
	for _, c := range pairs {
		row := Row{Cells: make([]Cell, len(t.Columns))}
		row.Cells[0].Text, row.Cells[1].Text = MethodLabel(c.Method), MethodLabel(c.Than)
		r.differenceCells(t, row.Cells[2:], c, true)
		row.Cells[4].Text = fmt.Sprintf("%s of %s", Count(c.Flips), Count(c.Decisions))
		t.Rows = append(t.Rows, row)
	}
	return t
}

// countsTable is which action met which outcome how often, and which share of the outcome
// that is.
func (r *Audit) countsTable(s audit.Score) *Table {
	t := newTable("Cases by action and outcome, decided by "+r.label(s.Method), "action")
	t.addNumbers(r.called...)
	t.addNumbers("all")
	for action, name := range r.Actions {
		row, all := []string{name}, 0.0
		for _, c := range s.Counts {
			if c.Action != action {
				continue
			}
			all += c.Cases
			text := cases(c.Cases)
			if c.OfOutcome != nil {
				text += " (" + Percent(c.OfOutcome.Value) + ")"
			}
			row = append(row, text)
		}
		t.AddRow(append(row, cases(all))...)
	}
	t.Notes = []Note{{Text: "In parentheses: share of the cases with that outcome."}}
	return t
}

// sharesTable is the same with intervals, a row for each outcome and action.
func (r *Audit) sharesTable(s audit.Score) *Table {
	t := newTable("", "action", "cases", "share of the outcome, with 95 % interval")
	shares := percentColumn(s.Counts, func(c audit.Count) *audit.Measure { return c.OfOutcome })
	for y, outcome := range r.called {
		for _, c := range s.Counts {
			if c.Outcome == y {
				cells := []Cell{{Text: r.Actions[c.Action]}, {Text: cases(c.Cases)}, {Text: shares.measure(c.OfOutcome)}}
				t.Rows = append(t.Rows, Row{Group: outcome, Cells: cells})
			}
		}
	}
	return t
}

// mistakesText says in a sentence for each outcome how often it gets the wrong action that costs
// most, and of several the one that it gets most.
func (r *Audit) mistakesText(s audit.Score) string {
	shares := percentColumn(s.Counts, func(c audit.Count) *audit.Measure { return c.OfOutcome })
	text := ""
	for y := len(r.Outcomes) - 1; y >= 0; y-- { // what is looked for comes first
		all, most := 0.0, (*audit.Count)(nil)
		for i := range s.Counts {
			c := &s.Counts[i]
			if c.Outcome != y {
				continue
			}
			all += c.Cases
			if c.Action != r.Right[y] && (most == nil || cmp.Or(cmp.Compare(r.Means[y][c.Action], r.Means[y][most.Action]), cmp.Compare(c.Cases, most.Cases)) > 0) {
				most = c
			}
		}
		if text != "" {
			text += " "
		}
		verb := "get"
		if most.Cases == 1 {
			verb = "gets"
		}
		text += fmt.Sprintf("%s of %s %s %s “%s”", cases(most.Cases), cases(all), r.casesOf(y), verb, r.Actions[most.Action])
		if m := most.OfOutcome; m != nil {
			text += fmt.Sprintf(" (%s, 95 %% interval %s)", shares.number(m.Value), shares.interval(m.Low, m.High))
		}
		text += "."
	}
	return text
}

// ratesTable is sensitivity and its kin, for two actions and two outcomes, a column for
// each way to decide and, where there are many, a row.
func (r *Audit) ratesTable(scores []audit.Score) *Table {
	act := r.Acting() // counts are action by action, of each outcome
	rates := []struct {
		title, meaning string
		of             func(audit.Score) *audit.Measure
	}{
		{"sensitivity", fmt.Sprintf("of %s, those that get “%s”", r.casesOf(1), r.Actions[act]), func(s audit.Score) *audit.Measure { return s.Counts[2*act+1].OfOutcome }},
		{"specificity", fmt.Sprintf("of %s, those that get “%s”", r.casesOf(0), r.Actions[1-act]), func(s audit.Score) *audit.Measure { return s.Counts[2-2*act].OfOutcome }},
		{"positive predictive value", fmt.Sprintf("of cases that get “%s”, those that %s", r.Actions[act], r.being(1)), func(s audit.Score) *audit.Measure { return s.Counts[2*act+1].OfAction }},
		{"negative predictive value", fmt.Sprintf("of cases that get “%s”, those that %s", r.Actions[1-act], r.being(0)), func(s audit.Score) *audit.Measure { return s.Counts[2-2*act].OfAction }},
	}
	var rows []measureRow
	var all []audit.Measure
	for _, rate := range rates {
		title := rate.title
		if len(scores) <= mostCompared {
			title = sentence(rate.title) + ": " + rate.meaning
		}
		rows, all = append(rows, measureRow{title: title, of: rate.of}), append(all, present(scores, rate.of)...)
	}
	for k := range rows {
		rows[k].scale = percentScale(all...)
	}
	return r.transposed("Sensitivity, specificity and predictive values, with 95 % intervals", rows, scores)
}

// measureRow is a measure of ways to decide, all written to the same place.
type measureRow struct {
	title string
	of    func(audit.Score) *audit.Measure
	scale scale
}

// mostCompared is how many ways to decide stand side by side.
const mostCompared = 4

// transposed is a table of measures of ways to decide: measures are rows where few
// are compared, which leaves room for numbers on a small screen, and columns where many
// are.
func (r *Audit) transposed(caption string, measures []measureRow, scores []audit.Score) *Table {
	text := func(m measureRow, s audit.Score) string { return m.scale.measure(m.of(s)) }
	if len(scores) > mostCompared {
		t := newTable(caption, "decided by")
		for _, m := range measures {
			t.addNumbers(m.title)
		}
		for _, s := range scores {
			row := []string{r.methodLabel(s.Method)}
			for _, m := range measures {
				row = append(row, text(m, s))
			}
			t.AddRow(row...)
		}
		return t
	}
	t := newTable(caption, "")
	for _, s := range scores {
		t.addNumbers(r.label(s.Method))
	}
	for _, m := range measures {
		row := []string{m.title}
		for _, s := range scores {
			row = append(row, text(m, s))
		}
		t.AddRow(row...)
	}
	return t
}

// qualityTable is how good probabilities are, a column for each model.
func (r *Audit) qualityTable(scores []audit.Score) *Table {
	scores = slices.DeleteFunc(slices.Clone(scores), func(s audit.Score) bool { return s.Quality == nil })
	var rows []measureRow
	add := func(title string, share bool, of func(*audit.Quality) *audit.Measure) {
		row := measureRow{title: title, of: func(s audit.Score) *audit.Measure { return of(s.Quality) }}
		if row.scale = columnScale(scores, row.of); share {
			row.scale = percentColumn(scores, row.of)
		}
		rows = append(rows, row)
	}
	accuracy := "accuracy of the most probable outcome"
	if !r.several() { // only two outcomes are ranked by one probability
		add("AUC", false, func(q *audit.Quality) *audit.Measure { return q.Area })
		add("average precision", false, func(q *audit.Quality) *audit.Measure { return q.Precision })
		accuracy = "accuracy at threshold 0.5"
	}
	add("Brier score", false, func(q *audit.Quality) *audit.Measure { return q.Brier })
	add("log loss", false, func(q *audit.Quality) *audit.Measure { return q.LogLoss })
	add(accuracy, true, func(q *audit.Quality) *audit.Measure { return q.Accuracy })
	t := r.transposed("Quality of the probabilities, independent of the "+r.nouns()+", with 95 % intervals", rows, scores)
	t.Notes = []Note{{Text: "Brier score: mean squared error of the probability, lower is better. Log loss: mean of −log of the probability of what happened, lower is better."}}
	if !r.several() {
		t.Notes = append(t.Notes, Note{Text: fmt.Sprintf("AUC: how often %s have a higher probability than others, 0.5 by chance. Average precision: mean share of them among the cases ranked highest.", r.casesOf(1))})
	}
	return t
}

// reliabilityTable is that of each of more than two outcomes.
func (r *Audit) reliabilityTable() *Table {
	t := newTable("Calibration of each outcome, with 95 % intervals",
		"outcome", "cases", "observed − predicted", "calibration error", "AUC")
	excess := percentColumn(r.ReliableOf, func(of audit.Reliability) *audit.Measure { return &of.Excess })
	area := columnScale(r.ReliableOf, func(of audit.Reliability) *audit.Measure { return of.Area })
	t.Notes = []Note{{Text: "Calibration error: mean absolute difference in the bins of the figure. AUC: each outcome against all others."}}
	for y, of := range r.ReliableOf {
		t.AddRow(r.called[y], Count(r.Cases[y]), excess.signed(&of.Excess), Percent(of.Error), area.measure(of.Area))
	}
	return t
}

// cutsTable is what every threshold gives; the row of the one that the costs imply is set in
// bold, where it is the same in all cases.
func (r *Audit) cutsTable() *Table {
	t := newNumberTable(fmt.Sprintf("“%s” if P(%s) > threshold, by %s", r.Actions[r.Acting()], r.called[1], r.label(r.Method)),
		"threshold", r.noun()+" per case", r.called[1]+" found", "missed", "false alarms", "net benefit")
	costs := r.perCase()
	for _, c := range r.Cuts {
		t.AddRow(threshold(c.Threshold), costs.measure(r.asStated(&c.Cost)), fmt.Sprintf("%s (%s)", cases(c.TruePositive), Percent(c.Sensitivity)), cases(c.FalseNegative),
			fmt.Sprintf("%s (%s)", cases(c.FalsePositive), Percent(1-c.Specificity)), fixed(c.NetBenefit, 3))
		if c.Given {
			t.Best = "the threshold that the " + r.nouns() + " imply"
			row := t.Rows[len(t.Rows)-1]
			for k := range row.Cells {
				row.Cells[k].Best = true
			}
		}
	}
	t.Notes = []Note{{Text: fmt.Sprintf("In parentheses: sensitivity (share of %s found) and false positive rate (share of %s that are false alarms).", r.casesOf(1), r.casesOf(0))}}
	if t.Best == "" {
		t.Notes = append(t.Notes, Note{Text: fmt.Sprintf("The %s imply a different threshold for each case.", r.nouns())})
	}
	return t
}

func (r *Audit) gainsTable() *Table {
	t := newNumberTable("Cases ranked by predicted probability, highest first",
		"cases", "cut-off P("+r.called[1]+")", r.called[1]+" among them", "recall", "lift")
	shares := percentColumn(r.Gains, func(g audit.Gain) *audit.Measure { return g.OfPositive })
	for _, g := range r.Gains {
		t.AddRow(fmt.Sprintf("%s (%.0f %%)", cases(g.Cases), 100*g.Share), probability(g.Probability), cases(g.Found), shares.measure(g.OfPositive), fixed(g.Lift, 2))
	}
	t.Notes = []Note{{Text: fmt.Sprintf("Recall: share of all %s that are among them. Lift: how many times as many as in a random selection.", r.casesOf(1))}}
	return t
}

func (r *Audit) importanceTable(importances []audit.Importance) *Table {
	t := newTable("Permutation importance, with 95 % intervals", "feature", "importance per case", "p", "decisions that change")
	s := r.perCase()
	for _, i := range importances {
		if i.Changed == 0 {
			t.AddRow(i.Column, "0", "", "none")
			continue
		}
		t.AddRow(i.Column, s.measure(&i.Cost), PValue(i.P), Percent(i.Changed))
	}
	return t
}

func (r *Audit) sensitivityTable() *Table {
	t := newNumberTable("",
		"multiplier", "decisions that change", r.noun()+", "+r.rule()+" for the new costs",
		r.noun()+", "+r.rule()+" unchanged")
	s := r.perCase()
	text := func(cost float64) string { return s.number(r.Stated(audit.Measure{Value: cost}).Value) }
	for _, f := range r.Sensitive {
		t.AddRow(strconv.FormatFloat(f.Factor, 'g', 2, 64), Percent(f.Changed), text(f.Cost), text(f.Kept))
	}
	return t
}
