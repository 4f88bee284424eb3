package data

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// What cannot be read for sure is asked about, here.

// mostlyNumbers refuses a column of numbers with other texts among them.
func (l *learner) mostlyNumbers(odd []uint32, n *Notation) error {
	if len(odd) == 0 { // units on some of the numbers, or points among decimal commas
		at := l.scanned.at(l.words[0])
		at.Msg = fmt.Sprintf("some numbers are written like %s and %s are not", quote(string(l.word(l.words[0]))), Plural(l.numbers, "cell"))
		at.Fix = "write all numbers of the column in the same way"
		at.Ways = []Way{{WayCategorical, l.name(), "if they are codes"}, {WayDrop, l.name(), ""}}
		return at
	}
	at := l.scanned.at(odd[0])
	at.Msg = fmt.Sprintf("%d of %d cells are numbers, but not %s", l.present()-l.cellsOf(odd), l.present(), l.spellings(odd))
	at.Fix = "correct the cells, or say what they are"
	at.Ways = l.waysOut(odd)
	return at
}

// differentUnits refuses a column most of whose cells are numbers with a word after them that is
// not the same in all, such as 3 yrs and 1 year: as texts they would be categories, or taken for
// an identifier. Few different numbers may be categories indeed, and 12A is a seat.
func (l *learner) differentUnits() error {
	cells, numbers := map[string]int{}, map[string]bool{}
	with, odd := 0, []uint32(nil)
	for _, k := range l.words {
		text := l.word(k)
		unit := wordUnit(text)
		number := strings.TrimSpace(string(text[:len(text)-len(unit)]))
		if unit == "" || len(number)+len(unit) == len(text) && utf8.RuneCountInString(unit) < 2 {
			odd = append(odd, k)
			continue
		}
		cells[unit] += l.counts[k]
		numbers[number] = true
		with += l.counts[k]
	}
	if 2*(with+l.numbers) <= l.present() || len(numbers) < identifierRows || len(cells) > mostUnits {
		return nil
	}
	var found []string
	for _, unit := range slices.SortedFunc(maps.Keys(cells), func(a, b string) int {
		return cmp.Or(cmp.Compare(cells[b], cells[a]), cmp.Compare(a, b))
	}) {
		found = append(found, fmt.Sprintf("%s (%s)", quote(unit), Plural(cells[unit], "cell")))
	}
	if l.numbers > 0 {
		found = append(found, fmt.Sprintf("none (%s)", Plural(l.numbers, "cell")))
	}
	at := l.scanned.at(l.words[0])
	at.Msg = fmt.Sprintf("%d of %d cells are numbers with the unit %s", with+l.numbers, l.present(), strings.Join(found, ", "))
	at.Fix = "write all numbers of the column in one unit, or say what they are"
	at.Ways = []Way{{WayCategorical, l.name(), "codes"}, {WayDrop, l.name(), "not needed"}}
	if len(odd) > 0 {
		at.Line = l.scanned.at(odd[0]).Line
		at.Msg += ", but not " + l.spellings(odd)
		at.Ways = l.waysOut(odd)
	}
	return at
}

// mostUnits is how many units a column may have that was meant to be one of numbers.
const mostUnits = 5

// mostlyDates refuses a column of dates with other texts among them.
func (l *learner) mostlyDates(odd []uint32) error {
	at := l.scanned.at(odd[0])
	at.Msg = fmt.Sprintf("%d of %d cells are dates, but not %s", l.present()-l.cellsOf(odd), l.present(), l.spellings(odd))
	at.Fix = "correct the cells, or say what they are"
	at.Ways = l.waysOut(odd)
	return at
}

// waysOut are the options that settle texts among numbers.
func (l *learner) waysOut(odd []uint32) []Way {
	return []Way{
		{WayMarkers, string(l.word(odd[0])), "a missing cell"},
		{WayCategorical, l.name(), "codes"},
		{WayDrop, l.name(), "not needed"},
	}
}

// askDecimal asks whether a separator is one of decimals or of thousands.
func (l *learner) askDecimal(at *Error, text string) error {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '.' || r == ',' })
	or := "a little more than " + parts[0]
	if strings.Trim(parts[len(parts)-1], "0") == "" {
		or = parts[0]
	}
	at.Msg = fmt.Sprintf("nothing in the file tells whether %s is %s or %s", quote(text), strings.Join(parts, ""), or)
	at.Fix = "say what separates decimals"
	at.Ways = []Way{{WayDecimal, ".", ""}, {WayDecimal, ",", ""}}
	return at
}

// askBend refuses a logarithm of values below zero: of one column if that was asked by
// name, and says so where it was asked of all.
func (l *learner) askBend(values []float64) error {
	text := fmt.Sprintf("it has values down to %.4g, and a logarithm needs values from zero on", slices.Min(values))
	if _, named := l.options.Bends[l.name()]; !named {
		l.notef("is not bent: %s", text)
		return nil
	}
	return &Error{
		File: l.table.Name(), Column: l.scanned.column + 1, ColumnName: l.name(), Msg: text, Fix: "bend it otherwise",
		Ways: []Way{{WayScaling, l.name() + "=" + string(YeoJohnson), ""}, {WayScaling, l.name() + "=" + string(Rank), ""}},
	}
}

