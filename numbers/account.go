package numbers

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/table"
)

// Account is what the decision on a case costs: by the model, with the variance, and once its outcome is known.
type Account struct {
	decision.NumberChoice
	Variance float64
	// Cost is what it cost, and Inside the part of the outcome in the interval that should have 90 % of all; NaN where the
	// outcome is not known.
	Cost, Inside float64
}

// NewAccount decides a case, unless the context ends. An outcome that is not known is NaN.
func NewAccount(ctx context.Context, s decision.Stake, d Distribution, outcome float64) Account {
	s.Stop = ctx.Err
	a := Account{NumberChoice: s.Choose(d), Cost: math.NaN(), Inside: math.NaN()}
	a.Variance = d.Expect(func(y float64) float64 {
		off := s.Cost(a.Action, y) - a.Expected
		return off * off
	}, a.Action)
	if !math.IsNaN(outcome) {
		a.Cost, a.Inside = s.Cost(a.Action, outcome), spanOf(d, outcome).within(0.05, 0.95)
	}
	return a
}

// Accounts decide the rows of a table, whose outcomes are given, by the costs of the model.
func (m *Model) Accounts(ctx context.Context, t *table.Table, outcomes []float64) (*mat.Dense, []Account, error) {
	if err := m.refuseKnown("table"); err != nil {
		return nil, nil, err
	}
	x, _, err := m.Recipe().Apply(t)
	if err != nil {
		return nil, nil, err
	}
	stakes, err := StakesOf(m.costs, t, m.recipe.Missing...)
	if err != nil {
		return nil, nil, err
	}
	var all []Account
	n, columns := x.Dims()
	for from := 0; from < n; from += blockRows {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		some, err := m.Predict(x.Slice(from, min(n, from+blockRows), 0, columns).(*mat.Dense))
		if far, ok := err.(*lossep.FarError); ok {
			return nil, nil, far.In(t.Place(from + far.Row))
		} else if err != nil {
			return nil, nil, err
		}
		for k, d := range some {
			i := from + k
			a := NewAccount(ctx, stakes[i%len(stakes)], d, outcomes[i])
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			if err := m.costs.CheckChoice(a.NumberChoice); err != nil {
				return nil, nil, Located(t.Place(i), err)
			}
			all = append(all, a)
		}
	}
	return x, all, nil
}

// LeftOut are the training rows, each decided without it. A model that does not keep its rows, or has no posterior without
// some of them, has an *lossep.InputError.
func (m *Model) LeftOut(ctx context.Context) (*mat.Dense, []Account, error) {
	if err := m.refuseKnown("reference"); err != nil {
		return nil, nil, err
	}
	if m.x == nil {
		return nil, nil, inputf("reference", "a model of %d rows does not keep them; give cases that it was not fitted to, with their outcomes", m.summary.Rows)
	}
	stakes, err := stakesBy(m.costs, len(m.values), m.kept.Of(m.recipe, m.x), func(int) *table.Error { return new(table.Error) })
	if err != nil {
		return nil, nil, inputf("reference", "costs are made of %s, which the model does not keep of training rows; give cases with outcomes that it was not fitted to", table.QuoteList(m.costs.Columns()))
	}
	left, err := m.cavities(ctx, lossep.Units(m.recipe.Copies(m.x)))
	if err != nil {
		return nil, nil, err
	}
	all := make([]Account, len(m.values))
	for i := range all {
		d, ok := m.without(i, m.x.RawRowView(i), left)
		if !ok {
			return nil, nil, inputf("reference", "there is no posterior without some of the training rows; give cases that the model was not fitted to, with their outcomes")
		}
		all[i] = NewAccount(ctx, stakes[i%len(stakes)], d, m.values[i])
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
	}
	return m.x, all, nil
}
