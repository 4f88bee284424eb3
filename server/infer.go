package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
)

// InferRequest is the rows to decide, column by column.
type InferRequest struct {
	ID         string            `json:"id,omitempty" doc:"is given back"`
	Parameters InferParameters   `json:"parameters,omitempty"`
	Inputs     []InferTensor     `json:"inputs" nullable:"false" doc:"a tensor for each column"`
	Outputs    []RequestedOutput `json:"outputs,omitempty" doc:"those wanted; if there are none, all"`
}

// InferParameters are texts, numbers and truth values by name. Of a request, utility is
// a text with other costs than the model's own and binary_data_output asks for binary
// outputs; of an input, binary_data_size is the bytes of it that follow the JSON; of an
// output, binary_data asks for it in binary.
type InferParameters map[string]any

// InferTensor is an input or an output.
type InferTensor struct {
	Name       string          `json:"name"`
	Shape      []int64         `json:"shape" nullable:"false" doc:"of an input: the number of rows, or that and 1"`
	Datatype   string          `json:"datatype"`
	Parameters InferParameters `json:"parameters,omitempty"`
	Data       TensorData      `json:"data,omitempty"`
}

// RequestedOutput names an output.
type RequestedOutput struct {
	Name       string          `json:"name"`
	Parameters InferParameters `json:"parameters,omitempty"`
}

// InferResponse is the decisions.
type InferResponse struct {
	ModelName    string          `json:"model_name"`
	ModelVersion string          `json:"model_version"`
	ID           string          `json:"id,omitempty"`
	Parameters   InferParameters `json:"parameters,omitempty" doc:"unseen: the rows, from 0, and their columns whose category was not in the training rows"`
	Outputs      []InferTensor   `json:"outputs"`
}

// headerLength names the header with the length of the JSON before binary tensors.
const headerLength = "Inference-Header-Content-Length"

// infer answers with decisions. Of the statuses for what is wrong with a request this
// protocol knows 400 only.
func (s *Server) infer(x *exchange) error {
	err := s.inferDecisions(x)
	var p *Problem
	if errors.As(err, &p) && p.Status == http.StatusUnprocessableEntity {
		return refuse(http.StatusBadRequest, "%s", p.Detail)
	}
	return err
}

func (s *Server) inferDecisions(x *exchange) error {
	m, err := s.versionOf(x)
	if err != nil {
		return err
	}
	// The usual clients name no type, or that of the binary part.
	body, err := s.readBody(x, s.config.MaxBody, "application/json", "application/octet-stream", "")
	if err != nil {
		return err
	}
	defer body.free()
	ctx, cancel := s.deadline(x)
	defer cancel()
	ctx, done, err := s.turnOf(ctx, x, body)
	if err != nil {
		return err
	}
	defer done()
	q, tail, err := splitInfer(x.request.Header.Get(headerLength), body.Bytes(), len(m.model.Recipe().Columns))
	if err != nil {
		return err
	}
	outputs, err := q.outputs()
	if err != nil {
		return err
	}
	d := decided{m: m, spec: m.model.Utility()}
	if utility, ok := q.Parameters["utility"]; ok {
		text, _ := utility.(string)
		if d.spec, err = parseUtilityText(m.model, text); err != nil {
			return err
		}
	}
	if d.rows, err = s.inferRows(ctx, m, d.spec, q, tail, &body.share); err != nil {
		return err
	}
	if err := s.decideRows(ctx, x, &d); err != nil {
		return err
	}
	s.metrics.count(x, d.rows.n)
	s.metrics.countActions(m, d.spec, d.decisions)
	text, tensors := d.appendInfer(q.ID, outputs)
	if len(tensors) == 0 {
		x.write(http.StatusOK, "application/json", text)
		return nil
	}
	x.Header().Set(headerLength, strconv.Itoa(len(text)))
	x.write(http.StatusOK, "application/octet-stream", append(text, tensors...))
	return nil
}

