package recipe

import (
	"regexp"
	"strconv"
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
}

// place is where a column of the recipe begins among the numbers, and its code, −1 if it
// has none.
type place struct{ number, code int }

// Coding is the recipe's.
func (r *Recipe) Coding() *Coding {
	c := &Coding{place: make([]place, len(r.Columns))}
	for i := range r.Columns {
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
	for i := range r.Columns {
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
