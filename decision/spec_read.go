package decision

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lossep/lossep/expr"
)

// node is a value of a specification, whatever it was written in.
type node struct {
	kind         string
	text         string // of a scalar, as it is spelled
	line, column int    // from 1; 0 where there is no such place
	names        []node // of an object
	values       []node // of an object or a list
}

// Kinds of nodes, in words.
const (
	anObject    = "an object"
	aList       = "a list"
	aText       = "a text"
	aNumber     = "a number"
	aTruthValue = "a truth value"
	nothing     = "null"
	aReference  = "a reference (*name)"
)

// specReader makes a specification of nodes. A strict one is for what people write: names must
// not look the same. To programs any text is a name.
type specReader struct {
	file   string
	strict bool
}

// at gives a fault the place of a node.
func (r specReader) at(n node, e *SpecError) *SpecError {
	e.File, e.Line, e.Column = r.file, n.line, n.column
	return e
}

func (r specReader) faultf(n node, fix, format string, args ...any) *SpecError {
	return r.at(n, specFault(fix, format, args...))
}

func (r specReader) read(root node) (*Spec, error) {
	if err := r.object(root, "the utility"); err != nil {
		return nil, err
	}
	var outcomes, table, ceiling, effort *node
	s := &Spec{ceiling: math.NaN()}
	for i, name := range root.names {
		value := &root.values[i]
		switch name.text {
		case "outcomes":
			outcomes = value
		case "costs", "utilities":
			if table != nil {
				return nil, r.faultf(name, "keep one of them", "costs and utilities are both given")
			}
			table, s.costs = value, name.text == "costs"
		case "ceiling":
			ceiling = value
		case "effort":
			effort = value
		default:
			return nil, r.faultf(name, "use outcomes, costs or utilities, ceiling and effort", "%s is unknown", quoted(name.text))
		}
	}
	switch {
	case outcomes == nil:
		return nil, r.faultf(root, outcomesFix, "outcomes are missing")
	case table == nil:
		return nil, r.faultf(root, "give costs or utilities, with an entry for each action", "there is no table")
	}
	if err := r.outcomes(s, *outcomes); err != nil {
		return nil, err
	}
	if err := r.actions(s, *table); err != nil {
		return nil, err
	}
	if err := r.apart(table.names); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, r.at(*table, err)
	}
	if effort != nil {
		var err error
		if s.efforts, err = r.efforts(s.actions, *effort); err != nil {
			return nil, err
		}
	}
	if ceiling == nil {
		return s, nil
	}
	e, err := r.entry(*ceiling, "the ceiling")
	if err != nil {
		return nil, err
	}
	if s.ceiling, err = e.Eval(noValues); err != nil || ceiling.kind != aNumber {
		return nil, r.faultf(*ceiling, "give one number for all cases", "the ceiling %s is not a finite number", quoted(ceiling.text))
	}
	if err := s.checkCeiling(); err != nil {
		return nil, r.at(*ceiling, err)
	}
	return s, nil
}

// object refuses what is not an object of names, each once.
func (r specReader) object(n node, what string) error {
	if n.kind != anObject {
		return r.faultf(n, "give an object of names and values", "%s is %s", what, n.kind)
	}
	seen := make(map[string]bool)
	for i, name := range n.names {
		if err := r.name(name, what+" has a name that"); err != nil {
			return err
		}
		if seen[name.text] {
			return r.faultf(name, "keep one of them", "%s has %s twice", what, quoted(name.text))
		}
		seen[name.text] = true
		if n.values[i].kind == aReference {
			return r.faultf(n.values[i], "write the value out", "references (*name) are not read here")
		}
	}
	return nil
}

// name refuses what is not the name of an outcome or an action.
func (r specReader) name(n node, what string) error {
	switch {
	case n.kind == anObject || n.kind == aList || n.kind == aReference:
		return r.faultf(n, "give a plain name", "%s is %s", what, n.kind)
	case n.text == "":
		return r.faultf(n, "give it a name", "%s is empty", what)
	}
	return nil
}

