package data

// segmentRows is how many cells of a column lie together. Columns grow by whole
// segments, so that nothing is copied when they do.
const segmentRows = 1 << 14

// cells is a column of a table: numbers, and texts by their codes.
type cells struct {
	segments [][]float64
	words    dictionary
	unread   bool  // the column was left out, and nothing is known of its cells
	room     Room  // for whole segments; nil for the memory of the process
	full     error // why there was no more room
}

// at is cell i.
func (c *cells) at(i int) float64 { return c.segments[i/segmentRows][i%segmentRows] }

// each goes through the cells.
func (c *cells) each(use func(i int, cell float64)) {
	for k, segment := range c.segments {
		for i, cell := range segment {
			use(k*segmentRows+i, cell)
		}
	}
}

// Segments are the cells in order, all but the last of segmentRows.
func (c *cells) Segments() [][]float64 { return c.segments }

// Words is the number of different texts, of which Word gives one by its code.
func (c *cells) Words() int { return c.words.len() }

// Word is the text with a code.
func (c *cells) Word(code uint32) []byte { return c.words.word(code) }

// Unread tells whether the column was left out, so that nothing is known of its cells.
func (c *cells) Unread() bool { return c.unread }

// Bytes is the text of a cell that holds one.
func (c *cells) Bytes(cell float64) []byte { return c.words.word(wordOf(cell)) }

// text is the text of any cell.
func (c *cells) text(cell float64) string {
	if isWord(cell) {
		return string(c.Bytes(cell))
	}
	return spelled(cell)
}

// append adds cells whose texts have the codes of another dictionary. Texts that no
// cell has stay out.
func (c *cells) append(values []float64, words *dictionary) {
	if words.len() > 0 {
		codes := make([]float64, words.len()) // 0 where not yet looked up
		for i, v := range values {
			if !isWord(v) {
				continue
			}
			k := wordOf(v)
			if codes[k] == 0 {
				codes[k] = wordCell(c.words.code(words.word(k)))
			}
			values[i] = codes[k]
		}
	}
	for len(values) > 0 {
		last := len(c.segments) - 1
		if last < 0 || len(c.segments[last]) == segmentRows {
			c.segments = append(c.segments, nil)
			last++
			if last > 0 { // small tables stay small
				c.segments[last] = c.segment()
			}
		}
		n := min(len(values), segmentRows-len(c.segments[last]))
		if room := cap(c.segments[last]); len(c.segments[last])+n > room {
			larger := make([]float64, len(c.segments[last]), min(segmentRows, max(2*room, len(c.segments[last])+n)))
			copy(larger, c.segments[last])
			c.segments[last] = larger
		}
		c.segments[last] = append(c.segments[last], values[:n]...)
		values = values[n:]
	}
}

// segment is room for a segment.
func (c *cells) segment() []float64 {
	if c.room != nil && c.full == nil {
		var s []float64
		if s, c.full = c.room.Numbers(segmentRows); c.full == nil {
			return s[:0]
		}
	}
	return make([]float64, 0, segmentRows)
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
