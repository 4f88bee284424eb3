package worker

import (
	"context"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/budget"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/service"
)

// DescribedNumbers is what a program receives of a model whose outcome is a number.
type DescribedNumbers struct {
	describedRows
	Report   *service.NumberReport `json:"report"`
	CostsOf  []string              `json:"cost_columns"` // that the costs of a case are made of
	Actions  []string              `json:"actions"`      // those that are no numbers
	Warnings []string              `json:"warnings"`
	Seconds  float64               `json:"seconds"`
}

// keepNumbers puts a model on the shelf and describes it.
func (s *session) keepNumbers(m *numbers.Model, notes []string, work *budget.Share) *DescribedNumbers {
	return &DescribedNumbers{
		describedRows: s.keepRows(m, service.Number, notes, work), Report: service.NewNumberReport(m),
		CostsOf: m.Costs().Columns(), Actions: m.Costs().Actions().Choices, Warnings: m.Warnings(),
	}
}

// fitNumbers fits a model whose outcome is a number.
func (j *job) fitNumbers(ctx context.Context) (any, []Tensor, error) {
	o, err := j.fitting()
	if err != nil {
		return nil, nil, err
	}
	costs, err := j.Utility.numbers()
	if err != nil {
		return nil, nil, err
	}
	p, err := numbers.Prepare(j.rows, o, costs)
	if err != nil {
		return nil, nil, err
	}
	work, err := j.wait(ctx, "the fit", p.FitBytes())
	if err != nil {
		return nil, nil, err
	}
	defer work.Release()
	m, err := p.Fit(ctx)
	if err != nil {
		return nil, nil, err
	}
	return j.keepNumbersWithFile(m, service.Naming(keywords).Notes(p.Notes, p.Findings), work)
}

// keepNumbersWithFile is keepNumbers with the file of the model.
func (j *job) keepNumbersWithFile(m *numbers.Model, notes []string, work *budget.Share) (any, []Tensor, error) {
	model, err := file(m)
	if err != nil {
		return nil, nil, err
	}
	d := j.keepNumbers(m, notes, work)
	d.Seconds = time.Since(j.start).Seconds()
	return d, []Tensor{model}, nil
}

// updateNumbers is the model with further rows, or without those that are given. The answer has its file.
func (j *job) updateNumbers(ctx context.Context) (any, []Tensor, error) {
	seen, _ := j.number.Inputs().Dims()
	next, work, err := updated(ctx, j, j.number.Update, 2*j.number.Bytes()+lossep.EP.FitBytes(seen))
	if err != nil {
		return nil, nil, err
	}
	defer work.Release()
	return j.keepNumbersWithFile(next, nil, work)
}

// allocateNumbers decides the rows within a capacity, which is shared out when all are known.
func (j *job) allocateNumbers(ctx context.Context, d *service.NumberDecider, q service.Capacity, decide func(i int, x []float64, c *service.Case) error) (found predicted, tensors []Tensor, err error) {
	var all []*service.Case
	bytes := int64(0)
	found, _, err = j.numberCases(ctx, j.number.Recipe(), nil, func(i int, x []float64, c *service.Case) error {
		err := decide(i, x, c)
		all, bytes = append(all, c), bytes+d.Limits.Bytes(c.Number)
		return err
	})
	if err != nil {
		return found, nil, err
	}
	if err := j.take(j.share, "the capacity", float64(bytes)); err != nil {
		return found, nil, err
	}
	q.Dates = j.number.Recipe().DateOrder(q.Time)
	if err := d.AllocateTable(j.rows, all, q, j.number.Recipe().Missing...); err != nil {
		return found, nil, err
	}
	c := newCollected(len(all), d.Fields())
	for _, one := range all {
		c.add(one)
	}
	found.Capacity = d.Shortage
	return found, c.tensors(), nil
}

// numberCases answers about the rows, as a recipe reads them, which use says about each, with its place and its features.
func (j *job) numberCases(ctx context.Context, r *recipe.Recipe, fields []service.Field, use func(i int, x []float64, c *service.Case) error) (found predicted, tensors []Tensor, err error) {
	d := newCollected(j.rows.Len(), fields)
	report, err := j.blocks(ctx, r, j.number.RowBytes(), d, func(x *mat.Dense, from, _ int) error {
		all, err := j.number.Predict(x)
		for i, distribution := range all {
			c := &service.Case{Number: &service.NumberCase{Distribution: distribution}}
			if err := use(from+i, x.RawRowView(i), c); err != nil {
				return err
			}
			if err := service.CheckNumbers(fields, c); err != nil {
				return numbers.Located(j.rows.Place(from+i), err)
			}
			d.add(c)
		}
		return err
	})
	if err != nil {
		return found, nil, err
	}
	found.Costs = true
	found.report(report, j.start)
	return found, d.tensors(), nil
}

