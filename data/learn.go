package data

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/tasks"
)

const (
	// maxEntries bounds the encoded matrix (2 GiB of float64), so that a table whose
	// categories explode is refused rather than run out of memory.
	maxEntries = 1 << 28
	// From so many rows on, all-different cells are taken for identifiers; in
	// fewer rows they may differ by chance.
	identifierRows = 10
	// Share of different cells from which text is perhaps an identifier.
	identifierShare = 0.9
	// manyCategories is how many of them are worth a word.
	manyCategories = 30
	// A standard deviation below this fraction of the largest magnitude is
	// rounding error: 1e-14 is some fifty units in the last place.
	constantFraction = 1e-14
)

// Options says how to learn a recipe. The zero value takes the last column as
// the outcome, standardises, and refuses missing cells. Columns are named as in
// Table.Column.
type Options struct {
	Target   string // the outcome; empty means "last"
	Positive string // spelling of the positive outcome; may be empty if convention settles it

	Features []string // the only columns that may make features; nil means all
	Drop     []string // columns that make none
	ID       string   // the column that names the rows, if there is one
	Weights  string   // the column that says how much each row counts, if there is one

	Categorical []string     // columns that are categorical whatever they look like
	Ordered     []OrderedSet // columns whose categories have an order
	Dates       DateOrder    // of dates that could be either; empty means to ask

	Prevalence float64 // share of positive outcomes among the cases to be decided, 0 if as in the rows

	Impute    bool            // fill missing cells by median or mode, with an indicator feature
	Markers   []string        // spellings of a missing cell beside DefaultMissing
	KeepScale bool            // leave numeric columns as they are instead of standardising
	Scaling   Bend            // of all numeric columns that are standardised; empty means none
	Bends     map[string]Bend // of single columns, by name
}

// OrderedSet is a column with its categories in order.
type OrderedSet struct {
	Column     string
	Categories []string
}

// Learned is what Learn found: the recipe, and the training rows by it.
type Learned struct {
	Recipe  *Recipe
	X       *mat.Dense // one row of features for each training row
	Labels  []int      // +1 or −1
	Weights []float64  // how much each row counts; nil if all count one
	Notes   []string   // what a person should know, or be asked, about the table
	Codes   []string   // numeric columns of few different integers, which may be codes
}

// Learn learns the recipe from the training rows and encodes them by it.
//
// Dropped, each with a reason in the recipe, are columns with a single value and
// those that identify rather than describe: all-distinct integers named like an
// identifier, unnamed row numbers, and text of which all cells differ. What is not
// certain is an error that says which option settles it.
func Learn(t *Table, o Options) (*Learned, error) {
	l, err := learnRecipe(t, &o)
	if err != nil {
		return nil, err
	}
	if d := l.Recipe.Dim(); d > maxEntries/t.n {
		widest := slices.MaxFunc(l.Recipe.Columns, func(a, b Column) int { return a.width() - b.width() })
		return nil, &Error{
			File: t.file, ColumnName: widest.Name,
			Msg:  fmt.Sprintf("%d rows of %d features are too many; this column alone makes %d", t.n, d, widest.width()),
			Fix:  "leave out columns with many categories, or rows",
			Ways: []Way{{Option: WayDrop, Value: widest.Name}},
		}
	}
	// The training rows take the way of all later rows: there is no other.
	if l.X, _, err = l.Recipe.Apply(t); err != nil {
		return nil, err
	}
	l.Notes = append(l.Notes, l.leaks()...)
	return l, nil
}

// learner is what is known of a column before its recipe is.
type learner struct {
	*scanned
	options *Options
	column  Column
	note    string
	codes   bool // it may hold codes
}

