package recipe

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/lossep/lossep/table"
)

// learner is what is known of a column before its recipe is.
type learner struct {
	estimator
	options *Options
	column  Column
	notes   table.Findings
	again   func() []bool // which rows are copies of earlier ones in all columns
}

// learn decides what becomes of the column.
func (l *learner) learn(roles *roles) error {
	switch {
	case roles.score == l.Scan.Column:
		return l.learnScore()
	case l.Present() == 0:
		return l.drop("constant: no cell has a value")
	case roles.ordered[l.Scan.Column] != nil:
		return l.learnOrdered(roles.ordered[l.Scan.Column])
	case roles.categorical[l.Scan.Column]:
		return l.learnCategorical()
	}
	if example, codes := l.padding(); codes {
		l.notef("leading zeros", "has whole numbers with zeros in front, such as %s, which are treated as categorical; if it is a quantity, name a scaling for it, such as auto", table.Quote(example))
		return l.learnText()
	} else if example != "" {
		defer l.notePadding(example)
	}
	if len(l.Words) == 0 {
		return l.learnNumeric()
	}
	if at := l.infinite(); at != nil {
		return at
	}
	if cells := l.longIntegers(); 2*cells > l.Present() {
		l.notef("long integers", "has integers of more than %d digits, which are treated as categorical", table.ExactDigits)
		return l.learnText()
	} else if cells > 0 {
		l.notef("long integers", "has %s of more than %d digits, which are rounded; if they are codes, make it categorical", table.Plural(cells, "integer"), table.ExactDigits)
	}
	if settled, err := l.learnNotation(); settled || err != nil {
		return err
	}
	if orders, odd := l.DateOrders(l.options.Dates); l.Numbers == 0 {
		switch {
		case len(orders) == 1 || len(orders) > 1 && orders[0] == table.YearFirst:
			return l.learnDates(orders[0])
		case len(orders) > 1:
			return l.askOrder()
		case 2*l.cellsOf(odd) < l.Texts:
			return l.mostlyDates(odd)
		}
	}
	if at := l.differentUnits(); at != nil && !l.identifiedByName() {
		return at
	}
	return l.learnText()
}

// learnNotation decides about a column whose cells may be numbers in another notation.
func (l *learner) learnNotation() (settled bool, err error) {
	switch is, err := l.readNotation(); {
	case is:
		return true, l.learnNumeric()
	case err != nil && l.identifiedByName():
		return true, l.dropIdentifier()
	default:
		return err != nil, err
	}
}

// readNotation finds how the numbers of the column are written, and whether it is one of numbers. One that
// mostly is, is refused.
func (l *learner) readNotation() (is bool, err error) {
	n, odd := l.Notation()
	if n == nil {
		if 2*l.Numbers > l.Present() {
			return false, l.mostlyNumbers(l.Words, nil)
		}
		return false, nil
	}
	numbers := l.Texts - l.cellsOf(odd)
	if n.Unit == "" || l.Numbers == 0 {
		numbers += l.Numbers
	}
	if k, found := l.Ambiguous(n); len(odd) == 0 && found {
		return false, l.askDecimal(l.Scan.At(k), string(l.Word(k)))
	}
	// Points in a column of decimal commas would be thousands, and were read otherwise.
	mixed := n.Decimal != "" && l.Table.Decimal() == '.' && l.Numbers > 0 && !l.Whole
	if len(odd) == 0 && (n.Unit == "" || l.Numbers == 0) && !mixed {
		if *n != (table.Notation{}) {
			l.column.Notation = n
		}
		return true, nil
	}
	if 2*numbers > l.Present() || mixed {
		return false, l.mostlyNumbers(odd, n)
	}
	return false, nil
}

func (l *learner) cellsOf(codes []uint32) (cells int) {
	for _, k := range codes {
		cells += l.Counts[k]
	}
	return cells
}

