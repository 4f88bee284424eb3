package indices

import (
	"cmp"
	"slices"

	"github.com/lossep/lossep/internal/tasks"
)

// sortedParts is the number of parts of numbers that are sorted at once, a power of two.
const sortedParts = 64

// ByDigest are the numbers below len(digests), in the order of their digests; of those with the same digest in the order
// of compare, and otherwise as they were. Digests are spread evenly over all numbers.
func ByDigest(digests []uint64, compare func(i, j int) int) []int {
	part := func(i int) int { return int(digests[i] / (1 << 63 / (sortedParts / 2))) }
	var ends [sortedParts + 1]int
	for i := range digests {
		ends[part(i)+1]++
	}
	for k := range sortedParts {
		ends[k+1] += ends[k]
	}
	order, next := make([]int, len(digests)), ends
	for i := range digests {
		k := part(i)
		order[next[k]] = i
		next[k]++
	}
	tasks.For(sortedParts, func(k int) {
		slices.SortFunc(order[ends[k]:ends[k+1]], func(i, j int) int {
			if c := cmp.Compare(digests[i], digests[j]); c != 0 {
				return c
			}
			return cmp.Or(compare(i, j), cmp.Compare(i, j))
		})
	})
	return order
}
