package decision

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// ParseSpec reads a specification in YAML. The name is that of the file, for errors,
// which are *SpecError. Names of outcomes and actions are taken as they are spelled,
// so that yes, no and 1 need no quotes. Actions keep their order.
func ParseSpec(name string, text []byte) (*Spec, error) {
	r := specReader{name, true}
	root, err := yamlDocument(text)
	if err != nil {
		return nil, r.at(node{line: err.Line, column: err.Column}, err)
	}
	return r.read(root)
}

// ParseSpecJSON reads a specification that programs write, which is also the form that
// requests, model files and results have: an object with the members that ParseSpec
// knows.
//
//	{"outcomes": ["good", "bad"],
//	 "costs": {"accept": {"good": 0, "bad": "0.6 * amount"}, "refuse": {"good": 1, "bad": 0}}}
//
// An entry is a number, or a text with what ParseSpec takes for an entry. Names may have
// any characters. Actions keep their order. Errors are *SpecError, without a line: they
// name the action and the outcome.
func ParseSpecJSON(text []byte) (*Spec, error) {
	root, err := jsonDocument(text)
	if err != nil {
		return nil, err
	}
	return specReader{}.read(root)
}

// ParseNumberJSON reads costs of numbers from JSON, in the form of ParseNumberSpec.
func ParseNumberJSON(text []byte) (*NumberCosts, error) {
	root, err := jsonDocument(text)
	if err != nil {
		return nil, err
	}
	return specReader{}.numbers(root)
}

