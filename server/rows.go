package server

import (
	"bytes"
	"context"
	"io"
	"math"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
)

const (
	// maxFaults is how many bad rows are named before the rest is not looked at.
	maxFaults = 10
	// maxIgnored is how many column names the model need not know.
	maxIgnored = 4096
	// maxNested is the bytes of an object or a list within a row or beside the rows.
	// Looking for names that occur twice takes ten times the memory.
	maxNested = 1 << 20
)

// rows are the rows of a request, encoded.
type rows struct {
	n        int
	features []float64        // n rows of the recipe's features
	unseen   map[int][]string // by row: columns whose category was not in the training rows
	ignored  []string         // columns that nobody asked for
	values   map[string][]float64
	labels   []int8 // the outcome ±1 of each row, 0 where it is not known; nil if none was asked for
	share    *share // the request's, of the memory
}

// What values holds in place of a number.
var (
	noValue  = math.NaN()   // the row lacks the column
	noNumber = math.Inf(+1) // it has something else there
)

// rowReader reads bodies of the form {"rows": [{column: value, …}, …], …} straight into
// the features of a recipe. It is not for concurrent use.
type rowReader struct {
	recipe  *data.Recipe
	dim     int
	feature []int          // the column that each feature comes from
	columns map[string]int // numbers of the recipe's columns by name
	encoder *data.Encoder
	decoder *jsontext.Decoder
	maxRows int

	// Of the request under way. Names have slots: those of the recipe's columns are
	// their numbers, others come after them in the order of their first use.
	body   []byte
	share  *share         // of the memory
	extra  map[string]int // slots of other names
	names  []string       // and the names of those slots
	wanted map[int][]float64
	target int      // slot of the outcome, if labels are asked for, or -1
	seen   []int    // the last row, from 1, in which each slot occurred
	order  []placed // the names of the last row as they stand in the body
	faults []Fault
}

// placed is a name as it stands in the body, and its slot. Rows of a request mostly
// name their columns in the same order, so that a name is found by its place.
type placed struct {
	raw  []byte
	slot int
}

func newRowReader(r *data.Recipe, maxRows int) *rowReader {
	rr := &rowReader{
		recipe: r, dim: r.Dim(), columns: make(map[string]int, len(r.Columns)),
		encoder: r.NewEncoder(), decoder: jsontext.NewDecoder(new(bytes.Buffer)), maxRows: maxRows,
	}
	for i, c := range r.Columns {
		rr.columns[c.Name] = i
		one := data.Recipe{Columns: r.Columns[i : i+1]}
		for range one.Dim() {
			rr.feature = append(rr.feature, i)
		}
	}
	return rr
}

// bodyFields reads the members of a body other than its rows, by name.
type bodyFields map[string]func(value []byte) error

// read decodes a body. The wanted columns are kept as numbers, and labels are read if
// asked for.
func (rr *rowReader) read(ctx context.Context, body []byte, fields bodyFields, wanted []string, labels bool) (*rows, error) {
	rr.reset(body, wanted, labels)
	defer rr.release()
	d := rr.decoder
	if k := d.PeekKind(); k != '{' {
		if err := d.SkipValue(); err != nil {
			return nil, malformed("", err)
		}
		return nil, refuse(http.StatusUnprocessableEntity, "the body is %s; give an object with the rows, such as {\"rows\": [{…}]}", kindName(k))
	}
	_, _ = d.ReadToken() // the { just seen
	var all *rows
	given := make(map[string]bool, len(fields)+1)
	for d.PeekKind() != '}' {
		name, err := rr.fieldName(given)
		if err != nil {
			return nil, err
		}
		read, known := fields[name]
		switch {
		case name == "rows":
			all, err = rr.readRows(ctx, labels)
		case known:
			err = rr.readField(read)
		default:
			err = rr.unknownField(name, fields)
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, malformed("", err)
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, refuse(http.StatusBadRequest, "more follows the JSON object, after byte %d", d.InputOffset())
	}
	if all == nil {
		return nil, wrong("rows", "they are missing; give a list of objects of column names and values")
	}
	if len(rr.faults) > 0 {
		return nil, invalid(rr.faults...)
	}
	return all, nil
}

// reset prepares for a body.
func (rr *rowReader) reset(body []byte, wanted []string, labels bool) {
	rr.body = body
	// Names are compared here and not in the decoder, which takes twice as long.
	rr.decoder.Reset(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true))
	rr.extra, rr.names, rr.wanted = make(map[string]int), nil, make(map[int][]float64)
	rr.seen = append(rr.seen[:0], make([]int, len(rr.recipe.Columns))...)
	rr.order, rr.faults, rr.target = rr.order[:0], nil, -1
	for _, name := range wanted {
		rr.wanted[rr.slot(name)] = []float64{}
	}
	if labels {
		rr.target = rr.columns[rr.recipe.Target.Column]
	}
}

