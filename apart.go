package lossep

import (
	"context"
	"slices"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/pass"
	"github.com/lossep/lossep/search"
)

// More than two outcomes with inducing points: the functions of the outcomes have the same kernel
// and the same points, and each a posterior of its own that is independent of the others (see
// package pass). docs/outcomes.md says what that loses.

// foundByPasses is what a method found: its Gaussian, and the sites of the rows.
type foundByPasses struct {
	Q           gauss.Gaussians
	LogEvidence float64
	Status      infer.Status
	engine      gp.Engine
	rule        infer.Rule
}

// roomBytes is what views of the rows may take up.
func (p *Problem) roomBytes() int64 {
	rows, features := p.X.Dims()
	return p.opt.roomBytes(rows, features, p.functions())
}

// functions is how many functions are seen from inducing points: one of two outcomes, and of more
// one for each.
func (p *Problem) functions() int { return functionsOf(p.Recipe) }

// utilityOf is the utility of so many points, seen from inducing points.
func (p *Problem) utilityOf(rows []int, tables []decision.Table) (factor.Utility, error) {
	if several(p.Recipe) {
		return decision.NewApart(len(rows), p.functions(), taken(p.Weights, rows), tables...)
	}
	return decision.NewUtility(p.opt.Likelihood.outcome(), len(rows), taken(p.Weights, rows), tables...)
}

// mostSharpened is the most rows that a power of probabilities is found from, evenly spread.
const mostSharpened = 20_000

// leaveOneOutApart predicts and decides every training row without it, in two passes: one to find
// the power that makes probabilities as sharp as rows left out ask for, which posteriors of functions
// that are independent of each other leave timid, and one with it.
func (l *Learned) leaveOneOutApart(ctx context.Context, m *Model, found *foundByPasses) error {
	p := l.problem
	number, improper := p.functions(), false
	each := func(use func(i int, all []float64)) error {
		all := make([]float64, number)
		_, err := found.engine.Look(ctx, found.Q.Naturals(), pass.Options{Rule: found.rule}, func(i int, mean, variance []float64) {
			if probabilitiesApart(all, mean, variance); !finite.All(all...) {
				improper = true
				return
			}
			use(i, all)
		})
		return err
	}
	apart := (p.Len() + mostSharpened - 1) / mostSharpened
	var left [][]float64
	var labels []int
	var counts []float64
	err := each(func(i int, all []float64) {
		if i%apart != 0 {
			return
		}
		left, labels = append(left, slices.Clone(all)), append(labels, p.Labels[i])
		n := 1.0
		if p.Weights != nil {
			n = p.Weights[i]
		}
		counts = append(counts, n)
	})
	if err != nil || improper {
		return err
	}
	m.summary.Sharpness = search.CalibrationSlope(left, labels, counts, nil)
	tally := p.newTally(m.method)
	tally.power = m.summary.Sharpness
	if err := each(func(i int, all []float64) { tally.addProbabilities(i, all, search.Log(all[p.Labels[i]])) }); err != nil {
		return err
	}
	m.summary.LeaveOneOut = tally.result()
	return nil
}
