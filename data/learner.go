package data

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
)

// learner is what is known of a column before its recipe is.
type learner struct {
	estimator
	options *Options
	column  Column
	notes   []string
	codes   bool // it may hold codes
}

// learn decides what becomes of the column.
func (l *learner) learn(roles *roles) error {
	c := &l.column
	switch {
	case l.present() == 0:
		return l.drop("constant: no cell has a value")
	case roles.ordered[l.scanned.column] != nil:
		return l.learnOrdered(roles.ordered[l.scanned.column])
	case roles.categorical[l.scanned.column]:
		return l.learnCategorical()
	}
	if example, codes := l.padding(); codes {
		l.notef("has whole numbers with zeros in front, such as %s, which are taken for codes; if it is a quantity, name a scaling for it, such as auto", quote(example))
		return l.learnText()
	} else if example != "" {
		defer l.notePadding(example)
	}
	if len(l.words) == 0 {
		return l.learnNumeric()
	}
	if at := l.infinite(); at != nil {
		return at
	}
	if cells := l.longIntegers(); 2*cells > l.present() {
		l.notef("has integers of more than %d digits, which are taken for codes", exactDigits)
		return l.learnText()
	} else if cells > 0 {
		l.notef("has %s of more than %d digits, which are rounded; if they are codes, make it categorical", Plural(cells, "integer"), exactDigits)
	}
	if n, odd := l.notation(); n != nil {
		numbers := l.texts
		for _, k := range odd {
			numbers -= l.counts[k]
		}
		if n.Unit == "" || l.numbers == 0 {
			numbers += l.numbers
		}
		if k, found := l.ambiguous(n); len(odd) == 0 && found {
			return l.askDecimal(l.scanned.at(k), string(l.word(k)))
		}
		// Points in a column of decimal commas would be thousands, and were read otherwise.
		mixed := n.Decimal != "" && l.table.Decimal() == '.' && l.numbers > 0 && !l.whole
		if len(odd) == 0 && (n.Unit == "" || l.numbers == 0) && !mixed {
			if *n != (Notation{}) {
				c.Notation = n
			}
			return l.learnNumeric()
		}
		if l.identifiedByName() {
			return l.drop(identifierByName)
		}
		if 2*numbers > l.present() || mixed {
			return l.mostlyNumbers(odd, n)
		}
	} else if 2*l.numbers > l.present() && !l.identifiedByName() {
		return l.mostlyNumbers(l.words, nil)
	}
	if orders, odd := l.dateOrders(l.options.Dates); l.numbers == 0 {
		switch {
		case len(orders) == 1 || len(orders) > 1 && orders[0] == YearFirst:
			return l.learnDates(orders[0])
		case len(orders) > 1:
			return l.askOrder()
		case 2*l.cellsOf(odd) < l.texts:
			return l.mostlyDates(odd)
		}
		l.noteDates()
	}
	if at := l.differentUnits(); at != nil && !l.identifiedByName() {
		return at
	}
	return l.learnText()
}

func (l *learner) cellsOf(codes []uint32) (cells int) {
	for _, k := range codes {
		cells += l.counts[k]
	}
	return cells
}

// notef says something about the column that a person should know.
func (l *learner) notef(format string, args ...any) {
	l.notes = append(l.notes, fmt.Sprintf("column %s ", quote(l.name()))+fmt.Sprintf(format, args...))
}

func (l *learner) drop(reason string) error {
	l.column = Column{Name: l.name(), Kind: Dropped, Reason: reason, Notation: l.column.Notation}
	return nil
}

const identifierByName = "identifier-like: named so, and every value differs"

// identifiedByName recognises a column that is named like an identifier and is one.
func (l *learner) identifiedByName() bool {
	return l.named() && l.different() == l.present()
}

// named tells whether the column is named like an identifier. In few rows numbers of, say,
// a row of seats may differ by chance.
func (l *learner) named() bool {
	n := l.present()
	return n > 1 && namedLikeKey(l.name()) || n >= identifierRows && namedLikeIdentifier(l.name())
}