// release lets go of the request.
func (rr *rowReader) release() {
	rr.decoder.Reset(new(bytes.Buffer))
	rr.body, rr.extra, rr.names, rr.wanted, rr.faults = nil, nil, nil, nil, nil
	clear(rr.order)
}

// value reads the next JSON value. What it returns is part of the body.
func (rr *rowReader) value() ([]byte, error) {
	v, err := rr.decoder.ReadValue()
	if err != nil {
		return nil, malformed("", err)
	}
	end := rr.decoder.InputOffset()
	raw := rr.body[end-int64(len(v)) : end]
	if k := raw[0]; k == '{' || k == '[' {
		if len(raw) > maxNested {
			return nil, refuse(http.StatusUnprocessableEntity, "an object or a list before byte %d has more than %d bytes, and nothing of that size is used; leave it out", end, maxNested)
		}
		// The decoder was told not to look for names that occur twice.
		if !jsontext.Value(raw).IsValid() {
			return nil, refuse(http.StatusBadRequest, "an object before byte %d has the same name twice", end)
		}
	}
	return raw, nil
}

// fieldName reads the name of a member of the body.
func (rr *rowReader) fieldName(given map[string]bool) (string, error) {
	raw, err := rr.value()
	if err != nil {
		return "", err
	}
	name := unquoted(raw)
	if given[string(name)] {
		p := refuse(http.StatusBadRequest, "%q occurs twice", cut(string(name)))
		p.Errors = []Fault{{member("", string(name)), "the field occurs twice"}}
		return "", p
	}
	given[string(name)] = true
	return string(name), nil
}

func (rr *rowReader) readField(read func([]byte) error) error {
	raw, err := rr.value()
	if err != nil {
		return err
	}
	return read(raw)
}

func (rr *rowReader) unknownField(name string, fields bodyFields) error {
	if _, err := rr.value(); err != nil {
		return err
	}
	known := []string{"rows"}
	for field := range fields {
		known = append(known, field)
	}
	slices.Sort(known)
	return wrong(member("", name), "there is no such field; the fields are %q", known)
}

// takeActions takes the memory of what actions cost, or bring, in the rows.
func (r *rows) takeActions(s *decision.Spec) error {
	const bytes = 80 // of one action's entries and expectation, and of the latter as it is written
	return r.share.take(int64(r.n) * int64(len(s.Actions())) * bytes)
}

// takeRows takes the memory of rows to come.
func (rr *rowReader) takeRows(n int) error {
	return rr.share.take(8 * int64(n) * int64(rr.dim+len(rr.wanted)))
}

// restRows is how many rows are read between two looks at the context.
const restRows = 64

// readRows reads the list of rows.
func (rr *rowReader) readRows(ctx context.Context, labels bool) (*rows, error) {
	d := rr.decoder
	if k := d.PeekKind(); k != '[' {
		if _, err := rr.value(); err != nil {
			return nil, err
		}
		return nil, wrong("rows", "%s is not a list of rows", kindName(k))
	}
	_, _ = d.ReadToken()                 // the [ just seen
	r, room := &rows{share: rr.share}, 0 // room is the rows that memory was taken for
	if labels {
		r.labels = []int8{}
	}
	for d.PeekKind() != ']' {
		if r.n == rr.maxRows {
			return nil, refuse(http.StatusRequestEntityTooLarge, "there are more than %d rows; send them in several requests", rr.maxRows)
		}
		if r.n >= room {
			if err := rr.takeRows(1); err != nil {
				return nil, err
			}
			room++
		}
		if r.n%restRows == restRows-1 {
			if err := ctx.Err(); err != nil {
				return nil, late(ctx, err)
			}
		}
		begin := d.InputOffset()
		if err := rr.readRow(r); err != nil {
			return nil, err
		}
		if r.n++; r.n == 1 {
			// The others are about as long.
			more := (int64(len(rr.body)) - begin) / (d.InputOffset() - begin)
			room = int(min(more, int64(rr.maxRows)))
			if err := rr.takeRows(room); err != nil {
				return nil, err
			}
			r.features = slices.Grow(r.features, rr.dim*room)
		}
		if len(rr.faults) == maxFaults {
			return nil, invalid(rr.faults...)
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, malformed("", err)
	}
	if r.n == 0 {
		return nil, wrong("rows", "the list is empty; give at least one row")
	}
	r.ignored = rr.ignored()
	r.values = make(map[string][]float64, len(rr.wanted))
	for slot, values := range rr.wanted {
		r.values[rr.slotName(slot)] = values
	}
	return r, nil
}
