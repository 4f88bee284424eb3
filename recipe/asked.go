package recipe

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lossep/lossep/table"
)

// What cannot be read for sure is asked about, here.

// way is an option that settles a question, with its value and what giving it says.
func way(option table.Option, value, meaning string) table.Way {
	return table.Way{Option: option, Value: value, Meaning: meaning}
}

// mostlyNumbers refuses a column of numbers with other texts among them.
func (l *learner) mostlyNumbers(odd []uint32, n *table.Notation) error {
	if len(odd) == 0 { // units on some of the numbers, or points among decimal commas
		at := l.Scan.At(l.Words[0])
		at.Msg = fmt.Sprintf("some numbers are written like %s and %s are not", table.Quote(string(l.Word(l.Words[0]))), table.Plural(l.Numbers, "cell"))
		at.Fix = "write all numbers of the column in the same way"
		at.Ways = []table.Way{way(table.WayCategorical, l.Name(), "if they are codes"), way(table.WayDrop, l.Name(), "")}
		return at
	}
	at := l.Scan.At(odd[0])
	at.Msg = fmt.Sprintf("%d of %d cells are numbers, but not %s", l.Present()-l.cellsOf(odd), l.Present(), l.Spellings(odd))
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
	for _, k := range l.Words {
		text := l.Word(k)
		unit := table.WordUnit(text)
		number := strings.TrimSpace(string(text[:len(text)-len(unit)]))
		if unit == "" || len(number)+len(unit) == len(text) && utf8.RuneCountInString(unit) < 2 {
			odd = append(odd, k)
			continue
		}
		cells[unit] += l.Counts[k]
		numbers[number] = true
		with += l.Counts[k]
	}
	if 2*(with+l.Numbers) <= l.Present() || len(numbers) < identifierRows || len(cells) > mostUnits {
		return nil
	}
	var found []string
	for _, unit := range slices.SortedFunc(maps.Keys(cells), func(a, b string) int {
		return cmp.Or(cmp.Compare(cells[b], cells[a]), cmp.Compare(a, b))
	}) {
		found = append(found, fmt.Sprintf("%s (%s)", table.Quote(unit), table.Plural(cells[unit], "cell")))
	}
	if l.Numbers > 0 {
		found = append(found, fmt.Sprintf("none (%s)", table.Plural(l.Numbers, "cell")))
	}
	at := l.Scan.At(l.Words[0])
	at.Msg = fmt.Sprintf("%d of %d cells are numbers with the unit %s", with+l.Numbers, l.Present(), strings.Join(found, ", "))
	at.Fix = "write all numbers of the column in one unit, or say what they are"
	at.Ways = []table.Way{way(table.WayCategorical, l.Name(), "codes"), way(table.WayDrop, l.Name(), "not needed")}
	if len(odd) > 0 {
		at.Line = l.Scan.At(odd[0]).Line
		at.Msg += ", but not " + l.Spellings(odd)
		at.Ways = l.waysOut(odd)
	}
	return at
}

// mostUnits is how many units a column may have that was meant to be one of numbers.
const mostUnits = 5

// mostlyDates refuses a column of dates with other texts among them.
func (l *learner) mostlyDates(odd []uint32) error {
	at := l.Scan.At(odd[0])
	at.Msg = fmt.Sprintf("%d of %d cells are dates, but not %s", l.Present()-l.cellsOf(odd), l.Present(), l.Spellings(odd))
	at.Fix = "correct the cells, or say what they are"
	at.Ways = l.waysOut(odd)
	return at
}

// waysOut are the options that settle texts among numbers.
func (l *learner) waysOut(odd []uint32) []table.Way {
	return []table.Way{
		way(table.WayMarkers, string(l.Word(odd[0])), "a missing cell"),
		way(table.WayCategorical, l.Name(), "codes"),
		way(table.WayDrop, l.Name(), "not needed"),
	}
}

// askDecimal asks whether a separator is one of decimals or of thousands.
func (l *learner) askDecimal(at *table.Error, text string) error {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '.' || r == ',' })
	or := "a little more than " + parts[0]
	if strings.Trim(parts[len(parts)-1], "0") == "" {
		or = parts[0]
	}
	at.Msg = fmt.Sprintf("nothing in the file tells whether %s is %s or %s", table.Quote(text), strings.Join(parts, ""), or)
	at.Fix = "say what separates decimals"
	at.Ways = []table.Way{way(table.WayDecimal, ".", ""), way(table.WayDecimal, ",", "")}
	return at
}

