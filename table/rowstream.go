package table

import (
	"bytes"
	"context"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/lossep/lossep/expr"
)

// Stream gives the rows of a table one after another, of a text or of a table that is stored
// by columns. Its memory does not grow with the table.
type Stream struct {
	*origin
	limits  Limits
	entered int // bytes of texts that rows so far are parts of

	source *splitter  // of a text
	rows   rows       // of a text
	now    *chunkText // the chunk being read
	odd    bool       // it holds bytes that are no text
	line   int        // where the row read last begins

	slabs *slabs // of a table that is stored by columns
}

// origin is what all rows of a stream have in common.
type origin struct {
	file    string
	names   []string // of the columns
	dialect dialect
}

// chunkText is what the cells of rows are parts of.
type chunkText struct{ text, side []byte }

// NewStream begins to read a text, in the same formats as Read, and has read its first row
// when it returns. It looks no further ahead than the first line, so that a slow pipe is served
// row by row. fit scores a first row by how well it suits what is expected; usual is the decimal
// separator to be taken where none is to be seen. Reading ends when the context does.
func NewStream(ctx context.Context, r io.Reader, name string, f Format, fit func(first []string) int, usual byte) (*Stream, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	in, err := openInput(ctx, r, name, &f, true)
	if err != nil {
		return nil, err
	}
	d := in.findDialect(&f, fit, usual)
	s := &Stream{
		origin: &origin{file: name, dialect: d}, limits: f.Limits,
		source: &splitter{r: in.text, file: name, eager: true, line: 1}, rows: rows{file: name, separator: d.separator},
	}
	err = s.Next()
	if bad, ok := err.(*RowError); ok {
		err = bad.Err
	}
	if err == io.EOF {
		err = emptyFile(name)
	}
	return s, err
}

// First are the cells of the row read last, by which a header is known.
func (s *Stream) First() (cells []string, line int) { return s.rows.strings(), s.line }

// Header makes the row read last the header, which names the columns.
func (s *Stream) Header() (names []string, err error) {
	return headerNames(s.file, s.line, s.rows.strings())
}

// HeaderAbove says that the header, read last, is no line of the file; see HeaderAbove of a Format.
func (s *Stream) HeaderAbove() {
	s.source.line--
	s.rows.at--
}

// LowerHeader is the refusal of a title above the row that names the columns, among the first that
// have arrived; nil if there is none.
func (s *Stream) LowerHeader(names func(cells []string) bool) error {
	for _, separator := range []byte(separators) {
		below := rows{separator: separator, text: s.rows.text, pos: s.rows.pos, at: s.rows.at}
		for range mostTitle {
			if below.pos >= len(below.text) {
				break
			}
			line := below.at
			if _, err := below.split(); err != nil {
				break
			}
			if names(below.strings()) {
				return (&Error{File: s.file, Line: line}).Say("leave out what is above it",
					"this line looks like the header: it names columns of the model, and line %d does not", s.line).
					By(skipAbove(line))
			}
		}
	}
	return nil
}

// Call sets what the columns are called in messages.
func (s *Stream) Call(names []string) { s.names, s.rows.names = names, names }

// NewSourceStream begins to read a table that is stored by columns. No column is read but those
// that Take names.
func NewSourceStream(ctx context.Context, source Source, f Format) (*Stream, error) {
	d, err := sourceDialect(source, &f)
	if err != nil {
		return nil, err
	}
	names, err := SourceNames(source)
	if err != nil {
		return nil, err
	}
	return &Stream{
		origin: &origin{file: source.Name(), names: names, dialect: d}, limits: f.Limits,
		slabs: &slabs{ctx: ctx, source: source, names: names, decimal: d.decimal, cells: f.Limits.withDefaults().Cells, size: firstSlab, group: -1},
	}, nil
}

// Take makes a column of a source one that is read.
func (s *Stream) Take(column int) error {
	if why := s.slabs.source.Columns()[column].Bad; why != "" {
		return &Error{File: s.file, Column: column + 1, ColumnName: s.names[column], Msg: why, Fix: "write the column plainly"}
	}
	s.slabs.read = append(s.slabs.read, column)
	return nil
}

// Names are those of the columns.
func (s *Stream) Names() []string { return slices.Clone(s.names) }

// SourceColumns are what a source says of its columns, nil of a text.
func (s *Stream) SourceColumns() []SourceColumn {
	if s.slabs == nil {
		return nil
	}
	return s.slabs.source.Columns()
}

// Decimal is what separates decimals.
func (s *Stream) Decimal() byte { return s.dialect.decimal }

// Entered is how many bytes the chunks of text have that the rows read so far are parts of.
func (s *Stream) Entered() int { return s.entered }

// RowError is a fault of one row, after which the next can be read.
type RowError struct {
	Err   *Error
	Line  int
	Cells []string
}

