package oip

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lossep/lossep/internal/jsonappend"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/server/rows"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// InferRequest is the rows to decide, column by column.
type InferRequest struct {
	ID         string            `json:"id,omitempty" doc:"is given back"`
	Parameters InferParameters   `json:"parameters,omitempty"`
	Inputs     []InferTensor     `json:"inputs" nullable:"false" doc:"a tensor for each column"`
	Outputs    []RequestedOutput `json:"outputs,omitempty" doc:"those wanted; if there are none, all"`

	rows  int
	given map[string]*tensor // the inputs, by Rows
}

// InferParameters are texts, numbers and truth values by name. Of a request, utility is
// a text with other costs than the model's own, baseline the action that savings are against, why how many reasons
// are asked for, and binary_data_output asks for binary
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
	Parameters   InferParameters `json:"parameters,omitempty" doc:"unusual: the rows, from 0, that are unlike the training rows, and the columns in which they are"`
	Outputs      []InferTensor   `json:"outputs"`
}

// HeaderLength names the header with the length of the JSON before binary tensors.
const HeaderLength = "Inference-Header-Content-Length"

// Read reads the JSON of a request that can have so many inputs, and returns what
// follows it.
func Read(header string, body []byte, inputs int) (*InferRequest, []byte, error) {
	text, tail := body, []byte(nil)
	if header != "" {
		n, err := strconv.ParseUint(header, 10, 32)
		if err != nil || n > uint64(len(body)) {
			return nil, nil, problem.New(http.StatusBadRequest, "%s is not a length within the body of %d bytes", HeaderLength, len(body))
		}
		text, tail = body[:n], body[n:]
	}
	q := new(InferRequest)
	// Members that are not known belong to extensions, and are none of our business.
	err := jsonv2.Unmarshal(text, q, jsonv2.WithUnmarshalers(inferBounds(inputs)))
	var semantic *jsonv2.SemanticError
	var refused *problem.Problem
	switch {
	case errors.As(err, &refused):
		return nil, nil, refused
	case errors.As(err, &semantic):
		return nil, nil, problem.New(http.StatusBadRequest, "%s: %s is not what belongs here", problem.Location("", semantic.JSONPointer), problem.KindName(semantic.JSONKind))
	case err != nil:
		return nil, nil, problem.Malformed("", err)
	case len(q.Inputs) == 0:
		return nil, nil, problem.New(http.StatusBadRequest, "there are no inputs; give a tensor for each column")
	}
	return q, tail, nil
}

// Wanted are the names of the outputs wanted of these fields, and whether in binary.
func (q *InferRequest) Wanted(fields []service.Field) (wanted []Requested, err error) {
	all, _ := q.Parameters["binary_data_output"].(bool)
	if len(q.Outputs) == 0 {
		for _, o := range fields {
			wanted = append(wanted, Requested{o.Name, all})
		}
		return wanted, nil
	}
	for _, o := range q.Outputs {
		if !slices.ContainsFunc(fields, func(known service.Field) bool { return known.Name == o.Name }) {
			return nil, problem.New(http.StatusBadRequest, "there is no output of the name %q", problem.Cut(o.Name))
		}
		if slices.ContainsFunc(wanted, func(w Requested) bool { return w.name == o.Name }) {
			return nil, problem.New(http.StatusBadRequest, "the output %q is asked for twice", o.Name)
		}
		if _, ok := o.Parameters["classification"]; ok {
			return nil, problem.New(http.StatusBadRequest, "outputs as classifications are not offered")
		}
		in := all
		if b, ok := o.Parameters["binary_data"].(bool); ok {
			in = b
		}
		wanted = append(wanted, Requested{o.Name, in})
	}
	return wanted, nil
}

// Requested is an output that is wanted.
type Requested struct {
	name   string
	binary bool
}