// notef says how the column was read.
func (l *learner) notef(check, format string, args ...any) {
	l.notes = append(l.notes, table.Finding{
		Check: check, Severity: table.Note, Column: l.Name(), Text: fmt.Sprintf("column %s ", table.Quote(l.Name())) + fmt.Sprintf(format, args...),
	})
}

func (l *learner) drop(reason string) error {
	l.column = Column{Name: l.Name(), Kind: Dropped, Reason: reason, Notation: l.column.Notation}
	return nil
}

const identifierByName = "identifier-like: by its name, and all values are unique"

// dropIdentifier drops a column that is named like an identifier and is one.
func (l *learner) dropIdentifier() error {
	reason := identifierByName
	if l.Different() < l.Present() {
		reason += " but for rows that are copies of others"
	}
	return l.drop(reason)
}

// identifiedByName recognises a column that is named like an identifier and is one.
func (l *learner) identifiedByName() bool { return l.named() && l.unique() }

// unique tells whether all values differ, but for those of rows that are copies of others in all columns.
func (l *learner) unique() bool {
	different, cells := l.Different(), l.Present()
	if 2*different < cells || different == cells {
		return different == cells
	}
	for i, again := range l.again() {
		if again && !l.IsMissing(l.Table.At(i, l.Scan.Column)) {
			cells--
		}
	}
	return different == cells
}

// named tells whether the column is named like an identifier. In few rows numbers of, say,
// a row of seats may differ by chance.
func (l *learner) named() bool {
	n := l.Present()
	return n > 1 && NamedLikeKey(l.Name()) || n >= IdentifierRows && NamedLikeIdentifier(l.Name())
}

// learnText is a column of words.
func (l *learner) learnText() error {
	if l.identifiedByName() {
		return l.dropIdentifier()
	}
	different := l.Different()
	if l.Present() >= IdentifierRows && l.unique() {
		return l.drop(fmt.Sprintf("all %d values are unique (identifier)", different))
	}
	if l.Present() >= IdentifierRows && NearlyUnique(l.Scan) {
		example := table.Spelled(l.Least) // codes of digits only
		if len(l.Words) > 0 {
			example = string(l.Word(l.Words[0]))
		}
		ways := []table.Way{way(table.WayDrop, l.Name(), "an identifier or free text"), way(table.WayCategorical, l.Name(), "a category each")}
		if l.options.ID == "" {
			ways = append([]table.Way{way(table.WayID, l.Name(), "an identifier, to stand beside decisions")}, ways...)
		}
		if _, codes := l.padding(); codes {
			ways = append(ways, way(table.WayScaling, l.Name()+"="+string(AutoBend), "a quantity"))
		}
		return l.Table.ColumnPlace(l.Scan.Column).Say("say which it is",
			"%d different texts in %d rows, such as %s: is this an identifier?", different, l.Present(), table.Quote(example)).
			By(ways...)
	}
	return l.learnCategorical()
}

// learnCategorical is a column of categories, whatever they look like.
func (l *learner) learnCategorical() error {
	count := l.Categories()
	if len(count) == 1 {
		return l.learnConstant()
	}
	c := &l.column
	c.Kind, c.Notation = Categorical, nil
	c.Indicator = l.options.Impute && l.Missing > 0
	c.Categories = slices.Sorted(maps.Keys(count))
	l.estimate(c, l.options.Impute, !l.options.KeepScale)
	return nil
}

// learnOrdered is a column whose categories the user has put in order.
func (l *learner) learnOrdered(order *OrderedSet) error {
	c := &l.column
	c.Kind = Ordered
	for _, category := range order.Categories {
		c.Categories = append(c.Categories, table.Key(table.BytesOf(strings.TrimSpace(category)), '.'))
	}
	count := l.Categories()
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if !slices.Contains(c.Categories, name) {
			return l.FirstOf(name).Say("put every category in the order, or make it a missing marker",
				"%s (%s) is not in the order %s", table.Quote(name), table.Plural(count[name], "cell"), table.QuoteList(c.Categories))
		}
	}
	if len(count) == 1 {
		return l.learnConstant()
	}
	c.Indicator = l.options.Impute && l.Missing > 0
	l.estimate(c, l.options.Impute, !l.options.KeepScale)
	return nil
}

