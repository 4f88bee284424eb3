package data

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	// maxColumns is what the widest spreadsheet programs hold; a wider row is
	// more likely a mistake than a table.
	maxColumns = 16384
	// maxRowBytes bounds the memory one row can take, so that an unclosed quote
	// does not swallow the file.
	maxRowBytes = 16 << 20
	// sampleBytes is how much of the file the delimiter is judged by.
	sampleBytes = 64 << 10
)

// records reads the rows of a text table one at a time and checks each: the
// same number of cells in every row, valid UTF-8, no NUL bytes.
type records struct {
	file  string
	csv   *csv.Reader
	bound *boundedReader
	width int      // cells in every row; 0 before the first
	names []string // names of the columns, once they are known
	line  int      // last line of the row read last
}

// newRecords recognises compression, byte-order mark and delimiter. A stream
// is judged by what arrives up to its first line end, so that the first rows of
// a slow pipe are not held up; fit is described at detectDelimiter.
func newRecords(r io.Reader, file string, stream bool, fit func(first []string) int) (*records, error) {
	plain, err := decompress(r, file)
	if err != nil {
		return nil, err
	}
	head, _ := plain.Peek(3)
	switch {
	case bytes.Equal(head, []byte("\xEF\xBB\xBF")):
		if _, err := plain.Discard(len(head)); err != nil {
			return nil, err
		}
	case bytes.HasPrefix(head, []byte("\xFF\xFE")), bytes.HasPrefix(head, []byte("\xFE\xFF")):
		return nil, &Error{
			File: file, Line: 1, Column: 1,
			Msg: "the text is UTF-16", Fix: "save it as UTF-8",
		}
	}
	sample, complete := peekSample(plain, stream)
	bound := &boundedReader{r: plain}
	return &records{
		file:  file,
		csv:   newCSV(bound, detectDelimiter(sample, complete, fit)),
		bound: bound,
	}, nil
}

// decompress looks for the two magic bytes of gzip.
func decompress(r io.Reader, file string) (*bufio.Reader, error) {
	plain := bufio.NewReaderSize(r, sampleBytes)
	if magic, _ := plain.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return plain, nil
	}
	unzipped, err := gzip.NewReader(plain)
	if err != nil {
		return nil, &Error{File: file, Msg: "broken gzip data: " + err.Error(), Fix: "compress the file again", Err: err}
	}
	return bufio.NewReaderSize(unzipped, sampleBytes), nil
}

// peekSample looks ahead without consuming and reports whether the sample is
// all there is. For a stream it stops as soon as it has a line end.
func peekSample(r *bufio.Reader, stream bool) (sample []byte, complete bool) {
	// Peeking one byte beyond what is buffered makes the buffer read once more.
	for want := 1; want <= r.Size(); want = r.Buffered() + 1 {
		if _, err := r.Peek(want); err != nil {
			sample, _ = r.Peek(r.Buffered())
			return sample, errors.Is(err, io.EOF)
		}
		sample, _ = r.Peek(r.Buffered())
		if stream && bytes.IndexByte(sample, '\n') >= 0 {
			break
		}
	}
	return sample, false
}

// next returns the next row and the line it begins on, or io.EOF. Blank lines
// are skipped, except that in a file of one column they would be lost cells.
func (r *records) next() (row []string, line int, err error) {
	for {
		row, err = r.csv.Read()
		if err == io.EOF {
			return nil, 0, io.EOF
		}
		if err != nil {
			return nil, 0, r.located(err, len(row))
		}
		r.bound.used = 0
		line, _ = r.csv.FieldPos(0)
		if !isBlank(row) || r.width == 1 {
			break
		}
	}
	if r.width == 0 {
		err = r.checkFirst(row, line)
	} else {
		err = r.checkNext(row, line)
	}
	if err == nil {
		err = r.checkText(row)
	}
	if err != nil {
		return nil, 0, err
	}
	// A quoted last cell may go on for several lines.
	last := len(row) - 1
	lastLine, _ := r.csv.FieldPos(last)
	r.line = lastLine + strings.Count(row[last], "\n")
	return row, line, nil
}

