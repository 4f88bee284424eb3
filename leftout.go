package lossep

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/posterior"
)

// LeftOut are the training rows, their outcomes, and the probabilities by which each would have been
// decided without it; see LeaveOneOut. A model that does not keep its rows, or has no posterior without
// some of them, has an *InputError.
func (m *Model) LeftOut(ctx context.Context) (x *mat.Dense, labels []int, probabilities [][]float64, err error) {
	if m.x == nil {
		return nil, nil, nil, inputf("reference", "a model of %d rows does not keep them; give cases that it was not fitted to, with their outcomes", m.provenance.Rows)
	}
	left, ok := m.opinions[0].Posterior.(posterior.LeaveOut)
	if !ok {
		p := &Problem{Recipe: m.recipe, coding: m.coding, X: m.x, Labels: m.labels, Weights: m.weights, opt: Options{Likelihood: m.likelihood, MaxMemory: 2 * calibrationMemory}}
		l, err := m.learned(p)
		if err != nil {
			return nil, nil, nil, err
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
	probabilities = make([][]float64, len(m.labels))
	err = left.LeaveOut(ctx, m.labels, nil, func(i int, p []float64, _ float64) {
		m.adjust(p)
		probabilities[i] = p
	})
	if errors.Is(err, posterior.ErrImproper) {
		return nil, nil, nil, inputf("reference", "there is no posterior without some of the training rows; give cases that the model was not fitted to, with their outcomes")
	}
	return m.x, m.labels, probabilities, err
}
