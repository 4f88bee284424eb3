package rows

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/expr"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/table"
)

const (
	// MaxFaults is how many faults are named before further rows are not looked at, and maxInRow how many
	// of a row.
	MaxFaults = 10
	maxInRow  = 100
	// maxIgnored is how many column names the model need not know.
	maxIgnored = 4096
	// MaxNested is the bytes of an object or a list within a row or beside the rows.
	// Looking for names that occur twice takes ten times the memory.
	MaxNested = 1 << 20
)

// Memory is what rows take their room from, as they are read.
type Memory interface {
	// Take asks for more bytes.
	Take(bytes int64) error
}

// Rows are the rows of a request, encoded.
type Rows struct {
	N        int
	Features []float64              // n rows of the recipe's features
	Remarks  map[int]recipe.Remarks // by row, of those that there are any on
	Ignored  []string               // columns that nobody asked for
	Values   map[string][]float64
	IDs      []string // what names the rows: their cells of the recipe's column of identifiers, or else of "id"; nil if none has one
	Labels   []int8   // the number of each row's outcome, from 1, 0 where there is none, and -1 where it is another; nil if none was asked for
	Memory   Memory   // what the rows take their room from
}

// Unusual names the columns in which a row is unlike the training rows.
func (r *Rows) Unusual(i int) []string {
	remarks := r.Remarks[i]
	return remarks.Unusual()
}

// Matrix is the features of the rows from one up to, not including, another.
func (r *Rows) Matrix(from, to int) *mat.Dense {
	dim := len(r.Features) / r.N
	return mat.NewDense(to-from, dim, r.Features[from*dim:to*dim])
}

// note keeps what there is to remark on a row.
func (r *Rows) note(row int, remarks recipe.Remarks) {
	if !remarks.Any() {
		return
	}
	if r.Remarks == nil {
		r.Remarks = make(map[int]recipe.Remarks)
	}
	r.Remarks[row] = remarks
}

// What values holds in place of a number.
var (
	NoValue  = math.NaN()   // the row lacks the column
	Missing  = math.Inf(-1) // it has null there, or what spells a missing cell
	NoNumber = math.Inf(+1) // it has something else there
)

// Value is the number of a row in a column that costs depend on. Of one that is missing the error
// wraps expr.ErrMissing.
func (r *Rows) Value(row int, column string) (float64, error) {
	x := r.Values[column][row]
	if x == Missing {
		return 0, errors.Join(expr.ErrMissing, problem.Wrong(Location(row, column), "the costs depend on this column, and it is missing here; give it a number, or say in the costs what stands in for it, such as default(%s, 0)", expr.Name(column)))
	}
	if why := unusable(x); why != "" {
		return 0, problem.Wrong(Location(row, column), "%s", why)
	}
	return x, nil
}

// unusable says why there is no number that costs could be made of, empty if there is or a default may stand in.
func unusable(x float64) string {
	switch {
	case math.IsNaN(x):
		return "the row lacks this column, on which the costs depend; give it a number"
	case x == NoNumber:
		return "the costs depend on this column, and it is not a finite number here; give it a number"
	}
	return ""
}

// Reader reads bodies of the form {"rows": [{column: value, …}, …], …} straight into
// the features of a recipe. It is not for concurrent use.
type Reader struct {
	recipe  *recipe.Recipe
	dim     int
	coding  *recipe.Coding
	columns map[string]int // numbers of the recipe's columns by name
	looking map[string]int // and by how names look; see expr.Composed
	encoder *recipe.Encoder
	decoder *jsontext.Decoder
	maxRows int

	// Of the request under way. Names have slots: those of the recipe's columns are
	// their numbers, others come after them in the order of their first use.
	body    []byte
	Memory  Memory
	extra   map[string]int // slots of other names
	names   []string       // and the names of those slots
	asked   []string       // names of columns that are kept as numbers
	wanted  map[int][]float64
	target  int      // slot of the outcome, if labels are asked for, or -1
	id      int      // slot of what names rows
	idBytes int64    // of these
	seen    []int    // the last row, from 1, in which each slot occurred
	order   []placed // the names of the last row as they stand in the body
	faults  []problem.Fault
}

