package table

// segmentRows is how many cells of a column lie together. Columns grow by whole
// segments, so that nothing is copied when they do.
const SegmentRows = 1 << 14

// cells is a column of a table: numbers, and texts by their codes.
type Column struct {
	segments [][]float64
	words    dictionary
	unread   bool  // the column was left out, and nothing is known of its cells
	room     Room  // for whole segments; nil for the memory of the process
	full     error // why there was no more room
}

// at is cell i.
func (c *Column) At(i int) float64 { return c.segments[i/SegmentRows][i%SegmentRows] }

// each goes through the cells.
func (c *Column) Each(use func(i int, cell float64)) {
	for k, segment := range c.segments {
		for i, cell := range segment {
			use(k*SegmentRows+i, cell)
		}
	}
}

// Segments are the cells in order, all but the last of segmentRows.
func (c *Column) Segments() [][]float64 { return c.segments }

// Words is the number of different texts, of which Word gives one by its code.
func (c *Column) Words() int { return c.words.len() }

// Word is the text with a code.
func (c *Column) Word(code uint32) []byte { return c.words.word(code) }

// Unread tells whether the column was left out, so that nothing is known of its cells.
func (c *Column) Unread() bool { return c.unread }

// Bytes is the text of a cell that holds one.
func (c *Column) Bytes(cell float64) []byte { return c.words.word(TextCode(cell)) }

// text is the text of any cell.
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
