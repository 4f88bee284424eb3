package corrected

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/tasks"
)

// Evidence is a posterior that answers every question by inference of its own: the
// expectation of a factor is the evidence with that factor as one more term, over
// the evidence without it. That is the paper's idea, a utility as one more site
// whose normaliser is the expected utility, carried through to each single
// decision. It is dear: one run of expectation propagation for each view, though
// each starts from the fitted sites.
type Evidence struct {
	model  *infer.Model
	fit    *infer.Result
	around *Posterior // what q says of the values at the terms
	none   float64    // the logarithm of the evidence of the terms, as a walk has it
	walks  bool       // whether it has one: not where a cavity of the fit is improper

	failures atomic.Int64
}

// Failures is the number of answers so far for which inference did not converge and
// the Gaussian's was given.
func (e *Evidence) Failures() int { return int(e.failures.Load()) }

// NewEvidence answers from a result of expectation propagation on the model, which
// has to be without a utility.
func NewEvidence(m *infer.Model, r *infer.Result) *Evidence {
	if m.Utility != nil {
		panic("corrected: evidence of a model that has a utility already")
	}
	e := &Evidence{model: m, fit: r, around: New(m, r, Paired)}
	w := newWalk(e.around.terms, e.around.mean, evidenceTolerance)
	for i := range m.Terms {
		copy(w.from.a[i*len(w.column):], e.around.cross.RawRowView(i))
	}
	w.reach(&w.from, 0)
	e.none, _, e.walks = w.match(&w.from)
	return e
}

// evidenceTolerance is at what residual a run ends. At a fixed point the evidence is
// stationary, so that its error is the square of that.
const evidenceTolerance = 1e-4

// Moments implements Posterior; they are those of the Gaussian.
func (e *Evidence) Moments(views *gauss.Views, mean, variance []float64) {
	infer.Gaussian{Gaussian: e.fit.Q}.Moments(views, mean, variance)
}

// Expect implements Posterior.
func (e *Evidence) Expect(views *gauss.Views, t factor.Factor, value, stderr []float64) {
	_ = e.ExpectContext(context.Background(), views, t, value, stderr) // which never ends
}

// ExpectContext implements Interruptible. Of a factor with a complement, such as the
// probability of an outcome, both expectations are found and made to add to one. A
// run that fails or does not converge falls back to the Gaussian's answer, and is
// counted by Failures.
func (e *Evidence) ExpectContext(ctx context.Context, views *gauss.Views, t factor.Factor, value, stderr []float64) error {
	infer.Gaussian{Gaussian: e.fit.Q}.Expect(views, t, value, stderr)
	const block = 64
	tasks.Each((views.Len()+block-1)/block, func() func(int) {
		var ws gauss.Workspace
		n := len(e.around.terms)
		w := newWalk(append(e.around.terms[:n:n], exchange{}), append(e.around.mean[:n:n], 0), evidenceTolerance)
		return func(b int) {
			from := b * block
			part := views.Slice(from, min(from+block, views.Len()))
			mean, variance, cov := e.around.predict(part, &ws)
			for j, m := range mean {
				if ctx.Err() != nil {
					return
				}
				q := &question{e, w, part.Slice(j, j+1), m, variance[j], cov.RawRowView(j)}
				if p, ok := q.expect(ctx, t); ok {
					value[from+j] = p
				} else if ctx.Err() == nil {
					e.failures.Add(1)
				}
			}
		}
	})
	return ctx.Err()
}

// question is a view, with what q says of the value there.
type question struct {
	*Evidence
	walk           *walk // with room for one more term
	view           *gauss.Views
	mean, variance float64
	cov            []float64
}

func (q *question) expect(ctx context.Context, t factor.Factor) (float64, bool) {
	with, ok := q.logRatio(ctx, t)
	if !ok {
		return 0, false
	}
	if c, binary := t.(factor.Binary); binary {
		without, ok := q.logRatio(ctx, c.Complement())
		return 1 / (1 + math.Exp(without-with)), ok
	}
	return math.Exp(with), true
}

// logRatio is the logarithm of the evidence with one more term over that without. It is
// expectation propagation on the values at the terms and at the view, whose Gaussian under
// q is known; where that does not settle, it is EP with all that it has for such cases.
func (q *question) logRatio(ctx context.Context, t factor.Factor) (float64, bool) {
	if q.walks {
		if l, ok := q.walked(t); ok {
			return l - q.none, true
		}
	}
	n := len(q.cov)
	m := &infer.Model{
		Views: q.model.Views.Append(q.view),
		Terms: append(q.model.Terms[:n:n], t),
	}
	if q.model.Counts != nil {
		m.Counts = append(q.model.Counts[:n:n], 1)
	}
	ep := infer.EP{Tolerance: evidenceTolerance, Start: &infer.Sites{Terms: append(q.fit.Sites.Terms[:n:n], gauss.Scalar{})}}
	r, err := ep.Fit(ctx, m)
	if err != nil || !r.Status.Converged {
		return 0, false
	}
	return r.LogEvidence - q.fit.LogEvidence, true
}

// walked is the logarithm of the evidence with one more term, relative to that of q.
func (q *question) walked(t factor.Factor) (float64, bool) {
	n, w := len(q.cov), q.walk
	at := &w.from
	w.terms[n], w.mean[n] = newExchange(t, 1, gauss.Scalar{}, 0, 0), q.mean
	clear(at.delta)
	at.logDet = 0
	stride := len(w.column)
	for i := range n {
		copy(at.a[i*stride:], q.around.cross.RawRowView(i))
		at.a[i*stride+n] = q.cov[i]
	}
	copy(at.a[n*stride:], q.cov)
	at.a[n*stride+n] = q.variance
	w.reach(at, 0)
	return w.settle(at)
}

var _ infer.Interruptible = (*Evidence)(nil)
