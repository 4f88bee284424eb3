package table

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"unicode/utf8"

	"github.com/lossep/lossep/internal/tasks"
)

// Read reads a whole table of text. Separator, encoding, decimal separator and
// compression (gzip, bzip2) are recognised where the format does not give them; name
// is used in messages only. Columns of a table without a header are called c1, c2, …
//
// The text is parsed in chunks on all processors into typed columns of eight bytes a
// cell; what is read does not depend on their number. Reading ends with an error at the
// format's limits, and when the context ends.
func Read(ctx context.Context, r io.Reader, name string, f Format) (*Table, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	f.Limits = f.Limits.withDefaults()
	in, err := openInput(ctx, r, name, &f, false)
	if err != nil {
		return nil, err
	}
	b := &builder{
		table:  &Table{file: name, dialect: in.findDialect(&f, nil, 0)},
		limits: f.Limits,
		source: &splitter{r: in.text, file: name, size: chunkBytes, line: 1},
	}
	if in.latin {
		b.table.notes = append(b.table.notes, "the text is not UTF-8; it was read as Latin-1 (Windows-1252)")
	}
	if err := b.begin(f.Header); err != nil {
		return nil, err
	}
	if err := b.rest(ctx); err != nil {
		return nil, err
	}
	return b.finish()
}

// builder puts a table together from chunks.
type builder struct {
	table  *Table
	limits Limits
	source *splitter
	blank  int  // line of an empty line at the end of the chunk before
	named  bool // it is known that the first row names the columns
}

// begin reads chunks up to the one with the first row, which is judged by the rows that
// follow it there.
func (b *builder) begin(header Header) error {
	t := b.table
	p := b.newParser(0)
	for p.n == 0 {
		c, err := b.source.next(nil)
		if err == io.EOF {
			return emptyFile(t.file)
		}
		if err != nil {
			return err
		}
		p.parse(c)
		if p.err != nil && p.n == 0 {
			return p.err
		}
	}
	first := make([]string, len(p.values))
	for j, cell := range p.firstRow {
		first[j] = string(cell)
	}
	line := p.lines[0]
	if header == "" || header == HeaderAuto || header == HeaderExpected {
		if k := p.paddedTitle(); k > 0 {
			return (&Error{File: t.file, Line: p.lines[k]}).Say(
				"leave out what is above it, or say what the first line is",
				"this line looks like the header: no cell is empty here, and some are in line %d", line).
				By(skipAbove(p.lines[k]), Way{Option: WayHeader, Value: string(HeaderYes), Meaning: "the header"}, Way{Option: WayHeader, Value: string(HeaderNo), Meaning: "a row"})
		}
	}
	t.columns = GeneratedNames(len(first))
	b.named = header == HeaderYes || header == HeaderAbove || header == HeaderExpected
	t.header = b.named || header != HeaderNo && p.looksLikeHeader(0)
	if t.header {
		var err error
		if t.columns, err = headerNames(t.file, line, first); err != nil {
			return err
		}
		t.notes = append(t.notes, namelessNotes(first)...)
		for _, cell := range first {
			t.blank = append(t.blank, cell == "")
		}
		p.dropFirst()
	}
	if header == HeaderAbove {
		b.source.line--
		for k := range p.lines {
			p.lines[k]--
		}
	}
	t.cells = make([]*Column, len(first))
	for j := range t.cells {
		t.cells[j] = new(Column)
	}
	if err := b.take(p); err != nil {
		if located, ok := err.(*Error); ok && t.header && located.Column > 0 && located.Column <= len(t.columns) {
			located.ColumnName = t.columns[located.Column-1]
		}
		return err
	}
	return nil
}

