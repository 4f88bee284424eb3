package server

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/jsonappend"
	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/server/rows"
	"github.com/lossep/lossep/service"
)

// ValueRequest asks what it would be worth to know more about cases before acting: rows, costs,
// and the options that all front ends have. Of ask there are at most 8, and with labels at most 300
// rows.
type ValueRequest struct{}

// Schema describes it.
func (ValueRequest) Schema(r huma.Registry) *huma.Schema {
	s := requestSchema(r, new(service.Worth).Asked())
	s.Properties["ask"].MaxItems = new(maxAsked)
	return s
}

// ValueResponse is the answer to a ValueRequest.
type ValueResponse struct {
	Model        string    `json:"model"`
	ModelVersion string    `json:"model_version" doc:"changes when the model is replaced"`
	Method       string    `json:"method" doc:"how the posterior was approximated"`
	Outcome      string    `json:"outcome,omitempty" doc:"the positive one of two, whose probability is given"`
	Outcomes     []string  `json:"outcomes,omitempty" doc:"if there are more than two, whose probabilities are given in this order"`
	Prevalence   float64   `json:"prevalence,omitempty" doc:"how frequent it is in the population that the answers are for, if not as in the training rows"`
	Population   []float64 `json:"population,omitempty" doc:"the shares of more than two outcomes in the population that the answers are for, if not as in the training rows"`
	Actions      []string  `json:"actions"`
	Costs        bool      `json:"costs" doc:"whether the utility is one of costs; worths are what would be saved, or else gained"`
	Ask          []string  `json:"ask,omitempty" doc:"the columns asked about"`
	WorthOutcome float64   `json:"worth_outcome" doc:"of the outcome, on average over the rows"`
	Values       []Value   `json:"values" doc:"one for each row"`
	Ignored      []string  `json:"ignored,omitempty" doc:"columns that the model does not know"`
	Notes        []string  `json:"notes,omitempty" doc:"columns that are far outside the training rows in most rows, as with another unit"`
}

// Value is what it would be worth to know more about a case.
type Value struct {
	ID           string    `json:"id,omitempty" doc:"what names the case, if the request does: its cell of the model's column of identifiers, or else of id"`
	Action       string    `json:"action" doc:"what to do without knowing more"`
	ActionIndex  int       `json:"action_index" doc:"the number of the action, from 0"`
	Probability  *float64  `json:"probability,omitempty" doc:"of the positive outcome of two"`
	All          []float64 `json:"probabilities,omitempty" doc:"of each of more than two outcomes"`
	WorthOutcome float64   `json:"worth_outcome" doc:"of knowing the outcome: the most that any information can be worth"`
	WorthColumns []float64 `json:"worth_columns,omitempty" doc:"of measuring each of the columns asked about, less what that costs if it was given"`
	WorthLabel   *float64  `json:"worth_label,omitempty" doc:"of its label to decisions on all rows, per row"`
	Unusual      []string  `json:"unusual" doc:"columns in which the case is unlike the training rows: a category that they did not have, or a number outside theirs by more than half their range, ten times as near to zero as all of them, or missing where none of them was"`
}

const (
	maxAsked    = 8   // columns of a request, each of which takes fifty predictions a row
	maxLabelled = 300 // rows of a request about labels, whose work grows with their square
)

