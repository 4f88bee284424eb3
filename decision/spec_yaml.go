package decision

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// ParseSpec reads a specification in YAML. The name is that of the file, for errors,
// which are *SpecError. Names of outcomes and actions are taken as they are spelled,
// so that yes, no and 1 need no quotes. Actions keep their order.
func ParseSpec(name string, text []byte) (*Spec, error) {
	p := specParser{file: name}
	root, err := p.document(text)
	if err != nil {
		return nil, err
	}
	parts, err := p.mapping(root, "the file")
	if err != nil {
		return nil, err
	}
	var outcomes, table, ceiling *yaml.Node
	s := &Spec{ceiling: math.NaN()}
	for _, part := range parts {
		switch part.key.Value {
		case "outcomes":
			outcomes = part.value
		case "costs", "utilities":
			if table != nil {
				return nil, p.errorf(part.key, "keep one of them", "costs and utilities are both given")
			}
			table, s.costs = part.value, part.key.Value == "costs"
		case "ceiling":
			ceiling = part.value
		default:
			return nil, p.errorf(part.key, "use outcomes, costs or utilities, and ceiling", "%s is unknown", quoted(part.key.Value))
		}
	}
	switch {
	case outcomes == nil:
		return nil, p.errorf(root, "name the two, the negative one first, as in outcomes: [good, bad]", "outcomes are missing")
	case table == nil:
		return nil, p.errorf(root, "give costs: or utilities:, with a line for each action", "there is no table")
	case ceiling != nil && !s.costs:
		return nil, p.errorf(ceiling, "remove it, or give costs", "a ceiling turns costs into utilities, and these are utilities")
	}
	if err := p.outcomes(s, outcomes); err != nil {
		return nil, err
	}
	if err := p.actions(s, table); err != nil {
		return nil, err
	}
	if ceiling != nil {
		e, err := p.entry(ceiling, "the ceiling")
		if err != nil {
			return nil, err
		}
		if e.column != "" {
			return nil, p.errorf(ceiling, "give one number for all cases", "the ceiling %s is not a number", quoted(ceiling.Value))
		}
		s.ceiling = e.factor
	}
	at := table
	if ceiling != nil {
		at = ceiling // what is left to go wrong then is the ceiling
	}
	if err := s.check(); err != nil {
		err.File, err.Line, err.Column = name, at.Line, at.Column
		return nil, err
	}
	return s, nil
}

// specParser reads the nodes of a YAML file and knows where it is.
type specParser struct{ file string }

func (p *specParser) errorf(at *yaml.Node, fix, format string, args ...any) *SpecError {
	return &SpecError{p.file, max(1, at.Line), max(1, at.Column), fmt.Sprintf(format, args...), fix}
}

