package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/lab"
	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/server/rows"
)

// CurveRequest asks how the decisions of rows, and what they cost, change with one
// entry of the utility.
type CurveRequest struct {
	Rows      []Row   `json:"rows" minItems:"1" nullable:"false" doc:"the cases"`
	Utility   Utility `json:"utility,omitempty"`
	Calibrate bool    `json:"calibrate,omitempty" doc:"calibrate the approximation to the utility as it is given first (Loss-EP), as for decisions; its probabilities stay while the entry changes"`
	Vary      Entry   `json:"vary" doc:"the entry that changes; where it depends on columns, what it is multiplied by does"`
	From      float64 `json:"from"`
	To        float64 `json:"to"`
	Steps     int     `json:"steps,omitempty" minimum:"2" maximum:"501" default:"61" doc:"how many values there are, the ends among them"`
	Scale     string  `json:"scale,omitempty" enum:"linear,log" default:"linear" doc:"whether their differences or their ratios are equal"`
}

// Entry names an entry of a utility.
type Entry struct {
	Action  string `json:"action"`
	Outcome string `json:"outcome"`
}

// CurveResponse is the answer to a CurveRequest.
type CurveResponse struct {
	Model        string          `json:"model"`
	ModelVersion string          `json:"model_version" doc:"changes when the model is replaced"`
	Costs        bool            `json:"costs" doc:"whether the utility is one of costs"`
	Actions      []string        `json:"actions"`
	Rows         int             `json:"rows"`
	Labelled     int             `json:"labelled" doc:"rows whose outcome is known"`
	Unknown      int             `json:"unknown_outcomes,omitempty" doc:"rows that have something else where an outcome of the model belongs; they count as rows without one"`
	Points       []CurvePoint    `json:"points"`
	Constant     []CurveConstant `json:"constant" doc:"what it costs, or brings, to take one action in all cases"`
	Ignored      []string        `json:"ignored,omitempty" doc:"columns that the model does not know"`
	Notes        []string        `json:"notes,omitempty" doc:"columns that are far outside the training rows in most rows, as with another unit"`
}

// CurvePoint is one value of the entry. Costs or utilities are per row.
type CurvePoint struct {
	Value    float64  `json:"value" doc:"of the entry"`
	Expected float64  `json:"expected" doc:"of the best decisions under this value"`
	Held     float64  `json:"held" doc:"of the decisions under the utility as it was given"`
	Flipped  int      `json:"flipped" doc:"rows in which these differ"`
	Realised *float64 `json:"realised,omitempty" doc:"of the best decisions, by the outcomes of the rows that have one"`
}

// CurveConstant is one action in all cases.
type CurveConstant struct {
	Action   string    `json:"action"`
	Expected []float64 `json:"expected" doc:"at each point"`
}

const (
	maxSteps     = 501
	defaultSteps = 61
	// largest is the largest cost or utility, as for those that are given.
	largest = 1e200
)

func (s *Server) curve(ctx context.Context, x *exchange, m *served, b *body) error {
	q := CurveRequest{From: math.NaN(), To: math.NaN(), Steps: defaultSteps, Scale: "linear"}
	fields := rows.Fields{
		"calibrate": func(v []byte) error { return problem.Strict("calibrate", v, &q.Calibrate) },
		"vary":      func(v []byte) error { return problem.Strict("vary", v, &q.Vary) },
		"from":      func(v []byte) error { return problem.Strict("from", v, &q.From) },
		"to":        func(v []byte) error { return problem.Strict("to", v, &q.To) },
		"steps":     func(v []byte) error { return problem.Strict("steps", v, &q.Steps) },
		"scale":     func(v []byte) error { return problem.Strict("scale", v, &q.Scale) },
	}
	r, spec, err := m.readRows(ctx, b, fields, true)
	if err != nil {
		return err
	}
	values, err := q.values()
	if err != nil {
		return err
	}
	if err := takeActions(r, spec); err != nil {
		return err
	}
	c, err := newCurve(spec, q.Vary, r)
	if err != nil {
		return err
	}
	if err := c.check(values); err != nil {
		return err
	}
	ctx = s.long(ctx, x)
	if q.Calibrate {
		if m, err = m.calibrated.get(ctx, spec); err != nil {
			return err
		}
	}
	predictions, err := m.predictRows(ctx, r)
	if err != nil {
		return err
	}
	for _, p := range predictions {
		c.p = append(c.p, p.Probabilities)
	}
	if err := s.computations.enter(ctx); err != nil {
		return problem.Late(ctx, err)
	}
	defer s.computations.leave()
	answer, err := c.response(ctx, values)
	if err != nil {
		return err
	}
	answer.Model, answer.ModelVersion, answer.Notes = m.name, m.version(), m.notes(r)
	s.metrics.count(x, r.N)
	x.writeJSON(answer)
	return nil
}

