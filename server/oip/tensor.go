package oip

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lossep/lossep/internal/jsonappend"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/server/rows"
	"github.com/lossep/lossep/table"
)

// tensor is a column of a request's rows. One of the lists holds its elements.
type tensor struct {
	floats []float64
	texts  [][]byte
	bools  []bool
}

func (t *tensor) len() int { return len(t.floats) + len(t.texts) + len(t.bools) }

// give hands an element to the encoder.
func (t *tensor) give(e *recipe.Encoder, column, row int) {
	switch {
	case t.floats != nil:
		e.Number(column, t.floats[row])
	case t.texts != nil:
		e.Text(column, t.texts[row])
	default:
		e.Bool(column, t.bools[row])
	}
}

// appendJSON writes an element; what is no number is null.
func (t *tensor) appendJSON(b []byte, row int) []byte {
	switch {
	case t.texts != nil:
		return jsonappend.Text(b, string(t.texts[row]))
	case t.bools != nil:
		return strconv.AppendBool(b, t.bools[row])
	case math.IsNaN(t.floats[row]) || math.IsInf(t.floats[row], 0):
		return append(b, "null"...)
	}
	return jsonappend.Float(b, t.floats[row])
}

// number is an element as a finite number, or noNumber.
func (t *tensor) number(reader *rows.Reader, column, row int) float64 {
	switch {
	case t.floats != nil:
		return reader.Number(column, t.floats[row])
	case t.texts != nil:
		return reader.Spelled(column, t.texts[row])
	}
	return rows.NoNumber
}

// datatype is how the protocol's types are stored and what integers they can be.
// Integers of 64 bits are kept as text, for they may have more digits than a float64.
type datatype struct {
	size      int // of an element in bytes; 0 if that varies
	low, high float64
	read      func(t *tensor, b []byte)
}

var datatypes = map[string]datatype{
	"BOOL":   {size: 1, read: func(t *tensor, b []byte) { t.bools = append(t.bools, b[0] != 0) }},
	"INT8":   {1, math.MinInt8, math.MaxInt8, func(t *tensor, b []byte) { t.float(float64(int8(b[0]))) }},
	"INT16":  {2, math.MinInt16, math.MaxInt16, func(t *tensor, b []byte) { t.float(float64(int16(binary.LittleEndian.Uint16(b)))) }},
	"INT32":  {4, math.MinInt32, math.MaxInt32, func(t *tensor, b []byte) { t.float(float64(int32(binary.LittleEndian.Uint32(b)))) }},
	"INT64":  {8, math.MinInt64, math.MaxInt64, func(t *tensor, b []byte) { t.text(strconv.AppendInt(nil, int64(binary.LittleEndian.Uint64(b)), 10)) }},
	"UINT8":  {1, 0, math.MaxUint8, func(t *tensor, b []byte) { t.float(float64(b[0])) }},
	"UINT16": {2, 0, math.MaxUint16, func(t *tensor, b []byte) { t.float(float64(binary.LittleEndian.Uint16(b))) }},
	"UINT32": {4, 0, math.MaxUint32, func(t *tensor, b []byte) { t.float(float64(binary.LittleEndian.Uint32(b))) }},
	"UINT64": {8, 0, math.MaxUint64, func(t *tensor, b []byte) { t.text(strconv.AppendUint(nil, binary.LittleEndian.Uint64(b), 10)) }},
	"FP32":   {size: 4, read: func(t *tensor, b []byte) { t.float(table.Single(math.Float32frombits(binary.LittleEndian.Uint32(b)))) }},
	"FP64":   {size: 8, read: func(t *tensor, b []byte) { t.float(math.Float64frombits(binary.LittleEndian.Uint64(b))) }},
	"BYTES":  {},
}

func (t *tensor) float(x float64) { t.floats = append(t.floats, x) }
func (t *tensor) text(b []byte)   { t.texts = append(t.texts, b) }