// placed is a name as it stands in the body, and its slot. Rows of a request mostly
// name their columns in the same order, so that a name is found by its place.
type placed struct {
	raw  []byte
	slot int
}

func NewReader(r *recipe.Recipe, maxRows int) *Reader {
	rr := &Reader{
		recipe: r, dim: r.Dim(), coding: r.Coding(), columns: make(map[string]int, len(r.Columns)), looking: make(map[string]int, len(r.Columns)),
		encoder: r.NewEncoder(), decoder: jsontext.NewDecoder(new(bytes.Buffer)), maxRows: maxRows,
	}
	for i, c := range r.Columns {
		rr.columns[c.Name] = i
		if _, taken := rr.looking[expr.Composed(c.Name)]; !taken {
			rr.looking[expr.Composed(c.Name)] = i
		}
	}
	return rr
}

// Fields reads the members of a body other than its rows, by name.
type Fields map[string]func(value []byte) error

// Read decodes a body. The wanted columns are kept as numbers, and labels are read if
// asked for.
func (rr *Reader) Read(ctx context.Context, body []byte, fields Fields, wanted []string, labels bool) (*Rows, error) {
	rr.reset(body, wanted, labels)
	defer rr.release()
	d := rr.decoder
	if k := d.PeekKind(); k != '{' {
		if err := d.SkipValue(); err != nil {
			return nil, problem.Malformed("", err)
		}
		return nil, problem.New(http.StatusUnprocessableEntity, "the body is %s; give an object with the rows, such as {\"rows\": [{…}]}", problem.KindName(k))
	}
	_, _ = d.ReadToken() // the { just seen
	var all *Rows
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
			err = rr.collected(rr.readField(read))
		default:
			err = rr.collected(rr.unknownField(name, fields))
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, problem.Malformed("", err)
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, problem.New(http.StatusBadRequest, "more follows the JSON object, after byte %d", d.InputOffset())
	}
	if all == nil {
		rr.faults = append(rr.faults, problem.Fault{Location: "rows", Message: "they are missing; give a list of objects of column names and values"})
	}
	if len(rr.faults) > 0 {
		return nil, problem.Invalid(rr.faults...)
	}
	return all, nil
}

// collected keeps the faults of a field, to name them with those of the rows. Other errors stay what they are.
func (rr *Reader) collected(err error) error {
	if p := (*problem.Problem)(nil); errors.As(err, &p) && p.Status == http.StatusUnprocessableEntity && len(p.Errors) > 0 {
		rr.faults = append(rr.faults, p.Errors...)
		return nil
	}
	return err
}

// reset prepares for a body.
func (rr *Reader) reset(body []byte, wanted []string, labels bool) {
	rr.body = body
	// Names are compared here and not in the decoder, which takes twice as long.
	rr.decoder.Reset(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true))
	rr.extra, rr.names, rr.wanted = make(map[string]int), nil, make(map[int][]float64)
	rr.seen = append(rr.seen[:0], make([]int, len(rr.recipe.Columns))...)
	rr.order, rr.faults, rr.target = rr.order[:0], nil, -1
	rr.asked = wanted
	for _, name := range wanted {
		rr.wanted[rr.slot(name)] = []float64{}
	}
	rr.idBytes = 0
	rr.id = slices.IndexFunc(rr.recipe.Columns, func(c recipe.Column) bool { return c.Kind == recipe.Identity })
	if rr.id < 0 {
		rr.id = rr.slot("id")
	}
	// An outcome that is a condition over columns is not looked for in requests.
	if i, ok := rr.columns[rr.recipe.Target.Column]; labels && ok {
		rr.target = i
	}
}

// release lets go of the request.
func (rr *Reader) release() {
	rr.decoder.Reset(new(bytes.Buffer))
	rr.body, rr.extra, rr.names, rr.asked, rr.wanted, rr.faults = nil, nil, nil, nil, nil, nil
	clear(rr.order)
}

