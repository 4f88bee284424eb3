package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/lossep/lossep/internal/tasks"
)

// Source is a table that is stored by columns, in groups of rows, in one file or in
// several: Parquet, for example. What is read from it is what would be read from the same
// table as text. Its columns may be read at the same time.
type Source interface {
	// Name is used in messages about the whole.
	Name() string
	// Columns are the same in every group.
	Columns() []SourceColumn
	// Groups are the groups in the order of the rows.
	Groups() []SourceGroup
	// Open begins to read a column of a group.
	Open(group, column int) (ColumnReader, error)
}

// SourceColumn is a column of a Source.
type SourceColumn struct {
	Name string
	Kind CellKind
	Bad  string // why it cannot be read; empty if it can
}

// CellKind is what a Source knows about all cells of a column.
type CellKind int

// The kinds of cells.
const (
	TextCells    CellKind = iota // texts, which may be anything
	IntegerCells                 // integers of up to 64 bits
	NumberCells
	TruthCells // true and false
	OtherCells // such as dates
)

// SourceGroup is a run of rows of a Source.
type SourceGroup struct {
	File  string
	First int // number of its first row in the file, from 1
	Rows  int
}

// ColumnReader reads the cells of a column of a group one after another.
type ColumnReader interface {
	// Read adds the next cells, at most n of them; fewer only at the end of the group.
	Read(n int, to *Cells) error
	Close() error
}

// Cells takes the cells of a column in the order of the rows. A cell means what its text
// would mean in a file of text.
type Cells struct {
	to      *Column
	decimal byte
	n       int       // cells taken
	batch   []float64 // of them, those not yet in the column
	last    float64   // the cell taken last, if it came alone
	missing float64   // a missing cell, 0 before the first
	memory  *cellMemory
	counted int64  // bytes that memory knows of
	text    int64  // bytes of texts that memory does not know of
	strange []byte // the first text that is none
	at      int    // where that is
	failure error  // why no more texts are taken
}

// batchCells is how many cells go into a column at a time.
const batchCells = 1024

// LongestText is how many bytes a text of a source may have: as many as a row of text may.
const LongestText = MaxRowBytes

// cellMemory bounds what all columns of a table hold together, and the texts that are gone
// through for it.
type cellMemory struct {
	file  string
	used  atomic.Int64 // bytes
	cells int          // that may be held, at eight bytes each
	text  atomic.Int64 // bytes
	bytes int64        // of texts that may be gone through; 0 for any number
}

// Dictionary is the different values of a column of a source, to which its cells refer by
// number. A value is added once, however many cells have it.
type Dictionary struct {
	add   func(code int, to *Cells)
	cells []float64
	turns []uint32 // in which the cells were added
	turn  uint32
	to    *Cells // in this turn
}

// DictionaryBytes is the memory that a Dictionary takes for each value.
const DictionaryBytes = 8 + 4

// NewDictionary is a dictionary of n values, each of which add adds as one cell.
func NewDictionary(n int, add func(code int, to *Cells)) *Dictionary {
	return &Dictionary{add: add, cells: make([]float64, n), turns: make([]uint32, n)}
}

// Codes adds cells that refer to a dictionary, which must have their numbers.
func (c *Cells) Codes(d *Dictionary, codes []int32) {
	if d.to != c {
		d.to = c
		d.turn++
	}
	c.batch = slices.Grow(c.batch, batchCells-len(c.batch))
	for len(codes) > 0 {
		n := min(len(codes), batchCells-len(c.batch))
		known := c.batch[len(c.batch) : len(c.batch)+n]
		for k, code := range codes[:n] {
			if d.turns[code] != d.turn {
				n = k
				break
			}
			known[k] = d.cells[code]
		}
		c.batch, c.n = c.batch[:len(c.batch)+n], c.n+n
		if len(c.batch) == batchCells {
			c.flush()
		} else if n < len(codes) {
			d.add(int(codes[n]), c)
			d.cells[codes[n]], d.turns[codes[n]] = c.last, d.turn
			n++
		}
		codes = codes[n:]
	}
}

// Number adds a number. What is not finite is a text, as it is in files of text.
func (c *Cells) Number(x float64) {
	if x-x != 0 {
		c.Text([]byte(strings.ToLower(strconv.FormatFloat(x, 'g', -1, 64))))
		return
	}
	c.put(x)
}

// Numbers adds numbers.
func (c *Cells) Numbers(xs []float64) {
	for _, x := range xs {
		if x-x != 0 {
			for _, x := range xs {
				c.Number(x)
			}
			return
		}
	}
	c.flush()
	c.to.append(xs, new(dictionary))
	c.n += len(xs)
}

// Integer adds an integer. One of more digits than a float64 keeps is a text: it is a
// number, but a code too.
func (c *Cells) Integer(x int64) {
	if x <= -1e15 || x >= 1e15 {
		c.Text(strconv.AppendInt(nil, x, 10))
		return
	}
	c.put(float64(x))
}

