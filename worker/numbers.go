package worker

import (
	"context"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/internal/budget"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// DescribedNumbers is what a program is told of a model whose outcome is a number.
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

// numbersOf is the model of a request if its outcome is a number, nil otherwise.
func (s *session) numbersOf(r *request) (*numbers.Model, func()) {
	m, done, err := s.models.useAny(r.Model)
	if err != nil {
		return nil, nil
	}
	n, ok := m.(*numbers.Model)
	if !ok {
		done()
	}
	return n, done
}

// fitNumbers fits a model whose outcome is a number.
func (s *session) fitNumbers(ctx context.Context, r *request, f *Frame, share *budget.Share, o lossep.Options, start time.Time) (any, []Tensor, error) {
	costs, err := r.Utility.numbers()
	if err != nil {
		return nil, nil, err
	}
	t, err := s.rows(r, f, share)
	if err != nil {
		return nil, nil, err
	}
	p, err := numbers.Prepare(t, o, costs)
	if err != nil {
		return nil, nil, err
	}
	work, err := s.wait(ctx, "the fit", p.FitBytes())
	if err != nil {
		return nil, nil, err
	}
	defer work.Release()
	m, err := p.Fit(ctx)
	if err != nil {
		return nil, nil, err
	}
	model, err := file(m)
	if err != nil {
		return nil, nil, err
	}
	d := s.keepNumbers(m, p.Notes, work)
	d.Seconds = time.Since(start).Seconds()
	return d, []Tensor{model}, nil
}

// numberCases answers about the rows of a request, which use says about each, with its place.
func (s *session) numberCases(ctx context.Context, r *request, t *table.Table, share *budget.Share, m *numbers.Model, fields []service.Field, use func(i int, c *service.Case) error) (any, []Tensor, error) {
	start := time.Now()
	d := newCollected(t.Len(), fields)
	block, err := s.room(share, m.RowBytes(), t.Len(), d.numbers())
	if err != nil {
		return nil, nil, err
	}
	report, err := s.blocks(ctx, r, m.Recipe(), t, block, func(x *mat.Dense, from, _ int) error {
		all, err := m.Predict(x)
		for i, distribution := range all {
			c := &service.Case{Number: &service.NumberCase{Distribution: distribution}}
			if err := use(from+i, c); err != nil {
				return err
			}
			if err := service.CheckNumbers(fields, c); err != nil {
				return numbers.Located(t.Place(from+i), err)
			}
			d.add(c)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	found := predicted{Costs: true}
	found.report(report, start)
	return found, d.tensors(), nil
}

// predictNumbers gives the mean and the quantiles that are asked for.
func (s *session) predictNumbers(ctx context.Context, r *request, f *Frame, share *budget.Share, m *numbers.Model) (any, []Tensor, error) {
	q := new(service.Predict)
	if err := q.Asked().Give(r.Options); err != nil {
		return nil, nil, err
	}
	fields, err := q.NumberFields()
	if err != nil {
		return nil, nil, err
	}
	t, err := r.table(f)
	if err != nil {
		return nil, nil, err
	}
	return s.numberCases(ctx, r, t, share, m, fields, func(int, *service.Case) error { return nil })
}

// decideNumbers gives the action, what it and its neighbours are expected to cost, and the mean.
func (s *session) decideNumbers(ctx context.Context, r *request, f *Frame, share *budget.Share, m *numbers.Model) (any, []Tensor, error) {
	if err := (service.Options{}).Give(r.Options); err != nil {
		return nil, nil, err
	}
	costs, err := r.Utility.numbers()
	if err != nil {
		return nil, nil, err
	}
	if costs == nil {
		costs = m.Costs()
	}
	t, err := r.table(f)
	if err != nil {
		return nil, nil, err
	}
	if err := s.take(share, "the costs of the cases", 64*float64(t.Len())); err != nil {
		return nil, nil, err
	}
	stakes, err := numbers.StakesOf(costs, t, m.Recipe().Missing...)
	if err != nil {
		return nil, nil, err
	}
	d := &service.NumberDecider{Model: m, Costs: costs}
	result, tensors, err := s.numberCases(ctx, r, t, share, m, d.Fields(), func(i int, c *service.Case) error {
		return d.Decide(stakes[i%len(stakes)], c.Number, func(err error) error { return numbers.Located(t.Place(i), err) })
	})
	if found, ok := result.(predicted); ok {
		found.Actions = costs.Actions().Choices
		if note := d.EdgeNote(); note != "" {
			found.Notes = append(found.Notes, note)
			found.Unseen = append(found.Unseen, note)
		}
		result = found
	}
	return result, tensors, err
}
