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
	if l.Gap > 1e-9*max(1, l.Extra.Value) {
		text += fmt.Sprintf(" Efforts differ, so that another allocation could save up to %s per case.", s.number(l.Gap))
	}
	return text
}

func short(x float64) string { return fmt.Sprintf("%.4g", x) }
