package recipe

import (
	"fmt"

	"github.com/lossep/lossep/expr"
	"github.com/lossep/lossep/table"
)

// answers are the outcomes of the rows of a table, some of which may be missing.
type answers struct {
	table     *table.Table
	column    int             // that has them, where they are no condition
	condition *expr.Condition // nil if a column has them
	parts     []int           // the columns of the condition
	markers   []string        // spellings of a missing cell, see Recipe.Missing
}

// answers are the outcomes of a table that options name.
func (o *Options) answers(t *table.Table) (*answers, error) {
	roles, named, err := o.assign(t)
	if err != nil {
		return nil, err
	}
	return &answers{t, roles.target, roles.condition, roles.parts, table.AllMarkers(named)}, nil
}

// answers are the outcomes of a table that has the columns they are made of.
func (r *Recipe) answers(t *table.Table) (*answers, error) {
	b, err := r.bind(t.Name(), t.HeaderLine(), t.Columns(), t.HasHeader())
	if err != nil {
		return nil, err
	}
	a := &answers{table: t, column: b.target, markers: r.Missing}
	if r.Target.Condition {
		a.condition, a.parts, err = findCondition(t, r.Target.Column)
	} else if b.target < 0 {
		_, err = b.column(r.Target.Column)
	}
	return a, err
}

// unknown are the rows without an outcome.
func (a *answers) unknown() (rows []int, err error) {
	m := table.NewMarkers(a.markers)
	if a.condition != nil {
		_, rows, err = new(Target).evaluate(a.table, a.condition, a.parts, m)
		return rows, err
	}
	s := table.NewScan(a.table, a.column, m.OfColumn(a.table.ColumnName(a.column), a.markers))
	return missingIn(s), nil
}

// missingIn are the rows whose cell of the column is missing.
func missingIn(s *table.Scan) (rows []int) {
	for i := s.Gap; i < s.Table.Len() && len(rows) < s.Missing; i++ {
		if s.IsMissing(s.Table.At(i, s.Column)) {
			rows = append(rows, i)
		}
	}
	return rows
}

// mostNotRows is the most rows without an outcome that are looked at one by one, for what they are.
const mostNotRows = 6

// refuse says of rows that they have no outcome, and how to leave them out.
func (a *answers) refuse(rows []int) *table.Error {
	t, what, fix := a.table, "outcome", "fill the outcomes in, or leave these rows out"
	at := t.CellPlace(rows[0], a.column)
	if a.condition != nil {
		what, fix = "outcome "+table.Quote(a.condition.String()), "fill the cells in, or leave these rows out"
		at = t.Place(rows[0])
	}
	if len(rows) == t.Len() { // none would be left
		return at.Say("fill the outcomes in", "the %s is missing in every row", what)
	}
	at = at.Say(fix, "the %s is missing in %s: %s", what, table.Plural(len(rows), "row"), lineList(t, rows))
	if len(rows) <= mostNotRows {
		if way, all := notRows(t, rows); all {
			at.Ways = append(at.Ways, way)
		}
	}
	at.Ways = append(at.Ways, table.Way{Option: table.WayLabelled})
	return at
}

// complete refuses rows without an outcome.
func (a *answers) complete() error {
	rows, err := a.unknown()
	if err != nil || len(rows) == 0 {
		return err
	}
	return a.refuse(rows)
}

// known is the table without the rows whose outcome is missing.
func (a *answers) known() (*table.Table, error) {
	unknown, err := a.unknown()
	if err != nil || len(unknown) == 0 {
		return a.table, err
	}
	var rows []int
	for i := range a.table.Len() {
		if len(unknown) > 0 && i == unknown[0] {
			unknown = unknown[1:]
			continue
		}
		rows = append(rows, i)
	}
	left := a.table.Len() - len(rows)
	if rows == nil {
		return a.table, nil // there is none to be had, which is said of it
	}
	return a.table.Subset(rows).Noting(fmt.Sprintf("%s without an outcome left out", table.Plural(left, "row"))), nil
}

// Labelled is the table without the rows whose outcome, by the options, is missing.
func Labelled(t *table.Table, o Options) (*table.Table, error) {
	a, err := o.answers(t)
	if err != nil {
		return nil, err
	}
	return a.known()
}

// Labelled is the table without the rows whose outcome is missing.
func (r *Recipe) Labelled(t *table.Table) (*table.Table, error) {
	a, err := r.answers(t)
	if err != nil {
		return nil, err
	}
	return a.known()
}

// CheckLabelled refuses a table with rows whose outcome is missing.
func (r *Recipe) CheckLabelled(t *table.Table) error {
	a, err := r.answers(t)
	if err != nil {
		return err
	}
	return a.complete()
}
