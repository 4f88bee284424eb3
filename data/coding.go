package data

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Coding is the compact form of the features of a recipe: numbers first, then for every
// categorical column one code in place of its 0/1 features: the place of the category
// among the column's Categories, or −1 for one not seen in training. A kernel that only
// asks whether two categories are the same needs no more, and a column with hundreds of
// them takes the room of one number.
type Coding struct {
	dim      int
	features []int    // of each number, the feature it is
	names    []string // and its column in the table
	codes    []oneHot // the 0/1 features of each code
	place    []place  // of each column of the recipe
}

// oneHot is the 0/1 features of a column.
type oneHot struct{ first, size int }

// place is where a column of the recipe begins among the numbers, and its code, −1 if it
// has none.
type place struct{ number, code int }

// Coding is the recipe's.
func (r *Recipe) Coding() *Coding {
	c := &Coding{dim: r.Dim(), place: make([]place, len(r.Columns))}
	feature := 0
	for i := range r.Columns {
		column := &r.Columns[i]
		c.place[i] = place{len(c.features), -1}
		rest := column.width()
		if column.Kind == Categorical {
			c.place[i].code = len(c.codes)
			c.codes = append(c.codes, oneHot{feature, len(column.Categories)})
			feature += len(column.Categories)
			rest -= len(column.Categories)
		}
		for range rest {
			c.features, c.names = append(c.features, feature), append(c.names, column.Name)
			feature++
		}
	}
	return c
}

// Numbers is how many numbers a row has.
func (c *Coding) Numbers() int { return len(c.features) }

// Codes is how many codes a row has.
func (c *Coding) Codes() int { return len(c.codes) }

// Len is how many columns a row has.
func (c *Coding) Len() int { return len(c.features) + len(c.codes) }

// Size is how many categories a code stands for.
func (c *Coding) Size(code int) int { return c.codes[code].size }

// Name is the column of the table that a number comes from.
func (c *Coding) Name(number int) string { return c.names[number] }

// Compact is rows of features in compact form; x itself if there is nothing to shorten.
func (c *Coding) Compact(x *mat.Dense) *mat.Dense {
	n, d := x.Dims()
	if len(c.codes) == 0 || n == 0 {
		return x
	}
	if d != c.dim {
		panic(fmt.Sprintf("data: rows of %d features, not %d", d, c.dim))
	}
	out := mat.NewDense(n, c.Len(), nil)
	for i := range n {
		from, to := x.RawRowView(i), out.RawRowView(i)
		for k, feature := range c.features {
			to[k] = from[feature]
		}
		for k, s := range c.codes {
			code := -1
			for j, v := range from[s.first : s.first+s.size] {
				if v != 0 {
					code = j
					break
				}
			}
			to[len(c.features)+k] = float64(code)
		}
	}
	return out
}

// Expand is rows in compact form with their codes written out.
func (c *Coding) Expand(x *mat.Dense) *mat.Dense {
	n, _ := x.Dims()
	if len(c.codes) == 0 || n == 0 {
		return x
	}
	out := mat.NewDense(n, c.dim, nil)
	for i := range n {
		from, to := x.RawRowView(i), out.RawRowView(i)
		for k, feature := range c.features {
			to[feature] = from[k]
		}
		for k, s := range c.codes {
			if code := int(from[len(c.features)+k]); code >= 0 {
				to[s.first+code] = 1
			}
		}
	}
	return out
}

// ApplyCompact is Apply in compact form, without ever writing codes out.
func (r *Recipe) ApplyCompact(t *Table) (*mat.Dense, *Report, error) {
	b, err := r.bind(t.file, t.headerLine(), t.columns, t.header)
	if err != nil {
		return nil, nil, err
	}
	if t.n == 0 {
		return &mat.Dense{}, newReport(b), nil
	}
	c := r.Coding()
	first := make([]int, len(r.Columns))
	for k := range first {
		first[k] = c.place[k].number
	}
	x := mat.NewDense(t.n, c.Len(), nil)
	report, err := b.readTable(t, x, first, func(i, k int, v *reading) string {
		row, p, f := x.RawRowView(i), c.place[k], &b.fields[k]
		if p.code < 0 {
			return f.put(v, row[p.number:])
		}
		code := &row[c.Numbers()+p.code]
		switch v.state {
		case faulty:
			return v.problem
		case unseen:
			*code = -1
		case known:
			*code = float64(v.code)
		case gap:
			if !f.impute {
				return f.put(v, nil)
			}
			fill, _ := f.code([]byte(f.column.FillCategory), '.')
			*code = float64(fill)
			if f.column.Indicator {
				row[p.number] = 1
			}
		}
		return ""
	})
	if err != nil {
		return nil, nil, err
	}
	return x, report, nil
}