// Rows encodes the rows whose columns are the tensors of a request: those of the
// recipe, and others that are wanted as numbers.
func (q *InferRequest) Rows(ctx context.Context, reader *rows.Reader, wanted []string, maxRows int, tail []byte) (*rows.Rows, error) {
	n, err := q.count(maxRows)
	if err != nil {
		return nil, err
	}
	tensors, err := q.tensors(n, tail)
	if err != nil {
		return nil, err
	}
	q.rows, q.given = n, tensors
	given := make(map[int]*tensor)
	for name, t := range tensors {
		if i, ok := reader.Column(name); ok {
			given[i] = t
		} else if !slices.Contains(wanted, name) {
			return nil, problem.New(http.StatusBadRequest, "the model has no input %q", problem.Cut(name))
		}
	}
	columns := slices.Sorted(maps.Keys(given))
	r, err := reader.Encode(ctx, n, func(e *recipe.Encoder, row int) {
		for _, column := range columns {
			given[column].give(e, column, row)
		}
	}, inferProblem)
	if err != nil {
		return nil, err
	}
	for _, name := range wanted {
		column, known := reader.Column(name)
		if !known {
			column = -1
		}
		for i := range n {
			value := rows.NoValue
			if t := tensors[name]; t != nil {
				value = t.number(reader, column, i)
			}
			r.Values[name] = append(r.Values[name], value)
		}
	}
	return r, nil
}

// Body has the rows that were read as the body of a request that gives them row by row, in memory that is taken.
func (q *InferRequest) Body(memory rows.Memory) ([]byte, error) {
	const number = 28 // bytes of one, with what is around it and the name
	names, size := slices.Sorted(maps.Keys(q.given)), 16
	for name, t := range q.given {
		size += q.rows * (len(name) + number)
		for _, text := range t.texts {
			size += len(text)
		}
	}
	if err := memory.Take(int64(size)); err != nil {
		return nil, err
	}
	b := append(make([]byte, 0, size), `{"rows":[`...)
	for i := range q.rows {
		if i > 0 {
			b = append(b, ',')
		}
		for k, name := range names {
			b = append(jsonappend.Text(append(b, "{,"[min(k, 1)]), name), ':')
			b = q.given[name].appendJSON(b, i)
		}
		b = append(b, '}')
	}
	return append(b, "]}"...), nil
}

// count is the number of rows, which all inputs must agree on.
func (q *InferRequest) count(maxRows int) (int, error) {
	var n int64
	for i, in := range q.Inputs {
		if len(in.Shape) == 0 || len(in.Shape) > 2 || len(in.Shape) == 2 && in.Shape[1] != 1 || in.Shape[0] < 1 {
			return 0, problem.New(http.StatusBadRequest, "input %q: the shape is not [rows] or [rows, 1], with at least one row", problem.Cut(in.Name))
		}
		if i == 0 {
			n = in.Shape[0]
		}
		if in.Shape[0] != n {
			return 0, problem.New(http.StatusBadRequest, "input %q has %d rows, and %q has %d", problem.Cut(in.Name), in.Shape[0], problem.Cut(q.Inputs[0].Name), n)
		}
	}
	if n > int64(maxRows) {
		return 0, problem.New(http.StatusRequestEntityTooLarge, "there are more than %d rows; send them in several requests", maxRows)
	}
	return int(n), nil
}

// tensors are the inputs by name.
func (q *InferRequest) tensors(n int, tail []byte) (map[string]*tensor, error) {
	all := make(map[string]*tensor, len(q.Inputs))
	for _, in := range q.Inputs {
		if _, twice := all[in.Name]; twice {
			return nil, problem.New(http.StatusBadRequest, "the input %q is given twice", problem.Cut(in.Name))
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
			return nil, problem.New(http.StatusBadRequest, "input %q: %v", problem.Cut(in.Name), err)
		}
		all[in.Name] = t
	}
	if len(tail) > 0 {
		return nil, problem.New(http.StatusBadRequest, "%d bytes follow that are no input's", len(tail))
	}
	return all, nil
}

// inferProblem says which element of which input cannot be encoded.
func inferProblem(row int, err error) error {
	if e, ok := err.(*table.Error); ok {
		return problem.New(http.StatusBadRequest, "input %q, row %d: %s; %s", e.ColumnName, row, e.Msg, e.Fix)
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
