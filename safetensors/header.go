package safetensors

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// layout is what a header says: a file without its numbers, and where they lie.
type layout struct {
	file  *File
	spans map[string][2]int // first byte and the one after the last, by tensor
}

// parseHeader reads the JSON, in which no name may occur twice.
func parseHeader(text []byte) (*layout, error) {
	if text[0] != '{' {
		return nil, syntax("begins with %q and not with {: this is not a safetensors file", rune(text[0]))
	}
	if !utf8.Valid(text) {
		return nil, syntax("is not UTF-8 text")
	}
	var entries map[string]jsontext.Value
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, broken(err)
	}
	l := &layout{file: &File{Metadata: map[string]string{}}, spans: map[string][2]int{}}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		read := l.tensor
		if name == metadataKey {
			read = l.metadata
		}
		if err := read(name, entries[name]); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// metadata reads the object of texts, and takes the checksum out of it.
func (l *layout) metadata(name string, value []byte) error {
	var texts map[string]*string
	if err := json.Unmarshal(value, &texts); err != nil || texts == nil {
		return syntax("has %s that is not text by name (%v)", name, err)
	}
	for key, text := range texts {
		switch {
		case text == nil:
			return syntax("has the metadata entry %s, which is not text", quote(key))
		case key != checksumKey:
			l.file.Metadata[key] = *text
		case !isDigest(*text):
			return &Error{Kind: Checksum, Msg: fmt.Sprintf("the checksum %s is not 64 lowercase hexadecimal digits", quote(*text))}
		default:
			l.file.Checksum = *text
		}
	}
	return nil
}

// tensor reads the object about one tensor.
func (l *layout) tensor(name string, value []byte) error {
	var e struct {
		DType   DType `json:"dtype"`
		Shape   []int `json:"shape"`
		Offsets []int `json:"data_offsets"`
	}
	if err := json.Unmarshal(value, &e, json.RejectUnknownMembers(true)); err != nil {
		return syntax("describes tensor %s otherwise than by dtype, shape and data_offsets: %v", quote(name), err)
	}
	switch {
	case e.DType == "" || e.Shape == nil || len(e.Offsets) != 2:
		return syntax("does not give tensor %s a dtype, a shape and two data_offsets", quote(name))
	case e.DType != F64 && e.DType != I64:
		return &Error{Kind: UnknownType, Tensor: name, Msg: fmt.Sprintf("has dtype %s; only F64 and I64 are read, so convert it before saving", quote(string(e.DType)))}
	case slices.Min(append(e.Offsets, e.Shape...)) < 0:
		return syntax("gives tensor %s shape %v and data_offsets %v, where nothing may be below 0", quote(name), e.Shape, e.Offsets)
	}
	l.file.Tensors = append(l.file.Tensors, Tensor{Name: name, DType: e.DType, Shape: e.Shape})
	l.spans[name] = [2]int(e.Offsets)
	return nil
}

func isDigest(s string) bool {
	if len(s) != len(blank) {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func syntax(format string, args ...any) error {
	return &Error{Kind: HeaderSyntax, Msg: "the header " + fmt.Sprintf(format, args...)}
}

// broken reports a header that is not JSON, or has a name twice.
func broken(err error) error {
	if at := new(jsontext.SyntacticError); errors.As(err, &at) && errors.Is(err, jsontext.ErrDuplicateName) {
		return &Error{Kind: Duplicate, Msg: fmt.Sprintf("the name %s occurs twice in the header", quote(at.JSONPointer.LastToken()))}
	}
	return &Error{Kind: HeaderSyntax, Msg: "the header is not JSON: " + err.Error(), Err: err}
}
