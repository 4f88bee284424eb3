package pages

import (
	"fmt"
	"strings"

	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/report"
)

// made says what outcomes the cases had.
func (r *Audit) made() string {
	if !r.several() {
		return fmt.Sprintf("%s of which %s", report.Count(r.Positive), r.being(1))
	}
	parts := make([]string, len(r.Outcomes))
	for y, name := range r.Called {
		parts[y] = fmt.Sprintf("%s with %s", report.Count(r.Cases[y]), name)
	}
	return strings.Join(parts, ", ")
}

// listed is whose probability cases are listed with.
func (r *Audit) listed() string {
	if r.several() {
		return "outcome"
	}
	return r.Called[1]
}

// reliabilitySection compares probabilities with frequencies, of the positive outcome of two
// or of each of more.
func (r *Audit) reliabilitySection(p *report.Page) {
	const about = "Reliability diagram with ten bins; points on the diagonal are reliable probabilities."
	method := audit.Label(r.Method)
	if !r.several() {
		p.Figure(r.reliabilityFigure(r.Reliable), fmt.Sprintf("Observed frequency of %s against its predicted probability (%s).", r.Called[1], method), about)
		return
	}
	p.Figure(r.reliabilityFigure(r.Reliable), fmt.Sprintf("Observed frequency of outcomes against their predicted probability, all outcomes together (%s).", method), about)
	t := &report.Table{Caption: "Reliability of each outcome, with 95 % intervals", Columns: []report.Column{
		{Title: "outcome"},
		{Title: "cases", Align: report.Right},
		{Title: "more frequent than predicted", Align: report.Right},
		{Title: "mean distance in ten bins", Align: report.Right},
		{Title: "AUC against the others", Align: report.Right},
	}}
	for y, of := range r.ReliableOf {
		t.AddRow(r.Called[y], report.Count(r.Cases[y]), percentRange(&of.Excess), report.Percent(of.Error), ranged(of.Area))
	}
	p.Table(t)
	p.Details("Each outcome by itself", func(b *report.Body) {
		for y, of := range r.ReliableOf {
			b.Figure(r.reliabilityFigure(of), fmt.Sprintf("Observed frequency of %s against its predicted probability (%s).", r.Called[y], method), about)
		}
	})
}