// values are those of the entry, in equal steps or equal ratios.
func (q *CurveRequest) values() ([]float64, error) {
	switch {
	case math.IsNaN(q.From):
		return nil, problem.Wrong("from", "give a number: where the values begin")
	case math.IsNaN(q.To):
		return nil, problem.Wrong("to", "give a number: where the values end")
	case math.Abs(q.From) > largest:
		return nil, problem.Wrong("from", "%v is too large: costs and utilities beyond %g cannot be compared", q.From, largest)
	case math.Abs(q.To) > largest:
		return nil, problem.Wrong("to", "%v is too large: costs and utilities beyond %g cannot be compared", q.To, largest)
	case q.From >= q.To:
		return nil, problem.Wrong("to", "%v is not above from, %v", q.To, q.From)
	case q.Steps < 2 || q.Steps > maxSteps:
		return nil, problem.Wrong("steps", "%d is not from 2 to %d", q.Steps, maxSteps)
	case q.Scale != "linear" && q.Scale != "log":
		return nil, problem.Wrong("scale", `give "linear" or "log"`)
	case q.Scale == "log" && q.From <= 0:
		return nil, problem.Wrong("from", "ratios are equal for numbers above 0 only; choose the linear scale, or begin above 0")
	}
	values := make([]float64, q.Steps)
	for k := range values {
		t := float64(k) / float64(q.Steps-1)
		if q.Scale == "log" {
			values[k] = math.Exp((1-t)*math.Log(q.From) + t*math.Log(q.To))
		} else {
			values[k] = (1-t)*q.From + t*q.To
		}
	}
	values[0], values[len(values)-1] = q.From, q.To // free of rounding
	return values, nil
}

// curve is what is needed to decide rows again and again as one entry changes.
type curve struct {
	spec            *decision.Spec
	rows            *rows.Rows
	p               [][]float64 // the probabilities of the outcomes in each row
	stakes          []decision.Stakes
	action, outcome int
	factor          []float64 // what the entry is a multiple of, in each row; nil stands for 1
	scratch         decision.Stakes
	changed         []float64 // the action's entries in it
}

func newCurve(s *decision.Spec, vary Entry, r *rows.Rows) (*curve, error) {
	c := &curve{spec: s, rows: r, action: slices.Index(s.Actions(), vary.Action), outcome: slices.Index(s.Outcomes(), vary.Outcome)}
	switch {
	case c.action < 0:
		return nil, problem.Wrong("vary.action", "there is no such action; the actions are %q", s.Actions())
	case c.outcome < 0:
		return nil, problem.Wrong("vary.outcome", "there is no such outcome; the outcomes are %q", s.Outcomes())
	}
	var err error
	if c.stakes, err = stakesOf(s, r); err != nil {
		return nil, err
	}
	c.scratch = decision.Stakes{Table: make(decision.Table, len(s.Actions())), Costs: s.Costs()}
	if _, rest := s.Entry(c.action, c.outcome).Scale(); !rest.Constant() {
		c.factor = make([]float64, r.N)
		for i := range c.factor {
			if c.factor[i], err = rest.Eval(func(column string) (float64, error) { return r.Value(i, column) }); err != nil {
				return nil, problem.Wrong(rows.Location(i, ""), "%s", err)
			}
		}
	}
	return c, nil
}

// check refuses values that a row's multiple makes too large.
func (c *curve) check(values []float64) error {
	ends := max(math.Abs(values[0]), math.Abs(values[len(values)-1]))
	for _, factor := range c.factor {
		if !(ends*math.Abs(factor) <= largest) {
			return problem.Wrong("to", "costs and utilities beyond %g cannot be compared", largest)
		}
	}
	return nil
}

