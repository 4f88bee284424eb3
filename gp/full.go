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

// full is the evidence of the full process at the rows of x.
type full struct {
	x        *mat.Dense
	terms    []factor.Factor
	counts   []float64 // how often each of them counts; nil if once
	scratch  gradientScratch
	matrices outcomesMatrices
	// outcomes are several, and nil where terms are on the values at the rows.
	outcomes *Outcomes
	// chosen are the rows among those of another, in order; nil if these are all.
	chosen []int
}

// process is that of a kernel.
func (e *full) process(k kernel.Kernel) (*Process, error) {
	if e.outcomes != nil {
		return newOutcomes(k, e.x, e.outcomes, &e.matrices)
	}
	return New(k, e.x)
}

// fullFit is the process with one kernel and what expectation propagation found for it.
type fullFit struct {
	evidence *full
	process  *Process
	ep       *infer.EPResult
}

// Sweeps are over all sites at once: one by one takes longer for any number of them, and how
// far they are from having settled would depend on the order of the inputs, and with it where
// the search ends. The same rows in another order give the same hyperparameters to ten digits.
//
// What has not settled after manySweeps of manyTerms is not worth the price of safer ways,
// which grows faster still.
const (
	manyTerms  = 100
	manySweeps = 60
)

func (e *full) rows() int { return e.x.RawMatrix().Rows }

func (e *full) settle(ctx context.Context, k kernel.Kernel, logs []float64, near *point, tolerance float64) (fitted, error) {
	p, err := e.process(k)
	if err != nil {
		return nil, err
	}
	return e.run(ctx, p, extrapolate(near, logs), tolerance)
}

func (e *full) refine(ctx context.Context, f fitted, tolerance float64) (fitted, error) {
	old := f.(*fullFit)
	return e.run(ctx, old.process, &old.ep.Sites, tolerance)
}

func (e *full) run(ctx context.Context, p *Process, start *infer.Sites, tolerance float64) (fitted, error) {
	method := infer.EP{Start: start, Schedule: infer.Parallel, Tolerance: tolerance, Workspace: &e.scratch.ws}
	if len(e.terms) >= manyTerms {
		method.MaxSweeps = manySweeps
	}
	m := &infer.Model{Views: p.views, Terms: e.terms, Counts: e.counts}
	if e.outcomes != nil {
		m.Shared = e.outcomes.Views()
	}
	r, err := method.Fit(ctx, m)
	switch {
	case err != nil:
		return nil, err
	case !r.Status.Converged:
		return nil, &NotSettledError{Kernel: p.kernel, Status: r.Status}
	}
	return &fullFit{e, p, r}, nil
}

func (f *fullFit) kernelOf() kernel.Kernel { return f.process.kernel }
func (f *fullFit) logEvidence() float64    { return f.ep.LogEvidence }
func (f *fullFit) sweeps() int             { return f.ep.Status.Sweeps }

func (f *fullFit) gradient(context.Context) ([]float64, error) {
	return f.process.evidenceGradient(f.ep, nil, &f.evidence.scratch), nil
}

// settledAt is a point of which the sites are known and nothing else.
func settledAt(logs []float64, sites infer.Sites) *point {
	return &point{logs: logs, fitted: &fullFit{ep: &infer.EPResult{Result: infer.Result{Sites: sites}}}}
}

// extrapolate is a guess at the sites for log parameters near a point, nil without one:
// those of the point, or, where the search came to it along nearly the same line, further
// along the line.
func extrapolate(p *point, logs []float64) *infer.Sites {
	if p == nil {
		return nil
	}
	sites := &p.fitted.(*fullFit).ep.Sites
	if p.before == nil {
		return sites
	}
	came, goes := make([]float64, len(logs)), make([]float64, len(logs))
	floats.SubTo(came, p.logs, p.before.logs)
	floats.SubTo(goes, logs, p.logs)
	along := floats.Dot(came, goes) / floats.Dot(came, came)
	if math.IsNaN(along) || math.Abs(along) > 1 {
		return sites
	}
	old := p.before.fitted.(*fullFit).ep.Sites.Terms
	guess := infer.Sites{Terms: make([]gauss.Scalar, len(sites.Terms))}
	for i, s := range sites.Terms {
		b := old[i]
		guess.Terms[i] = gauss.Scalar{Nu: s.Nu + along*(s.Nu-b.Nu), Tau: s.Tau + along*(s.Tau-b.Tau)}
	}
	return &guess
}
