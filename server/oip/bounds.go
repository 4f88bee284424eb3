package oip

import (
	"net/http"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/lossep/lossep/server/problem"
)

const (
	maxParameters = 64 // of a request, an input or an output
	maxDimensions = 8  // of a tensor's shape, of which two can be right
	maxOutputs    = 8  // more than there are, for a message that names the wrong one
)

// inferBounds reads the lists and maps of a request element by element, up to the number
// that could be right: an element takes a hundred times the memory of its text, "{}".
func inferBounds(inputs int) *jsonv2.Unmarshalers {
	return jsonv2.JoinUnmarshalers(
		boundedList[InferTensor](inputs, "inputs"),
		boundedList[RequestedOutput](maxOutputs, "outputs"),
		boundedList[int64](maxDimensions, "dimensions of a shape"),
		jsonv2.UnmarshalFromFunc(readParameters),
	)
}

// boundedList reads lists that have at most so many elements.
func boundedList[T any](most int, what string) *jsonv2.Unmarshalers {
	return jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, list *[]T) error {
		if d.PeekKind() != '[' {
			return jsonv2.SkipFunc
		}
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		*list = []T{}
		for d.PeekKind() != ']' {
			if len(*list) == most {
				return problem.New(http.StatusBadRequest, "there are more than %d %s", most, what)
			}
			var one T
			if err := jsonv2.UnmarshalDecode(d, &one); err != nil {
				return err
			}
			*list = append(*list, one)
		}
		_, err := d.ReadToken()
		return err
	})
}

// readParameters reads the parameters that are texts, numbers and truth values. The
// protocol knows no others, and extensions that do are none of our business.
func readParameters(d *jsontext.Decoder, p *InferParameters) error {
	if d.PeekKind() != '{' {
		return jsonv2.SkipFunc
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	*p = InferParameters{}
	for n := 0; d.PeekKind() != '}'; n++ {
		if n == maxParameters {
			return problem.New(http.StatusBadRequest, "there are more than %d parameters of one thing", maxParameters)
		}
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		if k := d.PeekKind(); k == '{' || k == '[' {
			if err := d.SkipValue(); err != nil {
				return err
			}
			continue
		}
		var value any
		if err := jsonv2.UnmarshalDecode(d, &value); err != nil {
			return err
		}
		(*p)[key] = value
	}
	_, err := d.ReadToken()
	return err
}
