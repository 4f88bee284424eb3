package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lossep/lossep/expr"
)

// rowsOf are the rows of a body that was read before, as they stand there.
func rowsOf(body []byte) (rows []jsontext.Value, err error) {
	return rows, members(body, func(name string, d *jsontext.Decoder) error {
		if name != "rows" {
			return d.SkipValue()
		}
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		for d.PeekKind() == '{' {
			row, err := d.ReadValue()
			if err != nil {
				return err
			}
			end := d.InputOffset()
			rows = append(rows, jsontext.Value(body[end-int64(len(row)):end])) // which stays
		}
		_, err := d.ReadToken()
		return err
	})
}

// members hands over the members of an object, whose value is the next that the decoder reads.
func members(object []byte, use func(name string, d *jsontext.Decoder) error) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(object), jsontext.AllowDuplicateNames(true)) // looked for when it was read
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		if err := use(name.String(), d); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// Without are the columns that are not recorded.
func (r *Recorder) Without() []string { return r.config.Without }

// leaves tells whether a column, or one that looks the same, is not recorded.
func (r *Recorder) leaves(column string) bool {
	return slices.ContainsFunc(r.config.Without, func(name string) bool { return expr.Composed(name) == expr.Composed(column) })
}

// longestID is how many bytes an id has at most.
const longestID = 1000

// ValidID tells whether a text can name a case in all the files that monitor reads.
func ValidID(id string) bool {
	return len(id) <= longestID && utf8.ValidString(id) && !strings.ContainsFunc(id, unicode.IsControl)
}

// IDError is about a row whose id is none that can be recorded.
type IDError struct{ Row int }

func (e *IDError) Error() string { return fmt.Sprintf("row %d: %s", e.Row, BadID) }

// BadID says what an id has to be.
const BadID = "this is no id that can be recorded; give a text or number of at most 1000 bytes without control characters"

// IDs are the cells of a column that names the cases of a body that was read before, "" where there is none;
// nil if there is no such column, or it is not recorded. The error may be an *IDError.
func (r *Recorder) IDs(body []byte, column string) ([]string, error) {
	if column == "" || r.leaves(column) {
		return nil, nil
	}
	rows, err := rowsOf(body)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(rows))
	for i, row := range rows {
		err := members(row, func(name string, d *jsontext.Decoder) error {
			value, err := d.ReadValue()
			if name == column || expr.Composed(name) == expr.Composed(column) {
				ids[i] = plain(json.RawMessage(value))
				if err == nil && (strings.IndexByte("{[tf", value[0]) >= 0 || !ValidID(ids[i])) {
					err = &IDError{i}
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// recorded are the columns that are recorded, by their names and by how these look.
func (r *Recorder) recorded(columns []string) map[string]string {
	by := make(map[string]string, len(columns))
	for _, name := range columns {
		if !r.leaves(name) {
			by[expr.Composed(name)] = name
		}
	}
	for _, name := range columns {
		if !r.leaves(name) {
			by[name] = name
		}
	}
	return by
}

// appendInputs appends the cells of a row that are recorded.
func appendInputs(to []byte, row jsontext.Value, columns map[string]string) ([]byte, error) {
	to = append(to, '{')
	first := len(to)
	err := members(row, func(name string, d *jsontext.Decoder) error {
		value, err := d.ReadValue()
		column, is := columns[name]
		if !is {
			column, is = columns[expr.Composed(name)]
		}
		if err != nil || !is {
			return err
		}
		if len(to) > first {
			to = append(to, ',')
		}
		if to, err = jsontext.AppendQuote(to, column); err == nil {
			to = append(append(to, ':'), value...)
		}
		return err
	})
	return append(to, '}'), err
}