// learnText is a column of words.
func (l *learner) learnText() error {
	if l.identifiedByName() {
		return l.drop(identifierByName)
	}
	different := l.different()
	if l.present() >= identifierRows && different == l.present() {
		return l.drop(fmt.Sprintf("identifier-like: %d different texts in as many rows", different))
	}
	if l.present() >= identifierRows && float64(different) >= identifierShare*float64(l.present()) {
		example := spelled(l.least) // codes of digits only
		if len(l.words) > 0 {
			example = string(l.word(l.words[0]))
		}
		ways := []Way{{WayDrop, l.name(), "an identifier or free text"}, {WayCategorical, l.name(), "a category each"}}
		if l.options.ID == "" {
			ways = append([]Way{{WayID, l.name(), "an identifier, to stand beside decisions"}}, ways...)
		}
		if _, codes := l.padding(); codes {
			ways = append(ways, Way{WayScaling, l.name() + "=" + string(AutoBend), "a quantity"})
		}
		return &Error{
			File: l.table.Name(), Column: l.scanned.column + 1, ColumnName: l.name(),
			Msg: fmt.Sprintf("%d different texts in %d rows, such as %s: is this an identifier?", different, l.present(), quote(example)),
			Fix: "say which it is", Ways: ways,
		}
	}
	l.noteKey("categories")
	return l.learnCategorical()
}

// noteKey asks about a column that is named like an identifier and has values that come
// again.
func (l *learner) noteKey(what string) {
	if namedLikeKey(l.name()) && l.present() >= identifierRows {
		l.notef("is named like an identifier and has values that come again; it is decided by as %s. If it says which rows belong together, give it as groups, otherwise drop it", what)
	}
}

// learnCategorical is a column of categories, whatever they look like.
func (l *learner) learnCategorical() error {
	count := l.categories()
	if len(count) == 1 {
		return l.learnConstant()
	}
	c := &l.column
	c.Kind, c.Notation = Categorical, nil
	c.Indicator = l.options.Impute && l.missing > 0
	c.Categories = slices.Sorted(maps.Keys(count))
	if len(c.Categories) > manyCategories {
		l.notef("has %d categories in %d rows; each becomes a feature%s", len(c.Categories), l.present(), l.mayGroup(len(c.Categories)))
	}
	l.noteCase(c.Categories)
	l.estimate(c, l.options.Impute, !l.options.KeepScale)
	return nil
}

// mayGroup asks whether so many categories, of few rows each, are customers or the like, whose
// rows would be on both sides of a split. noteKey has asked that of names such as customer.
func (l *learner) mayGroup(categories int) string {
	const few = 10
	if l.present() >= few*categories || l.options.Groups != "" || namedLikeKey(l.name()) {
		return ""
	}
	return ". If it says which rows belong together, such as those of a customer, give it as groups"
}

// learnOrdered is a column whose categories the user has put in order.
func (l *learner) learnOrdered(order *OrderedSet) error {
	c := &l.column
	c.Kind = Ordered
	for _, category := range order.Categories {
		c.Categories = append(c.Categories, key(bytesOf(strings.TrimSpace(category)), '.'))
	}
	count := l.categories()
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if !slices.Contains(c.Categories, name) {
			at := l.firstOf(name)
			at.Msg = fmt.Sprintf("%s (%s) is not in the order %s", quote(name), Plural(count[name], "cell"), quoteList(c.Categories))
			at.Fix = "put every category in the order, or make it a missing marker"
			return at
		}
	}
	if len(count) == 1 {
		return l.learnConstant()
	}
	c.Indicator = l.options.Impute && l.missing > 0
	l.estimate(c, l.options.Impute, !l.options.KeepScale)
	return nil
}

// longIntegers counts the cells that are integers of more digits than a float64 keeps,
// where all others of the column are integers too.
func (l *learner) longIntegers() (cells int) {
	if !l.whole {
		return 0
	}
	for _, k := range l.words {
		if _, kind := parseNumber(l.word(k), l.table.Decimal()); kind == long {
			cells += l.counts[k]
		} else if !isPadded(l.word(k)) {
			return 0
		}
	}
	return cells
}

// infinite refuses infinities among numbers.
func (l *learner) infinite() error {
	cells := 0
	first := uint32(0)
	for _, k := range l.words {
		if _, kind := parseNumber(l.word(k), l.table.Decimal()); kind == infinite {
			if cells == 0 {
				first = k
			}
			cells += l.counts[k]
		}
	}
	if cells == 0 || 2*(cells+l.numbers) <= l.present() {
		return nil
	}
	at := l.scanned.at(first)
	at.Msg = fmt.Sprintf("%s is infinite or too large (%s in this column)", quote(string(l.word(first))), Plural(cells, "such cell"))
	at.Fix = "replace it by a finite number, or make it a missing cell"
	at.Ways = []Way{{WayMarkers, string(l.word(first)), "a missing cell"}}
	return at
}

// bounds are the smallest and the largest number of the column.
func (l *learner) bounds() (low, high float64) {
	if len(l.words) == 0 {
		return l.least, l.most
	}
	return bounds(l.all())
}

