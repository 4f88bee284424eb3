package oip

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lossep/lossep/internal/jsonappend"
	"github.com/lossep/lossep/service"
)

// Answer is what a response says.
type Answer struct {
	Model, Version, ID string
	Fields             []service.Field // of which the outputs are some
	Cases              []service.Case
}

// Append writes an InferResponse, and the tensors that follow it.
func (d *Answer) Append(outputs []Requested) (text, tensors []byte) {
	b := jsonappend.Text([]byte(`{"model_name":`), d.Model)
	b = jsonappend.Text(append(b, `,"model_version":`...), d.Version)
	if d.ID != "" {
		b = jsonappend.Text(append(b, `,"id":`...), d.ID)
	}
	if unusual := d.unusual(); unusual != "" {
		b = append(jsonappend.Text(append(b, `,"parameters":{"unusual":`...), unusual), '}')
	}
	b = append(b, `,"outputs":[`...)
	types := OutputsOf(d.Fields)
	for k, o := range outputs {
		if k > 0 {
			b = append(b, ',')
		}
		at := slices.IndexFunc(types, func(t TensorMetadata) bool { return t.Name == o.name })
		t := types[at]
		b = jsonappend.Text(append(b, `{"name":`...), t.Name)
		b = jsonappend.Text(append(b, `,"datatype":`...), t.Datatype)
		b = strconv.AppendInt(append(b, `,"shape":[`...), int64(len(d.Cases)), 10)
		if len(t.Shape) == 2 {
			b = strconv.AppendInt(append(b, ','), int64(t.Shape[1]), 10)
		}
		b = append(b, ']')
		column := d.column(&d.Fields[at])
		if !o.binary {
			b = append(column.appendJSON(append(b, `,"data":`...)), '}')
			continue
		}
		before := len(tensors)
		tensors = column.appendBinary(tensors)
		b = strconv.AppendInt(append(b, `,"parameters":{"binary_data_size":`...), int64(len(tensors)-before), 10)
		b = append(b, `}}`...)
	}
	return append(b, `]}`...), tensors
}

// unusual names the rows, from 0, that are unlike those of the training, and their columns in
// which they are, in one text: parameters of the protocol are no lists.
func (d *Answer) unusual() string {
	var rows []string
	for i := range d.Cases {
		if columns := d.Cases[i].Unusual; len(columns) > 0 {
			rows = append(rows, fmt.Sprintf("row %d: %s", i, strings.Join(columns, ", ")))
		}
	}
	return strings.Join(rows, "; ")
}

// column is one output for all rows.
func (d *Answer) column(f *service.Field) *outputColumn {
	c := new(outputColumn)
	for i := range d.Cases {
		one := &d.Cases[i]
		switch {
		case f.Text != nil:
			c.texts = append(c.texts, f.Text(one))
		case f.Object != nil: // as JSON has it, for elements of the protocol have no parts
			text, err := json.Marshal(f.Object(one))
			if err != nil {
				panic(err) // made of texts and finite numbers
			}
			c.texts = append(c.texts, string(text))
		case f.Whole != nil:
			c.ints = append(c.ints, int64(f.Whole(one)))
		case f.Number != nil:
			c.floats = append(c.floats, f.Number(one))
		default:
			c.floats = f.Numbers(one, c.floats)
		}
	}
	return c
}

// outputColumn is the elements of an output, in one of the lists.
type outputColumn struct {
	texts  []string
	ints   []int64
	floats []float64
}

func (c *outputColumn) appendJSON(b []byte) []byte {
	switch {
	case c.texts != nil:
		return jsonappend.Texts(b, c.texts)
	case c.ints != nil:
		text, _ := json.Marshal(c.ints) // which cannot fail
		return append(b, text...)
	}
	return jsonappend.Floats(b, c.floats)
}

func (c *outputColumn) appendBinary(b []byte) []byte {
	for _, s := range c.texts {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	for _, n := range c.ints {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	for _, x := range c.floats {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}
