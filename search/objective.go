package search

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/pass"
)

// objective is log Z_EP + log prior as a function of the log parameters.
type objective struct {
	kernel   kernel.Kernel
	evidence evidence
	prior    prior
	pace
	progress func(Evaluation)

	evaluations int
	failed      int   // how many evaluations had no value
	failure     error // why the last of them had none
}

// evidence is log Z_EP of some rows as a function of the kernel.
type evidence interface {
	// rows is how many there are.
	rows() int
	// converge runs expectation propagation with the kernel with these log parameters, behind which
	// stand those of terms, until
	// the sites have converged to the tolerance; one of 0 is that of a final result. It may
	// start from what is known at a point nearby, or nil.
	converge(ctx context.Context, k kernel.Kernel, logs []float64, near *point, tolerance float64) (fitted, error)
	// refine lets what has converged before converge further.
	refine(ctx context.Context, f fitted, tolerance float64) (fitted, error)
}

// fitted is what expectation propagation converged to.
type fitted interface {
	kernelOf() kernel.Kernel
	logEvidence() float64
	sweeps() int
	// gradient is that of the log evidence in the log parameters.
	gradient(ctx context.Context) ([]float64, error)
}

// point is the objective at one place.
type point struct {
	logs []float64
	fitted
	logPrior float64
	value    float64
	slope    []float64 // the gradient of value
	// tolerance is what the sites have converged to.
	tolerance float64
	// Where the search came from; nil at the start.
	before *point
}

// at evaluates the objective, from what is known at a point nearby, or nil. It returns nil
// where there is no value, and an error only when the context ends or no pass can be made.
func (o *objective) at(ctx context.Context, logs []float64, near *point, tolerance float64) (*point, error) {
	o.evaluations++
	f, err := o.evidence.converge(ctx, o.kernel.With(logs[:o.kernel.NumParams()]), logs, near, tolerance)
	next, err := o.valued(ctx, &point{logs: logs, logPrior: o.prior.log(logs)}, f, err, tolerance)
	if next != nil && o.progress != nil {
		o.progress(Evaluation{Number: o.evaluations, Cases: o.evidence.rows(), Kernel: next.kernelOf(), LogPosterior: next.value, Sweeps: next.sweeps()})
	}
	return next, err
}

// valued gives the point its value, or returns nil where there is none.
func (o *objective) valued(ctx context.Context, p *point, f fitted, err error, tolerance float64) (*point, error) {
	var engine *pass.EngineError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &engine):
		return nil, err // no other parameters will help
	case err != nil:
		o.failure, o.failed = err, o.failed+1
		return nil, nil
	}
	p.fitted, p.tolerance, p.value = f, tolerance, f.logEvidence()+p.logPrior
	return p, nil
}

// differentiate sets the gradient of the point. It reports false where that is not
// finite, and an error only when the context ends.
func (o *objective) differentiate(ctx context.Context, p *point) (bool, error) {
	slope, err := p.gradient(ctx)
	if err != nil {
		return false, err
	}
	if slope == nil { // the kernel is held, and nobody asks for one
		return true, nil
	}
	p.slope = slope
	o.prior.addGradient(p.slope, p.logs)
	return !math.IsNaN(floats.Sum(p.slope)) && !math.IsInf(norm(p.slope), 1), nil
}

// refine is the point with sites converged for a gradient of the given size, or by far if
// that is 0. Where they have already, or cannot, that is the point itself.
func (o *objective) refine(ctx context.Context, p *point, size float64) (*point, error) {
	tolerance := 0.0
	if size > 0 {
		tolerance = o.siteTolerance(0, size)
		if p.tolerance <= tolerance {
			return p, nil
		}
	}
	c := *p
	f, err := o.evidence.refine(ctx, p.fitted, tolerance)
	next, err := o.valued(ctx, &c, f, err, tolerance)
	if next == nil {
		return p, err
	}
	if ok, err := o.differentiate(ctx, next); !ok {
		return p, err
	}
	return next, nil
}

// siteTolerance is how far sites have to converge where the gradient is of a given
// size and is to become as small as the tolerance of the search. The error of the
// gradient is of the first order in that of the sites, and of the evidence of the
// second.
func (p pace) siteTolerance(size, tolerance float64) float64 {
	return p.slack * min(max(1e-3*tolerance, 1e-4*size, 1e-10), 1e-4)
}
