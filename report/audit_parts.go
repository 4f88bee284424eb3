package report

import (
	"fmt"
	"math"
	"strings"

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

// limitedText says what decisions within a capacity cost, against those without one, and against giving it
// to the most probable cases.
func (r *Audit) limitedText() string {
	l, s := r.Limited, r.money()
	text := capacityText(l, r.Stated(l.Cost), s, r.verb(), r.either("more", "less"))
	if m := l.Ranked; m != nil {
		text += fmt.Sprintf(" Giving the capacity to the cases of the highest probability, in place of the largest saving, would %s %s %s per case (95 %% interval %s).",
			r.verb(), s.number(m.Value), r.either("more", "less"), s.interval(m.Low, m.High))
	}
	return text + gapText(l, s)
}

// capacityText says what decisions within a capacity cost, and how that compares with those without one.
func capacityText(l *audit.Limited, cost audit.Measure, s scale, verb, more string) string {
	each := ""
	if l.Per != "" {
		each = " per " + l.Per
	}
	var limits, prices []string
	for _, of := range l.Limits {
		limits = append(limits, fmt.Sprintf("%s %s%s", of.Name, short(of.Most), each))
		prices = append(prices, fmt.Sprintf("%s of %s%s used, one more worth %s", short(of.Used), of.Name, each, s.number(of.Price)))
	}
	return fmt.Sprintf("Within the capacity (%s) a case %ss %s (95 %% interval %s): %s %s than without it (95 %% interval %s; expected by the model: %s). By the probabilities: %s.",
		strings.Join(limits, ", "), verb, s.number(cost.Value), s.interval(cost.Low, cost.High), s.number(l.Extra.Value), more, s.interval(l.Extra.Low, l.Extra.High), s.number(l.Expected), strings.Join(prices, ", "))
}

// gapText says what another allocation could save.
func gapText(l *audit.Limited, s scale) string {
	if gap := s.number(l.Gap); gap != s.number(0) {
		return fmt.Sprintf(" There are too many allocations to try all; another one could save up to %s per case.", gap)
	}
	return ""
}

func short(x float64) string {
	if x >= 1000 && x < 1e15 {
		return Count(int(math.Round(x)))
	}
	return fmt.Sprintf("%.4g", x)
}

// uncertainText says what costs that are not known leave open, and which of them is worth finding out.
func (r *Audit) uncertainText() string {
	s := r.money()
	text := fmt.Sprintf("Some %s are not known, and cases are decided by their means. Within their ranges %s of the cases could be decided otherwise.", r.nouns(), Percent(r.Uncertain.Flippable))
	for _, c := range r.Uncertain.Costs {
		text += fmt.Sprintf(" To know %s, %s, before deciding would be worth %s per case.", c.Entry, c.Distribution, s.number(c.Worth))
	}
	return text
}

// effectsSection shows the most important effects of categories, bins and pairs of these.
func (r *Audit) effectsSection(p *Page) {
	p.Section("Effects")
	p.Text(effectsText(r.Families, r.called[1]) + " They are the most important ones of the model of the first fold.")
	for _, f := range r.Families {
		p.Figure(effectFigure(f), effectCaption(f), effectAlternative(f))
	}
}
