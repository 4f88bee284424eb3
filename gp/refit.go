package gp

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/infer"
)

// Refit is what Optimise finds for some of the rows only, by a search that starts where
// that for all of them ended: with its parameters, the curvature that it learnt, and the
// sites of the rows. Where most rows are left that takes a few evaluations. The prior
// stays that of all rows.
//
// Of the options Tolerance, MaxEvaluations and Progress count. With a Tolerance the sites
// are settled as far as that asks for, to 1e-4 at most, and no further.
func (f *Fit) Refit(ctx context.Context, rows []int, opt Options) (*Fit, error) {
	loose := opt.Tolerance > 0
	opt = opt.withDefaults()
	whole := f.objective.evidence.(*full)
	part := whole.some(rows)
	o := *f.objective
	o.evidence, o.evaluations, o.progress = part, 0, opt.Progress
	views := len(whole.terms) / whole.rows()
	var sites infer.Sites
	for _, row := range rows {
		sites.Terms = append(sites.Terms, f.EP.Sites.Terms[row*views:(row+1)*views]...)
	}
	at, err := o.at(ctx, f.logs, settledAt(f.logs, sites), o.siteTolerance(1, opt.Tolerance))
	if err != nil {
		return nil, err
	}
	if at == nil {
		return nil, &StartError{Starts: 1, Err: o.failure}
	}
	if ok, err := o.differentiate(ctx, at); !ok {
		if err == nil {
			err = &StartError{Starts: 1, Err: o.failure}
		}
		return nil, err
	}
	m := f.memory.scaled(float64(part.rows())/float64(whole.rows()), o.prior)
	at, stop, err := o.search(opt.Tolerance, opt).climb(ctx, at, &m)
	if err != nil {
		return nil, err
	}
	if loose {
		return o.collect(at, stop, m), nil
	}
	return o.finish(ctx, at, stop, m)
}

// some is the evidence of some of the rows.
func (e *full) some(rows []int) *full {
	_, d := e.x.Dims()
	views := len(e.terms) / e.rows()
	part := &full{x: mat.NewDense(len(rows), d, nil), terms: make([]factor.Factor, 0, len(rows)*views), outcomes: e.outcomes.part(rows), chosen: rows}
	for i, row := range rows {
		part.x.SetRow(i, e.x.RawRowView(row))
		part.terms = append(part.terms, e.terms[row*views:(row+1)*views]...)
		if e.counts != nil {
			part.counts = append(part.counts, e.counts[row*views:(row+1)*views]...)
		}
	}
	return part
}
