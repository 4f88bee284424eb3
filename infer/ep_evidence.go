package infer

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/internal/tasks"
)

// Evidence is a posterior that answers every question by inference of its own: the
// expectation of a factor is the evidence with that factor as one more term, over
// the evidence without it. That is the paper's idea, a utility as one more site
// whose normaliser is the expected utility, carried through to each single
// decision. It is dear: one run of expectation propagation for each view, though
// each starts from the fitted sites.
type Evidence struct {
	model *Model
	fit   *Result
	ep    EP

	failures atomic.Int64
}

// Failures is the number of answers so far for which inference did not converge and
// the Gaussian's was given.
func (e *Evidence) Failures() int { return int(e.failures.Load()) }

// NewEvidence answers from a result of expectation propagation on the model, which
// has to be without a utility.
func NewEvidence(m *Model, r *Result) *Evidence {
	if m.Utility != nil {
		panic("infer: evidence of a model that has a utility already")
	}
	// At a fixed point the evidence is stationary, so that its error is the square of
	// that of the sites.
	return &Evidence{model: m, fit: r, ep: EP{Tolerance: 1e-5}}
}

// Moments implements Posterior; they are those of the Gaussian.
func (e *Evidence) Moments(views *gauss.Views, mean, variance []float64) {
	Gaussian{e.fit.Q}.Moments(views, mean, variance)
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
	Gaussian{e.fit.Q}.Expect(views, t, value, stderr)
	tasks.Each(views.Len(), func() func(int) {
		return func(j int) {
			if ctx.Err() != nil {
				return
			}
			if p, ok := e.expect(ctx, views.Slice(j, j+1), t); ok {
				value[j] = p
			} else if ctx.Err() == nil {
				e.failures.Add(1)
			}
		}
	})
	return ctx.Err()
}

func (e *Evidence) expect(ctx context.Context, view *gauss.Views, t factor.Factor) (float64, bool) {
	with, ok := e.logEvidence(ctx, view, t)
	if !ok {
		return 0, false
	}
	if c, binary := t.(factor.Binary); binary {
		without, ok := e.logEvidence(ctx, view, c.Complement())
		return 1 / (1 + math.Exp(without-with)), ok
	}
	return math.Exp(with - e.fit.LogEvidence), true
}

// logEvidence is that of the model with one more term.
func (e *Evidence) logEvidence(ctx context.Context, view *gauss.Views, t factor.Factor) (float64, bool) {
	n := len(e.model.Terms)
	m := &Model{
		Views: e.model.Views.Append(view),
		Terms: append(e.model.Terms[:n:n], t),
	}
	ep := e.ep
	ep.Start = &Sites{Terms: append(e.fit.Sites.Terms[:n:n], gauss.Scalar{})}
	r, err := ep.Fit(ctx, m)
	if err != nil || !r.Status.Converged {
		return 0, false
	}
	return r.LogEvidence, true
}

var _ Interruptible = (*Evidence)(nil)