// learnRecipe decides about every column by itself. Missing cells are collected
// over all columns before they are reported: a message for one at a time would
// have to be answered many times.
func learnRecipe(t *Table, o *Options) (*Learned, error) {
	if o.Target == "" {
		o.Target = "last"
	}
	roles, err := o.roles(t)
	if err != nil {
		return nil, err
	}
	missing := allMarkers(o.Markers)
	m := newMarkers(missing)
	l := &Learned{Notes: slices.Clone(t.notes)}
	r := &Recipe{
		Rows: t.n, Header: t.header, Standardize: !o.KeepScale, Impute: o.Impute,
		Missing: missing, Columns: make([]Column, len(t.columns)),
	}
	if t.dialect.decimal == ',' {
		r.Decimal = ","
	}
	l.Recipe = r
	if roles.condition != nil {
		r.Target, l.Labels, err = learnCondition(t, roles.condition, roles.parts, o, m)
	} else {
		r.Target, l.Labels, err = learnTarget(t, roles.target, o, m)
	}
	if err != nil {
		return nil, err
	}
	r.Target.Prevalence = o.Prevalence
	if roles.weights >= 0 {
		if l.Weights, err = t.Weights(t.columns[roles.weights]); err != nil {
			return nil, err
		}
		if r.Target.Share, err = weightShare(t, roles.weights, l.Labels, l.Weights); err != nil {
			return nil, err
		}
	}
	learners := make([]*learner, len(t.columns))
	errs := make([]error, len(t.columns))
	tasks.Each(len(t.columns), func() func(int) {
		return func(j int) {
			if c, settled := roles.settled(t, j); settled {
				r.Columns[j] = c
				return
			}
			learners[j] = &learner{scanned: scan(t, j, m), options: o, column: Column{Name: t.columns[j]}}
			errs[j] = learners[j].learn(roles)
			r.Columns[j] = learners[j].column
		}
	})
	var gaps missingCells
	for j, s := range learners {
		switch {
		case s == nil:
			continue
		case errs[j] != nil:
			return nil, errs[j]
		// What is dropped may have gaps: nobody will look at it again.
		case !o.Impute && r.Columns[j].isFeature():
			gaps.add(s.scanned)
		}
		if s.note != "" {
			l.Notes = append(l.Notes, s.note)
		}
		if s.codes {
			l.Codes = append(l.Codes, s.name())
		}
	}
	if err := gaps.err(t); err != nil {
		return nil, err
	}
	if r.Dim() == 0 {
		return nil, noFeatures(t, r)
	}
	return l, nil
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
	case len(l.words) == 0:
		return l.learnNumeric()
	}
	if at := l.infinite(); at != nil {
		return at
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
		mixed := n.Decimal != "" && l.table.dialect.decimal == '.' && l.numbers > 0 && !l.whole
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
	}
	return l.learnText()
}

func (l *learner) cellsOf(codes []uint32) (cells int) {
	for _, k := range codes {
		cells += l.counts[k]
	}
	return cells
}

func (l *learner) drop(reason string) error {
	l.column = Column{Name: l.name(), Kind: Dropped, Reason: reason, Notation: l.column.Notation}
	return nil
}

const identifierByName = "identifier-like: named so, and every value differs"

// identifiedByName recognises a column that is named like an identifier and is one.
func (l *learner) identifiedByName() bool {
	return namedLikeIdentifier(l.name()) && l.present() > 1 && l.different() == l.present()
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
		return &Error{
			File: l.table.file, Column: l.scanned.column + 1, ColumnName: l.name(),
			Msg: fmt.Sprintf("%d different texts in %d rows, such as %s: is this an identifier?", different, l.present(), quote(string(l.word(l.words[0])))),
			Fix: "say which it is",
			Ways: []Way{
				{WayDrop, l.name(), "an identifier or free text"}, {WayCategorical, l.name(), "a category each"},
			},
		}
	}
	return l.learnCategorical()
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
		l.note = fmt.Sprintf("column %s has %d categories in %d rows; each becomes a feature", quote(c.Name), len(c.Categories), l.present())
	}
	l.estimate(c, l.options.Impute, !l.options.KeepScale)
	return nil
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
			return &Error{
				File: l.table.file, Column: l.scanned.column + 1, ColumnName: c.Name,
				Msg: fmt.Sprintf("%s (%s) is not in the order %s", quote(name), plural(count[name], "cell"), quoteList(c.Categories)),
				Fix: "put every category in the order, or make it a missing marker",
			}
		}
	}
	if len(count) == 1 {
		return l.learnConstant()
	}
	c.Indicator = l.options.Impute && l.missing > 0
	l.estimate(c, l.options.Impute, !l.options.KeepScale)
	return nil
}

