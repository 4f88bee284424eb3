package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/lossep/lossep/internal/indices"
)

// Split is which cases to learn from and which to judge by.
type Split struct{ Train, Test []int }

// Splits are those of folds: each is judged by what all others teach.
func Splits(folds [][]int) []Split {
	all := make([]Split, len(folds))
	for k, test := range folds {
		all[k] = Split{Training(folds, k), test}
	}
	return all
}

// GroupFolds divides cases into k folds at random such that no group is divided; groups may be
// nil where each case is its own, which gives StratifiedFolds. Groups
// are dealt from the largest to the smallest, each to the fold in which it leaves the
// classes most even. It returns a *FoldError when there are fewer groups than folds, or
// when all cases of a class are of one group: the fold that tests it would be trained
// without the class.
func GroupFolds(labels, groups []int, k int, rng *rand.Rand) ([][]int, error) {
	if groups == nil {
		return StratifiedFolds(labels, k, rng)
	}
	members := make(map[int][]int)
	var order []int
	for i, g := range groups {
		if members[g] == nil {
			order = append(order, g)
		}
		members[g] = append(members[g], i)
	}
	switch {
	case k < 2:
		return nil, &FoldError{K: k, Cases: len(groups), Msg: fmt.Sprintf("%d folds leave nothing to compare; ask for at least 2", k)}
	case k > len(order):
		return nil, &FoldError{K: k, Cases: len(order), Msg: fmt.Sprintf("%d folds of %d groups would leave some empty; ask for at most %d", k, len(order), len(order))}
	}
	counts := make(map[int]int) // of each class
	for _, y := range labels {
		counts[y]++
	}
	for _, y := range slices.Sorted(maps.Keys(counts)) {
		if one := slices.IndexFunc(order, func(g int) bool {
			n := 0
			for _, i := range members[g] {
				if labels[i] == y {
					n++
				}
			}
			return n == counts[y]
		}); one >= 0 {
			return nil, ofClass(labels, slices.Index(labels, y), k, "has all its cases in one group, so the fold that tests them would be trained without the class; give at least 2 groups with each class")
		}
	}
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(members[b]), len(members[a])) })
	return deal(labels, order, members, counts, k), nil
}

// deal gives groups in order to k folds, each to that in which it leaves the classes most even.
func deal(labels, order []int, members map[int][]int, counts map[int]int, k int) [][]int {
	folds := make([][]int, k)
	held := make([]map[int]float64, k) // of each class, as a share of its cases
	for f := range held {
		held[f] = make(map[int]float64)
	}
	for _, g := range order {
		// The rise of Σ share² over classes, and of the number of cases where that is even.
		best, least := 0, 0.0
		for f := range folds {
			rise := 0.0
			for _, i := range members[g] {
				y := labels[i]
				rise += held[f][y] / float64(counts[y])
			}
			rise += float64(len(folds[f])) * 1e-9
			if f == 0 || rise < least {
				best, least = f, rise
			}
		}
		folds[best] = append(folds[best], members[g]...)
		for _, i := range members[g] {
			held[best][labels[i]] += 1 / float64(counts[labels[i]])
		}
	}
	for _, f := range folds {
		slices.Sort(f)
	}
	return folds
}

// Rolling divides cases by time into k+1 parts of about as many cases, none of which
// divides cases of the same time, and judges each but the first by what all before it
// teach. It returns a *FoldError when there are fewer different times than parts.
func Rolling(times []float64, k int) ([]Split, error) {
	n := len(times)
	order := indices.Of(n)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(times[a], times[b]) })
	// The first case of each different time.
	var starts []int
	for i := range order {
		if i == 0 || times[order[i]] != times[order[i-1]] {
			starts = append(starts, i)
		}
	}
	switch {
	case k < 1:
		return nil, &FoldError{K: k, Cases: len(starts), Msg: fmt.Sprintf("%d folds leave nothing to compare; ask for at least 1", k)}
	case len(starts) < 2:
		return nil, &FoldError{K: k, Cases: len(starts), Msg: "all cases have the same time, so none is before another; give a column of times that differ"}
	case len(starts) < k+1:
		return nil, &FoldError{K: k, Cases: len(starts), Msg: fmt.Sprintf("%d different times do not make %d parts, each decided by what was before; ask for at most %d folds", len(starts), k+1, len(starts)-1)}
	}
	var all []Split
	from, used := 0, 0 // the part ends before starts[used]
	for part := range k + 1 {
		to := n
		if part < k {
			// As near as can be to an even part of what is left, with a time left for each
			// part to come.
			left := k - part
			ideal := from + (n-from)/(left+1)
			next := used + 1
			for next+left < len(starts) && abs(starts[next]-ideal) > abs(starts[next+1]-ideal) {
				next++
			}
			used = next
			to = starts[next]
		}
		if part > 0 {
			s := Split{slices.Clone(order[:from]), slices.Clone(order[from:to])}
			slices.Sort(s.Train)
			slices.Sort(s.Test)
			all = append(all, s)
		}
		from = to
	}
	return all, nil
}

func abs(n int) int { return max(n, -n) }