// Integers adds integers.
func (c *Cells) Integers(xs []int64) {
	for len(xs) > 0 {
		n := min(len(xs), batchCells-len(c.batch))
		for k, x := range xs[:n] {
			if x <= -1e15 || x >= 1e15 {
				n = k
				break
			}
			c.batch = append(c.batch, float64(x))
		}
		c.n += n
		if len(c.batch) == batchCells {
			c.flush()
		} else if n < len(xs) {
			c.Integer(xs[n])
			n++
		}
		xs = xs[n:]
	}
}

// Missing adds a missing cell.
func (c *Cells) Missing() {
	if c.missing == 0 {
		c.missing = wordCell(c.to.words.code(nil))
	}
	c.put(c.missing)
}

// Text adds a text, which may spell a number.
func (c *Cells) Text(text []byte) {
	if len(text) > LongestText && c.failure == nil {
		c.failure = (&Error{}).Say("leave the column out, or write it with shorter texts",
			"a text of more than %d MiB", LongestText>>20)
	}
	if c.failure != nil {
		c.Missing()
		return
	}
	if c.text += int64(len(text)); c.text > 1<<20 {
		defer c.check()
	}
	text = Cleaned(text)
	if c.strange == nil && (!utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0) {
		c.strange, c.at = bytes.Clone(text[:min(len(text), 100)]), c.n
	}
	c.put(cellOf(text, c.decimal, &c.to.words))
}

