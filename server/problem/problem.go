// Package problem says why a request is refused: by a status, in words that say what to do
// about it, and with the places in the request that are wrong.
package problem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Problem is why a request was refused: a problem document of RFC 9457.
type Problem struct {
	Type   string  `json:"type" doc:"always about:blank: the status says what kind of problem it is"`
	Title  string  `json:"title" doc:"the status in words"`
	Status int     `json:"status" doc:"the status of the response"`
	Detail string  `json:"detail" doc:"what is wrong and what to do about it"`
	Errors []Fault `json:"errors,omitempty" doc:"the single faults, where the request has places to name"`

	// Header goes with the response.
	Header http.Header `json:"-"`
}

// Fault is one thing that is wrong with a request, and where.
type Fault struct {
	Location string `json:"location" doc:"the place in the request, such as rows[3].age, counted from 0"`
	Message  string `json:"message"`
}

func (p *Problem) Error() string { return p.Detail }

// New is a problem with a status.
func New(status int, format string, args ...any) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...)}
}

// With adds a header to the response.
func (p *Problem) With(name, value string) *Problem {
	if p.Header == nil {
		p.Header = make(http.Header)
	}
	p.Header.Set(name, value)
	return p
}

// Invalid refuses a request whose JSON is in order and whose contents are not.
func Invalid(faults ...Fault) *Problem {
	p := New(http.StatusUnprocessableEntity, "%s: %s", faults[0].Location, faults[0].Message)
	if more := len(faults) - 1; more > 0 {
		p.Detail += fmt.Sprintf(" (and %d more, see errors)", more)
	}
	p.Errors = faults
	return p
}

// Wrong is Invalid with one fault.
func Wrong(location, format string, args ...any) *Problem {
	return Invalid(Fault{location, fmt.Sprintf(format, args...)})
}

// Busy refuses work because there is too much of it.
func Busy(what string) *Problem {
	return New(http.StatusServiceUnavailable, "%s; try again later", what).With("Retry-After", "2")
}

// Late says that a request took too long. Other errors stay what they are.
func Late(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return New(http.StatusServiceUnavailable, "this took longer than the server allows a request; ask for less, or try again when it has less to do").With("Retry-After", "10")
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return New(StatusClientGone, "the client has closed the connection")
	}
	return err
}

// StatusClientGone is for the log: nobody is there to read it.
const StatusClientGone = 499

// Malformed says where JSON text breaks the rules. The base is the place of the text in
// the request.
func Malformed(base string, err error) *Problem {
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) {
		return New(http.StatusBadRequest, "the JSON text ends too early")
	}
	reason := strings.TrimPrefix(syntax.Err.Error(), "jsontext: ")
	if errors.Is(err, jsontext.ErrDuplicateName) {
		reason = "the name occurs twice in this object"
	}
	p := New(http.StatusBadRequest, "the body is not JSON as RFC 8259 and 7493 have it: %s, after byte %d", reason, syntax.ByteOffset)
	if place := Location(base, syntax.JSONPointer); place != "" {
		p.Errors = []Fault{{place, reason}}
	}
	return p
}

// Strict decodes JSON text into a variable, without members that it does not have.
func Strict(base string, text []byte, v any) error {
	err := jsonv2.Unmarshal(text, v, jsonv2.RejectUnknownMembers(true))
	var semantic *jsonv2.SemanticError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &semantic):
		return Malformed(base, err)
	case errors.Is(err, jsonv2.ErrUnknownName):
		return Wrong(Location(base, semantic.JSONPointer), "there is no such field; leave it out")
	}
	return Wrong(Location(base, semantic.JSONPointer), "%s is not what belongs here%s", KindName(semantic.JSONKind), instead(semantic))
}

// instead says what to give in place of a value, where the variable tells.
func instead(e *jsonv2.SemanticError) string {
	t := e.GoType
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return ""
	}
	switch t.Kind() {
	case reflect.Bool:
		return "; give true or false"
	case reflect.String:
		return "; give a text"
	case reflect.Slice, reflect.Array:
		return "; give a list"
	case reflect.Struct, reflect.Map:
		return "; give an object"
	case reflect.Int, reflect.Int64:
		return "; give a whole number"
	case reflect.Float64:
		if e.JSONKind == '0' {
			return "; give one of less than 1e308"
		}
		return "; give a number"
	}
	return ""
}

// KindName is what JSON calls a kind of value.
func KindName(k jsontext.Kind) string {
	switch k {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case '0':
		return "this number"
	case 't', 'f':
		return "a truth value"
	case 'n':
		return "null"
	}
	return "this value"
}

// Location writes a JSON pointer within a place the way people write paths: rows[3].age.
func Location(base string, p jsontext.Pointer) string {
	const longest = 200
	for token := range p.Tokens() {
		if len(base) > longest {
			return base + "…"
		}
		if _, err := strconv.ParseUint(token, 10, 31); err == nil {
			base += "[" + token + "]"
		} else {
			base = Member(base, token)
		}
	}
	return base
}

// Member is the place of an object's member.
func Member(base, name string) string {
	if base == "" {
		return Cut(name)
	}
	return base + "." + Cut(name)
}

// Cut shortens a text that came with the request to a length that is worth reading.
func Cut(text string) string {
	const longest = 100
	if len(text) > longest {
		return strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}
