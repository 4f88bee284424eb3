package service

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// waiting is a case that waits until all are known, and a capacity is shared out.
type waiting struct {
	c       Case
	cells   []string
	outcome knownOutcome
	period  string
	place   *table.Error
}

// allocated goes over the rows, then shares the capacity out, then hands over. All cases are held in
// memory meanwhile, up to what the request allows.
func (a *Deciding) allocated(ctx context.Context, rd *recipe.Reader, id identity, emit Emit) error {
	if err := a.request.checkColumn(rd.Columns()); err != nil {
		return err
	}
	period := identity{column: slices.Index(rd.Columns(), a.request.Column())}
	var all []*waiting
	var efforts [][][]float64
	bytes := int64(0)
	for d, err := range a.model.Decisions(ctx, rd, a.spec, a.request.SecondOpinion) {
		if err != nil {
			return err
		}
		of, err := a.limits.Efforts(d.Row.Value)
		if err != nil {
			return effortError(err, d.Row.Place())
		}
		w := &waiting{c: Case{ID: id.of(d.Row), Decision: &d.Decision, Unusual: d.Row.Unusual()}, outcome: a.outcomeOf(&d)}
		if a.request.Keep {
			w.cells = d.Row.Pointed()
		}
		if period.column >= 0 {
			w.period, w.place = period.of(d.Row), d.Row.Place()
		}
		if bytes += a.limits.Bytes() + w.size(); a.request.Memory > 0 && bytes > a.request.Memory {
			return optionError("capacity", "more than %d rows take more memory than there is to share a capacity out, %s; decide fewer at a time, or give more by {max-memory}", len(all), SizeText(a.request.Memory))
		}
		all, efforts = append(all, w), append(efforts, of)
	}
	over := a.request.Division
	over.Dates = a.model.Recipe().DateOrder(over.Time)
	groups, err := over.Groups(len(all), func(i int) string { return all[i].period }, func(i int) *table.Error { return all[i].place })
	if err != nil {
		return err
	}
	decisions := make([]*lossep.Decision, len(all))
	for i, w := range all {
		decisions[i] = w.c.Decision
	}
	limited, short, err := a.limits.Allocate(decisions, efforts, groups)
	if err != nil {
		return err
	}
	a.shortage = short
	cases := make([]*Case, len(all))
	for i, w := range all {
		w.c.Limited = &limited[i]
		a.count(&w.c)
		a.countOutcome(w.outcome, w.c.Decision)
		cases[i] = &w.c
	}
	for _, i := range a.listed(cases) {
		if err := emit(func() []string { return all[i].cells }, cases[i]); err != nil {
			return err
		}
	}
	return nil
}

// listed are the numbers of the cases that are written, in their order. Under a capacity, where no other order is asked for,
// those that get some of it come first, and of these and of the others those that save most.
func (a *Deciding) listed(cases []*Case) (order []int) {
	for i, c := range cases {
		if a.shows(c.Decision) {
			order = append(order, i)
		}
	}
	if a.limits == nil || a.request.Sort != "" {
		return order
	}
	gets := func(c *Case) int {
		if slices.Max(c.Limited.Efforts) > 0 {
			return 1
		}
		return 0
	}
	saving := func(c *Case) float64 { return c.saving(a.baseline, a.spec.Costs()) }
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(gets(cases[j]), gets(cases[i])), cmp.Compare(saving(cases[j]), saving(cases[i])))
	})
	if a.request.Top > 0 {
		order = order[:min(len(order), a.request.Top)]
	}
	return order
}

// size is about how many bytes the case takes.
func (w *waiting) size() int64 {
	d := w.c.Decision
	bytes := int64(320) + int64(len(w.c.ID)+len(w.period)) + 8*int64(len(d.Expected)+len(d.Probabilities))
	for _, cell := range w.cells {
		bytes += 16 + int64(len(cell))
	}
	for _, name := range w.c.Unusual {
		bytes += 16 + int64(len(name))
	}
	if w.place != nil {
		bytes += 160
	}
	return bytes
}

// effortError gives an error of an effort its place, unless it has one.
func effortError(err error, at *table.Error) error {
	if located := new(table.Error); errors.As(err, &located) {
		return err
	}
	at.Msg, at.Err = err.Error(), err
	return at
}

// AllocateTable shares a capacity out to the cases of a table, which are decided without it. The table
// may be nil where no column is needed.
func (l *Limits) AllocateTable(t *table.Table, all []lossep.Decision, c Capacity, missing ...string) ([]Limited, *Shortage, error) {
	efforts, groups, err := c.ofTable(l.Capacities, t, len(all), missing...)
	if err != nil {
		return nil, nil, err
	}
	decisions := make([]*lossep.Decision, len(all))
	for i := range all {
		decisions[i] = &all[i]
	}
	return l.Allocate(decisions, efforts, groups)
}

// ofTable are the efforts of n rows of a table, and the periods that they are in.
func (c *Capacity) ofTable(l *decision.Capacities, t *table.Table, n int, missing ...string) (efforts [][][]float64, groups []string, err error) {
	var columns []string
	if t != nil {
		columns = t.Columns()
	}
	if err := c.checkColumn(columns); err != nil {
		return nil, nil, err
	}
	values := make(map[string][]float64)
	for _, name := range l.Columns() {
		if t == nil {
			return nil, nil, optionError("capacity", "the effort depends on the column %q, which is not given", name)
		}
		if values[name], err = t.Floats(name, missing...); err != nil {
			return nil, nil, err
		}
	}
	efforts = make([][][]float64, n)
	for i := range efforts {
		if efforts[i], err = l.Efforts(func(column string) (float64, error) { return values[column][i], nil }); err != nil {
			return nil, nil, effortError(err, t.Place(i))
		}
	}
	if c.Column() != "" {
		groups, err = t.Divided(c.Division)
	}
	return efforts, groups, err
}