// splitInfer reads the JSON of a request to a model of so many columns, and returns what
// follows it.
func splitInfer(header string, body []byte, columns int) (*InferRequest, []byte, error) {
	text, tail := body, []byte(nil)
	if header != "" {
		n, err := strconv.ParseUint(header, 10, 32)
		if err != nil || n > uint64(len(body)) {
			return nil, nil, refuse(http.StatusBadRequest, "%s is not a length within the body of %d bytes", headerLength, len(body))
		}
		text, tail = body[:n], body[n:]
	}
	q := new(InferRequest)
	// Members that are not known belong to extensions, and are none of our business.
	err := jsonv2.Unmarshal(text, q, jsonv2.WithUnmarshalers(inferBounds(columns)))
	var semantic *jsonv2.SemanticError
	var refused *Problem
	switch {
	case errors.As(err, &refused):
		return nil, nil, refused
	case errors.As(err, &semantic):
		return nil, nil, refuse(http.StatusBadRequest, "%s: %s is not what belongs here", location("", semantic.JSONPointer), kindName(semantic.JSONKind))
	case err != nil:
		return nil, nil, malformed("", err)
	case len(q.Inputs) == 0:
		return nil, nil, refuse(http.StatusBadRequest, "there are no inputs; give a tensor for each column")
	}
	return q, tail, nil
}

// outputs are the names of the outputs wanted, and whether in binary.
func (q *InferRequest) outputs() (wanted []requested, err error) {
	all, _ := q.Parameters["binary_data_output"].(bool)
	if len(q.Outputs) == 0 {
		for _, o := range outputsOf(0) {
			wanted = append(wanted, requested{o.Name, all})
		}
		return wanted, nil
	}
	for _, o := range q.Outputs {
		if !slices.ContainsFunc(outputsOf(0), func(known TensorMetadata) bool { return known.Name == o.Name }) {
			return nil, refuse(http.StatusBadRequest, "there is no output of the name %q", cut(o.Name))
		}
		if slices.ContainsFunc(wanted, func(w requested) bool { return w.name == o.Name }) {
			return nil, refuse(http.StatusBadRequest, "the output %q is asked for twice", o.Name)
		}
		if _, ok := o.Parameters["classification"]; ok {
			return nil, refuse(http.StatusBadRequest, "outputs as classifications are not offered")
		}
		in := all
		if b, ok := o.Parameters["binary_data"].(bool); ok {
			in = b
		}
		wanted = append(wanted, requested{o.Name, in})
	}
	return wanted, nil
}

type requested struct {
	name   string
	binary bool
}

// inferRows encodes the rows whose columns are the tensors of a request.
func (s *Server) inferRows(ctx context.Context, m *served, spec *decision.Spec, q *InferRequest, tail []byte, memory *share) (*rows, error) {
	n, err := s.rowsOf(q)
	if err != nil {
		return nil, err
	}
	tensors, err := q.tensors(n, tail)
	if err != nil {
		return nil, err
	}
	reader := m.readers.Get().(*rowReader)
	defer m.readers.Put(reader)
	given := make([]*tensor, len(reader.recipe.Columns))
	for name, t := range tensors {
		if i, ok := reader.columns[name]; ok {
			given[i] = t
		} else if !slices.Contains(spec.Columns(), name) {
			return nil, refuse(http.StatusBadRequest, "the model has no input %q", cut(name))
		}
	}
	if err := memory.take(8 * int64(n) * int64(reader.dim)); err != nil {
		return nil, err
	}
	r := &rows{n: n, features: make([]float64, n*reader.dim), values: make(map[string][]float64), share: memory}
	reader.faults = nil
	for i := range n {
		if i%restRows == 0 && ctx.Err() != nil {
			return nil, late(ctx, ctx.Err())
		}
		features := r.features[i*reader.dim : (i+1)*reader.dim]
		reader.encoder.Begin(features)
		for column, t := range given {
			if t != nil {
				t.give(reader.encoder, column, i)
			}
		}
		unseen, err := reader.encoder.End()
		if err != nil {
			return nil, inferProblem(i, err)
		}
		r.noteUnseen(i, unseen)
		if reader.checkFar(i, features); len(reader.faults) > 0 {
			return nil, refuse(http.StatusBadRequest, "%s: %s", reader.faults[0].Location, reader.faults[0].Message)
		}
	}
	for _, name := range spec.Columns() {
		for i := range n {
			value := noValue
			if t := tensors[name]; t != nil {
				value = t.number(i)
			}
			r.values[name] = append(r.values[name], value)
		}
	}
	return r, nil
}

