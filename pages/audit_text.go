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
	if r.several() {
		fmt.Fprintln(w)
		if err := r.countsTable(r.Methods[0]).WriteText(w); err != nil {
			return err
		}
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

// costTable is what the decisions of everything that was tried cost, or bring.
func (r *Audit) costTable() *report.Table {
	t := &report.Table{
		Caption: sentence(r.Noun()) + " per case, with 95 % intervals",
		Columns: []report.Column{
			{Title: "decided by"},
			{Title: r.Noun() + " per case", Align: report.Right},
			{Title: "more than " + audit.Label(r.Method), Align: report.Right},
			{Title: "p", Align: report.Right},
			{Title: "other decisions", Align: report.Right},
		},
		Best: "the lowest mean cost",
	}
	if !r.Costs {
		t.Best = "the highest mean utility"
	}
	lowest := r.Methods[0].MeanCost
	for _, s := range r.Methods {
		lowest = min(lowest, s.MeanCost)
	}
	tooFew := false
	for i, s := range r.Methods {
		m := r.Stated(audit.Measure{Value: s.MeanCost, Low: s.Low, High: s.High})
		cells := []report.Cell{{Text: audit.Label(s.Method)}, {Text: ranged(&m), Best: s.MeanCost == lowest}, {}, {}, {}}
		if i > 0 {
			c := r.Comparisons[i-1]
			tested := c.Headline || s.Quality != nil
			tooFew = r.differenceCells(cells[2:], c, tested) || tooFew
		}
		group := map[string]string{"method": "methods", "given": "probabilities as given", "recalibrated": "recalibrated", "baseline": "baselines"}[s.Kind]
		t.Rows = append(t.Rows, report.Row{Group: group, Cells: cells})
	}
	if tooFew {
		t.Notes = append(t.Notes, tooFewNote)
	}
	return t
}

// tooFewNote explains a p that could not be small.
var tooFewNote = report.Note{Mark: "a", Text: "Too little to tell the two apart: what differs is less than five cases of the largest difference."}

// differenceCells are what is known of a difference: its size with its interval, p, and
// the share of decisions that differ. What was not put to a test has no p. It tells
// whether a p is marked by tooFewNote.
func (r *Audit) differenceCells(cells []report.Cell, c audit.Comparison, tested bool) bool {
	if c.Identical {
		cells[0].Text, cells[2].Text = "the same", "none"
		return false
	}
	m := r.Stated(audit.Measure{Value: c.Difference, Low: c.Low, High: c.High})
	cells[0].Text = fmt.Sprintf("%s (%s)", report.Signed(report.Within(m.Value, m.Low, m.High)), report.Range(m.Low, m.High))
	cells[2].Text = report.Percent(float64(c.Flips) / float64(c.Decisions))
	if !tested {
		return false
	}
	cells[1].Text = report.PValue(c.Corrected)
	if c.TooFew && !c.Significant() {
		cells[1].Mark = tooFewNote.Mark
	}
	return cells[1].Mark != ""
}

// notes are what a reader should know besides: runs that did not converge.
func (r *Audit) notes() []string {
	notes := slices.Clone(r.Notes)
	folds := make(map[string]int)
	for _, f := range r.FoldModels {
		for i, note := range f.Notes {
			if !slices.Contains(f.Notes[:i], note) {
				folds[note]++
			}
		}
	}
	for _, f := range r.FoldModels {
		for _, note := range f.Notes {
			line := "in every fold: " + note
			if folds[note] < len(r.FoldModels) {
				line = fmt.Sprintf("repeat %d, fold %d: %s", f.Repeat, f.Fold, note)
			}
			if !slices.Contains(notes, line) {
				notes = append(notes, line)
			}
		}
	}
	return notes
}
