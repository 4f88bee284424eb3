package lossep_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// sheet is a table as it is written down: a header and rows, the outcome in the column y.
type sheet struct {
	header []string
	rows   [][]string
}

// statement is a table with how it is to be fitted.
type statement struct {
	sheet
	positive string             // of two outcomes
	costs    map[string]float64 // of mistaking an outcome for another
	cases    sheet              // that are decided, whatever the table is like
	rename   map[string]string  // what outcomes are called
	options  lossep.Options
}

func (s sheet) table(t *testing.T) *table.Table {
	t.Helper()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.WriteAll(append([][]string{s.header}, s.rows...)); err != nil {
		t.Fatal(err)
	}
	read, err := table.Read(t.Context(), &b, "rows.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// of makes another sheet of every row.
func (s sheet) of(change func([]string) []string) sheet {
	c := sheet{header: change(slices.Clone(s.header))}
	for _, row := range s.rows {
		c.rows = append(c.rows, change(slices.Clone(row)))
	}
	return c
}

// answer is the probabilities of the outcomes in every case, and what it is treated as, by the
// names that outcomes have in the first place.
type answer struct {
	probabilities []map[string]float64
	treated       []string
	model         *lossep.Model
}

// answers fits the table and decides the cases.
func (s statement) answers(t *testing.T) answer {
	t.Helper()
	o := s.options
	o.Data.Target, o.Data.Positive = "y", s.positive
	table := s.table(t)
	names := make(map[string]string)
	for before, after := range s.rename {
		names[after] = before
	}
	outcomes := s.outcomes(t, table, o)
	text := "action"
	for _, y := range outcomes {
		text += "," + y
	}
	for a := range outcomes {
		text += "\n" + fmt.Sprint("a", a)
		for c, y := range outcomes {
			cost := s.costs[names[y]]
			if c == a {
				cost = 0
			}
			text += fmt.Sprintf(",%v", cost)
		}
	}
	var err error
	if o.Utility, err = decision.ParseCostMatrix("costs.csv", []byte(text+"\n")); err != nil {
		t.Fatal(err)
	}
	m, err := lossep.Fit(t.Context(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	x, _, err := m.Recipe().Apply(s.cases.table(t))
	if err != nil {
		t.Fatal(err)
	}
	decided, err := m.Decide(x)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{model: m}
	for _, d := range decided {
		p := make(map[string]float64)
		for c, y := range outcomes {
			p[names[y]] = d.Probabilities[c]
		}
		a.probabilities = append(a.probabilities, p)
		a.treated = append(a.treated, names[outcomes[d.Action]])
	}
	return a
}

// outcomes are those of the table in the order that they are numbered in.
func (s statement) outcomes(t *testing.T, table *table.Table, o lossep.Options) []string {
	t.Helper()
	p, err := lossep.Prepare(table, o)
	if err != nil {
		t.Fatal(err)
	}
	return p.Recipe.Target.Outcomes
}

// far is the largest difference of a probability, and how many decisions differ.
func (a answer) far(b answer) (difference float64, decisions int) {
	for i, p := range a.probabilities {
		for y, x := range p {
			difference = max(difference, math.Abs(x-b.probabilities[i][y]))
		}
		if a.treated[i] != b.treated[i] {
			decisions++
		}
	}
	return difference, decisions
}

// variant says the same as a statement in another way.
type variant struct {
	name      string
	tolerance float64 // of a probability
	of        func(s statement, rng *rand.Rand) statement
}

// Rows stand in an order of their own while a model is fitted, and the terms of two outcomes are
// mirror images of each other, so that nothing but the last bits of a few means may differ; what
// is added up over columns, or over the outcomes of several, is added up in another order, and other
// units round otherwise, of which a search that takes the same steps makes at most about 1e-8.
var variants = []variant{
	{"rows", 1e-9, func(s statement, rng *rand.Rand) statement {
		s.rows = slices.Clone(s.rows)
		rng.Shuffle(len(s.rows), func(i, j int) { s.rows[i], s.rows[j] = s.rows[j], s.rows[i] })
		return s
	}},
	{"columns", 1e-6, func(s statement, rng *rand.Rand) statement {
		order := rng.Perm(len(s.header))
		change := func(row []string) []string {
			var to []string
			for _, k := range order {
				to = append(to, row[k])
			}
			return to
		}
		s.sheet, s.cases = s.of(change), s.cases.of(change)
		return s
	}},
	{"units", 1e-6, func(s statement, rng *rand.Rand) statement {
		change := func(row []string) []string {
			if x, err := strconv.ParseFloat(row[0], 64); err == nil {
				row[0] = strconv.FormatFloat(2.54*x, 'g', -1, 64)
			}
			return row
		}
		s.sheet, s.cases = s.of(change), s.cases.of(change)
		return s
	}},
	{"outcomes", 1e-9, func(s statement, rng *rand.Rand) statement {
		if s.positive != "" {
			for y := range s.rename {
				if y != s.positive {
					s.positive = y
					return s
				}
			}
		}
		names := map[string]string{"a": "c", "b": "a", "c": "b"}
		y := slices.Index(s.header, "y")
		change := func(row []string) []string {
			if row[y] != "y" {
				row[y] = names[row[y]]
			}
			return row
		}
		s.rename = names
		s.sheet, s.cases = s.of(change), s.cases.of(change)
		return s
	}},
}

// asked is a table of so many rows with numbers and categories, in which some cells are missing,
// some rows come again, and some belong together, as is asked for.
type asked struct {
	rows, numbers, outcomes int
	categories              bool
	missing, copies         float64 // shares
	groups, tails, even     bool
	options                 lossep.Options
}

func (a asked) drawn(seed uint64) statement {
	rng := rand.New(rand.NewPCG(seed, 12))
	s := statement{options: a.options, rename: make(map[string]string), costs: map[string]float64{"a": 1, "b": 4, "c": 2}}
	for k := range a.numbers {
		s.header = append(s.header, fmt.Sprintf("n%d", k))
	}
	s.header = append(s.header, "kind", "group", "weight", "y")
	s.options.Data.Drop = []string{"group", "weight"}
	if a.groups {
		s.options.Data.Groups, s.options.Data.Drop = "group", []string{"weight"}
	}
	if !a.categories {
		s.options.Data.Drop = append(s.options.Data.Drop, "kind")
	}
	if s.options.Data.Weights != "" {
		s.options.Data.Drop = slices.DeleteFunc(s.options.Data.Drop, func(name string) bool { return name == "weight" })
	}
	s.options.Data.Impute, s.options.Seed = a.missing > 0, seed
	for i := range a.rows {
		if rng.Float64() < a.copies && i > 0 {
			row := slices.Clone(s.rows[rng.IntN(i)])
			if rng.IntN(2) == 0 {
				row[len(row)-1] = string(rune('a' + rng.IntN(a.outcomes)))
			}
			s.rows = append(s.rows, row)
			continue
		}
		f, row := 0.0, []string(nil)
		for k := range a.numbers {
			z := rng.NormFloat64()
			f += math.Sin(2*z) / float64(k+1)
			if a.tails && k%2 == 1 {
				z = math.Exp(2 * z)
			}
			cell := fmt.Sprintf("%.4f", z)
			if rng.Float64() < a.missing {
				cell = ""
			}
			row = append(row, cell)
		}
		kind := rng.IntN(3)
		if a.categories {
			f += float64(kind) - 1
		}
		f += 0.7 * rng.NormFloat64()
		y := 0
		for y < a.outcomes-1 && f > float64(y)-0.4*float64(a.outcomes-2) {
			y++
		}
		if a.even {
			y = i % a.outcomes
		}
		s.rows = append(s.rows, append(row, string(rune('p'+kind)), fmt.Sprintf("g%d", rng.IntN(a.rows/3)), fmt.Sprintf("%.1f", 0.5+2*rng.Float64()), string(rune('a'+y))))
	}
	for y := range a.outcomes {
		s.rename[string(rune('a'+y))] = string(rune('a' + y))
	}
	if a.outcomes == 2 {
		s.positive = "b"
	}
	s.cases = s.sheet
	return s
}

// The default says the same of the same rows whatever their order, that of their columns, the unit
// of one, the numbers of the outcomes and which of two is called positive. Costs go with the outcomes.
func TestModelsDoNotDependOnOrder(t *testing.T) {
	weighted := lossep.Options{Data: recipe.Options{Weights: "weight"}}
	for name, a := range map[string]asked{
		"numbers":                      {rows: 80, numbers: 3, outcomes: 2},
		"another seed":                 {rows: 80, numbers: 4, outcomes: 2, categories: true},
		"few rows":                     {rows: 40, numbers: 2, outcomes: 2, categories: true},
		"missing":                      {rows: 80, numbers: 3, outcomes: 2, missing: 0.1, tails: true},
		"copies":                       {rows: 90, numbers: 2, outcomes: 2, copies: 0.3},
		"few copies":                   {rows: 80, numbers: 2, outcomes: 2, categories: true, copies: 0.05},
		"groups":                       {rows: 80, numbers: 3, outcomes: 2, groups: true},
		"groups and copies":            {rows: 80, numbers: 3, outcomes: 2, groups: true, copies: 0.2, missing: 0.05},
		"weights":                      {rows: 50, numbers: 2, outcomes: 2, options: weighted},
		"weights and copies":           {rows: 40, numbers: 2, outcomes: 2, copies: 0.2, categories: true, options: weighted},
		"long tails":                   {rows: 80, numbers: 4, outcomes: 2, tails: true},
		"as many of each, and nothing": {rows: 70, numbers: 3, outcomes: 2, even: true},
		"many columns":                 {rows: 60, numbers: 31, outcomes: 2},
		"loss-ep":                      {rows: 60, numbers: 2, outcomes: 2, categories: true, options: lossep.Options{Method: lossep.LossEP}},
		"three outcomes":               {rows: 70, numbers: 2, outcomes: 3},
		"three outcomes, categories":   {rows: 60, numbers: 2, outcomes: 3, categories: true, missing: 0.1},
		"three outcomes, copies":       {rows: 50, numbers: 2, outcomes: 3, copies: 0.3, groups: true},
		"inducing points":              {rows: 160, numbers: 2, outcomes: 2, categories: true, options: lossep.Options{Inducing: 20, Kernel: lossep.AutoKernel}},
	} {
		t.Run(name, func(t *testing.T) { a.drawn(uint64(len(name))).check(t, variants) })
	}
}

// check compares what is said of a statement with what is said of others that say the same.
func (s statement) check(t *testing.T, variants []variant) {
	want := s.answers(t)
	for k, v := range variants {
		got := v.of(s, rand.New(rand.NewPCG(s.options.Seed, uint64(k)))).answers(t)
		difference, decisions := want.far(got)
		t.Logf("%s: probabilities differ by up to %.2g", v.name, difference)
		if difference > v.tolerance || decisions > 0 {
			t.Errorf("%s: probabilities differ by up to %.2g, and %d of %d decisions: %v and %v", v.name, difference, decisions, len(s.cases.rows), want.model.Summary().Candidates, got.model.Summary().Candidates)
		}
	}
}

// The same of real tables.
func TestModelsOfRealTablesDoNotDependOnOrder(t *testing.T) {
	folder := filepath.Join("..", "shared", "data")
	for _, c := range []struct {
		file, positive, negative string
		rows                     int
	}{
		{"pima-indians-diabetes.csv", "1", "0", 100},
		{"ionosphere.csv", "b", "g", 70},
		{"sonar.csv", "M", "R", 60},
		{"german.csv", "2", "1", 100},
	} {
		t.Run(c.file, func(t *testing.T) {
			f, err := os.Open(filepath.Join(folder, c.file))
			if err != nil {
				t.Skipf("the table is not there: %v", err)
			}
			defer f.Close()
			all, err := csv.NewReader(f).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			rand.New(rand.NewPCG(1, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			s := statement{
				positive: c.positive, rename: map[string]string{c.positive: c.positive, c.negative: c.negative},
				costs: map[string]float64{c.positive: 5, c.negative: 1}, options: lossep.Options{Seed: 1},
			}
			for k := range len(all[0]) - 1 {
				s.header = append(s.header, fmt.Sprintf("x%d", k))
			}
			s.header = append(s.header, "y")
			s.rows, s.cases = all[:c.rows], sheet{s.header, all}
			s.check(t, variants)
		})
	}
}

// Rows beyond those that a search looks at are gone over where they lie, and what is dealt is dealt
// from their order: samples, inducing points, and the points that stand for new cases.
func TestModelsOfManyRowsDoNotDependOnOrder(t *testing.T) {
	s := asked{
		rows: search.SearchRows + 100, numbers: 2, outcomes: 2, copies: 0.01,
		options: lossep.Options{Inducing: 8, Kernel: "matern32(variance=2, lengthscale=1.5) + constant(variance=1)", Fixed: true, Method: lossep.LossEP},
	}.drawn(5)
	s.cases.rows = s.cases.rows[:1000]
	rows, outcomes := variants[0], variants[3]
	rows.tolerance = 1e-6 // passes end where a step is 1e-5 of a standard deviation at most, and a tenth of that is left
	s.check(t, []variant{rows, outcomes})
}
