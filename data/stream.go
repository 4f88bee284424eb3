package data

import (
	"bytes"
	"context"
	"io"
	"slices"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"
)

// Reader encodes the rows of a file one block at a time. It holds one block,
// however long the file is.
type Reader struct {
	source  *splitter // of a text
	rows    rows      // of a text
	slabs   *slabs    // of a table that is stored by columns
	dialect dialect
	limits  Limits
	bound   *binding
	encoder *Encoder
	column  []int // of the recipe for each of the file, or −1
	report  *Report
	skip    func(Bad)

	now     *chunkText // the chunk being read
	odd     bool       // it holds bytes that are no text
	pending bool       // the row read last has not been given yet
	last    int        // rows of the last block
	size    int        // bytes of texts of the chunk or slab being read
	held    int        // of all that the block under way refers to
	line    int        // where it begins
	n       int        // rows given
	failure error      // to be returned once the rows before it are
}

// chunkText is what the cells of rows are parts of.
type chunkText struct{ text, side []byte }

// Bad is a row that cannot be encoded.
type Bad struct {
	Line  int
	Cells []string
	Err   error
}

// NewReader begins to read new rows: in the same formats as Read, with the
// columns in any order if the file names them. It looks no further ahead than
// the first line, so that a slow pipe is served row by row. Reading ends when the
// context does.
//
// With HeaderAuto the first row is a header if the training file had one, or
// if it holds the names or words where the recipe has numbers.
func NewReader(ctx context.Context, r io.Reader, name string, recipe *Recipe, f Format) (*Reader, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	in, err := openInput(ctx, r, name, &f, true)
	if err != nil {
		return nil, err
	}
	usual := byte('.')
	if recipe.Decimal != "" {
		usual = recipe.Decimal[0]
	}
	d := in.findDialect(&f, recipe.fit, usual)
	rd := &Reader{
		source: &splitter{r: in.text, file: name, eager: true, line: 1}, dialect: d, limits: f.Limits,
		rows: rows{file: name, separator: d.separator},
	}
	if err := rd.advance(); err != nil {
		if bad, ok := err.(*rowError); ok {
			err = bad.Err
		}
		if err == io.EOF {
			err = emptyFile(name)
		}
		return nil, err
	}
	first := rd.rows.strings()
	isHeader := f.Header == HeaderYes || f.Header == HeaderAbove || f.Header != HeaderNo && recipe.looksLikeHeader(first)
	names := generatedNames(len(first))
	if isHeader {
		if names, err = headerNames(name, rd.line, first); err != nil {
			return nil, err
		}
	}
	if err := rd.bind(recipe, name, rd.line, names, isHeader); err != nil {
		return nil, err
	}
	if f.Header == HeaderAbove {
		rd.source.line--
		rd.rows.at--
	}
	rd.rows.names = rd.bound.names
	rd.pending = !isHeader
	return rd, nil
}

// bind finds the columns of the recipe.
func (rd *Reader) bind(recipe *Recipe, name string, line int, names []string, header bool) (err error) {
	if rd.bound, err = recipe.bind(name, line, names, header); err != nil {
		return err
	}
	rd.encoder, rd.report = recipe.NewEncoder(), newReport(rd.bound)
	rd.column = slices.Repeat([]int{-1}, len(names))
	for i, j := range rd.bound.source {
		if j >= 0 && recipe.Columns[i].isFeature() {
			rd.column[j] = i
		}
	}
	return nil
}

// Skip makes the reader hand rows that cannot be encoded to bad and go on after them,
// in place of ending with an error. Faults of the text as a whole, such as a quote that
// is not closed, still end it.
func (rd *Reader) Skip(bad func(Bad)) { rd.skip = bad }

// Skips tells whether rows that cannot be encoded are passed over.
func (rd *Reader) Skips() bool { return rd.skip != nil }

