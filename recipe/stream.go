package recipe

import (
	"context"
	"io"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/expr"
	"github.com/lossep/lossep/table"
)

// Reader encodes the rows of a file one block at a time. It holds one block,
// however long the file is.
type Reader struct {
	rows    *table.Stream
	bound   *binding
	encoder *Encoder
	column  []int       // of the recipe for each of the file, or −1
	words   []wordsRead // of a column that is stored, what its texts mean
	report  *Report
	skip    func(Bad)

	pending bool // the row read last has not been given yet
	last    int  // rows of the last block
	n       int  // rows given
	before  int  // bytes of texts before the chunk that the row read last is in
	ahead   bool // the row after the one given last has been looked at, with this error
	coming  error
	failure error // to be returned once the rows before it are
}

// wordsRead are the readings of the texts of a stored column.
type wordsRead struct {
	of    *table.Column
	texts []reading
}

// blockBytes is how many bytes of texts a block may refer to before it ends early.
const blockBytes = 32 << 20

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
func NewReader(ctx context.Context, r io.Reader, name string, recipe *Recipe, f table.Format) (*Reader, error) {
	usual := byte('.')
	if recipe.Decimal != "" {
		usual = recipe.Decimal[0]
	}
	rows, err := table.NewStream(ctx, r, name, f, recipe.fit, usual)
	if err != nil {
		return nil, err
	}
	first, line := rows.First()
	isHeader := f.Header == table.HeaderYes || f.Header == table.HeaderAbove || f.Header != table.HeaderNo && recipe.looksLikeHeader(first)
	names := table.GeneratedNames(len(first))
	if isHeader {
		if names, err = rows.Header(); err != nil {
			return nil, err
		}
	}
	rd := &Reader{rows: rows, pending: !isHeader}
	if err := rd.bind(recipe, name, line, names, isHeader); err != nil {
		named := max(recipe.matches(first), recipe.needed()/2)
		if lower := rows.LowerHeader(func(cells []string) bool { return recipe.matches(cells) > named }); lower != nil {
			err = lower
		}
		return nil, err
	}
	if f.Header == table.HeaderAbove {
		rows.HeaderAbove()
	}
	rows.Call(rd.bound.names)
	return rd, nil
}

// NewSourceReader begins to read new rows of a table that is stored by columns, with its
// columns in any order. Beside those that the recipe needs, columns are read if also says
// so; nil means all of them that can be read. Reading ends when the context does.
func NewSourceReader(ctx context.Context, s table.Source, recipe *Recipe, f table.Format, also func(column string) bool) (*Reader, error) {
	rows, err := table.NewSourceStream(ctx, s, f)
	if err != nil {
		return nil, err
	}
	rd := &Reader{rows: rows}
	names := rows.Names()
	if err := rd.bind(recipe, s.Name(), 0, names, true); err != nil {
		return nil, err
	}
	read := rd.bound.needs()
	for j, c := range s.Columns() {
		wanted := read[j]
		if !wanted {
			wanted = also == nil && c.Bad == "" || also != nil && also(names[j])
		}
		if !wanted {
			continue
		}
		if err := rows.Take(j); err != nil {
			return nil, err
		}
	}
	rows.Call(rd.bound.names)
	return rd, nil
}

// Kinds are what the columns hold: as a source says, or numbers where the recipe takes
// plain ones from a text.
func (rd *Reader) Kinds() []table.CellKind {
	kinds := make([]table.CellKind, len(rd.bound.names))
	for j, c := range rd.rows.SourceColumns() {
		kinds[j] = c.Kind
	}
	for j, i := range rd.column {
		if i >= 0 && rd.rows.SourceColumns() == nil && rd.rows.Decimal() == '.' {
			if c := &rd.bound.recipe.Columns[i]; c.Kind == Numeric && c.Notation == nil {
				kinds[j] = table.NumberCells
			}
		}
	}
	return kinds
}

