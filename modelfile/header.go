package modelfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// Header reads what is not a tensor, strictly: names that are not known, and those that occur
// twice, are refused.
func (r *Reader) Header(h any) error {
	text := r.file.Metadata["model"]
	// Names that occur twice, at any depth, are refused, and so is what follows.
	if !jsontext.Value(text).IsValid() {
		return errors.New("its description is no JSON text, or has a name twice in an object")
	}
	// The decoder takes Kernel for kernel.
	if names := sameButForCase(text); names != nil {
		return fmt.Errorf("its description has both %q and %q in an object; one of them is not lossep's", names[0], names[1])
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(h); err != nil {
		return fmt.Errorf("its description cannot be read: %w", plainJSON(err))
	}
	return nil
}

// sameButForCase are two names in one object of a JSON text that differ in nothing but the
// case of letters, if there are such.
func sameButForCase(text string) []string {
	decoder := jsontext.NewDecoder(strings.NewReader(text))
	var open []map[string]string // by the name as the decoder takes it; nil for a list
	for {
		_, length := decoder.StackIndex(decoder.StackDepth())
		token, err := decoder.ReadToken()
		if err != nil {
			return nil
		}
		switch kind := token.Kind(); {
		case kind == '{':
			open = append(open, make(map[string]string))
		case kind == '[':
			open = append(open, nil)
		case kind == '}' || kind == ']':
			open = open[:len(open)-1]
		case kind == '"' && len(open) > 0 && open[len(open)-1] != nil && length%2 == 0: // a name
			name := token.String()
			names, folded := open[len(open)-1], strings.Map(sameLetter, name)
			if other, is := names[folded]; is {
				return []string{other, name}
			}
			names[folded] = name
		}
	}
}

// sameLetter is the smallest of the letters that the decoder of encoding/json takes for the same:
// k, K and the sign of Kelvin.
func sameLetter(r rune) rune {
	for {
		next := unicode.SimpleFold(r)
		if next <= r {
			return next
		}
		r = next
	}
}

// plainJSON is an error of a decoder without the names that only the program knows.
func plainJSON(err error) error {
	if kind := new(json.UnmarshalTypeError); errors.As(err, &kind) {
		return fmt.Errorf("%s is a JSON %s, which does not belong there", kind.Field, kind.Value)
	}
	return errors.New(strings.NewReplacer("json: ", "", "data: ", "").Replace(err.Error()))
}
