package lossep

import (
	"context"
	"fmt"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/corrected"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/methods"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/search"
)

// learned is what a search found.
func (p *Problem) learned(fit *search.Fit) *Learned {
	p = p.tuned(fit.Tuned)
	return &Learned{
		problem: p, process: &full{process: fit.Process, model: p.cases().Model(fit.Process), ep: &fit.EP.Result},
		search: fit.Record(), doubts: doubtsOf(fit.EP.Status),
	}
}

// full is the full process.
type full struct {
	process *gp.Process
	model   *infer.Model
	ep      *infer.Result
	second  []opinion // EP and its corrections, if they were made already
}

func (f *full) components() []Component { return []Component{{Weight: 1, Kernel: f.process.Kernel()}} }
func (*full) points() int               { return 0 }
func (f *full) logEvidence() float64    { return f.ep.LogEvidence }

// apply implements learned.
func (f *full) apply(ctx context.Context, l *Learned, method Method) (*applied, error) {
	p := l.problem
	d := method.row(p.Len())
	p.tell(d.Title, 0, f.ep.LogEvidence)
	result, err := f.infer(ctx, p, d)
	if err != nil {
		return nil, err
	}
	found := &applied{
		status: newStatus(result.Status), objective: result.LogEvidence,
		logEvidence: f.ep.LogEvidence, search: l.search, jitter: f.process.Jitter(), units: p.units(),
	}
	if !isEP(d) {
		found.status.Notes = l.doubts
	}
	if f.second == nil {
		if f.second, err = f.expectationPropagation(ctx, p.link(), f.ep.Sites.Terms); err != nil {
			return nil, err
		}
	}
	own := posterior.State{Sites: result.Sites.Terms, Calibration: result.Calibration()}
	if found.opinions, err = f.opinions(ctx, p.link(), method, own); err != nil {
		return nil, err
	}
	found.left = found.opinions[0].Posterior.(posterior.LeaveOut)
	return found, nil
}

// infer runs a method from the fixed point of EP, which EP itself and what refines it
// have reached.
func (f *full) infer(ctx context.Context, p *Problem, d methods.Method) (*infer.Result, error) {
	if isEP(d) {
		return f.ep, nil
	}
	m := f.model
	if d.Calibrated {
		// The points that stand for p(x) are new cases with the inputs of training rows, as frequent
		// as these.
		rows, tables, err := p.pointsOfUtility()
		if err != nil {
			return nil, err
		}
		if m, err = p.link().withUtility(*m, f.process, gp.RowsOf(p.X, rows), indices.Take(p.Weights, rows), tables); err != nil {
			return nil, fmt.Errorf("utility: %w", err)
		}
	}
	o := p.options()
	o.Start = &f.ep.Sites
	return d.Fit(ctx, m, o)
}

// expectationPropagation is the opinions of EP and of its corrections, which there are of one
// function.
func (f *full) expectationPropagation(ctx context.Context, l link, sites []gauss.Scalar) ([]opinion, error) {
	ep, err := l.full(ctx, f.process, sites, nil)
	if err != nil {
		return nil, fmt.Errorf("the sites of EP: %w", err)
	}
	all := []opinion{{EP, ep}}
	if one, ok := ep.(*posterior.Full); ok {
		better := Corrected.row(len(sites)).Refine(f.model, &infer.Result{Q: one.Gaussian(), Sites: infer.Sites{Terms: sites}})
		all = append(all, opinion{Corrected, posterior.NewRefined(one, better.Posterior.(*corrected.Posterior))})
	}
	return all, nil
}

// opinions are that of the method, made of its state, and those of EP.
func (f *full) opinions(ctx context.Context, l link, method Method, own posterior.State) ([]opinion, error) {
	switch method {
	case EP:
		return f.second, nil
	case Corrected:
		return []opinion{f.second[1], f.second[0]}, nil
	}
	p, err := l.full(ctx, f.process, own.Sites, own.Calibration)
	if err != nil {
		return nil, fmt.Errorf("the sites of %s: %w", method, err)
	}
	return append([]opinion{{method, p}}, f.second...), nil
}