// Discard takes a row out of a block for an error that was found later, if the reader
// passes over such rows, and reports whether it does.
func (rd *Reader) Discard(b *Block, row int, err error) bool {
	if rd.skip == nil || row < 0 || row >= len(b.Rows) {
		return false
	}
	bad := &b.Rows[row]
	rd.report.discard(bad)
	rd.skip(Bad{Line: bad.Line, Cells: bad.Cells(), Err: err})
	b.Rows = slices.Delete(b.Rows, row, row+1)
	if len(b.Rows) == 0 {
		b.X = new(mat.Dense)
		return true
	}
	x := mat.NewDense(len(b.Rows), rd.bound.recipe.Dim(), nil)
	for i := range b.Rows {
		x.SetRow(i, b.Rows[i].Features)
		b.Rows[i].Features = x.RawRowView(i)
	}
	b.X = x
	return true
}

// Identity is the name of the column that names the rows, if the file has it.
func (rd *Reader) Identity() (name string, ok bool) {
	j := rd.bound.identity()
	if j < 0 {
		return "", false
	}
	return rd.bound.names[j], true
}

// identity is the file's column that names the rows, or −1.
func (b *binding) identity() int {
	for i := range b.recipe.Columns {
		if b.recipe.Columns[i].Kind == Identity {
			return b.source[i]
		}
	}
	return -1
}

// Identity is the name of the row, empty if the file has none.
func (r *Row) Identity() string {
	if j := r.bound.identity(); j >= 0 {
		return string(r.cell(j))
	}
	return ""
}

// Unusual names the columns in which the row is unlike the training rows: a category
// they did not have, or a number far outside theirs.
func (r *Row) Unusual() []string { return append(slices.Clone(r.Unseen), r.Far...) }

// fit scores how well a first row suits the recipe: by the names it holds, or
// by having the right number of cells and how many of them can be encoded.
func (r *Recipe) fit(first []string) int {
	named := r.matches(first)
	b, err := r.bind("", 0, generatedNames(len(first)), false)
	if err != nil {
		return named
	}
	score := 1
	for i := range r.Columns {
		c := &r.Columns[i]
		if !c.isFeature() {
			continue
		}
		cell := bytesOf(first[b.source[i]])
		if c.Kind != Presence && b.fields[i].text(cell, '.').state == known || c.Kind == Numeric && b.fields[i].text(cell, ',').state == known {
			score++
		}
	}
	return max(named, score)
}

// looksLikeHeader judges the first row of a new file by what the recipe knows
// of its columns.
func (r *Recipe) looksLikeHeader(first []string) bool {
	if r.Header || r.matches(first) == r.needed() {
		return true
	}
	b, err := r.bind("", 0, generatedNames(len(first)), false)
	if err != nil {
		return false // bind will say so again, with the place
	}
	words, amounts := 0, 0
	for i := range r.Columns {
		if k := r.Columns[i].Kind; k != Numeric && k != Date {
			continue
		}
		cell := bytesOf(first[b.source[i]])
		switch {
		case isAmount(cell, '.'):
			amounts++
		case !b.fields[i].markers.text(cell):
			words++
		}
	}
	return words > amounts
}

// Columns names the columns of the file: as its header does, or as the training
// file did.
func (rd *Reader) Columns() []string { return slices.Clone(rd.bound.names) }

// HasTarget tells whether the file has the outcome.
func (rd *Reader) HasTarget() bool { return rd.bound.target >= 0 || rd.bound.condition != nil }

// Report counts what the recipe had not seen in the rows read so far.
func (rd *Reader) Report() *Report { return rd.report }

// Block is a run of encoded rows.
type Block struct {
	X    *mat.Dense // one row of features for each of Rows
	Rows []Row
}

// Row is one row of a file, encoded and as it was.
type Row struct {
	Features []float64 // shares memory with the Block's X
	Line     int       // line of the file on which the row begins, or its number in a file without lines
	Unseen   []string  // columns whose category was not in the training rows
	Far      []string  // columns whose value is far outside those of the training rows

	bound   *binding
	decimal byte
	chunk   *chunkText // of a text
	spans   []span     // of a text
	slab    *slab      // of a table that is stored by columns
	at      int        // where in it
}

