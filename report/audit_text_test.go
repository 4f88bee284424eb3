package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep/audit"
)

// What is to be said of every fold is said once.
func TestNotesOfFolds(t *testing.T) {
	model := func(fold int, notes ...string) audit.FoldModel {
		return audit.FoldModel{Repeat: 1, Fold: fold, Notes: notes}
	}
	r := &Audit{Result: &audit.Result{Notes: []string{"a table"}, FoldModels: []audit.FoldModel{model(1, "all", "one"), model(2, "all"), model(3, "all")}}}
	if got, want := r.notes(), []string{"a table", "all folds: all", "repeat 1, fold 1: one"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The mean of a fold is that of the population, as the result's is: by what each case counts.
func TestFoldsByWeights(t *testing.T) {
	r := &Audit{Result: &audit.Result{Costs: true, Decisions: []audit.Decided{
		{Repeat: 1, Fold: 1, Method: "ep", Cost: 20, Weight: 0.25}, {Repeat: 1, Fold: 1, Method: "ep", Weight: 1.75},
	}}}
	var b strings.Builder
	if err := r.writeFolds(&b); err != nil {
		t.Fatal(err)
	}
	if want := "repeat,fold,method,cases,mean_cost\n1,1,ep,2,2.5\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
