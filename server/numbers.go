package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/jsonappend"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/server/oip"
	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/server/rows"
	"github.com/lossep/lossep/service"
)

// Models whose outcome is a number: what is predicted and decided of rows.

// NumberDecideResponse is the answer to a DecideRequest where the outcome is a number.
type NumberDecideResponse struct {
	Model        string            `json:"model"`
	ModelVersion string            `json:"model_version" doc:"changes when the model is replaced"`
	Method       string            `json:"method"`
	Outcome      string            `json:"outcome" doc:"the column that is decided about"`
	Costs        string            `json:"costs" doc:"what actions cost"`
	Edge         string            `json:"edge,omitempty" doc:"in how many rows the action is at the edge of its range"`
	Capacity     *service.Shortage `json:"capacity,omitempty" doc:"what the capacity that the request gives costs, and what more of it would be worth"`
	Decisions    []NumberDecision  `json:"decisions" doc:"one for each row"`
	Ignored      []string          `json:"ignored,omitempty" doc:"columns that the model does not know"`
	Notes        []string          `json:"notes,omitempty" doc:"columns that are far outside the training rows in most rows, as with another unit"`
}

// NumberDecision is what to do in a case.
type NumberDecision struct {
	ID             string    `json:"id,omitempty" doc:"what names the case, if the request does: its cell of the model's column of identifiers, or else of id"`
	Action         any       `json:"action" doc:"a number, or the name of one of named actions"`
	ActionIndex    *int      `json:"action_index,omitempty" doc:"the number of a named action, from 0"`
	Cost           float64   `json:"cost" doc:"what it is expected to cost"`
	Mean           float64   `json:"mean" doc:"the expected outcome"`
	Lower          *float64  `json:"lower,omitempty" doc:"the next lower action"`
	CostLower      *float64  `json:"cost_lower,omitempty"`
	Higher         *float64  `json:"higher,omitempty" doc:"the next higher action"`
	CostHigher     *float64  `json:"cost_higher,omitempty"`
	Unlimited      any       `json:"unlimited,omitempty" doc:"the action without the capacity, if there is one"`
	UnlimitedIndex *int      `json:"unlimited_index,omitempty" doc:"the number of a named one, from 0"`
	Forgone        *float64  `json:"forgone,omitempty" doc:"what the capacity costs in the case"`
	Effort         []float64 `json:"effort,omitempty" doc:"what the action takes of each limit"`
	Unusual        []string  `json:"unusual" doc:"columns in which the case is unlike the training rows"`
}

// anyDecision is the answer to a DecideRequest.
type anyDecision struct{}

// Schema describes both forms.
func (anyDecision) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[DecideResponse](), true, ""), r.Schema(reflect.TypeFor[NumberDecideResponse](), true, ""),
	}}
}

// DistributionRequest asks for what is known of a few cases.
type DistributionRequest struct {
	Rows    []Row   `json:"rows" minItems:"1" maxItems:"20" nullable:"false" doc:"the cases"`
	Utility Utility `json:"utility,omitempty"`
}

// DistributionResponse is the answer to a DistributionRequest.
type DistributionResponse struct {
	Model         string         `json:"model"`
	ModelVersion  string         `json:"model_version" doc:"changes when the model is replaced"`
	Outcome       string         `json:"outcome" doc:"the column"`
	Counts        bool           `json:"counts" doc:"whether outcomes are whole, with probabilities in place of densities"`
	Choices       []string       `json:"choices,omitempty" doc:"the actions, where they are named"`
	Distributions []Distribution `json:"distributions" doc:"one for each row"`
}

// Distribution is what is known of a case.
type Distribution struct {
	Mean     float64   `json:"mean"`
	Low      float64   `json:"low" doc:"the quantile at 0.05"`
	High     float64   `json:"high" doc:"the quantile at 0.95"`
	Outcomes []float64 `json:"outcomes" doc:"increasing"`
	Density  []float64 `json:"density" doc:"at each of them"`
	Actions  []float64 `json:"actions" doc:"increasing, or the numbers of named ones"`
	Expected []float64 `json:"expected" doc:"what each is expected to cost"`
	Action   float64   `json:"action" doc:"the best one"`
	Cost     float64   `json:"cost" doc:"what it is expected to cost"`
}

// Bounds on what a request may take.
const (
	numberBytes    = 4096 // of a prediction, and of what is written about it
	askedBytes     = 25   // of a quantile or a probability, written
	maxNumberSteps = 2000 // actions that are looked at one by one in every row
	maxCurves      = 20   // rows whose curves are asked for at once
	curvePoints    = 121
)

