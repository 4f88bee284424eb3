package server

import (
	"context"
	"errors"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/server/rows"
)

// ValueRequest asks what it would be worth to know more about cases before acting.
type ValueRequest struct {
	Rows      []Row    `json:"rows" minItems:"1" nullable:"false" doc:"the cases"`
	Utility   Utility  `json:"utility,omitempty"`
	Calibrate bool     `json:"calibrate,omitempty" doc:"calibrate the approximation to the utility first (Loss-EP), as for decisions"`
	Ask       []string `json:"ask,omitempty" maxItems:"8" doc:"columns that could be measured; rows may lack them, or have null there"`
	Labels    bool     `json:"labels,omitempty" doc:"say what the label of each row would be worth to decisions on all of them; of 300 rows at most"`
}

// ValueResponse is the answer to a ValueRequest.
type ValueResponse struct {
	Model        string   `json:"model"`
	ModelVersion string   `json:"model_version" doc:"changes when the model is replaced"`
	Outcome      string   `json:"outcome,omitempty" doc:"the positive one of two, whose probability is given"`
	Outcomes     []string `json:"outcomes,omitempty" doc:"if there are more than two, whose probabilities are given in this order"`
	Actions      []string `json:"actions"`
	Costs        bool     `json:"costs" doc:"whether the utility is one of costs; worths are what would be saved, or else gained"`
	Ask          []string `json:"ask,omitempty" doc:"the columns asked about"`
	WorthOutcome float64  `json:"worth_outcome" doc:"of the outcome, on average over the rows"`
	Values       []Value  `json:"values" doc:"one for each row"`
	Ignored      []string `json:"ignored,omitempty" doc:"columns that the model does not know"`
	Notes        []string `json:"notes,omitempty" doc:"columns that are far outside the training rows in most rows, as with another unit"`
}

// Value is what it would be worth to know more about a case.
type Value struct {
	Action       string    `json:"action" doc:"what to do without knowing more"`
	ActionIndex  int       `json:"action_index" doc:"the number of the action, from 0"`
	Probability  *float64  `json:"probability,omitempty" doc:"of the positive outcome of two"`
	All          []float64 `json:"probabilities,omitempty" doc:"of each of more than two outcomes"`
	WorthOutcome float64   `json:"worth_outcome" doc:"of knowing the outcome: the most that any information can be worth"`
	WorthColumns []float64 `json:"worth_columns,omitempty" doc:"of measuring each of the columns asked about, before what that costs"`
	WorthLabel   *float64  `json:"worth_label,omitempty" doc:"of its label to decisions on all rows, per row"`
}

const (
	maxAsked    = 8   // columns of a request, each of which takes fifty predictions a row
	maxLabelled = 300 // rows of a request about labels, whose work grows with their square
)

func (s *Server) value(ctx context.Context, x *exchange, m *served, b *body) error {
	var ask lossep.Ask
	calibrate := false
	fields := rows.Fields{
		"calibrate": func(v []byte) error { return problem.Strict("calibrate", v, &calibrate) },
		"ask":       func(v []byte) error { return problem.Strict("ask", v, &ask.Columns) },
		"labels":    func(v []byte) error { return problem.Strict("labels", v, &ask.Labels) },
	}
	r, spec, err := s.readOpenRows(ctx, m, b, fields)
	if err != nil {
		return err
	}
	if err := m.checkAsk(ask, r, spec); err != nil {
		return err
	}
	if err := takeActions(r, spec); err != nil {
		return err
	}
	stakes, err := stakesOf(spec, r)
	if err != nil {
		return err
	}
	ctx = s.long(ctx, x)
	if calibrate {
		if m, err = m.calibrated.get(ctx, spec); err != nil {
			return err
		}
	}
	if err := s.computations.enter(ctx); err != nil {
		return problem.Late(ctx, err)
	}
	defer s.computations.leave()
	worth, err := m.worthOf(ctx, r, ask, stakes)
	if err != nil {
		return err
	}
	s.metrics.count(x, r.N)
	x.writeJSON(m.valueResponse(r, spec, ask, worth))
	return nil
}

