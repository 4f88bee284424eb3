package table

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxColumns is what the widest spreadsheet programs hold; a wider row is
	// more likely a mistake than a table.
	MaxColumns = 16384
	// maxRowBytes bounds the memory one row can take, so that an unclosed quote
	// does not swallow the file.
	MaxRowBytes = 16 << 20
	// chunkBytes is how much text is parsed at a time: long enough that handing it
	// over costs nothing, short enough to stay in the caches.
	chunkBytes = 256 << 10
)

// chunk is a run of whole rows of the text.
type chunk struct {
	text []byte
	line int // on which it begins
}

// splitter cuts text into chunks. A row ends at a line feed with an even number of
// quotes before it; where quotes are wrong the row with the first wrong one still
// begins right, and is where parsing stops.
type splitter struct {
	r     io.Reader
	file  string
	eager bool // give what has arrived, however little
	size  int  // bytes of a chunk otherwise
	line  int  // on which the rest begins
	rest  []byte
	err   error // to be given once the rows before it are
}

// next makes the next chunk, in the memory of buf if that is enough. At the end the
// error is io.EOF.
func (s *splitter) next(buf []byte) (chunk, error) {
	buf = append(buf[:0], s.rest...)
	cut, want := 0, s.size
	if s.eager {
		want = 1
		cut = rowsEnd(buf)
	}
	for cut == 0 && s.err == nil {
		for len(buf) < want && s.err == nil {
			var n int
			buf = slices.Grow(buf, max(want-len(buf), 4096))
			n, s.err = s.r.Read(buf[len(buf):cap(buf)])
			buf = buf[:len(buf)+n]
		}
		cut = rowsEnd(buf)
		if cut == 0 && len(buf) > MaxRowBytes {
			return chunk{}, (&Error{File: s.file, Line: s.line, Column: 1}).Say(
				`look for a quote (") that is not closed, line ends that are missing, or cases in columns`,
				"a row of more than %d MiB", MaxRowBytes>>20)
		}
		want = min(2*len(buf), MaxRowBytes+1)
		if s.eager {
			want = len(buf) + 1
		}
	}
	switch {
	case s.err == io.EOF && cut < len(buf):
		cut = len(buf) // the last row need not end in a line feed
	case s.err == io.EOF && len(buf) == 0:
		return chunk{}, io.EOF
	case s.err != nil && cut == 0:
		return chunk{}, cannotRead(s.file, s.line+bytes.Count(buf, []byte{'\n'}), s.err)
	}
	s.rest = append(s.rest[:0], buf[cut:]...)
	c := chunk{buf[:cut], s.line}
	s.line += bytes.Count(c.text, []byte{'\n'})
	return c, nil
}

// rowsEnd is where the last whole row of the text ends, 0 if there is none.
func rowsEnd(text []byte) int {
	quotes := bytes.Count(text, []byte{'"'})
	for end := len(text); ; {
		i := bytes.LastIndexByte(text[:end], '\n')
		if i < 0 {
			return 0
		}
		if quotes -= bytes.Count(text[i:end], []byte{'"'}); quotes%2 == 0 {
			return i + 1
		}
		end = i
	}
}

// rows goes through the rows of a chunk.
type rows struct {
	file      string
	separator byte
	width     int // cells in every row; 0 before the first is seen
	begin     int // line of the first row, if that is in a chunk seen here
	names     []string

	text  []byte
	pos   int // of the row to come
	at    int // line of that row
	cells []span
	more  int    // cells of the row beyond those, of which there are too many
	side  []byte // texts that are not in the chunk as they stand
	blank int    // line of an empty line that was skipped, 0 if none

	complete bool // the row read last is whole, if perhaps of the wrong width
}

// span is where a cell is, without white space around it.
type span struct {
	start, end int32
	aside      bool // in side rather than in text
}

// set begins with another chunk.
func (r *rows) set(c chunk) {
	r.text, r.pos, r.at, r.side = c.text, 0, c.line, r.side[:0]
}

// cell is the text of cell j of the row read last.
func (r *rows) cell(j int) []byte {
	s := r.cells[j]
	if s.aside {
		return r.side[s.start:s.end]
	}
	return r.text[s.start:s.end]
}

