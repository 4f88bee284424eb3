package recipe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/lossep/lossep/table"
)

// Encoder encodes rows whose values come one by one, each with the number of its
// column in the recipe, as a reader of JSON text or of whole columns finds them: Begin,
// then every value once, in any order, then End. It is not for concurrent use.
type Encoder struct {
	recipe  *Recipe
	dim     int
	fields  []field
	missing *table.Markers // of columns that the recipe does not have
	needed  int

	dst     []float64 // of the row under way
	states  []state   // of each column in this row
	given   int       // columns that make features and have a value that is fine
	remarks Remarks
	faults  map[int]string
}

// Marks tells whether a number spells a missing cell in a column of the recipe, or in one that
// the recipe does not have.
func (e *Encoder) Marks(column int, x float64) bool { return e.markers(column).Number(x) }

// MarksText is Marks of a text.
func (e *Encoder) MarksText(column int, text []byte) bool { return e.markers(column).Text(text) }

func (e *Encoder) markers(column int) *table.Markers {
	if column < 0 || column >= len(e.fields) {
		return e.missing
	}
	return e.fields[column].markers
}

// NewEncoder makes an encoder for the recipe, which must not change any more.
func (r *Recipe) NewEncoder() *Encoder { return r.encoder(r.fields()) }

// encoder has fields that may be those of other encoders, too.
func (r *Recipe) encoder(fields []field) *Encoder {
	return &Encoder{
		recipe: r, dim: r.Dim(), fields: fields, missing: table.NewMarkers(r.Missing), needed: r.needed(),
		states: make([]state, len(r.Columns)), faults: make(map[int]string),
	}
}

// Begin starts a row whose features go to dst, which must have Dim elements.
func (e *Encoder) Begin(dst []float64) {
	if len(dst) != e.dim {
		panic(fmt.Sprintf("recipe: Encoder.Begin with %d elements, want %d", len(dst), e.dim))
	}
	clear(dst)
	clear(e.states)
	clear(e.faults)
	e.dst, e.given, e.remarks = dst, 0, Remarks{}
}

// Number gives the column a number.
func (e *Encoder) Number(column int, x float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		e.Text(column, []byte(strconv.FormatFloat(x, 'g', -1, 64)))
		return
	}
	if f := &e.fields[column]; f.column.IsFeature() {
		e.note(column, f.number(x))
	} else {
		e.stake(column, x)
	}
}

// stake gives the column a number that only costs are made of.
func (e *Encoder) stake(column int, x float64) {
	if f := &e.fields[column]; f.stakeFar(x) {
		e.remarks.Far = append(e.remarks.Far, f.column.Name)
	}
}

// Text gives the column a text, which is read like a cell of a file.
func (e *Encoder) Text(column int, text []byte) {
	text, problem := e.recipe.Pointed(column, table.Cleaned(text))
	if problem != "" {
		e.Refuse(column, problem)
		return
	}
	e.text(column, text, '.')
}

// grouped is a whole number in groups of three digits, with or without decimals behind a comma.
var grouped = regexp.MustCompile(`^[-+]?\d{1,3}(\.\d{3})+(,\d*)?$`)

// Pointed is a text of a column with a decimal point, where the training file has decimal commas and nothing
// else says what the text has. A problem says that it may be either of two numbers. What a column that is not
// of the recipe has is read likewise.
func (r *Recipe) Pointed(column int, text []byte) (pointed []byte, problem string) {
	comma := r.Decimal == ","
	if column >= 0 && column < len(r.Columns) {
		switch c := &r.Columns[column]; {
		case c.Notation != nil && c.Notation.Decimal != "":
			comma = true
		case c.Kind == Date, c.Kind == Presence:
			return text, ""
		}
	}
	switch {
	case !comma:
	case grouped.Match(text) && !bytes.ContainsRune(text, ','):
		if x, kind := table.ParseNumber(text, '.'); kind == table.Finite {
			whole := strings.ReplaceAll(string(text), ".", "")
			return nil, fmt.Sprintf("%s may be %s or %s, as the training file has decimal commas", table.Quote(string(text)), table.Spelled(x), whole)
		}
		fallthrough // 1.200.000
	case grouped.Match(text):
		return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("."), nil), []byte(","), []byte(".")), ""
	case bytes.Count(text, []byte(",")) == 1 && !bytes.ContainsRune(text, '.'):
		if x, kind := table.ParseNumber(text, ','); kind == table.Finite {
			return strconv.AppendFloat(nil, x, 'g', -1, 64), ""
		}
	}
	return text, ""
}

