package server

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/server/jsonappend"
	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/server/rows"
)

// DecideRequest is the body of a request for decisions.
type DecideRequest struct {
	Rows          []Row   `json:"rows" minItems:"1" nullable:"false" doc:"the cases"`
	Utility       Utility `json:"utility,omitempty"`
	Calibrate     bool    `json:"calibrate,omitempty" doc:"calibrate the approximation to the utility first (Loss-EP)"`
	SecondOpinion bool    `json:"second_opinion,omitempty" doc:"ask which other methods would act otherwise"`
}

// DecideResponse is the answer to a DecideRequest.
type DecideResponse struct {
	Model        string         `json:"model"`
	ModelVersion string         `json:"model_version" doc:"changes when the model is replaced"`
	Method       string         `json:"method" doc:"how the posterior was approximated"`
	Outcome      string         `json:"outcome,omitempty" doc:"the positive one of two, whose probability is given"`
	Outcomes     []string       `json:"outcomes,omitempty" doc:"if there are more than two, whose probabilities are given in this order"`
	Prevalence   float64        `json:"prevalence,omitempty" doc:"how frequent it is in the population that the answers are for, if not as in the training rows"`
	Actions      []string       `json:"actions"`
	Costs        bool           `json:"costs" doc:"whether the utility is one of costs"`
	Rule         string         `json:"rule" doc:"which probabilities lead to which action"`
	Calibrated   bool           `json:"calibrated" doc:"whether the approximation is calibrated to this utility"`
	Status       *lossep.Status `json:"status,omitempty" doc:"how the calibration ended"`
	Decisions    []Decision     `json:"decisions" doc:"one for each row"`
	Ignored      []string       `json:"ignored,omitempty" doc:"columns that the model does not know"`
	Notes        []string       `json:"notes,omitempty" doc:"columns that are far outside the training rows in most rows, as with another unit"`
}

// Decision is what to do in a case.
type Decision struct {
	Action       string            `json:"action"`
	ActionIndex  int               `json:"action_index" doc:"the number of the action, from 0"`
	Probability  float64           `json:"probability,omitempty" doc:"of the positive outcome of two"`
	All          []float64         `json:"probabilities,omitempty" doc:"of each of more than two outcomes"`
	Cost         []float64         `json:"expected_cost,omitempty" doc:"of each action, if costs are given"`
	Utility      []float64         `json:"expected_utility,omitempty" doc:"of each action, if utilities are given"`
	Margin       float64           `json:"margin" doc:"by how much the action is better than the next best"`
	Disagreement *bool             `json:"disagreement,omitempty" doc:"whether another method would act otherwise, if that was asked"`
	Dissent      map[string]string `json:"dissent,omitempty" doc:"the actions of those methods"`
	Unseen       []string          `json:"unseen,omitempty" doc:"columns whose category was not in the training rows"`
	Far          []string          `json:"far,omitempty" doc:"columns whose value is outside those of the training rows by more than half their range, or ten times as near to zero as all of them"`
}

// decided is everything a response to decide says.
type decided struct {
	m             *served // the one that decided: calibrated, if that was asked
	spec          *decision.Spec
	rows          *rows.Rows
	decisions     []lossep.Decision
	calibrated    bool
	secondOpinion bool
}

func (s *Server) decide(ctx context.Context, x *exchange, m *served, b *body) error {
	d := decided{m: m}
	fields := rows.Fields{
		"calibrate":      func(v []byte) error { return problem.Strict("calibrate", v, &d.calibrated) },
		"second_opinion": func(v []byte) error { return problem.Strict("second_opinion", v, &d.secondOpinion) },
	}
	var err error
	if d.rows, d.spec, err = m.readRows(ctx, b, fields, false); err != nil {
		return err
	}
	if err := s.decideRows(ctx, x, &d); err != nil {
		return err
	}
	s.metrics.count(x, d.rows.N)
	s.metrics.countActions(m, d.spec, d.decisions)
	x.write(http.StatusOK, "application/json", d.append(nil))
	return nil
}

// takeActions takes the memory of what actions cost, or bring, in the rows.
func takeActions(r *rows.Rows, s *decision.Spec) error {
	const bytes = 80 // of one action's entries and expectation, and of the latter as it is written
	return r.Memory.Take(int64(r.N) * int64(len(s.Actions())) * bytes)
}