// isBlank recognises a line of nothing but white space.
func isBlank(row []string) bool { return len(row) == 1 && clean(row[0]) == "" }

// checkFirst lets the first row set the width.
func (r *records) checkFirst(row []string, line int) error {
	if len(row) > maxColumns {
		return &Error{
			File: r.file, Line: line, Column: maxColumns + 1,
			Msg: fmt.Sprintf("the first row has %d columns, more than the %d that are read", len(row), maxColumns),
			Fix: "put cases in rows and what is known of them in columns, and leave out columns that are not needed",
		}
	}
	for j, cell := range row {
		if strings.ContainsRune(cell, '\r') {
			return &Error{
				File: r.file, Line: line, Column: j + 1,
				Msg: "lines end in a carriage return without a line feed", Fix: "save the file with LF or CRLF line ends",
			}
		}
	}
	r.width = len(row)
	return nil
}

// checkNext holds every further row to that width.
func (r *records) checkNext(row []string, line int) error {
	if len(row) != r.width {
		column := min(len(row), r.width) + 1
		return &Error{
			File: r.file, Line: line, Column: column, ColumnName: r.name(column),
			Msg: fmt.Sprintf("ragged row: %s where the first row has %d", plural(len(row), "cell"), r.width),
			Fix: fmt.Sprintf("complete the row, and quote cells that contain the delimiter %q", r.csv.Comma),
		}
	}
	if r.width == 1 && line != r.line+1 {
		return &Error{
			File: r.file, Line: r.line + 1, Column: 1, ColumnName: r.name(1),
			Msg: "blank line in a file of one column", Fix: `remove it, or write a missing cell as ""`,
		}
	}
	return nil
}

// checkText refuses what is not UTF-8 text.
func (r *records) checkText(row []string) error {
	for j, cell := range row {
		var msg string
		switch {
		case !utf8.ValidString(cell):
			msg = "the text is not valid UTF-8"
		case strings.IndexByte(cell, 0) >= 0:
			msg = "NUL byte in the text"
		default:
			continue
		}
		line, _ := r.csv.FieldPos(j)
		return &Error{
			File: r.file, Line: line, Column: j + 1, ColumnName: r.name(j + 1),
			Msg: msg, Fix: "save the file as UTF-8 text",
		}
	}
	return nil
}

// located says where reading failed, given how many cells of the row were read
// before it did.
func (r *records) located(err error, cells int) error {
	var parse *csv.ParseError
	switch {
	case errors.Is(err, errLongRow):
		return &Error{
			File: r.file, Line: r.line + 1, Column: 1, ColumnName: r.name(1),
			Msg: fmt.Sprintf("a row of more than %d MiB", maxRowBytes>>20), Fix: `look for a quote (") that is not closed`, Err: err,
		}
	case errors.As(err, &parse):
		// encoding/csv returns the cells before the one it failed in.
		e := &Error{
			File: r.file, Line: parse.Line, Column: cells + 1, ColumnName: r.name(cells + 1), Err: err,
			Msg: fmt.Sprintf(`quote (") inside a cell that does not begin with one, at byte %d of the line`, parse.Column),
			Fix: `put the whole cell in quotes and double the quotes within ("")`,
		}
		if errors.Is(err, csv.ErrQuote) {
			e.Line = parse.StartLine
			e.Msg = fmt.Sprintf("a quoted cell is not closed properly (noticed on line %d)", parse.Line)
		}
		return e
	}
	return &Error{File: r.file, Line: r.line + 1, Msg: "cannot read on: " + err.Error(), Err: err}
}

// name is the name of a column, counted from 1, if it has one.
func (r *records) name(column int) string {
	if column > len(r.names) {
		return ""
	}
	return r.names[column-1]
}

var errLongRow = errors.New("row too long")

// boundedReader fails when more than maxRowBytes are read without its user
// resetting the count, which records does after every row.
type boundedReader struct {
	r    io.Reader
	used int
}

// Read passes on to the reader below while the row is not too long.
func (b *boundedReader) Read(p []byte) (int, error) {
	if b.used > maxRowBytes {
		return 0, errLongRow
	}
	n, err := b.r.Read(p)
	b.used += n
	return n, err
}
