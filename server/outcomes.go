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

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/record"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/server/rows"
)

// OutcomesRequest is what became of cases.
type OutcomesRequest struct {
	Outcomes []CaseOutcome `json:"outcomes" minItems:"1" nullable:"false" doc:"one for each case; a later one corrects an earlier"`
}

// CaseOutcome is what became of a case.
type CaseOutcome struct {
	ID      string `json:"id" minLength:"1" maxLength:"1000" doc:"of the case, of at most 1000 bytes without control characters: its cell in the column of identifiers, or else the X-Request-Id of the answer that decided it, a hyphen and the number of the row, from 0"`
	Outcome string `json:"outcome" doc:"one of the model's"`
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
	target := &m.model.Recipe().Target
	all := make([]record.Outcome, len(request.Outcomes))
	for i, o := range request.Outcomes {
		y, known := target.Label(o.Outcome)
		switch at := "outcomes[" + strconv.Itoa(i) + "]"; {
		case o.ID == "":
			return problem.Wrong(at+".id", "it is missing; give that of the case")
		case !record.ValidID(o.ID):
			return problem.Wrong(at+".id", record.BadID)
		case !known:
			return problem.Wrong(at+".outcome", "%q is none of %q", problem.Cut(o.Outcome), target.Outcomes)
		}
		all[i] = record.Outcome{ID: o.ID, Outcome: target.Outcomes[y]}
	}
	if err := s.config.Record.Outcomes(m.name, target.Column, all); err != nil {
		s.log.LogAttrs(context.WithoutCancel(x.request.Context()), slog.LevelError, "outcomes were not recorded", slog.String("request_id", x.id), slog.String("error", err.Error()))
		return problem.Busy("the outcomes were not recorded, as the server cannot write them, and its log says why under the id " + x.id)
	}
	text, err := json.Marshal(OutcomesResponse{len(all)})
	if err == nil {
		x.write(http.StatusOK, "application/json", text)
	}
	return err
}

// checkWithout refuses names of columns that are not to be recorded and no model has.
func (s *Server) checkWithout() error {
	if s.config.Record == nil {
		return nil
	}
	for _, name := range s.config.Record.Without() {
		known := false
		for _, m := range *s.models.Load() {
			r := m.model.Recipe()
			known = known || slices.ContainsFunc(r.Columns, func(c recipe.Column) bool { return c.Name == name }) ||
				slices.Contains(m.model.Utility().AllColumns(), name)
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
	column := m.model.Recipe().NameOf(recipe.Identity)
	ids, err := s.config.Record.IDs(body, column)
	if bad := (*record.IDError)(nil); errors.As(err, &bad) {
		return nil, problem.Wrong(rows.Location(bad.Row, column), record.BadID)
	}
	return ids, err
}

// schemaOf is what the records of decisions by a model and a utility have in common.
func (s *Server) schemaOf(m *served, spec *decision.Spec) *record.Schema {
	r := m.model.Recipe()
	schema := record.Schema{Model: m.name, Digest: m.digest, Outcomes: r.Target.Outcomes, Actions: spec.Actions(), Columns: spec.AllColumns()}
	for i := range r.Columns {
		if c := &r.Columns[i]; c.IsFeature() || c.Kind == recipe.Identity {
			schema.Columns = append(schema.Columns, c.Name)
		}
	}
	return s.config.Record.Schema(schema)
}

// record hands decisions over to be recorded, with a copy of the body that has their rows.
func (s *Server) record(x *exchange, d *decided) {
	if s.config.Record == nil {
		return
	}
	schema := d.m.schema
	if schema == nil || d.spec != d.m.model.Utility() {
		schema = s.schemaOf(d.m, d.spec)
	}
	b := &record.Batch{Schema: schema, Request: x.id, IDs: d.ids, Time: time.Now(), Body: slices.Clone(d.given), Actions: make([]int, len(d.decisions))}
	b.Probabilities = make([]float64, 0, len(d.decisions)*len(schema.Outcomes))
	for i := range d.decisions {
		b.Actions[i] = d.decisions[i].Action
		b.Probabilities = append(b.Probabilities, d.decisions[i].Probabilities...)
	}
	s.config.Record.Add(b)
}
