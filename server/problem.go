package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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

	header http.Header // to go with the response
}

// Fault is one thing that is wrong with a request, and where.
type Fault struct {
	Location string `json:"location" doc:"the place in the request, such as rows[3].age, counted from 0"`
	Message  string `json:"message"`
}

func (p *Problem) Error() string { return p.Detail }

// refuse is a problem with a status.
func refuse(status int, format string, args ...any) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...)}
}

// with adds a header to the response.
func (p *Problem) with(name, value string) *Problem {
	if p.header == nil {
		p.header = make(http.Header)
	}
	p.header.Set(name, value)
	return p
}

// invalid refuses a request whose JSON is in order and whose contents are not.
func invalid(faults ...Fault) *Problem {
	p := refuse(http.StatusUnprocessableEntity, "%s: %s", faults[0].Location, faults[0].Message)
	p.Errors = faults
	return p
}

// wrong is invalid with one fault.
func wrong(location, format string, args ...any) *Problem {
	return invalid(Fault{location, fmt.Sprintf(format, args...)})
}

// busy refuses work because there is too much of it.
func busy(what string) *Problem {
	return refuse(http.StatusServiceUnavailable, "%s; try again later", what).with("Retry-After", "2")
}

// malformed says where JSON text breaks the rules. The base is the place of the text in
// the request.
func malformed(base string, err error) *Problem {
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) {
		return refuse(http.StatusBadRequest, "the JSON text ends too early")
	}
	reason := strings.TrimPrefix(syntax.Err.Error(), "jsontext: ")
	if errors.Is(err, jsontext.ErrDuplicateName) {
		reason = "the name occurs twice in this object"
	}
	p := refuse(http.StatusBadRequest, "the body is not JSON as RFC 8259 and 7493 have it: %s, after byte %d", reason, syntax.ByteOffset)
	if place := location(base, syntax.JSONPointer); place != "" {
		p.Errors = []Fault{{place, reason}}
	}
	return p
}

// strict decodes JSON text into a variable, without members that it does not have.
func strict(base string, text []byte, v any) error {
	err := jsonv2.Unmarshal(text, v, jsonv2.RejectUnknownMembers(true))
	var semantic *jsonv2.SemanticError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &semantic):
		return malformed(base, err)
	case errors.Is(err, jsonv2.ErrUnknownName):
		return wrong(location(base, semantic.JSONPointer), "there is no such field; leave it out")
	}
	return wrong(location(base, semantic.JSONPointer), "%s is not what belongs here", kindName(semantic.JSONKind))
}

// kindName is what JSON calls a kind of value.
func kindName(k jsontext.Kind) string {
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

// location writes a JSON pointer within a place the way people write paths: rows[3].age.
func location(base string, p jsontext.Pointer) string {
	const longest = 200
	for token := range p.Tokens() {
		if len(base) > longest {
			return base + "…"
		}
		if _, err := strconv.ParseUint(token, 10, 31); err == nil {
			base += "[" + token + "]"
		} else {
			base = member(base, token)
		}
	}
	return base
}

// member is the place of an object's member.
func member(base, name string) string {
	if base == "" {
		return cut(name)
	}
	return base + "." + cut(name)
}

// cut shortens a text that came with the request to a length that is worth reading.
func cut(text string) string {
	const longest = 100
	if len(text) > longest {
		return strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}

// writeProblem writes the document, or what the inference protocol has in its place.
func (x *exchange) writeProblem(p *Problem) {
	for name, values := range p.header {
		x.Header()[name] = values
	}
	contentType, body := "application/problem+json", any(p)
	if isInference(x.request.URL.Path) {
		contentType, body = "application/json", map[string]string{"error": p.Detail}
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // strings and numbers always can be written
	}
	x.write(p.Status, contentType, text)
}