// Place is an Error that so far says only where the row is.
func (r *Row) Place() *Error {
	if r.slab != nil {
		return &Error{File: r.slab.group.File, Row: r.Line}
	}
	return &Error{File: r.bound.file, Line: r.Line}
}

// rowError is a fault of one row, after which the next can be read.
type rowError struct{ Err *Error }

func (e *rowError) Error() string { return e.Err.Error() }

// advance moves to the next row of the file and says whether there is one by io.EOF.
func (rd *Reader) advance() error {
	if rd.slabs != nil {
		before := rd.slabs.now
		err := rd.slabs.advance()
		if now := rd.slabs.now; err == nil && now != before {
			rd.enter(now.bytes)
		}
		return err
	}
	for {
		if rd.now != nil {
			line, err := rd.rows.next()
			rd.now.side = rd.rows.side
			if err == nil && line > 0 && rd.odd {
				err = rd.rows.checkText(line)
			}
			rd.line = line
			if located, ok := err.(*Error); ok && rd.rows.complete {
				rd.line = located.Line
				return &rowError{located}
			}
			if err != nil || line > 0 {
				return err
			}
		}
		c, err := rd.source.next(nil)
		if err != nil {
			return err
		}
		rd.rows.side = nil // rows that were given keep theirs
		rd.rows.set(c)
		rd.now = &chunkText{text: c.text}
		rd.enter(len(c.text))
		rd.odd = !utf8.Valid(c.text) || bytes.IndexByte(c.text, 0) >= 0
	}
}

// ReadBlock reads up to n rows, fewer only at the end of the file, where their texts
// take much memory, or before a row that cannot be encoded; the rows before such a row
// are returned first and the error with the next call. At the end the error is io.EOF.
// Blocks are independent of each other.
func (rd *Reader) ReadBlock(n int) (*Block, error) {
	if n < 1 {
		panic("data: ReadBlock of no rows")
	}
	d := rd.bound.recipe.Dim()
	var block Block
	// Memory grows with the rows that are there, not with the n asked for: the next block
	// is likely to be as long as the last.
	block.Rows = make([]Row, 0, min(n, rd.last))
	features := make([]float64, 0, cap(block.Rows)*d)
	rd.held = rd.size
	for len(block.Rows) < n && rd.failure == nil {
		if !rd.pending {
			before := rd.held
			err := rd.advance()
			if bad, ok := err.(*rowError); ok {
				if err = bad.Err; rd.skip != nil {
					rd.skip(Bad{Line: rd.line, Cells: rd.rows.strings(), Err: err})
					continue
				}
			}
			if rd.failure = err; err != nil {
				break
			}
			if rd.held > before && rd.held > blockBytes && len(block.Rows) > 0 {
				rd.pending = true
				break
			}
		}
		rd.pending = false
		if most := rd.limits.Rows; most > 0 && rd.n == most {
			row := rd.current()
			rd.failure = row.tooMany(most)
			break
		}
		start := len(features)
		features = append(features, make([]float64, d)...)
		row, err := rd.encode(features[start:])
		if err != nil {
			features = features[:start]
			if rd.skip != nil {
				rd.skip(Bad{Line: row.Line, Cells: row.Cells(), Err: err})
				continue
			}
			rd.failure = err
			break
		}
		rd.n++
		block.Rows = append(block.Rows, row)
	}
	if len(block.Rows) == 0 {
		return nil, rd.failure
	}
	rd.last = len(block.Rows)
	// The rows can point into the matrix only now that it has stopped growing.
	block.X = mat.NewDense(len(block.Rows), d, features)
	for i := range block.Rows {
		block.Rows[i].Features = block.X.RawRowView(i)
	}
	return &block, nil
}

