package report

import (
	"fmt"
	"strings"
)

// limitedText says what decisions within a capacity cost, against those without one, and against giving it
// to the most probable cases.
func (r *Audit) limitedText() string {
	l, s := r.Limited, r.money()
	each := ""
	if l.Per != "" {
		each = " per " + l.Per
	}
	var limits, prices []string
	for _, of := range l.Limits {
		limits = append(limits, fmt.Sprintf("%s %s%s", of.Name, short(of.Most), each))
		prices = append(prices, fmt.Sprintf("%s of %s%s used, one more worth %s", short(of.Used), of.Name, each, s.number(of.Price)))
	}
	cost := r.Stated(l.Cost)
	text := fmt.Sprintf("Within the capacity (%s) a case %ss %s (95 %% interval %s): %s %s than without it (95 %% interval %s; expected by the model: %s). By the probabilities: %s.",
		strings.Join(limits, ", "), r.verb(), s.number(cost.Value), s.interval(cost.Low, cost.High), s.number(l.Extra.Value), r.either("more", "less"), s.interval(l.Extra.Low, l.Extra.High), s.number(l.Expected), strings.Join(prices, ", "))
	if m := l.Ranked; m != nil {
		text += fmt.Sprintf(" Giving the capacity to the cases of the highest probability, in place of the largest saving, would %s %s %s per case (95 %% interval %s).",
			r.verb(), s.number(m.Value), r.either("more", "less"), s.interval(m.Low, m.High))
	}
	if gap := s.number(l.Gap); gap != s.number(0) {
		text += fmt.Sprintf(" There are too many allocations to try all; another one could save up to %s per case.", gap)
	}
	return text
}

func short(x float64) string { return fmt.Sprintf("%.4g", x) }

// uncertainText says what costs that are not known leave open, and which of them is worth finding out.
func (r *Audit) uncertainText() string {
	s := r.money()
	text := fmt.Sprintf("Some %s are not known, and cases are decided by their means. Within their ranges %s of the cases could be decided otherwise.", r.nouns(), Percent(r.Uncertain.Flippable))
	for _, c := range r.Uncertain.Costs {
		text += fmt.Sprintf(" To know %s, %s, before deciding would be worth %s per case.", c.Entry, c.Distribution, s.number(c.Worth))
	}
	return text
}