// bind finds the columns of the recipe.
func (rd *Reader) bind(recipe *Recipe, name string, line int, names []string, header bool) (err error) {
	if rd.bound, err = recipe.bind(name, line, names, header); err != nil {
		return err
	}
	rd.encoder, rd.report = recipe.NewEncoder(), newReport(rd.bound)
	rd.column, rd.words = slices.Repeat([]int{-1}, len(names)), make([]wordsRead, len(names))
	for i, j := range rd.bound.source {
		if j >= 0 && recipe.Columns[i].IsFeature() {
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
	rd.report.note(&bad.Remarks, -1, bad.beginning)
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
	j := rd.bound.only(Identity)
	if j < 0 {
		return "", false
	}
	return rd.bound.names[j], true
}

// fit scores how well a first row suits the recipe: by the names it holds, or
// by having the right number of cells and how many of them can be encoded.
func (r *Recipe) fit(first []string) int {
	named := r.matches(first)
	b, err := r.bind("", 0, table.GeneratedNames(len(first)), false)
	if err != nil {
		return named
	}
	score := 1
	for i := range r.Columns {
		c := &r.Columns[i]
		if !c.IsFeature() {
			continue
		}
		cell := table.BytesOf(first[b.source[i]])
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
	b, err := r.bind("", 0, table.GeneratedNames(len(first)), false)
	if err != nil {
		return false // bind will say so again, with the place
	}
	words, amounts := 0, 0
	for i := range r.Columns {
		if k := r.Columns[i].Kind; k != Numeric && k != Date {
			continue
		}
		cell := table.BytesOf(first[b.source[i]])
		switch {
		case table.IsAmount(cell, '.'):
			amounts++
		case !b.fields[i].markers.Text(cell):
			words++
		}
	}
	return words > amounts
}

// Decimal is what separates decimals in the file.
func (rd *Reader) Decimal() byte { return rd.rows.Decimal() }

// Columns names the columns of the file: as its header does, or as the training
// file did.
func (rd *Reader) Columns() []string { return slices.Clone(rd.bound.names) }

// Report counts what the recipe had not seen in the rows read so far.
func (rd *Reader) Report() *Report { return rd.report }

// Block is a run of encoded rows.
type Block struct {
	X    *mat.Dense // one row of features for each of Rows
	Rows []Row
}

// Row is one row of a file, encoded and as it was.
type Row struct {
	table.Row
	Remarks
	Features []float64 // shares memory with the Block's X

	bound *binding
}

// ReadBlock reads up to n rows, fewer only at the end of the file, where their texts
// take much memory, or before a row that cannot be encoded; the rows before such a row
// are returned first and the error with the next call. At the end the error is io.EOF.
// Blocks are independent of each other.
func (rd *Reader) ReadBlock(n int) (*Block, error) {
	if n < 1 {
		panic("recipe: ReadBlock of no rows")
	}
	d := rd.bound.recipe.Dim()
	// Memory grows with the rows that are there, not with the n asked for: the next block
	// is likely to be as long as the last.
	block := Block{Rows: make([]Row, 0, min(n, rd.last))}
	features := make([]float64, 0, cap(block.Rows)*d)
	begin := rd.before
	for len(block.Rows) < n && rd.failure == nil {
		if !rd.pending {
			entered := rd.rows.Entered()
			err := rd.next()
			if now := rd.rows.Entered(); now > entered {
				rd.before = entered
			}
			if bad, ok := err.(*table.RowError); ok {
				if err = bad.Err; rd.skip != nil {
					rd.skip(Bad{Line: bad.Line, Cells: bad.Cells, Err: err})
					continue
				}
			}
			if rd.failure = err; err != nil {
				break
			}
			if now := rd.rows.Entered(); now > entered && now-begin > blockBytes && len(block.Rows) > 0 {
				rd.pending = true
				break
			}
		}
		rd.pending = false
		if rd.failure = rd.rows.Check(rd.n); rd.failure != nil {
			break
		}
		features = append(features, make([]float64, d)...)
		row, err := rd.encodeCase(features[len(features)-d:])
		if err != nil {
			features = features[:len(features)-d]
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

// encodeCase encodes the row, which must not be one of totals.
func (rd *Reader) encodeCase(features []float64) (Row, error) {
	row, err := rd.encode(features)
	if err != nil {
		return row, err
	}
	if err = rd.refuseTotals(&row); err != nil {
		rd.report.note(&row.Remarks, -1, row.beginning)
	}
	return row, err
}

// next moves to the next row, if that has not been done.
func (rd *Reader) next() error {
	if rd.ahead {
		rd.ahead = false
		return rd.coming
	}
	return rd.rows.Next()
}

// encode encodes the row read last.
func (rd *Reader) encode(dst []float64) (Row, error) {
	e := rd.encoder
	e.Begin(dst)
	row := Row{Row: rd.rows.Row(), bound: rd.bound}
	for j, i := range rd.column {
		if i < 0 {
			continue
		}
		if c, at := row.Stored(j); c != nil {
			e.note(i, rd.reading(c, at, j, &e.fields[i]))
		} else {
			e.text(i, row.Text(j), row.Decimal())
		}
	}
	if i, err := e.end(0); err != nil {
		j := rd.bound.source[i]
		at := row.CellPlace(j)
		at.Msg, at.Fix, at.Ways = err.Msg, err.Fix, err.Ways
		if e.fields[i].column.Kind == Numeric {
			at.OtherMark(string(row.Text(j)), row.Decimal())
		}
		if at.Line > 0 && len(at.Ways) == 0 && (rd.n == 0 || rd.total(&row) >= 0 || namesTotal(row.Text(j))) { // units or totals, perhaps
			at.Fix, at.Ways = "correct the cell, or leave the line out", []table.Way{way(table.WaySkip, strconv.Itoa(at.Line), "if it is no case")}
		}
		return row, at
	}
	for i, j := range rd.bound.source {
		if j >= 0 && e.fields[i].column.atStake() {
			if x, err := row.value(j); err == nil {
				e.stake(i, x)
			}
		}
	}
	row.Remarks = e.remarks
	rd.report.note(&row.Remarks, 1, row.beginning)
	return row, nil
}

// beginning is that of a cell.
func (r *Row) beginning(j int) string { return table.Beginning(r.Text(j)) }

// reading is what a stored cell means to a column of the recipe. A text is read once, however
// often it occurs.
func (rd *Reader) reading(c *table.Column, at, j int, f *field) reading {
	cell := c.At(at)
	if !table.IsText(cell) {
		return f.number(cell)
	}
	w := &rd.words[j]
	if w.of != c {
		*w = wordsRead{c, make([]reading, c.Words())}
		for k := range w.texts {
			w.texts[k] = f.text(c.Word(uint32(k)), rd.rows.Decimal())
		}
	}
	return w.texts[table.TextCode(cell)]
}

// Value is the number in the named column of the row, before any
// standardisation and whether or not the column makes features: the amount at
// stake in this case, for example. Of a missing cell the error is that of table.MissingValue.
func (r *Row) Value(column string) (float64, error) {
	j, err := r.bound.column(column)
	if err != nil {
		return 0, err
	}
	x, err := r.value(j)
	if err == expr.ErrMissing {
		err = table.MissingValue(r.CellPlace(j), column)
	}
	return x, err
}

// value is the number in column j of the file; of a missing cell the error is expr.ErrMissing.
func (r *Row) value(j int) (float64, error) {
	var n *table.Notation
	for i := range r.bound.recipe.Columns {
		if c := &r.bound.recipe.Columns[i]; r.bound.source[i] == j && c.Notation != nil {
			n = c.Notation
		}
	}
	return r.Number(j, r.bound.markers[j], n)
}
