package table

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lossep/lossep/expr"
	"github.com/lossep/lossep/internal/indices"
)

// Table is a rectangle of cells, each a number or a text, that knows where each row
// came from. It holds columns of eight bytes a cell.
type Table struct {
	file    string
	header  bool
	dialect dialect
	columns []string
	cells   []*Column
	lines   lineIndex
	n       int
	rows    []int     // of the columns, if the table is a part of another
	counts  int       // the number from 1 of the column that rows are repeated by, 0 if they are not
	files   []fileRun // where rows come from, if not from lines of one text
	blank   []bool    // the columns that have no name in the header, if a text has one
	notes   []string  // what was found out about the text and may surprise
	room    Room      // for numbers, nil for the memory of the process
	owned   bool      // see Owned
}

// NamesOnly is a table of columns of which nothing is known but their names.
func NamesOnly(columns []string) *Table { return &Table{columns: columns, header: true} }

// Name is the name used in messages.
func (t *Table) Name() string { return t.file }

// HasHeader tells whether the columns were named by the file.
func (t *Table) HasHeader() bool { return t.header }

// Columns returns the names of the columns.
func (t *Table) Columns() []string { return slices.Clone(t.columns) }

// Len is the number of rows, the header not counted.
func (t *Table) Len() int { return t.n }

// Index is where row i is in the columns.
func (t *Table) Index(i int) int {
	if t.rows != nil {
		return t.rows[i]
	}
	return i
}

// At is the cell of row i and column j.
func (t *Table) At(i, j int) float64 { return t.cells[j].At(t.Index(i)) }

// gatheredRows is how many cells of a part of a table are gathered at a time.
const gatheredRows = 1024

// Stretches are the cells of column j in the order of the rows, many at a time, each with
// the row it begins with. What they lie in is used again.
func (t *Table) Stretches(j int) iter.Seq2[int, []float64] {
	c := t.cells[j]
	return func(yield func(int, []float64) bool) {
		if t.rows == nil {
			for k := range c.segments {
				if !yield(k*SegmentRows, c.Segment(k)) {
					return
				}
			}
			return
		}
		gathered := make([]float64, 0, min(len(t.rows), gatheredRows))
		for first := 0; first < len(t.rows); first += len(gathered) {
			gathered = gathered[:0]
			for _, place := range t.rows[first:min(len(t.rows), first+gatheredRows)] {
				gathered = append(gathered, c.At(place))
			}
			if !yield(first, gathered) {
				return
			}
		}
	}
}

// Row returns the cells of row i as text. Numbers are spelled the shortest way, which
// need not be how the file has them; cells of columns that were not read are empty.
func (t *Table) Row(i int) []string {
	row := make([]string, len(t.cells))
	for j, c := range t.cells {
		if !c.unread {
			row[j] = c.Text(t.At(i, j))
		}
	}
	return row
}

// Line is the line of the file on which row i begins, or its number among the rows of a
// file that has no lines.
func (t *Table) Line(i int) int { return t.lines.line(t.Index(i)) }

// fileRun is a file, and the first row of the table that comes from it.
type fileRun struct {
	row  int
	name string
}

// Place is an Error that so far says only where row i is.
func (t *Table) Place(i int) *Error {
	if t.files == nil {
		return &Error{File: t.file, Line: t.Line(i)}
	}
	k, found := slices.BinarySearchFunc(t.files, t.Index(i), func(f fileRun, row int) int { return cmp.Compare(f.row, row) })
	if !found {
		k-- // the run begins before
	}
	return &Error{File: t.files[k].name, Row: t.Line(i)}
}

// Subset is the table of the given rows, in the given order; cells are shared.
// It panics if an index is out of range.
func (t *Table) Subset(rows []int) *Table {
	s := *t
	s.n, s.rows = len(rows), make([]int, len(rows))
	for k, i := range rows {
		if i < 0 || i >= t.n {
			panic(fmt.Sprintf("table: row %d of %d", i, t.n))
		}
		s.rows[k] = t.Index(i)
	}
	return &s
}

// Named is the name of the column that Column finds, or the reference itself where there is none.
func (t *Table) Named(ref string) string {
	if j, err := t.Column(ref); err == nil {
		return t.columns[j]
	}
	return ref
}

// Column finds a column by its name, by its number from 1, as "last", or by a name that looks
// the same (see expr.Composed), in this order, and returns its index from 0.
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
	if j, ok := Alike(t.columns, ref); ok {
		return j, nil
	}
	e := (&Error{File: t.file, Line: t.HeaderLine(), ColumnName: ref}).Say(
		`give a name, a number from 1, or "last"`,
		"no such column; %scolumns (%d): %s", DidYouMean(ref, t.columns), len(t.columns), QuoteList(t.columns))
	if len(t.columns) == 1 && t.files == nil {
		e.Fix = "name it, or say what stands between the cells of more"
		e.Ways = []Way{{Option: WaySeparator}}
	}
	if line := t.lowerHeader(ref); line > 0 {
		e.Fix = "if line " + strconv.Itoa(line) + " is the header, leave out what is above it, or else " + e.Fix
		e.Ways = []Way{skipAbove(line)}
	}
	return 0, e
}

