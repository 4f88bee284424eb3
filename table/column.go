package table

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math"
)

// SegmentRows is how many cells of a column lie together. Columns grow by whole
// segments, so that nothing is copied when they do.
const SegmentRows = 1 << 14

// Column is a column of a table: numbers, and texts by their codes.
type Column struct {
	segments [][]float64 // nil where the cells are held in another form
	forms    []Form      // of those segments, nil if all are held as they are
	words    dictionary
	unread   bool  // the column was left out, and nothing is known of its cells
	room     Room  // for whole segments; nil for the memory of the process
	full     error // why there was no more room
}

// At is cell i.
func (c *Column) At(i int) float64 {
	if segment := c.segments[i/SegmentRows]; segment != nil {
		return segment[i%SegmentRows]
	}
	return c.forms[i/SegmentRows].At(i % SegmentRows)
}

// Each goes through the cells.
func (c *Column) Each(use func(i int, cell float64)) {
	for k := range c.segments {
		for i, cell := range c.Segment(k) {
			use(k*SegmentRows+i, cell)
		}
	}
}

// Segments are the cells in order, all but the last of SegmentRows. They are not to be changed.
func (c *Column) Segments() [][]float64 {
	if c.forms == nil {
		return c.segments
	}
	all := make([][]float64, len(c.segments))
	for k := range all {
		all[k] = c.Segment(k)
	}
	return all
}

// Segment is one of them.
func (c *Column) Segment(k int) []float64 {
	if c.segments[k] != nil {
		return c.segments[k]
	}
	cells := make([]float64, c.forms[k].Len())
	for i := range cells {
		cells[i] = c.forms[k].At(i)
	}
	return cells
}

// Form is another form that the cells of a segment are held in.
type Form interface {
	Len() int
	At(i int) float64 // the cell, bit for bit
}

// IsHeld tells whether a segment is held in another form.
func (c *Column) IsHeld(k int) bool { return c.segments[k] == nil }

// Hold has the cells of a segment be held in another form. Nobody else may read the column meanwhile.
func (c *Column) Hold(k int, f Form) {
	if c.forms == nil {
		c.forms = make([]Form, len(c.segments))
	}
	c.segments[k], c.forms[k] = nil, f
}

// Words is the number of different texts, of which Word gives one by its code.
func (c *Column) Words() int { return c.words.len() }

// Word is the text with a code.
func (c *Column) Word(code uint32) []byte { return c.words.word(code) }

// Unread tells whether the column was left out, so that nothing is known of its cells.
func (c *Column) Unread() bool { return c.unread }

// Bytes is the text of a cell that holds one.
func (c *Column) Bytes(cell float64) []byte { return c.words.word(TextCode(cell)) }

// Text is the text of any cell.
func (c *Column) Text(cell float64) string {
	if IsText(cell) {
		return string(c.Bytes(cell))
	}
	return Spelled(cell)
}

// append adds cells whose texts have the codes of another dictionary. Texts that no
// cell has stay out.
func (c *Column) append(values []float64, words *dictionary) {
	if words.len() > 0 {
		codes := make([]float64, words.len()) // 0 where not yet looked up
		for i, v := range values {
			if !IsText(v) {
				continue
			}
			k := TextCode(v)
			if codes[k] == 0 {
				codes[k] = wordCell(c.words.code(words.word(k)))
			}
			values[i] = codes[k]
		}
	}
	for len(values) > 0 {
		last := len(c.segments) - 1
		if last < 0 || len(c.segments[last]) == SegmentRows {
			c.segments = append(c.segments, nil)
			last++
			if last > 0 { // small tables stay small
				c.segments[last] = c.segment()
			}
		}
		n := min(len(values), SegmentRows-len(c.segments[last]))
		if room := cap(c.segments[last]); len(c.segments[last])+n > room {
			larger := make([]float64, len(c.segments[last]), min(SegmentRows, max(2*room, len(c.segments[last])+n)))
			copy(larger, c.segments[last])
			c.segments[last] = larger
		}
		c.segments[last] = append(c.segments[last], values[:n]...)
		values = values[n:]
	}
}

