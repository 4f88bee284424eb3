package server

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
)

const (
	maxUtility = 1 << 16 // bytes of a utility
	maxActions = 64      // every row of a response has a number for each
	maxName    = 100     // characters of an action's name, which every row may repeat
	// largest is the largest cost or utility, so that differences and sums of rows are
	// finite.
	largest = 1e200
)

// parseUtility reads what actions are worth from a request: an object in the form of
// the specification files, or a text in the short form for two actions. It is bound to
// the outcomes of the model. Null stands for the model's own.
func parseUtility(m *lossep.Model, raw []byte) (*decision.Spec, error) {
	switch jsontext.Value(raw).Kind() {
	case 'n':
		return m.Utility(), nil
	case '"':
		return parseUtilityText(m, string(unquoted(raw)))
	case '{':
		return bindUtility(m, raw, decision.ParseSpecJSON)
	}
	return nil, wrong("utility", `give an object such as {"outcomes": […], "costs": {…}}, or a text such as "fn=5,fp=1"`)
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
		return nil, wrong("utility", "it has more than %d bytes", maxUtility)
	}
	s, err := parse(text)
	if err == nil {
		s, err = m.Bind(s)
	}
	if err != nil {
		return nil, utilityProblem(err)
	}
	if n := len(s.Actions()); n > maxActions {
		return nil, wrong("utility", "there are %d actions, and at most %d can be asked for", n, maxActions)
	}
	for _, name := range s.Actions() {
		if utf8.RuneCountInString(name) > maxName {
			return nil, wrong("utility", "the name of an action has more than %d characters", maxName)
		}
	}
	return s, nil
}

// utilityProblem turns errors about a utility into problems; others stay what they are.
func utilityProblem(err error) error {
	var (
		spec    *decision.SpecError
		table   *decision.TableError
		ceiling *decision.CeilingError
		input   *lossep.InputError
	)
	switch {
	case errors.As(err, &spec):
		// The place is said by the problem; the message names the action and the outcome.
		plain := decision.SpecError{Msg: spec.Msg, Fix: spec.Fix}
		return wrong("utility", "%s", plain.Error())
	case errors.As(err, &input):
		return wrong("utility", "%s", input.Msg)
	case errors.As(err, &table), errors.As(err, &ceiling):
		return wrong("utility", "%s", err)
	}
	return err
}

// entriesOf is what actions cost, or bring, in each of the rows, or in all of them.
func entriesOf(s *decision.Spec, r *rows) ([]decision.Table, error) {
	if len(s.Columns()) == 0 {
		t, err := s.Entries(nil)
		if err != nil {
			return nil, utilityProblem(err)
		}
		return []decision.Table{t}, checkEntries("utility", t)
	}
	tables := make([]decision.Table, r.n)
	for i := range tables {
		column := ""
		t, err := s.Entries(func(name string) (float64, error) {
			column = name
			x := r.values[name][i]
			switch {
			case math.IsNaN(x):
				return 0, errors.New("the row lacks this column, on which the costs depend; give it a number")
			case math.IsInf(x, 0):
				return 0, errors.New("the costs depend on this column, and it is not a finite number here")
			}
			return x, nil
		})
		if err != nil {
			return nil, wrong(rowLocation(i, column), "%s", err)
		}
		if err := checkEntries(rowLocation(i, column), t); err != nil {
			return nil, err
		}
		tables[i] = t
	}
	return tables, nil
}

// checkEntries refuses numbers whose differences could overflow.
func checkEntries(place string, t decision.Table) error {
	for _, row := range t {
		if math.Abs(row[0]) > largest || math.Abs(row[1]) > largest {
			return wrong(place, "costs and utilities beyond %g cannot be compared", largest)
		}
	}
	return nil
}

// storedSpec is the stored form of a specification, which knows the single entries.
type storedSpec struct {
	Outcomes [2]string `json:"outcomes"`
	Kind     string    `json:"kind"` // "costs" or "utilities"
	Actions  []struct {
		Name    string         `json:"name"`
		Entries [2]storedEntry `json:"entries"`
	} `json:"actions"`
	Ceiling *float64 `json:"ceiling"`
}

type storedEntry struct {
	Number float64 `json:"number"`
	Column string  `json:"column"`
}

func stored(s *decision.Spec) (*storedSpec, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var out storedSpec
	return &out, json.Unmarshal(text, &out)
}

// specObject writes a specification in the form that requests have. Its actions keep
// their order, which a map would lose.
func specObject(s *decision.Spec) (json.RawMessage, error) {
	spec, err := stored(s)
	if err != nil {
		return nil, err
	}
	b := append([]byte(`{"outcomes":[`), quoted(spec.Outcomes[0])...)
	b = append(append(b, ','), quoted(spec.Outcomes[1])...)
	b = append(append(b, `],"`...), spec.Kind...)
	b = append(b, `":{`...)
	for a, action := range spec.Actions {
		if a > 0 {
			b = append(b, ',')
		}
		b = append(append(b, quoted(action.Name)...), `:{`...)
		for y, e := range action.Entries {
			if y > 0 {
				b = append(b, ',')
			}
			b = append(append(b, quoted(spec.Outcomes[y])...), ':')
			if e.Column == "" {
				b = appendFloat(b, e.Number)
				continue
			}
			b = append(b, quoted(strconv.FormatFloat(e.Number, 'g', -1, 64)+" * "+e.Column)...)
		}
		b = append(b, '}')
	}
	b = append(b, '}')
	if spec.Ceiling != nil {
		b = appendFloat(append(b, `,"ceiling":`...), *spec.Ceiling)
	}
	return append(b, '}'), nil
}
