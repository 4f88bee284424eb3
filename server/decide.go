package server

import (
	"context"
	"encoding/json"
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

// PredictRequest is the body of a prediction.
type PredictRequest struct {
	Rows      []Row     `json:"rows" minItems:"1" nullable:"false" doc:"the cases"`
	Quantiles []float64 `json:"quantiles,omitempty" doc:"quantiles of an outcome that is a number, such as 0.05 and 0.95"`
	Grid      []float64 `json:"grid,omitempty" doc:"values of an outcome that is a number, for the probability that it is at most each of them"`
}

// PredictResponse is the answer to a PredictRequest.
type PredictResponse struct {
	Model        string       `json:"model"`
	ModelVersion string       `json:"model_version" doc:"changes when the model is replaced"`
	Method       string       `json:"method" doc:"how the posterior was approximated"`
	Outcome      string       `json:"outcome,omitempty" doc:"the positive one of two, whose probability is given, or the column of a number"`
	Outcomes     []string     `json:"outcomes,omitempty" doc:"if there are more than two, whose probabilities are given in this order"`
	Prevalence   float64      `json:"prevalence,omitempty" doc:"how frequent it is in the population that the answers are for, if not as in the training rows"`
	Population   []float64    `json:"population,omitempty" doc:"the shares of more than two outcomes in the population that the answers are for, if not as in the training rows"`
	Predictions  []Prediction `json:"predictions" doc:"one for each row"`
	Ignored      []string     `json:"ignored,omitempty" doc:"columns that the model does not know"`
	Notes        []string     `json:"notes,omitempty" doc:"columns that are far outside the training rows in most rows, as with another unit"`
}

// Prediction is what is known of a case.
type Prediction struct {
	ID            string    `json:"id,omitempty" doc:"what names the case, if the request does: its cell of the model's column of identifiers, or else of id"`
	Probability   float64   `json:"probability,omitempty" doc:"of the positive outcome of two"`
	Mean          float64   `json:"mean,omitempty" doc:"of an outcome that is a number, or of the latent value with two outcomes"`
	Quantiles     []float64 `json:"quantiles,omitempty" doc:"of an outcome that is a number, as they are asked for"`
	CDF           []float64 `json:"cdf,omitempty" doc:"the probabilities that an outcome that is a number is at most the values of the grid"`
	Variance      float64   `json:"variance,omitempty" doc:"of the latent value, with two outcomes"`
	Probabilities []float64 `json:"probabilities,omitempty" doc:"of each of more than two outcomes"`
	Unusual       []string  `json:"unusual" doc:"columns in which the case is unlike the training rows: a category that they did not have, or a number outside theirs by more than half their range, ten times as near to zero as all of them, or missing where none of them was"`
}

func (s *Server) predict(ctx context.Context, x *exchange, m *served, b *body) error {
	r, err := m.readPlainRows(ctx, b)
	if err != nil {
		return err
	}
	predictions, err := m.predictRows(ctx, r)
	if err != nil {
		return err
	}
	s.metrics.count(x, r.N)
	text := appendCases(appendModel(nil, m), "predictions", m, r, service.PredictFields(m.model.Utility().Outcomes()), func(i int, c *service.Case) {
		c.Prediction = &predictions[i]
	})
	x.write(http.StatusOK, "application/json", text)
	return nil
}

// DecideRequest is the body of a request for decisions: rows, costs, and the options that all
// front ends have.
type DecideRequest struct{}

// Schema describes it.
func (DecideRequest) Schema(r huma.Registry) *huma.Schema {
	return requestSchema(r, new(service.Decide).Asked())
}

// DecideResponse is the answer to a DecideRequest.
type DecideResponse struct {
	Model        string                  `json:"model"`
	ModelVersion string                  `json:"model_version" doc:"changes when the model is replaced"`
	Method       string                  `json:"method" doc:"how the posterior was approximated"`
	Outcome      string                  `json:"outcome,omitempty" doc:"the positive one of two, whose probability is given"`
	Outcomes     []string                `json:"outcomes,omitempty" doc:"if there are more than two, whose probabilities are given in this order"`
	Prevalence   float64                 `json:"prevalence,omitempty" doc:"how frequent it is in the population that the answers are for, if not as in the training rows"`
	Population   []float64               `json:"population,omitempty" doc:"the shares of more than two outcomes in the population that the answers are for, if not as in the training rows"`
	Actions      []string                `json:"actions"`
	Costs        bool                    `json:"costs" doc:"whether the utility is one of costs"`
	Baseline     string                  `json:"baseline" doc:"the action that savings are against"`
	Rule         string                  `json:"rule" doc:"which probabilities lead to which action"`
	Calibrated   bool                    `json:"calibrated" doc:"whether the approximation is calibrated to this utility"`
	Status       *lossep.Status          `json:"status,omitempty" doc:"how the calibration ended"`
	Capacity     *service.Shortage       `json:"capacity,omitempty" doc:"what the capacity that the request gives costs, and what more of it would be worth"`
	Pacing       *Pacing                 `json:"pacing,omitempty" doc:"how far the capacity of the server is used, if it has one"`
	Uncertain    []service.UncertainCost `json:"uncertain,omitempty" doc:"costs that are not known, with what it would be worth to find each out"`
	Decisions    []Decision              `json:"decisions" doc:"one for each row"`
	Ignored      []string                `json:"ignored,omitempty" doc:"columns that the model does not know"`
	Notes        []string                `json:"notes,omitempty" doc:"columns that are far outside the training rows in most rows, as with another unit"`
}

// Decision is what to do in a case.
type Decision struct {
	ID             string                `json:"id,omitempty" doc:"what names the case, if the request does: its cell of the model's column of identifiers, or else of id"`
	Action         string                `json:"action"`
	ActionIndex    int                   `json:"action_index" doc:"the number of the action, from 0"`
	Probability    float64               `json:"probability,omitempty" doc:"of the positive outcome of two"`
	All            []float64             `json:"probabilities,omitempty" doc:"of each of more than two outcomes"`
	Cost           []float64             `json:"expected_cost,omitempty" doc:"of each action, if costs are given"`
	Utility        []float64             `json:"expected_utility,omitempty" doc:"of each action, if utilities are given"`
	Margin         float64               `json:"margin" doc:"by how much the action is better than the next best"`
	Advantage      []float64             `json:"advantage" doc:"of each action: the expected cost of the best other one minus its own, or for utilities the other way round"`
	Saving         float64               `json:"saving" doc:"what the action is expected to save against the baseline, or to bring beyond it"`
	CouldFlip      *bool                 `json:"could_flip,omitempty" doc:"whether another action would be better for some values of the costs within their ranges, if some are not known"`
	Unlimited      string                `json:"unlimited,omitempty" doc:"the action without the capacity, if there is one"`
	UnlimitedIndex *int                  `json:"unlimited_index,omitempty" doc:"its number, from 0"`
	Forgone        *float64              `json:"forgone,omitempty" doc:"what the capacity costs in the case"`
	Effort         []float64             `json:"effort,omitempty" doc:"what the action takes of each limit"`
	Disagreement   *bool                 `json:"disagreement,omitempty" doc:"whether another method would act otherwise, if that was asked"`
	Disagreeing    map[string]string     `json:"disagreeing,omitempty" doc:"the actions of those methods"`
	Why            []lossep.Reason       `json:"why,omitempty" doc:"the columns that support the action most, then those that speak against it, if that was asked; the effect is by how much the advantage of the action is larger than if the column were not known"`
	Flip           *service.FlipJSON     `json:"flip,omitempty" doc:"the smallest change of one column that changes the action, null if none does"`
	Effects        []lossep.Contribution `json:"effects,omitempty" doc:"what each family of effects adds to the latent value, with its standard deviation, where reasons are asked for and the model has effects"`
	Unusual        []string              `json:"unusual" doc:"columns in which the case is unlike the training rows: a category that they did not have, or a number outside theirs by more than half their range, ten times as near to zero as all of them, or missing where none of them was"`
}

// decided is everything a response to decide says.
type decided struct {
	service.Decide
	m         *served // the one that decided: calibrated, if that was asked
	spec      *decision.Spec
	baseline  int
	explainer *lossep.Explainer // of the decisions, nil if they are not explained
	rows      *rows.Rows
	decisions []lossep.Decision
	given     []byte   // a body with the rows
	ids       []string // of the rows, if they are recorded and have any

	limits   *service.Limits // nil if there is no capacity
	limited  []service.Limited
	shortage *service.Shortage // of a capacity of the request
	pacing   *Pacing           // of one of the server
}

func (s *Server) decide(ctx context.Context, x *exchange, m *served, b *body) error {
	d := decided{m: m}
	var err error
	if d.rows, d.spec, err = m.readRows(ctx, b, optionFields(d.Asked()), false); err != nil {
		return err
	}
	if d.baseline, err = service.Baseline(d.spec, d.Baseline); err != nil {
		return optionProblem(err)
	}
	d.given = b.Bytes()
	if d.ids, err = s.idsOf(m, d.given); err != nil {
		return err
	}
	if err := s.decideRows(ctx, x, &d); err != nil {
		return err
	}
	s.done(x, m, &d)
	x.write(http.StatusOK, "application/json", d.append(nil))
	return nil
}

// done counts and records decisions about rows of a model.
func (s *Server) done(x *exchange, m *served, d *decided) {
	s.metrics.count(x, d.rows.N)
	if !x.trial() {
		s.metrics.countActions(m, d.spec, d.decisions)
	}
	s.record(x, d)
}

// takeActions takes the memory of what actions cost, or bring, in the rows.
func takeActions(r *rows.Rows, s *decision.Spec) error {
	const bytes = 112 // of one action's entries, expectation and advantage, and of these as they are written
	return r.Memory.Take(int64(r.N) * int64(len(s.Actions())) * bytes)
}

// decideRows decides what was read.
func (s *Server) decideRows(ctx context.Context, x *exchange, d *decided) error {
	if s.paces[d.m.name] != nil && !x.trial() && d.spec != d.m.model.Utility() { // its efforts are what the capacity is counted in
		return problem.Wrong("utility", "the server has a capacity, which is shared by the efforts and costs of the model; leave this out")
	}
	if err := takeActions(d.rows, d.spec); err != nil {
		return err
	}
	stakes, err := stakesOf(d.spec, d.rows)
	if err != nil {
		return err
	}
	if d.Calibrate || d.SecondOpinion || d.Why > 0 {
		ctx = s.long(ctx, x)
	}
	if d.Calibrate {
		if d.m, err = d.m.calibrated.get(ctx, d.spec); err != nil {
			return err
		}
	}
	predictions, err := d.m.predictRows(ctx, d.rows)
	if err != nil {
		return err
	}
	d.decisions = d.m.model.Choose(predictions, stakes...)
	if err := s.limit(x, d); err != nil {
		return err
	}
	if !d.SecondOpinion && d.Why == 0 && len(d.WhyWithout) == 0 {
		return nil
	}
	if err := s.computations.enter(ctx); err != nil {
		return problem.Late(ctx, err)
	}
	defer s.computations.leave()
	if d.SecondOpinion {
		if err := d.consult(ctx); err != nil {
			return err
		}
	}
	return d.explain(ctx)
}

// explain gives the reasons of the decisions, if they are asked for.
func (d *decided) explain(ctx context.Context) error {
	e, err := d.Explainer(d.m.model, d.spec)
	if err != nil || e == nil {
		return optionProblem(err)
	}
	d.explainer = e
	if err := d.rows.Memory.Take(e.Bytes(d.rows.N)); err != nil {
		return err
	}
	return rowProblem(ctx, e.Of(ctx, d.rows.Matrix(0, d.rows.N), d.decisions), 0)
}

// consult asks for the second opinions, of so many rows at a time that nobody waits long
// after the request has ended.
func (d *decided) consult(ctx context.Context) error {
	for from := 0; from < d.rows.N; from += batchRows {
		if err := ctx.Err(); err != nil {
			return problem.Late(ctx, err)
		}
		to := min(from+batchRows, d.rows.N)
		d.m.model.Consult(d.rows.Matrix(from, to), d.decisions[from:to])
	}
	return nil
}

// append writes the DecideResponse.
func (d *decided) append(b []byte) []byte {
	b = appendModel(b, d.m)
	actions := d.spec.Actions()
	b = jsonappend.Texts(append(b, `,"actions":`...), actions)
	b = strconv.AppendBool(append(b, `,"costs":`...), d.spec.Costs())
	b = jsonappend.Text(append(b, `,"baseline":`...), actions[d.baseline])
	b = jsonappend.Text(append(b, `,"rule":`...), d.spec.RuleLine())
	b = strconv.AppendBool(append(b, `,"calibrated":`...), d.Calibrate)
	if d.Calibrate {
		b = append(append(b, `,"status":`...), asJSON(d.m.model.Summary().Status)...) // model files hold the same
	}
	for _, of := range []struct {
		name  string
		value any
	}{{"capacity", d.shortage}, {"pacing", d.pacing}, {"uncertain", d.uncertain()}} {
		if text := asJSON(of.value); text != "null" {
			b = append(append(append(append(b, `,"`...), of.name...), `":`...), text...)
		}
	}
	fields := append(service.DecideFields(d.spec, d.baseline, d.SecondOpinion, d.explainer), d.limits.Fields()...)
	return appendCases(b, "decisions", d.m, d.rows, fields, func(i int, c *service.Case) { *c = d.caseOf(i, c.Unusual) })
}

// uncertain are the costs that are not known, nil if all are.
func (d *decided) uncertain() []service.UncertainCost {
	if len(d.spec.Uncertain()) == 0 {
		return nil
	}
	var doubts service.Doubts
	for i := range d.decisions {
		c := d.caseOf(i, nil)
		doubts.Case(&c)
	}
	return doubts.Costs(d.spec, len(d.decisions))
}

// caseOf is what is known about a row.
func (d *decided) caseOf(i int, unusual []string) service.Case {
	c := service.Case{Decision: &d.decisions[i], Unusual: unusual}
	if d.limited != nil {
		c.Limited = &d.limited[i]
	}
	return c
}

// asJSON is a value whose numbers are finite.
func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