// jsonDocument is the one value of a JSON text.
func jsonDocument(text []byte) (node, error) {
	if !utf8.Valid(text) {
		return node{}, specFault("encode it as UTF-8", "the text is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	root, err := jsonNode(d, 0)
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return root, nil
		}
		err = errors.New("more follows the first value")
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return node{}, specFault("check quotes, commas and brackets", "this is not JSON: %v", err)
}

// UnmarshalJSON is ParseSpecJSON.
func (s *Spec) UnmarshalJSON(text []byte) error {
	loaded, err := ParseSpecJSON(text)
	if err == nil {
		*s = *loaded
	}
	return err
}

// MarshalJSON writes what ParseSpecJSON reads. The outcomes must be known; see Bind.
func (s *Spec) MarshalJSON() ([]byte, error) {
	if s.outcomes == nil {
		return nil, errors.New("decision: the outcomes of the specification have no names; bind it first")
	}
	var b bytes.Buffer
	put := func(before string, value any) {
		text, err := json.Marshal(value)
		if err != nil {
			panic(err) // texts and finite numbers only
		}
		b.WriteString(before)
		b.Write(text)
	}
	put(`{"outcomes":`, s.outcomes)
	if s.costs {
		b.WriteString(`,"costs":{`)
	} else {
		b.WriteString(`,"utilities":{`)
	}
	for a, name := range s.actions {
		put(separator(a), name)
		b.WriteString(`:{`)
		for y, e := range s.entries[a] {
			put(separator(y), s.outcomes[y])
			if x, err := strconv.ParseFloat(e.String(), 64); err == nil && e.Constant() {
				put(":", x)
			} else {
				put(":", e.String())
			}
		}
		b.WriteByte('}')
	}
	b.WriteByte('}')
	if c, ok := s.Ceiling(); ok {
		put(`,"ceiling":`, c)
	}
	if len(s.efforts) > 0 {
		b.WriteString(`,"effort":` + effortJSON(s.actions, s.efforts))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func separator(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

// deepest is how deep values of a specification may be nested; three would do.
const deepest = 20

// jsonNode reads the next value, which is so deep in others.
func jsonNode(d *json.Decoder, depth int) (node, error) {
	if depth > deepest {
		return node{}, fmt.Errorf("values are nested more than %d deep", deepest)
	}
	token, err := d.Token()
	if err != nil {
		return node{}, err
	}
	switch v := token.(type) {
	case json.Delim:
		n := node{kind: aList}
		if v == '{' {
			n.kind = anObject
		}
		for d.More() {
			if n.kind == anObject {
				name, err := jsonNode(d, depth+1)
				if err != nil {
					return n, err
				}
				n.names = append(n.names, name)
			}
			value, err := jsonNode(d, depth+1)
			if err != nil {
				return n, err
			}
			n.values = append(n.values, value)
		}
		_, err := d.Token() // what closes it
		return n, err
	case json.Number:
		return node{kind: aNumber, text: v.String()}, nil
	case string:
		return node{kind: aText, text: v}, nil
	case bool:
		return node{kind: aTruthValue, text: strconv.FormatBool(v)}, nil
	}
	return node{kind: nothing}, nil
}

// yamlDocument is the one document of a text.
func yamlDocument(text []byte) (node, *SpecError) {
	if !utf8.Valid(text) {
		line, column := 1, 1
		for rest := text; len(rest) > 0; {
			r, size := utf8.DecodeRune(rest)
			if r == utf8.RuneError && size == 1 {
				break
			}
			if column++; r == '\n' {
				line, column = line+1, 1
			}
			rest = rest[size:]
		}
		return node{}, &SpecError{Line: line, Column: column, Msg: "the text is not UTF-8", Fix: "save the file as UTF-8"}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var root, more yaml.Node
	err := decoder.Decode(&root)
	if errors.Is(err, io.EOF) || err == nil && (len(root.Content) == 0 || root.Content[0].ShortTag() == "!!null") {
		return node{}, &SpecError{Line: 1, Column: 1, Msg: "the file is empty", Fix: "give outcomes, and costs or utilities"}
	}
	if err != nil {
		return node{}, notYAML(err)
	}
	if err := decoder.Decode(&more); err == nil {
		return node{}, &SpecError{Line: more.Line, Column: more.Column, Msg: "the file holds more than one document", Fix: "keep one"}
	} else if !errors.Is(err, io.EOF) {
		return node{}, notYAML(err)
	}
	return yamlNode(root.Content[0]), nil
}

func yamlNode(y *yaml.Node) node {
	n := node{line: y.Line, column: y.Column, text: y.Value}
	switch y.Kind {
	case yaml.MappingNode:
		n.kind = anObject
		for i := 0; i+1 < len(y.Content); i += 2 {
			n.names, n.values = append(n.names, yamlNode(y.Content[i])), append(n.values, yamlNode(y.Content[i+1]))
		}
	case yaml.SequenceNode:
		n.kind = aList
		for _, item := range y.Content {
			n.values = append(n.values, yamlNode(item))
		}
	case yaml.AliasNode:
		n.kind = aReference
	default:
		n.kind = aText
		switch y.ShortTag() {
		case "!!int", "!!float":
			n.kind = aNumber
		case "!!bool":
			n.kind = aTruthValue
		case "!!null":
			n.kind = nothing
		}
	}
	return n
}

// notYAML takes the line from the parser's message, which has the form
// "yaml: line 3: what is wrong", without the number on the first line.
func notYAML(err error) *SpecError {
	e := &SpecError{Line: 1, Msg: strings.TrimPrefix(err.Error(), "yaml: "), Fix: "check indentation, colons and brackets around there; an entry that begins with a backtick stands in quotes"}
	if rest, ok := strings.CutPrefix(e.Msg, "line "); ok {
		if number, msg, ok := strings.Cut(rest, ": "); ok {
			if line, err := strconv.Atoi(number); err == nil {
				e.Line, e.Msg = line, msg
			}
		}
	}
	if strings.Contains(e.Msg, "cannot start any token") {
		e.Msg, e.Fix = "a tab or a sign such as @ or ` stands where a value begins", "indent with spaces; an entry that begins with a backtick stands in quotes"
	}
	e.Msg = "this is not YAML: " + e.Msg
	return e
}