// openNumbers reads a model whose outcome is a number.
func (s *Server) openNumbers(source Source, room int64) (*served, error) {
	var model *numbers.Model
	digest, err := s.digested(source, func(r io.Reader) (err error) {
		model, err = numbers.Read(r, room)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case len(s.config.Capacity) > 0:
		return nil, errors.New("its outcome is a number, whose actions have no capacity; serve it without one")
	case model.Costs().Actions().Len() > maxNumberSteps:
		return nil, fmt.Errorf("its costs have %d actions, and at most %d are looked at in every row; fit it with a longer step between them", model.Costs().Actions().Len(), maxNumberSteps)
	}
	m := &served{name: source.Name, digest: digest, held: model, numbers: model, readers: s.newReaders(model.Recipe()), figures: figuresOf(model)}
	if s.config.Record != nil {
		m.schema = s.underCosts(m, model.Costs())
	}
	m.description, err = describeNumbers(m, source.Examples)
	return m, err
}

func describeNumbers(m *served, examples []map[string]any) (*ModelDescription, error) {
	model, learned := m.numbers, m.numbers.Recipe()
	costs, err := json.Marshal(model.Costs())
	if err != nil {
		return nil, err
	}
	summary, err := json.Marshal(model.Summary())
	if err != nil {
		return nil, err
	}
	if examples == nil {
		examples = exampleRows(model, model.Costs().Columns())
	}
	return &ModelDescription{
		Name: m.name, Kind: string(service.Number), Method: string(model.Method()), Likelihood: model.Shape().Noise, Kernel: model.Kernel(),
		Rows: model.Summary().Rows, Features: learned.Dim(), Version: model.Summary().Version, Digest: m.digest,
		Target: TargetColumn{Name: learned.Target.Column}, Columns: columnsOf(learned, model.Costs().Columns(), examples),
		Utility: costs, Rule: model.Costs().String(), Number: summary, ExampleRows: examples,
	}, nil
}

// numberRows reads rows and costs, the model's own if the body has none, and predicts the rows.
func (m *served) numberRows(ctx context.Context, b *body, fields rows.Fields, decides bool) (*rows.Rows, *decision.NumberCosts, []service.NumberCase, error) {
	reader := m.readers.Get().(*rows.Reader)
	defer m.readers.Put(reader)
	return m.numberRowsBy(ctx, reader, b, fields, decides)
}

// numberRowsBy is numberRows by a reader of its own.
func (m *served) numberRowsBy(ctx context.Context, reader *rows.Reader, b *body, fields rows.Fields, decides bool) (*rows.Rows, *decision.NumberCosts, []service.NumberCase, error) {
	reader.Memory = &b.share
	costs := m.numbers.Costs()
	if decides {
		fields["utility"] = func(value []byte) (err error) {
			costs, err = parseNumberCosts(m.numbers, value)
			return err
		}
	}
	kept := costs.AllColumns()
	if value := reader.Field(b.Bytes(), "utility"); value != nil { // it may stand behind the rows
		if given, err := parseNumberCosts(m.numbers, value); err == nil {
			kept = given.AllColumns()
		}
	}
	r, err := reader.Read(ctx, b.Bytes(), fields, kept, false)
	if err != nil {
		return nil, nil, nil, err
	}
	cases, err := m.predictNumberRows(ctx, r)
	return r, costs, cases, err
}

func (m *served) predictNumberRows(ctx context.Context, r *rows.Rows) ([]service.NumberCase, error) {
	if err := r.Memory.Take(int64(r.N) * numberBytes); err != nil {
		return nil, err
	}
	cases := make([]service.NumberCase, 0, r.N)
	for from := 0; from < r.N; from += batchRows {
		if err := ctx.Err(); err != nil {
			return nil, problem.Late(ctx, err)
		}
		to := min(from+batchRows, r.N)
		all, err := m.numbers.Predict(r.Matrix(from, to))
		if err != nil {
			return nil, rowProblem(ctx, err, from)
		}
		for _, d := range all {
			cases = append(cases, service.NumberCase{Distribution: d})
		}
	}
	return cases, nil
}

// parseNumberCosts reads costs from a request: an object in the form of files, or under=COST,over=COST. Null
// stands for the model's own.
func parseNumberCosts(m *numbers.Model, raw []byte) (costs *decision.NumberCosts, err error) {
	if len(raw) > maxUtility {
		return nil, problem.Wrong("utility", "it has more than %d bytes", maxUtility)
	}
	switch jsontext.Value(raw).Kind() {
	case 'n':
		return m.Costs(), nil
	case '"':
		costs, err = service.NumberCosts(string(rows.Unquoted(raw)), nil)
	case '{':
		costs, err = service.NumberCosts("", raw)
	}
	switch {
	case err != nil:
		return nil, utilityProblem(err)
	case costs == nil:
		return nil, problem.Wrong("utility", `give an object such as {"under": 15, "over": 5}, or a text such as "under=15,over=5"`)
	case costs.Actions().Len() > maxNumberSteps:
		return nil, problem.Wrong("utility", "there are %d actions, and at most %d can be asked for", costs.Actions().Len(), maxNumberSteps)
	}
	return costs, nil
}

func (s *Server) predictNumbers(ctx context.Context, x *exchange, m *served, b *body) error {
	q := new(service.Predict)
	r, _, cases, err := m.numberRows(ctx, b, optionFields(q.Asked()), false)
	if err != nil {
		return err
	}
	fields, err := q.NumberFields()
	if err != nil {
		return optionProblem(err)
	}
	if err := r.Memory.Take(int64(r.N) * int64(len(q.Quantiles)+len(q.Grid)) * askedBytes); err != nil {
		return err
	}
	for i := range cases {
		if err := service.CheckNumbers(fields, &service.Case{Number: &cases[i]}); err != nil {
			return optionProblem(err)
		}
	}
	s.metrics.count(x, r.N)
	x.write(http.StatusOK, "application/json", appendCases(appendModel(nil, m), "predictions", m, r, fields, func(i int, c *service.Case) { c.Number = &cases[i] }))
	return nil
}

// decideCases chooses actions for rows, in a place among long computations.
func (s *Server) decideCases(ctx context.Context, x *exchange, d *service.NumberDecider, r *rows.Rows, cases []service.NumberCase) error {
	return s.eachStake(ctx, x, d.Costs, r, len(cases), func(ctx context.Context, i int, stake decision.Stake, at func(error) error) error {
		return d.Decide(ctx, stake, &cases[i], at)
	})
}

// eachStake calls use with what is at stake in each of n rows, in a place among long computations.
func (s *Server) eachStake(ctx context.Context, x *exchange, costs *decision.NumberCosts, r *rows.Rows, n int, use func(ctx context.Context, i int, stake decision.Stake, at func(error) error) error) error {
	ctx = s.long(ctx, x)
	if err := s.computations.enter(ctx); err != nil {
		return problem.Late(ctx, err)
	}
	defer s.computations.leave()
	for i := range n {
		if err := ctx.Err(); err != nil {
			return problem.Late(ctx, err)
		}
		at := func(err error) error { return problem.Wrong(rows.Location(i, ""), "%s", err) }
		stake, err := costs.Stake(func(column string) (float64, error) { return r.Value(i, column) })
		var refused *problem.Problem
		switch {
		case errors.As(err, &refused):
			return refused
		case err != nil && len(costs.Columns()) > 0:
			return at(err)
		case err == nil:
			err = use(ctx, i, stake, at)
		}
		if ctx.Err() != nil {
			return problem.Late(ctx, ctx.Err())
		}
		if err != nil {
			return utilityProblem(err)
		}
	}
	return nil
}

func (s *Server) decideNumbers(ctx context.Context, x *exchange, m *served, b *body) error {
	q := new(service.Decide)
	r, costs, cases, err := m.numberRows(ctx, b, optionFields(service.Options{q.Limit()}), true)
	if err != nil {
		return err
	}
	ids, err := s.idsOf(m, b.Bytes())
	if err != nil {
		return err
	}
	d := &service.NumberDecider{Model: m.numbers, Costs: costs}
	if d.Limits, err = q.WithinNumbers(costs); err != nil {
		return optionProblem(err)
	}
	if err := s.decideCases(ctx, x, d, r, cases); err != nil {
		return err
	}
	all := make([]*service.Case, len(cases))
	for i := range all {
		all[i] = &service.Case{Number: &cases[i]}
	}
	if d.Limits != nil {
		if err := allocateNumbers(d, r, all); ctx.Err() != nil {
			return problem.Late(ctx, ctx.Err())
		} else if err != nil {
			return err
		}
	}
	s.doneNumbers(x, m, costs, b.Bytes(), ids, cases)
	text := jsonappend.Text(append(appendModel(nil, m), `,"costs":`...), costs.String())
	if note := d.EdgeNote(); note != "" {
		text = jsonappend.Text(append(text, `,"edge":`...), note)
	}
	if d.Shortage != nil {
		text = append(append(text, `,"capacity":`...), asJSON(d.Shortage)...)
	}
	x.write(http.StatusOK, "application/json", appendCases(text, "decisions", m, r, d.Fields(), func(i int, c *service.Case) {
		c.Number, c.Limited = all[i].Number, all[i].Limited
	}))
	return nil
}

// allocateNumbers shares the capacity of a request out among its rows.
func allocateNumbers(d *service.NumberDecider, r *rows.Rows, cases []*service.Case) error {
	bytes, efforts := int64(0), make([][][]float64, len(cases))
	for i, c := range cases {
		var err error
		bytes += d.Limits.Bytes(c.Number)
		efforts[i], err = d.Limits.Efforts(func(column string) (float64, error) { return r.Value(i, column) })
		if refused := (*problem.Problem)(nil); errors.As(err, &refused) {
			return refused
		} else if err != nil {
			return problem.Wrong(rows.Location(i, ""), "%s", err)
		}
	}
	if err := r.Memory.Take(bytes); err != nil {
		return err
	}
	return optionProblem(d.Allocate(cases, efforts, nil))
}

// inferNumbers is what a request of the inference protocol asks of a model whose outcome is a number.
func (s *Server) inferNumbers(x *exchange, m *served, q *oip.InferRequest) (*inference, error) {
	d := &service.NumberDecider{Model: m.numbers, Costs: m.numbers.Costs()}
	if utility, ok := q.Parameters["utility"]; ok {
		text, _ := utility.(string)
		raw := []byte(text)
		if !strings.HasPrefix(strings.TrimSpace(text), "{") {
			raw = jsonappend.Text(nil, text)
		}
		var err error
		if d.Costs, err = parseNumberCosts(m.numbers, raw); err != nil {
			return nil, err
		}
	}
	return &inference{d.Fields(), d.Costs.Columns(), func(ctx context.Context, r *rows.Rows) (func(i int) service.Case, error) {
		given, ids, err := s.givenTensors(m, q, r)
		if err != nil {
			return nil, err
		}
		cases, err := m.predictNumberRows(ctx, r)
		if err == nil {
			err = s.decideCases(ctx, x, d, r, cases)
		}
		if err != nil {
			return nil, err
		}
		s.doneNumbers(x, m, d.Costs, given, ids, cases)
		return func(i int) service.Case { return service.Case{Number: &cases[i], Unusual: r.Unusual(i)} }, nil
	}}, nil
}

// distribution gives the predictive density of each row, and what actions are expected to cost.
func (s *Server) distribution(ctx context.Context, x *exchange, m *served, b *body) error {
	r, costs, cases, err := m.numberRows(ctx, b, rows.Fields{}, true)
	if err != nil {
		return err
	}
	if r.N > maxCurves {
		return problem.Wrong("rows", "there are %d, and curves of at most %d can be asked for at once", r.N, maxCurves)
	}
	if err := s.decideCases(ctx, x, &service.NumberDecider{Model: m.numbers, Costs: costs}, r, cases); err != nil {
		return err
	}
	answer := DistributionResponse{Model: m.name, ModelVersion: m.version(), Outcome: m.Recipe().Target.Column, Counts: m.numbers.Counts(), Choices: costs.Actions().Choices}
	for i := range cases {
		stake, err := costs.Stake(func(column string) (float64, error) { return r.Value(i, column) })
		if err != nil {
			return err
		}
		answer.Distributions = append(answer.Distributions, curvesOf(&cases[i], stake, answer.Counts))
	}
	s.metrics.count(x, r.N)
	x.writeJSON(answer)
	return nil
}

// curvesOf are the density of a case over what outcomes are likely to be, and the cost of actions there.
func curvesOf(c *service.NumberCase, stake decision.Stake, counts bool) Distribution {
	d := Distribution{Mean: c.Mean(), Low: c.Quantile(0.05), High: c.Quantile(0.95), Action: c.Choice.Action, Cost: c.Choice.Expected}
	low, high := c.Quantile(1e-3), c.Quantile(1-1e-3)
	d.Outcomes = grid(low, high, counts)
	for _, y := range d.Outcomes {
		d.Density = append(d.Density, math.Exp(c.LogDensity(y)))
	}
	if d.Actions = stake.Actions.Listed(curvePoints); d.Actions == nil {
		d.Actions = grid(min(low, d.Action), max(high, d.Action), false)
		if k, at := slices.BinarySearch(d.Actions, d.Action); !at {
			d.Actions = slices.Insert(d.Actions, k, d.Action)
		}
	}
	for _, a := range d.Actions {
		d.Expected = append(d.Expected, min(stake.Expected(a, c.Distribution), math.MaxFloat64))
	}
	return d
}

// grid is numbers from one to another, whole ones if that is wanted.
func grid(low, high float64, whole bool) (at []float64) {
	step := (high - low) / (curvePoints - 1)
	if whole {
		step = max(1, math.Ceil(step))
	}
	if !(step > 0) {
		return []float64{low}
	}
	for k := range curvePoints {
		if y := low + float64(k)*step; y <= high+step/2 {
			at = append(at, y)
		}
	}
	return at
}
