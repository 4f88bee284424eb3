package search

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/indices"
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

// fullFit is what expectation propagation found for one kernel.
type fullFit struct {
	evidence *full
	kernel   kernel.Kernel
	logs     []float64 // of the hyperparameters of the terms
	sites    infer.Sites
	log      float64 // evidence
	swept    int
	slope    []float64 // of it, of values
	// The process and the result on it, nil where only values were needed.
	process *gp.Process
	ep      *infer.EPResult
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

// converge needs no process on the way: terms on values that have no hyperparameters, where sweeps
// over all sites lead to a fixed point, take the values alone.
func (e *full) converge(ctx context.Context, k kernel.Kernel, logs []float64, near *point, tolerance float64) (fitted, error) {
	own := logs[k.NumParams():]
	e.tune(own)
	start := extrapolate(near, logs)
	if of, ok := e.cases.(gp.Values); ok && e.tuning.terms == nil && tolerance > 0 && ctx.Err() == nil {
		f := &fullFit{evidence: e, kernel: k, logs: own}
		var sites []gauss.Scalar
		if start != nil {
			sites = start.Terms
		}
		v := e.scratch.Values(k, e.x)
		if r := (infer.EP{Tolerance: tolerance}).OnValues(ctx, v, of.Factors, of.Counts, sites); r != nil {
			f.sites.Terms, f.log, f.swept, f.slope = r.Sites, r.LogEvidence, r.Sweeps, e.scratch.ValuesGradient(k, e.x)
			return f, nil
		}
	}
	return e.run(ctx, k, own, start, tolerance)
}

func (e *full) refine(ctx context.Context, f fitted, tolerance float64) (fitted, error) {
	old := f.(*fullFit)
	if tolerance > 0 {
		return e.converge(ctx, old.kernel, append(old.kernel.Params(nil), old.logs...), withSites(nil, old.sites), tolerance)
	}
	e.tune(old.logs)
	return e.run(ctx, old.kernel, old.logs, &old.sites, tolerance)
}

// tune sets the hyperparameters of the terms.
func (e *full) tune(logs []float64) {
	if e.tuning.terms != nil {
		e.tuning.terms.Tune(logs)
		e.cases = gp.CasesOf(e.tuning.of)
	}
}

// run makes the process, and expectation propagation on it converge by all means.
func (e *full) run(ctx context.Context, k kernel.Kernel, own []float64, start *infer.Sites, tolerance float64) (fitted, error) {
	p, err := e.cases.Process(k, e.x, &e.scratch)
	if err != nil {
		return nil, err
	}
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
	return &fullFit{evidence: e, kernel: k, logs: own, sites: r.Sites, log: r.LogEvidence, swept: r.Status.Sweeps, process: p, ep: r}, nil
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

// lifted is a point that a search on fewer cases ended at, for all of these.
func (e *full) lifted(ctx context.Context, at *point) *point {
	from := at.fitted.(*fullFit)
	known := slices.Clone(from.evidence.chosen) // in order, like those of e
	if e.chosen != nil {
		place := make(map[int]int, len(e.chosen))
		for i, row := range e.chosen {
			place[row] = i
		}
		for k, row := range known {
			known[k] = place[row]
		}
	}
	return withSites(at.logs, e.spread(ctx, from, known))
}

// spread is sites to start from that a fit to some of the rows has, which are here the known ones. Those of
// other rows are what their terms ask for in view of what the fit predicts; those of several views are empty.
func (e *full) spread(ctx context.Context, from *fullFit, known []int) infer.Sites {
	all := infer.Sites{Terms: make([]gauss.Scalar, e.rows()*e.cases.Views())}
	unknown := indices.Of(e.rows())
	for k, row := range known {
		copy(e.sitesOf(row, all.Terms), from.evidence.sitesOf(k, from.sites.Terms))
		unknown[row] = -1
	}
	unknown = slices.DeleteFunc(unknown, func(row int) bool { return row < 0 })
	of, ok := e.cases.(gp.Values)
	if !ok || len(unknown) == 0 {
		return all
	}
	from, err := from.onProcess(ctx)
	if err != nil {
		return all
	}
	e.tune(from.logs)
	mean, variance := make([]float64, len(unknown)), make([]float64, len(unknown))
	infer.Gaussian{Gaussian: from.ep.Q}.Moments(from.process.At(gp.RowsOf(e.x, unknown)), mean, variance)
	for k, row := range unknown {
		seen := infer.Seen{Term: of.Factors[row], Count: of.Count(row), Mean: mean[k], Variance: variance[k]}
		if p, ok := (infer.Propagation{}).Project(seen, gauss.Scalar{}); ok {
			all.Terms[row] = p.Site
		}
	}
	return all
}

// onProcess is the fit with a process.
func (f *fullFit) onProcess(ctx context.Context) (*fullFit, error) {
	if f.process != nil {
		return f, nil
	}
	f.evidence.tune(f.logs)
	on, err := f.evidence.run(ctx, f.kernel, f.logs, &f.sites, asItIs)
	if err != nil {
		return nil, err
	}
	return on.(*fullFit), nil
}

// asItIs is a tolerance that what has converged for a search meets on a process, too.
const asItIs = 0.01

func (f *fullFit) kernelOf() kernel.Kernel { return f.kernel }
func (f *fullFit) logEvidence() float64    { return f.log }
func (f *fullFit) sweeps() int             { return f.swept }

func (f *fullFit) gradient(context.Context) ([]float64, error) {
	if f.process == nil {
		return f.slope, nil
	}
	e := f.evidence
	slope := e.scratch.EvidenceGradient(f.process, f.ep, nil)
	own := e.tuning.slope(f.logs, infer.Propagation{}, f.ep.Q, f.sites.Terms, func(use func(int, *gauss.Views)) { use(0, f.process.Views()) })
	return append(slope, own...), nil
}

// withSites is a point of which the sites are known and nothing else.
func withSites(logs []float64, sites infer.Sites) *point {
	return &point{logs: logs, fitted: &fullFit{sites: sites}}
}

// extrapolate is a guess at the sites for log parameters near a point, nil without one:
// those of the point, or, where the search came to it along nearly the same line, further
// along the line.
func extrapolate(p *point, logs []float64) *infer.Sites {
	if p == nil {
		return nil
	}
	sites := &p.fitted.(*fullFit).sites
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
	old := p.before.fitted.(*fullFit).sites.Terms
	guess := infer.Sites{Terms: make([]gauss.Scalar, len(sites.Terms))}
	for i, s := range sites.Terms {
		b := old[i]
		guess.Terms[i] = gauss.Scalar{Nu: s.Nu + along*(s.Nu-b.Nu), Tau: s.Tau + along*(s.Tau-b.Tau)}
	}
	return &guess
}
