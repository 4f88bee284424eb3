package recipe

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lossep/lossep/expr"
	"github.com/lossep/lossep/table"
)

// field is a column of a recipe made ready to read cells: the one place where a text
// or a number becomes what the recipe knows.
type field struct {
	column  *Column
	at      int // of its first number in an encoded row
	codeAt  int // of its code, if it has one
	impute  bool
	open    bool // see Recipe.Open
	gaps    bool // see Recipe.Gaps
	markers *table.Markers
	codes   map[string]int32  // categories that are texts
	numbers map[float64]int32 // categories that are numbers
}

// fields are all columns of a recipe.
func (r *Recipe) fields() []field {
	m := table.NewMarkers(r.Missing)
	all := make([]field, len(r.Columns))
	c := r.Coding()
	for i := range all {
		all[i] = newField(&r.Columns[i], r.Impute, m.OfColumn(r.Columns[i].Name, r.Missing))
		all[i].open, all[i].gaps = r.isOpen(r.Columns[i].Name), r.Gaps
		all[i].at, all[i].codeAt = c.place[i].number, c.Numbers()+c.place[i].code
	}
	return all
}

func newField(c *Column, impute bool, m *table.Markers) field {
	f := field{column: c, impute: impute, markers: m}
	if c.Kind == Categorical || c.Kind == Ordered {
		f.codes, f.numbers = make(map[string]int32, len(c.Categories)), make(map[float64]int32)
		for k, category := range c.Categories {
			if x, kind := table.ParseNumber(table.BytesOf(category), '.'); kind == table.Finite {
				f.numbers[x] = int32(k)
			} else {
				f.codes[category] = int32(k)
			}
		}
		// Recipes from before keys were composed have others.
		for k, category := range c.Categories {
			if looks := expr.Composed(category); looks != category {
				if _, taken := f.codes[looks]; !taken {
					f.codes[looks] = int32(k)
				}
			}
		}
	}
	return f
}

// reading is what a cell means to its column.
type reading struct {
	state   state
	x       float64 // of a quantity
	code    int32   // of a category
	problem string
	zone    bool // a time that has a zone where those of training had none, or the reverse
}

type state uint8

const (
	absent state = iota // the row has no such cell
	known
	gap    // missing
	unseen // a category that training had not
	faulty
)

func fault(format string, args ...any) reading {
	return reading{state: faulty, problem: fmt.Sprintf(format, args...)}
}

// text reads a text without white space around it. What is one of the categories is
// that category, even if it is spelled like a missing cell.
func (f *field) text(text []byte, decimal byte) reading {
	c := f.column
	if c.Kind == Categorical || c.Kind == Ordered {
		if code, ok := f.code(text, decimal); ok {
			return f.category(code)
		}
	}
	if f.markers.Text(text) {
		return reading{state: gap}
	}
	switch c.Kind {
	case Numeric, Outcome:
		x, ok := f.parse(text, decimal)
		if !ok {
			if c.Notation != nil && c.Notation.Unit != "" {
				return fault("%s is not a finite number in %s", table.Quote(string(text)), c.Notation.Unit)
			}
			return fault("%s is not a finite number", table.Quote(string(text)))
		}
		return f.number(x)
	case Date:
		x, ok := table.ParseDate(text, c.Dates.Order)
		if !ok && c.Dates.Order != table.ClockTime {
			x, ok = table.ParseDate(text, table.YearFirst) // as every program can write it
		}
		if !ok {
			return fault("%s is not a date like those of the training rows (%s)", table.Quote(string(text)), c.Dates.Order)
		}
		return reading{state: known, x: x, zone: c.Dates.otherZone(text)}
	case Presence:
		return reading{state: known}
	}
	if x, kind := table.ParseNumber(text, decimal); kind == table.Finite && f.markers.Number(x) {
		return reading{state: gap}
	}
	return reading{state: unseen}
}

