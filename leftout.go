package lossep

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/table"
)

// LeftOut are training rows, each decided without it.
type LeftOut struct {
	X             *mat.Dense
	Labels        []int
	Probabilities [][]float64
	Stakes        []decision.Stakes // by row, or one for all
}

// LeftOut are the training rows with the probabilities by which each would have been decided without
// it; see LeaveOneOut. A model that does not keep its rows, or has no posterior without some of them,
// has an *InputError.
func (m *Model) LeftOut(ctx context.Context) (*LeftOut, error) {
	if m.x == nil {
		return nil, inputf("reference", "a model of %d rows does not keep them; give cases that it was not fitted to, with their outcomes", m.provenance.Rows)
	}
	p := &Problem{
		Recipe: m.recipe, coding: m.coding, X: m.x, Labels: m.labels, Weights: m.weights, costs: m.costs, Utility: m.utility,
		opt: Options{Likelihood: m.likelihood, MaxMemory: 2 * calibrationMemory},
	}
	if err := p.weigh(p.trainingValues()); err != nil {
		return nil, &InputError{What: "reference", Err: err, Msg: fmt.Sprintf("costs are made of %s, which the model does not keep of training rows; give cases with outcomes that it was not fitted to", table.QuoteList(m.utility.Columns()))}
	}
	left, ok := m.opinions[0].Posterior.(posterior.LeaveOut)
	if !ok {
		l, err := m.learned(ctx, p)
		if err != nil {
			return nil, err
		}
		switch of := l.process.(type) {
		case induced:
			passes := posterior.Passes{Engine: of.Engine, Rule: EP.row(p.Len()).Rule, Of: m.by(EP).(posterior.ByPasses)}
			if of.effects != nil {
				passes.Without = of.effects.Without
			}
			left = passes
		default: // corrections have none of their own
			left = m.by(EP).(posterior.LeaveOut)
		}
	}
	probabilities := make([][]float64, len(m.labels))
	err := left.LeaveOut(ctx, m.labels, p.units(), func(i int, p []float64, _ float64) {
		m.adjust(p)
		probabilities[i] = p
	})
	if errors.Is(err, posterior.ErrImproper) {
		return nil, inputf("reference", "there is no posterior without some of the training rows; give cases that the model was not fitted to, with their outcomes")
	}
	return &LeftOut{m.x, m.labels, probabilities, p.stakes}, err
}
