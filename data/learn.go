package data

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// maxEntries bounds the encoded matrix (2 GiB of float64), so that a table whose
// categories explode is refused rather than run out of memory.
const maxEntries = 1 << 28

// Options says how to learn a recipe. The zero value takes the last column as
// the outcome, standardises, and refuses missing cells.
type Options struct {
	Target      string   // name, number from 1, or "last"; empty means "last"
	Positive    string   // spelling of the positive outcome; may be empty if convention settles it
	Impute      bool     // fill missing cells by median or mode, with an indicator feature
	Markers     []string // spellings of a missing cell; nil means DefaultMissing
	KeepScale   bool     // leave numeric columns as they are instead of standardising
	Categorical []string // columns (as in Target) that are categorical whatever they look like
}

// Learn learns the recipe from the training rows and encodes them by it: one
// row of X and one label, +1 or −1, for each.
//
// Dropped, each with a reason in the recipe, are columns with a single value and
// those that identify rather than describe: all-distinct integers named like an
// identifier, unnamed row numbers, and text of which nine tenths or more of the
// cells differ.
func Learn(t *Table, o Options) (*Recipe, *mat.Dense, []int, error) {
	recipe, y, err := learnRecipe(t, o)
	if err != nil {
		return nil, nil, nil, err
	}
	if d := recipe.Dim(); d > maxEntries/t.Len() {
		widest := slices.MaxFunc(recipe.Columns, func(a, b Column) int { return a.width() - b.width() })
		return nil, nil, nil, &Error{
			File: t.file, ColumnName: widest.Name,
			Msg: fmt.Sprintf("%d rows of %d features are too many; this column alone makes %d", t.Len(), d, widest.width()),
			Fix: "leave out columns with many categories, or rows",
		}
	}
	// The training rows take the way of all later rows: there is no other.
	x, _, err := recipe.Apply(t)
	if err != nil {
		return nil, nil, nil, err
	}
	return recipe, x, y, nil
}

// learnRecipe decides about every column by itself. Missing cells are collected
// over all columns before they are reported: a message for one at a time would
// have to be answered many times.
func learnRecipe(t *Table, o Options) (*Recipe, []int, error) {
	if o.Target == "" {
		o.Target = "last"
	}
	if o.Markers == nil {
		o.Markers = DefaultMissing()
	}
	// The recipe keeps its own copy, in an order that does not depend on the caller's.
	o.Markers = slices.Clone(o.Markers)
	slices.Sort(o.Markers)
	targetColumn, err := t.Column(o.Target)
	if err != nil {
		return nil, nil, err
	}
	declared := make(map[int]bool)
	for _, ref := range o.Categorical {
		j, err := t.Column(ref)
		if err != nil {
			return nil, nil, err
		}
		declared[j] = true
	}
	target, y, err := learnTarget(t, targetColumn, &o)
	if err != nil {
		return nil, nil, err
	}
	r := &Recipe{
		Rows: t.Len(), Header: t.header, Standardize: !o.KeepScale, Impute: o.Impute,
		Missing: o.Markers, Target: target, Columns: make([]Column, len(t.columns)),
	}
	var gaps missingCells
	for j := range t.columns {
		if j == targetColumn {
			r.Columns[j] = Column{Name: t.columns[j], Kind: Outcome}
			continue
		}
		s := scan(t, j, o.Markers)
		if r.Columns[j], err = s.learn(&o, declared[j]); err != nil {
			return nil, nil, err
		}
		// What is dropped may have gaps: nobody will look at it again.
		if !o.Impute && r.Columns[j].isFeature() {
			gaps.add(s)
		}
	}
	if err := gaps.err(t); err != nil {
		return nil, nil, err
	}
	if r.Dim() == 0 {
		return nil, nil, noFeatures(t, r)
	}
	return r, y, nil
}

// noFeatures explains a table that leaves nothing to decide by.
func noFeatures(t *Table, r *Recipe) error {
	e := &Error{File: t.file, Msg: "there is no column to decide by beside the outcome", Fix: "give a table with further columns"}
	if len(t.columns) > 1 {
		e.Msg = "every column beside the outcome was dropped: " + strings.Join(r.droppedLines(), "; ")
	}
	return e
}

// missingCells collects where cells are missing, for one message about all.
type missingCells struct {
	total   int
	columns []string // how many in which column
	first   []string // the first few places
	at      *Error   // the very first
}

// add takes note of the missing cells of a column.
func (m *missingCells) add(s *scanned) {
	const most = 5
	if len(s.missing) == 0 {
		return
	}
	m.total += len(s.missing)
	m.columns = append(m.columns, s.table.columns[s.column])
	for _, i := range s.missing {
		at := s.table.cell(i, s.column)
		if m.at == nil {
			m.at = at
		}
		if len(m.first) == most {
			break
		}
		m.first = append(m.first, fmt.Sprintf("line %d column %d", at.Line, at.Column))
	}
}

// err is the message, or nil if nothing is missing.
func (m *missingCells) err(t *Table) error {
	if m.total == 0 {
		return nil
	}
	more := ""
	if m.total > len(m.first) {
		more = ", …"
	}
	m.at.Msg = fmt.Sprintf("%s in %s of %d (%s): %s%s", plural(m.total, "missing cell"),
		plural(len(m.columns), "column"), len(t.columns), quoteList(m.columns), strings.Join(m.first, ", "), more)
	m.at.Fix = "fill them, or choose --missing=impute (median or mode, plus an indicator feature)"
	return m.at
}
