package service

import (
	"context"
	"slices"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// NumberLimits decides cases whose outcome is a number within a capacity.
type NumberLimits struct {
	*decision.Capacities
	costs *decision.NumberCosts
	Per   string // empty for all cases together
}

// WithinNumbers are the limits on decisions under costs of numbers, nil if there are none.
func (c *Capacity) WithinNumbers(costs *decision.NumberCosts) (*NumberLimits, error) {
	if len(c.Limits) == 0 {
		return nil, c.Check()
	}
	all, err := costs.Within(c.Limits)
	if err != nil {
		return nil, &Error{Option: "capacity", Msg: err.Error(), Err: err}
	}
	return &NumberLimits{all, costs, c.Per}, c.Check()
}

// Fields are what is said about a case within limits.
func (l *NumberLimits) Fields() []Field {
	if l == nil {
		return nil
	}
	fields := []Field{numberField("unlimited", func(c *Case) float64 { return c.Number.Free.Action })}
	if names := l.costs.Actions().Choices; names != nil {
		fields = []Field{
			{Name: "unlimited", Columns: []string{"unlimited"}, Text: func(c *Case) string { return names[int(c.Number.Free.Action)] }},
			{Name: "unlimited_index", Whole: func(c *Case) int { return int(c.Number.Free.Action) }},
		}
	}
	fields = append(fields, numberField("forgone", func(c *Case) float64 { return max(0, c.Number.Choice.Expected-c.Number.Free.Expected) }))
	return append(fields, limitFields(l.Capacities, l.Per)...)
}

// Bytes is about how much memory a case that is decided takes until all are.
func (l *NumberLimits) Bytes(c *NumberCase) int64 {
	actions := l.costs.Actions().Len()
	if actions == 0 && c.Whole() { // those up to the best
		actions = 1 + int(min(max(c.Choice.Action, 0), 1e6))
	}
	return 512 + numbers.Bytes(c.Distribution) + int64(actions*(64+16*len(l.All)))
}

// Allocate gives cases that are decided the actions that are best within the limits, in each period by itself, and says what
// limits cost. Efforts are those of each case, and groups may be nil.
func (d *NumberDecider) Allocate(cases []*Case, efforts [][][]float64, groups []string) error {
	var err error
	d.Shortage, err = sharedOut(d.Limits.Capacities, d.Limits.Per, len(cases), groups, func(rows []int, short *Shortage, name string) (*decision.Allocation, error) {
		some := make([]decision.NumberCase, len(rows))
		for k, n := range rows {
			some[k] = decision.NumberCase{Stake: cases[n].Number.Stake, Of: cases[n].Number.Distribution, Efforts: efforts[n]}
		}
		choices, out, err := d.Limits.AllocateNumbers(some)
		if err != nil {
			return nil, err
		}
		for k, n := range rows {
			c := cases[n].Number
			c.Free, c.Choice = c.Choice, choices[k]
			if err := d.Costs.CheckChoice(c.Choice); err != nil {
				return nil, err
			}
			d.Expected += c.Choice.Expected - c.Free.Expected
			if c.Choice.Action != c.Free.Action {
				short.Changed++
			}
			cases[n].Limited = &Limited{Efforts: some[k].Takes(c.Choice.Action), Period: name}
		}
		return out, nil
	})
	return err
}

// AllocateTable is Allocate of the cases of a table.
func (d *NumberDecider) AllocateTable(t *table.Table, cases []*Case, c Capacity, missing ...string) error {
	efforts, groups, err := c.ofTable(d.Limits.Capacities, t, len(cases), missing...)
	if err != nil {
		return err
	}
	return d.Allocate(cases, efforts, groups)
}

// allocated goes over the rows, then shares the capacity out, then hands over. All cases are held in memory meanwhile, up to what
// the request allows.
func (d *decidingNumbers) allocated(ctx context.Context, rd *recipe.Reader, several bool, emit Emit) error {
	if err := d.request.checkColumn(rd.Columns()); err != nil {
		return err
	}
	period := identity{column: slices.Index(rd.Columns(), d.request.Column())}
	var all []*Case
	var cells [][]string
	var efforts [][][]float64
	var periods []string
	var places []*table.Error
	var outcomes []func() // what is counted of them once actions are known
	bytes := int64(0)
	hold := func(of func() []string, c *Case) error {
		var kept []string
		if d.request.Keep {
			kept = of()
		}
		all, cells = append(all, c), append(cells, kept)
		if bytes += d.Limits.Bytes(c.Number) + 32*int64(len(kept)); d.request.Memory > 0 && bytes > d.request.Memory {
			return optionError("capacity", "more than %d rows take more memory than there is to share a capacity out, %s; decide fewer at a time, or give more by {max-memory}", len(all), SizeText(d.request.Memory))
		}
		return nil
	}
	err := d.each(ctx, rd, several, hold, func(row numbers.Row, c *NumberCase) error {
		if err := d.decide(ctx, row, c); err != nil {
			return err
		}
		of, err := d.Limits.Efforts(row.Value)
		if err != nil {
			return row.Located(err)
		}
		efforts = append(efforts, of)
		if period.column >= 0 {
			periods, places = append(periods, period.of(row.Row)), append(places, row.Place())
		}
		if y, ok := d.outcomeOf(row); ok {
			outcomes = append(outcomes, func() { d.realise(c, y) })
		}
		return nil
	})
	if err != nil {
		return err
	}
	over := d.request.Division
	over.Dates = d.model.Recipe().DateOrder(over.Time)
	groups, err := over.Groups(len(all), func(i int) string { return periods[i] }, func(i int) *table.Error { return places[i] })
	if err != nil {
		return err
	}
	if err := d.Allocate(all, efforts, groups); err != nil {
		return err
	}
	for _, count := range outcomes {
		count()
	}
	for i, c := range all {
		if err := emit(func() []string { return cells[i] }, c); err != nil {
			return err
		}
	}
	return nil
}
