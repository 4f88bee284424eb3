package server

import (
	"context"
	"math"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/server/problem"
)

// curveRow is a row of a curve, with everything that stays as the entry changes. Of all
// actions' expected utilities only that of the entry's action moves, so that each value
// is a comparison of two numbers, however many actions there are.
type curveRow struct {
	p             []float64 // the probabilities of the outcomes
	factor        float64   // what the entry is a multiple of
	weight        float64   // the probability of the entry's outcome
	fixed         float64   // the part of its action's expectation that stays
	held          int       // the action under the utility as it was given
	heldExpected  float64   // and its expectation, if it is another than the entry's
	other         int       // the best of the other actions
	otherExpected float64   // and its expectation
}

// prepare works out the rows and, for each action, the average expectation over all of
// them; that of the entry's action has no meaning.
func (c *curve) prepare() (all []curveRow, constant []float64) {
	all = make([]curveRow, c.rows.N)
	actions := len(c.spec.Actions())
	constant, others := make([]float64, actions), decision.Stakes{Costs: c.spec.Costs()}
	for i, p := range c.p {
		s := c.of(i)
		row := curveRow{p: p, factor: 1, weight: p[c.outcome]}
		for y, u := range s.Table[c.action] {
			if y != c.outcome {
				row.fixed += u * p[y]
			}
		}
		if c.factor != nil {
			row.factor = c.factor[i]
		}
		row.held = s.Best(p, -1)
		row.heldExpected = s.Expected(row.held, p)
		others.Table = append(append(others.Table[:0], s.Table[:c.action]...), s.Table[c.action+1:]...)
		row.other = others.Best(p, -1)
		row.otherExpected = others.Expected(row.other, p)
		if row.other >= c.action {
			row.other++
		}
		for a := range s.Table {
			constant[a] += s.Expected(a, p) / float64(c.rows.N)
		}
		all[i] = row
	}
	return all, constant
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
	rows, constant := c.prepare()
	for a, name := range out.Actions {
		one := CurveConstant{name, make([]float64, len(values))}
		for k := range values {
			one.Expected[k] = constant[a]
		}
		out.Constant = append(out.Constant, one)
	}
	for k, value := range values {
		if err := ctx.Err(); err != nil {
			return nil, problem.Late(ctx, err)
		}
		point, moved := c.point(rows, value, out.Labelled)
		out.Points = append(out.Points, point)
		out.Constant[c.action].Expected[k] = moved
	}
	return out, nil
}

// point decides the rows under one value of the entry. It also gives what it costs, or
// brings, to take the entry's action in all of them.
func (c *curve) point(rows []curveRow, value float64, labelled int) (point CurvePoint, always float64) {
	point.Value = value
	n, realised := float64(len(rows)), 0.0
	for i := range rows {
		row := &rows[i]
		entry := value * row.factor
		moved := row.fixed + entry*row.weight
		best, expected := row.other, row.otherExpected
		if c.prefers(i, row, value, moved) {
			best, expected = c.action, moved
		}
		kept := row.heldExpected
		if row.held == c.action {
			kept = moved
		}
		always += moved / n
		point.Expected += expected / n
		point.Held += kept / n
		if best != row.held {
			point.Flipped++
		}
		if y := c.rows.Labels[i]; y > 0 {
			got := c.of(i).Table[best][y-1]
			if best == c.action && int(y-1) == c.outcome {
				got = entry
			}
			realised += got / float64(labelled)
		}
	}
	if labelled > 0 {
		point.Realised = &realised
	}
	return point, always
}

// prefers tells whether the entry's action is the best in a row where its expectation is
// the one given. What is nearly a tie goes by the rules of the table.
func (c *curve) prefers(i int, row *curveRow, value, moved float64) bool {
	const near = 1e-12 // far above rounding, and the ties of tables
	if d := moved - row.otherExpected; math.Abs(d) > near*max(math.Abs(moved), math.Abs(row.otherExpected)) {
		return (d < 0) == c.spec.Costs()
	}
	return c.with(i, value).Best(row.p, -1) == c.action
}
