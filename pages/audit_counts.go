package pages

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/report"
)

// ranged writes a number with its interval, to the same place.
func ranged(m *audit.Measure) string {
	if m == nil {
		return "–"
	}
	return fmt.Sprintf("%s (%s)", report.Within(m.Value, m.Low, m.High), report.Range(m.Low, m.High))
}

// rangedWorth does so for a cost, or the utility that it is.
func (r *Audit) rangedWorth(m *audit.Measure) string {
	if m == nil {
		return ranged(nil)
	}
	stated := r.Stated(*m)
	return ranged(&stated)
}

// percentRange does so for a share.
func percentRange(m *audit.Measure) string {
	if m == nil {
		return "–"
	}
	return fmt.Sprintf("%s %% (%s)", report.Within(100*m.Value, 100*m.Low, 100*m.High), percents(m.Low, m.High))
}

// cases writes a number of cases, which repeats or weights may have made broken.
func cases(n float64) string {
	if n == math.Trunc(n) {
		return report.Count(int(n))
	}
	return strconv.FormatFloat(n, 'f', 1, 64)
}

// countsTable is which action met which outcome how often. With two actions the shares
// have their intervals in the table of rates.
func (r *Audit) countsTable(s audit.Score) *report.Table {
	t := &report.Table{Caption: "Cases by action and outcome, decided by " + audit.Label(s.Method), Columns: []report.Column{{Title: "action"}}}
	two := len(r.Actions) == 2
	for _, outcome := range r.Called {
		t.Columns = append(t.Columns, report.Column{Title: outcome, Align: report.Right})
		if !two {
			t.Columns = append(t.Columns, report.Column{Title: "of all " + outcome, Align: report.Right})
		}
	}
	t.Columns = append(t.Columns, report.Column{Title: "all", Align: report.Right})
	for action, name := range r.Actions {
		row, all := []string{name}, 0.0
		for _, c := range s.Counts {
			if c.Action != action {
				continue
			}
			all += c.Cases
			switch {
			case !two:
				row = append(row, cases(c.Cases), percentRange(c.OfOutcome))
			case c.OfOutcome == nil:
				row = append(row, cases(c.Cases))
			default:
				row = append(row, fmt.Sprintf("%s (%s)", cases(c.Cases), report.Percent(c.OfOutcome.Value)))
			}
		}
		t.AddRow(append(row, cases(all))...)
	}
	return t
}

