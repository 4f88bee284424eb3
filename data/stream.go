package data

import (
	"io"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Reader encodes the rows of a file one block at a time. It holds one block,
// however long the file is.
type Reader struct {
	source  *records
	bound   *binding
	report  *Report
	pending []string // a first row that is data
	line    int      // where it is
	failure error    // to be returned once the rows before it are
}

// NewReader begins to read new rows: in the same formats as Read, with the
// columns in any order if the file names them. It looks no further ahead than
// the first line, so that a slow pipe is served row by row.
//
// With HeaderAuto the first row is a header if the training file had one, or
// if it holds the names or words where the recipe has numbers.
func NewReader(r io.Reader, name string, recipe *Recipe, header Header) (*Reader, error) {
	if err := header.check(); err != nil {
		return nil, err
	}
	source, err := newRecords(r, name, true, recipe.fit)
	if err != nil {
		return nil, err
	}
	first, line, err := source.next()
	if err == io.EOF {
		return nil, emptyFile(name)
	}
	if err != nil {
		return nil, err
	}
	isHeader := header == HeaderYes || header != HeaderNo && recipe.looksLikeHeader(first)
	names := generatedNames(len(first))
	if isHeader {
		if names, err = headerNames(name, line, first); err != nil {
			return nil, err
		}
	}
	rd := &Reader{source: source}
	if rd.bound, err = recipe.bind(name, line, names, isHeader); err != nil {
		return nil, err
	}
	rd.report = newReport(rd.bound)
	source.names = rd.bound.names
	if !isHeader {
		rd.pending, rd.line = first, line
	}
	return rd, nil
}

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
		cell := clean(first[b.source[i]])
		_, kind := parseNumber(cell)
		if _, known := slices.BinarySearch(c.Categories, cell); known || c.Kind == Numeric && kind == finite {
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
	words, numbers := 0, 0
	for i := range r.Columns {
		if r.Columns[i].Kind != Numeric {
			continue
		}
		cell := clean(first[b.source[i]])
		switch _, kind := parseNumber(cell); {
		case kind != notNumber:
			numbers++
		case !isMissing(r.Missing, cell):
			words++
		}
	}
	return words > numbers
}

// Columns names the columns of the file: as its header does, or as the training
// file did.
func (rd *Reader) Columns() []string { return slices.Clone(rd.bound.names) }

// HasTarget tells whether the file has the outcome.
func (rd *Reader) HasTarget() bool { return rd.bound.target >= 0 }

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
	Cells    []string  // the cells as they were in the file
	Line     int       // line of the file on which the row begins

	bound *binding
}

// ReadBlock reads up to n rows, fewer only at the end of the file or before a
// row that cannot be encoded; the rows before such a row are returned first and
// the error with the next call. At the end the error is io.EOF. Blocks are
// independent of each other.
func (rd *Reader) ReadBlock(n int) (*Block, error) {
	if n < 1 {
		panic("data: ReadBlock of no rows")
	}
	d := rd.bound.recipe.Dim()
	var block Block
	var features []float64
	// Memory grows with the rows that are there, not with the n asked for.
	for len(block.Rows) < n && rd.failure == nil {
		row, line, err := rd.nextRow()
		if err != nil {
			rd.failure = err
			break
		}
		start := len(features)
		features = append(features, make([]float64, d)...)
		if err := rd.bound.encode(row, line, features[start:], rd.report); err != nil {
			rd.failure = err
			features = features[:start]
			break
		}
		block.Rows = append(block.Rows, Row{Cells: row, Line: line, bound: rd.bound})
	}
	if len(block.Rows) == 0 {
		return nil, rd.failure
	}
	// The rows can point into the matrix only now that it has stopped growing.
	block.X = mat.NewDense(len(block.Rows), d, features)
	for i := range block.Rows {
		block.Rows[i].Features = block.X.RawRowView(i)
	}
	return &block, nil
}

// nextRow is the row that was read to look for a header, if it turned out to be
// data, and then the rows of the file.
func (rd *Reader) nextRow() ([]string, int, error) {
	if row := rd.pending; row != nil {
		rd.pending = nil
		return row, rd.line, nil
	}
	return rd.source.next()
}

// Value is the number in the named column of the row, before any
// standardisation and whether or not the column makes features: the amount at
// stake in this case, for example.
func (r *Row) Value(column string) (float64, error) {
	j, err := r.bound.column(column)
	if err != nil {
		return 0, err
	}
	x, kind := parseNumber(clean(r.Cells[j]))
	if kind != finite {
		return 0, notFinite(r.bound.at(r.Line, j), r.Cells[j])
	}
	return x, nil
}

// Label is the outcome ±1 of the row; ok is false where the file has none or
// the cell is missing.
func (r *Row) Label() (y int, ok bool, err error) {
	j := r.bound.target
	if j < 0 || isMissing(r.bound.recipe.Missing, clean(r.Cells[j])) {
		return 0, false, nil
	}
	y, err = r.bound.label(r.Cells, r.Line)
	return y, err == nil, err
}
