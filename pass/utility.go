package pass

import (
	"context"
	"math"
	"slices"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/finite"
)

// Calibrated is expectation propagation with a utility as one more factor: Loss-EP.
type Calibrated struct {
	// Q is the prior times the sites of the rows: with it decisions are made. Tilted
	// carries the utility's site as well.
	Q, Tilted gauss.Gaussians
	Utility   gauss.Naturals
	Actions   []int
	// LogEvidence is the logarithm of the integral of all factors, with the utility.
	LogEvidence float64
	Status      infer.Status
}

// Calibrate settles expectation propagation together with a utility on some points, which
// stand for p(x), from the engine's sites. A visit to the utility is deletion, action
// selection, projection and update, as in Algorithm 1; after it a pass goes over the
// rows, which see the utility through q̄. Actions are chosen as infer.Decide does. The rule is
// expectation propagation.
//
// With several functions the utility depends on the values of all of them at the points,
// those of the first function at all points first, as if they were independent, and its site is
// one on each of them by itself.
func Calibrate(ctx context.Context, e Engine, u factor.Utility, points *gauss.Views, o Settings) (*Calibrated, error) {
	if o.Tolerance == 0 {
		o.Tolerance = 1e-6
	}
	if o.MaxPasses == 0 {
		o.MaxPasses = 200
	}
	o.Warm, o.Extra = true, nil
	k, values := e.Functions(), points.Len()*e.Functions()
	c := &calibration{
		settling: &settling{opt: o, engine: e, q: gauss.NewGaussians(k, e.Dim())},
		utility:  u, points: points,
		cavity: gauss.NewGaussians(k, e.Dim()), site: gauss.NewNaturals(k, e.Dim()), next: gauss.NewNaturals(k, e.Dim()),
		actions: make([]int, points.Len()), mean: make([]float64, values), variance: make([]float64, values),
		d1: make([]float64, values), d2: make([]float64, values), at: make([]gauss.Workspace, k), damping: 1,
	}
	for j := range c.actions {
		c.actions[j] = -1
	}
	if err := c.start(ctx); err != nil {
		return nil, err
	}
	chosen, err := infer.Decide(ctx, deciding{c})
	c.status.ActionRounds, c.status.ActionsHeld = chosen.Rounds, chosen.Held
	if err != nil {
		return nil, err
	}
	logEvidence, err := c.evidence(ctx)
	if err != nil {
		return nil, err
	}
	return &Calibrated{Q: c.cavity, Tilted: c.q, Utility: c.site, Actions: c.actions, LogEvidence: logEvidence, Status: c.status}, nil
}

// calibration is one run of Calibrate.
type calibration struct {
	*settling
	utility factor.Utility
	points  *gauss.Views

	cavity         gauss.Gaussians // q: q̄ without the utility's site
	site, next     gauss.Naturals  // the utility's site, and the one that is proposed
	actions        []int
	mean, variance []float64 // of q at the points
	d1, d2         []float64
	logZ           float64
	damping        float64
	at             []gauss.Workspace // of the points, for each function
}

// look makes q and its marginals at the points.
func (c *calibration) look() error {
	without := gauss.NewNaturals(len(c.now), c.now.Dim())
	without.CopyFrom(c.now)
	without.Times(c.site, -1)
	if err := c.cavity.Exchange(without); err != nil {
		return &infer.ImproperError{Of: "q", Status: c.status}
	}
	for k, q := range c.cavity {
		q.Predict(c.points.Of(k), c.of(k, c.mean), c.of(k, c.variance), &c.at[k])
	}
	return nil
}

// of are the numbers of one function.
func (c *calibration) of(k int, values []float64) []float64 {
	n := c.points.Len()
	return values[k*n : (k+1)*n]
}

// visit updates the utility's site, and returns how far the full step would move q̄.
func (c *calibration) visit(hold bool) (float64, error) {
	if err := c.look(); err != nil {
		return 0, err
	}
	if !hold {
		c.utility.Select(c.actions, c.mean, c.variance)
	}
	c.logZ = c.utility.LogMean(c.actions, c.mean, c.variance, c.d1, c.d2)
	if !finite.All(c.logZ) {
		return 0, &infer.ImproperError{Of: "the expected utility", Status: c.status}
	}
	for k, q := range c.cavity {
		if q.Tilt(c.next[k], c.points, c.of(k, c.d1), c.of(k, c.d2), &c.at[k]) != nil {
			return 0, &infer.ImproperError{Of: "q times the utility", Status: c.status}
		}
	}
	c.next.Times(c.cavity.Naturals(), -1)
	c.next.Times(c.site, -1) // the step
	length := c.q.Step(c.next, &c.ws)
	for ; c.damping > 1e-6; c.damping /= 2 {
		c.now.Times(c.next, c.damping)
		if c.set() {
			c.site.Times(c.next, c.damping)
			return length, nil
		}
		c.now.CopyFrom(c.q.Naturals())
	}
	return 0, &infer.ImproperError{Of: "q̄", Status: c.status}
}

// settle visits the utility and goes over the rows until neither moves.
func (c *calibration) settle(ctx context.Context, visits int, hold bool) error {
	best, since := math.Inf(1), 0
	for range visits {
		step, err := c.visit(hold)
		if err != nil {
			return err
		}
		limit := c.opt.MaxPasses
		c.opt.MaxPasses = min(limit, c.status.Sweeps+1)
		err = c.run(ctx, Options{Rule: c.opt.Rule, Damping: 1, Sweeps: c.opt.Sweeps})
		c.opt.MaxPasses = limit
		if err != nil {
			return err
		}
		residual := max(step, c.status.Residual)
		c.status.Residual = residual
		if c.status.Converged = residual <= c.opt.Tolerance; c.status.Converged {
			c.status.Reason = ""
			return c.look()
		}
		if c.status.Sweeps >= limit {
			c.status.Reason = "the limit on passes is reached; raise it"
			return c.look()
		}
		if residual < 0.95*best {
			best, since = residual, 0
		} else if since++; since == 2*patience {
			c.damping, since = c.damping/2, 0
		}
	}
	return c.look()
}

// deciding is a calibration as an infer.Decider.
type deciding struct{ *calibration }

func (c deciding) Visit(ctx context.Context) error { return c.settle(ctx, 1, false) }

func (c deciding) Settle(ctx context.Context) (bool, error) {
	err := c.settle(ctx, math.MaxInt, true)
	return c.status.Converged, err
}

func (c deciding) Evidence(ctx context.Context) (float64, error) { return c.evidence(ctx) }

func (c deciding) Actions() []int { return c.actions }

func (c deciding) Select(actions []int) { c.utility.Select(actions, c.mean, c.variance) }

// Keep implements infer.Decider. The sites, which are many, are not kept: they settle again.
func (c deciding) Keep() func(context.Context) error {
	actions := slices.Clone(c.actions)
	return func(ctx context.Context) error {
		copy(c.actions, actions)
		return c.settle(ctx, math.MaxInt, true)
	}
}

// evidence is A(q) + log E U + Σ(log Z − A + A\), the last with rows as q̄ sees them.
func (c *calibration) evidence(ctx context.Context) (float64, error) {
	sums, err := c.engine.Look(ctx, c.now, Options{Rule: c.opt.Rule}, nil)
	if err != nil {
		return 0, err
	}
	c.logZ = c.utility.LogMean(c.actions, c.mean, c.variance, c.d1, c.d2)
	return c.cavity.LogPartition() + c.logZ + sums.Value, nil
}