// askOrder asks whether the day or the month comes first.
func (l *learner) askOrder() error {
	at := l.scanned.at(l.words[0])
	at.Msg = fmt.Sprintf("nothing in the column tells whether the day or the month comes first in %s", quote(string(l.word(l.words[0]))))
	at.Fix = "say which"
	at.Ways = []Way{{WayDates, string(DayFirst), ""}, {WayDates, string(MonthFirst), ""}}
	return at
}

// noteStandIn asks about a number of nines, such as -999, that stands apart from all others
// and occurs more than once: it may stand for a missing cell. So may 0, and -1 where
// others are not negative.
func (l *learner) noteStandIn() {
	for _, x := range []float64{l.least, l.most} {
		if (x == 0 || x == -1) && x == l.least {
			l.noteNought(x)
		}
		if digits := strings.TrimLeft(spelled(x), "-"); len(digits) < 2 || strings.Trim(digits, "9") != "" {
			continue
		}
		cells, least, most := 0, math.Inf(1), math.Inf(-1)
		apart := func() bool { return max(least-x, x-most) > most-least }
		for part := range l.parts() {
			for _, v := range part {
				if v == x {
					cells++
				} else if !isWord(v) {
					least, most = min(least, v), max(most, v)
				}
			}
			if least <= most && !apart() {
				break // nor will it be
			}
		}
		if cells > 1 && least < most && apart() {
			l.askMissing(cells, x, least, most)
		}
	}
}

// askMissing asks whether cells of x, apart from all others, are missing.
func (l *learner) askMissing(cells int, x, least, most float64) {
	l.notef("has %s of %s, apart from all others (%s to %s); if they are missing, make %s a missing marker",
		Plural(cells, "cell"), spelled(x), spelled(least), spelled(most), quote(l.name()+"="+spelled(x)))
}

const (
	// noughtValues is how many different values others have at least where 0 may stand for a
	// missing cell, and noughtGap how much further it is from them than any two neighbours are
	// from each other.
	noughtValues, noughtGap = 10, 2
	// noughtRows is beyond how many rows that is not looked for.
	noughtRows = 100_000
)

// noteNought asks about the smallest value x if it comes more than once and lies further below the
// next, which is not negative, than twice the largest gap between others: a blood pressure of 0
// is none.
func (l *learner) noteNought(x float64) {
	if l.table.Len() > noughtRows {
		return
	}
	values := slices.Sorted(slices.Values(l.all()))
	cells, _ := slices.BinarySearch(values, math.Nextafter(x, math.Inf(1)))
	others := slices.Compact(values[cells:])
	if cells < 2 || len(others) < noughtValues {
		return
	}
	widest := 0.0
	for k, v := range others[1:] {
		widest = max(widest, v-others[k])
	}
	if others[0] >= 0 && others[0]-x > noughtGap*widest {
		l.askMissing(cells, x, others[0], others[len(others)-1])
	}
}

// shortDate and wordDate are dates as people write them that are not read: the century of
// 5-Jan-24 is a guess.
var (
	shortDate = regexp.MustCompile(`^\d{1,2}[-/. ]?(\d{1,2}|(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)[-/. ]?\d{2}$`)
	wordDate  = regexp.MustCompile(`^(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-. ]+\d{1,2},?[- ]+\d{2,4}$`)
)

// noteDates asks about words most of which look like dates in a form that is not read.
func (l *learner) noteDates() {
	cells, first := 0, ""
	for _, k := range l.words {
		if word := l.word(k); shortDate.Match(word) || wordDate.Match(word) {
			if cells == 0 {
				first = string(word)
			}
			cells += l.counts[k]
		}
	}
	if 2*cells > l.texts {
		l.notef("has words such as %s, which are not read as dates; if they are, write the year first and in full, such as 2024-01-05", quote(first))
	}
}

// noteCase asks about categories that differ in upper and lower case only.
func (l *learner) noteCase(categories []string) {
	first := make(map[string]string, len(categories))
	for _, name := range categories {
		other, seen := first[strings.ToLower(name)]
		if seen {
			l.notef("has categories that differ in upper and lower case only, such as %s and %s; they are taken for two", quote(other), quote(name))
			return
		}
		first[strings.ToLower(name)] = name
	}
}

// missingCells collects where cells are missing, for one message about all.
type missingCells struct {
	total   int
	columns []string // how many in which column
	first   []string // the first few places
	at      *Error   // the very first
}

// add takes note of the missing cells of a column.
func (m *missingCells) add(s *scanned) {
	const most = 5
	if s.missing == 0 {
		return
	}
	m.total += s.missing
	m.columns = append(m.columns, s.name())
	if m.at == nil {
		m.at = s.table.cell(s.gap, s.column)
	}
	for i := s.gap; i < s.table.Len() && len(m.first) < most; i++ {
		if s.isMissing(s.table.at(i, s.column)) {
			m.first = append(m.first, fmt.Sprintf("%s %d column %d", s.table.unit(), s.table.Line(i), s.column+1))
		}
	}
}

// err is the message, or nil if nothing is missing.
func (m *missingCells) err(t *Table) error {
	if m.total == 0 {
		return nil
	}
	more := ""
	if m.total > len(m.first) {
		more = ", …"
	}
	m.at.Msg = fmt.Sprintf("%s in %s of %d (%s): %s%s", Plural(m.total, "missing cell"),
		Plural(len(m.columns), "column"), t.Width(), quoteList(m.columns), strings.Join(m.first, ", "), more)
	m.at.Fix = "fill them, or have them filled by the median or the commonest category, with an indicator feature"
	m.at.Ways = []Way{{Option: WayImpute}}
	return m.at
}
