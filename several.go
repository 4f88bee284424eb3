package lossep

import (
	"context"
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

// learnSeveral is Learn for more than two outcomes.
func (p *Problem) learnSeveral(ctx context.Context) (*Learned, error) {
	cases := outcomes(p.Recipe, p.Labels)
	l := &Learned{problem: p}
	if !p.opt.Fixed {
		fit, err := gp.OptimiseOutcomes(ctx, p.Kernel, p.X, cases, p.searchOptions())
		if err != nil {
			return nil, err
		}
		l.process, l.ep = fit.Process, &fit.EP.Result
		l.search = newSearch(fit.Evaluations, fit.Stop, fit.LogPrior, fit.Process.Kernel(), fit.AtBound)
	} else {
		var err error
		if l.process, err = gp.NewOutcomes(p.Kernel, p.X, cases); err != nil {
			return nil, &InputError{What: "kernel", Msg: err.Error(), Err: err}
		}
		p.tell("expectation propagation", 0, 0)
		if l.ep, err = EP.row(p.Len()).Fit(ctx, l.process.Model(), p.options()); err != nil {
			return nil, err
		}
	}
	l.model, l.doubts = l.process.Model(), doubtsOf(l.ep.Status)
	return l, nil
}

// contest is the model with the utility of several outcomes, on views of the points that
// stand for p(x).
func (l *Learned) contest(rows []int, tables []decision.Table) (*infer.Model, error) {
	points, maps := l.process.OutcomesPoints(rowsOf(l.problem.X, rows))
	u, err := decision.NewContest(maps, tables...)
	if err != nil {
		return nil, fmt.Errorf("utility: %w", err)
	}
	m := *l.model
	m.Utility, m.Points = u, points
	return &m, nil
}