// encode encodes the row read last.
func (rd *Reader) encode(dst []float64) (Row, error) {
	e := rd.encoder
	e.Begin(dst)
	row := rd.current()
	for j, i := range rd.column {
		switch {
		case i < 0:
		case row.slab != nil:
			e.note(i, row.slab.reading(row.at, j, &e.fields[i], rd.dialect.decimal))
		default:
			e.text(i, rd.rows.cell(j), rd.dialect.decimal)
		}
	}
	var err error
	if row.Unseen, err = e.End(); err != nil {
		located := err.(*Error)
		j, missing := rd.bound.column(located.ColumnName)
		if missing != nil {
			return row, missing
		}
		at := row.cellPlace(j)
		at.Msg, at.Fix, at.Ways = located.Msg, located.Fix, located.Ways
		return row, at
	}
	row.Far = e.Far()
	rd.report.Rows++
	for _, name := range row.Unseen {
		j, _ := rd.bound.column(name)
		rd.report.addUnseen(Unseen{Column: name, Cells: 1, Example: beginning(row.cell(j))})
	}
	for _, name := range row.Far {
		rd.report.addFar(Far{Column: name, Cells: 1})
	}
	return row, nil
}

// current is the row read last, not yet encoded.
func (rd *Reader) current() Row {
	row := Row{Line: rd.line, bound: rd.bound, decimal: rd.dialect.decimal}
	if rd.slabs != nil {
		row.slab, row.at = rd.slabs.now, rd.slabs.at
		row.Line = row.slab.first + row.at
		return row
	}
	row.chunk, row.spans = rd.now, slices.Clone(rd.rows.cells)
	return row
}

func (r *Row) tooMany(most int) error {
	at := r.Place()
	limit := tooManyRows(at.File, at.Line, most).(*Error)
	limit.Row = at.Row
	return limit
}

// cellPlace is the place of a cell of the file's column j.
func (r *Row) cellPlace(j int) *Error {
	at := r.Place()
	at.Column, at.ColumnName = j+1, r.bound.names[j]
	return at
}

// Cells are the cells of the row as they were in the file, without white space and
// quotes around them; those of columns that were not read are empty.
func (r *Row) Cells() []string {
	cells := make([]string, len(r.bound.names))
	for j := range cells {
		cells[j] = string(r.cell(j))
	}
	return cells
}

// Cell is the cell of the file's column j, as Cells has it.
func (r *Row) Cell(j int) string { return string(r.cell(j)) }

func (r *Row) cell(j int) []byte {
	if r.slab != nil {
		return r.slab.text(r.at, j)
	}
	s := r.spans[j]
	if s.aside {
		return r.chunk.side[s.start:s.end]
	}
	return r.chunk.text[s.start:s.end]
}

// Value is the number in the named column of the row, before any
// standardisation and whether or not the column makes features: the amount at
// stake in this case, for example.
func (r *Row) Value(column string) (float64, error) {
	j, err := r.bound.column(column)
	if err != nil {
		return 0, err
	}
	x, err := r.value(j)
	if err == errMissingPart {
		err = missingNumber(r.cellPlace(j))
	}
	return x, err
}

// value is the number in column j of the file; of a missing cell the error is errMissingPart.
func (r *Row) value(j int) (float64, error) {
	m := r.bound.markers[j]
	if r.slab != nil {
		switch c := r.slab.columns[j]; {
		case c == nil:
			at := r.cellPlace(j)
			at.Msg, at.Fix = "the column was left out and has not been read", "do not leave it out"
			return 0, at
		case !isWord(c.at(r.at)) && !m.number(c.at(r.at)):
			return c.at(r.at), nil
		}
	}
	cell := r.cell(j)
	x, kind := parseNumber(cell, r.decimal)
	switch {
	case m.text(cell), kind == finite && m.number(x):
		return 0, errMissingPart
	case kind == finite || kind == long:
		return x, nil
	}
	for i := range r.bound.recipe.Columns {
		if c := &r.bound.recipe.Columns[i]; r.bound.source[i] == j && c.Notation != nil {
			if x, ok := c.Notation.parse(cell); ok {
				return x, nil
			}
		}
	}
	return 0, notFinite(r.cellPlace(j), string(cell))
}
