package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/record"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/server/rows"
	"github.com/lossep/lossep/service"
)

// OutcomesRequest is what became of cases.
type OutcomesRequest struct {
	Outcomes []CaseOutcome `json:"outcomes" minItems:"1" nullable:"false" doc:"one for each case; a later one corrects an earlier"`
}

// CaseOutcome is what became of a case.
type CaseOutcome struct {
	ID      string  `json:"id" minLength:"1" maxLength:"1000" doc:"of the case, of at most 1000 bytes without control characters: its cell in the column of identifiers, or else the X-Request-Id of the answer that decided it, a hyphen and the number of the row, from 0"`
	Outcome Outcome `json:"outcome" doc:"one of the model's, or a number where these are numbers"`
}

// Outcome is a text, or a number as it is written.
type Outcome string

// UnmarshalJSON implements json.Unmarshaler.
func (o *Outcome) UnmarshalJSON(text []byte) error {
	if kind := jsontext.Value(text).Kind(); kind == '0' {
		*o = Outcome(text)
		return nil
	}
	return json.Unmarshal(text, (*string)(o))
}

// Schema describes it.
func (Outcome) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: "string"}, {Type: "number"}}}
}

// OutcomesResponse is the answer to an OutcomesRequest.
type OutcomesResponse struct {
	Recorded int `json:"recorded" doc:"outcomes that are on the disk"`
}

// outcomes records outcomes.
func (s *Server) outcomes(_ context.Context, x *exchange, m *served, b *body) error {
	if s.config.Record == nil {
		return problem.New(http.StatusConflict, "this server records nothing; start it with a folder to record to")
	}
	var request OutcomesRequest
	if err := problem.Strict("", b.Bytes(), &request); err != nil {
		return err
	}
	if len(request.Outcomes) == 0 {
		return problem.Wrong("outcomes", "the list is empty; give at least one")
	}
	all := make([]record.Outcome, len(request.Outcomes))
	for i, o := range request.Outcomes {
		outcome, wrong := m.outcome(string(o.Outcome))
		switch at := "outcomes[" + strconv.Itoa(i) + "]"; {
		case o.ID == "":
			return problem.Wrong(at+".id", "it is missing; give that of the case")
		case !record.ValidID(o.ID):
			return problem.Wrong(at+".id", record.BadID)
		case wrong != "":
			return problem.Wrong(at+".outcome", "%s", wrong)
		}
		all[i] = record.Outcome{ID: o.ID, Outcome: outcome}
	}
	if err := s.config.Record.Outcomes(m.name, m.Recipe().Target.Column, all); err != nil {
		s.log.LogAttrs(context.WithoutCancel(x.request.Context()), slog.LevelError, "outcomes were not recorded", slog.String("request_id", x.id), slog.String("error", err.Error()))
		return problem.Busy("the outcomes were not recorded, as the server cannot write them, and its log says why under the id " + x.id)
	}
	for _, o := range all {
		label := o.Outcome
		if m.numbers != nil {
			label = "number" // a series for each of them would have no end
		}
		s.metrics.outcomes.WithLabelValues(m.name, label).Inc()
	}
	text, err := json.Marshal(OutcomesResponse{len(all)})
	if err == nil {
		x.write(http.StatusOK, "application/json", text)
	}
	return err
}

// outcome is one of the model as it is recorded, or why it is none.
func (m *served) outcome(text string) (outcome, wrong string) {
	target := &m.Recipe().Target
	if m.numbers == nil {
		y, known := target.Label(text)
		if !known {
			return "", fmt.Sprintf("%q is none of %q", problem.Cut(text), target.Outcomes)
		}
		return target.Outcomes[y], ""
	}
	y, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", fmt.Sprintf("%q is no number", problem.Cut(text))
	}
	if err := m.numbers.CheckOutcome(y); err != nil {
		return "", err.Error()
	}
	return strconv.FormatFloat(y, 'g', -1, 64), "" // as tables have numbers
}

// costColumns are those that the model's own costs are made of.
func (m *served) costColumns() []string {
	if m.numbers != nil {
		return m.numbers.Costs().Columns()
	}
	return m.model.Utility().AllColumns()
}

