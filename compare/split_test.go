package compare

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Groups stay whole, every case is in one fold, and the classes are as even as groups
// of at most three allow.
func TestGroupFolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups, labels := []int{}, []int{}
		k := rapid.IntRange(2, 5).Draw(t, "k")
		for g := range rapid.IntRange(4*k, 12*k).Draw(t, "groups") {
			for range rapid.IntRange(1, 3).Draw(t, "size") {
				groups, labels = append(groups, 100-g), append(labels, 1-2*(g%2))
			}
		}
		folds, err := GroupFolds(labels, groups, k, rand.New(rand.NewPCG(1, 2)))
		if err != nil {
			t.Fatal(err)
		}
		where := make(map[int]int)
		var all []int
		least, most := len(labels), 0
		for f, fold := range folds {
			all = append(all, fold...)
			positive := 0
			for _, i := range fold {
				if at, seen := where[groups[i]]; seen && at != f {
					t.Fatalf("group %d is in folds %d and %d", groups[i], at, f)
				}
				where[groups[i]] = f
				if labels[i] > 0 {
					positive++
				}
			}
			least, most = min(least, positive), max(most, positive)
		}
		slices.Sort(all)
		for i := range labels {
			if all[i] != i {
				t.Fatalf("cases %v", all)
			}
		}
		if len(all) != len(labels) || most-least > 3 {
			t.Fatalf("%d cases in folds, of %d; %d to %d positive", len(all), len(labels), least, most)
		}
	})
}

func TestGroupFoldsRefuse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		labels, groups []int
		k              int
	}{
		"one fold":             {[]int{1, -1}, []int{1, 2}, 1},
		"more folds":           {[]int{1, -1, 1, -1}, []int{1, 1, 2, 2}, 3},
		"a class of one group": {[]int{1, 1, -1, -1}, []int{1, 1, 2, 3}, 2},
	} {
		var refused *FoldError
		if _, err := GroupFolds(c.labels, c.groups, c.k, rng); !errors.As(err, &refused) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// The past teaches, the next is judged, and no time is on both sides.
func TestRolling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 40), func(i int) float64 { return float64(i) }), 2, 80).Draw(t, "times")
		k := rapid.IntRange(1, 8).Draw(t, "k")
		different := slices.Clone(times)
		slices.Sort(different)
		different = slices.Compact(different)
		splits, err := Rolling(times, k)
		if len(different) < k+1 {
			var refused *FoldError
			if !errors.As(err, &refused) {
				t.Fatalf("error %v", err)
			}
			return
		}
		if err != nil || len(splits) != k {
			t.Fatalf("%d splits, error %v", len(splits), err)
		}
		judged := 0
		for j, s := range splits {
			if len(s.Train) == 0 || len(s.Test) == 0 {
				t.Fatalf("split %d: %v", j, s)
			}
			last, first := times[s.Train[0]], times[s.Test[0]]
			for _, i := range s.Train {
				last = max(last, times[i])
			}
			for _, i := range s.Test {
				first = min(first, times[i])
			}
			if last >= first {
				t.Fatalf("split %d learns from %v and judges %v", j, last, first)
			}
			if j > 0 && len(s.Train) != len(splits[j-1].Train)+len(splits[j-1].Test) {
				t.Fatalf("split %d leaves out some of the past", j)
			}
			judged += len(s.Test)
		}
		if judged+len(splits[0].Train) != len(times) {
			t.Fatalf("%d cases judged, %d learned from first, of %d", judged, len(splits[0].Train), len(times))
		}
	})
	// Different times make parts that are even.
	splits, err := Rolling([]float64{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, 4)
	if err != nil || len(splits) != 4 {
		t.Fatal(err)
	}
	for _, s := range splits {
		if len(s.Test) != 2 {
			t.Errorf("%v", s)
		}
	}
}

// What is wrong with the folds is said with a number of folds that could be had, if there is one.
func TestRollingRefuses(t *testing.T) {
	for _, c := range []struct {
		times []float64
		k     int
		want  string
	}{
		{[]float64{3, 3, 3}, 2, "all cases have the same time"},
		{[]float64{1, 2, 3}, 0, "ask for at least 1"},
		{[]float64{1, 2, 3}, 3, "ask for at most 2 folds"},
	} {
		_, err := Rolling(c.times, c.k)
		if refused := new(FoldError); !errors.As(err, &refused) || !strings.Contains(refused.Msg, c.want) {
			t.Errorf("%d folds of times %v: %v", c.k, c.times, err)
		}
	}
}
