package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Scan is what is found in a whole column.
type Scan struct {
	Table   *Table
	Column  int
	Cells   *Column
	Markers *Markers

	Numbers  int       // cells that are plain numbers, markers aside
	Missing  int       // cells that are missing
	Gap      int       // the first of their rows
	Counts   []int     // of each text, missing or not
	Firsts   []int     // the first row of each text
	Words    []uint32  // the texts that are not missing, in order of occurrence
	Texts    int       // cells that hold them
	Least    float64   // the smallest number
	Most     float64   // the largest
	Sum      Sum       // of all numbers, if it does not overflow
	Whole    bool      // all numbers are integers
	Thousand bool      // all that are not could be thousands with a point between
	Counting bool      // integers that go up by one from row to row
	Distinct []float64 // the different numbers, as long as they are few
}

// FewDistinct is how many different integers may be codes.
const FewDistinct = 10

// NewScan makes one pass over column j.
func NewScan(t *Table, j int, m *Markers) *Scan {
	s := &Scan{
		Table: t, Column: j, Cells: t.cells[j], Markers: m, Gap: -1,
		Least: math.Inf(1), Most: math.Inf(-1), Whole: true, Thousand: true, Counting: true,
	}
	s.Counts = make([]int, s.Cells.words.len())
	s.Firsts = make([]int, s.Cells.words.len())
	previous := math.NaN()
	for i, part := range t.Stretches(j) {
		previous = s.look(i, part, previous)
	}
	s.sortWords()
	slices.Sort(s.Distinct)
	return s
}

// look goes on with the cells from row first on; previous is the cell before them. What can
// no longer be so is not asked again, and what changes with every cell is at hand.
func (s *Scan) look(first int, part []float64, previous float64) float64 {
	m := s.Markers
	marked := len(m.numbers) > 0
	least, most, numbers, sum := s.Least, s.Most, s.Numbers, s.Sum
	whole, thousand, counting, distinct := s.Whole, s.Thousand, s.Counting, s.Distinct
	for k, x := range part {
		if IsText(x) {
			code := TextCode(x)
			if s.Counts[code] == 0 {
				s.Firsts[code] = first + k
			}
			s.Counts[code]++
			counting = false
			continue
		}
		if marked && m.Number(x) {
			s.miss(first+k, 1)
			counting = false
			continue
		}
		numbers++
		sum = sum.Plus(x)
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
		if len(distinct) <= FewDistinct && !slices.Contains(distinct, x) {
			distinct = append(distinct, x)
		}
	}
	s.Least, s.Most, s.Numbers, s.Sum = least, most, numbers, sum
	s.Whole, s.Thousand, s.Counting, s.Distinct = whole, thousand, counting, distinct
	return previous
}

func (s *Scan) miss(row, cells int) {
	s.Missing += cells
	if s.Gap < 0 || row < s.Gap {
		s.Gap = row
	}
}

// sortWords tells texts from missing cells. A dash is a value where there is a plus.
func (s *Scan) sortWords() {
	plus, ok := s.Cells.words.find([]byte("+"))
	dashes := ok && s.Counts[plus] > 0
	for k, n := range s.Counts {
		if n == 0 {
			continue
		}
		word := s.Cells.words.word(uint32(k))
		if s.Markers.Text(word) && !(dashes && string(word) == "-") {
			s.miss(s.Firsts[k], n)
			continue
		}
		s.Words = append(s.Words, uint32(k))
		s.Texts += n
	}
	// Codes are in order of occurrence in the whole table, of which this may be a part.
	slices.SortFunc(s.Words, func(a, b uint32) int { return cmp.Compare(s.Firsts[a], s.Firsts[b]) })
}

// Present is the number of cells that are not missing.
func (s *Scan) Present() int { return s.Numbers + s.Texts }

func (s *Scan) Word(k uint32) []byte { return s.Cells.words.word(k) }

func (s *Scan) Name() string { return s.Table.columns[s.Column] }

// At is an Error about the first cell with a text.
func (s *Scan) At(k uint32) *Error { return s.Table.CellPlace(s.Firsts[k], s.Column) }

// Categories counts how often each value occurs, by the key it is compared by.
func (s *Scan) Categories() map[string]int {
	count := make(map[string]int)
	if s.Numbers > 0 {
		for x, n := range s.byValue() {
			count[Spelled(x)] += n
		}
	}
	for _, k := range s.Words {
		count[Key(s.Word(k), s.Table.dialect.decimal)] += s.Counts[k]
	}
	return count
}

// FirstOf is the place of the first cell of a category, of which there is one.
func (s *Scan) FirstOf(category string) *Error {
	t, decimal := s.Table, s.Table.dialect.decimal
	for i := range t.n {
		if Key(BytesOf(t.cells[s.Column].Text(t.At(i, s.Column))), decimal) == category {
			return t.CellPlace(i, s.Column)
		}
	}
	return &Error{File: t.file, Column: s.Column + 1, ColumnName: t.columns[s.Column]}
}

// byValue counts how often each number occurs.
func (s *Scan) byValue() map[float64]int {
	count := make(map[float64]int)
	distinct := s.Distinct
	few := make([]int, len(distinct)) // those of the numbers that are in distinct
	marked := len(s.Markers.numbers) > 0
	for _, part := range s.Table.Stretches(s.Column) {
		for _, x := range part {
			if IsText(x) || marked && s.Markers.Number(x) {
				continue
			}
			if len(few) > FewDistinct {
				count[x]++
			} else {
				few[slices.Index(distinct, x)]++
			}
		}
	}
	for k, x := range s.Distinct[:min(len(few), FewDistinct)] {
		count[x] = few[k]
	}
	return count
}