// longIntegers counts the cells that are integers of more digits than a float64 keeps,
// where all others of the column are integers too.
func (l *learner) longIntegers() (cells int) {
	if !l.Whole {
		return 0
	}
	for _, k := range l.Words {
		if _, kind := table.ParseNumber(l.Word(k), l.Table.Decimal()); kind == table.Long {
			cells += l.Counts[k]
		} else if !table.IsPadded(l.Word(k)) {
			return 0
		}
	}
	return cells
}

// infinite refuses infinities among numbers.
func (l *learner) infinite() error {
	cells := 0
	first := uint32(0)
	for _, k := range l.Words {
		if _, kind := table.ParseNumber(l.Word(k), l.Table.Decimal()); kind == table.Infinite {
			if cells == 0 {
				first = k
			}
			cells += l.Counts[k]
		}
	}
	if cells == 0 || 2*(cells+l.Numbers) <= l.Present() {
		return nil
	}
	at := l.Scan.At(first)
	at.Msg = fmt.Sprintf("%s is infinite or too large (%s in this column)", table.Quote(string(l.Word(first))), table.Plural(cells, "such cell"))
	at.Fix = "replace it by a finite number, or make it a missing cell"
	at.Ways = []table.Way{l.marker(string(l.Word(first)))}
	if more := l.leaveGaps(); more != nil {
		at.Settle = append(at.Ways, more...)
	}
	return at
}

// bounds are the smallest and the largest number of the column.
func (l *learner) bounds() (low, high float64) {
	if len(l.Words) == 0 {
		return l.Least, l.Most
	}
	return bounds(l.all())
}

// all are the numbers of the column.
func (l *learner) all() []float64 {
	if l.values == nil {
		f := newField(&l.column, false, l.Markers)
		l.values = l.quantities(&f)
	}
	return l.values
}

// learnNumeric is a column of numbers.
func (l *learner) learnNumeric() error {
	c := &l.column
	c.Kind, c.Scale = Numeric, 1
	if err := l.checkDecimal(); err != nil {
		return err
	}
	name := l.Name()
	if l.Counting && name == table.GeneratedName(l.Scan.Column) && l.Table.Len() >= IdentifierRows {
		return l.drop("identifier-like: consecutive row numbers")
	}
	// What is left of running numbers in a part of a table, or in one that was shuffled.
	if l.Table.Nameless(l.Scan.Column) && l.Present() >= IdentifierRows && l.integers() && l.unique() {
		return l.drop("identifier-like: no column name, and all integers are unique")
	}
	if (l.Whole || len(l.Words) > 0) && l.identifiedByName() {
		return l.dropIdentifier()
	}
	switch low, high := l.bounds(); {
	case low == high:
		return l.learnConstant()
	case !apart(low, high) && l.Missing == 0:
		return l.drop(fmt.Sprintf("its values, %s to %s, differ by no more than rounding", table.Spelled(low), table.Spelled(high)))
	case !apart(low, high):
		return l.learnConstant() // which keeps whether it is there
	}
	c.Indicator = l.options.Impute && l.Missing > 0
	l.noteNotation()
	l.estimate(c, l.options.Impute, !l.options.KeepScale)
	if bend := l.options.bend(name); (bend == Log || bend == LogOdds) && c.Scaling == nil && !l.options.KeepScale {
		return l.askBend(bend, l.all())
	}
	return nil
}