// checkWithout refuses names of columns that are not to be recorded and no model has.
func (s *Server) checkWithout() error {
	if s.config.Record == nil {
		return nil
	}
	for _, name := range s.config.Record.Without() {
		known := false
		for _, m := range *s.models.Load() {
			r := m.Recipe()
			known = known || slices.ContainsFunc(r.Columns, func(c recipe.Column) bool { return c.Name == name }) ||
				slices.Contains(m.costColumns(), name)
		}
		if !known {
			return fmt.Errorf("no model has the column %q, which is not to be recorded; correct its name, or leave it out: only columns of the models are recorded", name)
		}
	}
	return nil
}

// idsOf are the ids of the rows of a body, if they are to be recorded and have any.
func (s *Server) idsOf(m *served, body []byte) ([]string, error) {
	if s.config.Record == nil {
		return nil, nil
	}
	column := m.Recipe().NameOf(recipe.Identity)
	ids, err := s.config.Record.IDs(body, column)
	if bad := (*record.IDError)(nil); errors.As(err, &bad) {
		return nil, problem.Wrong(rows.Location(bad.Row, column), record.BadID)
	}
	return ids, err
}

// schemaOf is what the records of decisions by a model have in common, by a schema of its outcomes and of costs.
func (s *Server) schemaOf(m *served, schema record.Schema) *record.Schema {
	schema.Model, schema.Digest = m.name, m.digest
	for i := range m.Recipe().Columns {
		if c := &m.Recipe().Columns[i]; c.IsFeature() || c.Kind == recipe.Identity {
			schema.Columns = append(schema.Columns, c.Name)
		}
	}
	return s.config.Record.Schema(schema)
}

// underSpec is the schema of decisions under a utility.
func (s *Server) underSpec(m *served, spec *decision.Spec) *record.Schema {
	return s.schemaOf(m, record.Schema{Outcomes: m.Recipe().Target.Outcomes, Actions: spec.Actions(), Columns: spec.AllColumns()})
}

// underCosts is the schema of decisions on numbers under costs.
func (s *Server) underCosts(m *served, costs *decision.NumberCosts) *record.Schema {
	schema := record.Schema{Numbers: []string{"_cost", "_mean"}, Columns: costs.Columns()}
	if schema.Actions = costs.Actions().Choices; schema.Actions == nil {
		schema.Numbers = append(schema.Numbers, record.Action)
	}
	return s.schemaOf(m, schema)
}

// record hands decisions over to be recorded, with a copy of the body that has their rows.
func (s *Server) record(x *exchange, d *decided) {
	if s.config.Record == nil || x.trial() {
		return
	}
	schema := d.m.schema
	if schema == nil || d.spec != d.m.model.Utility() {
		schema = s.underSpec(d.m, d.spec)
	}
	b := &record.Batch{Schema: schema, Request: x.id, IDs: d.ids, Time: time.Now(), Body: slices.Clone(d.given), Actions: make([]int, len(d.decisions))}
	b.Values = make([]float64, 0, len(d.decisions)*len(schema.Outcomes))
	for i := range d.decisions {
		b.Actions[i] = d.decisions[i].Action
		b.Values = append(b.Values, d.decisions[i].Probabilities...)
	}
	s.config.Record.Add(b)
}

// doneNumbers counts and records decisions on outcomes that are numbers, as done does those on categories.
func (s *Server) doneNumbers(x *exchange, m *served, costs *decision.NumberCosts, body []byte, ids []string, cases []service.NumberCase) {
	s.metrics.count(x, len(cases))
	if x.trial() {
		return
	}
	s.metrics.sumNumbers(m, costs, cases)
	s.recordNumbers(x, m, costs, body, ids, cases)
}

// recordNumbers is record of decisions on outcomes that are numbers.
func (s *Server) recordNumbers(x *exchange, m *served, costs *decision.NumberCosts, body []byte, ids []string, cases []service.NumberCase) {
	if s.config.Record == nil {
		return
	}
	schema := m.schema
	if costs != m.numbers.Costs() {
		schema = s.underCosts(m, costs)
	}
	b := &record.Batch{Schema: schema, Request: x.id, IDs: ids, Time: time.Now(), Body: slices.Clone(body), Actions: make([]int, len(cases))}
	for i := range cases {
		c := &cases[i]
		b.Values = append(b.Values, c.Choice.Expected, c.Mean())
		if schema.Actions == nil {
			b.Values = append(b.Values, c.Choice.Action)
		} else {
			b.Actions[i] = int(c.Choice.Action)
		}
	}
	s.config.Record.Add(b)
}