// next finds the cells of the next row and the line it begins on; 0 at the end of the
// chunk. Blank lines are skipped, except that in a file of one column an empty one
// within would be a lost cell.
func (r *rows) next() (line int, err error) {
	for r.pos < len(r.text) {
		line = r.at
		space, err := r.split()
		if r.complete = err == nil; err != nil {
			return 0, err
		}
		if space == emptyLine || space == whiteLine && r.width != 1 {
			if r.width == 1 && r.blank == 0 {
				r.blank = line
			}
			continue
		}
		if r.width == 0 {
			return line, r.checkFirst(line)
		}
		if len(r.cells) != r.width {
			return 0, r.ragged(line)
		}
		if r.width == 1 && r.blank > 0 {
			return 0, r.blankLine(r.blank)
		}
		return line, nil
	}
	return 0, nil
}

// space says how much of nothing a line is. One of white space is a missing cell where
// there is one column.
type space int

const (
	notBlank space = iota
	whiteLine
	emptyLine
)

// split finds the cells of one line, or of several where quotes go on.
func (r *rows) split() (blank space, err error) {
	r.cells, r.more = r.cells[:0], 0
	text, pos, sep := r.text, r.pos, r.separator
	begin := pos
	for {
		for pos < len(text) && (text[pos] == ' ' || text[pos] == '\t' && sep != '\t') {
			pos++
		}
		if pos < len(text) && text[pos] == '"' {
			if pos, err = r.quoted(pos, begin); err != nil {
				return 0, err
			}
		} else {
			start := pos
			for pos < len(text) && text[pos] != sep && text[pos] != '\n' && text[pos] != '"' {
				pos++
			}
			if pos < len(text) && text[pos] == '"' {
				return 0, r.bareQuote(pos - begin + 1)
			}
			r.add(trimmed(text, start, pos))
			if len(r.cells) == 1 && r.cells[0].start == r.cells[0].end {
				blank = whiteLine
				if pos == begin || pos == begin+1 && text[begin] == '\r' {
					blank = emptyLine
				}
			}
		}
		if pos == len(text) {
			break
		}
		pos++ // over the separator or the line feed
		if text[pos-1] == '\n' {
			r.at++
			break
		}
	}
	r.pos = pos
	if len(r.cells) > 1 {
		blank = notBlank
	}
	return blank, nil
}

// add takes a cell of the row. Beyond the columns that a table may have they are counted:
// what is known of them would take twelve times the text.
func (r *rows) add(s span) {
	if len(r.cells) > MaxColumns {
		r.more++
		return
	}
	r.cells = append(r.cells, s)
}

// trimmed is a span without white space around it.
func trimmed(text []byte, start, end int) span {
	for start < end && text[end-1] <= ' ' && isSpace(text[end-1]) {
		end--
	}
	for start < end && text[start] <= ' ' && isSpace(text[start]) {
		start++
	}
	if start < end && (text[start] >= utf8.RuneSelf || text[end-1] >= utf8.RuneSelf) {
		// White space beyond ASCII, such as a space that does not break.
		inner := bytes.TrimSpace(text[start:end])
		if len(inner) == 0 {
			return span{start: int32(start), end: int32(start)}
		}
		start += bytes.Index(text[start:end], inner)
		end = start + len(inner)
	}
	return span{start: int32(start), end: int32(end)}
}

