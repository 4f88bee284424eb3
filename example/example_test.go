package example_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/lossep/lossep/example"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

func Example() {
	learned, err := recipe.Learn(example.Table(), recipe.Options{Target: example.Target, Positive: example.Positive})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(learned.Recipe.Summary()[0])
	// Output:
	// 569 rows; outcome "diagnosis": positive "malignant" (212 rows, 37.3 %), negative "benign" (357 rows, 62.7 %)
}

// The two parts are the whole, share no row, and read back as they are.
func TestParts(t *testing.T) {
	whole, training, held := example.Table(), example.Training(), example.HeldOut()
	if training.Len()+held.Len() != whole.Len() || held.Len() != whole.Len()/3 {
		t.Errorf("%d and %d rows of %d", training.Len(), held.Len(), whole.Len())
	}
	lines := make(map[int]bool)
	for _, part := range []*table.Table{training, held} {
		for i := range part.Len() {
			lines[part.Line(i)] = true
		}
	}
	if len(lines) != whole.Len() {
		t.Errorf("%d different rows of %d", len(lines), whole.Len())
	}
	again, err := table.Read(context.Background(), bytes.NewReader(example.HeldOutCSV()), "", table.Format{Header: table.HeaderYes})
	if err != nil || again.Len() != held.Len() {
		t.Fatalf("%v", err)
	}
	for i := range held.Len() {
		if fmt.Sprint(again.Row(i)) != fmt.Sprint(held.Row(i)) {
			t.Fatalf("row %d is %v, not %v", i, again.Row(i), held.Row(i))
		}
	}
}