func (s *Server) value(ctx context.Context, x *exchange, m *served, b *body) error {
	var q service.Worth
	r, spec, err := s.readOpenRows(ctx, m, b, q.Asked())
	if err != nil {
		return err
	}
	if err := m.checkAsk(q.Ask, r, spec); err != nil {
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
	if q.Calibrate {
		if m, err = m.calibrated.get(ctx, spec); err != nil {
			return err
		}
	}
	if err := s.computations.enter(ctx); err != nil {
		return problem.Late(ctx, err)
	}
	defer s.computations.leave()
	worth, err := m.worthOf(ctx, r, q.Ask, stakes)
	if err != nil {
		return err
	}
	s.metrics.count(x, r.N)
	x.write(http.StatusOK, "application/json", m.appendWorth(r, spec, &q, worth))
	return nil
}

// readOpenRows reads rows that may lack the columns whose value is asked for, which may be named
// behind them.
func (s *Server) readOpenRows(ctx context.Context, m *served, b *body, options service.Options) (*rows.Rows, *decision.Spec, error) {
	return m.readRowsBy(ctx, s.openReader(m, b), b, optionFields(options), false)
}

// openReader reads rows that may lack the columns whose value is asked for.
func (s *Server) openReader(m *served, b *body) *rows.Reader {
	reader := m.readers.Get().(*rows.Reader)
	raw := reader.Field(b.Bytes(), "ask")
	m.readers.Put(reader)
	// What is wrong with the columns is said when the body is read.
	var ahead service.Worth
	if raw == nil || optionFields(ahead.Asked())["ask"](raw) != nil || len(ahead.Ask.Columns) > maxAsked {
		ahead.Ask.Columns = nil
	}
	return rows.NewReader(m.Recipe().WithOpen(ahead.Ask.Columns...), s.config.MaxRows)
}

// NumberValueResponse is the answer to a ValueRequest where the outcome is a number.
type NumberValueResponse struct {
	Model        string        `json:"model"`
	ModelVersion string        `json:"model_version" doc:"changes when the model is replaced"`
	Method       string        `json:"method"`
	Outcome      string        `json:"outcome" doc:"the column that is decided about"`
	Costs        string        `json:"costs" doc:"what actions cost"`
	Ask          []string      `json:"ask,omitempty" doc:"the columns asked about"`
	WorthOutcome float64       `json:"worth_outcome" doc:"of the outcome, on average over the rows"`
	Values       []NumberValue `json:"values" doc:"one for each row"`
	Ignored      []string      `json:"ignored,omitempty" doc:"columns that the model does not know"`
	Notes        []string      `json:"notes,omitempty" doc:"columns that are far outside the training rows in most rows, as with another unit"`
}

// NumberValue is what it would be worth to know more about a case.
type NumberValue struct {
	ID           string    `json:"id,omitempty" doc:"what names the case, if the request does: its cell of the model's column of identifiers, or else of id"`
	Action       any       `json:"action" doc:"what to do without knowing more: a number, or the name of one of named actions"`
	ActionIndex  *int      `json:"action_index,omitempty" doc:"the number of a named action, from 0"`
	Cost         float64   `json:"cost" doc:"what it is expected to cost"`
	Mean         float64   `json:"mean" doc:"the expected outcome"`
	WorthOutcome float64   `json:"worth_outcome" doc:"of knowing the outcome: the most that any information can be worth"`
	WorthColumns []float64 `json:"worth_columns,omitempty" doc:"of measuring each of the columns asked about, less what that costs if it was given"`
	WorthLabel   *float64  `json:"worth_label,omitempty" doc:"of its outcome, if it were learned from, to decisions on all rows, per row"`
	Unusual      []string  `json:"unusual" doc:"columns in which the case is unlike the training rows"`
}

// anyValue is the answer to a ValueRequest.
type anyValue struct{}

// Schema describes both forms.
func (anyValue) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[ValueResponse](), true, ""), r.Schema(reflect.TypeFor[NumberValueResponse](), true, ""),
	}}
}

