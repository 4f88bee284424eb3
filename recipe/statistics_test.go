package recipe

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lossep/lossep/table"
)

// What is estimated from columns where they lie is what is estimated from their values.
func TestColumnsAreEstimatedWhereTheyLie(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	var b strings.Builder
	b.WriteString("x,skew,k,y\n")
	const n = 70_000 // more than a sample, and than a segment
	for i := range n {
		fmt.Fprintf(&b, "%.4f,%.3f,%d,%d\n", 1e6+rng.NormFloat64(), math.Exp(3*rng.NormFloat64()), rng.IntN(50), i%2)
	}
	whole := mustRead(t, b.String(), table.HeaderYes)
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	recipe, x, _ := mustLearn(t, whole, Options{Target: "y"})
	again, y, _ := mustLearn(t, whole.Subset(all), Options{Target: "y"})
	for i := range recipe.Columns {
		if a, b := fmt.Sprintf("%+v", recipe.Columns[i]), fmt.Sprintf("%+v", again.Columns[i]); recipe.Columns[i].Scaling == nil && a != b {
			t.Errorf("%s\nand from its values\n%s", a, b)
		}
	}
	if !sameBits(x, y) {
		t.Error("other features")
	}
	if recipe.Columns[1].Scaling == nil || recipe.Columns[0].Scaling != nil {
		t.Errorf("bends: %+v", recipe.Columns)
	}
}

// Ten thousand columns are read, learned and encoded.
func TestTenThousandColumns(t *testing.T) {
	const columns = 10_000
	var b strings.Builder
	for i := range 6 {
		for j := range columns {
			fmt.Fprintf(&b, "%d,", (i*7919+j*104729)%1009)
		}
		fmt.Fprintf(&b, "%d\n", i%2)
	}
	recipe, x, _, err := learnAll(mustRead(t, b.String(), table.HeaderAuto), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n, d := x.Dims(); n != 6 || d != columns || recipe.Dim() != columns {
		t.Errorf("encoded %d × %d, want 6 × %d", n, d, columns)
	}
}