const outcomesFix = "name them, of two the negative one first, as in [good, bad]"

func (r specReader) outcomes(s *Spec, n node) error {
	if n.kind != aList || len(n.values) < 2 {
		return r.faultf(n, outcomesFix, "outcomes are not a list of two names or more")
	}
	s.place = *r.faultf(n, "", "")
	for y, item := range n.values {
		if err := r.name(item, fmt.Sprintf("outcome %d", y+1)); err != nil {
			return err
		}
		if slices.Contains(s.outcomes, item.text) {
			return r.faultf(item, outcomesFix, "two outcomes are called %s", quoted(item.text))
		}
		s.outcomes = append(s.outcomes, item.text)
	}
	return r.apart(n.values)
}

// apart refuses names that people cannot tell apart, or would not type.
func (r specReader) apart(names []node) error {
	if !r.strict {
		return nil
	}
	for i, n := range names {
		if trouble := nameTrouble(n.text); trouble != "" {
			return r.faultf(n, "give another name", "the name %s %s", quoted(n.text), trouble)
		}
		for _, other := range names[:i] {
			if n.text != other.text && looks(n.text) == looks(other.text) {
				return r.faultf(n, "give them names that can be told apart", "the names %+q and %+q look the same", other.text, n.text)
			}
		}
	}
	return nil
}

func (r specReader) actions(s *Spec, n node) error {
	if err := r.object(n, "the table"); err != nil {
		return err
	}
	for a, name := range n.names {
		what, row := "action "+quoted(name.text), n.values[a]
		if err := r.object(row, what); err != nil {
			return err
		}
		entries, given := make([]expr.Expr, len(s.outcomes)), make([]bool, len(s.outcomes))
		for i, outcome := range row.names {
			y := slices.Index(s.outcomes, outcome.text)
			if y < 0 {
				return r.faultf(outcome, "the outcomes are "+listed(s.outcomes), "%s has the unknown outcome %s", what, quoted(outcome.text))
			}
			var err error
			if entries[y], err = r.entry(row.values[i], what+" under "+quoted(outcome.text)); err != nil {
				return err
			}
			given[y] = true
		}
		if y := slices.Index(given, false); y >= 0 {
			return r.faultf(name, "give an entry for each of "+listed(s.outcomes), "%s has no entry for outcome %s", what, quoted(s.outcomes[y]))
		}
		s.actions, s.entries = append(s.actions, name.text), append(s.entries, entries)
	}
	return nil
}

// entry reads a number, or an expression over columns.
func (r specReader) entry(n node, what string) (expr.Expr, error) {
	if n.kind != aNumber && n.kind != aText {
		return expr.Expr{}, r.faultf(n, "give a number, a column, or arithmetic such as 0.6 * amount", "%s is %s", what, n.kind)
	}
	e, err := parseEntry(n.text)
	if err != nil {
		if strings.Count(n.text, "(") > strings.Count(n.text, ")") && n.line > 0 {
			err.Fix += "; an entry with a comma stands in quotes" // which divides entries in YAML
		}
		return e, r.faultf(n, err.Fix, "%s: %s", what, err.Msg)
	}
	return e, nil
}

// parseEntry reads an entry. What multiplies the columns, or stands alone, is bounded.
func parseEntry(text string) (expr.Expr, *expr.Error) {
	e, err := expr.Parse(text)
	if syntax := new(expr.Error); errors.As(err, &syntax) {
		return e, syntax
	}
	by, rest := e.Scale()
	if e.Constant() && rest != (expr.Expr{}) || !(math.Abs(by) <= largest) {
		return e, &expr.Error{Column: 1, Msg: quoted(text) + " is not a number that can be compared", Fix: fmt.Sprintf("give one up to %g", largest)}
	}
	return e, nil
}
