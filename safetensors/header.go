package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// layout is what a header says: a file without its numbers, and where they lie.
type layout struct {
	file  *File
	spans map[string][2]int // first byte and the one after the last, by tensor
}

// parseHeader reads the JSON. It goes token by token, because the decoder of the
// standard library would let the second of two equal names replace the first.
func parseHeader(text []byte) (*layout, error) {
	l := &layout{file: &File{Metadata: map[string]string{}}, spans: map[string][2]int{}}
	if text[0] != '{' {
		return nil, syntax("begins with %q and not with {: this is not a safetensors file", rune(text[0]))
	}
	if !utf8.Valid(text) {
		return nil, syntax("is not UTF-8 text")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err := object(decoder, "all tensors", func(name string) error {
		if name == metadataKey {
			return l.metadata(decoder)
		}
		return l.tensor(decoder, name)
	})
	if err != nil {
		return nil, err
	}
	if rest := bytes.TrimRight(text[decoder.InputOffset():], " "); len(rest) > 0 {
		return nil, syntax("goes on after its closing brace")
	}
	return l, nil
}

// metadata reads the object of texts, and takes the checksum out of it.
func (l *layout) metadata(decoder *json.Decoder) error {
	return object(decoder, metadataKey, func(key string) error {
		value, err := decoder.Token()
		if err != nil {
			return broken(err)
		}
		text, ok := value.(string)
		if !ok {
			return syntax("has the metadata entry %s, which is not text", quote(key))
		}
		if key != checksumKey {
			l.file.Metadata[key] = text
			return nil
		}
		if !isDigest(text) {
			return &Error{Kind: Checksum, Msg: fmt.Sprintf("the checksum %s is not 64 lowercase hexadecimal digits", quote(text))}
		}
		l.file.Checksum = text
		return nil
	})
}

// tensor reads the object about one tensor.
func (l *layout) tensor(decoder *json.Decoder, name string) error {
	t := Tensor{Name: name}
	var shape, offsets []int
	err := object(decoder, "tensor "+quote(name), func(key string) (err error) {
		switch key {
		case "dtype":
			value, err := decoder.Token()
			if err != nil {
				return broken(err)
			}
			text, ok := value.(string)
			if !ok {
				return syntax("gives tensor %s a dtype that is not text", quote(name))
			}
			if t.DType = DType(text); t.DType != F64 && t.DType != I64 {
				return &Error{Kind: UnknownType, Tensor: name, Msg: fmt.Sprintf("has dtype %s; only F64 and I64 are read, so convert it before saving", quote(text))}
			}
		case "shape":
			shape, err = integers(decoder, name, key)
		case "data_offsets":
			offsets, err = integers(decoder, name, key)
		default:
			err = syntax("gives tensor %s the unknown entry %s", quote(name), quote(key))
		}
		return err
	})
	if err != nil {
		return err
	}
	if t.DType == "" || shape == nil || len(offsets) != 2 {
		return syntax("does not give tensor %s a dtype, a shape and two data_offsets", quote(name))
	}
	t.Shape = shape
	l.file.Tensors = append(l.file.Tensors, t)
	l.spans[name] = [2]int{offsets[0], offsets[1]}
	return nil
}

// object reads a JSON object: entry is called at each key to read the value.
func object(decoder *json.Decoder, what string, entry func(key string) error) error {
	token, err := decoder.Token()
	if err != nil {
		return broken(err)
	}
	if token != json.Delim('{') {
		return syntax("has %s where the object of %s belongs", quote(fmt.Sprint(token)), what)
	}
	seen := make(map[string]bool)
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return broken(err)
		}
		key := token.(string) // the decoder lets nothing else stand there
		if seen[key] {
			return &Error{Kind: Duplicate, Msg: fmt.Sprintf("the name %s occurs twice in %s", quote(key), what)}
		}
		seen[key] = true
		if err := entry(key); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return broken(err)
	}
	return nil
}

// integers reads an array of counts.
func integers(decoder *json.Decoder, name, key string) ([]int, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, broken(err)
	}
	if token != json.Delim('[') {
		return nil, syntax("gives tensor %s a %s that is not a list", quote(name), key)
	}
	list := []int{}
	for decoder.More() {
		if token, err = decoder.Token(); err != nil {
			return nil, broken(err)
		}
		number, ok := token.(json.Number)
		n, err := strconv.Atoi(string(number))
		if !ok || err != nil || n < 0 {
			return nil, syntax("gives tensor %s a %s with %s, which is not a whole number from 0", quote(name), key, quote(fmt.Sprint(token)))
		}
		list = append(list, n)
	}
	if _, err := decoder.Token(); err != nil {
		return nil, broken(err)
	}
	return list, nil
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

// broken reports a header that is not JSON.
func broken(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return &Error{Kind: HeaderSyntax, Msg: "the header is not JSON: " + err.Error(), Err: err}
}
