package service

import (
	"fmt"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/table"
)

// UncertainCost is a cost, or a utility, that is not known, and what it would be worth to find it out.
type UncertainCost struct {
	Entry        string  `json:"entry" doc:"the action and the outcome"`
	Distribution string  `json:"distribution"`
	Worth        float64 `json:"worth" doc:"how much less a case would be expected to cost, or how much more to bring, if this were known before deciding (expected value of perfect information)"`
}

// Doubts are what decisions leave open under costs that are not known.
type Doubts struct {
	Flippable int       // decisions that another value of them would change
	Worths    []float64 // of knowing each, summed over cases
}

// add counts a decision; nothing where all is known.
func (d *Doubts) add(s *decision.Stakes, c *decision.Choice, p []float64) {
	if len(s.Spreads) == 0 {
		return
	}
	if s.CouldFlip(c, p) {
		d.Flippable++
	}
	d.sum(s.Worths(c, p))
}

func (d *Doubts) sum(worths []float64) {
	if d.Worths == nil {
		d.Worths = make([]float64, len(worths))
	}
	for k, x := range worths {
		d.Worths[k] += x
	}
}

// Costs are those that are not known, with what each is worth a case.
func (d *Doubts) Costs(s *decision.Spec, rows int) (all []UncertainCost) {
	for k, u := range s.Uncertain() {
		worth := 0.0
		if d.Worths != nil {
			worth = d.Worths[k] / float64(max(1, rows))
		}
		all = append(all, UncertainCost{u.Name, u.Text, worth})
	}
	return all
}

// Case counts a case.
func (d *Doubts) Case(c *Case) { d.add(&c.Decision.Stakes, c.free(), c.Decision.Probabilities) }

// lines say it in words.
func (d *Doubts) lines(s *decision.Spec, rows int) (lines []string) {
	costs := d.Costs(s, rows)
	if len(costs) == 0 || rows == 0 {
		return nil
	}
	what := map[bool]string{true: "costs", false: "utilities"}[s.Costs()]
	lines = append(lines, fmt.Sprintf("%s could be decided otherwise within the ranges of the %s", table.Plural(d.Flippable, "row"), what))
	for _, c := range costs {
		lines = append(lines, fmt.Sprintf("to know %s, %s, before deciding would be worth %.4g per row", c.Entry, c.Distribution, c.Worth))
	}
	return lines
}

// flipFields say whether a decision could flip, where costs are not known.
func flipFields(s *decision.Spec) []Field {
	if len(s.Uncertain()) == 0 {
		return nil
	}
	return []Field{{Name: "could_flip", Columns: []string{"could_flip"}, Truth: func(c *Case) bool {
		return c.Decision.Stakes.CouldFlip(c.free(), c.Decision.Probabilities)
	}}}
}