// of is what is at stake in a row, as it was given.
func (c *curve) of(row int) decision.Stakes { return c.stakes[row%len(c.stakes)] }

// with is what is at stake in a row with another value of the entry, until it is asked
// again.
func (c *curve) with(row int, value float64) decision.Stakes {
	given := c.of(row).Table
	copy(c.scratch.Table, given)
	if c.factor != nil {
		value *= c.factor[row]
	}
	c.changed = append(c.changed[:0], given[c.action]...)
	c.changed[c.outcome] = value
	c.scratch.Table[c.action] = c.changed
	return c.scratch
}

// response decides the rows under each value of the entry.
func (c *curve) response(ctx context.Context, values []float64) (*CurveResponse, error) {
	out := &CurveResponse{Costs: c.spec.Costs(), Actions: c.spec.Actions(), Rows: c.rows.N, Ignored: c.rows.Ignored}
	for _, label := range c.rows.Labels {
		switch {
		case label > 0:
			out.Labelled++
		case label < 0:
			out.Unknown++
		}
	}
	held := make([]int, c.rows.N) // the actions under the utility as it was given
	for i, p := range c.p {
		held[i] = c.of(i).Best(p, -1)
	}
	for _, name := range out.Actions {
		out.Constant = append(out.Constant, CurveConstant{name, make([]float64, len(values))})
	}
	expected := make([]float64, len(out.Actions))
	for k, value := range values {
		if err := ctx.Err(); err != nil {
			return nil, problem.Late(ctx, err)
		}
		point, realised := CurvePoint{Value: value}, 0.0
		for i, p := range c.p {
			s := c.with(i, value)
			best := s.Choose(expected, p).Action
			for a, x := range expected {
				out.Constant[a].Expected[k] += x / float64(out.Rows)
			}
			point.Expected += expected[best] / float64(out.Rows)
			point.Held += expected[held[i]] / float64(out.Rows)
			if best != held[i] {
				point.Flipped++
			}
			if y := c.rows.Labels[i]; y > 0 {
				realised += s.Table[best][y-1] / float64(out.Labelled)
			}
		}
		if out.Labelled > 0 {
			point.Realised = &realised
		}
		out.Points = append(out.Points, point)
	}
	return out, nil
}

func (s *Server) exploreReactor(x *exchange) error {
	return solve(s, x, func(ctx context.Context, q lab.ReactorRequest) (*lab.ReactorView, error) { return q.Solve(ctx) })
}

func (s *Server) exploreClassifier(x *exchange) error {
	return solve(s, x, func(ctx context.Context, q lab.Classifier) (*lab.ClassifierView, error) { return q.Solve(ctx) })
}

// solve reads a problem of package lab, has it solved, and writes the view.
func solve[Q, A any](s *Server, x *exchange, solve func(context.Context, Q) (*A, error)) error {
	const most = 64 << 10 // ten times what the largest problem takes
	body, err := s.readBody(x, most, "application/json")
	var refused *problem.Problem
	if errors.As(err, &refused) && refused.Status == http.StatusRequestEntityTooLarge {
		refused.Detail = fmt.Sprintf("the body has more than %d bytes, and no problem that is explored takes as many; send fewer points", most)
	}
	if err != nil {
		return err
	}
	defer body.free()
	var q Q
	if err := problem.Strict("", body.Bytes(), &q); err != nil {
		return err
	}
	ctx, cancel := s.deadline(x)
	defer cancel()
	if err := s.exploring.enter(ctx); err != nil {
		return problem.Late(ctx, err)
	}
	defer s.exploring.leave()
	ctx, stop := context.WithTimeout(ctx, s.config.ExploreDeadline)
	defer stop()
	view, err := solve(s.long(ctx, x), q)
	var input *lab.InputError
	switch {
	case errors.As(err, &input):
		return problem.Wrong(input.Field, "%s", input.Msg)
	case err != nil:
		return problem.Late(ctx, err)
	}
	x.writeJSON(view)
	return nil
}