// value reads the next JSON value. What it returns is part of the body.
func (rr *Reader) value() ([]byte, error) {
	v, err := rr.decoder.ReadValue()
	if err != nil {
		return nil, problem.Malformed("", err)
	}
	end := rr.decoder.InputOffset()
	raw := rr.body[end-int64(len(v)) : end]
	if k := raw[0]; k == '{' || k == '[' {
		if len(raw) > MaxNested {
			return nil, problem.New(http.StatusUnprocessableEntity, "an object or a list before byte %d has more than %d bytes, and nothing of that size is used; leave it out", end, MaxNested)
		}
		// The decoder does not look for names that occur twice.
		if !jsontext.Value(raw).IsValid() {
			return nil, problem.New(http.StatusBadRequest, "an object before byte %d has the same name twice", end)
		}
	}
	return raw, nil
}

// fieldName reads the name of a member of the body.
func (rr *Reader) fieldName(given map[string]bool) (string, error) {
	raw, err := rr.value()
	if err != nil {
		return "", err
	}
	name := Unquoted(raw)
	if given[string(name)] {
		p := problem.New(http.StatusBadRequest, "%q occurs twice", problem.Cut(string(name)))
		p.Errors = []problem.Fault{{Location: problem.Member("", string(name)), Message: "the field occurs twice"}}
		return "", p
	}
	given[string(name)] = true
	return string(name), nil
}

func (rr *Reader) readField(read func([]byte) error) error {
	raw, err := rr.value()
	if err != nil {
		return err
	}
	return read(raw)
}

func (rr *Reader) unknownField(name string, fields Fields) error {
	if _, err := rr.value(); err != nil {
		return err
	}
	known := []string{"rows"}
	for field := range fields {
		known = append(known, field)
	}
	slices.Sort(known)
	return problem.Wrong(problem.Member("", name), "there is no such field; the fields are %s", strings.Join(known, ", "))
}

// takeRows takes the memory of rows to come.
func (rr *Reader) takeRows(n int) error {
	if rr.Memory == nil {
		return nil
	}
	return rr.Memory.Take(8 * int64(n) * int64(rr.dim+len(rr.wanted)))
}

// restRows is how many rows are read between two looks at the context.
const restRows = 64

