package recipe

import (
	"math"
	"regexp"
	"strconv"
	"time"

	"github.com/lossep/lossep/table"
)

// Coding is how the features of a recipe lie in an encoded row: numbers first, then for
// every categorical column one code in place of its 0/1 features: the place of the category
// among the column's Categories, or −1 for one not seen in training. A kernel that only
// asks whether two categories are the same needs no more, and a column with hundreds of
// them takes the room of one number.
type Coding struct {
	names []string // of each number, its column in the table
	sizes []int    // of each code, how many categories it stands for
	place []place  // of each column of the recipe

	scored bool // the first number is a score
}

// place is where a column of the recipe begins among the numbers, and its code, −1 if it
// has none.
type place struct{ number, code int }

// Coding is the recipe's.
func (r *Recipe) Coding() *Coding {
	c := &Coding{place: make([]place, len(r.Columns)), scored: r.scoreColumn() >= 0}
	for _, i := range r.inOrder() {
		column := &r.Columns[i]
		c.place[i] = place{len(c.names), -1}
		if column.Kind == Categorical {
			c.place[i].code = len(c.sizes)
			c.sizes = append(c.sizes, len(column.Categories))
		}
		for range column.numbers() {
			c.names = append(c.names, column.Name)
		}
	}
	return c
}

// Scored tells whether the first number is a score, the probability by another model.
func (c *Coding) Scored() bool { return c.scored }

// Numbers is how many numbers a row has.
func (c *Coding) Numbers() int { return len(c.names) }

// Codes is how many codes a row has.
func (c *Coding) Codes() int { return len(c.sizes) }

// Len is how many entries a row has.
func (c *Coding) Len() int { return len(c.names) + len(c.sizes) }

// Size is how many categories a code stands for.
func (c *Coding) Size(code int) int { return c.sizes[code] }

// Name is the column of the table that a number comes from.
func (c *Coding) Name(number int) string { return c.names[number] }

// Place is where a column of the recipe begins among the entries of a row, its indicator of missing
// cells, and its code; −1 where it has none.
func (r *Recipe) Place(column int) (number, indicator, code int) {
	coding, c := r.Coding(), &r.Columns[column]
	number, indicator, code = coding.place[column].number, -1, coding.place[column].code
	if c.Indicator {
		indicator = number + c.numbers() - 1
	}
	if code >= 0 {
		code += coding.Numbers()
	}
	return number, indicator, code
}

// Part is what a column of the table makes of a row.
type Part struct {
	Column string
	Index  int   // of the column in the recipe
	At     []int // entries of the row
}

// Parts are those of every column that makes any, in order.
func (r *Recipe) Parts() []Part {
	var all []Part
	c := r.Coding()
	for i := range r.Columns {
		part := Part{Column: r.Columns[i].Name, Index: i}
		for k := range r.Columns[i].numbers() {
			part.At = append(part.At, c.place[i].number+k)
		}
		if code := c.place[i].code; code >= 0 {
			part.At = append(part.At, c.Numbers()+code)
		}
		if part.At != nil {
			all = append(all, part)
		}
	}
	return all
}

// Entries names the entries of an encoded row: "age" for a number or a code, "income missing" for an
// indicator, and the cycles of a date.
func (r *Recipe) Entries() []string {
	var numbers, codes []string
	for _, i := range r.inOrder() {
		c := r.Columns[i]
		if c.Kind == Categorical {
			codes = append(codes, c.Name)
			c.Categories = nil
		}
		one := Recipe{Columns: []Column{c}}
		numbers = append(numbers, one.Features()...)
	}
	return append(numbers, codes...)
}

var entryNumber = regexp.MustCompile(`\[(\d+)\]`)

// NameEntries puts names in place of the numbers of entries, as in lengthscale[0].
func (r *Recipe) NameEntries(text string) string {
	names := r.Entries()
	return entryNumber.ReplaceAllStringFunc(text, func(found string) string {
		if k, err := strconv.Atoi(found[1 : len(found)-1]); err == nil && k < len(names) {
			return " of " + names[k]
		}
		return found
	})
}

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
