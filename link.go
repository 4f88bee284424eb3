package lossep

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
)

// link is how outcomes depend on latent functions: what terms rows have in a fit, and what
// posteriors say of cases.
type link interface {
	// views is how many views of the full process a training row has, and sites.
	views() int
	// functions is how many functions are seen from inducing points, each of which a training row
	// has a site for.
	functions() int
	// terms are those of rows as passes take them.
	terms(labels []int, weights []float64) gp.Terms
	// withUtility is the model with the utility of acting at x as one more factor, and utility that
	// of points seen from inducing points.
	withUtility(m infer.Model, process *gp.Process, x *mat.Dense, weights []float64, tables []decision.Table) (*infer.Model, error)
	utility(points int, weights []float64, tables []decision.Table) (factor.Utility, error)
	// full is the posterior that sites make with the prior, and inducing that of Gaussians on what
	// is seen from inducing points.
	full(ctx context.Context, process *gp.Process, sites []gauss.Scalar, calibration *gauss.Natural) (posterior.Posterior, error)
	inducing(process *gp.Inducing, q gauss.Gaussians, sites []gauss.Scalar) posterior.Posterior
}

// linkOf is how the outcomes of a recipe depend on functions.
func linkOf(r *recipe.Recipe, l Likelihood) link {
	if !several(r) {
		return oneFunction{l}
	}
	more := moreOutcomes(len(r.Target.Outcomes))
	if l.Noise > 0 {
		return mislabelled{more, l.Noise}
	}
	return more
}

// Terms implements Outcomes.
func (l Likelihood) Terms(r *recipe.Recipe, outcomes, weights []float64) gp.Terms {
	return linkOf(r, l).terms(labelsOf(outcomes), weights)
}

// oneFunction is the link of two outcomes, or of grades, to one function.
type oneFunction struct{ Likelihood }

func (oneFunction) views() int     { return 1 }
func (oneFunction) functions() int { return 1 }

func (b oneFunction) terms(labels []int, weights []float64) gp.Terms {
	if len(b.Cuts) > 1 {
		return newGrades(b.Likelihood, labels, weights)
	}
	return b.many(labels, weights)
}

func (b oneFunction) withUtility(m infer.Model, process *gp.Process, x *mat.Dense, weights []float64, tables []decision.Table) (*infer.Model, error) {
	n, _ := x.Dims()
	var err error
	m.Points = process.At(x)
	m.Utility, err = b.utility(n, weights, tables)
	return &m, err
}

func (b oneFunction) utility(points int, weights []float64, tables []decision.Table) (factor.Utility, error) {
	return decision.NewUtility(b.outcome(), points, weights, tables...)
}

func (b oneFunction) full(ctx context.Context, process *gp.Process, sites []gauss.Scalar, calibration *gauss.Natural) (posterior.Posterior, error) {
	return posterior.NewFull(ctx, process, b.expected(), sites, calibration)
}

func (b oneFunction) inducing(process *gp.Inducing, q gauss.Gaussians, sites []gauss.Scalar) posterior.Posterior {
	return posterior.NewInducing(process, b.expected(), q[0], sites)
}

// moreOutcomes is the link of more outcomes to a function each. The full process has C−1 views of a
// case in place of one (see gp.Outcomes), so that there are C−1 sites for each row, and the
// probabilities of its outcomes are those of C normals to be the largest. With two outcomes this
// is the binary model, which does it with one view of half the size and a closed form; a test
// holds both together. From inducing points the functions have the same kernel and the same
// points, and each a posterior of its own that is independent of the others (see package pass);
// docs/research/outcomes.md says what that loses.
type moreOutcomes int

func (c moreOutcomes) views() int     { return int(c) - 1 }
func (c moreOutcomes) functions() int { return int(c) }

// mislabelled is the link of more outcomes of which each was noted down wrongly with a probability. The full process does not
// have it: see gp.RobustOutcomes.
type mislabelled struct {
	moreOutcomes
	noise float64
}

func (o mislabelled) terms(labels []int, weights []float64) gp.Terms {
	return gp.RobustOutcomes{Noted: o.moreOutcomes.terms(labels, weights).(*gp.Outcomes), Noise: o.noise}
}

func (o mislabelled) utility(points int, weights []float64, tables []decision.Table) (factor.Utility, error) {
	noted := make([]decision.Table, len(tables))
	for i, t := range tables {
		noted[i] = t.Mislabelled(o.noise)
	}
	return o.moreOutcomes.utility(points, weights, noted)
}

func (o mislabelled) full(context.Context, *gp.Process, []gauss.Scalar, *gauss.Natural) (posterior.Posterior, error) {
	return nil, inputf("inducing", "%s", robustWants(int(o.moreOutcomes)))
}

func (o mislabelled) inducing(process *gp.Inducing, q gauss.Gaussians, sites []gauss.Scalar) posterior.Posterior {
	return posterior.NewIndependent(process, o.apart(), q, sites)
}

func (o mislabelled) apart() posterior.Apart {
	return posterior.Mislabelled{Apart: posterior.Largest(o.moreOutcomes), Noise: o.noise}
}

// leastCount is the least that a row of several outcomes counts. The noise of its views has the
// inverse as variance, of which the rounding has to stay below the variance of the functions; what
// a billionth of a case tells is less than any method is exact to.
const leastCount = 1e-9

// terms implements link, with the weights of rows as counts.
func (c moreOutcomes) terms(labels []int, weights []float64) gp.Terms {
	o := &gp.Outcomes{Of: labels, Number: int(c)}
	for _, w := range weights {
		o.Counts = append(o.Counts, max(w, leastCount))
	}
	return o
}

func (moreOutcomes) withUtility(m infer.Model, process *gp.Process, x *mat.Dense, weights []float64, tables []decision.Table) (*infer.Model, error) {
	points, maps := process.OutcomesPoints(x)
	var err error
	m.Points = points
	m.Utility, err = decision.NewContest(maps, weights, tables...)
	return &m, err
}

func (c moreOutcomes) utility(points int, weights []float64, tables []decision.Table) (factor.Utility, error) {
	return decision.NewApart(points, int(c), weights, tables...)
}

func (c moreOutcomes) full(ctx context.Context, process *gp.Process, sites []gauss.Scalar, calibration *gauss.Natural) (posterior.Posterior, error) {
	return posterior.NewJoint(ctx, process, posterior.Largest(c), sites, calibration)
}

func (c moreOutcomes) inducing(process *gp.Inducing, q gauss.Gaussians, sites []gauss.Scalar) posterior.Posterior {
	return posterior.NewIndependent(process, posterior.Largest(c), q, sites)
}