// Rows reads the list of rows.
func (rr *Reader) readRows(ctx context.Context, labels bool) (*Rows, error) {
	d := rr.decoder
	if k := d.PeekKind(); k != '[' {
		if _, err := rr.value(); err != nil {
			return nil, err
		}
		return nil, problem.Wrong("rows", "%s is not a list of rows", problem.KindName(k))
	}
	_, _ = d.ReadToken()                   // the [ just seen
	r, room := &Rows{Memory: rr.Memory}, 0 // room is the rows that memory was taken for
	if labels {
		r.Labels = []int8{}
	}
	for d.PeekKind() != ']' {
		if r.N == rr.maxRows {
			return nil, problem.New(http.StatusRequestEntityTooLarge, "there are more than %d rows; send them in several requests", rr.maxRows)
		}
		if r.N >= room {
			if err := rr.takeRows(1); err != nil {
				return nil, err
			}
			room++
		}
		if r.N%restRows == restRows-1 {
			if err := ctx.Err(); err != nil {
				return nil, problem.Late(ctx, err)
			}
		}
		begin := d.InputOffset()
		if err := rr.readRow(r); err != nil {
			return nil, err
		}
		if r.N++; r.N == 1 {
			// The others are about as long.
			more := (int64(len(rr.body)) - begin) / (d.InputOffset() - begin)
			room = int(min(more, int64(rr.maxRows)))
			if err := rr.takeRows(room); err != nil {
				return nil, err
			}
			r.Features = slices.Grow(r.Features, rr.dim*room)
		}
		if len(rr.faults) >= MaxFaults {
			return nil, problem.Invalid(rr.faults...)
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, problem.Malformed("", err)
	}
	if r.N == 0 {
		return nil, problem.Wrong("rows", "the list is empty; give at least one row")
	}
	return r, rr.finish(r)
}

// finish gives the rows what was found beside their features.
func (rr *Reader) finish(r *Rows) error {
	if rr.idBytes == 0 {
		r.IDs = nil
	} else if rr.Memory != nil {
		if err := rr.Memory.Take(2*rr.idBytes + 16*int64(r.N)); err != nil { // as they are, and as they are written
			return err
		}
	}
	r.Ignored = rr.ignored()
	r.Values = make(map[string][]float64, len(rr.wanted))
	for _, name := range rr.asked {
		r.Values[name] = rr.wanted[rr.slot(name)]
	}
	return nil
}

// Encode encodes n rows, whose cells give hands to the encoder. What is wrong with the
// cells of a row is said by bad.
func (rr *Reader) Encode(ctx context.Context, n int, give func(e *recipe.Encoder, row int), bad func(row int, err error) error) (*Rows, error) {
	if err := rr.takeRows(n); err != nil {
		return nil, err
	}
	r := &Rows{N: n, Features: make([]float64, n*rr.dim), Values: make(map[string][]float64), Memory: rr.Memory}
	rr.faults = nil
	for i := range n {
		if i%restRows == 0 && ctx.Err() != nil {
			return nil, problem.Late(ctx, ctx.Err())
		}
		features := r.Features[i*rr.dim : (i+1)*rr.dim]
		rr.encoder.Begin(features)
		give(rr.encoder, i)
		remarks, err := rr.encoder.End()
		if err != nil {
			return nil, bad(i, err)
		}
		r.note(i, remarks)
		if rr.checkFar(i, features); len(rr.faults) > 0 {
			return nil, problem.New(http.StatusBadRequest, "%s: %s", rr.faults[0].Location, rr.faults[0].Message)
		}
	}
	return r, nil
}

// Column is the number of a column of the recipe, and whether there is one of that name, or of
// one that looks the same.
func (rr *Reader) Column(name string) (int, bool) {
	i, ok := rr.columns[name]
	if !ok {
		i, ok = rr.looking[expr.Composed(name)]
	}
	return i, ok
}

// Number is a number on which costs depend: Missing where it is NaN or spells a missing cell in a
// column of the recipe, or in one that the recipe does not have, and NoNumber where it is infinite.
func (rr *Reader) Number(column int, x float64) float64 {
	switch {
	case math.IsNaN(x) || rr.encoder.Marks(column, x):
		return Missing
	case math.IsInf(x, 0):
		return NoNumber
	}
	return x
}

// Spelled is the number that a text spells, like a cell of a file; see Number.
func (rr *Reader) Spelled(column int, text []byte) float64 {
	text, doubt := rr.recipe.Pointed(column, table.Cleaned(text))
	if doubt != "" {
		return NoNumber
	}
	if x, ok := table.Number(string(text)); ok {
		return rr.Number(column, x)
	}
	if rr.encoder.MarksText(column, text) {
		return Missing
	}
	if column >= 0 && column < len(rr.recipe.Columns) { // as the training file wrote it
		if n := rr.recipe.Columns[column].Notation; n != nil {
			if x, ok := n.Parse(table.Cleaned(text)); ok {
				return rr.Number(column, x)
			}
		}
	}
	return NoNumber
}

// Field is a member of a body, wherever it stands, or nil if there is none. What is wrong
// with the body is found when that is read.
func (rr *Reader) Field(body []byte, name string) []byte {
	if !bytes.Contains(body, []byte(`"`+name+`"`)) && !bytes.Contains(body, []byte(`\u`)) {
		return nil // which spares a look at all the rows
	}
	d := rr.decoder
	d.Reset(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true))
	defer d.Reset(new(bytes.Buffer))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil
	}
	for d.PeekKind() == '"' {
		if t, err := d.ReadToken(); err != nil {
			return nil
		} else if t.String() == name {
			value, err := d.ReadValue()
			if err != nil {
				return nil
			}
			return bytes.Clone(value)
		}
		if d.SkipValue() != nil {
			return nil
		}
	}
	return nil
}
