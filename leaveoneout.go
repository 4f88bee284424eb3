package lossep

import (
	"context"
	"slices"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/orthant"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// leaveOneOut predicts and decides every training row without it and those that belong to it.
// The error is that of the context.
func (m *Model) leaveOneOut(ctx context.Context, p *Problem) (found *LeaveOneOut, err error) {
	switch {
	case several(p.Recipe):
		found = m.leaveOneOutSeveral(ctx, p)
	case m.mixture != nil:
		found = m.leaveOneOutMixed(ctx, p)
	default:
		tally := p.newTally(leftOutBy(m.method, p.Len()))
		if m.leftOut(ctx, p.units(), tally.add) {
			found = tally.result()
		}
	}
	return found, ctx.Err()
}

// units are the rows that are left out together; nil where each is by itself.
func (p *Problem) units() [][]int {
	together := p.Together()
	if together == nil {
		return nil
	}
	units := make([][]int, slices.Max(together)+1)
	for i, number := range together {
		units[number] = append(units[number], i)
	}
	return units
}

// leftOutBy is the method whose predictions without a row there are.
func leftOutBy(method Method, rows int) Method {
	if d := method.row(rows); d.Refines() {
		return Method(d.Of)
	}
	return method
}

// leftOut calls use with the mean and variance of the latent value of every training row
// without its unit, or without itself if units is nil. It reports false if there is no such
// posterior, or the context ends first.
func (m *Model) leftOut(ctx context.Context, units [][]int, use func(i int, mean, variance float64)) bool {
	if units == nil {
		return takenOut(m.full, m.opinions[0].q, m.sites, use)
	}
	out := m.full.LeaveOut(m.opinions[0].q, m.sites)
	for _, unit := range units {
		if ctx.Err() != nil || !out.Cases(unit, func(i int, mean []float64, cov *mat.SymDense) {
			use(i, mean[0], cov.At(0, 0))
		}) {
			return false
		}
	}
	return true
}

// takenOut calls use with the mean and variance of the latent value of every training row by q
// without what its entry in sites says. It reports false if there is no such posterior.
func takenOut(process *gp.Process, q *gauss.Gaussian, sites []gauss.Scalar, use func(i int, mean, variance float64)) bool {
	views := process.Views()
	mean, variance := make([]float64, views.Len()), make([]float64, views.Len())
	q.Marginals(views, mean, variance, new(gauss.Workspace))
	for i, site := range sites {
		cavity := gauss.ScalarFromMoments(mean[i], variance[i]).Over(site)
		if !cavity.Proper() {
			return false
		}
		use(i, cavity.Mean()+views.Offset(i), cavity.Variance()+views.Residual(i))
	}
	return true
}

// tally adds up what rows are predicted and decided without them.
type tally struct {
	problem  *Problem
	outcome  decision.Outcome
	shares   []float64 // of the rows in averages
	loo      *LeaveOneOut
	power    float64   // that probabilities are raised to
	constant []float64 // of every action for all rows
	improper bool
}

func (p *Problem) newTally(method Method) *tally {
	return &tally{
		problem: p, outcome: p.opt.Likelihood.outcome(), shares: p.shares(), loo: &LeaveOneOut{Method: method},
		constant: make([]float64, len(p.Stakes(0).Table)),
	}
}

// add takes in training row i, whose latent value has this mean and variance without it.
func (t *tally) add(i int, mean, variance float64) {
	if !(variance >= 0) {
		t.improper = true
		return
	}
	logP, _, _ := t.outcome[t.problem.Labels[i]].LogMean(mean, variance)
	pair := make([]float64, 2)
	pair[0], pair[1] = t.outcome.Probability(mean, variance)
	t.addProbabilities(i, pair, logP)
}

// addProbabilities takes in training row i, whose outcomes have these probabilities by the
// posterior without it; logP is the logarithm of that of its own.
func (t *tally) addProbabilities(i int, probabilities []float64, logP float64) {
	p := t.problem
	stakes, y := p.Stakes(i), p.Labels[i]
	if target := &p.Recipe.Target; t.power != 0 || target.Prevalence > 0 {
		sharpen(probabilities, t.power)
		shift(target, probabilities)
		logP = logOf(probabilities[y])
	}
	t.loo.LogPredictive += float64(p.Len()) * t.shares[i] * logP
	t.loo.Value += stakes.Table[stakes.Best(probabilities, -1)][y] * t.shares[i]
	for a, row := range stakes.Table {
		t.constant[a] += row[y] * t.shares[i]
	}
}

// result is nil when a posterior without one of the rows does not exist.
func (t *tally) result() *LeaveOneOut {
	if t.improper {
		return nil
	}
	t.loo.ConstantAction = slices.Index(t.constant, slices.Max(t.constant))
	if t.problem.Utility.Costs() {
		t.loo.ConstantAction = slices.Index(t.constant, slices.Min(t.constant))
	}
	t.loo.Constant = t.constant[t.loo.ConstantAction]
	return t.loo
}

// leaveOneOutSeveral is leaveOneOut for more than two outcomes, of a mixture, too.
func (m *Model) leaveOneOutSeveral(ctx context.Context, p *Problem) *LeaveOneOut {
	parts, weights := []*Model{m}, []float64{1}
	if m.mixture != nil {
		parts, weights = m.mixture.parts, m.mixture.weights
	}
	all := newTuples(p.Len(), len(p.Recipe.Target.Outcomes))
	for k, part := range parts {
		for i, one := range leftOutSeveral(ctx, part.full.LeaveOut(part.opinions[0].q, part.sites), p) {
			if one == nil {
				return nil
			}
			floats.AddScaled(all[i], weights[k], one)
		}
	}
	t := p.newTally(m.method)
	t.power = m.summary.Sharpness
	for i, probabilities := range all {
		t.addProbabilities(i, probabilities, logOf(probabilities[p.Labels[i]]))
	}
	return t.result()
}

// leftOutSeveral are the probabilities of the outcomes of every training row without its unit,
// nil where there is no posterior without it, or the context ends first: all sites of a unit are
// taken out together. The views of a row are then those of f_y − f_j + u, with which u ~ N(0, 1)
// and the noise of j the differences of the outcome's function to each of the others are seen.
func leftOutSeveral(ctx context.Context, out *gp.LeaveOut, p *Problem) [][]float64 {
	units := p.units()
	if units == nil {
		for i := range p.Len() {
			units = append(units, []int{i})
		}
	}
	number := len(p.Recipe.Target.Outcomes)
	all := make([][]float64, p.Len())
	tasks.For(len(units), func(u int) {
		if ctx.Err() != nil {
			return
		}
		out.Cases(units[u], func(i int, mean []float64, cov *mat.SymDense) {
			// The outcome itself has value and variance zero, and the others what it is less
			// than they are: only differences count.
			y := p.Labels[i]
			values, joint := make([]float64, number), mat.NewSymDense(number, nil)
			for a := range number - 1 {
				values[rivalOf(y, a)] = -mean[a]
				for b := range number - 1 {
					joint.SetSym(rivalOf(y, a), rivalOf(y, b), cov.At(a, b))
				}
				joint.SetSym(rivalOf(y, a), rivalOf(y, a), 1+cov.At(a, a))
			}
			one := make([]float64, number)
			orthant.NewLargest(number).Probabilities(one, values, joint)
			if finite.All(one...) {
				all[i] = one
			}
		})
	})
	return all
}

// leaveOneOutMixed predicts and decides every training row by the mixture of what its
// parts predict without it. The weights stay.
func (m *Model) leaveOneOutMixed(ctx context.Context, p *Problem) *LeaveOneOut {
	outcome := p.opt.Likelihood.outcome()
	pairs := newTuples(p.Len(), 2)
	tally := p.newTally(leftOutBy(m.method, p.Len()))
	tally.power = m.summary.Sharpness
	units := p.units()
	for k, part := range m.mixture.parts {
		if ctx.Err() != nil {
			return nil
		}
		w := m.mixture.weights[k]
		proper := part.leftOut(ctx, units, func(i int, mean, variance float64) {
			p0, p1 := outcome.Probability(mean, variance)
			pairs[i][0] += w * p0
			pairs[i][1] += w * p1
		})
		if !proper {
			return nil
		}
	}
	for i, pair := range pairs {
		tally.addProbabilities(i, pair, logOf(pair[p.Labels[i]]))
	}
	return tally.result()
}

// rivalOf is the a-th of the outcomes other than y.
func rivalOf(y, a int) int {
	if a < y {
		return a
	}
	return a + 1
}