// rest parses all further chunks, on all processors.
func (b *builder) rest(ctx context.Context) error {
	workers := runtime.GOMAXPROCS(0)
	work := make(chan *parser)
	order := make(chan *parser, workers+1) // begun, in the order of the file
	free := make(chan *parser, workers+2)
	quit := make(chan struct{})
	defer close(quit)
	for range workers + 2 {
		free <- b.newParser(len(b.table.columns))
	}
	for range workers {
		go func() {
			for p := range work {
				p.run()
			}
		}()
	}
	go b.read(free, work, order, quit) // nobody waits for it, since a pipe may never give anything
	for {
		select {
		case p, more := <-order:
			if !more {
				return nil
			}
			<-p.done
			if err := b.take(p); err != nil {
				return err
			}
			p.done = make(chan struct{})
			free <- p
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// read hands the chunks of the file to be parsed, until there are no more.
func (b *builder) read(free <-chan *parser, work, order chan<- *parser, quit <-chan struct{}) {
	defer close(order)
	defer close(work)
	for {
		var p *parser
		select {
		case p = <-free:
		case <-quit:
			return
		}
		p.err = tasks.Try(func() (err error) {
			p.chunk, err = b.source.next(p.buffer)
			return err
		})
		if p.err == io.EOF {
			return
		}
		failed := p.err != nil
		if failed {
			p.n = 0
			close(p.done)
		} else {
			p.buffer = p.chunk.text
		}
		select {
		case order <- p:
		case <-quit:
			return
		}
		if failed {
			return
		}
		work <- p
	}
}

// take adds what was parsed to the table.
func (b *builder) take(p *parser) error {
	t := b.table
	if p.n > 0 && b.blank > 0 {
		return p.rows.blankLine(b.blank)
	}
	if most := b.limits.Rows; most > 0 && t.n+p.n > most {
		return tooManyRows(t.file, p.lines[most-t.n], most)
	}
	for k, line := range p.lines[:p.n] {
		t.lines.add(t.n+k, line)
	}
	tasks.For(len(t.cells), func(j int) { t.cells[j].append(p.values[j], &p.words[j]) })
	used := 0
	for _, c := range t.cells {
		used += c.words.bytes() / 8
	}
	t.n += p.n
	if used += t.n * len(t.cells); used > b.limits.Cells {
		return tooManyCells(t.file, t.lines.line(t.n-1), b.limits.Cells)
	}
	b.blank = p.rows.blank
	return p.err
}

// finish checks that there is a table. One without rows comes with the error.
func (b *builder) finish() (*Table, error) {
	t := b.table
	if t.n == 0 && b.named {
		return t, (&Error{File: t.file, Err: ErrNoRows}).Say("add rows", "there is a header but no row below it")
	}
	if t.n == 0 {
		return t, (&Error{File: t.file, Line: 2, Column: 1, ColumnName: t.columns[0], Err: ErrNoRows}).Say(
			"add rows, or say that the first row is data",
			"there is a header but no row below it").By(Way{Option: WayHeader, Value: string(HeaderNo)})
	}
	return t, nil
}

// emptyFile is the error for a file without a single row.
func emptyFile(name string) error {
	return &Error{File: name, Line: 1, Column: 1, Msg: "the file is empty", Fix: "give a table of one case per row"}
}

// parser turns a chunk into typed columns.
type parser struct {
	rows    rows
	decimal byte
	first   bool // the first row is to be kept as it stands
	careful bool // no row is taken for plain, for tests

	chunk  chunk
	buffer []byte
	done   chan struct{}

	n        int
	lines    []int
	values   [][]float64
	words    []dictionary
	firstRow [][]byte
	err      error
}

func (b *builder) newParser(width int) *parser {
	t := b.table
	return &parser{
		rows:    rows{file: t.file, separator: t.dialect.separator, width: width, names: t.columns},
		decimal: t.dialect.decimal, first: width == 0, done: make(chan struct{}),
		values: make([][]float64, width), words: make([]dictionary, width),
	}
}

// run parses the chunk that was set; a fault of this program becomes an error.
func (p *parser) run() {
	defer close(p.done)
	err := tasks.Try(func() error {
		p.parse(p.chunk)
		return nil
	})
	if err != nil {
		p.err = fmt.Errorf("in the rows from line %d on: %w", p.chunk.line, err)
	}
}

// parse reads the rows of a chunk up to the first that is wrong.
func (p *parser) parse(c chunk) {
	p.n, p.lines, p.err, p.rows.blank = 0, p.lines[:0], nil, 0
	for j := range p.values {
		p.values[j] = p.values[j][:0]
		p.words[j].reset()
	}
	p.rows.set(c)
	odd := !utf8.Valid(c.text) || bytes.IndexByte(c.text, 0) >= 0
	// A blank line means something where there is one column.
	plain := !odd && !p.careful && p.rows.width > 1 && p.decimal != p.rows.separator
	for {
		if line := p.rows.at; plain && p.rows.pos < len(c.text) && p.plainRow() {
			p.lines = append(p.lines, line)
			p.n++
			continue
		}
		line, err := p.rows.next()
		if err == nil && line > 0 && odd {
			err = p.rows.checkText(line)
		}
		if p.err = err; err != nil || line == 0 {
			return
		}
		if p.first {
			p.begin()
		}
		for j := range p.values {
			p.values[j] = append(p.values[j], cellOf(p.rows.cell(j), p.decimal, &p.words[j]))
		}
		p.lines = append(p.lines, line)
		p.n++
	}
}

// begin makes room for the columns of the first row.
func (p *parser) begin() {
	p.first = false
	p.values, p.words = make([][]float64, p.rows.width), make([]dictionary, p.rows.width)
	for j := range p.values {
		p.firstRow = append(p.firstRow, bytes.Clone(p.rows.cell(j)))
	}
}

// cellOf is a text without white space around it as a number, or as its code. Digits with a
// zero in front stay a text: the number would not tell 007 from 7.
func cellOf(text []byte, decimal byte, words *dictionary) float64 {
	if len(text) > 0 && (text[0] <= '9' || text[0]|0x20 == 'i') && !IsPadded(text) {
		if x, kind := ParseNumber(text, decimal); kind == Finite {
			return x
		}
	}
	return wordCell(words.code(text))
}

// dropFirst takes the header out of the rows.
func (p *parser) dropFirst() {
	p.n--
	p.lines = p.lines[1:]
	for j := range p.values {
		p.values[j] = p.values[j][1:]
	}
}

// Most rows of most tables are plain: numbers of a few digits and words without quotes or
// white space around them. Those are read in one pass over their bytes, here; a row with
// anything else is left to the reader of all rows, which gives the same cells.

// plainRow reads the next row of the chunk if it is plain. If it is not, nothing has been
// read.
func (p *parser) plainRow() bool {
	r := &p.rows
	pos, last := r.pos, r.width-1
	for j := range p.values {
		cell, end, ok := p.plainNumber(pos)
		if !ok {
			if cell, end, ok = p.plainWord(pos, j); !ok {
				p.unread(j)
				return false
			}
		}
		switch {
		case end < len(r.text) && r.text[end] == r.separator && j < last:
			end++
		case j == last && end == len(r.text):
		case j == last && r.text[end] == '\n':
			end++
			r.at++
		case j == last && r.text[end] == '\r' && end+1 < len(r.text) && r.text[end+1] == '\n':
			end += 2
			r.at++
		default:
			p.unread(j)
			return false
		}
		p.values[j] = append(p.values[j], cell)
		pos = end
	}
	r.pos = pos
	return true
}

// unread takes the cells of the first n columns of a row back.
func (p *parser) unread(n int) {
	for j := range n {
		p.values[j] = p.values[j][:p.n]
	}
}

// plainNumber reads a number of up to exactDigits digits with or without a point. It is an
// integer below 2⁵³ over an exact power of ten, and so correctly rounded.
func (p *parser) plainNumber(pos int) (x float64, end int, ok bool) {
	text := p.rows.text
	negative := false
	if pos < len(text) && text[pos] == '-' {
		negative = true
		pos++
	}
	begin := pos
	mantissa := uint64(0)
	for pos < len(text) && text[pos]-'0' <= 9 {
		mantissa = mantissa*10 + uint64(text[pos]-'0')
		pos++
	}
	digits := pos - begin
	if pos < len(text) && text[pos] == p.decimal {
		pos++
		begin = pos
		for pos < len(text) && text[pos]-'0' <= 9 {
			mantissa = mantissa*10 + uint64(text[pos]-'0')
			pos++
		}
		decimals := pos - begin
		digits += decimals
		if digits > ExactDigits {
			return 0, 0, false
		}
		x = float64(mantissa) / powersOfTen[decimals]
	} else {
		if digits > ExactDigits || digits > 1 && text[begin] == '0' && !negative { // see isPadded
			return 0, 0, false
		}
		x = float64(mantissa)
	}
	if digits == 0 || pos < len(text) && text[pos] != p.rows.separator && text[pos] != '\n' && text[pos] != '\r' {
		return 0, 0, false
	}
	if negative {
		x = -x
	}
	return x, pos, true
}

// plainWord reads a cell up to the separator or the end of the line.
func (p *parser) plainWord(pos, j int) (cell float64, end int, ok bool) {
	text, separator := p.rows.text, p.rows.separator
	for end = pos; end < len(text); end++ {
		if c := text[end]; c == separator || c == '\n' {
			break
		} else if c == '"' {
			return 0, 0, false
		}
	}
	stop := end
	if stop > pos && text[stop-1] == '\r' {
		stop--
	}
	word := text[pos:stop]
	if len(word) > 0 && (!isPlain(word[0]) || !isPlain(word[len(word)-1])) {
		return 0, 0, false
	}
	return cellOf(word, p.decimal, &p.words[j]), stop, true
}

// isPlain tells what is neither white space nor the beginning or the end of a character
// that may be.
func isPlain(c byte) bool { return c > ' ' && c < 0x80 }
