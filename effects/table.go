package effects

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/tasks"
)

// Table is the columns that families are made of, cut once for all families. It is not safe for
// use by several goroutines at a time.
type Table struct {
	X     *mat.Dense
	Codes int // columns that are codes of categories, the last ones; the others are numbers
	axes  map[Part]*Axis
}

// NewTable is a table of rows, which it keeps.
func NewTable(x *mat.Dense, codes int) *Table {
	return &Table{X: x, Codes: codes, axes: make(map[Part]*Axis)}
}

// Len is the number of rows.
func (t *Table) Len() int { return t.X.RawMatrix().Rows }

// columns is the number of columns.
func (t *Table) columns() int { return t.X.RawMatrix().Cols }

// categorical tells whether a column has codes.
func (t *Table) categorical(column int) bool { return column >= t.columns()-t.Codes }

// check tells why a family is none of the table's.
func (t *Table) check(f Family) error {
	f = f.Parts()
	if len(f) > MostParts {
		return fmt.Errorf("%w: a crossing of %d columns, at most %d", ErrFamily, len(f), MostParts)
	}
	for i, p := range f {
		switch {
		case p.Column < 0 || p.Column >= t.columns():
			return fmt.Errorf("%w: column %d", ErrFamily, p.Column)
		case i > 0 && p.Column <= f[i-1].Column:
			return fmt.Errorf("%w: columns twice or out of order", ErrFamily)
		case t.categorical(p.Column) != (p.Bins == 0):
			return fmt.Errorf("%w: bins are for numbers, and numbers need them", ErrFamily)
		case p.Bins < 0 || p.Bins == 1 || p.Bins > MostBins:
			return fmt.Errorf("%w: %d bins", ErrFamily, p.Bins)
		}
	}
	return nil
}

// axis cuts a column.
func (t *Table) axis(p Part) *Axis {
	a, ok := t.axes[p]
	if !ok {
		a = newAxes(t.X, p.Column, []int{p.Bins})[0]
		t.axes[p] = a
	}
	return a
}

// cut cuts columns, all at once: those of numbers into each of these numbers of bins.
func (t *Table) cut(columns, bins []int) {
	into := func(column int) []int {
		if t.categorical(column) {
			return []int{0}
		}
		return bins
	}
	columns = slices.DeleteFunc(slices.Clone(columns), func(column int) bool {
		return !slices.ContainsFunc(into(column), func(n int) bool { return t.axes[Part{column, n}] == nil })
	})
	found := make([][]*Axis, len(columns))
	tasks.For(len(columns), func(i int) { found[i] = newAxes(t.X, columns[i], into(columns[i])) })
	for i, axes := range found {
		for k, a := range axes {
			t.axes[Part{columns[i], into(columns[i])[k]}] = a
		}
	}
}

// cells groups rows by all cells of a family. Too many of them are a *TooManyGroupsError.
func (t *Table) cells(f Family) (*Grouping, error) {
	if err := t.check(f); err != nil {
		return nil, err
	}
	axes := make([]*Axis, len(f))
	for i, p := range f {
		axes[i] = t.axis(p)
	}
	if cells := cellsOf(axes); cells > MostCells {
		return nil, &TooManyGroupsError{f, cells, MostCells}
	}
	return Cells(f, axes), nil
}
