package data

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// scanned is what is found in a whole column.
type scanned struct {
	table   *Table
	column  int
	cells   *cells
	markers *markers

	numbers  int       // cells that are plain numbers, markers aside
	missing  int       // cells that are missing
	gap      int       // the first of their rows
	counts   []int     // of each text, missing or not
	firsts   []int     // the first row of each text
	words    []uint32  // the texts that are not missing, in order of occurrence
	texts    int       // cells that hold them
	least    float64   // the smallest number
	most     float64   // the largest
	sum      twofold   // of all numbers, if it does not overflow
	whole    bool      // all numbers are integers
	thousand bool      // all that are not could be thousands with a point between
	counting bool      // integers that go up by one from row to row
	distinct []float64 // the different numbers, as long as they are few
}

// fewDistinct is how many different integers may be codes.
const fewDistinct = 10

// scan makes one pass over column j.
func scan(t *Table, j int, m *markers) *scanned {
	s := &scanned{
		table: t, column: j, cells: t.cells[j], markers: m, gap: -1,
		least: math.Inf(1), most: math.Inf(-1), whole: true, thousand: true, counting: true,
	}
	s.counts = make([]int, s.cells.words.len())
	s.firsts = make([]int, s.cells.words.len())
	previous := math.NaN()
	for i, part := range t.stretches(j) {
		previous = s.look(i, part, previous)
	}
	s.sortWords()
	slices.Sort(s.distinct)
	return s
}

// look goes on with the cells from row first on; previous is the cell before them. What can
// no longer be so is not asked again, and what changes with every cell is at hand.
func (s *scanned) look(first int, part []float64, previous float64) float64 {
	m := s.markers
	marked := len(m.numbers) > 0
	least, most, numbers, sum := s.least, s.most, s.numbers, s.sum
	whole, thousand, counting, distinct := s.whole, s.thousand, s.counting, s.distinct
	for k, x := range part {
		if isWord(x) {
			code := wordOf(x)
			if s.counts[code] == 0 {
				s.firsts[code] = first + k
			}
			s.counts[code]++
			counting = false
			continue
		}
		if marked && m.number(x) {
			s.miss(first+k, 1)
			counting = false
			continue
		}
		numbers++
		sum = sum.plus(x)
		if x < least {
			least = x
		}
		if x > most {
			most = x
		}
		if (whole || thousand) && x != math.Trunc(x) {
			whole, counting = false, false
			if thousand && (math.Abs(x) >= 1000 || math.Abs(x) < 1 || math.Round(1000*x)/1000 != x) {
				thousand = false
			}
		}
		if counting {
			counting = first+k == 0 || x == previous+1
			previous = x
		}
		if len(distinct) <= fewDistinct && !slices.Contains(distinct, x) {
			distinct = append(distinct, x)
		}
	}
	s.least, s.most, s.numbers, s.sum = least, most, numbers, sum
	s.whole, s.thousand, s.counting, s.distinct = whole, thousand, counting, distinct
	return previous
}

func (s *scanned) miss(row, cells int) {
	s.missing += cells
	if s.gap < 0 || row < s.gap {
		s.gap = row
	}
}

// sortWords tells texts from missing cells. A dash is a value where there is a plus.
func (s *scanned) sortWords() {
	plus, ok := s.cells.words.find([]byte("+"))
	dashes := ok && s.counts[plus] > 0
	for k, n := range s.counts {
		if n == 0 {
			continue
		}
		word := s.cells.words.word(uint32(k))
		if s.markers.text(word) && !(dashes && string(word) == "-") {
			s.miss(s.firsts[k], n)
			continue
		}
		s.words = append(s.words, uint32(k))
		s.texts += n
	}
	// Codes are in order of occurrence in the whole table, of which this may be a part.
	slices.SortFunc(s.words, func(a, b uint32) int { return cmp.Compare(s.firsts[a], s.firsts[b]) })
}

// present is the number of cells that are not missing.
func (s *scanned) present() int { return s.numbers + s.texts }

func (s *scanned) word(k uint32) []byte { return s.cells.words.word(k) }

func (s *scanned) name() string { return s.table.columns[s.column] }

// at is an Error about the first cell with a text.
func (s *scanned) at(k uint32) *Error { return s.table.cell(s.firsts[k], s.column) }

// categories counts how often each value occurs, by the key it is compared by.
func (s *scanned) categories() map[string]int {
	count := make(map[string]int)
	if s.numbers > 0 {
		for x, n := range s.byValue() {
			count[spelled(x)] += n
		}
	}
	for _, k := range s.words {
		count[key(s.word(k), s.table.dialect.decimal)] += s.counts[k]
	}
	return count
}

// firstOf is the place of the first cell of a category, of which there is one.
func (s *scanned) firstOf(category string) *Error {
	t, decimal := s.table, s.table.dialect.decimal
	for i := range t.n {
		if key(bytesOf(t.cells[s.column].text(t.at(i, s.column))), decimal) == category {
			return t.cell(i, s.column)
		}
	}
	return &Error{File: t.file, Column: s.column + 1, ColumnName: t.columns[s.column]}
}

