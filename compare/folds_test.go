package compare

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Every case is tested once and trained on in all other folds, classes and totals
// are even, and the seed alone decides.
func TestStratifiedFolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var labels []int
		for class, size := range rapid.SliceOfN(rapid.IntRange(2, 30), 1, 4).Draw(t, "sizes") {
			for range size {
				labels = append(labels, 3*class-2)
			}
		}
		labels = rapid.Permutation(labels).Draw(t, "labels")
		k := rapid.IntRange(2, min(10, len(labels))).Draw(t, "k")
		seed := rapid.Uint64().Draw(t, "seed")
		folds, err := StratifiedFolds(labels, k, rand.New(rand.NewPCG(seed, 0)))
		if err != nil {
			t.Fatal(err)
		}
		again, err := StratifiedFolds(labels, k, rand.New(rand.NewPCG(seed, 0)))
		if err != nil || !reflect.DeepEqual(folds, again) {
			t.Fatalf("the same seed gives %v and %v (%v)", folds, again, err)
		}
		seen := make([]int, len(labels))
		counts := make([]map[int]int, k)
		for i, f := range folds {
			counts[i] = make(map[int]int)
			for _, c := range f {
				seen[c]++
				counts[i][labels[c]]++
			}
			if !slices.IsSorted(f) {
				t.Fatalf("fold %v is not in order", f)
			}
			training := Training(folds, i)
			if !slices.IsSorted(training) || len(training)+len(f) != len(labels) {
				t.Fatalf("training %v beside %v", training, f)
			}
			for _, class := range labels {
				if !slices.ContainsFunc(training, func(c int) bool { return labels[c] == class }) {
					t.Fatalf("class %d is missing from training", class)
				}
			}
		}
		for c, n := range seen {
			if n != 1 {
				t.Fatalf("case %d is in %d folds", c, n)
			}
		}
		for i := range folds {
			for j := range folds {
				if len(folds[i])-len(folds[j]) > 1 {
					t.Fatalf("sizes of %v", folds)
				}
				for _, class := range labels {
					if counts[i][class]-counts[j][class] > 1 {
						t.Fatalf("class %d is uneven in %v", class, folds)
					}
				}
			}
		}
	})
}

// Each case is as likely in one fold as in another, and so is each pair of a class:
// over many seeds case 0 meets case 1 in a fold as often as chance has it.
func TestStratifiedFoldsMix(t *testing.T) {
	labels := []int{0, 0, 0, 0, 0, 0, 1, 1, 1, 1}
	rng := rand.New(rand.NewPCG(5, 5))
	const trials = 4000
	together, first := 0, 0
	for range trials {
		folds, err := StratifiedFolds(labels, 2, rng)
		if err != nil {
			t.Fatal(err)
		}
		zero, one := slices.Contains(folds[0], 0), slices.Contains(folds[0], 1)
		if zero {
			first++
		}
		if zero == one {
			together++
		}
	}
	// Probabilities 1/2 and 2/5 (of the five others two share the fold); 4 standard
	// errors are 126 and 124.
	if first < 2000-126 || first > 2000+126 || together < 1600-124 || together > 1600+124 {
		t.Errorf("first in %d, together in %d of %d", first, together, trials)
	}
}

func TestStratifiedFoldsRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for name, c := range map[string]struct {
		labels []int
		k      int
	}{
		"one fold":        {[]int{0, 1, 0, 1}, 1},
		"more than cases": {[]int{0, 1, 0, 1}, 5},
		"nothing":         {nil, 2},
		"single case":     {[]int{0, 0, 0, 1}, 2},
	} {
		var wrong *FoldError
		if _, err := StratifiedFolds(c.labels, c.k, rng); !errors.As(err, &wrong) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func ExampleStratifiedFolds() {
	labels := []int{0, 0, 0, 0, 1, 1} // four of one class, two of the other
	folds, err := StratifiedFolds(labels, 2, rand.New(rand.NewPCG(1, 0)))
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, test := range folds {
		fmt.Println("test", test, "train", Training(folds, i))
	}
	// Output:
	// test [0 1 5] train [2 3 4]
	// test [2 3 4] train [0 1 5]
}
