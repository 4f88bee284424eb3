package data

import (
	"bytes"
	"fmt"
	"math"
)

// Encoder encodes rows whose values come one by one, each with the number of its
// column in the recipe, as a reader of JSON text or of whole columns finds them: Begin,
// then every value once, in any order, then End. It gives the features and the errors
// of Recipe.Encode without a map of the row, and is not for concurrent use.
type Encoder struct {
	recipe   *Recipe
	dim      int
	offset   []int            // of each column's first feature
	category []map[string]int // of each categorical column
	missing  map[string]bool  // spellings of a missing cell
	numeral  bool             // one of them is spelled like a number

	dst    []float64    // of the row under way
	state  []valueState // of each column in this row
	given  int          // columns that make features and have a value that is fine
	needed int
	faults map[int]string // what is wrong with a value, by column
}

// valueState is what is known of a column in the row under way.
type valueState uint8

const (
	absent valueState = iota
	fine
	unseen
	faulty
)

// NewEncoder makes an encoder for the recipe, which must not change any more.
func (r *Recipe) NewEncoder() *Encoder {
	e := &Encoder{
		recipe: r, dim: r.Dim(), offset: make([]int, len(r.Columns)), category: make([]map[string]int, len(r.Columns)),
		missing: make(map[string]bool), state: make([]valueState, len(r.Columns)), needed: r.needed(),
		faults: make(map[int]string),
	}
	width := 0
	for i := range r.Columns {
		c := &r.Columns[i]
		e.offset[i] = width
		width += c.width()
		if c.Kind == Categorical {
			e.category[i] = make(map[string]int, len(c.Categories))
			for k, name := range c.Categories {
				e.category[i][name] = k
			}
		}
	}
	for _, marker := range r.Missing {
		e.missing[marker] = true
		if _, kind := parseNumber(marker); kind != notNumber {
			e.numeral = true
		}
	}
	return e
}

// Begin starts a row whose features go to dst, which must have Dim elements.
func (e *Encoder) Begin(dst []float64) {
	if len(dst) != e.dim {
		panic(fmt.Sprintf("data: Encoder.Begin with %d elements, want %d", len(dst), e.dim))
	}
	clear(dst)
	clear(e.state)
	clear(e.faults)
	e.dst, e.given = dst, 0
}

// Number gives the column a number.
func (e *Encoder) Number(column int, x float64) {
	c := &e.recipe.Columns[column]
	if c.Kind == Numeric && !e.numeral && !math.IsNaN(x) && !math.IsInf(x, 0) {
		// A float64 survives its shortest spelling, so there is no need to spell it.
		e.note(column, true, c.encodeNumber(x, e.dst[e.offset[column]:]))
		return
	}
	text, _ := spelled(x)
	e.Text(column, []byte(text))
}

// Text gives the column a text, which is read like a cell of a file.
func (e *Encoder) Text(column int, text []byte) {
	c := &e.recipe.Columns[column]
	if !c.isFeature() {
		return
	}
	text = bytes.TrimSpace(text)
	if e.missing[string(text)] {
		e.Null(column)
		return
	}
	switch c.Kind {
	case Numeric:
		x, kind := parseNumber(string(text))
		if kind != finite {
			e.note(column, false, quote(string(text))+" is not a finite number")
			return
		}
		e.note(column, true, c.encodeNumber(x, e.dst[e.offset[column]:]))
	case Categorical:
		k, known := e.category[column][string(text)]
		if known {
			e.dst[e.offset[column]+k] = 1
		}
		e.note(column, known, "")
	default:
		e.note(column, true, "")
	}
}

// Bool gives the column a truth value: in a column of categories it is the one spelled
// true or false in any case.
func (e *Encoder) Bool(column int, b bool) {
	text, _ := spelled(b)
	c := &e.recipe.Columns[column]
	if c.Kind == Categorical && !e.missing[text] {
		text = c.foldedCategory(text)
	}
	e.Text(column, []byte(text))
}

// Null gives the column a missing cell.
func (e *Encoder) Null(column int) {
	if c := &e.recipe.Columns[column]; c.isFeature() {
		e.note(column, true, c.encodeMissing(e.recipe.Impute, e.dst[e.offset[column]:]))
	}
}

// Refuse says that the column has a value which cannot be one, and why.
func (e *Encoder) Refuse(column int, problem string) {
	if e.recipe.Columns[column].isFeature() {
		e.note(column, false, problem)
	}
}

// note takes down what became of a value.
func (e *Encoder) note(column int, known bool, problem string) {
	switch {
	case problem != "":
		e.state[column] = faulty
		e.faults[column] = problem
	case !known:
		e.state[column] = unseen
	default:
		e.state[column] = fine
		e.given++
	}
}

// End finishes the row: unseen names the columns whose category was not in the
// training rows; an error is the first in the order of the recipe's columns.
func (e *Encoder) End() (unseenColumns []string, err error) {
	if e.given == e.needed {
		return nil, nil
	}
	for i := range e.recipe.Columns {
		c := &e.recipe.Columns[i]
		if !c.isFeature() {
			continue
		}
		switch e.state[i] {
		case absent:
			return nil, &Error{ColumnName: c.Name, Msg: "the row lacks this column", Fix: "give it a value, or null where it is missing"}
		case faulty:
			return nil, &Error{ColumnName: c.Name, Msg: e.faults[i], Fix: fixCell}
		case unseen:
			unseenColumns = append(unseenColumns, c.Name)
		}
	}
	return unseenColumns, nil
}

// Number is the finite number that a cell spells, and whether it spells one.
func Number(cell string) (float64, bool) {
	x, kind := parseNumber(clean(cell))
	return x, kind == finite
}
