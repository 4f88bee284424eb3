package decision

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lossep/lossep/expr"
)

// ParseCostMatrix reads costs from a CSV matrix: the first line names the outcomes, after a
// cell of any text, and every further line an action and what it costs under each of them.
//
//	action,home,ward,icu
//	discharge,0,5,100
//	admit,1,0,20
//
// Entries are as in ParseSpec. The name is that of the file, for errors, which are
// *SpecError with the place in the file.
func ParseCostMatrix(name string, text []byte) (*Spec, error) {
	s := &Spec{costs: true, ceiling: math.NaN()}
	fault := func(line, column int, fix, format string, args ...any) error {
		return &SpecError{File: name, Line: line, Column: column, Msg: fmt.Sprintf(format, args...), Fix: fix}
	}
	if !utf8.Valid(text) {
		return nil, fault(1, 1, "save the file as UTF-8", "the text is not UTF-8")
	}
	const form = "the first line names the outcomes, and each further one an action and its costs"
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	r.FieldsPerRecord, r.TrimLeadingSpace = -1, true
	if head, _, _ := bytes.Cut(text, []byte("\n")); bytes.Count(head, []byte(";")) > bytes.Count(head, []byte(",")) {
		r.Comma = ';'
	}
	var outcomes, actions []node
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if syntax := new(csv.ParseError); errors.As(err, &syntax) {
			return nil, fault(syntax.Line, syntax.Column, form, "this is no CSV: %v", syntax.Err)
		}
		line, _ := r.FieldPos(0)
		for i := range record {
			record[i] = strings.TrimSpace(record[i])
		}
		switch {
		case s.outcomes == nil && len(record) < 3:
			return nil, fault(line, 1, form, "the costs have fewer than two outcomes")
		case s.outcomes == nil:
			for i, outcome := range record[1:] {
				if outcome == "" || slices.Contains(record[1:1+i], outcome) {
					return nil, fault(line, i+2, "give each outcome its own name", "the name of outcome %s is empty or used twice", quoted(outcome))
				}
				outcomes = append(outcomes, node{text: outcome, line: line, column: i + 2})
			}
			s.outcomes = slices.Clone(record[1:])
			s.place = SpecError{File: name, Line: line}
			continue
		case len(record) != len(s.outcomes)+1:
			return nil, fault(line, len(record), "give a cost for each of "+listed(s.outcomes), "action %s has %d costs for %d outcomes", quoted(record[0]), len(record)-1, len(s.outcomes))
		}
		row := make([]expr.Expr, len(s.outcomes))
		for y, cell := range record[1:] {
			var bad *expr.Error
			if row[y], bad = parseEntry(cell); bad != nil {
				return nil, fault(line, y+2, bad.Fix, "action %s under %s: %s", quoted(record[0]), quoted(s.outcomes[y]), bad.Msg)
			}
		}
		s.actions, s.entries = append(s.actions, record[0]), append(s.entries, row)
		actions = append(actions, node{text: record[0], line: line, column: 1})
	}
	if s.outcomes == nil {
		return nil, fault(1, 1, form, "the file is empty")
	}
	for _, names := range [][]node{outcomes, actions} {
		if err := (specReader{name, true}).apart(names); err != nil {
			return nil, err
		}
	}
	if err := s.check(); err != nil {
		err.File = name
		return nil, err
	}
	return s, nil
}

// exampleMatrix is costs of outcomes as ParseCostMatrix reads them: an action for each outcome,
// which costs 1 under every other.
func exampleMatrix(outcomes []string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(append([]string{"action"}, outcomes...)) // a Builder takes everything
	for a, action := range outcomes {
		row := []string{action}
		for y := range outcomes {
			row = append(row, map[bool]string{true: "0", false: "1"}[y == a])
		}
		_ = w.Write(row)
	}
	w.Flush()
	return b.String()
}
