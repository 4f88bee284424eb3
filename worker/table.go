package worker

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// column is one of a table: numbers, which are a row of a tensor of numbers, or codes, which
// are a tensor of their own and stand for texts.
type column struct {
	Name   string `json:"name"`
	Tensor int    `json:"tensor"`
	Row    int    `json:"row"`
	// Texts are the places of two further tensors: the bytes of all texts, and where each
	// of them ends.
	Texts *[2]int `json:"texts"`
}

// table is that of a request.
func (r *request) table(f *Frame) (*table.Table, error) {
	columns := make([]table.Values, len(r.Columns))
	for j, c := range r.Columns {
		v, err := c.values(f)
		if err != nil {
			return nil, &malformed{fmt.Sprintf("column %d (%q): %v", j+1, c.Name, err)}
		}
		columns[j] = v
	}
	return table.NewTable(r.Name, columns)
}

func (c *column) values(f *Frame) (table.Values, error) {
	v := table.Values{Name: c.Name}
	t, err := f.tensor(c.Tensor)
	if err != nil {
		return v, err
	}
	if c.Texts == nil {
		if t.Type != Float64 && t.Type != Float32 || len(t.Shape) != 2 || c.Row < 0 || c.Row >= t.Shape[0] {
			return v, fmt.Errorf("there is no row %d in a tensor of %s and shape %v", c.Row, t.Type, t.Shape)
		}
		n := t.Type.size() * t.Shape[1]
		row := Tensor{Type: t.Type, data: t.data[c.Row*n : (c.Row+1)*n]}
		v.Numbers = row.floats()
		return v, nil
	}
	text, err := f.tensor(c.Texts[0])
	if err != nil {
		return v, err
	}
	ends, err := f.tensor(c.Texts[1])
	if err != nil {
		return v, err
	}
	if t.Type != Int32 || text.Type != Bytes || ends.Type != Int32 {
		return v, fmt.Errorf("codes, texts and ends of types %s, %s and %s", t.Type, text.Type, ends.Type)
	}
	from := int32(0)
	for _, end := range ends.ints() {
		if end < from || int(end) > len(text.data) {
			return v, fmt.Errorf("a text from %d to %d of %d bytes", from, end, len(text.data))
		}
		v.Texts = append(v.Texts, string(text.data[from:end]))
		from = end
	}
	v.Codes = t.ints()
	return v, nil
}

func (f *Frame) tensor(k int) (*Tensor, error) {
	if k < 0 || k >= len(f.Tensors) {
		return nil, fmt.Errorf("there is no tensor %d among %d", k, len(f.Tensors))
	}
	return &f.Tensors[k], nil
}

// utility is what actions cost: a line of costs, or a specification.
type utility struct {
	Costs string          `json:"costs"`
	Spec  json.RawMessage `json:"spec"`
}

// spec is the specification, nil if there is none.
func (u *utility) spec() (*decision.Spec, error) {
	switch {
	case u == nil:
		return nil, nil
	case u.Costs != "":
		return decision.ParseCosts(u.Costs)
	}
	return decision.ParseSpecJSON(u.Spec)
}

// numbers are costs of an outcome that is a number, nil if there are none.
func (u *utility) numbers() (*decision.NumberCosts, error) {
	if u == nil {
		return nil, nil
	}
	return service.NumberCosts(u.Costs, u.Spec)
}

// part is what of a list of stakes, or of one for all, belongs to some rows.
func part(all []decision.Stakes, from, to int) []decision.Stakes {
	if len(all) == 1 {
		return all
	}
	return slices.Clip(all[from:to])
}
