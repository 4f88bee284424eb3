package posterior

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/kernel"
)

// one is a Gaussian posterior of one function.
type one struct {
	process interface {
		At(x *mat.Dense) *gauss.Views
		Kernel() kernel.Kernel
	}
	likelihood One
	q          *gauss.Gaussian
	// predictor gives the moments where that can be had in less time; otherwise it is nil.
	predictor *gp.Predictor
}

func (p *one) Kernel() kernel.Kernel { return p.process.Kernel() }

func (p *one) Predict(x *mat.Dense) []Prediction {
	n, _ := x.Dims()
	out, all := make([]Prediction, n), Tuples(n, p.likelihood.Len())
	mean, variance := make([]float64, n), make([]float64, n)
	if p.predictor != nil {
		p.predictor.Moments(x, mean, variance)
	} else {
		// Rows are asked about one by one, because what the products of larger matrices round
		// to depends on their shape.
		tasks.For(n, func(i int) {
			p.q.Predict(p.process.At(row(x, i)), mean[i:i+1], variance[i:i+1], new(gauss.Workspace))
		})
	}
	for i := range out {
		p.likelihood.Gaussian(all[i], mean[i], variance[i])
		out[i] = Prediction{mean[i], variance[i], all[i]}
	}
	return out
}

func (p *one) Probabilities(x *mat.Dense) [][]float64 { return probabilitiesOf(p.Predict(x)) }

// Full is a Gaussian posterior of one function, the full process: the prior times one site for
// each training row, and what calibration adds.
type Full struct {
	one
	full        *gp.Process
	sites       []gauss.Scalar
	calibration *gauss.Natural
}

// NewFull is the posterior that the sites make with the prior, and with a calibration unless that
// is nil. It is of no use when the context ends.
func NewFull(ctx context.Context, process *gp.Process, l One, sites []gauss.Scalar, calibration *gauss.Natural) (*Full, error) {
	q, err := gaussian(process, sites, calibration)
	if err != nil {
		return nil, err
	}
	p := &Full{one{process: process, likelihood: l, q: q}, process, sites, calibration}
	if calibration == nil {
		if fast, ok := process.Predictor(ctx, sites); ok {
			p.predictor = fast
		}
	}
	return p, ctx.Err()
}

// gaussian is the prior times the sites: h = Aᵀν and Λ = I + AᵀTA, plus what calibration adds.
func gaussian(process *gp.Process, sites []gauss.Scalar, calibration *gauss.Natural) (*gauss.Gaussian, error) {
	n := gauss.NewNatural(process.Views().Dim())
	n.SetStandard()
	n.TimesScalars(process.Views(), sites, new(gauss.Workspace))
	if calibration != nil {
		n.Times(calibration, 1)
	}
	q := gauss.NewGaussian(n.Dim())
	return q, q.Exchange(n)
}

// Process is that of the training rows.
func (p *Full) Process() *gp.Process { return p.full }

// Gaussian is the posterior on what the views of the process see.
func (p *Full) Gaussian() *gauss.Gaussian { return p.q }

// Inputs implements Posterior.
func (p *Full) Inputs() *mat.Dense { return p.full.Inputs() }

// Extremes implements Posterior.
func (p *Full) Extremes() []int { return extremes(len(p.sites), p.sites, 1) }

// State implements Posterior.
func (p *Full) State() State { return State{Sites: p.sites, Calibration: p.calibration} }

// Bytes implements Posterior.
func (p *Full) Bytes() float64 {
	rows, features := p.Inputs().Dims()
	return FullBytes(rows, features, rows)
}

// Inducing is a Gaussian posterior of one function seen from inducing points.
type Inducing struct {
	one
	seen  *gp.Inducing
	sites []gauss.Scalar // of the training rows, nil if they are not kept
}

// NewInducing is the posterior q on what is seen from inducing points. Sites of the training rows
// may be nil.
func NewInducing(process *gp.Inducing, l One, q *gauss.Gaussian, sites []gauss.Scalar) *Inducing {
	p := &Inducing{one{process: process, likelihood: l, q: q}, process, sites}
	if fast, ok := process.Predictor(q); ok {
		p.predictor = fast
	}
	return p
}

// Process is that of the inducing points.
func (p *Inducing) Process() *gp.Inducing { return p.seen }

// Inputs implements Posterior.
func (p *Inducing) Inputs() *mat.Dense { return p.seen.Points() }

// Extremes implements Posterior.
func (p *Inducing) Extremes() []int { return extremes(p.seen.Dim(), nil, 1) }

// State implements Posterior.
func (p *Inducing) State() State {
	return State{Points: p.seen.Points(), Functions: gauss.Gaussians{p.q}, Effects: p.seen.Effects(), Sites: p.sites}
}

// Bytes implements Posterior.
func (p *Inducing) Bytes() float64 { return inducingBytes(p.seen, 1, p.sites) }

// inducingBytes is what a posterior of so many functions takes, with the rows if they are kept.
func inducingBytes(process *gp.Inducing, functions int, sites []gauss.Scalar) float64 {
	_, features := process.Points().Dims()
	return process.Effects().Bytes() + keptMatrices*float64(functions)*matrixBytes(process.Dim()) + RowBytes(len(sites)/functions, features, functions)
}

// RowBytes is what is kept of training rows with inducing points: features, labels, and sites of
// so many functions.
func RowBytes(rows, features, functions int) float64 {
	return 8 * float64(rows) * float64(features+1+2*functions)
}
