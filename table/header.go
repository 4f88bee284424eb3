package table

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Header says whether the first row holds the names of the columns.
type Header string

// The choices for Header; the empty string means auto.
const (
	HeaderAuto Header = "auto" // compare the first row with the rest
	HeaderYes  Header = "yes"
	HeaderNo   Header = "no"
	// HeaderExpected is auto for a table that is known to name its columns, as the one that a model was fitted to did: rows of
	// words alone, such as a single outcome, look like names as much as these do.
	HeaderExpected Header = "expected"
	// HeaderAbove is for text that was made of a file without one: the first row names the
	// columns, and the next is line 1 of the file.
	HeaderAbove Header = "above"
)

// check refuses a spelling that is not one of the choices.
func (h Header) check() error {
	switch h {
	case "", HeaderAuto, HeaderYes, HeaderNo, HeaderExpected, HeaderAbove:
		return nil
	}
	return fmt.Errorf("table: header %s is none of auto, yes, no", Quote(string(h)))
}

// looksLikeHeader compares a row of the first chunk, mostly the first, with those below it.
//
// Where most cells of a column below the first row are numbers or dates, a word on top of
// it speaks for a header and a number against; the majority of such columns decides.
// Without such columns, the first row is a header if values repeat below it but none
// of its cells occurs again in its own column. A row that stands alone is one if it
// has no numbers.
func (p *parser) looksLikeHeader(row int) bool {
	m := NewMarkers(DefaultMissing())
	if p.n == row+1 {
		return !slices.ContainsFunc(p.row(row), func(cell []byte) bool { return IsAmount(cell, p.decimal) })
	}
	words, amounts := 0, 0
	repeats, again := false, false
	for j, top := range p.row(row) {
		rest := p.values[j][row+1 : p.n]
		if p.amountsBelow(j, rest, m) {
			switch {
			case IsAmount(top, p.decimal):
				amounts++
			case !m.Text(top):
				words++
			}
			continue
		}
		first := math.Float64bits(p.values[j][row])
		seen := make(map[uint64]bool)
		for _, cell := range rest {
			bits := math.Float64bits(cell)
			repeats = repeats || seen[bits]
			again = again || bits == first
			seen[bits] = true
		}
	}
	if words+amounts > 0 {
		return words > amounts
	}
	return repeats && !again
}

// row is the text of a row of the first chunk.
func (p *parser) row(k int) [][]byte {
	if k == 0 {
		return p.firstRow
	}
	texts := make([][]byte, len(p.values))
	for j := range texts {
		if cell := p.values[j][k]; IsText(cell) {
			texts[j] = p.words[j].word(TextCode(cell))
		} else {
			texts[j] = []byte(Spelled(cell))
		}
	}
	return texts
}

// paddedTitle finds the row that names the columns below a title, which spreadsheets fill
// up with empty cells to the right: words in all cells, that look like a header to the rows
// below. It is 0 if there is none.
func (p *parser) paddedTitle() int {
	for k := range min(p.n-1, mostTitle) {
		row := p.row(k)
		if len(row[len(row)-1]) == 0 {
			continue
		}
		named := !slices.ContainsFunc(row, func(cell []byte) bool { return len(cell) == 0 || IsAmount(cell, p.decimal) })
		if k > 0 && named && p.looksLikeHeader(k) {
			return k
		}
		return 0
	}
	return 0
}

// amountsBelow reports whether most cells of column j below a header are numbers or dates,
// missing cells aside: a line of totals does not make words of them.
func (p *parser) amountsBelow(j int, below []float64, m *Markers) bool {
	counts := make(map[uint32]int) // what a text adds to the majority
	majority := 0
	for _, cell := range below {
		if !IsText(cell) {
			majority++
			continue
		}
		k := TextCode(cell)
		count, known := counts[k]
		if !known {
			switch text := p.words[j].word(k); {
			case m.Text(text):
			case IsAmount(text, p.decimal), WordUnit(text) != "": // 12 km; on top it may be a name, as in 2019 sales
				count = +1
			default:
				count = -1
			}
			counts[k] = count
		}
		majority += count
	}
	return majority > 0
}

// IsAmount recognises numbers, however they are written, and dates.
func IsAmount(text []byte, decimal byte) bool {
	if _, kind := ParseNumber(text, decimal); kind != NotNumber {
		return true
	}
	if mayBeNumber(text) {
		_, unit := cutUnit(text)
		for _, n := range candidates(dialect{decimal: decimal}, unit) {
			if _, ok := n.Parse(text); ok {
				return true
			}
		}
	}
	for _, order := range []DateOrder{YearFirst, DayFirst, MonthFirst, ClockTime} {
		if _, ok := ParseDate(text, order); ok {
			return true
		}
	}
	return false
}

// headerNames turns a header row into distinct names; a blank one (the row
// names of a spreadsheet, say) gets the name it would have without a header.
func headerNames(file string, line int, first []string) ([]string, error) {
	names := make([]string, len(first))
	where := make(map[string]int, len(first))
	for j, cell := range first {
		names[j] = cell
		if names[j] == "" {
			names[j] = GeneratedName(j)
		}
		if before, dup := where[names[j]]; dup {
			return nil, (&Error{File: file, Line: line, Column: j + 1, ColumnName: names[j]}).Say(
				"give every column its own name, or say that the first row is data",
				"duplicate header name: column %d is called %s too", before+1, Quote(names[j])).
				By(Way{Option: WayHeader, Value: string(HeaderNo)})
		}
		where[names[j]] = j
	}
	return names, nil
}

// namelessNotes says what the columns without a name in a header row are called.
func namelessNotes(first []string) []string {
	var called []string
	for j, cell := range first {
		if cell == "" {
			called = append(called, GeneratedName(j))
		}
	}
	if called == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s without a name in the header, called by place: %s", Plural(len(called), "column"), QuoteList(called))}
}

// GeneratedName names column j of a file without a header: c1, c2, …
func GeneratedName(j int) string { return "c" + strconv.Itoa(j+1) }

// GeneratedNames names all columns of such a file.
func GeneratedNames(n int) []string {
	names := make([]string, n)
	for j := range names {
		names[j] = GeneratedName(j)
	}
	return names
}