func isSpace(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

// quoted reads a cell in quotes and the white space after it; begin is where the row
// begins.
func (r *rows) quoted(pos, begin int) (int, error) {
	text := r.text
	opened := r.at
	start, doubled := pos+1, false
	for pos = start; ; {
		k := bytes.IndexByte(text[pos:], '"')
		if k < 0 {
			return 0, r.unclosed(opened, "at the end of the file")
		}
		pos += k + 1
		if pos == len(text) || text[pos] != '"' {
			break
		}
		doubled = true
		pos++
	}
	inside := text[start : pos-1]
	feeds := bytes.Count(inside, []byte{'\n'})
	r.at += feeds
	if doubled || bytes.IndexByte(inside, '\r') >= 0 {
		from := len(r.side)
		plain := strings.NewReplacer(`""`, `"`, "\r\n", "\n").Replace(string(inside))
		r.side = append(r.side, plain...)
		s := trimmed(r.side, from, len(r.side))
		s.aside = true
		r.add(s)
	} else {
		r.add(trimmed(text, start, pos-1))
	}
	for pos < len(text) && text[pos] != r.separator && isSpace(text[pos]) && text[pos] != '\n' {
		pos++
	}
	if pos < len(text) && text[pos] != r.separator && text[pos] != '\n' {
		r.cells = r.cells[:len(r.cells)-1]
		return 0, r.unclosed(opened, fmt.Sprintf("on line %d", r.at))
	}
	return pos, nil
}

// checkFirst lets the first row set the width.
func (r *rows) checkFirst(line int) error {
	if len(r.cells) > MaxColumns {
		return r.place(line, MaxColumns+1).Say(
			"put cases in rows and what is known of them in columns, and leave out columns that are not needed",
			"the first row has %d columns, more than the %d that are read", len(r.cells)+r.more, MaxColumns)
	}
	for j := range r.cells {
		if bytes.IndexByte(r.cell(j), '\r') >= 0 {
			return r.place(line, j+1).Say("save the file with LF or CRLF line ends",
				"lines end in a carriage return without a line feed")
		}
	}
	r.width, r.begin = len(r.cells), line
	return nil
}

// ragged refuses a row of another width.
func (r *rows) ragged(line int) error {
	if r.begin > 0 && line <= r.begin+mostTitle && r.heads() {
		return (&Error{File: r.file, Line: line}).Say("leave out what is above it",
			"this line looks like the header: %s here and in the rows below, and %d in line %d", Plural(len(r.cells), "cell"), r.width, r.begin).
			By(skipAbove(line))
	}
	column := min(len(r.cells), r.width) + 1
	return r.place(line, column).Say(
		fmt.Sprintf("complete the row, quote cells that contain the separator %q, or give another separator", rune(r.separator)),
		"ragged row: %s where the first row has %d", Plural(len(r.cells)+r.more, "cell"), r.width).
		By(Way{Option: WaySeparator})
}

// mostTitle is how many lines a title may have.
const mostTitle = 20

// heads tells whether the row read last looks like a header: it has no numbers, and rows
// below it have as many cells.
func (r *rows) heads() bool {
	for j := range r.cells {
		if cell := r.cell(j); len(cell) == 0 || IsAmount(cell, '.') {
			return false
		}
	}
	below := rows{separator: r.separator, text: r.text, pos: r.pos}
	for n := 0; n < 3; {
		if below.pos >= len(below.text) {
			return n > 1
		}
		if blank, err := below.split(); err != nil || blank == notBlank && len(below.cells) != len(r.cells) {
			return false
		} else if blank == notBlank {
			n++
		}
	}
	return len(r.cells) > 1
}

func (r *rows) blankLine(line int) error {
	return r.place(line, 1).Say(`remove it, or write a missing cell as ""`,
		"blank line in a file of one column")
}

// checkText refuses what is not text, once a whole chunk is known to hold such bytes.
func (r *rows) checkText(line int) error {
	for j := range r.cells {
		at := r.place(line, j+1)
		switch cell := r.cell(j); {
		case !utf8.Valid(cell):
			at.Msg, at.Fix = "the text is not valid UTF-8", "save the file as UTF-8 text, or say what it is"
			at.Ways = []Way{{Option: WayEncoding, Value: string(Latin1), Meaning: "bytes as spreadsheets in western Europe write them"}}
			return at
		case bytes.IndexByte(cell, 0) >= 0:
			at.Msg, at.Fix = "NUL byte in the text", "save the file as UTF-8 text, or say what it is"
			at.Ways = []Way{{Option: WayEncoding, Value: string(UTF16), Meaning: "two bytes for every character"}}
			return at
		}
	}
	return nil
}

// quoteFix is what to do about quotes.
const quoteFix = `put the whole cell in quotes and double the quotes within ("")`

func (r *rows) bareQuote(at int) error {
	column := len(r.cells) + 1
	return r.place(r.at, column).Say(quoteFix,
		`quote (") inside a cell that does not begin with one, at byte %d of the row`, at)
}

func (r *rows) unclosed(opened int, where string) error {
	column := len(r.cells) + 1
	return r.place(opened, column).Say(quoteFix,
		"a quoted cell is not closed properly (noticed %s)", where)
}

// place is an Error that so far says only where a cell is.
func (r *rows) place(line, column int) *Error {
	return &Error{File: r.file, Line: line, Column: column, ColumnName: r.name(column)}
}

// name is the name of a column, counted from 1, if it has one.
func (r *rows) name(column int) string {
	if column > len(r.names) {
		return ""
	}
	return r.names[column-1]
}

// strings are the cells of the row as text.
func (r *rows) strings() []string {
	cells := make([]string, len(r.cells))
	for j := range cells {
		cells[j] = string(r.cell(j))
	}
	return cells
}
