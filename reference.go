package lossep

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
)

// ReferenceValues is how many training values stand for those that a column may have.
const ReferenceValues = 24

// Reference is what a column may be if it is not known: for every column some of the values that
// it has in the training rows, evenly spread in their order and counted by weights, whatever the
// other columns.
type Reference struct {
	parts   []recipe.Part
	columns []referenceColumn
}

// referenceColumn are the values of one column, each once: its entries of an encoded row, and how
// likely it is.
type referenceColumn struct {
	values [][]float64
	shares []float64
}

// NewReference takes values from encoded rows of a recipe. Weights are nil if all rows count the
// same.
func NewReference(r *recipe.Recipe, x *mat.Dense, weights []float64) *Reference {
	ref := &Reference{parts: r.Parts()}
	ref.columns = make([]referenceColumn, len(ref.parts))
	tasks.For(len(ref.parts), func(k int) {
		c, at := &ref.columns[k], ref.parts[k].At
		rows := spreadRows(x, weights, at)
		for _, row := range rows {
			value := entriesAt(x.RawRowView(row), at)
			if n := len(c.values); n == 0 || !slices.Equal(c.values[n-1], value) { // they are in order
				c.values, c.shares = append(c.values, value), append(c.shares, 0)
			}
			c.shares[len(c.shares)-1] += 1 / float64(len(rows))
		}
	})
	return ref
}

// Columns names the columns.
func (r *Reference) Columns() []string {
	names := make([]string, len(r.parts))
	for k := range r.parts {
		names[k] = r.parts[k].Column
	}
	return names
}

// without is the reference but for some columns.
func (r *Reference) without(names []string) *Reference {
	if len(names) == 0 {
		return r
	}
	left := new(Reference)
	for k, part := range r.parts {
		if !slices.Contains(names, part.Column) {
			left.parts, left.columns = append(left.parts, part), append(left.columns, r.columns[k])
		}
	}
	return left
}

// entriesAt are some of the entries of a row.
func entriesAt(row []float64, at []int) []float64 {
	entries := make([]float64, len(at))
	for k, place := range at {
		entries[k] = row[place]
	}
	return entries
}

// spreadRows are the rows whose entries at some places stand for all: in their order, one from the
// middle of each of as many parts of equal weight.
func spreadRows(x *mat.Dense, weights []float64, at []int) []int {
	rows, _ := x.Dims()
	order := indices.Of(rows)
	slices.SortStableFunc(order, func(i, j int) int {
		for _, k := range at {
			if c := cmp.Compare(x.At(i, k), x.At(j, k)); c != 0 {
				return c
			}
		}
		return 0
	})
	below := make([]float64, rows) // the weight up to each of them, itself with it
	sum := 0.0
	for k, i := range order {
		if weights == nil {
			sum++
		} else {
			sum += weights[i]
		}
		below[k] = sum
	}
	each := min(rows, ReferenceValues)
	picked := make([]int, each)
	for v := range picked {
		middle := float64(2*v+1) * sum / float64(2*each)
		picked[v] = order[min(rows-1, sort.Search(rows, func(k int) bool { return below[k] > middle }))]
	}
	return picked
}

// Without are for each of some cases, of which own are the probabilities of the outcomes, and for
// each column of the reference the probabilities if that column were not known and all others
// were: their mean over the column's values.
func (m *Model) Without(ctx context.Context, x *mat.Dense, own [][]float64, ref *Reference) ([][][]float64, error) {
	means := make([][][]float64, len(own))
	err := m.eachReplaced(ctx, x, own, ref, func(i int, all [][][]float64) {
		means[i] = ref.means(all)
	})
	return means, err
}

// means are those of the probabilities over the values of every column.
func (r *Reference) means(all [][][]float64) [][]float64 {
	out := make([][]float64, len(all))
	for k, p := range all {
		out[k] = posterior.Mean(p, r.columns[k].shares)
	}
	return out
}

// replacedAtOnce is how many rows are predicted together: so many that processors have enough to
// do, in some megabytes of memory.
const replacedAtOnce = 2048

// eachReplaced calls use for each of some cases with the probabilities of the outcomes by column
// and by value of the reference, with the value in place of the case's own.
func (m *Model) eachReplaced(ctx context.Context, x *mat.Dense, own [][]float64, ref *Reference, use func(i int, all [][][]float64)) error {
	values := 0
	for k := range ref.columns {
		values += len(ref.columns[k].values)
	}
	together := max(1, replacedAtOnce/max(1, values))
	for from := 0; from < len(own); from += together {
		var rows [][]float64
		var of []int
		var places []*[]float64 // where the probabilities of each row go
		to := min(len(own), from+together)
		all := make([][][][]float64, to-from)
		for i := from; i < to; i++ {
			all[i-from] = make([][][]float64, len(ref.columns))
			row := x.RawRowView(i)
			for k := range ref.columns {
				c, at := &ref.columns[k], ref.parts[k].At
				p := make([][]float64, len(c.values))
				all[i-from][k] = p
				for v, value := range c.values {
					if slices.Equal(entriesAt(row, at), value) {
						p[v] = own[i]
						continue
					}
					other := slices.Clone(row)
					for j, place := range at {
						other[place] = value[j]
					}
					rows, of, places = append(rows, other), append(of, i), append(places, &p[v])
				}
			}
		}
		found, err := m.probabilitiesOf(ctx, rows, of)
		if err != nil {
			return err
		}
		for k, p := range found {
			*places[k] = p
		}
		for i := from; i < to; i++ {
			use(i, all[i-from])
		}
	}
	return ctx.Err()
}

// probabilitiesOf are those of the outcomes of rows that are variants of cases.
func (m *Model) probabilitiesOf(ctx context.Context, rows [][]float64, of []int) ([][]float64, error) {
	all := make([][]float64, 0, len(rows))
	for from := 0; from < len(rows); from += replacedAtOnce {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		some := rows[from:min(len(rows), from+replacedAtOnce)]
		p, err := m.variantProbabilities(mat.NewDense(len(some), m.coding.Len(), slices.Concat(some...)), of[from:])
		if err != nil {
			return nil, err
		}
		all = append(all, p...)
	}
	return all, nil
}
