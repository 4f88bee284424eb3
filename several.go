package lossep

import (
	"fmt"
	"slices"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
)

// What is different where there are more than two outcomes: a case has C−1 views of the
// Gaussian in place of one (see gp.Outcomes), so that there are C−1 sites for each row, and
// the probabilities of its outcomes are those of C normals to be the largest. With two
// outcomes this is the binary model, which does it with one view of half the size and a
// closed form; a test holds both together.

// MethodsForSeveral are the methods that more than two outcomes can be fitted by.
func MethodsForSeveral() []Method { return slices.Clone(severalMethods) }

// many are the terms of the training rows, as passes take them.
func (p *Problem) many() gp.Terms {
	if several(p.Recipe) {
		return outcomes(p.Recipe, p.Labels, p.Weights)
	}
	return p.opt.Likelihood.many(p.Labels, p.Weights)
}

// cases are the terms of the training rows, as the full process takes them.
func (p *Problem) cases() gp.Cases { return gp.CasesOf(p.many()) }

// contest is the model with the utility of several outcomes, on views of the points that
// stand for p(x).
func (l *Learned) contest(rows []int, tables []decision.Table) (*infer.Model, error) {
	points, maps := l.process.OutcomesPoints(rowsOf(l.problem.X, rows))
	u, err := decision.NewContest(maps, taken(l.problem.Weights, rows), tables...)
	if err != nil {
		return nil, fmt.Errorf("utility: %w", err)
	}
	m := *l.model
	m.Utility, m.Points = u, points
	return &m, nil
}
