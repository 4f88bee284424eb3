package lossep

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/search"
)

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
	l := posterior.Largest(len(p.Recipe.Target.Outcomes))
	all := posterior.NewIndependent(fit.Process, l, fit.Result.Q, nil).Probabilities(p.X)
	counts := p.Weights
	if counts == nil {
		counts = slices.Repeat([]float64{1}, p.Len())
	}
	power := sharpness(all, p.Labels, counts, nil)
	sum, weight := 0.0, 0.0
	for i, one := range all {
		sharpen(one, power)
		sum += counts[i] * posterior.Log(one[p.Labels[i]])
		weight += counts[i]
	}
	if math.IsNaN(sum) {
		return -math.MaxFloat32 // with these parameters there are no probabilities
	}
	return sum / weight
}
