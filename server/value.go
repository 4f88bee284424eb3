package server

import (
	"context"
	"errors"
	"net/http"
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
	reader := m.readers.Get().(*rows.Reader)
	raw := reader.Field(b.Bytes(), "ask")
	m.readers.Put(reader)
	// What is wrong with the columns is said when the body is read.
	var ahead service.Worth
	if raw == nil || optionFields(ahead.Asked())["ask"](raw) != nil || len(ahead.Ask.Columns) > maxAsked {
		return m.readRows(ctx, b, optionFields(options), false)
	}
	reader = rows.NewReader(m.model.Recipe().WithOpen(ahead.Ask.Columns...), s.config.MaxRows)
	return m.readRowsBy(ctx, reader, b, optionFields(options), false)
}

// checkAsk refuses questions that would take too long, or have no answer.
func (m *served) checkAsk(ask lossep.Ask, r *rows.Rows, spec *decision.Spec) error {
	if len(ask.Columns) > maxAsked {
		return problem.Wrong("ask", "%d columns are more than %d; ask about the others in another request", len(ask.Columns), maxAsked)
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

// appendWorth writes a ValueResponse.
func (m *served) appendWorth(r *rows.Rows, spec *decision.Spec, q *service.Worth, worth []lossep.Worth) []byte {
	b := jsonappend.Texts(append(appendModel(nil, m), `,"actions":`...), spec.Actions())
	b = strconv.AppendBool(append(b, `,"costs":`...), spec.Costs())
	if len(q.Ask.Columns) > 0 {
		b = jsonappend.Texts(append(b, `,"ask":`...), q.Ask.Columns)
	}
	mean := 0.0
	for i := range worth {
		mean += worth[i].Outcome / float64(len(worth))
	}
	b = jsonappend.Float(append(b, `,"worth_outcome":`...), mean)
	return appendCases(b, "values", m, r, service.ValueFields(spec, q.Ask, q.Prices), func(i int, c *service.Case) {
		c.Decision, c.Worth = &worth[i].Decision, &worth[i]
	})
}
