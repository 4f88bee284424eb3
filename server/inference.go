package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/server/oip"
	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/server/rows"
	"github.com/lossep/lossep/service"
)

// What is asked by the Open Inference Protocol; package oip has its form.

func (s *Server) serverMetadata(x *exchange) error {
	x.writeJSON(oip.ServerMetadata{Name: "lossep", Version: lossep.Version, Extensions: []string{"binary_tensor_data"}})
	return nil
}

func (s *Server) serverLive(x *exchange) error {
	x.writeJSON(oip.ServerHealth{Live: true, Ready: s.ready()})
	return nil
}

func (s *Server) serverReady(x *exchange) error {
	if !s.ready() {
		return problem.New(http.StatusServiceUnavailable, "the server is about to end")
	}
	return s.serverLive(x)
}

func (s *Server) modelReady(x *exchange) error {
	m, err := s.versionOf(x)
	if err != nil {
		return err
	}
	if !s.ready() {
		return problem.New(http.StatusServiceUnavailable, "the server is about to end")
	}
	x.writeJSON(oip.ModelHealth{Name: m.name, Ready: true})
	return nil
}

func (s *Server) modelMetadata(x *exchange) error {
	m, err := s.versionOf(x)
	if err != nil {
		return err
	}
	meta := oip.ModelMetadata{Name: m.name, Versions: []string{m.version()}, Platform: "lossep_model"}
	if m.numbers != nil {
		meta.Outputs = oip.OutputsOf((&service.NumberDecider{Costs: m.numbers.Costs()}).Fields())
	} else {
		meta.Outputs = oip.OutputsOf(service.DecideFields(m.model.Utility(), 0, false, nil))
	}
	for _, c := range m.description.Columns {
		datatype := "BYTES"
		if c.Kind == string(recipe.Numeric) {
			datatype = "FP64"
		}
		meta.Inputs = append(meta.Inputs, oip.TensorMetadata{Name: c.Name, Datatype: datatype, Shape: []int{-1}})
	}
	x.writeJSON(meta)
	return nil
}

// infer answers with decisions. Of the statuses for what is wrong with a request this
// protocol knows 400 only.
func (s *Server) infer(x *exchange) error {
	m, err := s.versionOf(x)
	if err != nil {
		return err
	}
	// The usual clients name no type, or that of the binary part.
	err = s.withBody(x, func(ctx context.Context, b *body) error { return s.inferRows(ctx, x, m, b) },
		"application/json", "application/octet-stream", "")
	var p *problem.Problem
	if errors.As(err, &p) && p.Status == http.StatusUnprocessableEntity {
		return problem.New(http.StatusBadRequest, "%s", p.Detail)
	}
	return err
}

// inference is what a request asks of a model, by the kind of its outcome.
type inference struct {
	fields  []service.Field
	columns []string // that costs depend on
	decide  func(ctx context.Context, r *rows.Rows) (caseOf func(i int) service.Case, err error)
}

// inferRows reads the rows of a request, has them decided and writes the outputs.
func (s *Server) inferRows(ctx context.Context, x *exchange, m *served, body *body) error {
	// A model has an input for each column, and for each of the others that the entries of
	// a utility can name.
	q, tail, err := oip.Read(x.request.Header.Get(oip.HeaderLength), body.Bytes(), len(m.Recipe().Columns)+2*maxActions)
	if err != nil {
		return err
	}
	ask := s.inferDecisions
	if m.numbers != nil {
		ask = s.inferNumbers
	}
	asked, err := ask(x, m, q)
	if err != nil {
		return err
	}
	outputs, err := q.Wanted(asked.fields)
	if err != nil {
		return err
	}
	reader := m.readers.Get().(*rows.Reader)
	defer m.readers.Put(reader)
	reader.Memory = &body.share
	r, err := q.Rows(ctx, reader, asked.columns, s.config.MaxRows, tail)
	if err != nil {
		return err
	}
	caseOf, err := asked.decide(ctx, r)
	if err != nil {
		return err
	}
	answer := oip.Answer{Model: m.name, Version: m.version(), ID: q.ID, Fields: asked.fields, Cases: make([]service.Case, r.N)}
	for i := range answer.Cases {
		answer.Cases[i] = caseOf(i)
	}
	x.writeTensors(answer.Append(outputs))
	return nil
}

// inferDecisions is what a request asks of a model of categories.
func (s *Server) inferDecisions(x *exchange, m *served, q *oip.InferRequest) (_ *inference, err error) {
	d := &decided{m: m, spec: m.model.Utility()}
	if utility, ok := q.Parameters["utility"]; ok {
		text, _ := utility.(string)
		if d.spec, err = parseUtilityText(m.model, text); err != nil {
			return nil, err
		}
	}
	asked := d.Asked()
	for _, name := range []string{"baseline", "why", "why_without"} {
		if value, ok := q.Parameters[name]; ok {
			if err := optionProblem(asked.Lookup(name).Give(value)); err != nil {
				return nil, err
			}
		}
	}
	if d.baseline, err = service.Baseline(d.spec, d.Baseline); err != nil {
		return nil, optionProblem(err)
	}
	explainer, err := d.Explainer(m.model, d.spec)
	if err != nil {
		return nil, optionProblem(err)
	}
	fields := service.DecideFields(d.spec, d.baseline, false, explainer)
	return &inference{fields, d.spec.AllColumns(), func(ctx context.Context, r *rows.Rows) (func(i int) service.Case, error) {
		d.rows = r
		if d.given, d.ids, err = s.givenTensors(m, q, r); err != nil {
			return nil, err
		}
		if err := s.decideRows(ctx, x, d); err != nil {
			return nil, err
		}
		s.done(x, m, d)
		return func(i int) service.Case { return d.caseOf(i, r.Unusual(i)) }, nil
	}}, nil
}

// givenTensors are the rows of tensors as a body that is recorded has them, and their ids; nil if nothing is recorded.
func (s *Server) givenTensors(m *served, q *oip.InferRequest, r *rows.Rows) (body []byte, ids []string, err error) {
	if s.config.Record == nil {
		return nil, nil, nil
	}
	if body, err = q.Body(r.Memory); err != nil {
		return nil, nil, err
	}
	ids, err = s.idsOf(m, body)
	return body, ids, err
}

// writeTensors writes JSON, followed by binary tensors if there are any.
func (x *exchange) writeTensors(text, tensors []byte) {
	if len(tensors) == 0 {
		x.write(http.StatusOK, "application/json", text)
		return
	}
	x.Header().Set(oip.HeaderLength, strconv.Itoa(len(text)))
	x.write(http.StatusOK, "application/octet-stream", append(text, tensors...))
}

// version is what the protocol calls the model's: another file is another version.
func (m *served) version() string { return m.digest[:12] }

// versionOf finds the model that a request names, in the version that it names, if it
// does.
func (s *Server) versionOf(x *exchange) (*served, error) {
	m, err := s.modelOf(x)
	if err != nil {
		return nil, err
	}
	if v := x.request.PathValue("version"); v != "" && v != m.version() {
		return nil, problem.New(http.StatusNotFound, "the model has the version %s only", m.version())
	}
	return m, nil
}
