package posterior

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/tasks"
)

// one is what a Gaussian posterior of one function says of cases.
type one struct {
	likelihood One
	views      func(x *mat.Dense) *gauss.Views
	gaussian   *gauss.Gaussian
	// predictor gives the moments where that can be had in less time; otherwise it is nil.
	predictor *gp.Predictor
}

func (p *one) Predict(x *mat.Dense) []Prediction {
	n, _ := x.Dims()
	out, all := make([]Prediction, n), Tuples(n, p.likelihood.Len())
	mean, variance := make([]float64, n), make([]float64, n)
	if p.predictor != nil {
		p.predictor.Moments(x, mean, variance)
	} else {
		// Rows are predicted one by one, because what the products of larger matrices round
		// to depends on their shape.
		tasks.For(n, func(i int) {
			p.gaussian.Predict(p.views(row(x, i)), mean[i:i+1], variance[i:i+1], new(gauss.Workspace))
		})
	}
	for i := range out {
		p.likelihood.Gaussian(all[i], mean[i], variance[i])
		out[i] = Prediction{Mean: mean[i], Variance: variance[i], Probabilities: all[i]}
	}
	return out
}

func (p *one) Probabilities(x *mat.Dense) [][]float64 { return probabilitiesOf(p.Predict(x)) }

// Full is a Gaussian posterior of one function, the full process.
type Full struct {
	one
	sited
}

// NewFull is the posterior that the sites make with the prior, and with a calibration unless that
// is nil. It is of no use when the context ends.
func NewFull(ctx context.Context, process *gp.Process, l One, sites []gauss.Scalar, calibration *gauss.Natural) (*Full, error) {
	s, err := newSited(process, sites, calibration)
	if err != nil {
		return nil, err
	}
	p := &Full{one{likelihood: l, views: process.At, gaussian: s.q}, s}
	if calibration == nil {
		if fast, ok := process.Predictor(ctx, sites); ok {
			p.predictor = fast
		}
	}
	return p, ctx.Err()
}

// Gaussian is the posterior on what the views of the process see.
func (p *Full) Gaussian() *gauss.Gaussian { return p.q }

// Inducing is a Gaussian posterior of one function seen from inducing points.
type Inducing struct {
	one
	seen
}

// NewInducing is the posterior q on what is seen from inducing points. Sites of the training rows
// may be nil.
func NewInducing(process *gp.Inducing, l One, q *gauss.Gaussian, sites []gauss.Scalar) *Inducing {
	process = process.Known(gauss.Gaussians{q})
	p := &Inducing{one{likelihood: l, views: process.At, gaussian: q}, seen{process, gauss.Gaussians{q}, sites}}
	if fast, ok := process.Predictor(q); ok {
		p.predictor = fast
	}
	return p
}
