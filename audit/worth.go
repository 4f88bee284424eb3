package audit

import (
	"strconv"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/indices"
)

// Known is what it would have brought to find out the outcome of a case before acting, at
// a price, and only where that is worth more than the price by the probabilities: by a test,
// by an expert, or by waiting.
type Known struct {
	Price float64 `json:"price"`
	// Share is that of the cases in which the outcome is found out.
	Share float64 `json:"share"`
	// Saved is what a case would have cost less on average over all cases, the price among
	// its costs, and Expected what that is by the probabilities.
	Saved    Measure `json:"saved"`
	Expected float64 `json:"expected"`
}

// pricesKnown are the prices, as parts of what the outcome is worth at most in any case.
var pricesKnown = []float64{0, 0.1, 0.25, 0.5, 0.75}

// outcomeWorth is by how much a case would be expected to cost less if its outcome were known.
func outcomeWorth(costs decision.Stakes, p []float64) float64 {
	d := lossep.Decision{Choice: costs.Choose(make([]float64, len(costs.Table)), p), Probabilities: p, Stakes: costs}
	return d.OutcomeWorth()
}

// known finds what the outcomes of the cases would have been worth, at prices from nothing
// to nearly what the most uncertain case is worth.
func (a *Audit) known(audited string, folds []*Fold) ([]Known, error) {
	most := 0.0
	for _, f := range folds {
		for k, i := range f.Rows {
			if a.weights[i] > 0 {
				most = max(most, outcomeWorth(a.costs[i], f.Answers[audited][k]))
			}
		}
	}
	prices := pricesKnown
	if most == 0 { // every outcome is certain by the probabilities, or does not matter
		prices = prices[:1]
	}
	every := indices.Of(len(a.problem.Utility.Actions()))
	least := a.hindsight()
	all := make([]Known, len(prices))
	if err := each(len(all), func(n int) error {
		part, one := prices[n], &all[n]
		one.Price = twoDigits(part * most)
		before, after := make([]float64, a.len()), make([]float64, a.len())
		for _, f := range folds {
			for k, i := range f.Rows {
				p := f.Answers[audited][k]
				now := a.realised(i, cheapest(a.costs[i], p))
				before[i] += a.part() * now
				// For nothing it is found out in every case: probabilities of 0 and 1 can be wrong.
				if worth := outcomeWorth(a.costs[i], p); part == 0 || worth > one.Price {
					weight := a.part() * a.weights[i] / a.total
					one.Share += weight
					one.Expected += weight * (worth - one.Price)
					now = least[i] + one.Price
				}
				after[i] += a.part() * now
			}
		}
		e, err := a.cases.Difference(before, after, a.rangeOf(func(c decision.Stakes, outcome int) (float64, float64) {
			low, high := entries(c.Table, outcome, every)
			return -one.Price, max(0, high-low-one.Price)
		}), Level)
		if err != nil {
			return err
		}
		one.Share = min(one.Share, 1) // a sum of rounded weights
		one.Saved = *measure(e)
		return nil
	}); err != nil {
		return nil, err
	}
	if most == 0 && all[0].Saved.Value == 0 {
		return nil, nil
	}
	return all, nil
}

// twoDigits is a price of two digits.
func twoDigits(x float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 2, 64), 64)
	if err != nil {
		return x // rounded up beyond the largest number
	}
	return short
}

// Uncertain is what decisions leave open where costs are not known.
type Uncertain struct {
	// Flippable is the share of cases in which another action would be better for some values of the costs
	// within their ranges.
	Flippable float64       `json:"could_flip"`
	Costs     []UnknownCost `json:"costs"`
}

// UnknownCost is one that is not known, and what it would be worth a case to know it before deciding, by the
// probabilities.
type UnknownCost struct {
	Entry        string  `json:"entry"`
	Distribution string  `json:"distribution"`
	Worth        float64 `json:"worth"`
}

// uncertain finds that for the decisions of a method; nil where all costs are known.
func (a *Audit) uncertain(method string, folds []*Fold) *Uncertain {
	unknown := a.problem.Utility.Uncertain()
	if len(unknown) == 0 {
		return nil
	}
	out := &Uncertain{Costs: make([]UnknownCost, len(unknown))}
	for k, u := range unknown {
		out.Costs[k] = UnknownCost{Entry: u.Name, Distribution: u.Text}
	}
	for _, f := range folds {
		for k, i := range f.Rows {
			s, p, weight := a.costs[i], f.Answers[method][k], a.part()*a.weights[i]/a.total
			c := s.Choose(make([]float64, len(s.Table)), p)
			if s.CouldFlip(&c, p) {
				out.Flippable += weight
			}
			for j, worth := range s.Worths(&c, p) {
				out.Costs[j].Worth += weight * worth
			}
		}
	}
	out.Flippable = min(1, out.Flippable) // a sum of rounded weights
	return out
}