// cell reads a cell of a table.
func (f *field) cell(t *table.Table, i, j int) reading {
	x := t.At(i, j)
	if table.IsText(x) {
		return f.text(t.Cells(j).Bytes(x), t.Decimal())
	}
	return f.number(x)
}

// code finds a category by its key without making the key.
func (f *field) code(text []byte, decimal byte) (int32, bool) {
	if len(text) > 0 && text[0] <= '9' {
		if x, kind := table.ParseNumber(text, decimal); kind == table.Finite {
			return f.codeOf(x)
		}
	}
	code, ok := f.codes[string(text)]
	if !ok && slices.ContainsFunc(text, func(b byte) bool { return b >= utf8.RuneSelf }) {
		code, ok = f.codes[expr.Composed(string(text))]
	}
	if !ok && isTruth(text) && !f.markers.Text(text) { // files spell it TRUE or True too
		for k, category := range f.column.Categories {
			if bytes.EqualFold(table.BytesOf(category), text) {
				return int32(k), true
			}
		}
	}
	return code, ok
}

// codeOf finds a category that is a number. One of sixteen digits is kept as a text, and
// below 2⁵³ the number still has all of them.
func (f *field) codeOf(x float64) (int32, bool) {
	code, ok := f.numbers[x]
	if !ok && math.Abs(x) >= 1e15 && math.Abs(x) < 1<<53 {
		code, ok = f.codes[table.Spelled(x)]
	}
	return code, ok
}

// isTruth recognises true and false in any case.
func isTruth(text []byte) bool {
	return len(text) == 4 && bytes.EqualFold(text, []byte("true")) || len(text) == 5 && bytes.EqualFold(text, []byte("false"))
}

// number reads a finite number.
func (f *field) number(x float64) reading {
	c := f.column
	if c.Kind == Categorical || c.Kind == Ordered {
		if code, ok := f.codeOf(x); ok {
			return f.category(code)
		}
	}
	switch {
	case f.markers.Number(x):
		return reading{state: gap}
	case c.Kind == Numeric, c.Kind == Outcome, c.Kind == Presence:
		return reading{state: known, x: x}
	case c.Kind == Date:
		return fault("%s is not a date (%s)", table.Spelled(x), c.Dates.Order)
	}
	return reading{state: unseen}
}

// category is the reading of a category: a code and, in an ordered column, its place.
func (f *field) category(code int32) reading {
	return reading{state: known, code: code, x: float64(code)}
}

// truth reads a truth value.
func (f *field) truth(b bool) reading { return f.text(strconv.AppendBool(nil, b), '.') }

// put writes what a reading makes of an encoded row, which holds zeros.
func (f *field) put(v *reading, row []float64) (problem string) {
	c := f.column
	switch v.state {
	case faulty:
		return v.problem
	case gap:
		if f.open || f.gaps && f.newGap(*v) && !c.isScore() {
			for k := range c.numbers() {
				row[f.at+k] = math.NaN()
			}
			if c.Kind == Categorical {
				row[f.codeAt] = math.NaN()
			}
			return ""
		}
		if c.isScore() {
			return missingScore
		}
		if !f.impute {
			return missingCell
		}
		if c.Indicator {
			row[f.at+c.numbers()-1] = 1
		}
		switch {
		case c.isQuantity():
			return f.quantity(c.Fill, row[f.at:])
		case c.Kind == Categorical:
			code, _ := f.code([]byte(c.FillCategory), '.')
			row[f.codeAt] = float64(code)
		}
	case known:
		switch {
		case c.isQuantity():
			return f.quantity(v.x, row[f.at:])
		case c.Kind == Categorical:
			row[f.codeAt] = float64(v.code)
		}
	case unseen:
		if c.Kind == Categorical {
			row[f.codeAt] = -1
		}
	}
	return "" // an unseen place in an order stays in the middle
}