// valueNumbers is value where the outcome is a number.
func (s *Server) valueNumbers(ctx context.Context, x *exchange, m *served, b *body) error {
	var q service.Worth
	r, costs, cases, err := m.numberRowsBy(ctx, s.openReader(m, b), b, optionFields(q.Asked()), true)
	if err == nil {
		err = boundAsk(q.Ask, r)
	}
	switch {
	case err != nil:
		return err
	case q.Calibrate:
		return problem.Wrong("calibrate", "it is for outcomes that are categories, and that of this model is a number; leave it out")
	}
	v, err := service.NewNumberValuer(m.numbers, costs, q.Ask)
	if err != nil {
		return wrongAsk(err)
	}
	worth, stakes := make([]*lossep.Worth, len(cases)), make([]decision.Stake, len(cases))
	if q.Ask.Labels {
		if err := r.Memory.Take(m.numbers.LabelBytes(r.N)); err != nil {
			return err
		}
	}
	err = s.eachStake(ctx, x, costs, r, len(cases), func(ctx context.Context, i int, stake decision.Stake, at func(error) error) (err error) {
		stakes[i] = stake
		if worth[i], err = v.Value(ctx, stake, r.Matrix(i, i+1).RawRowView(0), &cases[i], at); err != nil || i+1 < r.N {
			return err
		}
		labels, err := v.Labels(ctx, r.Matrix(0, r.N), stakes)
		for k, x := range labels {
			worth[k].Label = x
		}
		return wrongAsk(err)
	})
	if err != nil {
		return err
	}
	s.metrics.count(x, r.N)
	text := jsonappend.Text(append(appendModel(nil, m), `,"costs":`...), costs.String())
	text = appendAsked(text, q.Ask, v.Total/float64(max(1, r.N)))
	x.write(http.StatusOK, "application/json", appendCases(text, "values", m, r, v.Fields(q.Prices), func(i int, c *service.Case) {
		c.Number, c.Worth = &cases[i], worth[i]
	}))
	return nil
}

// boundAsk refuses questions that would take too long.
func boundAsk(ask lossep.Ask, r *rows.Rows) error {
	switch {
	case len(ask.Columns) > maxAsked:
		return problem.Wrong("ask", "%d columns are more than %d; ask about the others in another request", len(ask.Columns), maxAsked)
	case ask.Labels && r.N > maxLabelled:
		return problem.Wrong("labels", "%d rows are more than %d; send a sample of them, or ask lossep value", r.N, maxLabelled)
	}
	return nil
}

// checkAsk refuses questions that would take too long, or have no answer.
func (m *served) checkAsk(ask lossep.Ask, r *rows.Rows, spec *decision.Spec) error {
	if err := boundAsk(ask, r); err != nil {
		return err
	}
	if err := m.model.CheckAsk(ask, spec); err != nil {
		return wrongAsk(err)
	}
	return r.Memory.Take(m.model.WorthBytes(r.N, ask))
}

// worthOf is what it would be worth to know more about the rows.
func (m *served) worthOf(ctx context.Context, r *rows.Rows, ask lossep.Ask, stakes []decision.Stakes) ([]lossep.Worth, error) {
	worth, err := m.model.WorthOf(ctx, r.Matrix(0, r.N), ask, stakes...)
	if errors.As(err, new(*lossep.InputError)) {
		return nil, wrongAsk(err)
	}
	return worth, rowProblem(ctx, err, 0)
}

// wrongAsk is a question that the model has no answer to.
func wrongAsk(err error) error {
	var input *lossep.InputError
	if !errors.As(err, &input) {
		return err
	}
	return problem.Wrong(input.What, "%s", input.Msg)
}

// appendAsked writes what was asked about, and what it would be worth to know the outcome.
func appendAsked(b []byte, ask lossep.Ask, mean float64) []byte {
	if len(ask.Columns) > 0 {
		b = jsonappend.Texts(append(b, `,"ask":`...), ask.Columns)
	}
	return jsonappend.Float(append(b, `,"worth_outcome":`...), mean)
}

// appendWorth writes a ValueResponse.
func (m *served) appendWorth(r *rows.Rows, spec *decision.Spec, q *service.Worth, worth []lossep.Worth) []byte {
	b := jsonappend.Texts(append(appendModel(nil, m), `,"actions":`...), spec.Actions())
	b = strconv.AppendBool(append(b, `,"costs":`...), spec.Costs())
	mean := 0.0
	for i := range worth {
		mean += worth[i].Outcome / float64(len(worth))
	}
	return appendCases(appendAsked(b, q.Ask, mean), "values", m, r, service.ValueFields(spec, q.Ask, q.Prices), func(i int, c *service.Case) {
		c.Decision, c.Worth = &worth[i].Decision, &worth[i]
	})
}
