package data

import (
	"fmt"
	"io"
	"slices"
	"strconv"
)

// Table is a rectangle of text cells that knows where each row came from.
type Table struct {
	file    string
	header  bool
	columns []string
	rows    [][]string
	lines   []int // line in the file on which each row begins
}

// Read reads a whole table. The delimiter (comma, semicolon or tab) and gzip
// compression are recognised; name is used in messages only. Columns of a table
// without a header are called c1, c2, …
func Read(r io.Reader, name string, header Header) (*Table, error) {
	if err := header.check(); err != nil {
		return nil, err
	}
	source, err := newRecords(r, name, false, nil)
	if err != nil {
		return nil, err
	}
	t := &Table{file: name}
	for {
		row, line, err := source.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		t.rows = append(t.rows, row)
		t.lines = append(t.lines, line)
	}
	if len(t.rows) == 0 {
		return nil, emptyFile(name)
	}
	// A whole table is at hand, so whole columns are compared.
	t.header = header == HeaderYes || header != HeaderNo && looksLikeHeader(t.rows)
	if !t.header {
		t.columns = generatedNames(source.width)
		return t, nil
	}
	if t.columns, err = headerNames(name, t.lines[0], t.rows[0]); err != nil {
		return nil, err
	}
	t.rows, t.lines = t.rows[1:], t.lines[1:]
	if len(t.rows) == 0 {
		return nil, &Error{
			File: name, Line: 2, Column: 1, ColumnName: t.columns[0],
			Msg: "there is a header but no row below it", Fix: "add rows, or choose --header=no if the first row is data",
		}
	}
	return t, nil
}

// emptyFile is the error for a file without a single row.
func emptyFile(name string) error {
	return &Error{File: name, Line: 1, Column: 1, Msg: "the file is empty", Fix: "give a table of one case per row"}
}

// Name is the name used in messages.
func (t *Table) Name() string { return t.file }

// HasHeader tells whether the columns were named by the file.
func (t *Table) HasHeader() bool { return t.header }

// Columns returns the names of the columns.
func (t *Table) Columns() []string { return slices.Clone(t.columns) }

// Len is the number of rows, the header not counted.
func (t *Table) Len() int { return len(t.rows) }

// Row returns the cells of row i as they were in the file. They are shared
// with the table and must not be changed.
func (t *Table) Row(i int) []string { return t.rows[i] }

// Line is the line of the file on which row i begins.
func (t *Table) Line(i int) int { return t.lines[i] }

// Subset is the table of the given rows, in the given order; cells are shared.
// It panics if an index is out of range.
func (t *Table) Subset(rows []int) *Table {
	s := &Table{
		file: t.file, header: t.header, columns: t.columns,
		rows: make([][]string, len(rows)), lines: make([]int, len(rows)),
	}
	for k, i := range rows {
		s.rows[k], s.lines[k] = t.rows[i], t.lines[i]
	}
	return s
}

// Column finds a column by its name, by its number from 1, or as "last", in
// this order, and returns its index from 0.
func (t *Table) Column(ref string) (int, error) {
	if j := slices.Index(t.columns, ref); j >= 0 {
		return j, nil
	}
	if number, err := strconv.Atoi(ref); err == nil && number >= 1 && number <= len(t.columns) {
		return number - 1, nil
	}
	if ref == "last" {
		return len(t.columns) - 1, nil
	}
	line := 0
	if t.header {
		line = 1
	}
	return 0, &Error{
		File: t.file, Line: line, ColumnName: ref,
		Msg: fmt.Sprintf("there is no such column; the %s: %s", plural(len(t.columns), "column"), quoteList(t.columns)),
		Fix: `name one of them, give its number from 1, or say "last"`,
	}
}

// Floats returns a column, found as by Column, as finite numbers: the costs of
// the single cases, for example.
func (t *Table) Floats(ref string) ([]float64, error) {
	j, err := t.Column(ref)
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(t.rows))
	for i, row := range t.rows {
		x, kind := parseNumber(clean(row[j]))
		if kind != finite {
			return nil, notFinite(t.cell(i, j), row[j])
		}
		values[i] = x
	}
	return values, nil
}

// cell is an Error that so far says only where cell (i, j) is.
func (t *Table) cell(i, j int) *Error {
	return &Error{File: t.file, Line: t.lines[i], Column: j + 1, ColumnName: t.columns[j]}
}

// notFinite completes an Error for a cell that should be a finite number.
func notFinite(at *Error, cell string) *Error {
	at.Msg = quote(cell) + " is not a finite number"
	at.Fix = "write a finite number, with a decimal point if it needs one"
	return at
}
