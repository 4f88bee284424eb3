package recipe

import (
	"cmp"
	"math"
	"slices"

	"github.com/lossep/lossep/internal/indices"
)

// Where rows have weights, what is estimated of a column is what it would be if each row
// were written as often as it counts: every statistic is then weighted, medians, ranks and
// powers as well as means.

const (
	// mostCopies is how many copies weights may stand for to be taken at their word.
	mostCopies = 1 << 22
	// fewestCopies is how many others are rounded to, at least: 1/4096 of the weight is far
	// below what the scale of a column matters to.
	fewestCopies = 1 << 12
)

// copiesOf are values as often as their weights say, in increasing order, and how many
// copies the rest of the weight makes. Weights that are multiples of the smallest are exact;
// others are rounded so that the error does not add up from one value to the next.
func copiesOf(values, weights []float64, rest float64) (copies []float64, others int) {
	total, unit := rest, math.Inf(1)
	for _, w := range weights {
		total += w
		if w > 0 {
			unit = min(unit, w)
		}
	}
	if total == 0 {
		return nil, 0
	}
	multiple := func(w float64) bool { return math.Abs(w/unit-math.Round(w/unit)) <= 1e-9*w/unit }
	if total/unit > mostCopies || !multiple(rest) || slices.ContainsFunc(weights, func(w float64) bool { return !multiple(w) }) {
		unit = total / float64(max(fewestCopies, 4*len(values)))
	}
	order := indices.Of(len(values))
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(values[i], values[j]), cmp.Compare(weights[i], weights[j]))
	})
	sum := 0.0
	for _, i := range order {
		sum += weights[i]
		for float64(len(copies)) < math.Floor(sum/unit+0.5) {
			copies = append(copies, values[i])
		}
	}
	return copies, int(math.Round(rest / unit))
}
