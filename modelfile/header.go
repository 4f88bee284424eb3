package modelfile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Header reads what is not a tensor, strictly: names that are not known, and those that occur
// twice, are refused.
func (r *Reader) Header(h any) error {
	err := json.Unmarshal([]byte(r.file.Metadata["model"]), h, json.RejectUnknownMembers(true))
	at := &json.SemanticError{Err: err}
	for errors.As(at.Err, &at) { // a part may be read by itself
		continue
	}
	switch {
	case errors.As(err, new(*jsontext.SyntacticError)):
		return errors.New("its description is no JSON text, or has a name twice in an object")
	case errors.Is(at.Err, json.ErrUnknownName):
		return fmt.Errorf("its description has the unknown field %q", at.JSONPointer.LastToken())
	case at.Err != nil:
		return fmt.Errorf("its description cannot be read: %w", at.Err)
	case err != nil: // without the names that only the program knows
		return fmt.Errorf("its description cannot be read: %s is a JSON %v, which does not belong there", strings.ReplaceAll(strings.TrimPrefix(string(at.JSONPointer), "/"), "/", "."), at.JSONKind)
	}
	return nil
}