// checkDecimal asks what separates decimals where no number of the file shows it: 1.234 may be 1234, and 12.000
// too.
func (l *learner) checkDecimal() error {
	doubt, unsure := l.Table.UnsureDecimal(l.Scan.Column)
	switch {
	case !unsure || l.column.Notation != nil || !l.Thousand:
		return nil
	case !l.Whole:
		return l.askDecimal(l.firstFraction())
	case doubt != "":
		return l.askDecimal(&table.Error{File: l.Table.Name(), Column: l.Scan.Column + 1, ColumnName: l.Name()}, doubt)
	}
	return nil
}

// noteNotation says how the numbers of the column are written, if not plainly.
func (l *learner) noteNotation() {
	if n := l.column.Notation; n != nil {
		l.notef("notation", "is read as numbers: %v", n)
	}
}

// learnOutcome is the outcome, as a column of numbers.
func (l *learner) learnOutcome() error {
	if at := l.infinite(); at != nil {
		return at
	}
	if len(l.Words) > 0 {
		is, err := l.readNotation()
		if at := l.differentUnits(); err == nil && !is && at != nil {
			err = at
		}
		if err == nil && !is {
			err = l.Scan.At(l.Words[0]).Say("name the column of the outcome",
				"%d of %d cells of the outcome are no numbers: %s", l.Texts, l.Present(), l.Spellings(l.Words)).By(table.Way{Option: table.WayTarget})
		}
		if err != nil {
			return err
		}
	}
	l.noteNotation()
	return l.checkDecimal()
}

// firstFraction is the first cell that is no integer.
func (l *learner) firstFraction() (*table.Error, string) {
	for i := range l.Table.Len() {
		if x := l.Table.At(i, l.Scan.Column); !table.IsText(x) && x != math.Trunc(x) {
			return l.Table.CellPlace(i, l.Scan.Column), table.Spelled(x)
		}
	}
	return &table.Error{File: l.Table.Name()}, ""
}

// learnDates is a column of dates or times.
func (l *learner) learnDates(order table.DateOrder) error {
	c := &l.column
	c.Kind, c.Scale, c.Dates = Date, 1, &Dates{Order: order}
	c.Dates.Zones = zonesOf(func(yield func([]byte) bool) {
		for _, k := range l.Words {
			if !yield(l.Word(k)) {
				return
			}
		}
	}, order)
	f := newField(c, false, l.Markers)
	moments := l.quantities(&f)
	first, last := slices.Min(moments), slices.Max(moments)
	if first == last {
		return l.learnConstant()
	}
	const day = 86400
	if order != table.ClockTime {
		c.Dates.Origin = first
		if slices.ContainsFunc(moments, func(s float64) bool { return frac(s/day) != frac(first/day) }) {
			c.Dates.Cycles = append(c.Dates.Cycles, HourCycle)
		}
		if last-first >= 14*day {
			c.Dates.Cycles = append(c.Dates.Cycles, WeekCycle)
		}
		if last-first >= 365*day {
			c.Dates.Cycles = append(c.Dates.Cycles, YearCycle)
		}
	} else {
		c.Dates.Cycles = []Cycle{HourCycle}
	}
	c.Indicator = l.options.Impute && l.Missing > 0
	l.notef("dates", "is read as dates: %v", c.Dates)
	l.estimate(c, l.options.Impute, !l.options.KeepScale)
	return nil
}

// learnConstant keeps of a column with one value only whether it is there,
// which may say something; whether missing cells are allowed is not decided
// here.
func (l *learner) learnConstant() error {
	if l.Missing > 0 {
		l.column = Column{Name: l.Name(), Kind: Presence, Indicator: true}
		return nil
	}
	return l.drop("constant: every value is " + table.Quote(l.Cells.Text(l.Table.At(0, l.Scan.Column))))
}

// integers tells whether all numbers are whole.
func (l *learner) integers() bool {
	return l.Whole && !slices.ContainsFunc(l.all(), func(x float64) bool { return x != math.Trunc(x) })
}