// askBend refuses a logarithm of values below zero: of one column if that was asked by
// name, and says so where it was asked of all.
func (l *learner) askBend(values []float64) error {
	text := fmt.Sprintf("it has values down to %.4g, and a logarithm needs values from zero on", slices.Min(values))
	if _, named := l.options.Bends[l.Name()]; !named {
		l.notef("is not bent: %s", text)
		return nil
	}
	return &table.Error{
		File: l.Table.Name(), Column: l.Scan.Column + 1, ColumnName: l.Name(), Msg: text, Fix: "bend it otherwise",
		Ways: []table.Way{way(table.WayScaling, l.Name()+"="+string(YeoJohnson), ""), way(table.WayScaling, l.Name()+"="+string(Rank), "")},
	}
}

// askOrder asks whether the day or the month comes first.
func (l *learner) askOrder() error {
	at := l.Scan.At(l.Words[0])
	at.Msg = fmt.Sprintf("nothing in the column tells whether the day or the month comes first in %s", table.Quote(string(l.Word(l.Words[0]))))
	at.Fix = "say which"
	at.Ways = []table.Way{way(table.WayDates, string(table.DayFirst), ""), way(table.WayDates, string(table.MonthFirst), "")}
	return at
}

// noteStandIn asks about a number of nines, such as -999, that stands apart from all others
// and occurs more than once: it may stand for a missing cell. So may 0, and -1 where
// others are not negative.
func (l *learner) noteStandIn() {
	for _, x := range []float64{l.Least, l.Most} {
		if (x == 0 || x == -1) && x == l.Least {
			l.noteNought(x)
		}
		if digits := strings.TrimLeft(table.Spelled(x), "-"); len(digits) < 2 || strings.Trim(digits, "9") != "" {
			continue
		}
		cells, least, most := 0, math.Inf(1), math.Inf(-1)
		apart := func() bool { return max(least-x, x-most) > most-least }
		for part := range l.parts() {
			for _, v := range part {
				if v == x {
					cells++
				} else if !table.IsText(v) {
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
		table.Plural(cells, "cell"), table.Spelled(x), table.Spelled(least), table.Spelled(most), table.Quote(l.Name()+"="+table.Spelled(x)))
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
	if l.Table.Len() > noughtRows {
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
	for _, k := range l.Words {
		if word := l.Word(k); shortDate.Match(word) || wordDate.Match(word) {
			if cells == 0 {
				first = string(word)
			}
			cells += l.Counts[k]
		}
	}
	if 2*cells > l.Texts {
		l.notef("has words such as %s, which are not read as dates; if they are, write the year first and in full, such as 2024-01-05", table.Quote(first))
	}
}

// noteCase asks about categories that differ in upper and lower case only.
func (l *learner) noteCase(categories []string) {
	first := make(map[string]string, len(categories))
	for _, name := range categories {
		other, seen := first[strings.ToLower(name)]
		if seen {
			l.notef("has categories that differ in upper and lower case only, such as %s and %s; they are taken for two", table.Quote(other), table.Quote(name))
			return
		}
		first[strings.ToLower(name)] = name
	}
}

// missingCells collects where cells are missing, for one message about all.
type missingCells struct {
	total   int
	columns []string     // how many in which column
	first   []string     // the first few places
	at      *table.Error // the very first
}

// add takes note of the missing cells of a column.
func (m *missingCells) add(s *table.Scan) {
	const most = 5
	if s.Missing == 0 {
		return
	}
	m.total += s.Missing
	m.columns = append(m.columns, s.Name())
	if m.at == nil {
		m.at = s.Table.CellPlace(s.Gap, s.Column)
	}
	for i := s.Gap; i < s.Table.Len() && len(m.first) < most; i++ {
		if s.IsMissing(s.Table.At(i, s.Column)) {
			m.first = append(m.first, fmt.Sprintf("%s %d column %d", s.Table.Unit(), s.Table.Line(i), s.Column+1))
		}
	}
}

// err is the message, or nil if nothing is missing.
func (m *missingCells) err(t *table.Table) error {
	if m.total == 0 {
		return nil
	}
	more := ""
	if m.total > len(m.first) {
		more = ", …"
	}
	m.at.Msg = fmt.Sprintf("%s in %s of %d (%s): %s%s", table.Plural(m.total, "missing cell"),
		table.Plural(len(m.columns), "column"), t.Width(), table.QuoteList(m.columns), strings.Join(m.first, ", "), more)
	m.at.Fix = "fill them, or have them filled by the median or the commonest category, with an indicator feature"
	m.at.Ways = []table.Way{{Option: table.WayImpute}}
	return m.at
}
