package search

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/pass"
)

// Continued is what further rows make of a posterior with inducing points.
type Continued struct {
	Process *gp.Inducing // with the effects that these rows moved
	Q       gauss.Gaussians
	Sites   []gauss.Scalar // of these rows
	// Gain is the log evidence of these rows given the others, whose sites stand still.
	Gain   float64
	Status infer.Status
}

// Continue lets further rows join a posterior with inducing points. What the rows before told is the
// Gaussian that is given, beside the prior, and does not move; the kernel and the points stay. Effects
// go on from what is known of them, to the power fade. Passes go over the rows of x only.
func Continue(ctx context.Context, p *gp.Inducing, before Told, x *mat.Dense, terms gp.Terms, codes int, fade, power float64) (*Continued, error) {
	base, err := Beside(before.V)
	if err != nil {
		return nil, err
	}
	p = p.Trained(nil) // it knows the sums of other rows
	rule := infer.Propagation{Power: power}
	settings := pass.Settings{Rule: rule, Tolerance: finalTolerance(max(1, terms.Len())), Extra: before.V, Warm: true}
	if before.Arrow != nil {
		c, err := Jointly(ctx, p, before, x, terms, codes, settings, false)
		if err == nil && terms.Len() > 0 {
			c.Gain -= pass.Objective(rule, base, 0) + before.Arrow.LogPartition(p.Effects().Joint().Variance)
		}
		return c, err
	}
	out := &Continued{Process: p, Q: base, Status: infer.Status{Converged: true}}
	if terms.Len() == 0 {
		return out, nil
	}
	driver := gp.InMemory(x, terms, nil, 0)
	engine, err := driver.Drive(p, nil)
	if err != nil {
		return nil, err
	}
	if p.Effects() == nil {
		return out, out.settle(ctx, engine, settings, base)
	}
	rows := effects.NewInMemory(x, terms, 0)
	fit, err := effects.Continue(effects.NewTable(x, codes), rows, p.Effects(), fade)
	if err != nil {
		return nil, err
	}
	smooth, tolerance := p.With(nil), effectTolerance*float64(terms.Len())
	for range effectRounds {
		moments(smooth, out.Q, x, rows)
		if _, err := fit.Run(ctx, finalPasses, tolerance, nil); err != nil {
			return nil, err
		}
		sums, err := fit.Sums(nil)
		if err != nil {
			return nil, err
		}
		if engine, err = driver.Drive(smooth.With(fit.Effects()).Trained(sums), engine); err != nil {
			return nil, err
		}
		if err := out.settle(ctx, engine, settings, base); err != nil {
			return nil, err
		}
	}
	out.Gain -= fit.Effects().Divergence() - p.Effects().Divergence()
	out.Process = smooth.With(fit.Effects())
	return out, nil
}

// WithoutEffects are the effects of a process without what rows told of them, to first order.
func WithoutEffects(ctx context.Context, p *gp.Inducing, q gauss.Gaussians, x *mat.Dense, terms gp.Terms, codes int) (effects.Set, error) {
	fit, _, err := Effects(ctx, p, q, x, terms, codes)
	if err != nil {
		return nil, err
	}
	return fit.Forget(ctx)
}

// Beside is the prior times what is given beside it.
func Beside(before gauss.Naturals) (gauss.Gaussians, error) {
	n := gauss.NewNaturals(len(before), before.Dim())
	n.SetStandard()
	n.Times(before, 1)
	q := gauss.NewGaussians(len(before), before.Dim())
	if q.Exchange(n) != nil {
		return nil, &infer.ImproperError{Of: "the posterior without the rows taken away"}
	}
	return q, nil
}

// settle lets the sites of the rows converge.
func (c *Continued) settle(ctx context.Context, e gp.Engine, o pass.Settings, base gauss.Gaussians) error {
	r, err := pass.Settle(ctx, e, o)
	if err != nil {
		return err
	}
	sums, err := e.Look(ctx, r.Q.Naturals(), pass.Options{Rule: o.Rule}, nil)
	if err != nil {
		return err
	}
	c.Q, c.Status = r.Q, r.Status
	c.Gain = pass.Objective(o.Rule, r.Q, sums.Value) - pass.Objective(o.Rule, base, 0)
	c.Sites, err = e.Sites(ctx)
	return err
}
