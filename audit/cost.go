package audit

import (
	"math"
	"slices"

	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/decision"
)

// costs are what actions cost in one case. Utilities count as what they fall short of
// the best action in hindsight, which leaves the differences between actions as they
// are.
func costs(entries decision.Table, given bool) decision.Table {
	if given {
		return entries
	}
	best := entries[0]
	for _, row := range entries {
		best = [2]float64{max(best[0], row[0]), max(best[1], row[1])}
	}
	c := make(decision.Table, len(entries))
	for a, row := range entries {
		c[a] = [2]float64{best[0] - row[0], best[1] - row[1]}
	}
	return c
}

// cheapest is the action of lowest expected cost when the positive outcome has
// probability p.
func cheapest(costs decision.Table, p float64) int { return costs.Worst(1-p, p) }

// expectedCost is what an action costs when the positive outcome has probability p.
func expectedCost(costs decision.Table, action int, p float64) float64 {
	return costs.ExpectedUtility(action, 1-p, p)
}

// margin is by how much the cheapest action is cheaper than the next.
func margin(costs decision.Table, p float64) float64 {
	action := cheapest(costs, p)
	least := costs.ExpectedUtility(action, 1-p, p)
	gap := -1.0
	for a := range costs {
		if more := costs.ExpectedUtility(a, 1-p, p) - least; a != action && (gap < 0 || more < gap) {
			gap = max(more, 0)
		}
	}
	return max(gap, 0)
}

// scaled multiplies what actions cost under the positive outcome.
func scaled(costs decision.Table, factor float64) decision.Table {
	c := make(decision.Table, len(costs))
	for a, row := range costs {
		c[a] = [2]float64{row[0], factor * row[1]}
	}
	return c
}

// possible is between what a case could have cost on average, whatever its outcome, if
// actions are among the choices.
func (a *Audit) possible(choices []int) *compare.Range {
	return a.differences(choices, nil)
}

// differences is between what a case could have cost more on average by one of the
// choices than by one of the others; without others, than nothing.
func (a *Audit) differences(choices, others []int) *compare.Range {
	var r compare.Range
	for _, c := range a.costs {
		least, most := math.Inf(1), math.Inf(-1)
		for y := range c[0] {
			low, high := entries(c, y, choices)
			if others != nil {
				otherLow, otherHigh := entries(c, y, others)
				low, high = low-otherHigh, high-otherLow
			}
			least, most = min(least, low), max(most, high)
		}
		r.Least += least / float64(len(a.costs))
		r.Most += most / float64(len(a.costs))
	}
	return &r
}

// right is the action that costs least under an outcome, on average over cases.
func (a *Audit) right(outcome int) int {
	sums := make([]float64, len(a.problem.Utility.Actions()))
	for _, c := range a.costs {
		for action := range sums {
			sums[action] += c[action][outcome]
		}
	}
	return slices.Index(sums, slices.Min(sums))
}

// entries are the least and the most that one of the actions costs under an outcome.
func entries(c decision.Table, outcome int, actions []int) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, action := range actions {
		least, most = min(least, c[action][outcome]), max(most, c[action][outcome])
	}
	return least, most
}