// rowsOf is the number of rows, which all inputs must agree on.
func (s *Server) rowsOf(q *InferRequest) (int, error) {
	var n int64
	for i, in := range q.Inputs {
		if len(in.Shape) == 0 || len(in.Shape) > 2 || len(in.Shape) == 2 && in.Shape[1] != 1 || in.Shape[0] < 1 {
			return 0, refuse(http.StatusBadRequest, "input %q: the shape is not [rows] or [rows, 1], with at least one row", cut(in.Name))
		}
		if i == 0 {
			n = in.Shape[0]
		}
		if in.Shape[0] != n {
			return 0, refuse(http.StatusBadRequest, "input %q has %d rows, and %q has %d", cut(in.Name), in.Shape[0], cut(q.Inputs[0].Name), n)
		}
	}
	if n > int64(s.config.MaxRows) {
		return 0, refuse(http.StatusRequestEntityTooLarge, "there are more than %d rows; send them in several requests", s.config.MaxRows)
	}
	return int(n), nil
}

// tensors are the inputs by name.
func (q *InferRequest) tensors(n int, tail []byte) (map[string]*tensor, error) {
	all := make(map[string]*tensor, len(q.Inputs))
	for _, in := range q.Inputs {
		if _, twice := all[in.Name]; twice {
			return nil, refuse(http.StatusBadRequest, "the input %q is given twice", cut(in.Name))
		}
		var t *tensor
		var err error
		size, inBinary := in.Parameters["binary_data_size"]
		switch {
		case inBinary && in.Data != nil:
			err = errors.New("there are data and a binary_data_size; give one of them")
		case inBinary:
			bytes, ok := size.(float64)
			if !ok || bytes != math.Trunc(bytes) || bytes < 0 || bytes > float64(len(tail)) {
				err = fmt.Errorf("binary_data_size is not a number of the %d bytes that are left", len(tail))
				break
			}
			t, err = readBinary(in.Datatype, n, tail[:int(bytes)])
			tail = tail[int(bytes):]
		default:
			t, err = readList(in.Datatype, n, jsontext.Value(in.Data))
		}
		if err != nil {
			return nil, refuse(http.StatusBadRequest, "input %q: %v", cut(in.Name), err)
		}
		all[in.Name] = t
	}
	if len(tail) > 0 {
		return nil, refuse(http.StatusBadRequest, "%d bytes follow that are no input's", len(tail))
	}
	return all, nil
}

// inferProblem says which element of which input cannot be encoded.
func inferProblem(row int, err error) error {
	if e, ok := err.(*data.Error); ok {
		return refuse(http.StatusBadRequest, "input %q, row %d: %s; %s", e.ColumnName, row, e.Msg, e.Fix)
	}
	return err
}

// TensorData is the elements of a tensor, row by row: a list, or a list of lists.
type TensorData jsontext.Value

// UnmarshalJSON keeps the text, for how it is to be read depends on the datatype.
func (t *TensorData) UnmarshalJSON(b []byte) error {
	*t = TensorData(bytes.Clone(b))
	return nil
}

// Schema describes what the text may be.
func (TensorData) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: "array", Items: &huma.Schema{}, Description: "numbers, texts or truth values, row by row; left out where binary_data_size is given"}
}
