package lossep

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/kernel"
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
	m.summary.Sharpness = sharpness(left, labels, counts, nil)
	tally := p.newTally(m.method)
	tally.power = m.summary.Sharpness
	if err := each(func(i int, all []float64) { tally.addProbabilities(i, all, logOf(all[p.Labels[i]])) }); err != nil {
		return err
	}
	m.summary.LeaveOneOut = tally.result()
	return nil
}

const (
	// apartComparison is how many rows candidates are compared on, and apartFolds in how many
	// parts they are divided, one of which is left out.
	apartComparison = 2000
	apartFolds      = 5
	// apartPoints is the number of inducing points then, and apartLooks the most evaluations.
	apartPoints = 150
	apartLooks  = 16
)

// chosenApart is chosen for more than two outcomes: candidates are fitted to four fifths of some of
// the rows, with inducing points as all rows will be, and the one that predicts the others best is
// taken. Parts have as many rows of every outcome.
func (p *Problem) chosenApart(ctx context.Context) (*Problem, []Candidate, error) {
	rows := sample(p.Len(), apartComparison, p.opt.Seed)
	some := p.some(rows)
	folds, err := compare.GroupFolds(some.Labels, some.Together(), apartFolds, rand.New(rand.NewPCG(p.opt.Seed, 6)))
	if err != nil {
		return p.simplest()
	}
	split := compare.Splits(folds)[0]
	rest, left := some.some(split.Train), some.some(split.Test)
	q := *p
	var tried []Candidate
	best, failure := -1, error(nil)
	for _, c := range candidates {
		if c.kernel == lengthScales && p.coding.Len() == 1 {
			continue // it is the same as with one length scale
		}
		k, err := kernel.ParseColumns(c.kernel, columns(p.coding))
		if err != nil {
			return nil, nil, err
		}
		p.tell("comparing: "+c.name, 0, 0)
		fit, err := search.Induce(ctx, k, rest.X, rest.many(), search.InduceOptions{
			Options: search.Options{Seed: p.opt.Seed, Shrinkage: c.shrinkage, MaxEvaluations: apartLooks},
			Points:  min(apartPoints, rest.Len()), Memory: p.roomBytes(),
		})
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil:
			failure = err
			continue
		}
		predictive := left.logApart(fit)
		tried = append(tried, Candidate{Name: c.name, Kernel: fit.Process.Kernel().String(), LogPredictive: predictive, LogEvidence: fit.LogEvidence})
		if best < 0 || predictive > tried[best].LogPredictive {
			best = len(tried) - 1
			q.Kernel, q.shrinkage, q.start = fit.Process.Kernel(), c.shrinkage, true
		}
	}
	if best < 0 {
		return nil, nil, failure
	}
	tried[best].Weight = 1
	return &q, tried, nil
}

// simplest is the problem with the first candidate, where rows are too few to compare any.
func (p *Problem) simplest() (*Problem, []Candidate, error) {
	q := *p
	var err error
	q.Kernel, err = kernel.ParseColumns(candidates[0].kernel, columns(p.coding))
	return &q, nil, err
}

// logApart is the mean log probability of the outcomes of rows that a fit has not seen, with the
// power that suits them: how sharp probabilities are is found anew with all rows.
func (p *Problem) logApart(fit *search.Induced) float64 {
	o := &opinion{apart: fit.Result.Q}
	if predictors, ok := fit.Process.Predictors(fit.Result.Q); ok {
		o.apartPredictors = predictors
	}
	all := newTuples(p.Len(), p.functions())
	o.momentsApart(&Model{process: fit.Process}, p.X, func(i int, mean, variance []float64) { probabilitiesApart(all[i], mean, variance) })
	counts := p.Weights
	if counts == nil {
		counts = slices.Repeat([]float64{1}, p.Len())
	}
	power := sharpness(all, p.Labels, counts, nil)
	sum, weight := 0.0, 0.0
	for i, one := range all {
		sharpen(one, power)
		sum += counts[i] * logOf(one[p.Labels[i]])
		weight += counts[i]
	}
	if math.IsNaN(sum) {
		return -math.MaxFloat32 // with these parameters there are no probabilities
	}
	return sum / weight
}
