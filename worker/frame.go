package worker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/lossep/lossep/table"
)

// Version is that of the protocol.
const Version = 1

const (
	magic      = "LSP1"
	prefixSize = 16
	maxHeader  = 16 << 20 // names of columns, options, costs
)

// Tensor is an array with a name.
type Tensor struct {
	Name  string `json:"name"`
	Type  Type   `json:"type"`
	Shape []int  `json:"shape"`
	data  []byte
}

// Type is that of the elements of a tensor, little-endian.
type Type string

// The types, named as numpy does.
const (
	Float64 Type = "f8"
	Float32 Type = "f4"
	Int32   Type = "i4"
	Bytes   Type = "u1"
)

func (t Type) size() int {
	switch t {
	case Float64:
		return 8
	case Float32, Int32:
		return 4
	case Bytes:
		return 1
	}
	return 0
}

// Floats makes a tensor of numbers.
func Floats(name string, values []float64, shape ...int) Tensor {
	data := make([]byte, 8*len(values))
	for i, x := range values {
		binary.LittleEndian.PutUint64(data[8*i:], math.Float64bits(x))
	}
	return Tensor{name, Float64, shape, data}
}

// Ints makes a tensor of integers.
func Ints(name string, values []int, shape ...int) Tensor {
	data := make([]byte, 4*len(values))
	for i, x := range values {
		binary.LittleEndian.PutUint32(data[4*i:], uint32(int32(x)))
	}
	return Tensor{name, Int32, shape, data}
}

// Raw makes a tensor of bytes.
func Raw(name string, data []byte) Tensor { return Tensor{name, Bytes, []int{len(data)}, data} }

// floats are the numbers of a tensor; those of 32 bits are the decimals that stand for them.
func (t *Tensor) floats() []float64 {
	values := make([]float64, len(t.data)/t.Type.size())
	if t.Type == Float32 {
		for i := range values {
			values[i] = table.Single(math.Float32frombits(binary.LittleEndian.Uint32(t.data[4*i:])))
		}
		return values
	}
	for i := range values {
		values[i] = math.Float64frombits(binary.LittleEndian.Uint64(t.data[8*i:]))
	}
	return values
}

// ints are the integers of a tensor.
func (t *Tensor) ints() []int32 {
	values := make([]int32, len(t.data)/4)
	for i := range values {
		values[i] = int32(binary.LittleEndian.Uint32(t.data[4*i:]))
	}
	return values
}

// padding is what follows the data, up to a multiple of 8 bytes.
func (t *Tensor) padding() []byte { return make([]byte, (8-len(t.data)%8)%8) }

// Frame is a message.
type Frame struct {
	Header  json.RawMessage
	Tensors []Tensor
}

// errFrame says that what was read is no frame; where the next begins is not known.
var errFrame = errors.New("not a frame")

// readFrame reads a frame whose payload is let in by what admit says of it and its header; one
// that is not is passed over. Errors are io.EOF at the end of the input, errFrame, those of the
// reader, and beside a frame without tensors those of admit and *malformed.
func readFrame(r io.Reader, admit func(header []byte, payload uint64) error) (*Frame, error) {
	var prefix [prefixSize]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		if err == io.ErrUnexpectedEOF {
			return nil, fmt.Errorf("%w: it ends after less than %d bytes", errFrame, prefixSize)
		}
		return nil, err
	}
	if got := string(prefix[:4]); got != magic {
		return nil, fmt.Errorf("%w: it begins with %q and not with %q", errFrame, got, magic)
	}
	size, payload := binary.LittleEndian.Uint32(prefix[4:]), binary.LittleEndian.Uint64(prefix[8:])
	if size > maxHeader || payload > math.MaxInt64 {
		return nil, fmt.Errorf("%w: its header has %d bytes, its payload %d", errFrame, size, payload)
	}
	f := new(Frame)
	var err error
	if f.Header, err = readBytes(r, int64(size)); err != nil {
		return nil, err
	}
	if err := admit(f.Header, payload); err != nil {
		if _, end := io.CopyN(io.Discard, r, int64(payload)); end != nil {
			return nil, cut(end)
		}
		return f, err
	}
	data, err := readBytes(r, int64(payload))
	if err != nil {
		return nil, err
	}
	return f, f.slice(data)
}

// readBytes reads n bytes. What was promised and does not come is never allocated.
func readBytes(r io.Reader, n int64) ([]byte, error) {
	const step = 1 << 24
	data := make([]byte, 0, min(n, step))
	for int64(len(data)) < n {
		from := len(data)
		data = slices.Grow(data, int(min(n-int64(from), max(step, int64(from)))))
		data = data[:min(n, int64(cap(data)))]
		if _, err := io.ReadFull(r, data[from:]); err != nil {
			return nil, cut(err)
		}
	}
	return data, nil
}

// cut is the error of a frame whose end is missing.
func cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: its end is missing", errFrame)
	}
	return err
}

// slice finds the tensors in the payload.
func (f *Frame) slice(data []byte) error {
	var listed struct{ Tensors []Tensor }
	if err := json.Unmarshal(f.Header, &listed); err != nil {
		return &malformed{"the header is no JSON object: " + err.Error()}
	}
	for k := range listed.Tensors {
		t := &listed.Tensors[k]
		size := t.Type.size()
		if size == 0 {
			return &malformed{fmt.Sprintf("tensor %q has the unknown type %q", t.Name, t.Type)}
		}
		for _, n := range t.Shape {
			if n < 0 || n > 0 && size > math.MaxInt/n {
				return &malformed{fmt.Sprintf("tensor %q has the shape %v", t.Name, t.Shape)}
			}
			size *= n
		}
		if size > len(data) {
			return &malformed{fmt.Sprintf("tensor %q has more bytes than the payload", t.Name)}
		}
		t.data = data[:size:size]
		data = data[min(len(data), size+(8-size%8)%8):]
	}
	if len(data) > 0 {
		return &malformed{fmt.Sprintf("%d bytes of the payload belong to no tensor", len(data))}
	}
	f.Tensors = listed.Tensors
	return nil
}

// malformed says what is wrong with a request; the frames after it are not affected.
type malformed struct{ text string }

func (e *malformed) Error() string { return "malformed request: " + e.text }

// writer writes frames, one at a time.
type writer struct {
	mu sync.Mutex
	to io.Writer
}

// write writes a frame whose header is v with its tensors listed.
func (w *writer) write(v any, tensors ...Tensor) error {
	header, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(tensors) > 0 {
		list, err := json.Marshal(tensors)
		if err != nil {
			return err
		}
		header = append(header[:len(header)-1], `,"tensors":`...)
		header = append(append(header, list...), '}')
	}
	payload := 0
	for _, t := range tensors {
		payload += (len(t.data) + 7) / 8 * 8
	}
	head := make([]byte, prefixSize, prefixSize+len(header))
	copy(head, magic)
	binary.LittleEndian.PutUint32(head[4:], uint32(len(header)))
	binary.LittleEndian.PutUint64(head[8:], uint64(payload))
	head = append(head, header...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if payload <= 1<<16 { // one write for what is short
		for _, t := range tensors {
			head = append(append(head, t.data...), t.padding()...)
		}
		_, err = w.to.Write(head)
		return err
	}
	parts := [][]byte{head}
	for _, t := range tensors {
		parts = append(parts, t.data, t.padding())
	}
	for _, part := range parts {
		if len(part) == 0 {
			continue
		}
		if _, err := w.to.Write(part); err != nil {
			return err
		}
	}
	return nil
}
