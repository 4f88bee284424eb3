package compare

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/lossep/lossep/internal/indices"
)

// FoldError says why cases cannot be divided into folds.
type FoldError struct {
	K     int // folds asked for
	Cases int // cases there are, of the class that is meant if there is one
	Msg   string
	// Class is what the class is called that Msg is about, if it is about one, and Of a case of it.
	Class string
	Of    int
}

func (e *FoldError) Error() string { return strings.TrimPrefix(e.Class+" "+e.Msg, " ") }

func ofClass(labels []int, of, k int, msg string) error {
	return &FoldError{K: k, Cases: 1, Msg: msg, Class: fmt.Sprintf("class %d", labels[of]), Of: of}
}

// StratifiedFolds divides cases 0 … len(labels)−1 into k folds at random. Between
// folds the number of cases of any class, and the number of all cases, differ by at
// most one. Each fold lists its cases in increasing order; the same labels and the
// same state of rng give the same folds.
//
// It returns a *FoldError when k is below 2 or above the number of cases, or when a
// class has one case only: the fold that tests it would be trained without the class.
func StratifiedFolds(labels []int, k int, rng *rand.Rand) ([][]int, error) {
	n := len(labels)
	switch {
	case k < 2:
		return nil, &FoldError{K: k, Cases: n, Msg: fmt.Sprintf("%d folds leave nothing to compare; ask for at least 2", k)}
	case k > n:
		return nil, &FoldError{K: k, Cases: n, Msg: fmt.Sprintf("%d folds of %d cases would leave some empty; ask for at most %d", k, n, n)}
	}
	// Cases grouped by class, in the order of the labels' values, shuffled within.
	order := indices.Of(n)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(labels[a], labels[b]) })
	for start := 0; start < n; {
		end := start + 1
		for end < n && labels[order[end]] == labels[order[start]] {
			end++
		}
		if end-start == 1 {
			return nil, ofClass(labels, order[start], k, "has a single case, so the fold that tests it would be trained without it; give at least 2 cases of each class")
		}
		class := order[start:end]
		rng.Shuffle(len(class), func(i, j int) { class[i], class[j] = class[j], class[i] })
		start = end
	}
	// Dealt like cards, without starting over at a new class: that balances the
	// classes and the totals at once.
	folds := make([][]int, k)
	for i, c := range order {
		folds[i%k] = append(folds[i%k], c)
	}
	for _, f := range folds {
		slices.Sort(f)
	}
	return folds, nil
}

// Training lists, in increasing order, the cases of all folds but the one held out.
func Training(folds [][]int, held int) []int {
	var cases []int
	for i, f := range folds {
		if i != held {
			cases = append(cases, f...)
		}
	}
	slices.Sort(cases)
	return cases
}
