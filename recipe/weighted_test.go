package recipe

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lossep/lossep/table"
)

// A row of weight k is a row written k times, to the last bit of the recipe: bends, means,
// medians and commonest categories; one of weight zero is none. The same in halves.
func TestWeightedRecipes(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	var once, halves, many strings.Builder
	for _, b := range []*strings.Builder{&once, &halves, &many} {
		b.WriteString("amount,plain,gappy,job,day,w,y\n")
	}
	for i := range 80 {
		k := rng.IntN(4)
		z := rng.NormFloat64()
		gappy, job := fmt.Sprint(i*i%23), []string{"a", "b", ""}[rng.IntN(3)]
		if i%5 == 0 {
			gappy = ""
		}
		row := fmt.Sprintf("%.3f,%.4f,%s,%s,2024-01-%02d", 100*math.Exp(2*z), rng.NormFloat64(), gappy, job, 1+i%28)
		fmt.Fprintf(&once, "%s,%d,%d\n", row, k, i%2)
		fmt.Fprintf(&halves, "%s,%v,%d\n", row, float64(k)/2, i%2)
		for range k {
			fmt.Fprintf(&many, "%s,1,%d\n", row, i%2)
		}
	}
	o := Options{Impute: true, Weights: "w"}
	want, _, _ := mustLearn(t, mustRead(t, many.String(), table.HeaderYes), o)
	if want.Columns[0].Scaling == nil {
		t.Fatal("nothing is bent")
	}
	for _, text := range []string{once.String(), halves.String()} {
		table := mustRead(t, text, table.HeaderYes)
		got, _, _ := mustLearn(t, table, o)
		if diff := cmp.Diff(want.Columns, got.Columns); diff != "" {
			t.Errorf("repeated rows (-) and weights (+):\n%s", diff)
		}
		// And so in a part of the rows.
		part := table.Subset([]int{1, 2, 3, 5, 8, 13, 21, 34, 55, 60, 61, 62, 63, 64, 65, 66})
		again, err := got.Refit(part)
		if err != nil {
			t.Fatal(err)
		}
		alone, _, _ := mustLearn(t, part, o)
		if diff := cmp.Diff(alone.Columns[:3], again.Columns[:3]); diff != "" {
			t.Errorf("learned from a part (-) and refitted to it (+):\n%s", diff)
		}
	}
}

// Weights of any size are rounded without a drift.
func TestRepeated(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	values, weights := make([]float64, 500), make([]float64, 500)
	sum, total := 0.0, 0.0
	for i := range values {
		values[i], weights[i] = rng.NormFloat64(), rng.ExpFloat64()
		sum += weights[i] * values[i]
		total += weights[i]
	}
	copies, others := copiesOf(values, weights, total/4)
	mean, _ := meanScale(copies)
	// Of 4,096 copies with the rest, each value's number is off by one at most, and the sum
	// of these errors from one value to the next by no more.
	if !slices.IsSorted(copies) || math.Abs(float64(others)/float64(len(copies))-0.25) > 1e-3 || math.Abs(mean-sum/total) > 2e-3 {
		t.Errorf("%d copies and %d others, mean %v, want %v", len(copies), others, mean, sum/total)
	}
	if copies, others := copiesOf([]float64{3, 1}, []float64{0, 0}, 0); copies != nil || others != 0 {
		t.Errorf("%v, %d of no weight", copies, others)
	}
}
