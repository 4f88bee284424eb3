package posterior

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/tasks"
)

// Joint is a Gaussian posterior of the functions of several outcomes, the full process, with C−1
// sites for each training row.
type Joint struct {
	sited
	likelihood Several
	predictor  *gp.OutcomesPredictor // nil where it would not be accurate
}

// NewJoint is the posterior that the sites make with the prior; see NewFull.
func NewJoint(ctx context.Context, process *gp.Process, l Several, sites []gauss.Scalar, calibration *gauss.Natural) (*Joint, error) {
	s, err := newSited(process, sites, calibration)
	if err != nil {
		return nil, err
	}
	p := &Joint{sited: s, likelihood: l}
	if calibration == nil {
		if fast, ok := process.OutcomesPredictor(ctx, sites); ok {
			p.predictor = fast
		}
	}
	return p, ctx.Err()
}

// Predict implements Posterior.
func (p *Joint) Predict(x *mat.Dense) []Prediction { return ofProbabilities(p.Probabilities(x)) }

// Probabilities implements Posterior.
func (p *Joint) Probabilities(x *mat.Dense) [][]float64 {
	n, _ := x.Dims()
	all := Tuples(n, p.likelihood.Len())
	ask := func(i int, mean []float64, cov *mat.SymDense) { p.likelihood.Joint(all[i], mean, cov) }
	if p.predictor != nil {
		p.predictor.Moments(x, ask)
		return all
	}
	tasks.For(n, func(i int) {
		mean, cov := p.process.OutcomesAt(p.q, x.RawRowView(i))
		ask(i, mean, cov)
	})
	return all
}

// ofProbabilities are predictions of several functions, whose moments are not given.
func ofProbabilities(all [][]float64) []Prediction {
	out := make([]Prediction, len(all))
	for i, p := range all {
		out[i].Probabilities = p
	}
	return out
}

// Independent is the posterior of several functions that have the same kernel and inducing
// points, and each a Gaussian of its own that is independent of the others.
type Independent struct {
	seen
	likelihood Apart
	predictors gp.Predictors // nil where they would not be accurate
}

// NewIndependent is the posterior of functions seen from inducing points. Sites of the training
// rows may be nil.
func NewIndependent(process *gp.Inducing, l Apart, q gauss.Gaussians, sites []gauss.Scalar) *Independent {
	p := &Independent{seen: seen{process, q, sites}, likelihood: l}
	if fast, ok := process.Predictors(q); ok {
		p.predictors = fast
	}
	return p
}

// Predict implements Posterior.
func (p *Independent) Predict(x *mat.Dense) []Prediction { return ofProbabilities(p.Probabilities(x)) }

// Probabilities implements Posterior.
func (p *Independent) Probabilities(x *mat.Dense) [][]float64 {
	n, _ := x.Dims()
	all := Tuples(n, len(p.q))
	p.moments(x, func(i int, mean, variance []float64) { p.likelihood.Independent(all[i], mean, variance) })
	return all
}

// momentRows is the most rows whose moments are held at a time.
const momentRows = 4096

// moments calls use with the means and variances of all functions at every row, from several
// goroutines.
func (p *Independent) moments(x *mat.Dense, use func(i int, mean, variance []float64)) {
	n, d := x.Dims()
	k := len(p.q)
	if p.predictors == nil {
		// One by one, as for one function.
		tasks.For(n, func(i int) {
			views := p.process.At(row(x, i))
			mean, variance := make([]float64, k), make([]float64, k)
			for c, q := range p.q {
				q.Predict(views.Of(c), mean[c:c+1], variance[c:c+1], new(gauss.Workspace))
			}
			use(i, mean, variance)
		})
		return
	}
	mean, variance := Tuples(k, min(n, momentRows)), Tuples(k, min(n, momentRows))
	for from := 0; from < n; from += momentRows {
		to := min(from+momentRows, n)
		p.predictors.Moments(x.Slice(from, to, 0, d).(*mat.Dense), mean, variance)
		const chunk = 64
		tasks.For((to-from+chunk-1)/chunk, func(task int) {
			values := Tuples(2, k)
			for i := task * chunk; i < min((task+1)*chunk, to-from); i++ {
				for c := range k {
					values[0][c], values[1][c] = mean[c][i], variance[c][i]
				}
				use(from+i, values[0], values[1])
			}
		})
	}
}