// readBinary reads a tensor of n elements from its bytes: little-endian, one after the
// other, texts with their length before them.
func readBinary(typename string, n int, b []byte) (*tensor, error) {
	d, ok := datatypes[typename]
	if !ok {
		return nil, unknownType(typename)
	}
	t := new(tensor)
	if typename == "BYTES" {
		return t, t.readTexts(n, b)
	}
	if len(b) != n*d.size {
		return nil, fmt.Errorf("%d elements of %s take %d bytes, and there are %d", n, typename, n*d.size, len(b))
	}
	for ; len(b) > 0; b = b[d.size:] {
		d.read(t, b)
	}
	return t, nil
}

func (t *tensor) readTexts(n int, b []byte) error {
	for range n {
		if len(b) < 4 || uint64(len(b)-4) < uint64(binary.LittleEndian.Uint32(b)) {
			return fmt.Errorf("the bytes end within element %d", t.len())
		}
		size := binary.LittleEndian.Uint32(b)
		text := b[4 : 4+size]
		if !utf8.Valid(text) {
			return fmt.Errorf("element %d is not UTF-8", t.len())
		}
		t.text(text)
		b = b[4+size:]
	}
	if len(b) > 0 {
		return fmt.Errorf("%d bytes are left over after %d elements", len(b), n)
	}
	return nil
}

// readList reads a tensor of n elements from a list, or a list of lists, which is known
// to be valid JSON.
func readList(typename string, n int, raw jsontext.Value) (*tensor, error) {
	d, ok := datatypes[typename]
	if !ok {
		return nil, unknownType(typename)
	}
	if raw.Kind() != '[' {
		return nil, errors.New("the data are not a list")
	}
	t := new(tensor)
	decoder := jsontext.NewDecoder(bytes.NewBuffer(raw))
	for {
		k := decoder.PeekKind()
		switch k {
		case '[', ']':
			if _, err := decoder.ReadToken(); err != nil {
				return nil, err
			}
			continue
		}
		value, err := decoder.ReadValue()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if t.len() == n {
			return nil, fmt.Errorf("there are more than %d elements, which is what the shape says", n)
		}
		if err := t.readElement(typename, d, k, bytes.Clone(value)); err != nil {
			return nil, fmt.Errorf("element %d: %w", t.len(), err)
		}
	}
	if t.len() != n {
		return nil, fmt.Errorf("there are %d elements, and the shape says %d", t.len(), n)
	}
	return t, nil
}

// readElement reads a JSON value as an element of a type.
func (t *tensor) readElement(typename string, d datatype, k jsontext.Kind, value []byte) error {
	switch {
	case typename == "BYTES" && k == '"':
		t.text(rows.Unquoted(value))
		return nil
	case typename == "BOOL" && (k == 't' || k == 'f'):
		t.bools = append(t.bools, k == 't')
		return nil
	case typename == "BYTES" || typename == "BOOL" || k != '0':
		return fmt.Errorf("%s is no %s", problem.KindName(k), typename)
	}
	x, kind := table.ParseNumber(value, '.')
	if kind == table.Infinite {
		return errors.New("the number is too large")
	}
	integer, digits := d.low < d.high, !bytes.ContainsAny(value, ".eE")
	switch {
	case integer && (x != math.Trunc(x) || x < d.low || x > d.high),
		integer && d.size == 8 && digits && !fits64(value, d.low == 0):
		return fmt.Errorf("%s is no %s", problem.Cut(string(value)), typename)
	case integer && d.size == 8 && digits:
		t.text(value) // with all of them
	case integer && d.size == 8:
		t.text(strconv.AppendFloat(nil, x, 'f', -1, 64))
	case typename == "FP32":
		t.float(table.Single(float32(x)))
	default:
		t.float(x)
	}
	return nil
}

// fits64 tells whether digits, perhaps with a sign, are an integer of 64 bits.
func fits64(digits []byte, unsigned bool) bool {
	var err error
	if unsigned && digits[0] != '-' { // -0 is an integer too
		_, err = strconv.ParseUint(string(digits), 10, 64)
	} else {
		_, err = strconv.ParseInt(string(digits), 10, 64)
	}
	return err == nil
}

func unknownType(name string) error {
	if len(name) > 20 {
		name = "this"
	}
	return fmt.Errorf("the datatype %q is not taken; use FP64, FP32, INT8 to INT64, UINT8 to UINT64, BOOL or BYTES", name)
}