// segment is room for a segment.
func (c *Column) segment() []float64 {
	if c.room != nil && c.full == nil {
		var s []float64
		if s, c.full = c.room.Numbers(SegmentRows); c.full == nil {
			return s[:0]
		}
	}
	return make([]float64, 0, SegmentRows)
}

// lineIndex knows the lines on which rows begin, as runs of rows on consecutive lines.
type lineIndex []lineRun

type lineRun struct{ row, line int }

func (x *lineIndex) add(row, line int) {
	if k := len(*x) - 1; k >= 0 && (*x)[k].line+row-(*x)[k].row == line {
		return
	}
	*x = append(*x, lineRun{row, line})
}

// line is that of a row.
func (x lineIndex) line(row int) int {
	low, high := 0, len(x) // the run is in x[low:high]
	for high-low > 1 {
		if mid := (low + high) / 2; x[mid].row <= row {
			low = mid
		} else {
			high = mid
		}
	}
	return x[low].line + row - x[low].row
}

// dictionary numbers different texts in the order in which they first occur. The texts
// lie one after another, so that a million of them are three blocks of memory.
type dictionary struct {
	text  []byte
	ends  []int    // of each text
	table []uint32 // code + 1 by hash, 0 where free; its length is a power of two
}

var dictionarySeed = maphash.MakeSeed() // decides where codes are looked up, not what they are

// len is the number of texts.
func (d *dictionary) len() int { return len(d.ends) }

// word is the text of a code. It is part of the dictionary.
func (d *dictionary) word(code uint32) []byte {
	start := 0
	if code > 0 {
		start = d.ends[code-1]
	}
	return d.text[start:d.ends[code]]
}

// code is that of a text, a new one if need be.
func (d *dictionary) code(text []byte) uint32 {
	if 2*len(d.ends) >= len(d.table) {
		d.grow()
	}
	slot := d.slot(text)
	if d.table[slot] == 0 {
		d.text = append(d.text, text...)
		d.ends = append(d.ends, len(d.text))
		d.table[slot] = uint32(len(d.ends))
	}
	return d.table[slot] - 1
}

// find is the code of a text that may not be there.
func (d *dictionary) find(text []byte) (uint32, bool) {
	if len(d.table) == 0 {
		return 0, false
	}
	k := d.table[d.slot(text)]
	return k - 1, k > 0
}

// slot is where a text is in the table, or would be.
func (d *dictionary) slot(text []byte) uint64 {
	mask := uint64(len(d.table) - 1)
	for slot := maphash.Bytes(dictionarySeed, text) & mask; ; slot = (slot + 1) & mask {
		if k := d.table[slot]; k == 0 || bytes.Equal(d.word(k-1), text) {
			return slot
		}
	}
}

func (d *dictionary) grow() {
	d.table = make([]uint32, max(16, 2*len(d.table)))
	for code := range d.ends {
		d.table[d.slot(d.word(uint32(code)))] = uint32(code) + 1
	}
}

// reset forgets all texts and keeps the memory.
func (d *dictionary) reset() {
	d.text, d.ends = d.text[:0], d.ends[:0]
	clear(d.table)
}

// bytes is what the dictionary holds on to.
func (d *dictionary) bytes() int { return len(d.text) + 8*len(d.ends) + 4*len(d.table) }

// A cell is eight bytes: a finite number, or the code of a text in the payload of a
// quiet NaN, which no number of a file is.
const wordBits = 0x7FF8_0000_0000_0000

func wordCell(code uint32) float64 { return math.Float64frombits(wordBits | uint64(code)) }

// TextCode is the code in a cell that holds a text.
func TextCode(cell float64) uint32 { return uint32(math.Float64bits(cell)) }

// IsText tells texts from numbers.
func IsText(cell float64) bool { return cell != cell }

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