func (e *Encoder) text(column int, text []byte, decimal byte) {
	if f := &e.fields[column]; f.column.IsFeature() {
		e.note(column, f.text(text, decimal))
	} else if f.column.atStake() {
		if x, ok := f.parse(text, decimal); ok {
			e.stake(column, x)
		}
	}
}

// Bool gives the column a truth value: in a column of categories it is the one spelled
// true or false in any case.
func (e *Encoder) Bool(column int, b bool) {
	if f := &e.fields[column]; f.column.IsFeature() {
		e.note(column, f.truth(b))
	}
}

// Null gives the column a missing cell.
func (e *Encoder) Null(column int) {
	if f := &e.fields[column]; f.column.IsFeature() {
		e.note(column, reading{state: gap})
	}
}

// Refuse says that the column has a value which cannot be one, and why.
func (e *Encoder) Refuse(column int, problem string) {
	if e.fields[column].column.IsFeature() {
		e.note(column, reading{state: faulty, problem: problem})
	}
}

// note writes the features and takes down what became of a value.
func (e *Encoder) note(column int, v reading) {
	f := &e.fields[column]
	if problem := f.put(&v, e.dst); problem != "" {
		e.states[column] = faulty
		e.faults[column] = problem
		return
	}
	e.states[column] = v.state
	if v.state != unseen {
		e.given++
	}
	if f.far(v) {
		e.remarks.Far = append(e.remarks.Far, f.column.Name)
	}
	if v.zone {
		e.remarks.Zones = append(e.remarks.Zones, f.column.Name)
	}
	if f.newGap(v) {
		e.remarks.Gaps = append(e.remarks.Gaps, f.column.Name)
	}
}

// End finishes the row: what there is to remark on it, or an error, the first in the order of
// the recipe's columns.
func (e *Encoder) End() (Remarks, error) {
	remarks, faults := e.EndAll(1)
	if faults != nil {
		return Remarks{}, faults[0]
	}
	return remarks, nil
}

// EndAll is End with all errors of the row, but at most so many.
func (e *Encoder) EndAll(most int) (Remarks, []*table.Error) {
	var all []*table.Error
	for i, err := e.end(0); err != nil && len(all) < most; i, err = e.end(i + 1) {
		err.ColumnName = e.fields[i].column.Name
		all = append(all, err)
	}
	return e.remarks, all
}

// end finishes the row from a column on, until the first error, which does not say yet where its column is.
func (e *Encoder) end(from int) (column int, _ *table.Error) {
	if e.given == e.needed {
		return 0, nil
	}
	for i := from; i < len(e.fields); i++ {
		c := e.fields[i].column
		if !c.IsFeature() {
			continue
		}
		switch e.states[i] {
		case absent:
			if e.fields[i].open {
				e.note(i, reading{state: gap})
				continue
			}
			return i, &table.Error{Msg: "the row lacks this column", Fix: "give it a value, or null where it is missing"}
		case faulty:
			return i, refused(e.faults[i])
		case unseen:
			e.remarks.Unseen = append(e.remarks.Unseen, c.Name)
		}
	}
	return 0, nil
}

// Encode writes the features of one row, given as an object of column names and
// values, into dst, which must have Dim elements. Values are strings (read like
// cells), numbers, booleans or nil for a missing cell; every column that makes
// features must be there, further ones are ignored. unseen names the columns
// whose category was not in the training rows.
func (r *Recipe) Encode(row map[string]any, dst []float64) (unseen []string, err error) {
	e := r.NewEncoder()
	e.Begin(dst)
	for i := range r.Columns {
		if value, ok := row[r.Columns[i].Name]; ok {
			e.give(i, value)
		}
	}
	remarks, err := e.End()
	return remarks.Unseen, err
}

// give gives the column a value of an object.
func (e *Encoder) give(column int, value any) {
	switch v := value.(type) {
	case nil:
		e.Null(column)
	case string:
		e.Text(column, []byte(v))
	case json.Number:
		e.text(column, table.Cleaned([]byte(v)), '.')
	case bool:
		e.Bool(column, v)
	case float64:
		e.Number(column, v)
	case int:
		e.Text(column, strconv.AppendInt(nil, int64(v), 10))
	case int64:
		e.Text(column, strconv.AppendInt(nil, v, 10))
	default:
		e.Refuse(column, fmt.Sprintf("a value of type %T is neither text nor a number", value))
	}
}
