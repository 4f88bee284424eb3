package table

// Most rows of most tables are plain: numbers of a few digits and words without quotes or
// white space around them. Those are read in one pass over their bytes, here; a row with
// anything else is left to the reader of all rows, which gives the same cells.

// plainRow reads the next row of the chunk if it is plain. If it is not, nothing has been
// read.
func (p *parser) plainRow() bool {
	r := &p.rows
	pos, last := r.pos, r.width-1
	for j := range p.values {
		cell, end, ok := p.plainNumber(pos)
		if !ok {
			if cell, end, ok = p.plainWord(pos, j); !ok {
				p.unread(j)
				return false
			}
		}
		switch {
		case end < len(r.text) && r.text[end] == r.separator && j < last:
			end++
		case j == last && end == len(r.text):
		case j == last && r.text[end] == '\n':
			end++
			r.at++
		case j == last && r.text[end] == '\r' && end+1 < len(r.text) && r.text[end+1] == '\n':
			end += 2
			r.at++
		default:
			p.unread(j)
			return false
		}
		p.values[j] = append(p.values[j], cell)
		pos = end
	}
	r.pos = pos
	return true
}

// unread takes the cells of the first n columns of a row back.
func (p *parser) unread(n int) {
	for j := range n {
		p.values[j] = p.values[j][:p.n]
	}
}

// plainNumber reads a number of up to exactDigits digits with or without a point. It is an
// integer below 2⁵³ over an exact power of ten, and so correctly rounded.
func (p *parser) plainNumber(pos int) (x float64, end int, ok bool) {
	text := p.rows.text
	negative := false
	if pos < len(text) && text[pos] == '-' {
		negative = true
		pos++
	}
	begin := pos
	mantissa := uint64(0)
	for pos < len(text) && text[pos]-'0' <= 9 {
		mantissa = mantissa*10 + uint64(text[pos]-'0')
		pos++
	}
	digits := pos - begin
	if pos < len(text) && text[pos] == p.decimal {
		pos++
		begin = pos
		for pos < len(text) && text[pos]-'0' <= 9 {
			mantissa = mantissa*10 + uint64(text[pos]-'0')
			pos++
		}
		decimals := pos - begin
		digits += decimals
		if digits > ExactDigits {
			return 0, 0, false
		}
		x = float64(mantissa) / powersOfTen[decimals]
	} else {
		if digits > ExactDigits || digits > 1 && text[begin] == '0' && !negative { // see isPadded
			return 0, 0, false
		}
		x = float64(mantissa)
	}
	if digits == 0 || pos < len(text) && text[pos] != p.rows.separator && text[pos] != '\n' && text[pos] != '\r' {
		return 0, 0, false
	}
	if negative {
		x = -x
	}
	return x, pos, true
}

// plainWord reads a cell up to the separator or the end of the line.
func (p *parser) plainWord(pos, j int) (cell float64, end int, ok bool) {
	text, separator := p.rows.text, p.rows.separator
	for end = pos; end < len(text); end++ {
		if c := text[end]; c == separator || c == '\n' {
			break
		} else if c == '"' {
			return 0, 0, false
		}
	}
	stop := end
	if stop > pos && text[stop-1] == '\r' {
		stop--
	}
	word := text[pos:stop]
	if len(word) > 0 && (!isPlain(word[0]) || !isPlain(word[len(word)-1])) {
		return 0, 0, false
	}
	return cellOf(word, p.decimal, &p.words[j]), stop, true
}

// isPlain tells what is neither white space nor the beginning or the end of a character
// that may be.
func isPlain(c byte) bool { return c > ' ' && c < 0x80 }
