package decision

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/lossep/lossep/expr"
)

// decimals is what stands behind a decimal comma, which ends a part.
var decimals = regexp.MustCompile(`^[0-9][^=]*$`)

// ParseCosts reads the costs of two actions, "negative" and "positive", from one line,
// such as "fn=5,fp=1" or "fn=0.6*amount,fp=1,tp=0.2": false negatives (negative for a case
// that is positive) and false positives, which cost something, and if need be true ones,
// which cost 0 unless given. Entries are as in ParseSpec, and the names of the outcomes are
// set by Bind. Errors are *SpecError, with the place in the line as their column.
func ParseCosts(text string) (*Spec, error) {
	const form = "write the costs of mistakes as in fn=5,fp=1"
	zero := expr.Number(0)
	s := &Spec{
		costs: true, mistakes: true, ceiling: math.NaN(), actions: []string{"negative", "positive"},
		entries: [][]expr.Expr{{zero, zero}, {zero, zero}},
	}
	places := map[string]*expr.Expr{"tn": &s.entries[0][0], "fn": &s.entries[0][1], "fp": &s.entries[1][0], "tp": &s.entries[1][1]}
	given := make(map[string]bool)
	column := 1
	parts := expr.Split(text)
	for k, part := range parts {
		refuse := func(fix, format string, args ...any) (*Spec, error) {
			return nil, &SpecError{File: "costs", Column: column, Msg: fmt.Sprintf(format, args...), Fix: fix}
		}
		name, value, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		switch {
		case ok && k+1 < len(parts) && decimals.MatchString(parts[k+1]):
			return refuse("write a decimal point, as in fn=0.5,fp=1", "%s has a decimal comma", quoted(part+","+parts[k+1]))
		case !ok:
			return refuse(form, "%s has no =", quoted(part))
		case places[name] == nil:
			return refuse("use fn and fp for false negatives and positives, and if need be tp and tn", "%s is unknown", quoted(name))
		case given[name]:
			return refuse("keep one of them", "%s is given twice", name)
		}
		e, err := parseEntry(value)
		if err != nil {
			return refuse(err.Fix, "%s: %s", name, err.Msg)
		}
		if scale, _ := e.Scale(); name[0] == 'f' && !(scale > 0) {
			return refuse("give a cost above 0", "%s: invalid cost %v", name, e)
		}
		*places[name], given[name] = e, true
		column += utf8.RuneCountInString(part) + 1
	}
	for _, name := range []string{"fn", "fp"} {
		if !given[name] {
			return nil, &SpecError{File: "costs", Msg: name + " is missing", Fix: form}
		}
	}
	if err := s.check(); err != nil {
		err.File = "costs"
		return nil, err
	}
	return s, nil
}
