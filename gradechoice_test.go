package lossep_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// levels are rows whose outcome is a level by what one column tells: from the lowest to the highest with a, or, if they turn, up and
// down again with it, where the columns make the middle likely or not.
func levels(t *testing.T, rows int, turn bool, group func(i int) int) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(35, 3))
	var b strings.Builder
	b.WriteString("a,b,who,level\n")
	for i := range rows {
		x := rng.NormFloat64()
		f := 1.5*x + rng.NormFloat64()
		level := min(3, max(0, int(f+2)))
		if turn {
			level = []int{0, 3, 1, 2}[level]
		}
		fmt.Fprintf(&b, "%.4f,%.4f,p%d,%d\n", x, rng.NormFloat64(), group(i), level)
	}
	return tableOf(t, b.String())
}

func each(i int) int { return i }

// chosenGrades are what was said about grades, and whether they were taken.
func chosenGrades(t *testing.T, rows *table.Table, o lossep.Options) (said *table.Finding, graded bool) {
	t.Helper()
	p, err := lossep.PrepareSettled(t.Context(), rows, o)
	if err != nil {
		t.Fatal(err)
	}
	if k := slices.IndexFunc(p.Findings, func(f table.Finding) bool { return f.Check == "grades" }); k >= 0 {
		said = &p.Findings[k]
		if !slices.Contains(p.Notes, said.Said(table.Way.String)) {
			t.Errorf("%q is no note", said.Text)
		}
	}
	return said, p.Recipe.Target.Ordered
}

// Outcomes that have an order are grades where these predict better, and the other choice is named.
func TestGradesAreChosen(t *testing.T) {
	o := lossep.Options{Data: recipe.Options{Target: "level", Drop: []string{"who"}}, Seed: 1}
	for turn, want := range map[bool]string{false: "categories", true: "ordered"} {
		rows := levels(t, 200, turn, each)
		said, graded := chosenGrades(t, rows, o)
		if said == nil || graded == turn || said.Ways[0] != (table.Way{Option: table.WayOutcome, Value: want, Meaning: said.Ways[0].Meaning}) ||
			!strings.Contains(said.Text, "0 < 1 < 2 < 3") || !strings.Contains(said.Text, "200 rows") {
			t.Errorf("turned %v: grades %v, %+v", turn, graded, said)
		}
		reversed := make([]int, rows.Len())
		for i := range reversed {
			reversed[i] = rows.Len() - 1 - i
		}
		if again, _ := chosenGrades(t, rows.Subset(reversed), o); again == nil || again.Text != said.Text {
			t.Errorf("%+v with the rows in another order, not %+v", again, said)
		}
	}
}

// What was said is not asked again, and what grades cannot have leaves categories.
func TestGradesAreNotChosen(t *testing.T) {
	rows := levels(t, 120, false, each)
	for name, change := range map[string]func(*lossep.Options){
		"categories": func(o *lossep.Options) { o.Data.Grading = recipe.Ungraded },
		"grades":     func(o *lossep.Options) { o.Data.Grading = recipe.Graded },
		"an order": func(o *lossep.Options) {
			o.Data.Ordered = []recipe.OrderedSet{{Column: "level", Categories: []string{"3", "2", "1", "0"}}}
		},
		"robust": func(o *lossep.Options) { o.Likelihood = lossep.Likelihood{Name: "robust", Noise: 0.1} },
		"fixed":  func(o *lossep.Options) { o.Kernel, o.Fixed = "rbf(variance=1) + constant(variance=1)", true },
	} {
		o := lossep.Options{Data: recipe.Options{Target: "level", Drop: []string{"who"}}, Seed: 1}
		change(&o)
		if said, graded := chosenGrades(t, rows, o); said != nil || graded != (name == "grades" || name == "an order") {
			t.Errorf("%s: grades %v, %+v", name, graded, said)
		}
	}
	few := levels(t, 12, false, each)
	if said, graded := chosenGrades(t, few, lossep.Options{Data: recipe.Options{Target: "level", Drop: []string{"who"}}}); said == nil || !strings.Contains(said.Text, "too few") || graded {
		t.Errorf("12 rows: grades %v, %+v", graded, said)
	}
}

// Rows of a group are left out together: of many rows that are the same few there is less to tell.
func TestGradesOfGroups(t *testing.T) {
	one := levels(t, 40, false, each)
	var rows []int
	for range 4 {
		for i := range one.Len() {
			rows = append(rows, i)
		}
	}
	o := lossep.Options{Data: recipe.Options{Target: "level", Groups: "who"}, Seed: 1}
	grouped, _ := chosenGrades(t, one.Subset(rows), o)
	o.Data.Groups, o.Data.Drop = "", []string{"who"}
	copies, _ := chosenGrades(t, one.Subset(rows), o)
	if grouped == nil || copies == nil || grouped.Text != copies.Text {
		t.Errorf("grouped %+v, as copies %+v", grouped, copies)
	}
}

// The choice has the same bytes on any number of cores.
func TestGradesOnAnyCores(t *testing.T) {
	rows := levels(t, 150, false, each)
	o := lossep.Options{Data: recipe.Options{Target: "level", Drop: []string{"who"}}, Kernel: "matern32 + constant", Seed: 1}
	var files [2]bytes.Buffer
	for k, cores := range []int{1, 4} {
		before := runtime.GOMAXPROCS(cores)
		m, err := lossep.Fit(t.Context(), rows, o)
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Write(&files[k]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Error("other bytes on other cores")
	}
}
