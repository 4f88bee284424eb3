package search

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

// full is the evidence of the full process at the rows of x.
type full struct {
	x       *mat.Dense
	cases   gp.Cases
	tuning  tuning
	scratch gp.Scratch
	// chosen are the rows among those of another, in order; nil if these are all.
	chosen []int
	// failures is how often expectation propagation had no result although nothing was spared.
	failures int
}

// fullFit is the process with one kernel and what expectation propagation found for it.
type fullFit struct {
	evidence *full
	process  *gp.Process
	ep       *infer.EPResult
	logs     []float64 // of the hyperparameters of the terms
}

// Sweeps are over all sites at once: one by one takes longer for any number of them, and how
// far they are from convergence would depend on the order of the inputs, and with it where
// the search ends. The same rows in another order give the same hyperparameters to ten digits.
//
// What has not converged after manySweeps of manyTerms is not worth the price of safer ways,
// which grows faster still. Of fewer terms, safer ways that have failed so often will fail again nearby: as noise of
// Student's t vanishes between rows that count a million times, the search would ask for them at every step.
const (
	manyTerms    = 100
	manySweeps   = 60
	manyFailures = 2
)

func (e *full) rows() int { return e.x.RawMatrix().Rows }

func (e *full) converge(ctx context.Context, k kernel.Kernel, logs []float64, near *point, tolerance float64) (fitted, error) {
	own := logs[k.NumParams():]
	e.tune(own)
	p, err := e.cases.Process(k, e.x, &e.scratch)
	if err != nil {
		return nil, err
	}
	return e.run(ctx, p, own, extrapolate(near, logs), tolerance)
}

func (e *full) refine(ctx context.Context, f fitted, tolerance float64) (fitted, error) {
	old := f.(*fullFit)
	e.tune(old.logs)
	return e.run(ctx, old.process, old.logs, &old.ep.Sites, tolerance)
}

// tune sets the hyperparameters of the terms.
func (e *full) tune(logs []float64) {
	if e.tuning.terms != nil {
		e.tuning.terms.Tune(logs)
		e.cases = gp.CasesOf(e.tuning.of)
	}
}

func (e *full) run(ctx context.Context, p *gp.Process, own []float64, start *infer.Sites, tolerance float64) (fitted, error) {
	method := infer.EP{Start: start, Schedule: infer.Parallel, Tolerance: tolerance, Workspace: &e.scratch.Workspace}
	m := e.cases.Model(p)
	if len(m.Terms) >= manyTerms || e.failures >= manyFailures {
		method.MaxSweeps = manySweeps
	}
	r, err := method.Fit(ctx, m)
	if ctx.Err() == nil && (err != nil || !r.Status.Converged) {
		e.failures++
	}
	switch {
	case err != nil:
		return nil, err
	case !r.Status.Converged:
		return nil, &NotConvergedError{Kernel: p.Kernel(), Status: r.Status}
	}
	return &fullFit{e, p, r, own}, nil
}

// some is the evidence of some of the rows.
func (e *full) some(rows []int) *full {
	return &full{x: gp.RowsOf(e.x, rows), cases: e.cases.Part(rows), tuning: e.tuning.some(rows), chosen: rows}
}

// sitesOf are the sites of one row among those of all.
func (e *full) sitesOf(row int, all []gauss.Scalar) []gauss.Scalar {
	views := e.cases.Views()
	return all[row*views : (row+1)*views]
}

// lifted is a point that a search on fewer cases ended at, for all of these. The sites of
// cases that were not among them are empty.
func (e *full) lifted(at *point) *point {
	from := at.fitted.(*fullFit)
	sites := infer.Sites{Terms: make([]gauss.Scalar, e.rows()*e.cases.Views())}
	known := from.evidence.chosen // in order, like those of e
	for i := range e.rows() {
		row := i
		if e.chosen != nil {
			row = e.chosen[i]
		}
		if k := len(from.evidence.chosen) - len(known); len(known) > 0 && known[0] == row {
			copy(e.sitesOf(i, sites.Terms), e.sitesOf(k, from.ep.Sites.Terms))
			known = known[1:]
		}
	}
	return withSites(at.logs, sites)
}

func (f *fullFit) kernelOf() kernel.Kernel { return f.process.Kernel() }
func (f *fullFit) logEvidence() float64    { return f.ep.LogEvidence }
func (f *fullFit) sweeps() int             { return f.ep.Status.Sweeps }

func (f *fullFit) gradient(context.Context) ([]float64, error) {
	slope := f.evidence.scratch.EvidenceGradient(f.process, f.ep, nil)
	own := f.evidence.tuning.slope(f.logs, infer.Propagation{}, f.ep.Q, f.ep.Sites.Terms, func(use func(int, *gauss.Views)) { use(0, f.process.Views()) })
	return append(slope, own...), nil
}

// withSites is a point of which the sites are known and nothing else.
func withSites(logs []float64, sites infer.Sites) *point {
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
