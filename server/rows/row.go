package rows

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/table"
)

// readRow reads one object of column names and values.
func (rr *Reader) readRow(r *Rows) error {
	d := rr.decoder
	if k := d.PeekKind(); k != '{' {
		if _, err := rr.value(); err != nil {
			return err
		}
		rr.fault(r.N, "", problem.KindName(k)+" is not a row; give an object of column names and values")
		return nil
	}
	_, _ = d.ReadToken() // the { just seen
	start := len(r.Features)
	r.Features = slices.Grow(r.Features, rr.dim)[:start+rr.dim]
	features := r.Features[start:]
	rr.encoder.Begin(features)
	for slot, values := range rr.wanted {
		rr.wanted[slot] = append(values, NoValue)
	}
	if r.Labels != nil {
		r.Labels = append(r.Labels, 0)
	}
	r.IDs = append(r.IDs, "")
	for k := 0; d.PeekKind() != '}'; k++ {
		name, err := rr.value()
		if err != nil {
			return err
		}
		slot, err := rr.find(k, name)
		if err != nil {
			return err
		}
		if rr.seen[slot] == r.N+1 {
			return rr.twice(r.N, string(Unquoted(name)))
		}
		rr.seen[slot] = r.N + 1
		value, err := rr.value()
		if err != nil {
			return err
		}
		rr.take(r, slot, value)
	}
	if _, err := d.ReadToken(); err != nil {
		return problem.Malformed("", err)
	}
	remarks, faults := rr.encoder.EndAll(maxInRow)
	for _, err := range faults {
		rr.fault(r.N, err.ColumnName, err.Msg+"; "+err.Fix)
	}
	if faults != nil {
		rr.faultCosts(r.N)
		return nil
	}
	r.note(r.N, remarks)
	rr.checkFar(r.N, features)
	return nil
}

// faultCosts adds the columns that costs depend on and that cannot be used, to the other faults of a row.
func (rr *Reader) faultCosts(row int) {
	for _, name := range rr.asked {
		values := rr.wanted[rr.slot(name)]
		why := unusable(values[len(values)-1])
		if why != "" && !slices.ContainsFunc(rr.faults, func(f problem.Fault) bool { return f.Location == Location(row, name) }) {
			rr.fault(row, name, why)
		}
	}
}

// twice refuses a row that names a column again.
func (rr *Reader) twice(row int, column string) *problem.Problem {
	p := problem.New(http.StatusBadRequest, "rows[%d] has the column %q twice", row, problem.Cut(column))
	p.Errors = []problem.Fault{{Location: Location(row, column), Message: "the column occurs twice in this row"}}
	return p
}

// find is the slot of the name at a place of the row.
func (rr *Reader) find(place int, raw []byte) (int, error) {
	if place < len(rr.order) && bytes.Equal(rr.order[place].raw, raw) {
		return rr.order[place].slot, nil
	}
	slot := rr.slot(string(Unquoted(raw)))
	if len(rr.names) > maxIgnored {
		return 0, problem.New(http.StatusUnprocessableEntity, "more than %d columns are not the model's; leave them out", maxIgnored)
	}
	if place < len(rr.order) {
		rr.order[place] = placed{raw, slot}
	} else {
		rr.order = append(rr.order, placed{raw, slot})
	}
	return slot, nil
}

// slot is that of a name, a new one if need be.
func (rr *Reader) slot(name string) int {
	if i, ok := rr.Column(name); ok {
		return i
	}
	slot, ok := rr.extra[name]
	if !ok {
		slot = len(rr.recipe.Columns) + len(rr.names)
		rr.extra[name] = slot
		rr.names = append(rr.names, name)
		rr.seen = append(rr.seen, 0)
	}
	return slot
}

// Ignored are the names that are neither the recipe's nor wanted.
func (rr *Reader) ignored() (names []string) {
	for k, name := range rr.names {
		slot := len(rr.recipe.Columns) + k
		if _, wanted := rr.wanted[slot]; !wanted && slot != rr.id {
			names = append(names, name)
		}
	}
	return names
}

// take gives a value to whoever wants it.
func (rr *Reader) take(r *Rows, slot int, value []byte) {
	if values := rr.wanted[slot]; values != nil {
		values[len(values)-1] = rr.number(slot, value)
	}
	if slot == rr.id {
		id := idOf(value)
		r.IDs[len(r.IDs)-1] = id
		rr.idBytes += int64(len(id))
	}
	if slot == rr.target {
		r.Labels[len(r.Labels)-1] = rr.label(value) // rows that are none have no label
	}
	if slot >= len(rr.recipe.Columns) {
		return
	}
	switch value[0] {
	case '"':
		rr.encoder.Text(slot, Unquoted(value))
	case 't', 'f':
		rr.encoder.Bool(slot, value[0] == 't')
	case 'n':
		rr.encoder.Null(slot)
	case '{', '[':
		rr.encoder.Refuse(slot, problem.KindName(jsontext.Kind(value[0]))+" is neither text nor a number")
	default:
		switch x, kind := table.ParseNumber(value, '.'); kind {
		case table.Finite:
			rr.encoder.Number(slot, x)
		case table.Long:
			rr.encoder.Text(slot, value) // a code, perhaps, of more digits than x has
		default:
			rr.encoder.Refuse(slot, string(value[:min(len(value), 40)])+" is too large a number")
		}
	}
}

// idOf is what names a row: a text, or a number as it is written.
func idOf(value []byte) string {
	switch value[0] {
	case '"':
		return string(Unquoted(value))
	case 'n', 't', 'f', '{', '[':
		return ""
	}
	return string(value)
}

// number is the finite number that a value is or, like a cell of a file, spells.
func (rr *Reader) number(slot int, value []byte) float64 {
	switch value[0] {
	case 'n':
		return Missing
	case '"':
		return rr.Spelled(slot, Unquoted(value))
	}
	if x, ok := table.Number(string(value)); ok {
		return rr.Number(slot, x)
	}
	return NoNumber
}

// label is the number of the outcome that a value spells, from 1; 0 if there is no value,
// and -1 if it is no outcome of the model.
func (rr *Reader) label(value []byte) int8 {
	switch value[0] {
	case 'n':
		return 0
	case '"':
		value = Unquoted(value)
	}
	if len(bytes.TrimSpace(value)) == 0 {
		return 0
	}
	if y, known := rr.recipe.Target.Label(string(value)); known {
		return int8(y + 1)
	}
	return -1
}

// checkFar refuses features with which no kernel can be computed. One that is not known is
// NaN, and no other is.
func (rr *Reader) checkFar(row int, features []float64) {
	for k, z := range features[:rr.coding.Numbers()] {
		if math.Abs(z) > lossep.Farthest {
			rr.fault(row, rr.coding.Name(k), "the value is too far from those of the training rows")
			return
		}
	}
}

func (rr *Reader) fault(row int, column, message string) {
	rr.faults = append(rr.faults, problem.Fault{Location: Location(row, column), Message: message})
}

// Location is the place of a cell, or of a whole row.
func Location(row int, column string) string {
	place := fmt.Sprintf("rows[%d]", row)
	if column == "" {
		return place
	}
	return problem.Member(place, column)
}

// Unquoted is the text of a JSON string that is known to be valid. It shares the bytes
// where there is nothing to undo.
func Unquoted(raw []byte) []byte {
	inside := raw[1 : len(raw)-1]
	if bytes.IndexByte(inside, '\\') < 0 {
		return inside
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		panic(err) // the decoder has accepted it
	}
	return text
}
