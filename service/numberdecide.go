package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// NumberDecider decides cases one after another under costs, and counts what it decided.
type NumberDecider struct {
	Model    *numbers.Model
	Costs    *decision.NumberCosts
	Limits   *NumberLimits // nil if there is no capacity
	Shortage *Shortage     // once it is shared out
	Decided  int
	AtEdge   int     // cases whose action is at the edge of its range
	Expected float64 // sum of expected costs
}

// Decide chooses the action of a case by what is at stake in it, unless the context ends. Costs are checked at the first; what is
// wrong with a case alone is given its place.
func (d *NumberDecider) Decide(ctx context.Context, stake decision.Stake, c *NumberCase, at func(error) error) error {
	stake.Stop = ctx.Err
	if d.Decided == 0 {
		if err := d.Model.Check(d.Costs, stake, c.Distribution); err != nil {
			return err
		}
	}
	c.Stake, c.Choice = stake, stake.Choose(c.Distribution)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.Costs.CheckChoice(c.Choice); err != nil {
		return at(err)
	}
	d.Decided++
	d.Expected += c.Choice.Expected
	if c.Choice.AtEdge {
		d.AtEdge++
	}
	return nil
}

// EdgeNote says in how many cases the action is at the edge of its range, "" if in none.
func (d *NumberDecider) EdgeNote() string {
	if d.AtEdge == 0 {
		return ""
	}
	return fmt.Sprintf("the action is at the edge of its range in %s; a wider range might cost less", table.Plural(d.AtEdge, "row"))
}

// Fields are what is said about a decided case.
func (d *NumberDecider) Fields() []Field {
	fields := append([]Field{
		numberField("cost", func(c *Case) float64 { return c.Number.Choice.Expected }),
		numberField("mean", func(c *Case) float64 { return c.Number.Mean() }),
	}, d.Limits.Fields()...)
	if names := d.Costs.Actions().Choices; names != nil {
		at := func(c *Case) int { return int(c.Number.Choice.Action) }
		return append([]Field{
			{Name: "action", Columns: []string{"action"}, Text: func(c *Case) string { return names[at(c)] }},
			{Name: "action_index", Whole: at},
		}, fields...)
	}
	return append([]Field{numberField("action", func(c *Case) float64 { return c.Number.Choice.Action })}, append(fields,
		numberField("lower", func(c *Case) float64 { return c.Number.Choice.Lower }),
		numberField("cost_lower", func(c *Case) float64 { return c.Number.Choice.ExpectedLower }),
		numberField("higher", func(c *Case) float64 { return c.Number.Choice.Higher }),
		numberField("cost_higher", func(c *Case) float64 { return c.Number.Choice.ExpectedHigher }))...)
}

type decidingNumbers struct {
	answer
	NumberDecider
	request  *Decide
	only     int // the action whose cases are handed over, −1 for all
	realised float64
	labelled int
	trained  *lossep.Trained
	seen     int    // rows with a known outcome that the model was fitted to
	unread   int    // rows whose outcome is no number
	first    string // of them, and why
}

// numberCounts are what decidingNumbers counts.
type numberCounts struct {
	Rows, Decided, AtEdge, Labelled, Seen, Unread int
	Expected, Realised                            float64
	First                                         string
}

// Counted and Count implement Parted.
func (d *decidingNumbers) Counted() any {
	return numberCounts{d.rows, d.Decided, d.AtEdge, d.labelled, d.seen, d.unread, d.Expected, d.realised, d.first}
}

func (d *decidingNumbers) Count(others []byte) error {
	var o numberCounts
	err := json.Unmarshal(others, &o)
	d.rows, d.Decided, d.AtEdge, d.labelled, d.seen = d.rows+o.Rows, d.Decided+o.Decided, d.AtEdge+o.AtEdge, d.labelled+o.Labelled, d.seen+o.Seen
	d.Expected, d.realised = d.Expected+o.Expected, d.realised+o.Realised
	d.unread, d.first = d.unread+o.Unread, cmp.Or(d.first, o.First)
	return err
}

func (d *decidingNumbers) Fields() []Field { return fileFields(d.NumberDecider.Fields()) }

func (d *decidingNumbers) Columns() []string {
	columns := d.Costs.Columns()
	if d.Limits != nil {
		columns = append(columns, d.Limits.Columns()...)
	}
	if name := d.request.Column(); name != "" {
		columns = append(columns, name)
	}
	return slices.DeleteFunc(columns, func(name string) bool { return name == d.model.Recipe().Target.Column })
}

func (d *decidingNumbers) Rows(ctx context.Context, rd *recipe.Reader, several bool, to Emit) error {
	emit := func(cells func() []string, c *Case) error {
		if d.only >= 0 && int(c.Number.Choice.Action) != d.only {
			return nil
		}
		return to(cells, c)
	}
	if d.Limits != nil {
		return d.allocated(ctx, rd, several, emit)
	}
	return d.each(ctx, rd, several, emit, func(row numbers.Row, c *NumberCase) error {
		if err := d.decide(ctx, row, c); err != nil {
			return err
		}
		if y, ok := d.outcomeOf(row); ok {
			d.realise(c, y)
		}
		return nil
	})
}

// decide chooses the action of a row by what is at stake in it.
func (d *decidingNumbers) decide(ctx context.Context, row numbers.Row, c *NumberCase) error {
	stake, err := row.Bind(d.Costs)
	if err != nil {
		return err
	}
	return d.Decide(ctx, stake, c, row.Located)
}

// outcomeOf is the outcome of a row, if it is known, and counts what it is like.
func (d *decidingNumbers) outcomeOf(row numbers.Row) (y float64, known bool) {
	y, known, err := row.OutcomeNumber()
	if at := new(table.Error); errors.As(err, &at) {
		if d.unread++; d.first == "" {
			d.first = lineID(at, false) + ": " + at.Msg
		}
	}
	if known && d.trained.Has(row.X) {
		d.seen++
	}
	return y, known
}

// realise counts what the action really cost.
func (d *decidingNumbers) realise(c *NumberCase, y float64) {
	d.labelled++
	d.realised += c.Stake.Cost(c.Choice.Action, y)
}

func (d *decidingNumbers) Lines(Naming) []string {
	lines := []string{fmt.Sprintf("decided %s (costs %s)", table.Plural(d.rows, "row"), d.Costs)}
	if d.rows > 0 {
		lines = append(lines, fmt.Sprintf("expected cost per row %.6g, estimated by the model", d.Expected/float64(d.rows)))
	}
	if d.labelled > 0 {
		lines = append(lines, fmt.Sprintf("realised cost per row %.6g, on the %s with a known outcome", d.realised/float64(d.labelled), table.Plural(d.labelled, "row")))
		if d.trained.Optimistic(d.seen, d.labelled) {
			lines = append(lines, inSample(d.seen))
		}
	}
	if d.unread > 0 {
		lines = append(lines, fmt.Sprintf("outcomes that cannot be read: %s, the first in line %s", table.Plural(d.unread, "row"), d.first))
	}
	if note := d.EdgeNote(); note != "" {
		lines = append(lines, note)
	}
	if d.Shortage != nil {
		lines = append(lines, d.Shortage.Lines()...)
	}
	if of := d.model.Method(); of.Calibrated() && d.Costs.String() != d.model.Costs().String() {
		lines = append(lines, fmt.Sprintf("the model was calibrated to other costs, %s; fit again with these, or by %s", d.model.Costs(), of.Plain()))
	}
	return append(lines, warnings(d.model)...)
}
