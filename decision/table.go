package decision

import (
	"fmt"
	"math"
)

// Table holds a number for each action under each outcome: Table[action][outcome]. Of
// two outcomes 0 is y = −1 and 1 is y = +1. As utilities of a calibrated approximation
// the numbers are at least zero, and only their ratios matter.
type Table [][]float64

// TableError says what is wrong with a utility or cost table, and where.
type TableError struct {
	Action, Outcome int // zero-based; −1 when the table as a whole is meant
	Msg             string
}

// tableName is what errors call it.
const tableName = "table of costs or utilities"

func (e *TableError) Error() string {
	switch {
	case e.Action < 0:
		return tableName + ": " + e.Msg
	case e.Outcome < 0:
		return fmt.Sprintf("%s, row %d: %s", tableName, e.Action+1, e.Msg)
	}
	return fmt.Sprintf("%s, row %d, column %d: %s", tableName, e.Action+1, e.Outcome+1, e.Msg)
}

// smallestEntry is the largest entry that a table has to have at least. Times a
// probability it must not come near the smallest numbers, which have few digits.
const smallestEntry = 1e-200

// NewTable makes a table of utilities from rows of numbers and checks it.
func NewTable(outcomes int, rows [][]float64) (Table, error) {
	t := Table(rows)
	if err := t.Check(outcomes); err != nil {
		return nil, err
	}
	return t, Stakes{Table: t}.checkChoice()
}

// Check reports the first entry that is not a utility of so many outcomes, or that there
// is none above 0.
func (t Table) Check(outcomes int) error {
	if err := t.valid(outcomes); err != nil {
		return err
	}
	return checkSize(t.size())
}

// checkSize refuses utilities of which the largest is too small.
func checkSize(most float64) error {
	switch {
	case most == 0:
		return &TableError{-1, -1, "every entry is 0, so no action is better than another"}
	case most < smallestEntry:
		return &TableError{-1, -1, fmt.Sprintf("the largest entry is %v; only ratios matter, so multiply all by the same number until it is at least %v", most, smallestEntry)}
	}
	return nil
}

// size is the largest magnitude of an entry.
func (t Table) size() float64 {
	most := 0.0
	for _, row := range t {
		for _, u := range row {
			most = max(most, math.Abs(u))
		}
	}
	return most
}

// valid reports the first entry that is not a utility.
func (t Table) valid(outcomes int) error {
	if len(t) < 2 {
		return &TableError{-1, -1, fmt.Sprintf("wants at least 2 actions to choose from, one a row, and has %d", len(t))}
	}
	for a, row := range t {
		if len(row) != outcomes {
			return &TableError{a, -1, fmt.Sprintf("wants one entry for each of the %d outcomes and has %d", outcomes, len(row))}
		}
		for y, u := range row {
			if math.IsNaN(u) || math.IsInf(u, 0) {
				return &TableError{a, y, fmt.Sprintf("%v is not a finite number", u)}
			}
			if u < 0 {
				return &TableError{a, y, fmt.Sprintf("%v is negative; utilities are at least 0, so add the same amount to every entry", u)}
			}
		}
	}
	return nil
}
