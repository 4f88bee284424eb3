package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lossep/lossep/internal/indices"
)

// Holm adjusts the probabilities of several tests so that comparing each with a
// level keeps the chance of any false claim at or below that level, whatever the
// dependence between the tests (Holm 1979). With the p sorted, the i-th smallest of m
// becomes the largest of (m−j+1)·p_j over j ≤ i, at most 1. The result is in the order
// of p.
//
// It panics if a probability is outside [0, 1].
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			panic(fmt.Sprintf("compare: p[%d] = %v is not a probability", i, v))
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	adjusted := make([]float64, len(p))
	highest := 0.0
	for j, i := range order {
		highest = max(highest, min(1, float64(len(p)-j)*p[i]))
		adjusted[i] = highest
	}
	return adjusted
}

// HolmAmong adjusts the probabilities at some places, which are a family, and leaves the others as they are: those of tests that
// were planned, or that have nothing to tell.
func HolmAmong(p []float64, family []int) []float64 {
	adjusted := slices.Clone(p)
	for k, q := range Holm(indices.Take(p, family)) {
		adjusted[family[k]] = q
	}
	return adjusted
}