// readOpenRows reads rows that may lack the columns they are asked about, which may be named
// behind them.
func (s *Server) readOpenRows(ctx context.Context, m *served, b *body, fields rows.Fields) (*rows.Rows, *decision.Spec, error) {
	var columns []string
	reader := m.readers.Get().(*rows.Reader)
	raw := reader.Field(b.Bytes(), "ask")
	m.readers.Put(reader)
	// What is wrong with the columns is said when the body is read.
	if raw == nil || problem.Strict("ask", raw, &columns) != nil || len(columns) > maxAsked {
		return m.readRows(ctx, b, fields, false)
	}
	reader = rows.NewReader(m.model.Recipe().WithOpen(columns...), s.config.MaxRows)
	return m.readRowsBy(ctx, reader, b, fields, false)
}

// checkAsk refuses questions that would take too long, or have no answer.
func (m *served) checkAsk(ask lossep.Ask, r *rows.Rows, spec *decision.Spec) error {
	if len(ask.Columns) > maxAsked {
		return problem.Wrong("ask", "%d columns are more than %d; ask about the others in another request", len(ask.Columns), maxAsked)
	}
	for i, column := range ask.Columns {
		if slices.Contains(ask.Columns[:i], column) {
			return problem.Wrong("ask", "%q is asked about twice; name it once", problem.Cut(column))
		}
	}
	if err := m.model.CheckAsk(ask, spec); err != nil {
		return wrongAsk(err)
	}
	if ask.Labels && r.N > maxLabelled {
		return problem.Wrong("labels", "%d rows are more than %d; send a sample of them, or ask lossep value", r.N, maxLabelled)
	}
	return r.Memory.Take(m.model.WorthBytes(r.N, ask))
}

// worthOf is what it would be worth to know more about the rows.
func (m *served) worthOf(ctx context.Context, r *rows.Rows, ask lossep.Ask, stakes []decision.Stakes) ([]lossep.Worth, error) {
	worth, err := m.model.WorthOf(ctx, mat.NewDense(r.N, len(r.Features)/r.N, r.Features), ask, stakes...)
	var far *lossep.FarError
	switch {
	case errors.As(err, &far):
		return nil, problem.Wrong(rows.Location(far.Row, far.Column), "%s; %s", far.Problem(), far.Fix())
	case errors.As(err, new(*lossep.InputError)):
		return nil, wrongAsk(err)
	case err != nil:
		return nil, problem.Late(ctx, err)
	}
	return worth, nil
}

// wrongAsk is a question that the model has no answer to.
func wrongAsk(err error) error {
	var input *lossep.InputError
	if !errors.As(err, &input) {
		return err
	}
	what := "ask"
	if input.What == "label" {
		what = "labels"
	}
	return problem.Wrong(what, "%s", input.Msg)
}

// valueResponse is what is answered.
func (m *served) valueResponse(r *rows.Rows, spec *decision.Spec, ask lossep.Ask, worth []lossep.Worth) *ValueResponse {
	t := m.description.Target
	out := &ValueResponse{
		Model: m.name, ModelVersion: m.version(), Outcome: t.Outcome, Outcomes: t.Outcomes,
		Actions: spec.Actions(), Costs: spec.Costs(), Ask: ask.Columns, Values: make([]Value, len(worth)), Ignored: r.Ignored, Notes: m.notes(r),
	}
	for i := range worth {
		w := &worth[i]
		v := Value{Action: out.Actions[w.Action], ActionIndex: w.Action, WorthOutcome: w.Outcome, WorthColumns: w.Columns}
		if len(w.Probabilities) == 2 {
			v.Probability = &w.Probabilities[1]
		} else {
			v.All = w.Probabilities
		}
		if ask.Labels {
			v.WorthLabel = &w.Label
		}
		out.WorthOutcome += w.Outcome / float64(len(worth))
		out.Values[i] = v
	}
	return out
}
