package posterior

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/kernel"
)

// Joint is a Gaussian posterior of the functions of several outcomes, the full process: the prior
// times C−1 sites for each training row.
type Joint struct {
	process     *gp.Process
	likelihood  Several
	q           *gauss.Gaussian
	predictor   *gp.OutcomesPredictor // nil where it would not be accurate
	sites       []gauss.Scalar
	calibration *gauss.Natural
}

// NewJoint is the posterior that the sites make with the prior; see NewFull.
func NewJoint(ctx context.Context, process *gp.Process, l Several, sites []gauss.Scalar, calibration *gauss.Natural) (*Joint, error) {
	q, err := gaussian(process, sites, calibration)
	if err != nil {
		return nil, err
	}
	p := &Joint{process: process, likelihood: l, q: q, sites: sites, calibration: calibration}
	if calibration == nil {
		if fast, ok := process.OutcomesPredictor(ctx, sites); ok {
			p.predictor = fast
		}
	}
	return p, ctx.Err()
}

// Process is that of the training rows.
func (p *Joint) Process() *gp.Process { return p.process }

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

// ofProbabilities are predictions of several functions, whose moments are not told.
func ofProbabilities(all [][]float64) []Prediction {
	out := make([]Prediction, len(all))
	for i, p := range all {
		out[i].Probabilities = p
	}
	return out
}

// Kernel implements Posterior.
func (p *Joint) Kernel() kernel.Kernel { return p.process.Kernel() }

// Inputs implements Posterior.
func (p *Joint) Inputs() *mat.Dense { return p.process.Inputs() }

// Extremes implements Posterior.
func (p *Joint) Extremes() []int {
	n, _ := p.Inputs().Dims()
	return extremes(n, p.sites, p.likelihood.Len()-1)
}

// State implements Posterior.
func (p *Joint) State() State { return State{Sites: p.sites, Calibration: p.calibration} }

// Bytes implements Posterior.
func (p *Joint) Bytes() float64 {
	rows, features := p.Inputs().Dims()
	return FullBytes(rows, features, p.process.Views().Len())
}

// Independent is the posterior of several functions that have the same kernel and inducing
// points, and each a Gaussian of its own that is independent of the others.
type Independent struct {
	process    *gp.Inducing
	likelihood Several
	q          gauss.Gaussians
	predictors gp.Predictors  // nil where they would not be accurate
	sites      []gauss.Scalar // of the training rows, nil if they are not kept
}

// NewIndependent is the posterior of functions seen from inducing points. Sites of the training
// rows may be nil.
func NewIndependent(process *gp.Inducing, l Several, q gauss.Gaussians, sites []gauss.Scalar) *Independent {
	p := &Independent{process: process, likelihood: l, q: q, sites: sites}
	if fast, ok := process.Predictors(q); ok {
		p.predictors = fast
	}
	return p
}

// Process is that of the inducing points.
func (p *Independent) Process() *gp.Inducing { return p.process }

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
				q.Predict(views, mean[c:c+1], variance[c:c+1], new(gauss.Workspace))
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

// Kernel implements Posterior.
func (p *Independent) Kernel() kernel.Kernel { return p.process.Kernel() }

// Inputs implements Posterior.
func (p *Independent) Inputs() *mat.Dense { return p.process.Points() }

// Extremes implements Posterior.
func (p *Independent) Extremes() []int { return extremes(p.process.Dim(), nil, 1) }

// State implements Posterior.
func (p *Independent) State() State {
	return State{Points: p.process.Points(), Functions: p.q, Sites: p.sites}
}

// Bytes implements Posterior.
func (p *Independent) Bytes() float64 { return inducingBytes(p.process, len(p.q), p.sites) }
