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
	for _, u := range s.Spreads {
		u.Slope = -u.Slope
		c.Spreads = append(c.Spreads, u)
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
func (a *Audit) possible(choices []int) *compare.Range { return a.differences(choices, nil) }

// differences is between what a case could have cost more on average by one of the
// choices than by one of the others; without others, than nothing.
func (a *Audit) differences(choices, others []int) *compare.Range {
	return a.rangeOf(func(c decision.Stakes, outcome int) (least, most float64) {
		least, most = entries(c.Table, outcome, choices)
		if others != nil {
			otherLeast, otherMost := entries(c.Table, outcome, others)
			least, most = least-otherMost, most-otherLeast
		}
		return least, most
	})
}

// differencesBetween is the same for two ways to decide. Where they go by the same
// probability of two outcomes, not every pair of actions can be: who acts above one half
// acts above a lower threshold, too.
func (a *Audit) differencesBetween(s, than Score) *compare.Range {
	if s.decider.model == "" || s.decider.model != than.decider.model || a.several() {
		return a.differences(s.decider.choices, than.decider.choices)
	}
	var last decision.Stakes
	var ends [2][2]float64
	return a.rangeOf(func(c decision.Stakes, outcome int) (least, most float64) {
		if !slices.EqualFunc(c.Table, last.Table, slices.Equal[[]float64]) {
			last, ends = c, pairedEnds(c, s.decider.act, than.decider.act)
		}
		return ends[outcome][0], ends[outcome][1]
	})
}

// pairedEnds is for each outcome the least and the most that one way to decide costs more
// than another by the same probability, whatever that is.
func pairedEnds(c decision.Stakes, act, other func(decision.Stakes, []float64) int) (ends [2][2]float64) {
	for y := range ends {
		ends[y] = [2]float64{math.Inf(1), math.Inf(-1)}
	}
	const far, step = 16.0, 0.0625 // log odds
	for odds := -far; odds <= far; odds += step {
		p := decision.Pair(1 / (1 + math.Exp(-odds)))
		x, z := act(c, p), other(c, p)
		for y := range ends {
			d := c.Table[x][y] - c.Table[z][y]
			ends[y] = [2]float64{min(ends[y][0], d), max(ends[y][1], d)}
		}
	}
	return ends
}

// rangeOf averages over cases what could have been in each, given its outcome: over those
// of each outcome, and over all whatever theirs.
func (a *Audit) rangeOf(ends func(c decision.Stakes, outcome int) (least, most float64)) *compare.Range {
	strata := make([]compare.Range, len(a.outcomes()))
	weights := make([]float64, len(strata))
	var all compare.Range
	for i, c := range a.costs {
		least, most := math.Inf(1), math.Inf(-1)
		for y := range strata {
			low, high := ends(c, y)
			if y == a.outcome(i) {
				strata[y].Least += low * a.weights[i]
				strata[y].Most += high * a.weights[i]
				weights[y] += a.weights[i]
			}
			least, most = min(least, low), max(most, high)
		}
		all.Least += least * a.weights[i] / a.total
		all.Most += most * a.weights[i] / a.total
	}
	for y, w := range weights {
		if w > 0 {
			strata[y].Least /= w
			strata[y].Most /= w
		}
	}
	all.Strata = strata
	return &all
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
	means := a.meanCosts(outcome)
	return slices.Index(means, slices.Min(means))
}

// meanCosts are what the actions cost under an outcome, on average over cases.
func (a *Audit) meanCosts(outcome int) []float64 {
	means := make([]float64, len(a.problem.Utility.Actions()))
	for _, c := range a.costs {
		for action := range means {
			means[action] += c.Table[action][outcome] / float64(len(a.costs))
		}
	}
	return means
}

// entries are the least and the most that one of the actions costs under an outcome.
func entries(c decision.Table, outcome int, actions []int) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, action := range actions {
		least, most = min(least, c[action][outcome]), max(most, c[action][outcome])
	}
	return least, most
}
