package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lossep/lossep/expr"
	"github.com/lossep/lossep/table"
)

// rowsOf hands over the cells of the rows of a body that was read before, and so is valid: the names of columns,
// and the values as they stand there; and says where a row ends.
func rowsOf(body []byte, cell func(name, value []byte), end func()) {
	c := &cursor{text: body}
	c.members(func(name []byte) {
		if string(name) != "rows" {
			c.value()
			return
		}
		for c.at++; c.next() == '{'; end() {
			c.members(func(name []byte) { cell(name, c.value()) })
		}
		c.at++
	})
}

// cursor goes over JSON that is known to be valid: ten times as fast as what checks it.
type cursor struct {
	text []byte
	at   int
}

// members goes over an object. What is called for each member goes over its value.
func (c *cursor) members(use func(name []byte)) {
	c.next()
	for c.at++; c.next() == '"'; {
		name := c.value()
		if bytes.IndexByte(name, '\\') >= 0 {
			name = []byte(unquoted(name))
		} else {
			name = name[1 : len(name)-1]
		}
		c.next()
		use(name)
	}
	c.at++
}

// next goes to what is neither space nor between values, and is 0 at the end.
func (c *cursor) next() byte {
	for ; c.at < len(c.text); c.at++ {
		if b := c.text[c.at]; !between[b] {
			return b
		}
	}
	return 0
}

// Bytes between values, and those that end a number or a word.
var between, ends = bytesOf(" \t\n\r,:"), bytesOf(" \t\n\r,:]}[{\"")

func bytesOf(text string) (is [256]bool) {
	for _, b := range []byte(text) {
		is[b] = true
	}
	return is
}

// value goes over a value, and returns it.
func (c *cursor) value() []byte {
	begin := c.at
	for depth := 0; c.at < len(c.text); c.next() {
		switch b := c.text[c.at]; {
		case b == '"':
			c.quoted()
		case b == '{' || b == '[':
			depth++
			c.at++
		case b == '}' || b == ']':
			depth--
			c.at++
		default:
			for c.at++; c.at < len(c.text) && !ends[c.text[c.at]]; {
				c.at++
			}
		}
		if depth <= 0 {
			break
		}
	}
	return c.text[begin:c.at]
}

// quoted goes over a text.
func (c *cursor) quoted() {
	for c.at++; ; {
		end := bytes.IndexByte(c.text[c.at:], '"')
		if end < 0 {
			c.at = len(c.text)
			return
		}
		before := c.text[:c.at+end]
		c.at += end + 1
		if (len(before)-len(bytes.TrimRight(before, `\`)))%2 == 0 { // the quote is not escaped
			return
		}
	}
}

// unquoted is the text of a JSON string.
func unquoted(value []byte) string {
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	var s string
	_ = json.Unmarshal(value, &s) // which is valid
	return s
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
func (r *Recorder) IDs(body []byte, column string) (ids []string, err error) {
	if column == "" || r.leaves(column) {
		return nil, nil
	}
	looks, id := expr.Composed(column), ""
	rowsOf(body, func(name, value []byte) {
		if string(name) != column && expr.Composed(string(name)) != looks {
			return
		}
		switch kind, is := kindOf(value); {
		case is && kind == table.TextCells && value[0] == '"':
			id = unquoted(value)
		case is:
			id = string(value)
		}
		if err == nil && (strings.IndexByte("{[tf", value[0]) >= 0 || !ValidID(id)) {
			err = &IDError{len(ids)}
		}
	}, func() {
		ids, id = append(ids, id), ""
	})
	return ids, err
}
