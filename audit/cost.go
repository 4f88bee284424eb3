package audit

import "github.com/lossep/lossep/decision"

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
