package data

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Encode writes the features of one row, given as an object of column names and
// values, into dst, which must have Dim elements. Values are strings (read like
// cells), numbers, booleans or nil for a missing cell; every column that makes
// features must be there, further ones are ignored. unseen names the columns
// whose category was not in the training rows.
func (r *Recipe) Encode(row map[string]any, dst []float64) (unseen []string, err error) {
	if len(dst) != r.Dim() {
		panic(fmt.Sprintf("data: Encode into %d elements, want %d", len(dst), r.Dim()))
	}
	clear(dst)
	for i := range r.Columns {
		c := &r.Columns[i]
		if !c.isFeature() {
			continue
		}
		value, ok := row[c.Name]
		if !ok {
			return nil, &Error{ColumnName: c.Name, Msg: "the row lacks this column", Fix: "give it a value, or null where it is missing"}
		}
		known, problem := c.encodeValue(r, value, dst)
		if problem != "" {
			return nil, &Error{ColumnName: c.Name, Msg: problem, Fix: fixCell}
		}
		if !known {
			unseen = append(unseen, c.Name)
		}
		dst = dst[c.width():]
	}
	return unseen, nil
}

// encodeValue encodes one value of an object.
func (c *Column) encodeValue(r *Recipe, value any, dst []float64) (known bool, problem string) {
	text, ok := spelled(value)
	if !ok {
		return false, fmt.Sprintf("a value of type %T is neither text nor a number", value)
	}
	text = clean(text)
	switch {
	case value == nil, isMissing(r.Missing, text):
		return true, c.encodeMissing(r.Impute, dst)
	case c.Kind == Numeric:
		// A float64 survives its shortest spelling, so objects and files agree.
		x, kind := parseNumber(text)
		if kind != finite {
			return false, quote(text) + " is not a finite number"
		}
		return true, c.encodeNumber(x, dst)
	case c.Kind == Categorical:
		if _, isBool := value.(bool); isBool {
			text = c.foldedCategory(text)
		}
		return c.encodeCategory(text, dst), ""
	}
	return true, ""
}

// foldedCategory is the category that differs from text in case only, since
// files spell the JSON value true as TRUE or True too.
func (c *Column) foldedCategory(text string) string {
	for _, category := range c.Categories {
		if strings.EqualFold(category, text) {
			return category
		}
	}
	return text
}

// spelled gives the text a value would have in a file.
func spelled(value any) (string, bool) {
	switch v := value.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return strconv.FormatFloat(v, 'f', -1, 64), true // a code: 250000, not 2.5e+05
		}
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	}
	return "", false
}
