package report

import (
	"fmt"

	"github.com/lossep/lossep/audit"
)

// partsSection is cost, counts and calibration for the values of a column.
func (r *Audit) partsSection(p *Page) {
	p.Text("Each value against all others, with 95 % intervals. p-values are Holm-adjusted. With few cases a difference may exist without being significant.")
	p.Table(r.partsTable())
	if !r.several() { // of more, every action and outcome would be a column
		p.Table(r.partsCounts())
	}
}

func (r *Audit) partsTable() *Table {
	t := newTable("Decisions by "+r.label(r.Method), r.By, "cases", r.noun()+" per case", "difference from all others", "p")
	if !r.several() {
		t.addNumbers(r.called[1], "observed − predicted")
	}
	costs := r.perCase()
	excess := percentColumn(r.Parts, func(p audit.Part) *audit.Measure { return p.Excess })
	for _, part := range r.Parts {
		row := []string{part.Value, Count(part.Cases), costs.measure(r.asStated(part.Cost)), costs.signed(r.asStated(part.Difference)), PValue(part.P)}
		if !r.several() {
			row = append(row, Count(part.Positive), excess.signed(part.Excess))
		}
		t.AddRow(row...)
	}
	return t
}

// partsCounts are the wrong actions.
func (r *Audit) partsCounts() *Table {
	t := newTable("Decisions by outcome", r.By)
	for action, name := range r.Actions {
		for y, outcome := range r.called {
			if action != r.Right[y] {
				t.addNumbers(fmt.Sprintf("%s that get “%s”", outcome, name))
			}
		}
	}
	var all []audit.Measure
	for _, part := range r.Parts {
		all = append(all, present(part.Counts, func(c audit.Count) *audit.Measure { return c.OfOutcome })...)
	}
	shares := percentScale(all...)
	for _, part := range r.Parts {
		row := []string{part.Value}
		for _, c := range part.Counts {
			if c.Action != r.Right[c.Outcome] {
				row = append(row, shareOf(part.Counts, c, shares))
			}
		}
		t.AddRow(row...)
	}
	return t
}

// shareOf writes a count among those of its outcome, and the interval of its share.
func shareOf(counts []audit.Count, c audit.Count, s scale) string {
	all := 0.0
	for _, other := range counts {
		if other.Outcome == c.Outcome {
			all += other.Cases
		}
	}
	text := fmt.Sprintf("%s of %s", cases(c.Cases), cases(all))
	if m := c.OfOutcome; m != nil {
		text += " (" + s.interval(m.Low, m.High) + ")"
	}
	return text
}
