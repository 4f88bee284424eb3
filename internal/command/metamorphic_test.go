package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep/table"
	"github.com/lossep/lossep/table/parquet"
)

// Random tables with numbers, categories and missing cells, and the command that fits and decides
// them, for the laws of laws_test.go.

// sheet is a table as text.
type sheet struct {
	columns []string
	rows    [][]string
}

// colours are the categories of random tables.
var colours = []string{"red", "green", "blue"}

// randomSheet is a table of cases whose outcomes, good and bad or also fair, depend on all of its
// columns but the weights, which are 1.
func randomSheet(seed uint64, rows, outcomes int) sheet {
	rng := rand.New(rand.NewPCG(seed, 77))
	s := sheet{columns: []string{"x", "z", "kind", "w", "y"}}
	for range rows {
		x, z, kind := rng.NormFloat64(), rng.NormFloat64(), rng.IntN(len(colours))
		f := 1.5*math.Sin(1.5*x) + 0.8*z + 0.7*float64(kind-1) + 0.6*rng.NormFloat64()
		y := "good"
		if f > 0.2 {
			y = "bad"
		}
		if outcomes > 2 && math.Abs(f-0.2) < 0.5 {
			y = "odd"
		}
		row := []string{fmt.Sprintf("%.4f", x), fmt.Sprintf("%.4f", z), colours[kind], "1", y}
		if rng.IntN(10) == 0 {
			row[1] = ""
		}
		if rng.IntN(15) == 0 {
			row[2] = ""
		}
		s.rows = append(s.rows, row)
	}
	return s
}

// permuted has the columns, or the rows, in another order.
func (s sheet) permuted(rng *rand.Rand, byColumns bool) sheet {
	if !byColumns {
		rows := slices.Clone(s.rows)
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		return sheet{s.columns, rows}
	}
	var moved sheet
	order := rng.Perm(len(s.columns))
	take := func(from []string) (to []string) {
		for _, j := range order {
			to = append(to, from[j])
		}
		return to
	}
	moved.columns = take(s.columns)
	for _, row := range s.rows {
		moved.rows = append(moved.rows, take(row))
	}
	return moved
}

// changed has every row made anew, as often as wanted.
func (s sheet) changed(change func(i int, row []string) [][]string) sheet {
	made := sheet{columns: s.columns}
	for i, row := range s.rows {
		made.rows = append(made.rows, change(i, slices.Clone(row))...)
	}
	return made
}

