package audit

import (
	"math"
	"slices"

	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/decision"
)

// costs are what actions cost in one case. A utility is a cost with its sign turned, which
// leaves everything between actions as it is; Result.Stated turns it back.
func costs(s decision.Stakes) decision.Stakes {
	if s.Costs {
		return s
	}
	c := decision.Stakes{Table: make(decision.Table, len(s.Table)), Costs: true}
	for a, row := range s.Table {
		for _, u := range row {
			c.Table[a] = append(c.Table[a], 0-u) // no −0
		}
	}
	return c
}

// positives are the probabilities of the positive outcome.
func positives(pairs [][]float64) []float64 {
	all := make([]float64, len(pairs))
	for i, p := range pairs {
		all[i] = p[1]
	}
	return all
}

// cheapest is the action of lowest expected cost when the outcomes have these
// probabilities.
func cheapest(costs decision.Stakes, p []float64) int { return costs.Best(p, -1) }

// margin is by how much the cheapest action is cheaper than the next.
func margin(costs decision.Stakes, p []float64) float64 {
	return costs.Choose(make([]float64, len(costs.Table)), p).Margin
}

// scaled multiplies what actions cost under the positive outcome.
func scaled(costs decision.Stakes, factor float64) decision.Stakes {
	c := decision.Stakes{Table: make(decision.Table, len(costs.Table)), Costs: true}
	for a, row := range costs.Table {
		c.Table[a] = []float64{row[0], factor * row[1]}
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
	return a.rangeOf(a.costs, choices, others)
}

func (a *Audit) rangeOf(cases []decision.Stakes, choices, others []int) *compare.Range {
	var r compare.Range
	for i, c := range cases {
		least, most := math.Inf(1), math.Inf(-1)
		for y := range c.Table[0] {
			low, high := entries(c.Table, y, choices)
			if others != nil {
				otherLow, otherHigh := entries(c.Table, y, others)
				low, high = low-otherHigh, high-otherLow
			}
			least, most = min(least, low), max(most, high)
		}
		r.Least += least * a.weights[i] / a.total
		r.Most += most * a.weights[i] / a.total
	}
	return &r
}

// hindsight is the least that each case could have cost, its outcome known.
func (a *Audit) hindsight() []float64 {
	least := make([]float64, a.len())
	for i, c := range a.costs {
		least[i] = c.Table[0][a.outcome(i)]
		for _, row := range c.Table {
			least[i] = min(least[i], row[a.outcome(i)])
		}
	}
	return least
}

// right is the action that costs least under an outcome, on average over cases.
func (a *Audit) right(outcome int) int {
	sums := make([]float64, len(a.problem.Utility.Actions()))
	for _, c := range a.costs {
		for action := range sums {
			sums[action] += c.Table[action][outcome]
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