// infinite refuses infinities among numbers.
func (l *learner) infinite() error {
	cells := 0
	first := uint32(0)
	for _, k := range l.words {
		if _, kind := parseNumber(l.word(k), l.table.dialect.decimal); kind == infinite {
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
	at.Msg = fmt.Sprintf("%s is infinite or too large (%s in this column)", quote(string(l.word(first))), plural(cells, "such cell"))
	at.Fix = "replace it by a finite number, or make it a missing cell"
	at.Ways = []Way{{WayMarkers, string(l.word(first)), "a missing cell"}}
	return at
}

// learnNumeric is a column of numbers.
func (l *learner) learnNumeric() error {
	c := &l.column
	c.Kind, c.Scale = Numeric, 1
	// Where no number of the file shows its decimal separator, 1.234 may be 1234.
	if !l.table.dialect.sure && !l.whole && l.thousand && c.Notation == nil {
		return l.askDecimal(l.firstFraction())
	}
	name := l.name()
	if l.counting && name == generatedName(l.scanned.column) && l.table.n >= identifierRows {
		return l.drop("identifier-like: a running number")
	}
	f := newField(c, false, l.markers)
	values := l.quantities(&f)
	if len(values) > 1 && namedLikeIdentifier(name) && (l.distinctIntegers(values) || len(l.words) > 0 && l.different() == l.present()) {
		return l.drop(identifierByName)
	}
	if _, scale := meanScale(values); scale <= constantFraction*magnitude(values) {
		return l.learnConstant()
	}
	c.Indicator = l.options.Impute && l.missing > 0
	if c.Notation != nil {
		l.note = fmt.Sprintf("column %s is read as numbers: %v", quote(name), c.Notation)
	}
	if n := len(l.distinct); l.whole && len(l.words) == 0 && n > 2 && n <= fewDistinct && l.numbers >= 5*n {
		l.codes = true
	}
	l.estimate(c, l.options.Impute, !l.options.KeepScale)
	return nil
}

// firstFraction is the first cell that is no integer.
func (l *learner) firstFraction() (*Error, string) {
	for i := range l.table.n {
		if x := l.table.at(i, l.scanned.column); !isWord(x) && x != math.Trunc(x) {
			return l.table.cell(i, l.scanned.column), spelled(x)
		}
	}
	return &Error{File: l.table.file}, ""
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
	l.note = fmt.Sprintf("column %s is read as dates: %v", quote(l.name()), c.Dates)
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

// quantities are the numbers of the cells that are not missing, in the order of the
// rows.
func (s *scanned) quantities(f *field) []float64 {
	words := make([]reading, len(s.counts))
	for k, n := range s.counts {
		if n > 0 {
			words[k] = f.text(s.word(uint32(k)), s.table.dialect.decimal)
		}
	}
	values := make([]float64, 0, s.present())
	for i := range s.table.n {
		x := s.table.at(i, s.column)
		v := reading{}
		if isWord(x) {
			v = words[wordOf(x)]
		} else {
			v = f.number(x)
		}
		if v.state == known {
			values = append(values, v.x)
		}
	}
	return values
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

// estimate fills in the statistics of a column whose kind is settled.
func (l *learner) estimate(c *Column, impute, standardize bool) {
	l.scanned.estimate(c, impute, standardize, l.options.bend(c.Name))
}

// bend is what was asked for a column.
func (o *Options) bend(name string) Bend {
	if b, ok := o.Bends[name]; ok {
		return b
	}
	return o.Scaling
}

// estimate does so for a column that may have been learned from other rows; bend is
// what is wanted.
func (s *scanned) estimate(c *Column, impute, standardize bool, bend Bend) {
	if c.Kind == Categorical && impute {
		c.FillCategory = s.commonest(c.Categories)
	}
	if !c.isQuantity() {
		return
	}
	f := newField(c, false, s.markers)
	values := s.quantities(&f)
	if len(values) == 0 {
		return // there is nothing to estimate from
	}
	if impute {
		c.Fill = median(slices.Clone(values))
		// The model sees the filled column, so that is what is standardised.
		values = append(values, slices.Repeat([]float64{c.Fill}, s.missing)...)
	}
	if c.Kind == Date {
		for i, x := range values {
			values[i] = c.Dates.days(x)
		}
	}
	c.Mean, c.Scale, c.Scaling = 0, 1, nil
	if c.Kind != Ordered {
		c.Low, c.High = slices.Min(values)+0, slices.Max(values)+0
	}
	if !standardize {
		return
	}
	if c.Kind == Numeric {
		if c.Scaling = wantedScaling(values, bend); c.Scaling != nil {
			for i, x := range values {
				values[i] = c.Scaling.apply(x)
			}
		}
	}
	c.Mean, c.Scale = meanScale(values)
	if c.Scale <= constantFraction*magnitude(values) {
		c.Scale = 1 // constant in these rows, if not in those the kind is from
	}
}

// commonest is the most frequent of the categories, the first in their order
// among equals.
func (s *scanned) commonest(categories []string) string {
	count := s.categories()
	best := categories[0]
	for _, category := range categories {
		if count[category] > count[best] {
			best = category
		}
	}
	return best
}

// noFeatures explains a table that leaves nothing to decide by.
func noFeatures(t *Table, r *Recipe) error {
	e := &Error{File: t.file, Msg: "there is no column to decide by beside the outcome", Fix: "give a table with further columns"}
	if len(t.columns) > 1 {
		e.Msg = "every column beside the outcome was dropped: " + strings.Join(r.droppedLines(), "; ")
	}
	return e
}