// predictNumbers gives the mean and the quantiles that are asked for.
func (j *job) predictNumbers(ctx context.Context) (any, []Tensor, error) {
	q := new(service.Predict)
	if err := q.Asked().Give(j.Options); err != nil {
		return nil, nil, err
	}
	fields, err := q.NumberFields()
	if err != nil {
		return nil, nil, err
	}
	return j.numberCases(ctx, j.number.Recipe(), fields, func(int, []float64, *service.Case) error { return nil })
}

// decideNumbers gives the action, what it and its neighbours are expected to cost, and the mean.
func (j *job) decideNumbers(ctx context.Context) (any, []Tensor, error) {
	q := new(service.Decide)
	if err := given(append(q.Periods(), q.Limit()), j.Options); err != nil {
		return nil, nil, err
	}
	costs, stakes, err := j.numberStakes()
	if err != nil {
		return nil, nil, err
	}
	d := &service.NumberDecider{Model: j.number, Costs: costs}
	if d.Limits, err = q.WithinNumbers(costs); err != nil {
		return nil, nil, err
	}
	decide := func(i int, _ []float64, c *service.Case) error {
		return d.Decide(ctx, stakes[i%len(stakes)], c.Number, func(err error) error { return numbers.Located(j.rows.Place(i), err) })
	}
	var found predicted
	var tensors []Tensor
	if d.Limits == nil {
		found, tensors, err = j.numberCases(ctx, j.number.Recipe(), d.Fields(), decide)
	} else {
		found, tensors, err = j.allocateNumbers(ctx, d, q.Capacity, decide)
	}
	if err != nil {
		return nil, nil, err
	}
	found.Actions = costs.Actions().Choices
	if note := d.EdgeNote(); note != "" {
		found.Notes = append(found.Notes, note)
		found.Unseen = append(found.Unseen, note)
	}
	return found, tensors, nil
}

// numberStakes are the costs of the request, or the model's own, and what is at stake in each row, or in all of them.
func (j *job) numberStakes() (*decision.NumberCosts, []decision.Stake, error) {
	costs, err := j.Utility.numbers()
	if err != nil {
		return nil, nil, err
	}
	if costs == nil {
		costs = j.number.Costs()
	}
	if err := j.take(j.share, "the costs of the cases", 64*float64(j.rows.Len())); err != nil {
		return nil, nil, err
	}
	stakes, err := numbers.StakesOf(costs, j.rows, j.number.Recipe().Missing...)
	return costs, stakes, err
}

// valueNumbers says what it would be worth to know more about the rows.
func (j *job) valueNumbers(ctx context.Context) (any, []Tensor, error) {
	var q service.Worth
	if err := q.Asked().Give(j.Options); err != nil {
		return nil, nil, err
	}
	costs, stakes, err := j.numberStakes()
	if err != nil {
		return nil, nil, err
	}
	v, err := service.NewNumberValuer(j.number, costs, q.Ask)
	if err != nil {
		return nil, nil, err
	}
	var labels []float64
	if q.Ask.Labels {
		if err := j.take(j.share, "what labels are worth", float64(j.number.LabelBytes(min(j.rows.Len(), numbers.MostLabelled)))); err != nil {
			return nil, nil, err
		}
		x, _, err := j.number.Recipe().Apply(j.rows)
		if err != nil {
			return nil, nil, err
		}
		if labels, err = v.Labels(ctx, x, stakes); err != nil {
			return nil, nil, err
		}
	}
	found, tensors, err := j.numberCases(ctx, j.number.Recipe().WithOpen(q.Ask.Columns...), v.Fields(q.Prices), func(i int, x []float64, c *service.Case) (err error) {
		at := func(err error) error { return numbers.Located(j.rows.Place(i), err) }
		if c.Worth, err = v.Value(ctx, stakes[i%len(stakes)], x, c.Number, at); err == nil && labels != nil {
			c.Worth.Label = labels[i]
		}
		return err
	})
	found.Actions = costs.Actions().Choices
	return found, tensors, err
}