// document parses the text, which holds one document that is not empty.
func (p *specParser) document(text []byte) (*yaml.Node, error) {
	if !utf8.Valid(text) {
		valid := 0
		for valid < len(text) {
			r, size := utf8.DecodeRune(text[valid:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			valid += size
		}
		before := text[:valid]
		line := before[bytes.LastIndexByte(before, '\n')+1:]
		return nil, &SpecError{p.file, 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(line), "the text is not UTF-8", "save the file as UTF-8"}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var root yaml.Node
	err := decoder.Decode(&root)
	if errors.Is(err, io.EOF) || err == nil && (len(root.Content) == 0 || root.Content[0].ShortTag() == "!!null") {
		return nil, &SpecError{p.file, 1, 1, "the file is empty", "give outcomes, and costs or utilities"}
	}
	if err != nil {
		return nil, p.notYAML(err)
	}
	var more yaml.Node
	if err := decoder.Decode(&more); err == nil {
		return nil, p.errorf(&more, "keep one", "the file holds more than one document")
	} else if !errors.Is(err, io.EOF) {
		return nil, p.notYAML(err)
	}
	return root.Content[0], nil
}

// notYAML takes the line from the parser's message, which has the form
// "yaml: line 3: what is wrong", without the number on the first line.
func (p *specParser) notYAML(err error) error {
	e := &SpecError{File: p.file, Line: 1, Msg: strings.TrimPrefix(err.Error(), "yaml: "), Fix: "check indentation, colons and brackets around there"}
	if rest, ok := strings.CutPrefix(e.Msg, "line "); ok {
		if number, msg, ok := strings.Cut(rest, ": "); ok {
			if line, err := strconv.Atoi(number); err == nil {
				e.Line, e.Msg = line, msg
			}
		}
	}
	e.Msg = "this is not YAML: " + e.Msg
	return e
}

type specPair struct{ key, value *yaml.Node }

// mapping is the pairs of a YAML mapping, in order, without duplicates.
func (p *specParser) mapping(n *yaml.Node, what string) ([]specPair, error) {
	if n.Kind != yaml.MappingNode {
		return nil, p.errorf(n, "write it as name: value", "%s is not a list of names with values", what)
	}
	var pairs []specPair
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		for _, side := range []*yaml.Node{key, value} {
			if side.Kind == yaml.AliasNode {
				return nil, p.errorf(side, "write the value out", "references (*name) are not read here")
			}
		}
		if key.Kind != yaml.ScalarNode || key.Value == "" {
			return nil, p.errorf(key, "give it a name", "%s has an entry without a plain name", what)
		}
		if seen[key.Value] {
			return nil, p.errorf(key, "keep one of them", "%s has %s twice", what, quoted(key.Value))
		}
		seen[key.Value] = true
		pairs = append(pairs, specPair{key, value})
	}
	return pairs, nil
}

func (p *specParser) outcomes(s *Spec, n *yaml.Node) error {
	const fix = "name the two, the negative one first, as in outcomes: [good, bad]"
	if n.Kind != yaml.SequenceNode || len(n.Content) != 2 {
		return p.errorf(n, fix, "outcomes are not a list of two names")
	}
	s.place = *p.errorf(n, "", "")
	for y, item := range n.Content {
		if item.Kind != yaml.ScalarNode || item.Value == "" {
			return p.errorf(item, fix, "outcome %d has no plain name", y+1)
		}
		s.outcomes[y] = item.Value
	}
	if s.outcomes[0] == s.outcomes[1] {
		return p.errorf(n.Content[1], fix, "both outcomes are called %s", quoted(s.outcomes[0]))
	}
	return nil
}

func (p *specParser) actions(s *Spec, n *yaml.Node) error {
	rows, err := p.mapping(n, "the table")
	if err != nil {
		return err
	}
	for _, row := range rows {
		action := specAction{name: row.key.Value}
		what := "action " + quoted(action.name)
		cells, err := p.mapping(row.value, what)
		if err != nil {
			return err
		}
		var given [2]bool
		for _, cell := range cells {
			y := slices.Index(s.outcomes[:], cell.key.Value)
			if y < 0 {
				return p.errorf(cell.key, "the outcomes are "+quotedPair(s.outcomes), "%s has the unknown outcome %s", what, quoted(cell.key.Value))
			}
			given[y] = true
			if action.entries[y], err = p.entry(cell.value, what+" under "+quoted(cell.key.Value)); err != nil {
				return err
			}
			if msg, fix := action.entries[y].fault(s.costs); msg != "" {
				return p.errorf(cell.value, fix, "%s under %s: %s", what, quoted(cell.key.Value), msg)
			}
		}
		for y, ok := range given {
			if !ok {
				return p.errorf(row.key, "give a number or a column for both "+quotedPair(s.outcomes), "%s has no entry for outcome %s", what, quoted(s.outcomes[y]))
			}
		}
		s.actions = append(s.actions, action)
	}
	if len(s.actions) < 2 {
		return p.errorf(n, "give at least 2 to choose from", "the number of actions is %d", len(s.actions))
	}
	return nil
}

// entry reads a scalar as an entry of the table.
func (p *specParser) entry(n *yaml.Node, what string) (specEntry, error) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return specEntry{}, p.errorf(n, "give a number, a column, or number * column", "%s is not a number or a column", what)
	}
	e, msg, fix := parseEntry(n.Value)
	if msg != "" {
		return specEntry{}, p.errorf(n, fix, "%s: %s", what, msg)
	}
	return e, nil
}
