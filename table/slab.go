package table

import (
	"context"
	"io"

	"github.com/lossep/lossep/internal/tasks"
)

// Kinds are what the columns hold: numbers where all cells are.
func (t *Table) Kinds() []CellKind {
	kinds := make([]CellKind, len(t.cells))
	for j, c := range t.cells {
		if c.words.len() == 0 {
			kinds[j] = NumberCells
		}
	}
	return kinds
}

// slabs goes through the rows of a source a slab at a time.
type slabs struct {
	ctx     context.Context
	source  Source
	names   []string
	decimal byte
	read    []int // the columns that are read
	cells   int   // that a slab may have, at eight bytes each; different texts count too
	size    int   // rows of the next slab

	group   int // that is being read, −1 before the first
	done    int // of its rows, those in slabs
	readers []ColumnReader
	now     *slab
	at      int // the row in it
}

// A slab has as many rows as slabRows, but fewer where their texts take more than slabBytes.
const (
	firstSlab = 1 << 8
	slabBytes = 16 << 20
)

// slab is some rows of a group, by columns; those that are not read are nil. Rows that
// were given keep theirs.
type slab struct {
	group   *SourceGroup
	first   int // number of its first row in the file
	rows    int
	bytes   int // of texts
	columns []*Column
}

// advance moves to the next row; at the end the error is io.EOF.
func (s *slabs) advance() error {
	s.at++
	for s.now == nil || s.at >= s.now.rows {
		if err := s.next(); err != nil {
			s.close()
			return err
		}
		s.at = 0
	}
	return nil
}

// next reads the next slab.
func (s *slabs) next() error {
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	groups := s.source.Groups()
	for s.group < 0 || s.done == groups[s.group].Rows {
		s.close()
		if s.group++; s.group == len(groups) {
			return io.EOF
		}
		if s.done = 0; groups[s.group].Rows > 0 {
			if err := s.open(); err != nil {
				return err
			}
		}
	}
	g := &groups[s.group]
	n := min(s.size, g.Rows-s.done)
	now := &slab{group: g, first: g.First + s.done, rows: n, columns: make([]*Column, len(s.names))}
	errs := make([]error, len(s.read))
	memory := &cellMemory{file: g.File, cells: s.cells}
	tasks.For(len(s.read), func(k int) {
		c := &Cells{to: new(Column), decimal: s.decimal, memory: memory}
		errs[k] = readCells(s.readers[k], n, c, g, s.done)
		now.columns[s.read[k]] = c.to
	})
	for k, err := range errs {
		if located, ok := err.(*Error); ok && located.Column == 0 {
			located.Column, located.ColumnName = s.read[k]+1, s.names[s.read[k]]
		}
		if err != nil {
			return err
		}
	}
	for _, j := range s.read {
		now.bytes += now.columns[j].words.bytes()
	}
	switch {
	case now.bytes > slabBytes:
		s.size = max(s.size/2, 1)
	case now.bytes < slabBytes/4:
		s.size = min(2*s.size, slabRows)
	}
	s.done += n
	s.now = now
	return nil
}

// open begins the columns of a group.
func (s *slabs) open() error {
	for _, j := range s.read {
		r, err := s.source.Open(s.group, j)
		if err != nil {
			return err
		}
		s.readers = append(s.readers, r)
	}
	return nil
}

func (s *slabs) close() {
	for _, r := range s.readers {
		_ = r.Close() // nothing was written
	}
	s.readers = s.readers[:0]
}

// text is that of a cell.
func (s *slab) text(row, j int) []byte {
	c := s.columns[j]
	if c == nil {
		return nil
	}
	cell := c.At(row)
	if IsText(cell) {
		return c.Bytes(cell)
	}
	return BytesOf(Spelled(cell))
}

// SomeRows is the rows of a source from one up to, not including, another.
func SomeRows(s Source, from, to int) Source {
	return NewPart(s, from, to, func(int) bool { return true })
}

// NewPart is some rows of a source, and of its columns those that are needed.
func NewPart(s Source, from, to int, needs func(column int) bool) Source {
	p := &sourcePart{source: s}
	for j, c := range s.Columns() {
		if needs(j) {
			p.columns = append(p.columns, c)
			p.column = append(p.column, j)
		}
	}
	first := 0
	for k, g := range s.Groups() {
		low, high := max(from-first, 0), min(to-first, g.Rows)
		if low < high {
			p.groups = append(p.groups, SourceGroup{File: g.File, First: g.First + low, Rows: high - low})
			p.group = append(p.group, k)
			p.skip = append(p.skip, low)
		}
		first += g.Rows
	}
	return p
}

// sourcePart is some rows and columns of a source.
type sourcePart struct {
	source  Source
	columns []SourceColumn
	column  []int // in the source
	groups  []SourceGroup
	group   []int // in the source
	skip    []int // rows of each before the first
}

func (p *sourcePart) Name() string            { return p.source.Name() }
func (p *sourcePart) Columns() []SourceColumn { return p.columns }
func (p *sourcePart) Groups() []SourceGroup   { return p.groups }

// Open implements Source. Cells before the first are read and forgotten.
func (p *sourcePart) Open(group, column int) (ColumnReader, error) {
	r, err := p.source.Open(p.group[group], p.column[column])
	if err != nil {
		return nil, err
	}
	whole := p.source.Groups()[p.group[group]]
	for done := 0; done < p.skip[group]; {
		n := min(slabRows, p.skip[group]-done)
		if err := readCells(r, n, &Cells{to: new(Column), decimal: '.'}, &whole, done); err != nil {
			_ = r.Close() // nothing was written
			return nil, err
		}
		done += n
	}
	return r, nil
}
