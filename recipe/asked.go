package recipe

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lossep/lossep/table"
)

// What is ambiguous is refused here, with the options that settle it.

// way is an option that settles a question, with its value and what giving it says.
func way(option table.Option, value, meaning string) table.Way {
	return table.Way{Option: option, Value: value, Meaning: meaning}
}

// mostlyNumbers refuses a column of numbers with other texts among them.
func (l *learner) mostlyNumbers(odd []uint32, n *table.Notation) error {
	if len(odd) == 0 { // units on some of the numbers, or points among decimal commas
		return l.Scan.At(l.Words[0]).Say("write all numbers of the column in the same way",
			"some numbers are written like %s and %s are not", table.Quote(string(l.Word(l.Words[0]))), table.Plural(l.Numbers, "cell")).
			By(l.notNumbers("if they are codes", "")...)
	}
	at := l.Scan.At(odd[0])
	at.Msg = fmt.Sprintf("%d of %d cells are numbers, but not %s", l.Present()-l.cellsOf(odd), l.Present(), l.Spellings(odd))
	at.Fix = "correct the cells, or say what they are"
	at.Ways, at.Settle = l.waysOut(odd)
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
	if 2*(with+l.Numbers) <= l.Present() || len(numbers) < IdentifierRows || len(cells) > mostUnits {
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
	at.Ways = l.notNumbers("codes", "not needed")
	if len(odd) > 0 {
		at.Line = l.Scan.At(odd[0]).Line
		at.Msg += ", but not " + l.Spellings(odd)
		at.Ways, at.Settle = l.waysOut(odd)
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
	at.Ways, at.Settle = l.waysOut(odd)
	return at
}

// notNumbers are the options that make a column another one than of numbers, with what giving them says. The
// outcome is none.
func (l *learner) notNumbers(codes, dropped string) []table.Way {
	if l.column.Kind == Outcome {
		return nil
	}
	return []table.Way{way(table.WayCategorical, l.Name(), codes), way(table.WayDrop, l.Name(), dropped)}
}

// marker makes a text of the column a missing cell: in the outcome of this column alone, and with its row left out.
func (l *learner) marker(text string) table.Way {
	if l.column.Kind == Outcome {
		return table.Way{Option: table.WayMarkers, Value: l.Name() + "=" + text, Meaning: "a missing outcome", With: table.WayLabelled}
	}
	return way(table.WayMarkers, text, "a missing cell")
}

// leaveGaps are the options that missing cells of the column need.
func (l *learner) leaveGaps() []table.Way {
	switch {
	case l.column.Kind == Outcome:
		return []table.Way{{Option: table.WayLabelled}}
	case !l.options.Impute:
		return []table.Way{{Option: table.WayImpute}}
	}
	return nil
}

// waysOut are the options any of which settles texts among numbers, and those that together do:
// a few texts are taken for missing cells, and a column of many is left out.
func (l *learner) waysOut(odd []uint32) (any, together []table.Way) {
	const few = 3
	any = append([]table.Way{l.marker(string(l.Word(odd[0])))}, l.notNumbers("codes", "not needed")...)
	if way, isRow := l.notRow(odd); isRow {
		return append([]table.Way{way}, any...), []table.Way{way}
	}
	for _, k := range odd {
		if len(odd) > few || strings.Contains(string(l.Word(k)), "=") {
			if l.column.Kind == Outcome {
				return any, nil
			}
			return any, []table.Way{way(table.WayDrop, l.Name(), "")}
		}
		together = append(together, way(table.WayMarkers, l.Name()+"="+string(l.Word(k)), ""))
	}
	return any, append(together, l.leaveGaps()...)
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

// askBend refuses a logarithm of values below zero, or log odds of values beyond 0 and 1: of one column
// if that was asked by name, and says so where it was asked of all.
func (l *learner) askBend(bend Bend, values []float64) error {
	text := fmt.Sprintf("it has values down to %.4g, and a logarithm needs values from zero on", slices.Min(values))
	if bend == LogOdds {
		text = fmt.Sprintf("it has values from %.4g to %.4g, and log odds need values between 0 and 1", slices.Min(values), slices.Max(values))
	}
	if _, named := l.options.Bends[l.Name()]; !named {
		l.notef("scaling", "is not transformed: %s", text)
		return nil
	}
	return l.Table.ColumnPlace(l.Scan.Column).Say("use another transformation",
		"%s", text).By(way(table.WayScaling, l.Name()+"="+string(YeoJohnson), ""), way(table.WayScaling, l.Name()+"="+string(Rank), ""))
}

// askOrder asks whether the day or the month comes first.
func (l *learner) askOrder() error {
	return l.Scan.At(l.Words[0]).Say("say which",
		"nothing in the column tells whether the day or the month comes first in %s", table.Quote(string(l.Word(l.Words[0])))).
		By(way(table.WayDates, string(table.DayFirst), ""), way(table.WayDates, string(table.MonthFirst), ""))
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
