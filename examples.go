package lossep

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// Examples are some training rows as they were read, for people to try a model on. They have the
// columns that a decision needs, and the outcome; numbers are written with a decimal point.
type Examples struct {
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`

	features *mat.Dense // of the rows, until those that are kept are chosen
}

const (
	mostExamples = 8  // that a model keeps
	tried        = 60 // rows that they are chosen among
)

// Examples are the training rows that the model keeps as they were read; nil if it keeps none.
func (m *Model) Examples() *Examples { return m.examples }

// Line says that a model keeps them.
func (e *Examples) Line() string {
	return fmt.Sprintf("examples    %s as read, to try the model on", table.Plural(len(e.Rows), "training row"))
}

// candidateExamples are rows of all outcomes alike, and of each from all over the table.
func candidateExamples(t *table.Table, r *recipe.Recipe, costs []string, x *mat.Dense, labels []int) *Examples {
	of := make([][]int, len(r.Target.Outcomes))
	for y, n := range r.Target.Rows {
		of[y] = make([]int, 0, n)
	}
	for i, y := range labels {
		of[y] = append(of[y], i)
	}
	var chosen []int
	var features []float64
	for _, rows := range of {
		most := min(len(rows), max(1, tried/len(of)))
		for k := range most {
			i := rows[k*len(rows)/most]
			chosen, features = append(chosen, i), append(features, x.RawRowView(i)...)
		}
	}
	e := ExamplesOf(t, r, costs, chosen)
	e.features = mat.NewDense(len(e.Rows), len(features)/len(e.Rows), features)
	return e
}

// ExamplesOf are some rows of a table, with the outcome, the features and what costs depend on, and
// not what names a row.
func ExamplesOf(t *table.Table, r *recipe.Recipe, costs []string, rows []int) *Examples {
	e := new(Examples)
	var columns []int
	numeric := make(map[string]bool)
	values := t.Values(r.Missing...)
	for j, name := range t.Columns() {
		i := slices.IndexFunc(r.Columns, func(c recipe.Column) bool { return c.Name == name })
		if i >= 0 && (r.Columns[i].IsFeature() || r.Columns[i].Kind == recipe.Outcome) || slices.Contains(costs, name) {
			e.Columns, columns = append(e.Columns, name), append(columns, j)
			numeric[name] = i >= 0 && r.Columns[i].Kind == recipe.Numeric || slices.Contains(costs, name)
		}
	}
	for _, i := range rows {
		all := t.Row(i)
		cells := make([]string, len(columns))
		for c, j := range columns {
			cells[c] = all[j]
			if _, plain := table.Number(all[j]); !plain && numeric[e.Columns[c]] {
				if x, err := values(i, e.Columns[c]); err == nil {
					cells[c] = table.Spelled(x)
				}
			}
		}
		e.Rows = append(e.Rows, cells)
	}
	return e
}

// Evenly are at most so many rows as a model keeps, at even steps of an order.
func Evenly(order []int) (rows []int) {
	most := min(mostExamples, len(order))
	for k := range most {
		rows = append(rows, order[k*(len(order)-1)/max(1, most-1)])
	}
	return rows
}

// spread chooses the rows that a model keeps, at even steps by what it expects of them: of two
// outcomes by the probability of the positive one, of more by the most probable one.
func (e *Examples) spread(by posterior.Posterior) *Examples {
	if e == nil {
		return nil
	}
	p := by.Probabilities(e.features)
	most, of := make([]int, len(p)), make([]float64, len(p)) // the outcome that is most probable, and how probable
	for i, q := range p {
		if most[i] = slices.Index(q, slices.Max(q)); len(q) == 2 {
			most[i] = 1
		}
		of[i] = q[most[i]]
	}
	order := indices.Of(len(p))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(most[a], most[b]), cmp.Compare(of[a], of[b])) })
	kept := &Examples{Columns: e.Columns}
	for _, i := range Evenly(order) {
		kept.Rows = append(kept.Rows, e.Rows[i])
	}
	return kept
}

// Check refuses rows that have not a cell for each of the columns, and columns that are not
// the model's.
func (e *Examples) Check(r *recipe.Recipe) error {
	if e == nil {
		return nil
	}
	if len(e.Rows) == 0 || len(e.Rows) > mostExamples {
		return fmt.Errorf("it has %d examples, and there are from 1 to %d", len(e.Rows), mostExamples)
	}
	for i, name := range e.Columns {
		known := slices.ContainsFunc(r.Columns, func(c recipe.Column) bool { return c.Name == name })
		if !known || slices.Contains(e.Columns[:i], name) {
			return fmt.Errorf("its examples have the column %s, which is not one of the training rows or there twice", table.Quote(name))
		}
	}
	for _, row := range e.Rows {
		if len(row) != len(e.Columns) {
			return fmt.Errorf("an example has %d cells for %d columns", len(row), len(e.Columns))
		}
	}
	return nil
}