func (e *RowError) Error() string { return e.Err.Error() }

// Next moves to the next row and says whether there is one by io.EOF.
func (s *Stream) Next() error {
	if s.slabs != nil {
		before := s.slabs.now
		err := s.slabs.advance()
		if now := s.slabs.now; err == nil && now != before {
			s.entered += now.bytes
		}
		return err
	}
	for {
		if s.now != nil {
			line, err := s.rows.next()
			s.now.side = s.rows.side
			if err == nil && line > 0 && s.odd {
				err = s.rows.checkText(line)
			}
			s.line = line
			if located, ok := err.(*Error); ok && s.rows.complete {
				s.line = located.Line
				return &RowError{located, located.Line, s.rows.strings()}
			}
			if err != nil || line > 0 {
				return err
			}
		}
		c, err := s.source.next(nil)
		if err != nil {
			return err
		}
		s.rows.side = nil // rows that were given keep theirs
		s.rows.set(c)
		s.now = &chunkText{text: c.text}
		s.entered += len(c.text)
		s.odd = !utf8.Valid(c.text) || bytes.IndexByte(c.text, 0) >= 0
	}
}

// Check refuses a row beyond the limit, of which so many have been taken.
func (s *Stream) Check(taken int) error {
	most := s.limits.Rows
	if most == 0 || taken < most {
		return nil
	}
	row := s.Row()
	at := row.Place()
	limit := tooManyRows(at.File, at.Line, most).(*Error)
	limit.Row = at.Row
	return limit
}

// Row is a row of a stream as it stands there.
type Row struct {
	Line int // line of the file on which the row begins, or its number in a file without lines

	of    *origin
	chunk *chunkText // of a text
	spans []span     // of a text
	slab  *slab      // of a table that is stored by columns
	at    int        // where in it
}

// Row is the row read last.
func (s *Stream) Row() Row {
	row := Row{Line: s.line, of: s.origin}
	if s.slabs != nil {
		row.slab, row.at = s.slabs.now, s.slabs.at
		row.Line = row.slab.first + row.at
		return row
	}
	row.chunk, row.spans = s.now, slices.Clone(s.rows.cells)
	return row
}

// Place is an Error that so far says only where the row is.
func (r *Row) Place() *Error {
	if r.slab != nil {
		return &Error{File: r.slab.group.File, Row: r.Line}
	}
	return &Error{File: r.of.file, Line: r.Line}
}

// CellPlace is the place of a cell.
func (r *Row) CellPlace(j int) *Error {
	at := r.Place()
	at.Column, at.ColumnName = j+1, r.of.names[j]
	return at
}

// Cells are the cells of the row as they were in the file, without white space and
// quotes around them; those of columns that were not read are empty.
func (r *Row) Cells() []string {
	cells := make([]string, len(r.of.names))
	for j := range cells {
		cells[j] = string(r.Text(j))
	}
	return cells
}

// Pointed are the Cells with decimal points in their numbers; see Pointed.
func (r *Row) Pointed() []string { return Pointed(r.Cells(), r.Decimal()) }

// Cell is the cell of column j, as Cells has it.
func (r *Row) Cell(j int) string { return string(r.Text(j)) }

// Text is that of a cell.
func (r *Row) Text(j int) []byte {
	if r.slab != nil {
		return r.slab.text(r.at, j)
	}
	s := r.spans[j]
	if s.aside {
		return r.chunk.side[s.start:s.end]
	}
	return r.chunk.text[s.start:s.end]
}

// Decimal is what separates decimals in texts of the row.
func (r *Row) Decimal() byte { return r.of.dialect.decimal }

// Stored is the stored column that a cell is in, and where; nil of a text.
func (r *Row) Stored(j int) (c *Column, at int) {
	if r.slab == nil {
		return nil, 0
	}
	return r.slab.columns[j], r.at
}

// Number is the number in column j, plain or in a notation, which may be nil; of a missing cell the
// error is expr.ErrMissing.
func (r *Row) Number(j int, m *Markers, n *Notation) (float64, error) {
	if r.slab != nil {
		switch c := r.slab.columns[j]; {
		case c == nil:
			return 0, unreadColumn(r.CellPlace(j))
		case !IsText(c.At(r.at)) && !m.Number(c.At(r.at)):
			return c.At(r.at), nil
		}
	}
	cell := r.Text(j)
	x, kind := ParseNumber(cell, r.Decimal())
	switch {
	case m.Text(cell), kind == Finite && m.Number(x):
		return 0, expr.ErrMissing
	case kind == Finite || kind == Long:
		return x, nil
	}
	if n != nil {
		if x, ok := n.Parse(cell); ok {
			return x, nil
		}
	}
	at := notFinite(r.CellPlace(j), string(cell), r.Decimal())
	if n != nil && n.Unit != "" {
		at.Msg += " in " + n.Unit
	}
	return 0, at
}
