package recipe

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/lossep/lossep/table"
)

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

// HasTarget tells whether the file has the outcome.
func (rd *Reader) HasTarget() bool { return rd.bound.target >= 0 || rd.bound.condition != nil }
