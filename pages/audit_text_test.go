package pages

import (
	"slices"
	"testing"

	"github.com/lossep/lossep/audit"
)

// What is to be said of every fold is said once.
func TestNotesOfFolds(t *testing.T) {
	model := func(fold int, notes ...string) audit.FoldModel {
		return audit.FoldModel{Repeat: 1, Fold: fold, Notes: notes}
	}
	r := &Audit{Result: &audit.Result{Notes: []string{"a table"}, FoldModels: []audit.FoldModel{model(1, "all", "one"), model(2, "all"), model(3, "all")}}}
	if got, want := r.notes(), []string{"a table", "in every fold: all", "repeat 1, fold 1: one"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
