package recipe

import (
	"math"
	"strconv"
	"time"

	"github.com/lossep/lossep/table"
)

// Cells reads encoded rows back as cells of a table.
type Cells struct {
	recipe *Recipe
	fields []field
}

// Cells are those of the recipe's rows.
func (r *Recipe) Cells() *Cells { return &Cells{r, r.fields()} }

// Missing tells whether the cell of a column was missing.
func (c *Cells) Missing(column int, row []float64) bool {
	f := &c.fields[column]
	first := f.at
	if f.column.Kind == Categorical {
		first = f.codeAt
	}
	return math.IsNaN(row[first]) || f.column.Indicator && row[f.at+f.column.numbers()-1] != 0
}

// Number is the value of a numeric column, as it was but for rounding; false if the column is of
// another kind or the cell was missing.
func (c *Cells) Number(column int, row []float64) (float64, bool) {
	f := &c.fields[column]
	if f.column.Kind != Numeric || c.Missing(column, row) {
		return 0, false
	}
	return f.column.unscaled(row[f.at]), true
}

// Put writes a number of a numeric column to a row. It reports false for one that is too far
// from the training values.
func (c *Cells) Put(column int, x float64, row []float64) bool {
	f := &c.fields[column]
	if f.column.Indicator {
		row[f.at+f.column.numbers()-1] = 0
	}
	return f.quantity(x, row[f.at:]) == ""
}

// Text is the cell of a column as people write it: a number to ten digits, a date as ISO 8601
// does, a category by its name; "missing" where it was, and "new category" where training had
// none such.
func (c *Cells) Text(column int, row []float64) string {
	f := &c.fields[column]
	own := f.column
	if c.Missing(column, row) {
		return "missing"
	}
	switch own.Kind {
	case Numeric:
		return numberText(own.unscaled(row[f.at]))
	case Date:
		seconds := math.Round(own.Dates.Origin + 86400*own.unscaled(row[f.at]))
		if own.Dates.Order == table.ClockTime {
			return time.Unix(int64(seconds), 0).UTC().Format("15:04:05")
		}
		return dateText(seconds)
	case Presence:
		return "present"
	case Ordered:
		return category(own, own.unscaled(row[f.at]))
	}
	return category(own, row[f.codeAt])
}

// category is the one at a place, which is a whole number but for rounding.
func category(c *Column, place float64) string {
	const rounding = 1e-6
	k := math.Round(place)
	if math.Abs(place-k) > rounding || k < 0 || k >= float64(len(c.Categories)) {
		return "new category"
	}
	return c.Categories[int(k)]
}

// numberText is a number to ten digits, without an exponent where people would write none.
func numberText(x float64) string {
	const digits, plain = 10, 1e15
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	if size := math.Abs(rounded); err != nil || size >= plain || size < 1/plain && size > 0 {
		return strconv.FormatFloat(x, 'g', digits, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
