package table

import "fmt"

// Values is a column that a program has in memory: numbers, or texts by their codes.
type Values struct {
	Name    string
	Numbers []float64 // NaN where the cell is missing
	// Codes, in place of Numbers, are the places of the cells' texts in Texts, and −1 where
	// the cell is missing. A text is read like a cell of a file, so that one that spells a
	// number is that number.
	Codes []int32
	Texts []string
}

// NewTable is a table of columns in memory. The name is used in messages, which count rows
// from 1. Numbers become part of the table.
func NewTable(name string, columns []Values) (*Table, error) {
	if len(columns) == 0 {
		return nil, &Error{File: name, Msg: "there is no column", Fix: "give some"}
	}
	t := &Table{file: name, header: true, dialect: dialect{separator: ',', decimal: '.', sure: true}, n: columns[0].len(), files: []fileRun{{0, name}}}
	if t.n == 0 {
		return nil, &Error{File: name, Msg: "there are no rows", Fix: "give at least one"}
	}
	t.lines.add(0, 1)
	names := make([]string, len(columns))
	for j, v := range columns {
		names[j] = v.Name
		if v.len() != t.n {
			return nil, &Error{File: name, Column: j + 1, ColumnName: v.Name, Msg: fmt.Sprintf("%s where the first column has %d", Plural(v.len(), "cell"), t.n), Fix: "give columns of the same length"}
		}
		c, err := v.cells()
		if err != nil {
			return nil, &Error{File: name, Column: j + 1, ColumnName: v.Name, Msg: err.Error(), Fix: "give the place of a text, or -1 where the cell is missing"}
		}
		t.cells = append(t.cells, c)
	}
	var err error
	t.columns, err = headerNames(name, 0, names)
	return t, err
}

func (v *Values) len() int { return max(len(v.Numbers), len(v.Codes)) }

// cells is the column as that of a file would be.
func (v *Values) cells() (*Column, error) {
	c := new(Column)
	missing := func() float64 { return wordCell(c.words.code(nil)) }
	values := v.Numbers
	if v.Codes != nil {
		byCode, read := make([]float64, len(v.Texts)), make([]bool, len(v.Texts)) // texts that no cell has stay out
		values = make([]float64, len(v.Codes))
		for i, k := range v.Codes {
			switch {
			case k == -1:
				values[i] = missing()
				continue
			case k < 0 || int(k) >= len(byCode):
				return nil, fmt.Errorf("code %d in row %d, where there are %s", k, i+1, Plural(len(v.Texts), "text"))
			case !read[k]:
				byCode[k], read[k] = cellOf(Cleaned([]byte(v.Texts[k])), '.', &c.words), true
			}
			values[i] = byCode[k]
		}
	} else {
		for i, x := range values {
			switch {
			case x != x:
				values[i] = missing()
			case x-x != 0:
				values[i] = wordCell(c.words.code([]byte(Spelled(x)))) // which the column refuses by name
			}
		}
	}
	for len(values) > SegmentRows {
		c.segments = append(c.segments, values[:SegmentRows:SegmentRows])
		values = values[SegmentRows:]
	}
	c.segments = append(c.segments, values)
	return c, nil
}
