package pages

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/report"
)

// WriteText writes the verdicts and what they rest on.
func (r *Audit) WriteText(w io.Writer) error {
	for _, v := range r.Verdicts {
		fmt.Fprintf(w, "%s %s.\n%s\n\n", v.Question, sentence(v.Answer), wrap(v.Finding, 88))
	}
	if err := r.costTable().WriteText(w); err != nil {
		return err
	}
	for _, note := range r.notes() {
		if _, err := fmt.Fprintln(w, note); err != nil {
			return err
		}
	}
	return nil
}

// sentence gives a text a capital letter.
func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// wrap breaks a paragraph into lines of at most width characters.
func wrap(s string, width int) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(s) {
		length := len([]rune(word))
		switch {
		case column == 0:
		case column+1+length > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += length
	}
	return b.String()
}

// costTable is what the decisions of everything that was tried cost.
func (r *Audit) costTable() *report.Table {
	t := &report.Table{
		Caption: "Cost per case",
		Columns: []report.Column{
			{Title: "decided by"},
			{Title: "cost per case", Align: report.Right},
			{Title: "95 % interval", Align: report.Right},
			{Title: "more than " + report.MethodLabel(r.Method), Align: report.Right},
			{Title: "95 % interval", Align: report.Right},
			{Title: "p", Align: report.Right},
			{Title: "other decisions", Align: report.Right},
		},
		Best: "the lowest mean cost",
	}
	if !r.Costs {
		t.Caption = "Utility per case, and what it falls short of the best action in hindsight"
		t.Columns[1].Title = "short of hindsight"
		t.Columns = slices.Insert(t.Columns, 1, report.Column{Title: "utility per case", Align: report.Right}, report.Column{Title: "95 % interval", Align: report.Right})
		t.Best = "the highest mean utility"
	}
	lowest := r.Methods[0].MeanCost
	for _, s := range r.Methods {
		lowest = min(lowest, s.MeanCost)
	}
	for i, s := range r.Methods {
		cells := []report.Cell{{Text: report.MethodLabel(s.Method)}}
		if u := s.Utility; u != nil {
			cells = append(cells, report.Cell{Text: report.Within(u.Value, u.Low, u.High)}, report.Cell{Text: report.Range(u.Low, u.High)})
		}
		cells = append(cells, report.Cell{Text: report.Within(s.MeanCost, s.Low, s.High), Best: s.MeanCost == lowest}, report.Cell{Text: report.Range(s.Low, s.High)})
		differences := make([]report.Cell, len(t.Columns)-len(cells))
		if i > 0 {
			c := r.Comparisons[i-1]
			differenceCells(differences, c, c.Headline || s.Quality != nil && s.Kind != "recalibrated")
		}
		cells = append(cells, differences...)
		group := map[string]string{"method": "methods", "given": "probabilities as given", "recalibrated": "recalibrated", "baseline": "baselines"}[s.Kind]
		t.Rows = append(t.Rows, report.Row{Group: group, Cells: cells})
	}
	return t
}

// differenceCells are what is known of a difference: its size, interval and p, and the
// share of decisions that differ. What was not put to a test has no p.
func differenceCells(cells []report.Cell, c audit.Comparison, tested bool) {
	if c.Identical {
		cells[0].Text, cells[3].Text = "the same", "none"
		return
	}
	cells[0].Text = report.Signed(report.Within(c.Difference, c.Low, c.High))
	cells[1].Text = report.Range(c.Low, c.High)
	if tested {
		cells[2].Text = report.PValue(c.Corrected)
	}
	cells[3].Text = report.Percent(float64(c.Flips) / float64(c.Decisions))
}

// notes are what a reader should know besides: runs that did not converge.
func (r *Audit) notes() []string {
	notes := slices.Clone(r.Notes)
	for _, f := range r.FoldModels {
		for _, note := range f.Notes {
			notes = append(notes, fmt.Sprintf("repeat %d, fold %d: %s", f.Repeat, f.Fold, note))
		}
	}
	return notes
}