// all are the numbers of the column.
func (l *learner) all() []float64 {
	if l.values == nil {
		f := newField(&l.column, false, l.markers)
		l.values = l.quantities(&f)
	}
	return l.values
}

// parts are the numbers of the column a part at a time, where they lie if they are written
// plainly; missing cells are between them then.
func (l *learner) parts() iter.Seq[[]float64] {
	return func(yield func([]float64) bool) {
		if len(l.words) > 0 || l.markers.HasNumbers() {
			yield(l.all())
			return
		}
		for _, part := range l.table.stretches(l.scanned.column) {
			if !yield(part) {
				return
			}
		}
	}
}

// learnNumeric is a column of numbers.
func (l *learner) learnNumeric() error {
	c := &l.column
	c.Kind, c.Scale = Numeric, 1
	// Where no number of the file shows its decimal separator, 1.234 may be 1234, and 12.000
	// too.
	if doubt, unsure := l.table.UnsureDecimal(l.scanned.column); unsure && c.Notation == nil && l.thousand {
		if !l.whole {
			return l.askDecimal(l.firstFraction())
		}
		if doubt != "" {
			return l.askDecimal(&Error{File: l.table.Name(), Column: l.scanned.column + 1, ColumnName: l.name()}, doubt)
		}
	}
	name := l.name()
	if l.counting && name == generatedName(l.scanned.column) && l.table.Len() >= identifierRows {
		return l.drop("identifier-like: a running number")
	}
	// What is left of running numbers in a part of a table, or in one that was shuffled.
	if l.table.Nameless(l.scanned.column) && l.present() >= identifierRows && l.distinctIntegers(l.all()) {
		return l.drop("identifier-like: no name in the header, and whole numbers that all differ")
	}
	if l.named() && (l.distinctIntegers(l.all()) || len(l.words) > 0 && l.different() == l.present()) {
		return l.drop(identifierByName)
	}
	switch low, high := l.bounds(); {
	case low == high:
		return l.learnConstant()
	case !apart(low, high) && l.missing == 0:
		return l.drop(fmt.Sprintf("its values, %s to %s, differ by no more than rounding", spelled(low), spelled(high)))
	case !apart(low, high):
		return l.learnConstant() // which keeps whether it is there
	}
	c.Indicator = l.options.Impute && l.missing > 0
	if c.Notation != nil {
		l.notef("is read as numbers: %v", c.Notation)
	}
	if n := len(l.distinct); l.whole && len(l.words) == 0 && n > 2 && n <= fewDistinct && l.numbers >= 5*n {
		l.codes = true
	}
	l.noteStandIn()
	if l.whole && !l.codes {
		l.noteKey("a quantity")
	}
	l.estimate(c, l.options.Impute, !l.options.KeepScale)
	if l.options.bend(name) == Log && c.Scaling == nil && !l.options.KeepScale {
		return l.askBend(l.all())
	}
	return nil
}

// firstFraction is the first cell that is no integer.
func (l *learner) firstFraction() (*Error, string) {
	for i := range l.table.Len() {
		if x := l.table.at(i, l.scanned.column); !isWord(x) && x != math.Trunc(x) {
			return l.table.cell(i, l.scanned.column), spelled(x)
		}
	}
	return &Error{File: l.table.Name()}, ""
}

// learnDates is a column of dates or times.
func (l *learner) learnDates(order DateOrder) error {
	c := &l.column
	c.Kind, c.Scale, c.Dates = Date, 1, &Dates{Order: order}
	f := newField(c, false, l.markers)
	moments := l.quantities(&f)
	first, last := slices.Min(moments), slices.Max(moments)
	if first == last {
		return l.learnConstant()
	}
	const day = 86400
	if order != ClockTime {
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
	c.Indicator = l.options.Impute && l.missing > 0
	l.notef("is read as dates: %v", c.Dates)
	l.estimate(c, l.options.Impute, !l.options.KeepScale)
	return nil
}

// learnConstant keeps of a column with one value only whether it is there,
// which may say something; whether missing cells are allowed is not decided
// here.
func (l *learner) learnConstant() error {
	if l.missing > 0 {
		l.column = Column{Name: l.name(), Kind: Presence, Indicator: true}
		return nil
	}
	return l.drop("constant: every value is " + quote(l.cells.text(l.table.at(0, l.scanned.column))))
}

// distinctIntegers reports whether values are whole and all different.
func (l *learner) distinctIntegers(values []float64) bool {
	if !l.whole {
		return false
	}
	seen := make(map[float64]bool, len(values))
	for _, x := range values {
		if x != math.Trunc(x) || seen[x] {
			return false
		}
		seen[x] = true
	}
	return true
}
