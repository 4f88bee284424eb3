package lossep

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// TestTogether: rows of a group, and copies where no column says so, are left out together.
func TestTogether(t *testing.T) {
	data := wideTable(t, 60, 1, 3)
	var rows []int
	for i := range 60 {
		for range 1 + i%3 {
			rows = append(rows, i)
		}
	}
	for name, c := range map[string]struct {
		rows  []int
		group string
		same  func(p *Problem, i, j int) bool
	}{
		"copies": {rows, "", func(p *Problem, i, j int) bool { return slices.Equal(p.X.RawRowView(i), p.X.RawRowView(j)) }},
		"groups": {rows[:60], "n0", func(p *Problem, i, j int) bool { return p.groups[i] == p.groups[j] }},
	} {
		o := autoOptions(t, EP)
		o.Data.Groups = c.group
		p, err := Prepare(data.Subset(c.rows), o)
		if err != nil {
			t.Fatal(err)
		}
		told := slices.ContainsFunc(p.Notes, func(note string) bool { return strings.Contains(note, "60 of 120 rows are copies") })
		if told != (c.group == "") {
			t.Errorf("%s: notes are %q", name, p.Notes)
		}
		if c.group != "" && slices.ContainsFunc(p.Recipe.Parts(), func(part recipe.Part) bool { return part.Column == c.group }) {
			t.Errorf("the column of groups is decided by")
		}
		folds := p.searched().Folds()
		if len(folds) != 5 {
			t.Fatalf("%s: %d folds", name, len(folds))
		}
		for _, s := range folds {
			for _, i := range s.Test {
				for _, j := range s.Train {
					if c.same(p, i, j) {
						t.Fatalf("%s: row %d is left out and %d is not", name, i, j)
					}
				}
			}
		}
	}
	// Large weights give a warning beside groups, too.
	var b strings.Builder
	b.WriteString("patient,a,weight,y\n")
	for i := range 40 {
		fmt.Fprintf(&b, "p%d,%d.5,15000,%s\n", i/4, i*i%37, []string{"no", "yes"}[i%2])
	}
	visits, err := table.Read(t.Context(), strings.NewReader(b.String()), "visits.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	o := autoOptions(t, EP)
	o.Data.Groups, o.Data.Weights = "patient", "weight"
	if p, err := Prepare(visits, o); err != nil || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "1.5e+04 on average") {
		t.Errorf("%v, %q", err, p.Notes)
	}
	// Rows of which nobody knows are not one group.
	unknown, err := table.Read(t.Context(), strings.NewReader(strings.Replace(b.String(), "\np3,", "\n?,", 1)), "visits.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	o.Data.Weights, o.Data.Drop = "", []string{"weight"}
	if _, err := Prepare(unknown, o); err == nil || !strings.Contains(err.Error(), `visits.csv, line 14, column 1 ("patient"): a missing cell, and nothing says which rows`) {
		t.Errorf("a group that is missing: %v", err)
	}
	// Without copies and groups each row is its own.
	p, err := Prepare(data, autoOptions(t, EP))
	if err != nil || p.Together() != nil || slices.ContainsFunc(p.Notes, func(s string) bool { return strings.Contains(s, "copies") }) {
		t.Errorf("%v, %v, %q", err, p.Together(), p.Notes)
	}
}

// The cases that a row of counts stands for are no copies, also where no two kinds are alike in a
// column: they are left out one by one.
func TestCountsAreNoCopies(t *testing.T) {
	text := "dose,age,n,y\n"
	for i := range 20 {
		text += fmt.Sprintf("%d,%d,3,no\n%[1]d,%[2]d,%[3]d,yes\n", i, i*i, 1+i%4)
	}
	table, err := table.Read(t.Context(), strings.NewReader(text), "rows.csv", table.Format{Header: table.HeaderYes})
	if err != nil {
		t.Fatal(err)
	}
	if table, err = table.Repeated("n", 1000); err != nil {
		t.Fatal(err)
	}
	o := autoOptions(t, EP)
	o.Data = recipe.Options{Target: "y"}
	p, err := Prepare(table, o)
	if err != nil {
		t.Fatal(err)
	}
	if p.Together() != nil || slices.ContainsFunc(p.Notes, func(s string) bool { return strings.Contains(s, "copies") }) {
		t.Errorf("%v, %q", p.Together(), p.Notes)
	}
	if part := p.some([]int{0, 1, 2, 3}); part.Together() != nil {
		t.Errorf("of a part: %v", part.Together())
	}
}

// Costs for two outcomes do not fit a third that is a misspelling, which is said.
func TestCostsOfAMisspelledOutcome(t *testing.T) {
	text := "a,y\n1,nien\n4,nien\n" // one row alone may be a line of totals
	for i := range 40 {
		text += []string{"2,ja\n", "3,nein\n"}[i%2]
	}
	table, err := table.Read(t.Context(), strings.NewReader(text), "rows.csv", table.Format{Header: table.HeaderYes})
	if err != nil {
		t.Fatal(err)
	}
	o := autoOptions(t, EP)
	o.Data = recipe.Options{Target: "y"}
	if _, err = Prepare(table, o); err == nil || !strings.Contains(err.Error(), `outcome "nien", which 2 rows have, is spelled almost like "nein", which 20 rows have`) {
		t.Error(err)
	}
}

// TestMemoryForCells: of a table that nobody else reads, inputs take the place of cells.
func TestMemoryForCells(t *testing.T) {
	const rows = 30_000
	columns := []table.Values{{Name: "y", Numbers: make([]float64, rows)}}
	for j := range 9 {
		columns = append(columns, table.Values{Name: string(rune('a' + j)), Numbers: make([]float64, rows)})
	}
	rng := rand.New(rand.NewPCG(1, 0))
	for i := range rows {
		columns[0].Numbers[i] = float64(i % 2)
		for _, c := range columns[1:] {
			c.Numbers[i] = rng.NormFloat64()
		}
	}
	cases, err := table.NewTable("rows", columns)
	if err != nil {
		t.Fatal(err)
	}
	// Ten columns of 30,000 rows: 5.0 MB with cells beside inputs, 3.2 MB with inputs in place of them.
	o := Options{Data: recipe.Options{Target: "y"}, MaxMemory: 4_000_000, NoExamples: true}
	if _, err := Prepare(cases, o); err == nil || !strings.Contains(err.Error(), "0.005 GB of memory while they are encoded") {
		t.Errorf("cells beside inputs: %v", err)
	}
	if _, err := Prepare(cases.Owned(), o); err != nil {
		t.Error(err)
	}
}
