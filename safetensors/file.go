package safetensors

import (
	"fmt"
	"math"
	"slices"
)

// DType is the type of a tensor's numbers.
type DType string

// The types that are read and written, both eight bytes wide.
const (
	F64 DType = "F64"
	I64 DType = "I64"
)

const width = 8 // bytes of a number

// Tensor is a named array. Its numbers are in Floats if DType is F64 and in Ints if
// it is I64, rows first; there are as many as the product of Shape, which is one for
// an empty shape.
type Tensor struct {
	Name   string
	DType  DType
	Shape  []int
	Floats []float64
	Ints   []int64
}

// File is the contents of a file.
type File struct {
	// Metadata is free text by key. The key "sha256" belongs to the format.
	Metadata map[string]string
	// Tensors are in the order of the file after Read. Write sorts a copy by name.
	Tensors []Tensor
	// Checksum is the SHA-256 that Read found in the file and verified, empty if there
	// was none. Write does not use it.
	Checksum string
}

// AddFloats appends a tensor of type F64 that shares data.
func (f *File) AddFloats(name string, data []float64, shape ...int) {
	f.Tensors = append(f.Tensors, Tensor{Name: name, DType: F64, Shape: shape, Floats: data})
}

// AddInts appends a tensor of type I64 that shares data.
func (f *File) AddInts(name string, data []int64, shape ...int) {
	f.Tensors = append(f.Tensors, Tensor{Name: name, DType: I64, Shape: shape, Ints: data})
}

// Floats is the F64 tensor of that name, which must have the shape given; a size of
// −1 stands for any. Without such a tensor the error has the kind Missing, UnknownType
// or Shape.
func (f *File) Floats(name string, shape ...int) (*Tensor, error) { return f.find(name, F64, shape) }

// Ints is the I64 tensor of that name; see Floats.
func (f *File) Ints(name string, shape ...int) (*Tensor, error) { return f.find(name, I64, shape) }

func (f *File) find(name string, dtype DType, shape []int) (*Tensor, error) {
	at := slices.IndexFunc(f.Tensors, func(t Tensor) bool { return t.Name == name })
	if at < 0 {
		return nil, &Error{Kind: Missing, Tensor: name, Msg: "is not in the file"}
	}
	t := &f.Tensors[at]
	if t.DType != dtype {
		return nil, &Error{Kind: UnknownType, Tensor: name, Msg: fmt.Sprintf("has dtype %s where %s is expected", t.DType, dtype)}
	}
	fits := len(t.Shape) == len(shape)
	for i := 0; fits && i < len(shape); i++ {
		fits = shape[i] < 0 || shape[i] == t.Shape[i]
	}
	if !fits {
		return nil, &Error{Kind: Shape, Tensor: name, Msg: fmt.Sprintf("has shape %v where %v is expected (-1 is any)", t.Shape, shape)}
	}
	return t, nil
}

// check reports what of a tensor cannot be written.
func (t *Tensor) check() error {
	n, ok := elements(t.Shape)
	if !ok {
		return &Error{Kind: Shape, Tensor: t.Name, Msg: fmt.Sprintf("has shape %v, which is negative or too large", t.Shape)}
	}
	given, other := len(t.Floats), len(t.Ints)
	switch t.DType {
	case F64:
	case I64:
		given, other = other, given
	default:
		return &Error{Kind: UnknownType, Tensor: t.Name, Msg: fmt.Sprintf("has dtype %q; only F64 and I64 are written", t.DType)}
	}
	if given != n || other != 0 {
		return &Error{Kind: Shape, Tensor: t.Name, Msg: fmt.Sprintf("has %d floats and %d ints where dtype %s and shape %v need %d numbers", len(t.Floats), len(t.Ints), t.DType, t.Shape, n)}
	}
	return nil
}

// elements is the product of the sizes, and whether its bytes can be counted.
func elements(shape []int) (int, bool) {
	n := 1
	empty := false
	for _, size := range shape {
		if size < 0 {
			return 0, false
		}
		empty = empty || size == 0
	}
	if empty {
		return 0, true
	}
	for _, size := range shape {
		if n > math.MaxInt/width/size {
			return 0, false
		}
		n *= size
	}
	return n, true
}