// Different is the number of different values.
func (s *Scan) Different() int { return len(s.Categories()) }

// spelling is a text with the cells that have it.
type spelling struct {
	text  []byte
	cells int
	code  uint32
}

// Spellings lists texts with their counts, the commonest first.
func (s *Scan) Spellings(codes []uint32) string {
	const most = 5
	all := make([]spelling, len(codes))
	for i, k := range codes {
		all[i] = spelling{s.Word(k), s.Counts[k], k}
	}
	slices.SortStableFunc(all, func(a, b spelling) int { return b.cells - a.cells })
	var parts []string
	for _, w := range all[:min(len(all), most)] {
		parts = append(parts, fmt.Sprintf("%s (%s)", Quote(string(w.text)), Plural(w.cells, "cell")))
	}
	if rest := len(all) - most; rest > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(parts, ", ")
}

// Notation finds how the texts of the column write numbers, or which of them do not
// under the notation that most of them have. It is nil where few are numbers. A word
// counts as a unit, such as mg/dl, if all of the column have it.
func (s *Scan) Notation() (n *Notation, odd []uint32) {
	if len(s.Words) == 0 {
		return nil, nil
	}
	unit := ""
	for _, k := range s.Words {
		if mayBeNumber(s.Word(k)) {
			_, unit = cutUnit(s.Word(k))
			break
		}
	}
	if n, odd = s.notationOf(unit); n == nil && s.Numbers == 0 {
		if unit = WordUnit(s.Word(s.Words[0])); unit != "" {
			if n, odd = s.notationOf(unit); len(odd) > 0 {
				n = nil
			}
		}
	}
	if n == nil {
		return nil, s.Words
	}
	if *n == (Notation{}) && len(odd) == 0 {
		n.Brackets = slices.ContainsFunc(s.Words, func(k uint32) bool { return s.Word(k)[0] == '(' })
	}
	return n, odd
}

// notationOf is the notation with a unit that suits most texts, and those that it does not
// suit.
func (s *Scan) notationOf(unit string) (n *Notation, odd []uint32) {
	best := 0
	for _, c := range candidates(s.Table.dialect, unit) {
		var fails []uint32
		cells := 0
		for _, k := range s.Words {
			if s.suits(&c, k) {
				cells += s.Counts[k]
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
func (s *Scan) suits(n *Notation, k uint32) bool {
	number, unit := n.cut(s.Word(k))
	if unit != n.Unit || !mayBeNumber(number) {
		return false
	}
	_, ok := n.Parse(s.Word(k))
	return ok
}

// Ambiguous finds a text that another notation reads as another number, where the
// decimal separator of the table is not certain.
func (s *Scan) Ambiguous(n *Notation) (k uint32, found bool) {
	if s.Table.dialect.sure {
		return 0, false
	}
	for _, c := range candidates(s.Table.dialect, n.Unit) {
		all := !slices.ContainsFunc(s.Words, func(k uint32) bool { return !s.suits(&c, k) })
		if !all {
			continue
		}
		for _, k := range s.Words {
			a, _ := n.Parse(s.Word(k))
			if b, _ := c.Parse(s.Word(k)); a != b {
				return k, true
			}
		}
	}
	return 0, false
}

// DateOrders are the orders under which all texts are dates; odd are those that are
// none under the order that suits most.
func (s *Scan) DateOrders(wanted DateOrder) (orders []DateOrder, odd []uint32) {
	if len(s.Words) == 0 {
		return nil, nil
	}
	if wanted == MonthFirst && isDotted(s.Word(s.Words[0])) {
		wanted = DayFirst
	}
	best := -1
	odd = s.Words
	for _, order := range []DateOrder{YearFirst, DayFirst, MonthFirst, ClockTime} {
		if wanted != "" && order != wanted && order != YearFirst && order != ClockTime {
			continue
		}
		var fails []uint32
		cells := 0
		for _, k := range s.Words {
			_, ok := ParseDate(s.Word(k), order)
			if !ok && (order == DayFirst || order == MonthFirst) {
				_, ok = ParseDate(s.Word(k), YearFirst) // which is never another day
			}
			if ok {
				cells += s.Counts[k]
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

// IsMissing tells whether a cell of the column is missing.
func (s *Scan) IsMissing(cell float64) bool {
	if !IsText(cell) {
		return s.Markers.Number(cell)
	}
	return s.Markers.Text(s.Word(TextCode(cell)))
}

// Sum is a sum and what rounding took from it.
type Sum struct{ high, low float64 }

// Plus adds without an error in the first part (Knuth's two-sum). It takes and returns
// values, which stay in registers.
func (s Sum) Plus(x float64) Sum {
	sum := s.high + x
	back := sum - s.high
	return Sum{sum, s.low + ((s.high - (sum - back)) + (x - back))}
}

// Join adds another sum.
func (s Sum) Join(t Sum) Sum {
	s = s.Plus(t.high)
	s.low += t.low
	return s
}

func (s Sum) Value() float64 { return s.high + s.low }