// Cleaned is a text as a cell of a file has it: without white space around it, and with lines
// that end in one way.
func Cleaned(text []byte) []byte {
	text = bytes.TrimSpace(text)
	if bytes.IndexByte(text, '\r') >= 0 {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	return text
}

// Single is a 32-bit number as the shortest decimal that stands for it: 0.1, and not
// 0.10000000149011612.
func Single(x float32) float64 {
	wide := float64(x)
	if wide == math.Trunc(wide) && math.Abs(wide) < 1<<24 || wide-wide != 0 {
		return wide
	}
	var buffer [32]byte
	shortest, _ := strconv.ParseFloat(string(strconv.AppendFloat(buffer[:0], wide, 'e', -1, 32)), 64) // which can be read
	return shortest
}

// Err says why no more cells need be added, if there is a reason: they take too much memory,
// or a text is too long.
func (c *Cells) Err() error {
	c.check()
	return c.failure
}

func (c *Cells) put(cell float64) {
	c.n++
	c.last = cell
	if c.batch = append(c.batch, cell); len(c.batch) == batchCells {
		c.flush()
	}
}

// flush puts the batch into the column.
func (c *Cells) flush() {
	c.to.append(c.batch, new(dictionary))
	c.batch = c.batch[:0]
}

// check notes whether the table has become too large.
func (c *Cells) check() {
	m := c.memory
	if m == nil || c.failure != nil {
		return
	}
	bytes := int64(c.to.words.bytes() + 8*c.n)
	used := m.used.Add(bytes - c.counted)
	text := m.text.Add(c.text)
	c.counted, c.text = bytes, 0
	switch {
	case used/8 > int64(m.cells):
		c.failure = tooManyCells(m.file, 0, m.cells)
	case m.bytes > 0 && text > m.bytes:
		c.failure = tooManyBytes(m.file, m.bytes)
	}
}

// ReadSource reads a table that is stored by columns, on all processors. Columns that
// skip says are not opened; nothing is known of their cells then. skip may be nil.
func ReadSource(ctx context.Context, s Source, f Format, skip func(column string) bool) (*Table, error) {
	d, err := sourceDialect(s, &f)
	if err != nil {
		return nil, err
	}
	f.Limits = f.Limits.withDefaults()
	t := &Table{file: s.Name(), header: true, dialect: d, room: f.Room}
	if t.columns, err = SourceNames(s); err != nil {
		return nil, err
	}
	columns := s.Columns()
	wanted := 0
	for j := range columns {
		t.cells = append(t.cells, &Column{unread: skip != nil && skip(t.columns[j]), room: f.Room})
		if !t.cells[j].unread {
			wanted++
		}
	}
	if err := t.locate(s.Groups(), f.Limits.Rows); errors.Is(err, ErrNoRows) {
		return t, err
	} else if err != nil {
		return nil, err
	}
	// What is declared may be a lie, and is refused without a try.
	if t.n > f.Limits.Cells/max(wanted, 1) {
		return nil, tooManyCells(t.file, 0, f.Limits.Cells)
	}
	memory := &cellMemory{file: t.file, cells: f.Limits.Cells, bytes: f.Limits.Bytes}
	errs := make([]error, len(columns))
	tasks.For(len(columns), func(j int) {
		if !t.cells[j].unread {
			errs[j] = t.readColumn(ctx, s, j, memory)
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

// sourceDialect is that of texts in a source.
func sourceDialect(s Source, f *Format) (dialect, error) {
	if err := f.check(); err != nil {
		return dialect{}, err
	}
	if f.Separator != "" || f.Encoding != "" || f.Header == HeaderYes || f.Header == HeaderNo {
		return dialect{}, In(s.Name()).Say("leave them out",
			"separator, encoding and header are those of text, and this file is not text")
	}
	d := dialect{decimal: '.', sure: true}
	if f.Decimal != "" {
		d.decimal = f.Decimal[0]
	}
	return d, nil
}

// SourceNames are the names of the columns, which have to differ.
func SourceNames(s Source) ([]string, error) {
	columns := s.Columns()
	switch {
	case len(columns) == 0:
		return nil, &Error{File: s.Name(), Msg: "the table has no columns", Fix: "give a table of one case per row"}
	case len(columns) > MaxColumns:
		return nil, &Error{File: s.Name(), Msg: fmt.Sprintf("the table has %d columns, more than the %d that are read", len(columns), MaxColumns), Fix: "leave out columns that are not needed"}
	}
	first := make([]string, len(columns))
	for j, c := range columns {
		first[j] = strings.TrimSpace(c.Name)
	}
	names, err := headerNames(s.Name(), 0, first)
	if located, ok := err.(*Error); ok {
		located.Fix, located.Ways = "give every column its own name", nil
	}
	return names, err
}

// locate takes down where the rows come from.
func (t *Table) locate(groups []SourceGroup, most int) error {
	t.files = []fileRun{}
	for _, g := range groups {
		if g.Rows < 0 || g.Rows > math.MaxInt-t.n {
			return &Error{File: g.File, Msg: fmt.Sprintf("a group of %d rows", g.Rows), Fix: "the file is damaged; write it anew"}
		}
		if g.Rows == 0 {
			continue
		}
		if k := len(t.files) - 1; k < 0 || t.files[k].name != g.File {
			t.files = append(t.files, fileRun{t.n, g.File})
		}
		t.lines.add(t.n, g.First)
		t.n += g.Rows
		if most > 0 && t.n > most {
			return tooManyRows(t.file, 0, most)
		}
	}
	if t.n == 0 {
		return &Error{File: t.file, Msg: "the table has no rows", Fix: "give a table of one case per row", Err: ErrNoRows}
	}
	return nil
}

// readColumn reads a column through all groups.
func (t *Table) readColumn(ctx context.Context, s Source, j int, memory *cellMemory) error {
	if why := s.Columns()[j].Bad; why != "" {
		return t.badColumn(j, why)
	}
	to := &Cells{to: t.cells[j], decimal: t.dialect.decimal, memory: memory}
	for k := range s.Groups() {
		if err := t.readGroup(ctx, s, k, j, to); err != nil {
			return err
		}
	}
	return nil
}

// badColumn refuses a column that cannot be read.
func (t *Table) badColumn(j int, why string) error {
	return t.ColumnPlace(j).Say("leave the column out", "%s", why).By(Way{Option: WayDrop, Value: t.columns[j]})
}

// readGroup reads a column of a group.
func (t *Table) readGroup(ctx context.Context, s Source, k, j int, to *Cells) error {
	group := s.Groups()[k]
	if group.Rows == 0 {
		return nil
	}
	r, err := s.Open(k, j)
	if err != nil {
		return err
	}
	defer r.Close()
	begin := to.n
	for to.n-begin < group.Rows {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		before := to.n
		if err := readCells(r, min(slabRows, group.Rows-(to.n-begin)), to, &group, before-begin); err != nil {
			return t.inColumn(err, j)
		}
		if to.to.full != nil {
			return to.to.full
		}
	}
	return nil
}

// slabRows is how many rows of a column are read at a time.
const slabRows = 8192

// readCells reads the next n cells of a column, which there have to be; done is how many
// of the group have been read before.
func readCells(r ColumnReader, n int, to *Cells, group *SourceGroup, done int) error {
	before := to.n
	err := r.Read(n, to)
	if err == nil {
		err = to.Err()
	}
	if err != nil {
		if located, ok := err.(*Error); ok && located.File == "" {
			located.File = group.File
		}
		return err
	}
	to.flush()
	if to.n != before+n {
		return In(group.File).Say("the file is damaged; write it anew",
			"the column has %d cells in a group of %d rows", done+to.n-before, group.Rows)
	}
	if to.strange != nil {
		return (&Error{File: group.File, Row: group.First + done + to.at - before}).Say(
			"write the column as text, or leave it out",
			"%s is not text in UTF-8", Quote(string(to.strange)))
	}
	return nil
}

// inColumn gives an error the column it is in, if it does not know it.
func (t *Table) inColumn(err error, j int) error {
	if located, ok := err.(*Error); ok && located.Column == 0 {
		located.Column, located.ColumnName = j+1, t.columns[j]
	}
	return err
}

// ReadColumn finds a column as Column does, and refuses one that was left out.
func (t *Table) ReadColumn(ref string) (int, error) {
	j, err := t.Column(ref)
	if err == nil && t.cells[j].unread {
		err = unreadColumn(&Error{File: t.file, Column: j + 1, ColumnName: t.columns[j]})
	}
	return j, err
}

// unreadColumn completes an Error for a column that was left out.
func unreadColumn(at *Error) *Error {
	at.Msg, at.Fix = "the column was left out and has not been read", "do not leave it out"
	return at
}
