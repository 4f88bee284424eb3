package data

import (
	"context"
	"io"

	"github.com/lossep/lossep/internal/tasks"
)

// NewSourceReader begins to read new rows of a table that is stored by columns, with its
// columns in any order. Beside those that the recipe needs, columns are read if also says
// so; nil means all of them that can be read. Reading ends when the context does.
func NewSourceReader(ctx context.Context, s Source, recipe *Recipe, f Format, also func(column string) bool) (*Reader, error) {
	d, err := sourceDialect(s, &f)
	if err != nil {
		return nil, err
	}
	names, err := sourceNames(s)
	if err != nil {
		return nil, err
	}
	rd := &Reader{dialect: d, limits: f.Limits}
	if err := rd.bind(recipe, s.Name(), 0, names, true); err != nil {
		return nil, err
	}
	rd.slabs = &slabs{ctx: ctx, source: s, names: names, decimal: d.decimal, cells: f.Limits.withDefaults().Cells, size: firstSlab, group: -1}
	read := rd.bound.needs()
	for j, c := range s.Columns() {
		if !read[j] && also != nil && !also(names[j]) || !read[j] && also == nil && c.Bad != "" {
			continue
		}
		if c.Bad != "" {
			return nil, &Error{File: s.Name(), Column: j + 1, ColumnName: names[j], Msg: c.Bad, Fix: "write the column plainly"}
		}
		rd.slabs.read = append(rd.slabs.read, j)
	}
	return rd, nil
}

// Kinds are what the columns hold: as a source says, or numbers where the recipe takes
// plain ones from a text.
func (rd *Reader) Kinds() []CellKind {
	kinds := make([]CellKind, len(rd.bound.names))
	if rd.slabs != nil {
		for j, c := range rd.slabs.source.Columns() {
			kinds[j] = c.Kind
		}
		return kinds
	}
	for j, i := range rd.column {
		if i >= 0 && rd.dialect.decimal == '.' {
			if c := &rd.bound.recipe.Columns[i]; c.Kind == Numeric && c.Notation == nil {
				kinds[j] = NumberCells
			}
		}
	}
	return kinds
}

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

// needs tells which columns of the file the recipe has a use for: those that make
// features, the outcome and what names the rows.
func (b *binding) needs() map[int]bool {
	read := map[int]bool{b.target: true, b.identity(): true}
	for i := range b.recipe.Columns {
		if b.recipe.Columns[i].isFeature() {
			read[b.source[i]] = true
		}
	}
	if b.condition != nil {
		for _, name := range b.condition.Columns() {
			if j, err := b.column(name); err == nil {
				read[j] = true
			}
		}
	}
	return read
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

// blockBytes is how many bytes of texts a block may refer to before it ends early.
const blockBytes = 32 << 20

// enter takes note of the texts of a chunk or slab, to which rows refer from here on.
func (rd *Reader) enter(bytes int) {
	rd.size = bytes
	rd.held += bytes
}

// slab is some rows of a group, by columns; those that are not read are nil. Rows that
// were given keep theirs.
type slab struct {
	group   *SourceGroup
	first   int // number of its first row in the file
	rows    int
	bytes   int // of texts
	columns []*cells
	words   [][]reading // of each column, what its texts mean to the recipe
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
	now := &slab{group: g, first: g.First + s.done, rows: n, columns: make([]*cells, len(s.names)), words: make([][]reading, len(s.names))}
	errs := make([]error, len(s.read))
	memory := &cellMemory{file: g.File, cells: s.cells}
	tasks.For(len(s.read), func(k int) {
		c := &Cells{to: new(cells), decimal: s.decimal, memory: memory}
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
	cell := c.at(row)
	if isWord(cell) {
		return c.word(cell)
	}
	return bytesOf(spelled(cell))
}

// reading is what a cell means to a column of the recipe. A text is read once, however
// often it occurs.
func (s *slab) reading(row, j int, f *field, decimal byte) reading {
	c := s.columns[j]
	cell := c.at(row)
	if !isWord(cell) {
		return f.number(cell)
	}
	if s.words[j] == nil {
		s.words[j] = make([]reading, c.words.len())
		for k := range s.words[j] {
			s.words[j][k] = f.text(c.words.word(uint32(k)), decimal)
		}
	}
	return s.words[j][wordOf(cell)]
}
