package data

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Apply encodes the rows of a table, whose columns may come in another order if
// they have names. The report counts what the recipe had not seen.
func (r *Recipe) Apply(t *Table) (*mat.Dense, *Report, error) {
	b, err := r.bind(t.file, 1, t.columns, t.header)
	if err != nil {
		return nil, nil, err
	}
	report := newReport(b)
	if t.Len() == 0 {
		return &mat.Dense{}, report, nil
	}
	x := mat.NewDense(t.Len(), r.Dim(), nil)
	for i, row := range t.rows {
		if err := b.encode(row, t.lines[i], x.RawRowView(i), report); err != nil {
			return nil, nil, err
		}
	}
	return x, report, nil
}

// Labels gives the outcomes ±1 of a table that has the target column.
func (r *Recipe) Labels(t *Table) ([]int, error) {
	b, err := r.bind(t.file, 1, t.columns, t.header)
	if err != nil {
		return nil, err
	}
	if b.target < 0 {
		_, err := b.column(r.Target.Column)
		return nil, err
	}
	y := make([]int, t.Len())
	for i, row := range t.rows {
		if y[i], err = b.label(row, t.lines[i]); err != nil {
			return nil, err
		}
	}
	return y, nil
}

// label reads the outcome of a row of a file that has one.
func (b *binding) label(row []string, line int) (int, error) {
	target := &b.recipe.Target
	y, known := target.label(clean(row[b.target]))
	if !known {
		at := b.at(line, b.target)
		at.Msg = fmt.Sprintf("the outcome %s is neither %s nor %s", quote(row[b.target]), quote(target.Positive), quote(target.Negative))
		at.Fix = "use the spellings of the training file"
		return 0, at
	}
	return y, nil
}

// encode writes the features of one row into dst, which holds zeros.
func (b *binding) encode(row []string, line int, dst []float64, report *Report) error {
	for i := range b.recipe.Columns {
		c := &b.recipe.Columns[i]
		if !c.isFeature() {
			continue
		}
		j := b.source[i]
		cell := clean(row[j])
		var unseen bool
		problem := ""
		switch {
		case isMissing(b.recipe.Missing, cell):
			problem = c.encodeMissing(b.recipe.Impute, dst)
		case c.Kind == Numeric:
			x, kind := parseNumber(cell)
			if kind != finite {
				return notFinite(b.at(line, j), row[j])
			}
			problem = c.encodeNumber(x, dst)
		case c.Kind == Categorical:
			unseen = !c.encodeCategory(cell, dst)
		}
		if problem != "" {
			at := b.at(line, j)
			at.Msg, at.Fix = problem, fixCell
			return at
		}
		if unseen {
			report.unseen(i, cell)
		}
		dst = dst[c.width():] // the features of the columns to come
	}
	report.Rows++
	return nil
}

const fixCell = "correct the cell, or learn from training rows that have such cells"

// encodeNumber writes (x − mean)/scale.
func (c *Column) encodeNumber(x float64, dst []float64) (problem string) {
	z := (x - c.Mean) / c.Scale
	if math.IsInf(z, 0) {
		return fmt.Sprintf("%v is too far from the training values (mean %.4g, scale %.4g)", x, c.Mean, c.Scale)
	}
	dst[0] = z
	return ""
}

// encodeCategory sets the feature of the category; one that is not known
// leaves all at zero.
func (c *Column) encodeCategory(category string, dst []float64) (known bool) {
	k, known := slices.BinarySearch(c.Categories, category)
	if known {
		dst[k] = 1
	}
	return known
}

// encodeMissing writes the fill value and the indicator.
func (c *Column) encodeMissing(impute bool, dst []float64) (problem string) {
	if !impute {
		return "missing cell, and the model was trained without imputation"
	}
	switch c.Kind {
	case Numeric:
		problem = c.encodeNumber(c.Fill, dst)
	case Categorical:
		c.encodeCategory(c.FillCategory, dst)
	}
	if c.Indicator {
		dst[c.width()-1] = 1
	}
	return problem
}
