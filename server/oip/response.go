package oip

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/server/jsonappend"
)

// Answer is what a response says.
type Answer struct {
	Model, Version, ID string
	Unseen             map[int][]string // by row: columns whose category was not in the training rows
	Far                map[int][]string // by row: columns whose value is far outside those of the training rows
	Outcomes, Actions  []string
	Decisions          []lossep.Decision
}

// Append writes an InferResponse, and the tensors that follow it.
func (d *Answer) Append(outputs []Requested) (text, tensors []byte) {
	b := append([]byte(`{"model_name":`), jsonappend.Quoted(d.Model)...)
	b = append(append(b, `,"model_version":`...), jsonappend.Quoted(d.Version)...)
	if d.ID != "" {
		b = append(append(b, `,"id":`...), jsonappend.Quoted(d.ID)...)
	}
	b = d.appendUnusual(b)
	b = append(b, `,"outputs":[`...)
	types := OutputsOf(len(d.Outcomes), len(d.Actions))
	for k, o := range outputs {
		if k > 0 {
			b = append(b, ',')
		}
		t := types[slices.IndexFunc(types, func(t TensorMetadata) bool { return t.Name == o.name })]
		b = append(append(b, `{"name":`...), jsonappend.Quoted(t.Name)...)
		b = append(append(b, `,"datatype":`...), jsonappend.Quoted(t.Datatype)...)
		b = strconv.AppendInt(append(b, `,"shape":[`...), int64(len(d.Decisions)), 10)
		if len(t.Shape) == 2 {
			b = strconv.AppendInt(append(b, ','), int64(t.Shape[1]), 10)
		}
		b = append(b, ']')
		column := d.column(t.Name)
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

// appendUnusual writes the parameters that say in which columns rows are unlike those of
// the training, if any is.
func (d *Answer) appendUnusual(b []byte) []byte {
	separator := `,"parameters":{`
	for _, p := range []struct {
		name    string
		columns map[int][]string
	}{{"unseen", d.Unseen}, {"far", d.Far}} {
		if len(p.columns) > 0 {
			b = append(append(append(b, separator...), jsonappend.Quoted(p.name)...), ':')
			b = append(b, jsonappend.Quoted(byRow(p.columns))...)
			separator = ","
		}
	}
	if separator == "," {
		b = append(b, '}')
	}
	return b
}

// byRow names rows and their columns in one text: parameters of the protocol are no lists.
func byRow(columns map[int][]string) string {
	var b strings.Builder
	for k, row := range slices.Sorted(maps.Keys(columns)) {
		if k > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "row %d: %s", row, strings.Join(columns[row], ", "))
	}
	return b.String()
}

// Column is one output for all rows.
func (d *Answer) column(name string) *outputColumn {
	c := new(outputColumn)
	for i := range d.Decisions {
		one := &d.Decisions[i]
		switch name {
		case "action":
			c.texts = append(c.texts, d.Actions[one.Action])
		case "action_index":
			c.ints = append(c.ints, int64(one.Action))
		case "probability":
			if len(d.Outcomes) > 2 {
				c.floats = append(c.floats, one.Probabilities...)
			} else {
				c.floats = append(c.floats, one.Probability())
			}
		case "expected":
			c.floats = append(c.floats, one.Expected...)
		case "margin":
			c.floats = append(c.floats, one.Margin)
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
		b = append(b, '[')
		for i, n := range c.ints {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, n, 10)
		}
		return append(b, ']')
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
