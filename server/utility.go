package server

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/server/rows"
)

const (
	maxUtility = 1 << 16 // bytes of a utility
	maxActions = 64      // every row of a response has a number for each
	maxName    = 100     // characters of an action's name, which every row may repeat
)

// parseUtility reads what actions are worth from a request: an object in the form of
// the specification files, or a text in the short form for two actions. It is bound to
// the outcomes of the model. Null stands for the model's own.
func parseUtility(m *lossep.Model, raw []byte) (*decision.Spec, error) {
	switch jsontext.Value(raw).Kind() {
	case 'n':
		return m.Utility(), nil
	case '"':
		return parseUtilityText(m, string(rows.Unquoted(raw)))
	case '{':
		return bindUtility(m, raw, decision.ParseSpecJSON)
	}
	return nil, problem.Wrong("utility", `give an object such as {"outcomes": […], "costs": {…}}, or a text such as "fn=5,fp=1"`)
}

// parseUtilityText reads the short form, or the long one in quotes: parameters of the
// inference protocol are no objects.
func parseUtilityText(m *lossep.Model, text string) (*decision.Spec, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		return bindUtility(m, []byte(text), decision.ParseSpecJSON)
	}
	return bindUtility(m, []byte(text), func(text []byte) (*decision.Spec, error) { return decision.ParseCosts(string(text)) })
}

// bindUtility parses a utility of bounded size and binds it to the outcomes of the
// model.
func bindUtility(m *lossep.Model, text []byte, parse func([]byte) (*decision.Spec, error)) (*decision.Spec, error) {
	if len(text) > maxUtility {
		return nil, problem.Wrong("utility", "it has more than %d bytes", maxUtility)
	}
	s, err := parse(text)
	if err == nil {
		s, err = m.Bind(s)
	}
	if err != nil {
		return nil, utilityProblem(err)
	}
	if !slices.Equal(s.Actions(), m.Utility().Actions()) {
		if err := s.CheckActions(); err != nil {
			return nil, utilityProblem(err)
		}
	}
	if n := len(s.Actions()); n > maxActions {
		return nil, problem.Wrong("utility", "there are %d actions, and at most %d can be asked for", n, maxActions)
	}
	for _, name := range s.Actions() {
		if utf8.RuneCountInString(name) > maxName {
			return nil, problem.Wrong("utility", "the name of an action has more than %d characters", maxName)
		}
	}
	return s, nil
}

// utilityProblem turns errors about a utility into problems; others stay what they are.
func utilityProblem(err error) error {
	var (
		spec  *decision.SpecError
		table *decision.TableError
		input *lossep.InputError
	)
	switch {
	case errors.As(err, &spec):
		// The place is said by the problem; the message names the action and the outcome.
		plain := decision.SpecError{Msg: spec.Msg, Fix: spec.Fix}
		return problem.Wrong("utility", "%s", plain.Error())
	case errors.As(err, &input):
		return problem.Wrong("utility", "%s", input.Msg)
	case errors.As(err, &table):
		return problem.Wrong("utility", "%s", err)
	}
	return err
}

// stakesOf is what is at stake in each of the rows, or in all of them.
func stakesOf(s *decision.Spec, r *rows.Rows) ([]decision.Stakes, error) {
	cases, err := s.Cases(r.N, r.Value)
	var refused *problem.Problem
	var one *decision.CaseError
	switch {
	case errors.As(err, &refused):
		return nil, refused
	case errors.As(err, &one) && len(s.Columns()) > 0:
		return nil, problem.Wrong(rows.Location(one.Case, ""), "%s", err)
	}
	return cases, utilityProblem(err)
}
