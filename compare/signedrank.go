package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lossep/lossep/normal"
)

// Test is the result of a two-sided Wilcoxon signed-rank test.
type Test struct {
	// Statistic is W⁺, the sum of the ranks of the positive differences.
	Statistic float64
	// P is the probability, if signs were tossed by a fair coin, of a statistic at
	// least as far from its centre.
	P float64
	// N is the number of differences that are not zero, and Zeros of those that are.
	N, Zeros int
	// Exact says that P is the permutation probability itself and not a normal
	// approximation to it.
	Exact bool
	// Shift is the Hodges–Lehmann estimate of the centre of the differences, zeros
	// included: the median of the averages of all pairs, each value with itself too.
	Shift float64
}

const (
	// exactMost is the largest number of nonzero differences tested exactly: the
	// 2^50 sign patterns are still counted without rounding in a float64.
	exactMost = 50
	// exactSums bounds the table of rank sums. Only zeros in thousands, which push
	// all other ranks up, reach it.
	exactSums = 1 << 20
)

// SignedRank tests whether paired differences are symmetric about zero.
//
// Zeros follow Pratt (1959): they take part in the ranking, then their ranks are
// put aside. The older rule, to drop zeros before ranking, lets a sample become more
// significant when every difference moves away from significance, and it hides how
// often two methods simply agree. Equal magnitudes share their mean rank. Magnitudes
// are equal when their bits are: round the differences first where noise in the last
// place should not break a tie.
//
// Given the ranks r_i of the N nonzero magnitudes, all 2^N sign patterns are equally
// probable under the hypothesis. Up to N = 50 the distribution of the rank sum is
// counted exactly, ties and all; beyond, it is taken as normal with mean Σr_i/2 and
// variance Σr_i²/4, which is the usual variance with its corrections for ties and
// zeros, and half a rank of continuity correction. Without a nonzero difference P is 1.
//
// It panics if a difference is not finite.
func SignedRank(diff []float64) Test {
	for i, d := range diff {
		if math.IsNaN(d) || math.IsInf(d, 0) {
			panic(fmt.Sprintf("compare: difference %d is %v", i, d))
		}
	}
	ranks, sum := doubledRanks(diff) // twice the ranks, so that mean ranks are integers
	t := Test{
		Statistic: float64(sum) / 2,
		N:         len(ranks),
		Zeros:     len(diff) - len(ranks),
		Shift:     hodgesLehmann(diff),
	}
	total := 0
	for _, r := range ranks {
		total += r
	}
	// The distribution is symmetric, so both tails are the one beyond the larger sum.
	far := max(sum, total-sum)
	if len(ranks) <= exactMost && total <= exactSums {
		t.Exact = true
		t.P = min(1, 2*upperTail(ranks, total, far))
		return t
	}
	variance := 0.0 // of the doubled sum: Σ(2r_i)²/4
	for _, r := range ranks {
		variance += float64(r) * float64(r) / 4
	}
	z := (float64(far) - float64(total)/2 - 1) / math.Sqrt(variance)
	t.P = min(1, 2*normal.CDF(-max(0, z)))
	return t
}

// doubledRanks gives twice the mean rank among all magnitudes of each nonzero
// difference, in increasing order, and the sum of those whose difference is positive.
func doubledRanks(diff []float64) (ranks []int, positive int) {
	sorted := slices.Clone(diff)
	slices.SortFunc(sorted, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	for start := 0; start < len(sorted); {
		size := math.Abs(sorted[start])
		end := start + 1
		for end < len(sorted) && math.Abs(sorted[end]) == size {
			end++
		}
		if size > 0 {
			// Ranks start+1 … end have the mean (start+1+end)/2.
			for _, d := range sorted[start:end] {
				ranks = append(ranks, start+1+end)
				if d > 0 {
					positive += start + 1 + end
				}
			}
		}
		start = end
	}
	return ranks, positive
}

// upperTail is the probability that a sum in which each rank takes part by the toss
// of a coin is at least the bound: ways[s] counts the subsets with sum s.
func upperTail(ranks []int, total, bound int) float64 {
	ways := make([]float64, total+1)
	ways[0] = 1
	reached := 0
	for _, r := range ranks {
		reached += r
		for s := reached; s >= r; s-- {
			ways[s] += ways[s-r]
		}
	}
	count := 0.0
	for _, w := range ways[bound:] {
		count += w
	}
	return math.Ldexp(count, -len(ranks))
}

// hodgesLehmann is the median of the averages (x_i + x_j)/2, i ≤ j, and 0 of no
// values. The n(n+1)/2 averages are never stored: the k-th smallest is found by
// bisection over the float64 numbers, each step counting in O(n) how many averages
// lie at or below.
func hodgesLehmann(x []float64) float64 {
	n := len(x)
	if n == 0 {
		return 0
	}
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	pairs := n * (n + 1) / 2
	upper := kthAverage(sorted, pairs/2+1)
	if pairs%2 == 1 {
		return upper
	}
	return average(kthAverage(sorted, pairs/2), upper)
}

// average halves first, so that it cannot overflow; it is monotone in each argument
// even as rounded, which the counting relies on.
func average(a, b float64) float64 { return a/2 + b/2 }

// kthAverage is the smallest number with at least k pair averages at or below it.
func kthAverage(sorted []float64, k int) float64 {
	low, high := ordinal(sorted[0]), ordinal(sorted[len(sorted)-1])
	for low < high {
		middle := low + int64(uint64(high-low)/2)
		if countAtMost(sorted, fromOrdinal(middle)) >= k {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return fromOrdinal(low)
}

// countAtMost is the number of pairs i ≤ j whose average is at most bound.
func countAtMost(sorted []float64, bound float64) int {
	count := 0
	j := len(sorted) - 1
	for i, a := range sorted {
		for j >= i && average(a, sorted[j]) > bound {
			j--
		}
		if j < i {
			break
		}
		count += j - i + 1
	}
	return count
}

// ordinal numbers the finite float64 values in increasing order, both zeros as 0.
func ordinal(x float64) int64 {
	b := int64(math.Float64bits(math.Abs(x)))
	if x < 0 {
		return -b
	}
	return b
}

// fromOrdinal is the inverse of ordinal.
func fromOrdinal(o int64) float64 {
	if o < 0 {
		return -math.Float64frombits(uint64(-o))
	}
	return math.Float64frombits(uint64(o))
}