// csv writes the table to a file.
func (s sheet) csv(t *testing.T, path string) string {
	t.Helper()
	text := strings.Join(s.columns, ",") + "\n"
	for _, row := range s.rows {
		text += strings.Join(row, ",") + "\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// parquet writes the table to a file, with numbers as numbers.
func (s sheet) parquet(t *testing.T, path string) string {
	t.Helper()
	var columns []table.SourceColumn
	for _, name := range s.columns {
		c := table.SourceColumn{Name: name}
		if name == "x" || name == "z" || name == "w" {
			c.Kind = table.NumberCells
		}
		columns = append(columns, c)
	}
	var out bytes.Buffer
	w, err := parquet.NewWriter(&out, columns)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range s.rows {
		var cells []any
		for _, cell := range row {
			cells = append(cells, cell)
		}
		if err := w.Write(cells); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// decidedCase is what is said of a case.
type decidedCase struct {
	Action   string             `json:"action"`
	Cost     map[string]float64 `json:"expected_cost"`
	Positive float64            `json:"probability"`
	All      map[string]float64 `json:"probabilities"`
	Margin   float64            `json:"margin"`
}

// probability is that of an outcome.
func (d decidedCase) probability(outcome, positive string) float64 {
	switch {
	case d.All != nil:
		return d.All[outcome]
	case outcome == positive:
		return d.Positive
	}
	return 1 - d.Positive
}

// problem is a table with what is fitted to it and decided by that.
type problem struct {
	t        *testing.T
	dir      string
	method   string
	table    sheet
	cases    sheet
	positive string            // of two outcomes; empty if there are three
	called   map[string]string // what outcomes are called in files, if not by their names
	flags    []string
}

const (
	fixedKernel  = "matern32(variance=2, lengthscale=1.5) + constant(variance=1)"
	searchKernel = "matern32 + constant"
)

// newProblem is one of two or three outcomes, by a method and a kernel.
func newProblem(t *testing.T, seed uint64, rows, outcomes int, method, kernel string) problem {
	p := problem{t: t, dir: t.TempDir(), method: method, table: randomSheet(seed, rows, outcomes), cases: randomSheet(seed+1000, 12, outcomes)}
	if outcomes == 2 {
		p.positive = "bad"
	}
	p.flags = []string{"--target", "y", "--missing", "impute", "--method", method, "--kernel", kernel}
	if kernel == fixedKernel {
		p.flags = append(p.flags, "--fixed")
	}
	return p
}

// outcomes are those that costs name, in order.
func (p problem) outcomes() []string {
	if p.positive == "" {
		return []string{"good", "odd", "bad"}
	}
	return []string{"good", "bad"}
}

// call is what an outcome is called in files.
func (p problem) call(outcome string) string {
	if name, other := p.called[outcome]; other {
		return name
	}
	return outcome
}

// utility writes what three actions cost, times a number, to a file.
func (p problem) utility(scale float64) string {
	p.t.Helper()
	costs := map[string][]float64{"good": {0, 1, 0.6}, "odd": {1, 0.5, 0.4}, "bad": {5, 0, 0.7}}
	text := "action"
	for _, y := range p.outcomes() {
		text += "," + p.call(y)
	}
	text += "\n"
	for a, action := range []string{"accept", "refuse", "ask"} {
		text += action
		for _, y := range p.outcomes() {
			text += fmt.Sprintf(",%v", scale*costs[y][a])
		}
		text += "\n"
	}
	path := filepath.Join(p.dir, "costs.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// fit fits a model to a file and returns its name.
func (p problem) fit(table string, more ...string) string {
	p.t.Helper()
	args := append([]string{"fit", table, "-o", table + ".lossep"}, p.flags...)
	if p.positive != "" && !slices.Contains(more, "--positive") {
		args = append(args, "--positive", p.call(p.positive))
	}
	if !slices.Contains(more, "--cost-matrix") && !slices.Contains(more, "--cost") {
		args = append(args, "--cost-matrix", p.utility(1))
	}
	if !slices.Contains(more, "--weights") && !slices.Contains(more, "--counts") {
		args = append(args, "--drop", "w")
	}
	succeed(p.t, append(args, more...)...)
	return table + ".lossep"
}

// decide is what a model says of cases.
func (p problem) decide(model, cases string) []decidedCase {
	p.t.Helper()
	out, _ := succeed(p.t, "decide", model, cases, "--format", "json")
	var all []decidedCase
	for line := range strings.Lines(out) {
		var d decidedCase
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			p.t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// answers fits a model to a table and decides the problem's cases by it.
func (p problem) answers(name string, table sheet, more ...string) []decidedCase {
	p.t.Helper()
	if p.called != nil {
		y := slices.Index(table.columns, "y")
		table = table.changed(func(_ int, row []string) [][]string {
			row[y] = p.call(row[y])
			return [][]string{row}
		})
	}
	model := p.fit(table.csv(p.t, filepath.Join(p.dir, name+".csv")), more...)
	decided := p.decide(model, p.cases.csv(p.t, filepath.Join(p.dir, "cases.csv")))
	for i, d := range decided {
		for outcome, name := range p.called {
			if q, known := d.All[name]; known {
				decided[i].All[outcome] = q
			}
		}
	}
	return decided
}

// same checks that decisions are those wanted: probabilities to a tolerance, costs to as much of
// what costs differ by, and actions unless another is as good.
func (p problem) same(law string, got, want []decidedCase, tolerance, scale float64) {
	p.t.Helper()
	if len(got) != len(want) {
		p.t.Fatalf("%s: %d decisions in place of %d", law, len(got), len(want))
	}
	worst := 0.0
	for i, g := range got {
		w := want[i]
		for _, y := range p.outcomes() {
			d := math.Abs(g.probability(y, p.positive) - w.probability(y, p.positive))
			worst = max(worst, d)
		}
		for a, cost := range w.Cost {
			if math.Abs(g.Cost[a]-scale*cost) > 10*scale*tolerance {
				p.t.Errorf("%s, case %d: %s costs %v in place of %v", law, i, a, g.Cost[a], scale*cost)
			}
		}
		if g.Action != w.Action && w.Margin > 10*tolerance {
			p.t.Errorf("%s, case %d: %s in place of %s, which is better by %v", law, i, g.Action, w.Action, w.Margin)
		}
	}
	p.t.Logf("%s: probabilities differ by up to %.2g", law, worst)
	if !(worst <= tolerance) {
		p.t.Errorf("%s: probabilities differ by %.3g", law, worst)
	}
}
