package data

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/tasks"
)

// Apply encodes the rows of a table, whose columns may come in another order if
// they have names. The report counts what the recipe had not seen.
func (r *Recipe) Apply(t *Table) (*mat.Dense, *Report, error) {
	b, err := r.bind(t.file, t.headerLine(), t.columns, t.header)
	if err != nil {
		return nil, nil, err
	}
	if t.n == 0 {
		return &mat.Dense{}, newReport(b), nil
	}
	x := mat.NewDense(t.n, r.Dim(), nil)
	report, err := b.readTable(t, func(i int, f *field, v reading) string {
		return f.put(v, x.RawRowView(i)[f.offset:])
	})
	if err != nil {
		return nil, nil, err
	}
	return x, report, nil
}

// blockOfRows is how many rows of a table are encoded at a time: their cells and
// features stay in the caches.
const blockOfRows = 1024

// readTable reads every cell that makes features and hands it over with its row, on all
// processors. A text is read once however often it occurs. The error is the first in
// the order of the rows.
func (b *binding) readTable(t *Table, use func(row int, f *field, v reading) (problem string)) (*Report, error) {
	words := make([][]reading, len(b.fields))
	var features []int // columns of the recipe
	for i := range b.fields {
		if !b.fields[i].column.isFeature() {
			continue
		}
		features = append(features, i)
	}
	tasks.Each(len(features), func() func(int) {
		return func(k int) {
			i := features[k]
			dictionary := &t.cells[b.source[i]].words
			words[i] = make([]reading, dictionary.len())
			for code := range words[i] {
				words[i][code] = b.fields[i].text(dictionary.word(uint32(code)), t.dialect.decimal)
			}
		}
	})
	blocks := (t.n + blockOfRows - 1) / blockOfRows
	reports := make([]*Report, blocks)
	errs := make([]error, blocks)
	tasks.Each(blocks, func() func(int) {
		return func(block int) {
			report := newReport(b)
			reports[block] = report
			for i := block * blockOfRows; i < min(t.n, (block+1)*blockOfRows); i++ {
				place := t.place(i)
				for _, k := range features {
					f := &b.fields[k]
					j := b.source[k]
					var v reading
					if cell := t.cells[j].at(place); isWord(cell) {
						v = words[k][wordOf(cell)]
					} else {
						v = f.number(cell)
					}
					if problem := use(i, f, v); problem != "" {
						at := t.cell(i, j)
						at.Msg, at.Fix = problem, fixCell
						errs[block] = at
						return
					}
					if v.state == unseen {
						report.unseen(k, t.cells[j].text(t.cells[j].at(place)))
					} else if f.far(v) {
						report.far(k)
					}
				}
				report.Rows++
			}
		}
	})
	total := newReport(b)
	for block := range blocks {
		if errs[block] != nil {
			return nil, errs[block]
		}
		total.Add(reports[block])
	}
	return total, nil
}

// Values are those of a numeric column in rows that the recipe encoded, as they were
// before but for rounding, NaN where the cell was missing. It reports false for columns
// that are no such.
func (r *Recipe) Values(x *mat.Dense, name string) ([]float64, bool) {
	feature := 0
	for i := range r.Columns {
		c := &r.Columns[i]
		if c.Name != name || c.Kind != Numeric {
			feature += c.width()
			continue
		}
		values := mat.Col(nil, feature, x)
		for k, z := range values {
			if c.Indicator && x.At(k, feature+1) != 0 {
				values[k] = math.NaN()
				continue
			}
			values[k] = c.Scaling.invert(c.Mean + c.Scale*z)
			// A cost of nothing must not come out as a negative one: (v − mean)/scale and
			// the way back round four times, each by half an ulp of the mean at most if v
			// is zero; a bend adds as much of its own.
			if math.Abs(values[k]) <= 0x1p-51*math.Abs(c.Mean) || c.Scaling != nil && math.Abs(values[k]) <= 0x1p-45*math.Max(math.Abs(c.Low), math.Abs(c.High)) {
				values[k] = 0
			}
		}
		return values, true
	}
	return nil, false
}
