package search

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
)

// Refit is what Optimise finds for some of the rows only, by a search that starts where
// that for all of them ended: with its parameters, the curvature that it learnt, and the
// sites of the rows. Where most rows are left that takes a few evaluations. The prior
// stays that of all rows.
//
// Of the options Tolerance, MaxEvaluations and Progress count. With a Tolerance the sites
// converge as far as that asks for, to 1e-4 at most, and no further.
func (f *Fit) Refit(ctx context.Context, rows []int, opt Options) (*Fit, error) {
	loose := opt.Tolerance > 0
	opt = opt.withDefaults()
	whole := f.objective.evidence.(*full)
	part := whole.some(rows)
	o := *f.objective
	o.evidence, o.evaluations, o.progress = part, 0, opt.Progress
	var sites infer.Sites
	for _, row := range rows {
		sites.Terms = append(sites.Terms, whole.sitesOf(row, f.EP.Sites.Terms)...)
	}
	m := f.memory.scaled(float64(part.rows())/float64(whole.rows()), o.prior)
	at, stop, err := o.from(ctx, f.logs, withSites(f.logs, sites), &m, opt)
	if err != nil {
		return nil, err
	}
	if loose {
		return o.collect(ctx, at, stop, m)
	}
	return o.finish(ctx, at, stop, m)
}

// Extend is what a search for more rows finds, with their terms, that starts where that for some
// of them ended, which are rows of x: with its parameters and the curvature that it learnt. The prior is that of
// all rows.
//
// Of the options Shrinkage, Tolerance, MaxEvaluations and Progress count. That
// MaxEvaluations are used up is not why the search stopped: that is what f says.
func (f *Fit) Extend(ctx context.Context, rows []int, x *mat.Dense, terms gp.Terms, opt Options) (*Fit, error) {
	opt = opt.withDefaults()
	whole := &full{x: x, cases: gp.CasesOf(terms), tuning: newTuning(terms)}
	o := *f.objective
	o.evidence, o.evaluations, o.progress, o.prior = whole, 0, opt.Progress, newPrior(o.kernel, x, opt.Shrinkage, newTuning(terms))
	logs := slices.Clone(f.logs)
	o.prior.clamp(logs)
	m := f.memory.scaled(float64(whole.rows())/float64(f.objective.evidence.rows()), o.prior)
	found := &fullFit{evidence: f.objective.evidence.(*full), kernel: f.Process.Kernel(), logs: f.Tuned, sites: f.EP.Sites, process: f.Process, ep: f.EP}
	at, stop, err := o.from(ctx, logs, withSites(logs, whole.spread(ctx, found, rows)), &m, opt)
	if err != nil {
		return nil, err
	}
	if stop == Exhausted {
		stop = f.Stop
	}
	return o.finish(ctx, at, stop, m)
}

// from climbs from log parameters, with sites that have converged nearby or nil.
func (o *objective) from(ctx context.Context, logs []float64, near *point, m *memory, opt Options) (*point, Stop, error) {
	at, err := o.at(ctx, logs, near, o.siteTolerance(1, opt.Tolerance))
	if err != nil {
		return nil, 0, err
	}
	if at == nil {
		return nil, 0, &StartError{Starts: 1, Err: o.failure}
	}
	if ok, err := o.differentiate(ctx, at); !ok {
		if err == nil {
			err = &StartError{Starts: 1, Err: o.failure}
		}
		return nil, 0, err
	}
	return o.ascent(opt.Tolerance, opt).climb(ctx, at, m)
}
