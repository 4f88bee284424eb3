package table

import (
	"fmt"
	"math"
	"slices"
)

// A table of counts has a row for each kind of case, with how many there are of it. Other than a
// weight a count is of cases that can be left out one by one, so each of them becomes a row.

// Repeated is the table in which every row comes as often as the cell in a column says, up to a
// number of rows in all. Rows of none are left out, and the column is not decided by. What kind of column
// each of the others is, Learn finds out from rows that come once.
func (t *Table) Repeated(column string, most int) (*Table, error) {
	counts, err := t.Floats(column)
	if err != nil {
		return nil, err
	}
	j, _ := t.Column(column)
	var rows []int
	kinds := 0
	for i, n := range counts {
		switch {
		case !(n >= 0) || n != math.Trunc(n):
			return nil, t.CellPlace(i, j).Say("give whole numbers from 0 on, or make the column weights instead",
				"%v is no number of cases", n)
		case n > float64(most-len(rows)):
			return nil, t.CellPlace(i, j).Say("give a sample of them", "the counts up to here are of more than %d cases", most)
		case n > 0:
			kinds++
		}
		for range int(n) {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		return nil, &Error{File: t.file, Column: j + 1, ColumnName: t.columns[j], Msg: "all counts are 0", Fix: "give a table with cases"}
	}
	s := t.Subset(rows)
	s.counts = j + 1
	s.notes = append(slices.Clone(t.notes), fmt.Sprintf("each row comes as often as %s says: %s of cases, %s", Quote(t.columns[j]), Plural(kinds, "kind"), Plural(len(rows), "case")))
	return s, nil
}

// Counted tells whether rows come as often as a column says, see Repeated: rows that are the same
// are different cases then, and no copies.
func (t *Table) Counted() bool { return t.counts > 0 }

// CountColumn is the number of the column that rows come as often as it says, −1 if there is none.
func (t *Table) CountColumn() int { return t.counts - 1 }

// once is the table with every row that is repeated once, in order.
func (t *Table) Once() *Table {
	if t.counts == 0 {
		return t
	}
	seen := make(map[int]bool)
	var rows []int
	for i := range t.n {
		if place := t.Index(i); !seen[place] {
			seen[place] = true
			rows = append(rows, i)
		}
	}
	return t.Subset(rows)
}