// missed says in a sentence for each outcome which wrong action it gets most, and how
// often.
func (r *Audit) missed(s audit.Score) string {
	text := ""
	for y := len(r.Outcomes) - 1; y >= 0; y-- { // what is looked for comes first
		all, most := 0.0, audit.Count{}
		for _, c := range s.Counts {
			if c.Outcome == y {
				all += c.Cases
			}
			if c.Outcome == y && c.Action != r.Right[y] && c.Cases >= most.Cases {
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
		if most.OfOutcome != nil {
			text += fmt.Sprintf(" (95 %% interval %s)", percents(most.OfOutcome.Low, most.OfOutcome.High))
		}
		text += "."
	}
	return text
}

// threshold writes a probability to three digits without zeros at its end.
func threshold(p float64) string { return strconv.FormatFloat(p, 'g', 3, 64) }

// probability writes one to three decimals.
func probability(p float64) string {
	switch {
	case p < 0.0005:
		return "< 0.001"
	case p > 0.9995:
		return "> 0.999"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

// percents writes an interval of shares.
func percents(low, high float64) string { return report.Range(100*low, 100*high) + " %" }

// ratesTable is sensitivity and its kin, for two actions and two outcomes, a column for
// each way to decide and, where there are many, a row.
func (r *Audit) ratesTable(scores []audit.Score) *report.Table {
	rates := []struct {
		title, meaning string
		of             func(audit.Score) *audit.Measure
	}{
		{"sensitivity", fmt.Sprintf("of %s, those that get “%s”", r.casesOf(1), r.Actions[1]), func(s audit.Score) *audit.Measure { return s.Counts[3].OfOutcome }},
		{"specificity", fmt.Sprintf("of %s, those that get “%s”", r.casesOf(0), r.Actions[0]), func(s audit.Score) *audit.Measure { return s.Counts[0].OfOutcome }},
		{"positive predictive value", fmt.Sprintf("of cases that get “%s”, those that %s", r.Actions[1], r.being(1)), func(s audit.Score) *audit.Measure { return s.Counts[3].OfAction }},
		{"negative predictive value", fmt.Sprintf("of cases that get “%s”, those that %s", r.Actions[0], r.being(0)), func(s audit.Score) *audit.Measure { return s.Counts[0].OfAction }},
	}
	t := &report.Table{Caption: "Found and right, with 95 % intervals"}
	title := func(k int) string {
		if len(scores) > mostCompared {
			return rates[k].title
		}
		return sentence(rates[k].title) + ": " + rates[k].meaning
	}
	return transposed(t, len(rates), scores, title, func(s audit.Score, k int) string { return percentRange(rates[k].of(s)) })
}

// mostCompared is how many ways to decide stand side by side.
const mostCompared = 4

// transposed fills a table with measures of ways to decide: measures are rows where few
// are compared, which leaves room for numbers on a small screen, and columns where many
// are.
func transposed(t *report.Table, measures int, scores []audit.Score, title func(int) string, text func(audit.Score, int) string) *report.Table {
	if len(scores) > mostCompared {
		t.Columns = []report.Column{{Title: "decided by"}}
		for k := range measures {
			t.Columns = append(t.Columns, report.Column{Title: title(k), Align: report.Right})
		}
		for _, s := range scores {
			row := []string{audit.Label(s.Method)}
			for k := range measures {
				row = append(row, text(s, k))
			}
			t.AddRow(row...)
		}
		return t
	}
	t.Columns = []report.Column{{Title: ""}}
	for _, s := range scores {
		t.Columns = append(t.Columns, report.Column{Title: audit.Label(s.Method), Align: report.Right})
	}
	for k := range measures {
		row := []string{title(k)}
		for _, s := range scores {
			row = append(row, text(s, k))
		}
		t.AddRow(row...)
	}
	return t
}

// qualityTable is how good probabilities are, a column for each model.
func (r *Audit) qualityTable(scores []audit.Score) *report.Table {
	measures := []struct {
		title string
		of    func(*audit.Quality) string
	}{
		{"AUC", func(q *audit.Quality) string { return ranged(q.Area) }},
		{"average precision", func(q *audit.Quality) string { return ranged(q.Precision) }},
		{"Brier score", func(q *audit.Quality) string { return ranged(q.Brier) }},
		{"log loss", func(q *audit.Quality) string { return ranged(q.LogLoss) }},
		{"accuracy at one half", func(q *audit.Quality) string { return percentRange(q.Accuracy) }},
	}
	if r.several() { // which are not ranked, and one of which is the most probable
		measures = measures[2:]
		measures[2].title = "accuracy of the most probable"
	}
	scores = slices.DeleteFunc(slices.Clone(scores), func(s audit.Score) bool { return s.Quality == nil })
	t := &report.Table{Caption: "Quality of the probabilities, whatever is decided by them, with 95 % intervals"}
	return transposed(t, len(measures), scores, func(k int) string { return measures[k].title }, func(s audit.Score, k int) string {
		return measures[k].of(s.Quality)
	})
}

func (r *Audit) cutsTable() *report.Table {
	t := &report.Table{Caption: fmt.Sprintf("“%s” where P(%s) is above a threshold, by %s", r.Actions[1], r.Called[1], audit.Label(r.Method)), Columns: []report.Column{
		{Title: "threshold", Align: report.Right},
		{Title: r.Noun() + " per case", Align: report.Right},
		{Title: r.Called[1] + " found", Align: report.Right},
		{Title: "missed", Align: report.Right},
		{Title: "false alarms", Align: report.Right},
		{Title: "net benefit", Align: report.Right},
	}, Best: "the threshold that the " + r.nouns() + " imply"}
	for _, c := range r.Cuts {
		m := r.Stated(c.Cost)
		cells := []report.Cell{{Text: threshold(c.Threshold), Best: c.Given}}
		for _, text := range []string{
			ranged(&m), fmt.Sprintf("%s (%s)", cases(c.TruePositive), report.Percent(c.Sensitivity)), cases(c.FalseNegative),
			fmt.Sprintf("%s (%s)", cases(c.FalsePositive), report.Percent(1-c.Specificity)), strconv.FormatFloat(c.NetBenefit, 'f', 3, 64),
		} {
			cells = append(cells, report.Cell{Text: text})
		}
		t.Rows = append(t.Rows, report.Row{Cells: cells})
	}
	t.Notes = []report.Note{{Text: fmt.Sprintf("In brackets the share of %s that are found (sensitivity), and of %s that are false alarms (1 − specificity).", r.casesOf(1), r.casesOf(0))}}
	return t
}

func (r *Audit) gainsTable() *report.Table {
	t := &report.Table{Caption: "Cases by their probability, the highest first", Columns: []report.Column{
		{Title: "cases", Align: report.Right},
		{Title: "down to P(" + r.Called[1] + ")", Align: report.Right},
		{Title: r.Called[1] + " among them", Align: report.Right},
		{Title: "of all " + r.Called[1], Align: report.Right},
		{Title: "lift", Align: report.Right},
	}}
	for _, g := range r.Gains {
		t.AddRow(fmt.Sprintf("%s (%.0f %%)", cases(g.Cases), 100*g.Share), probability(g.Probability), cases(g.Found), percentRange(g.OfPositive), strconv.FormatFloat(g.Lift, 'f', 2, 64))
	}
	return t
}

func (r *Audit) gainsFigure() report.Lines {
	f := report.Lines{
		X: report.Axis{Label: "Share of cases, the most probable first", Min: 0, Max: 1},
		Y: report.Axis{Label: "Share of " + r.Called[1] + " found", Min: 0, Max: 1},
	}
	model := report.Series{Method: r.look(r.Method), Label: audit.Label(r.Method), X: []float64{0}, Y: []float64{0}, Low: []float64{0}, High: []float64{0}}
	for _, g := range r.Gains {
		if g.OfPositive != nil {
			model.X, model.Y = append(model.X, g.Share), append(model.Y, g.OfPositive.Value)
			model.Low, model.High = append(model.Low, g.OfPositive.Low), append(model.High, g.OfPositive.High)
		}
	}
	f.Series = []report.Series{model, {Method: "at random", X: []float64{0, 1}, Y: []float64{0, 1}}}
	return f
}

// mostColumns is how many columns are shown before one asks for all.
const mostColumns = 12

func (r *Audit) importanceTable(most int) *report.Table {
	t := &report.Table{Columns: []report.Column{
		{Title: "column"},
		{Title: "worth per case", Align: report.Right},
		{Title: "95 % interval", Align: report.Right},
		{Title: "p", Align: report.Right},
		{Title: "decisions it changes", Align: report.Right},
	}}
	for _, i := range r.Importances[:min(most, len(r.Importances))] {
		if i.Changed == 0 {
			t.AddRow(i.Column, "0", "", "", "none")
			continue
		}
		t.AddRow(i.Column, report.Within(i.Cost.Value, i.Cost.Low, i.Cost.High), report.Range(i.Cost.Low, i.Cost.High), report.PValue(i.P), report.Percent(i.Changed))
	}
	return t
}

// effectsText says what effects are.
func (r *Audit) effectsText() string {
	if len(r.Nearest) == 0 || len(r.Nearest[0].Effects) == 0 {
		return ""
	}
	return fmt.Sprintf(" The last column says what single columns do: by how much P(%s) is higher or lower than if the column were not known and all others were, that is, than its mean over the values that the column has in the cases learned from. A star marks a column without which the case would be decided otherwise.", r.Called[1])
}

// effects writes the three largest, in hundredths.
func effects(all []audit.Effect) string {
	text := ""
	for k, e := range all {
		if k == 3 || math.Abs(e.Raises) < 0.005 {
			break
		}
		if k > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %+.2f", e.Column, e.Raises)
		if e.Flips {
			text += "*"
		}
	}
	return text
}

func (r *Audit) writeImportances(w io.Writer) error {
	rows := [][]string{{"column", "cost", "cost_low", "cost_high", "p_corrected", "changed"}}
	for _, i := range r.Importances {
		rows = append(rows, append(append([]string{i.Column}, measured(&i.Cost)...), decimal(i.P), decimal(i.Changed)))
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// partsSection is cost, counts and reliability for the values of a column.
func (r *Audit) partsSection(p *report.Page) {
	t := &report.Table{Caption: "Decisions by " + audit.Label(r.Method), Columns: []report.Column{
		{Title: r.By},
		{Title: "cases", Align: report.Right},
		{Title: r.Noun() + " per case", Align: report.Right},
		{Title: "more than the others", Align: report.Right},
		{Title: "p", Align: report.Right},
	}}
	if !r.several() {
		t.Columns = append(t.Columns, report.Column{Title: r.Called[1], Align: report.Right}, report.Column{Title: "more than predicted", Align: report.Right})
	}
	// Of two outcomes what is wrong is counted; of more, every action and outcome would be a
	// column, and counts are among the results.
	counts := &report.Table{Caption: "Who is decided how", Columns: []report.Column{{Title: r.By}}}
	for action, name := range r.Actions {
		for y, outcome := range r.Called {
			if action != r.Right[y] {
				counts.Columns = append(counts.Columns, report.Column{Title: fmt.Sprintf("%s that get “%s”", outcome, name), Align: report.Right})
			}
		}
	}
	for _, part := range r.Parts {
		row := []string{part.Value, report.Count(part.Cases), r.rangedWorth(part.Cost), r.rangedWorth(part.Difference), report.PValue(part.P)}
		if !r.several() {
			row = append(row, report.Count(part.Positive), percentRange(part.Excess))
		}
		t.AddRow(row...)
		row = []string{part.Value}
		for _, c := range part.Counts {
			if c.Action != r.Right[c.Outcome] {
				row = append(row, share(part.Counts, c))
			}
		}
		counts.AddRow(row...)
	}
	p.Text("Each part against all others, with 95 % intervals. The p are corrected for the number of parts (Holm): a difference that chance makes is not one to act on, and one that is not shown may still be there where cases are few.")
	p.Table(t)
	if !r.several() {
		p.Table(counts)
	}
}

// share writes a count among those of its outcome, and the interval of its share.
func share(counts []audit.Count, c audit.Count) string {
	all := 0.0
	for _, other := range counts {
		if other.Outcome == c.Outcome {
			all += other.Cases
		}
	}
	text := fmt.Sprintf("%s of %s", cases(c.Cases), cases(all))
	if c.OfOutcome != nil {
		text += " (" + percents(c.OfOutcome.Low, c.OfOutcome.High) + ")"
	}
	return text
}

// writeParts writes the same.
func (r *Audit) writeParts(w io.Writer) error {
	rows := [][]string{{"value", "cases", "positive", r.Noun(), r.Noun() + "_low", r.Noun() + "_high", "difference", "difference_low", "difference_high", "p_corrected", "excess", "excess_low", "excess_high"}}
	for _, part := range r.Parts {
		row := append([]string{part.Value, strconv.Itoa(part.Cases), strconv.Itoa(part.Positive)}, r.worth(part.Cost)...)
		row = append(append(row, r.worth(part.Difference)...), decimal(part.P))
		rows = append(rows, append(row, measured(part.Excess)...))
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// writeCounts writes the confusion matrix of everything that decides.
func (r *Audit) writeCounts(w io.Writer) error {
	rows := [][]string{{"method", "action", "outcome", "cases", "of_outcome", "of_outcome_low", "of_outcome_high", "of_action", "of_action_low", "of_action_high"}}
	for _, s := range r.Methods {
		for _, c := range s.Counts {
			row := []string{s.Method, r.Actions[c.Action], r.Outcomes[c.Outcome], decimal(c.Cases)}
			rows = append(rows, append(append(row, measured(c.OfOutcome)...), measured(c.OfAction)...))
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// writeQuality writes what everything costs, and the measures of probabilities.
func (r *Audit) writeQuality(w io.Writer) error {
	rows := [][]string{{"method", "measure", "value", "low", "high"}}
	for _, s := range r.Methods {
		add := func(name string, m *audit.Measure) {
			rows = append(rows, append([]string{s.Method, name}, measured(m)...))
		}
		m := r.Stated(audit.Measure{Value: s.MeanCost, Low: s.Low, High: s.High})
		add(r.Noun(), &m)
		if q := s.Quality; q != nil {
			add("auc", q.Area)
			add("average_precision", q.Precision)
			add("brier", q.Brier)
			add("log_loss", q.LogLoss)
			add("accuracy", q.Accuracy)
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

func (r *Audit) writeCuts(w io.Writer) error {
	rows := [][]string{{"threshold", "given", r.Noun(), r.Noun() + "_low", r.Noun() + "_high", "true_positive", "false_positive", "false_negative", "true_negative", "sensitivity", "specificity", "net_benefit"}}
	for _, c := range r.Cuts {
		row := append([]string{decimal(c.Threshold), strconv.FormatBool(c.Given)}, r.worth(&c.Cost)...)
		for _, v := range []float64{c.TruePositive, c.FalsePositive, c.FalseNegative, c.TrueNegative, c.Sensitivity, c.Specificity, c.NetBenefit} {
			row = append(row, decimal(v))
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(w).WriteAll(rows)
}

func (r *Audit) writeGains(w io.Writer) error {
	rows := [][]string{{"share", "cases", "probability", "found", "of_positive", "of_positive_low", "of_positive_high", "lift"}}
	for _, g := range r.Gains {
		row := []string{decimal(g.Share), decimal(g.Cases), decimal(g.Probability), decimal(g.Found)}
		rows = append(rows, append(append(row, measured(g.OfPositive)...), decimal(g.Lift)))
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// worth is what measured is, of a cost or the utility that it is.
func (r *Audit) worth(m *audit.Measure) []string {
	if m == nil {
		return measured(nil)
	}
	stated := r.Stated(*m)
	return measured(&stated)
}

// measured is a number and its interval, to the last digit; empty where there is none.
func measured(m *audit.Measure) []string {
	if m == nil {
		return []string{"", "", ""}
	}
	return []string{decimal(m.Value), decimal(m.Low), decimal(m.High)}
}