// decideRows decides what was read.
func (s *Server) decideRows(ctx context.Context, x *exchange, d *decided) error {
	if err := takeActions(d.rows, d.spec); err != nil {
		return err
	}
	stakes, err := stakesOf(d.spec, d.rows)
	if err != nil {
		return err
	}
	if d.calibrated || d.secondOpinion {
		ctx = s.long(ctx, x)
	}
	if d.calibrated {
		if d.m, err = d.m.calibrated.get(ctx, d.spec); err != nil {
			return err
		}
	}
	predictions, err := d.m.predictRows(ctx, d.rows)
	if err != nil {
		return err
	}
	d.decisions = d.m.model.Choose(predictions, stakes...)
	if !d.secondOpinion {
		return nil
	}
	if err := s.computations.enter(ctx); err != nil {
		return problem.Late(ctx, err)
	}
	defer s.computations.leave()
	return d.consult(ctx)
}

// consult asks for the second opinions, of so many rows at a time that nobody waits long
// after the request has ended.
func (d *decided) consult(ctx context.Context) error {
	dim := len(d.rows.Features) / d.rows.N
	for from := 0; from < d.rows.N; from += batchRows {
		if err := ctx.Err(); err != nil {
			return problem.Late(ctx, err)
		}
		to := min(from+batchRows, d.rows.N)
		x := mat.NewDense(to-from, dim, d.rows.Features[from*dim:to*dim])
		d.m.model.Consult(x, d.decisions[from:to])
	}
	return nil
}

// append writes the DecideResponse.
func (d *decided) append(b []byte) []byte {
	actions := d.spec.Actions()
	names := make([][]byte, len(actions))
	for a, name := range actions {
		names[a] = jsonappend.Quoted(name)
	}
	b = slices.Grow(b, 512+len(d.decisions)*(128+24*len(actions)))
	b = append(append(b, `{"model":`...), jsonappend.Quoted(d.m.name)...)
	b = append(append(b, `,"model_version":`...), jsonappend.Quoted(d.m.version())...)
	b = append(append(b, `,"method":`...), jsonappend.Quoted(string(d.m.model.Method()))...)
	b = jsonappend.Texts(append(appendOutcome(b, d.m), `,"actions":`...), actions)
	b = strconv.AppendBool(append(b, `,"costs":`...), d.spec.Costs())
	b = append(append(b, `,"rule":`...), jsonappend.Quoted(d.spec.RuleLine())...)
	b = strconv.AppendBool(append(b, `,"calibrated":`...), d.calibrated)
	if d.calibrated {
		status, err := json.Marshal(d.m.model.Summary().Status)
		if err != nil {
			panic(err) // model files hold the same
		}
		b = append(append(b, `,"status":`...), status...)
	}
	b = append(b, `,"decisions":[`...)
	expected := `,"expected_` + d.spec.Kind() + `":`
	for i := range d.decisions {
		if i > 0 {
			b = append(b, ',')
		}
		one := &d.decisions[i]
		b = append(append(b, `{"action":`...), names[one.Action]...)
		b = strconv.AppendInt(append(b, `,"action_index":`...), int64(one.Action), 10)
		b = appendProbability(append(b, ','), one.Probabilities)
		b = jsonappend.Floats(append(b, expected...), one.Expected)
		b = jsonappend.Float(append(b, `,"margin":`...), one.Margin)
		if d.secondOpinion {
			b = appendDissent(b, one, names)
		}
		b = append(appendUnusual(b, d.rows, i), '}')
	}
	return append(appendRemarks(append(b, ']'), d.m, d.rows), '}')
}

func appendDissent(b []byte, d *lossep.Decision, names [][]byte) []byte {
	b = strconv.AppendBool(append(b, `,"disagreement":`...), len(d.Dissent) > 0)
	if len(d.Dissent) == 0 {
		return b
	}
	b = append(b, `,"dissent":{`...)
	first := true
	for _, method := range lossep.Methods() {
		a, ok := d.Dissent[method]
		if !ok {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(b, jsonappend.Quoted(string(method))...), ':')
		b = append(b, names[a]...)
	}
	return append(b, '}')
}