// NamedLikeIdentifier recognises id, row_id, PatientID, index, case no. and their like.
func NamedLikeIdentifier(name string) bool {
	if NamedLikeKey(name) {
		return true
	}
	words := nameWords(name)
	if len(words) == 0 {
		return false
	}
	switch strings.ToLower(words[len(words)-1]) {
	case "index", "idx", "row", "rowno", "rownum", "rownumber", "rowname", "rownames", "nr", "no", "num", "number", "lfdnr",
		"seq", "seqno", "seqnum", "sequence", "serial", "serialno", "sno", "srno", "slno", "obs", "obsno", "observation",
		"record", "recno", "recnum", "case", "caseno", "casenum":
		return true
	}
	// What pandas and readr call a column without a name.
	return len(words) == 2 && words[0] == "Unnamed" || strings.HasPrefix(name, "...") && len(words) == 1
}

// NamedLikeKey recognises names of what may come again in other rows too: id, PatientID,
// customer_id, patient and their like.
func NamedLikeKey(name string) bool {
	words := nameWords(name)
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	switch strings.ToLower(last) {
	case "id", "uid", "pid", "rowid", "caseid", "recordid", "uuid", "guid":
		return true
	case "patient", "subject", "participant", "customer", "client", "household":
		return len(words) == 1
	}
	// Camel case: PatientID, customerId; not "Madrid" or "PAID".
	for _, suffix := range []string{"ID", "Id"} {
		if stem, ok := strings.CutSuffix(last, suffix); ok && stem != "" {
			if r := []rune(stem); unicode.IsLower(r[len(r)-1]) {
				return true
			}
		}
	}
	return false
}

// NearlyUnique tells whether so many cells of a column differ that it is perhaps an identifier.
func NearlyUnique(s *table.Scan) bool {
	return float64(s.Different()) >= identifierShare*float64(s.Present())
}

// nameWords are the words of a name.
func nameWords(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// padding finds whole numbers that are written with zeros in front, and whether they make the
// column one of codes, such as 01067 or 007. They do if all cells consist of digits and
// have one width, or if two or more numbers have zeros in front and none is written in two ways:
// where 7 stands beside 007 the zeros mean nothing. Who names a scaling of the column has said that it is
// a quantity. All rows of the table are looked at, of which these may be a part.
func (l *learner) padding() (example string, codes bool) {
	words := l.Cells
	first := 0 // that has zeros in front: most columns have none
	for first < words.Words() && !table.IsPadded(words.Word(uint32(first))) {
		first++
	}
	if first == words.Words() {
		return "", false
	}
	numbers := make(map[float64]bool) // that have zeros in front
	codes = true
	width, widths := 0, false // of a cell, and whether there are others
	see := func(n int) {
		widths = widths || width > 0 && n != width
		width = n
	}
	for k := range words.Words() {
		word := words.Word(uint32(k))
		if l.Markers.Text(word) {
			continue
		}
		if table.IsPadded(word) {
			x, _ := table.ParseNumber(word, '.')
			if example == "" {
				example = string(word)
			}
			codes = codes && !numbers[x]
			numbers[x] = true
		}
		codes = codes && table.IsDigits(word)
		see(len(word))
	}
	if _, quantity := l.options.Bends[l.Name()]; example == "" || quantity {
		return "", false
	}
	for _, segment := range l.Cells.Segments() {
		for _, x := range segment {
			if !codes {
				return example, false
			}
			if table.IsText(x) || l.Markers.Number(x) {
				continue
			}
			codes = x >= 0 && x == math.Trunc(x) && !numbers[x]
			see(table.IntegerDigits(x))
		}
	}
	return example, codes && (!widths || len(numbers) > 1)
}

// notePadding says that zeros in front mean nothing in a column that became one of numbers.
func (l *learner) notePadding(example string) {
	if l.column.Kind == Numeric {
		l.notef("leading zeros", "has whole numbers with zeros in front, such as %s, which are treated as numeric; if they are codes, make it categorical", table.Quote(example))
	}
}
