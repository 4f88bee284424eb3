package recipe

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/table"
)

// Apply encodes the rows of a table, whose columns may come in another order if
// they have names. The report counts what the recipe had not seen.
func (r *Recipe) Apply(t *table.Table) (*mat.Dense, *Report, error) {
	b, err := r.bind(t.Name(), t.HeaderLine(), t.Columns(), t.HasHeader())
	if err != nil {
		return nil, nil, err
	}
	if t.Len() == 0 {
		return &mat.Dense{}, newReport(b), nil
	}
	var numbers []float64
	if t.Room() != nil {
		if numbers, err = t.Room().Numbers(t.Len() * r.Dim()); err != nil {
			return nil, nil, err
		}
	}
	x := mat.NewDense(t.Len(), r.Dim(), numbers)
	report, err := b.readTable(t, x)
	if err != nil {
		return nil, nil, err
	}
	return x, report, nil
}

// blockOfRows is how many rows of a table are encoded at a time: their cells and
// features stay in the caches.
const blockOfRows = 1024

// readTable encodes all rows into those of x, on all processors. A text is read once
// however often it occurs. The error is the first in the order of the rows.
func (b *binding) readTable(t *table.Table, x *mat.Dense) (*Report, error) {
	r := &tableReader{binding: b, table: t, x: x, words: make([][]reading, len(b.fields))}
	for i := range b.fields {
		if b.fields[i].column.IsFeature() && b.source[i] >= 0 {
			r.features = append(r.features, i)
		} else if b.fields[i].column.IsFeature() {
			r.absent = append(r.absent, i)
		} else if j := b.source[i]; j >= 0 && b.fields[i].column.atStake() && !t.Cells(j).Unread() {
			r.stakes = append(r.stakes, i)
		}
	}
	tasks.For(len(r.features), func(k int) {
		i := r.features[k]
		c := t.Cells(b.source[i])
		r.words[i] = make([]reading, c.Words())
		for code := range r.words[i] {
			r.words[i][code] = b.fields[i].text(c.Word(uint32(code)), t.Decimal())
		}
	})
	blocks := (t.Len() + blockOfRows - 1) / blockOfRows
	reports := make([]*Report, blocks)
	errs := make([]error, blocks)
	h := newHolder(r)
	for first := 0; first < blocks; first += h.blocks {
		tasks.For(min(h.blocks, blocks-first), func(k int) {
			k += first
			from, to := k*blockOfRows, min(t.Len(), (k+1)*blockOfRows)
			if reports[k] = newReport(b); r.plain(from, to) {
				reports[k].Rows += to - from
				return
			}
			errs[k] = r.rows(from, to, reports[k])
		})
		h.hold(first)
	}
	total := newReport(b)
	for block := range blocks {
		if errs[block] != nil {
			return nil, errs[block]
		}
		total.Add(reports[block])
	}
	return total, nil
}

// tableReader is the state of readTable.
type tableReader struct {
	*binding
	table    *table.Table
	x        *mat.Dense
	features []int       // columns of the recipe
	absent   []int       // those that the table lacks, which are open
	stakes   []int       // those that only costs are made of
	words    [][]reading // of each, what its texts mean
}

// reading is what a cell means to column k of the recipe.
func (r *tableReader) reading(place, k int) reading {
	cell := r.table.Cells(r.source[k]).At(place)
	if table.IsText(cell) {
		return r.words[k][table.TextCode(cell)]
	}
	return r.fields[k].number(cell)
}

// stake is a number that only costs are made of.
func (r *tableReader) stake(place, k int) (x float64, ok bool) {
	c := r.table.Cells(r.source[k])
	if x = c.At(place); table.IsText(x) {
		return r.fields[k].parse(c.Bytes(x), r.table.Decimal())
	}
	return x, true
}

