package decision

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// The stored form of a Spec.
type (
	specJSON struct {
		Outcomes []string     `json:"outcomes,omitempty"`
		Kind     string       `json:"kind"` // "costs" or "utilities"
		Actions  []actionJSON `json:"actions"`
		Ceiling  *float64     `json:"ceiling,omitempty"`
	}
	actionJSON struct {
		Name    string      `json:"name"`
		Entries []entryJSON `json:"entries"` // in the order of the outcomes
	}
	entryJSON struct {
		Number *float64 `json:"number"`
		Column string   `json:"column,omitempty"`
	}
)

// MarshalJSON stores the specification.
func (s *Spec) MarshalJSON() ([]byte, error) {
	stored := specJSON{Kind: "utilities"}
	if s.costs {
		stored.Kind = "costs"
	}
	if s.bound() {
		stored.Outcomes = s.outcomes[:]
	}
	if c, ok := s.Ceiling(); ok {
		stored.Ceiling = &c
	}
	for _, a := range s.actions {
		row := actionJSON{Name: a.name}
		for _, e := range a.entries {
			row.Entries = append(row.Entries, entryJSON{&e.factor, e.column})
		}
		stored.Actions = append(stored.Actions, row)
	}
	return json.Marshal(stored)
}

// UnmarshalJSON loads a stored specification and checks it as if it were new.
func (s *Spec) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var stored specJSON
	if err := decoder.Decode(&stored); err != nil {
		return fmt.Errorf("stored utility: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return &SpecError{File: "stored utility", Msg: "more follows the object"}
	}
	refuse := func(format string, args ...any) error {
		return &SpecError{File: "stored utility", Msg: fmt.Sprintf(format, args...), Fix: "save it again"}
	}
	loaded := Spec{costs: stored.Kind == "costs", ceiling: math.NaN()}
	if !loaded.costs && stored.Kind != "utilities" {
		return refuse("the kind %s is not costs or utilities", quoted(stored.Kind))
	}
	switch len(stored.Outcomes) {
	case 0:
	case 2:
		if slices.Contains(stored.Outcomes, "") {
			return refuse("an outcome has no name")
		}
		loaded.outcomes = [2]string(stored.Outcomes)
	default:
		return refuse("there are %d outcomes and not 2", len(stored.Outcomes))
	}
	if stored.Ceiling != nil {
		loaded.ceiling = *stored.Ceiling
	}
	for _, row := range stored.Actions {
		action := specAction{name: row.Name}
		if len(row.Entries) != 2 {
			return refuse("action %s has %d entries and not 2", quoted(row.Name), len(row.Entries))
		}
		for y, e := range row.Entries {
			if e.Number == nil {
				return refuse("action %s has an entry without a number", quoted(row.Name))
			}
			action.entries[y] = specEntry{*e.Number, e.Column}
		}
		loaded.actions = append(loaded.actions, action)
	}
	if err := loaded.check(); err != nil {
		err.File = "stored utility"
		return err
	}
	*s = loaded
	return nil
}