// quantity writes (x − mean)/scale of a number, bent if it is to be, and the cycles of
// a date, to the entries from dst on.
func (f *field) quantity(x float64, dst []float64) (problem string) {
	c := f.column
	if c.Kind == Date {
		for k, cycle := range c.Dates.Cycles {
			sine, cosine := math.Sincos(2 * math.Pi * cycle.phase(x))
			dst[1+2*k], dst[2+2*k] = sine, cosine
		}
		x = c.Dates.days(x)
	}
	if c.isScore() {
		if problem = scoreProblem(x); problem != "" {
			return problem
		}
	}
	z := c.standardised(x)
	if math.IsInf(z, 0) || math.IsNaN(z) {
		return fmt.Sprintf("%v is too far from the training values (mean %.4g, scale %.4g)", x, c.Mean, c.Scale)
	}
	dst[0] = z
	return ""
}

// standardised is a number, bent if it is to be, in standard deviations from the mean.
func (c *Column) standardised(x float64) float64 {
	if c.Scaling != nil {
		x = c.Scaling.apply(x)
	}
	return (x - c.Mean) / c.Scale
}

// remarkable tells whether there is something to be said about a reading.
func (f *field) remarkable(v reading) bool {
	return v.state != known && v.state != gap || v.zone || f.far(v) || f.newGap(v)
}

// newGap tells whether a reading is a missing cell that is not an error, where training had none.
func (f *field) newGap(v reading) bool {
	return v.state == gap && f.impute && !f.open && !f.column.Indicator
}

// far tells whether a reading is far outside the training values; see Column.far.
func (f *field) far(v reading) bool {
	c := f.column
	x := v.x
	switch {
	case v.state != known:
		return false
	case c.Kind == Date && c.Dates.Order != table.ClockTime: // time goes on, and nothing was learned of it
		x = c.Dates.days(x)
		return c.High > c.Low && (x < c.Low || x > c.High)
	case c.Kind == Date:
		x = c.Dates.days(x)
	case c.Kind != Numeric:
		return false
	}
	return c.far(x)
}

// far tells whether a value is far outside those of training: by more than half their range, or
// ten times as near to zero as all of them, as shares are where percentages are meant. Of a wide
// range half reaches beyond zero, and does not tell such a change of unit. Zero is the same in
// every unit.
func (c *Column) far(x float64) bool {
	if c.isScore() {
		return false // or an error
	}
	if c.Scaling != nil && c.Scaling.Bend == LogOdds && (x < 0 || x > 1) {
		return true // no probability
	}
	if c.High <= c.Low {
		return false
	}
	half := c.High/2 - c.Low/2
	return x < c.Low-half || x > c.High+half || x > 0 && x < c.Low/10 || x < 0 && x > c.High/10
}

// parse is the number that a text is, plainly or in the notation of the column.
func (f *field) parse(text []byte, decimal byte) (x float64, ok bool) {
	x, kind := table.ParseNumber(text, decimal)
	if ok = kind == table.Finite || kind == table.Long; !ok && f.column.Notation != nil {
		x, ok = f.column.Notation.Parse(text)
	}
	return x, ok
}

// stakeFar is far of a number that only costs are made of.
func (f *field) stakeFar(x float64) bool {
	return f.column.atStake() && !f.markers.Number(x) && f.column.far(x)
}

// missingCell is the problem of a model that does not fill missing cells.
const missingCell = "missing cell, and the model was trained without imputation"

// refused says why a cell cannot be read, and what to do.
func refused(problem string) *table.Error {
	if problem == missingCell {
		return new(table.Error).Say(
			"fill the cell in, or learn the model again from the same rows, with missing cells filled",
			"%s", problem).By(table.Way{Option: table.WayImpute})
	}
	if problem == missingScore || strings.HasSuffix(problem, certainScore) {
		return &table.Error{Msg: problem, Fix: fixScore}
	}
	return &table.Error{Msg: problem, Fix: "correct the cell, or fit again with such cells in training"}
}