// Alike is the one of some names that looks like another, if there is one.
func Alike(names []string, other string) (int, bool) {
	other = expr.Composed(other)
	looks := func(name string) bool { return expr.Composed(name) == other }
	j := slices.IndexFunc(names, looks)
	return j, j >= 0 && !slices.ContainsFunc(names[j+1:], looks)
}

// lowerHeader is the line of the row of nothing but texts, among the first ones, that has a
// text as a cell, where a title may stand above the names of the columns; 0 if there is
// none.
func (t *Table) lowerHeader(text string) int {
	for i := range min(t.n, mostTitle) {
		row := t.Row(i)
		isNumber := func(cell string) bool {
			_, ok := Number(cell)
			return ok
		}
		if t.files == nil && slices.Contains(row, text) && !slices.ContainsFunc(row, isNumber) {
			return t.Line(i)
		}
	}
	return 0
}

// Unit is what is counted to say where a row is.
func (t *Table) Unit() string {
	if t.files == nil {
		return "line"
	}
	return "row"
}

// HeaderLine is the line of the text that names the columns, 0 if there is none.
func (t *Table) HeaderLine() int {
	if t.header && t.files == nil {
		return 1
	}
	return 0
}

// Instead says what a name that is none of some might have been meant for, and lists them.
func Instead(text string, names []string) string {
	return DidYouMean(text, names) + "there are " + QuoteList(names)
}

// DidYouMean asks about the names that differ from a text in case, in white space and
// signs, or in one or two letters.
func DidYouMean(text string, names []string) string {
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune(" _-.\t", r) {
				return -1
			}
			return r
		}, strings.ToLower(s))
	}
	var near []string
	for _, name := range names {
		a, b := plain(text), plain(name)
		most := min(2, (len(a)-1)/3) // short names are all near each other
		if a == b || most > 0 && len(a) < 100 && len(b) < 100 && Distance(a, b) <= most {
			near = append(near, Quote(name))
		}
	}
	if len(near) == 0 || len(near) > 3 {
		return ""
	}
	return fmt.Sprintf("did you mean %s? ", strings.Join(near, " or "))
}

// Distance counts the letters to be inserted, left out or replaced to make a of b.
func Distance(a, b string) int {
	row := indices.Of(len(b) + 1)
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// CellPlace is an Error that so far says only where cell (i, j) is.
func (t *Table) CellPlace(i, j int) *Error {
	at := t.Place(i)
	at.Column, at.ColumnName = j+1, t.columns[j]
	return at
}

// ColumnPlace is an Error that so far says only which column it is about.
func (t *Table) ColumnPlace(j int) *Error {
	return &Error{File: t.file, Column: j + 1, ColumnName: t.columns[j]}
}

// Width is the number of columns.
func (t *Table) Width() int { return len(t.columns) }

// ColumnName is the name of column j.
func (t *Table) ColumnName(j int) string { return t.columns[j] }

// Cells are those of column j, of the table that this may be a part of; Index says where a row is.
func (t *Table) Cells(j int) *Column { return t.cells[j] }

// IsWhole tells whether rows are in the columns in order, and not some of them.
func (t *Table) IsWhole() bool { return t.rows == nil }

// Nameless tells whether column j has no name in the header of a text.
func (t *Table) Nameless(j int) bool { return t.blank != nil && t.blank[j] }

// Decimal is what separates decimals.
func (t *Table) Decimal() byte { return t.dialect.decimal }

// Format is how a text was read, so that others can be read in the same way.
func (t *Table) Format() Format {
	f := Format{Header: HeaderNo, Separator: string(rune(t.dialect.separator)), Decimal: string(rune(t.dialect.decimal))}
	if t.header {
		f.Header = HeaderYes
	}
	return f
}

// UnsureDecimal tells whether nothing in the text shows what separates decimals, and gives a
// number of column j that could be one of thousands, if there is one.
func (t *Table) UnsureDecimal(j int) (doubt string, unsure bool) {
	return t.dialect.doubt[j], !t.dialect.sure
}

// Owned is the table for one who alone reads it: whoever encodes its rows may hold cells in another form, in less
// memory.
func (t *Table) Owned() *Table {
	s := *t
	s.owned = true
	return &s
}

// Holds tells whether cells may be held in another form: the table is owned, and is all of its columns, which are in
// the memory of the process.
func (t *Table) Holds() bool { return t.owned && t.rows == nil && t.room == nil }

// Room is where many numbers of the table go, nil for the memory of the process.
func (t *Table) Room() Room { return t.room }

// Notes are what was found out about the text and may surprise.
func (t *Table) Notes() []string { return slices.Clone(t.notes) }

// Noting is the table with one more note.
func (t *Table) Noting(note string) *Table {
	s := *t
	s.notes = append(slices.Clone(t.notes), note)
	return &s
}

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
	s.notes = append(slices.Clone(t.notes), fmt.Sprintf("frequency column %s: %s, %s", Quote(t.columns[j]), Plural(kinds, "distinct row"), Plural(len(rows), "case")))
	return s, nil
}

// Counted tells whether rows come as often as a column says, see Repeated: rows that are the same
// are different cases then, and no copies.
func (t *Table) Counted() bool { return t.counts > 0 }

// CountColumn is the number of the column that rows come as often as it says, −1 if there is none.
func (t *Table) CountColumn() int { return t.counts - 1 }

// Once is the table with every row that is repeated once, in order.
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
