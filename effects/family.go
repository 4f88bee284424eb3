package effects

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Part is a column of a family: its categories if Bins is 0, otherwise its numbers in so many
// quantile bins.
type Part struct {
	Column, Bins int
}

// Family is what rows are grouped by: one column, or a crossing of several, in the order of
// the columns. The family of no columns has all rows in one group.
//
// A family whose first part is Count groups rows by how many others are in their group of the
// other parts, in powers of two: combinations that are rare or new may have something in common.
type Family []Part

// Count is the first part of a family of numbers of rows.
var Count = Part{Column: -1}

// counts tells whether the family is one of numbers of rows.
func (f Family) counts() bool { return len(f) > 0 && f[0] == Count }

// Parts are those of the columns of the family.
func (f Family) Parts() []Part {
	if f.counts() {
		return f[1:]
	}
	return f
}

// CountClasses is the number of groups of such a family: none, 1, 2–3, 4–7, …
const CountClasses = 33

// NewFamily is the family of parts, in the order of their columns.
func NewFamily(parts ...Part) Family {
	f := slices.Clone(parts)
	slices.SortStableFunc(f, func(a, b Part) int { return a.Column - b.Column })
	return f
}

// MostParts is the largest number of columns of a crossing, and MostBins that of bins.
const (
	MostParts = 3
	MostBins  = 1 << 15
)

// Name is the family in the words of the kernel language, with columns called as given.
func (f Family) Name(columns []string) string {
	if len(f) == 0 {
		return "constant"
	}
	if f.counts() {
		inside := strings.TrimPrefix(f[1:].Name(columns), "effects")
		return "effects(count" + inside + ")"
	}
	parts := make([]string, len(f))
	for i, p := range f {
		parts[i] = columns[p.Column]
		if p.Bins > 0 {
			parts[i] += "/" + strconv.Itoa(p.Bins)
		}
	}
	return "effects(" + strings.Join(parts, ", ") + ")"
}

// columns are those of the parts.
func (f Family) columns() []int {
	all := make([]int, len(f))
	for i, p := range f {
		all[i] = p.Column
	}
	return all
}

// TooManyGroupsError is a family with more groups than can be afforded.
type TooManyGroupsError struct {
	Family      Family
	Cells, Most float64 // combinations of its columns' categories and bins, and the most there may be
}

func (e *TooManyGroupsError) Error() string {
	return fmt.Sprintf("effects of %d columns have %.3g combinations of categories and bins, more than %.3g", len(e.Family), e.Cells, e.Most)
}

// ErrFamily is the reason why a family is refused that is not one.
var ErrFamily = errors.New("effects: invalid family")

// MostCells is the largest number of combinations of categories and bins of a family. They
// take a bit and a half each while groups are numbered, whether they occur or not.
const MostCells = 1 << 28