// rows goes through rows one by one, and takes down what training had not seen.
func (r *tableReader) rows(from, to int, report *Report) error {
	t, e := r.table, r.recipe.encoder(r.fields)
	for i := from; i < to; i++ {
		place := t.Index(i)
		e.Begin(r.x.RawRowView(i))
		for _, k := range r.features {
			e.note(k, r.reading(place, k))
		}
		if k, err := e.end(0); err != nil {
			j := r.source[k]
			at := t.CellPlace(i, j)
			at.Msg, at.Fix, at.Ways = err.Msg, err.Fix, err.Ways
			if r.fields[k].column.Kind == Numeric {
				at.OtherMark(t.Cells(j).Text(t.At(i, j)), t.Decimal())
			}
			return orNoRow(at, t, i, "correct the cell, or leave the line out")
		}
		for _, k := range r.stakes {
			if x, ok := r.stake(place, k); ok {
				e.stake(k, x)
			}
		}
		report.note(&e.remarks, 1, func(j int) string { return t.Cells(j).Text(t.Cells(j).At(place)) })
		if unusual := e.remarks.Unusual(); unusual != nil {
			if report.Unusual == nil {
				report.Unusual = make(map[int][]string)
			}
			report.Unusual[i-from] = unusual
		}
	}
	return nil
}

// plain goes through the same rows column by column, which is faster, and gives up where
// there is something to be said about one of them.
func (r *tableReader) plain(from, to int) bool {
	t := r.table
	for _, k := range r.stakes {
		for i := from; i < to; i++ {
			if x, ok := r.stake(t.Index(i), k); ok && r.fields[k].stakeFar(x) {
				return false
			}
		}
	}
	for _, k := range r.absent {
		for i := from; i < to; i++ {
			r.fields[k].put(&reading{state: gap}, r.x.RawRowView(i))
		}
	}
	for _, k := range r.features {
		f := &r.fields[k]
		if t.IsWhole() && f.column.Kind == Numeric && !f.markers.HasNumbers() {
			segment := t.Cells(r.source[k]).Segment(from / table.SegmentRows)
			if !r.numbers(segment[from%table.SegmentRows:][:to-from], f, from, k) {
				return false
			}
			continue
		}
		for i := from; i < to; i++ {
			v := r.reading(t.Index(i), k)
			if f.remarkable(v) || f.put(&v, r.x.RawRowView(i)) != "" {
				return false
			}
		}
	}
	return true
}

// numbers standardises plain numbers, and what is written otherwise, from a row on.
func (r *tableReader) numbers(cells []float64, f *field, from, k int) bool {
	c := f.column
	x := r.x.RawMatrix()
	at := from*x.Stride + f.at
	for i, cell := range cells {
		if table.IsText(cell) {
			v := &r.words[k][table.TextCode(cell)]
			if f.remarkable(*v) || f.put(v, r.x.RawRowView(from+i)) != "" {
				return false
			}
			at += x.Stride
			continue
		}
		if c.far(cell) {
			return false
		}
		z := c.standardised(cell)
		if z-z != 0 {
			return false
		}
		x.Data[at] = z
		at += x.Stride
	}
	return true
}

// Values are those of a numeric column in rows that the recipe encoded, as they were
// before but for rounding, NaN where the cell was missing. It reports false for columns
// that are no such.
func (r *Recipe) Values(x *mat.Dense, name string) ([]float64, bool) {
	i := slices.IndexFunc(r.Columns, func(c Column) bool { return c.Name == name && c.Kind == Numeric })
	if i < 0 {
		return nil, false
	}
	c, at := &r.Columns[i], r.Coding().place[i].number
	values := mat.Col(nil, at, x)
	for k, z := range values {
		if values[k] = c.unscaled(z); c.Indicator && x.At(k, at+1) != 0 {
			values[k] = math.NaN()
		}
	}
	return values, true
}

// unscaled is the value that a standardised number was made of.
func (c *Column) unscaled(z float64) float64 {
	v := c.Scaling.invert(c.Mean + c.Scale*z)
	// A cost of nothing must not come out as a negative one: (v − mean)/scale and the way back
	// round four times, each by half an ulp of the mean at most if v is zero; a transformation
	// adds as much of its own.
	if math.Abs(v) <= 0x1p-51*math.Abs(c.Mean) || c.Scaling != nil && math.Abs(v) <= 0x1p-45*math.Max(math.Abs(c.Low), math.Abs(c.High)) {
		return 0
	}
	return v
}
