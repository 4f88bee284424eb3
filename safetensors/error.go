package safetensors

import "strconv"

// Kind says which rule of the format a file breaks.
type Kind int

// The kinds of Error.
const (
	// Truncated: the file ends before what its header promises.
	Truncated Kind = iota + 1
	// Trailing: bytes follow the last tensor.
	Trailing
	// HeaderSize: the header's length is zero, not a multiple of eight or over the limit.
	HeaderSize
	// HeaderSyntax: the header is not the JSON it should be.
	HeaderSyntax
	// Duplicate: a name occurs twice.
	Duplicate
	// UnknownType: a tensor is not F64 or I64, or not the one asked for.
	UnknownType
	// Shape: a shape is impossible, does not fit the bytes or is not the one asked for.
	Shape
	// Offsets: the bytes of tensors overlap, leave a gap, or are not aligned.
	Offsets
	// Checksum: the contents are not those that were written.
	Checksum
	// NoChecksum: a checksum was required and there is none.
	NoChecksum
	// Missing: the tensor asked for is not there.
	Missing
	// Reserved: a name that belongs to the format, or that JSON cannot hold.
	Reserved
	// TooLarge: the file has more bytes than may be read.
	TooLarge
)

// Error says what is wrong with a file.
type Error struct {
	Kind   Kind
	Tensor string // the tensor meant, if one is
	Msg    string
	Err    error // underlying error, if there is one
}

func (e *Error) Error() string {
	if e.Tensor == "" {
		return "safetensors: " + e.Msg
	}
	return "safetensors: tensor " + quote(e.Tensor) + " " + e.Msg
}

// Unwrap gives the underlying error, such as that of the JSON decoder.
func (e *Error) Unwrap() error { return e.Err }

// quote makes a name from a file safe and short enough for a message.
func quote(s string) string {
	const longest = 60
	if runes := []rune(s); len(runes) > longest {
		s = string(runes[:longest]) + "…"
	}
	return strconv.Quote(s)
}
