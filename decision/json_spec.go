package decision

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// ParseSpecJSON reads a specification that programs write: an object with the members
// that ParseSpec knows.
//
//	{"outcomes": ["good", "bad"],
//	 "costs": {"accept": {"good": 0, "bad": "0.6 * amount"}, "refuse": {"good": 1, "bad": 0}}}
//
// An entry is a number, or a text with what ParseSpec takes for an entry. Names may have
// any characters. Actions keep their order. Errors are *SpecError, without a line: they
// name the action and the outcome.
func ParseSpecJSON(text []byte) (*Spec, error) {
	if !utf8.Valid(text) {
		return nil, jsonFault("encode it as UTF-8", "the text is not UTF-8")
	}
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, notJSON(err)
	}
	parts, err := jsonMembers(whole, "the utility")
	if err != nil {
		return nil, err
	}
	var outcomes, table, ceiling json.RawMessage
	s := &Spec{ceiling: math.NaN()}
	for _, part := range parts {
		switch part.name {
		case "outcomes":
			outcomes = part.value
		case "costs", "utilities":
			if table != nil {
				return nil, jsonFault("keep one of them", "costs and utilities are both given")
			}
			table, s.costs = part.value, part.name == "costs"
		case "ceiling":
			ceiling = part.value
		default:
			return nil, jsonFault("use outcomes, costs or utilities, and ceiling", "%s is unknown", quoted(part.name))
		}
	}
	switch {
	case outcomes == nil:
		return nil, jsonFault(`name the two, the negative one first, as in "outcomes": ["good", "bad"]`, "outcomes are missing")
	case table == nil:
		return nil, jsonFault("give costs or utilities, with an object for each action", "there is no table")
	case ceiling != nil && !s.costs:
		return nil, jsonFault("remove it, or give costs", "a ceiling turns costs into utilities, and these are utilities")
	}
	if s.outcomes, err = jsonOutcomes(outcomes); err != nil {
		return nil, err
	}
	if err := s.jsonActions(table); err != nil {
		return nil, err
	}
	if ceiling != nil {
		if jsonKind(ceiling) != "a number" {
			return nil, jsonFault("give one number for all cases", "the ceiling is %s", jsonKind(ceiling))
		}
		e, err := jsonEntry(ceiling, "the ceiling")
		if err != nil {
			return nil, err
		}
		s.ceiling = e.factor
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return s, nil
}

func jsonFault(fix, format string, args ...any) *SpecError {
	return &SpecError{Msg: fmt.Sprintf(format, args...), Fix: fix}
}

func notJSON(err error) *SpecError {
	return jsonFault("check quotes, commas and brackets", "this is not JSON: %v", err)
}

type jsonMember struct {
	name  string
	value json.RawMessage
}

// jsonMembers is the members of an object, in order, without duplicates. The text is
// known to be JSON.
func jsonMembers(text json.RawMessage, what string) ([]jsonMember, error) {
	if kind := jsonKind(text); kind != "an object" {
		return nil, jsonFault("give an object of names and values", "%s is %s", what, kind)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil { // the brace
		return nil, notJSON(err)
	}
	var members []jsonMember
	seen := make(map[string]bool)
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, notJSON(err)
		}
		m := jsonMember{name: key.(string)} // as the keys of all objects
		if err := d.Decode(&m.value); err != nil {
			return nil, notJSON(err)
		}
		if m.name == "" {
			return nil, jsonFault("give it a name", "%s has a member whose name is empty", what)
		}
		if seen[m.name] {
			return nil, jsonFault("keep one of them", "%s has %s twice", what, quoted(m.name))
		}
		seen[m.name] = true
		members = append(members, m)
	}
	return members, nil
}

func jsonOutcomes(text json.RawMessage) (names [2]string, err error) {
	const fix = `name the two, the negative one first, as in ["good", "bad"]`
	var items []json.RawMessage
	if json.Unmarshal(text, &items) != nil || len(items) != 2 {
		return names, jsonFault(fix, "outcomes are not a list of two names")
	}
	for y, item := range items {
		if kind := jsonKind(item); kind != "a text" {
			return names, jsonFault("give its name as a text, in quotes", "outcome %d is %s", y+1, kind)
		}
		if err := json.Unmarshal(item, &names[y]); err != nil || names[y] == "" {
			return names, jsonFault(fix, "outcome %d has no name", y+1)
		}
	}
	if names[0] == names[1] {
		return names, jsonFault(fix, "both outcomes are called %s", quoted(names[0]))
	}
	return names, nil
}

// jsonActions reads the table, when the outcomes and the kind of entries are known.
func (s *Spec) jsonActions(table json.RawMessage) error {
	rows, err := jsonMembers(table, "the table")
	if err != nil {
		return err
	}
	for _, row := range rows {
		action := specAction{name: row.name}
		what := "action " + quoted(action.name)
		cells, err := jsonMembers(row.value, what)
		if err != nil {
			return err
		}
		var given [2]bool
		for _, cell := range cells {
			y := slices.Index(s.outcomes[:], cell.name)
			if y < 0 {
				return jsonFault("the outcomes are "+quotedPair(s.outcomes), "%s has the unknown outcome %s", what, quoted(cell.name))
			}
			given[y] = true
			place := what + " under " + quoted(cell.name)
			e, err := jsonEntry(cell.value, place)
			if err != nil {
				return err
			}
			if msg, fix := e.fault(s.costs); msg != "" {
				return jsonFault(fix, "%s: %s", place, msg)
			}
			action.entries[y] = e
		}
		if y := slices.Index(given[:], false); y >= 0 {
			return jsonFault("give a number or a column for both "+quotedPair(s.outcomes), "%s has no entry for outcome %s", what, quoted(s.outcomes[y]))
		}
		s.actions = append(s.actions, action)
	}
	return nil
}

// jsonEntry reads a number, or a text that says which.
func jsonEntry(text json.RawMessage, place string) (specEntry, error) {
	switch kind := jsonKind(text); kind {
	case "a number":
		x, err := strconv.ParseFloat(string(text), 64)
		if err != nil { // out of range
			return specEntry{}, jsonFault("give a smaller one", "%s: %s is not a finite number", place, quoted(string(text)))
		}
		return specEntry{factor: x + 0}, nil // the sum turns −0 into 0
	case "a text":
		var entry string
		if err := json.Unmarshal(text, &entry); err != nil {
			return specEntry{}, notJSON(err)
		}
		e, msg, fix := parseEntry(entry)
		if msg != "" {
			return specEntry{}, jsonFault(fix, "%s: %s", place, msg)
		}
		return e, nil
	default:
		return specEntry{}, jsonFault(`give a number, or a text with a column or a number times a column, such as "0.6 * amount"`, "%s is %s", place, kind)
	}
}

// jsonKind says what kind of value a text that is JSON holds.
func jsonKind(text json.RawMessage) string {
	switch bytes.TrimLeft(text, " \t\r\n")[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case 't', 'f':
		return "a truth value"
	case 'n':
		return "null"
	}
	return "a number"
}
