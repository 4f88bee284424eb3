package gp

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

// objective is log Z_EP + log prior as a function of the log parameters.
type objective struct {
	kernel   kernel.Kernel
	x        *mat.Dense
	terms    []factor.Factor
	prior    prior
	progress func(Evaluation)

	evaluations int
	scratch     gradientScratch
	failure     error // why the last evaluation had no value
}

// point is the objective at one place.
type point struct {
	logs     []float64
	process  *Process
	ep       *infer.EPResult
	logPrior float64
	value    float64
	gradient []float64
	// tolerance is what the sites were settled to.
	tolerance float64
	// Where the search came from, and the sites there; nil at the start.
	cameFrom []float64
	sitesOf  []gauss.Scalar
}

// parallelFrom is the number of inputs from which on a sweep over all sites at once
// takes less time than one by one. What has not settled after manySweeps of them is
// not worth the price of safer ways, which grows faster still.
const (
	parallelFrom = 100
	manySweeps   = 60
)

// at evaluates the objective, starting expectation propagation from given sites; nil
// stands for empty ones. It returns nil where there is no value, and an error only
// when the context ends.
func (o *objective) at(ctx context.Context, logs []float64, start *infer.Sites, tolerance float64) (*point, error) {
	o.evaluations++
	p, err := New(o.kernel.With(logs), o.x)
	if err != nil {
		o.failure = err
		return nil, nil
	}
	next := &point{logs: logs, process: p, logPrior: o.prior.log(logs)}
	if ok, err := o.settle(ctx, next, start, tolerance); !ok {
		return nil, err
	}
	if o.progress != nil {
		o.progress(Evaluation{Number: o.evaluations, Cases: len(o.terms), Kernel: p.kernel, LogPosterior: next.value, Sweeps: next.ep.Status.Sweeps})
	}
	return next, nil
}

// settle runs expectation propagation at the point and sets its value.
func (o *objective) settle(ctx context.Context, p *point, start *infer.Sites, tolerance float64) (bool, error) {
	method := infer.EP{Start: start, Tolerance: tolerance}
	if len(o.terms) >= parallelFrom {
		method.Schedule, method.MaxSweeps = infer.Parallel, manySweeps
	}
	r, err := method.Fit(ctx, &infer.Model{Views: p.process.views, Terms: o.terms})
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil:
		o.failure = err
		return false, nil
	case !r.Status.Converged:
		o.failure = &NotSettledError{Kernel: p.process.kernel, Status: r.Status}
		return false, nil
	}
	p.ep, p.tolerance, p.value = r, tolerance, r.LogEvidence+p.logPrior
	return true, nil
}

// differentiate sets the gradient of the point. It reports false where that is not
// finite.
func (o *objective) differentiate(p *point) bool {
	p.gradient = p.process.evidenceGradient(p.ep, nil, &o.scratch)
	o.prior.addGradient(p.gradient, p.logs)
	return !math.IsNaN(floats.Sum(p.gradient)) && !math.IsInf(norm(p.gradient), 1)
}

// refine is the point with sites settled for a gradient of the given size. Where
// they are already, or cannot be, that is the point itself.
func (o *objective) refine(ctx context.Context, p *point, size float64) (*point, error) {
	tolerance := siteTolerance(0, size)
	if p.tolerance <= tolerance {
		return p, nil
	}
	c := *p
	if ok, err := o.settle(ctx, &c, &p.ep.Sites, tolerance); !ok || !o.differentiate(&c) {
		return p, err
	}
	return &c, nil
}

// siteTolerance is how far sites have to settle where the gradient is of a given
// size and is to become as small as the tolerance of the search. The error of the
// gradient is of the first order in that of the sites, and of the evidence of the
// second.
func siteTolerance(size, tolerance float64) float64 {
	return min(max(1e-3*tolerance, 1e-4*size, 1e-10), 1e-4)
}

// extrapolate is a guess at the sites for other log parameters, nearby: those of the
// point, or, where the search came to it along nearly the same line, further along
// the line.
func (p *point) extrapolate(logs []float64) *infer.Sites {
	sites := &p.ep.Sites
	if p.cameFrom == nil {
		return sites
	}
	came, goes := make([]float64, len(logs)), make([]float64, len(logs))
	floats.SubTo(came, p.logs, p.cameFrom)
	floats.SubTo(goes, logs, p.logs)
	along := floats.Dot(came, goes) / floats.Dot(came, came)
	if math.IsNaN(along) || math.Abs(along) > 1 {
		return sites
	}
	guess := infer.Sites{Terms: make([]gauss.Scalar, len(sites.Terms))}
	for i, s := range sites.Terms {
		b := p.sitesOf[i]
		guess.Terms[i] = gauss.Scalar{Nu: s.Nu + along*(s.Nu-b.Nu), Tau: s.Tau + along*(s.Tau-b.Tau)}
	}
	return &guess
}