// byValue counts how often each number occurs.
func (s *scanned) byValue() map[float64]int {
	count := make(map[float64]int)
	distinct := s.distinct
	few := make([]int, len(distinct)) // those of the numbers that are in distinct
	marked := len(s.markers.numbers) > 0
	for _, part := range s.table.stretches(s.column) {
		for _, x := range part {
			if isWord(x) || marked && s.markers.number(x) {
				continue
			}
			if len(few) > fewDistinct {
				count[x]++
			} else {
				few[slices.Index(distinct, x)]++
			}
		}
	}
	for k, x := range s.distinct[:min(len(few), fewDistinct)] {
		count[x] = few[k]
	}
	return count
}

// different is the number of different values.
func (s *scanned) different() int { return len(s.categories()) }

// spelling is a text with the cells that have it.
type spelling struct {
	text  []byte
	cells int
	code  uint32
}

// spellings lists texts with their counts, the commonest first.
func (s *scanned) spellings(codes []uint32) string {
	const most = 5
	all := make([]spelling, len(codes))
	for i, k := range codes {
		all[i] = spelling{s.word(k), s.counts[k], k}
	}
	slices.SortStableFunc(all, func(a, b spelling) int { return b.cells - a.cells })
	var parts []string
	for _, w := range all[:min(len(all), most)] {
		parts = append(parts, fmt.Sprintf("%s (%s)", quote(string(w.text)), Plural(w.cells, "cell")))
	}
	if rest := len(all) - most; rest > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(parts, ", ")
}

// notation finds how the texts of the column write numbers, or which of them do not
// under the notation that most of them have. It is nil where few are numbers. A word
// counts as a unit, such as mg/dl, if all of the column have it.
func (s *scanned) notation() (n *Notation, odd []uint32) {
	if len(s.words) == 0 {
		return nil, nil
	}
	unit := ""
	for _, k := range s.words {
		if mayBeNumber(s.word(k)) {
			_, unit = cutUnit(s.word(k))
			break
		}
	}
	if n, odd = s.notationOf(unit); n == nil && s.numbers == 0 {
		if unit = wordUnit(s.word(s.words[0])); unit != "" {
			if n, odd = s.notationOf(unit); len(odd) > 0 {
				n = nil
			}
		}
	}
	if n == nil {
		return nil, s.words
	}
	if *n == (Notation{}) && len(odd) == 0 {
		n.Brackets = slices.ContainsFunc(s.words, func(k uint32) bool { return s.word(k)[0] == '(' })
	}
	return n, odd
}

// notationOf is the notation with a unit that suits most texts, and those that it does not
// suit.
func (s *scanned) notationOf(unit string) (n *Notation, odd []uint32) {
	best := 0
	for _, c := range candidates(s.table.dialect, unit) {
		var fails []uint32
		cells := 0
		for _, k := range s.words {
			if s.suits(&c, k) {
				cells += s.counts[k]
			} else {
				fails = append(fails, k)
			}
		}
		if cells > best {
			best, n, odd = cells, &c, fails
		}
	}
	return n, odd
}

// suits tells whether a text is a number of a notation, with its unit.
func (s *scanned) suits(n *Notation, k uint32) bool {
	number, unit := n.cut(s.word(k))
	if unit != n.Unit || !mayBeNumber(number) {
		return false
	}
	_, ok := n.parse(s.word(k))
	return ok
}

// ambiguous finds a text that another notation reads as another number, where the
// decimal separator of the table is not certain.
func (s *scanned) ambiguous(n *Notation) (k uint32, found bool) {
	if s.table.dialect.sure {
		return 0, false
	}
	for _, c := range candidates(s.table.dialect, n.Unit) {
		all := !slices.ContainsFunc(s.words, func(k uint32) bool { return !s.suits(&c, k) })
		if !all {
			continue
		}
		for _, k := range s.words {
			a, _ := n.parse(s.word(k))
			if b, _ := c.parse(s.word(k)); a != b {
				return k, true
			}
		}
	}
	return 0, false
}

// dateOrders are the orders under which all texts are dates; odd are those that are
// none under the order that suits most.
func (s *scanned) dateOrders(wanted DateOrder) (orders []DateOrder, odd []uint32) {
	if len(s.words) == 0 {
		return nil, nil
	}
	best := -1
	odd = s.words
	for _, order := range []DateOrder{YearFirst, DayFirst, MonthFirst, ClockTime} {
		if wanted != "" && order != wanted && order != YearFirst && order != ClockTime {
			continue
		}
		var fails []uint32
		cells := 0
		for _, k := range s.words {
			_, ok := parseDate(s.word(k), order)
			if !ok && (order == DayFirst || order == MonthFirst) {
				_, ok = parseDate(s.word(k), YearFirst) // which is never another day
			}
			if ok {
				cells += s.counts[k]
			} else {
				fails = append(fails, k)
			}
		}
		if cells > 0 && cells > best {
			best, odd = cells, fails
		}
		if len(fails) == 0 {
			orders = append(orders, order)
		}
	}
	return orders, odd
}

// isMissing tells whether a cell of the column is missing.
func (s *scanned) isMissing(cell float64) bool {
	if !isWord(cell) {
		return s.markers.number(cell)
	}
	return s.markers.text(s.word(wordOf(cell)))
}
