package pass

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/finite"
)

// Calibrated is what Calibrate found.
type Calibrated struct {
	// Q is that by which decisions are made: of expectation propagation, Loss-EP, the prior times the sites of the rows, where
	// Tilted carries the utility's site as well, and of variational inference, Loss-VI, both are the same.
	Q, Tilted gauss.Gaussians
	Utility   gauss.Naturals
	Actions   []int
	// LogEvidence is the logarithm of the integral of all factors, with the utility, or the calibrated bound.
	LogEvidence float64
	Status      infer.Status
}

// Calibrate settles a rule together with a utility on some points, which
// stand for p(x), from the engine's sites. A visit to the utility is deletion, action
// selection, projection and update, as in Algorithm 1; after it a pass goes over the
// rows, which see the utility through q̄. Actions are chosen as infer.Decide does. By expectation
// propagation the projection is that of q times the utility, and by variational inference nothing is deleted, and the
// site is what the bound with E log U asks for, with the draws of infer.DrawnUtility.
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
		settling: newSettling(e, o),
		utility:  u, points: points,
		cavity: gauss.NewGaussians(k, e.Dim()), site: gauss.NewNaturals(k, e.Dim()), next: gauss.NewNaturals(k, e.Dim()),
		actions: make([]int, points.Len()), mean: make([]float64, values), variance: make([]float64, values),
		at: make([]gauss.Workspace, k), damping: 1,
	}
	if o.propagates() {
		c.by = &tilting{d1: make([]float64, values), d2: make([]float64, values)}
	} else {
		c.by = &averaging{infer.NewDrawnUtility(u, points, k, cmp.Or(o.Draws, 512), o.Seed)}
	}
	defer c.leave()
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

	by             projection
	cavity         gauss.Gaussians // q: q̄ without the utility's site, where it is deleted
	site, next     gauss.Naturals  // the utility's site, and the one that is proposed
	actions        []int
	mean, variance []float64 // of q at the points
	logZ           float64   // log E U, or E log U
	damping        float64
	at             []gauss.Workspace // of the points, for each function
}

// projection is how the site of a utility is found, in place of the rule of a term.
type projection interface {
	// deleted is how much of the site is left out where it is visited.
	deleted() float64
	// step writes the step from the present site to next, and log E U or E log U.
	step(c *calibration) error
	// objective is that of the rule with the utility, where value is the rows' part.
	objective(c *calibration, value float64) (float64, error)
}

// tilting is the projection of Loss-EP: the site makes q̄ what has the moments of q times U.
type tilting struct{ d1, d2 []float64 }

func (*tilting) deleted() float64 { return 1 }

func (t *tilting) step(c *calibration) error {
	c.logZ = c.utility.LogMean(c.actions, c.mean, c.variance, t.d1, t.d2)
	if !finite.All(c.logZ) {
		return &infer.ImproperError{Of: "the expected utility", Status: c.status}
	}
	for k, q := range c.cavity {
		if q.Tilt(c.next[k], c.points, c.of(k, t.d1), c.of(k, t.d2), &c.at[k]) != nil {
			return &infer.ImproperError{Of: "q times the utility", Status: c.status}
		}
	}
	c.next.Times(c.cavity.Naturals(), -1)
	c.next.Times(c.site, -1)
	return nil
}

func (t *tilting) objective(c *calibration, value float64) (float64, error) {
	return c.cavity.LogPartition() + c.utility.LogMean(c.actions, c.mean, c.variance, t.d1, t.d2) + value, nil
}

// averaging is that of Loss-VI.
type averaging struct{ drawn *infer.DrawnUtility }

func (*averaging) deleted() float64 { return 0 }

func (a *averaging) step(c *calibration) error {
	floor, err := a.drawn.Hold(c.cavity, c.actions, infer.UtilityFloor, &c.ws)
	if err != nil {
		return err
	}
	c.status.Floor = floor
	if c.logZ = a.drawn.Propose(c.cavity, c.site, c.next, &c.ws); !finite.All(c.logZ) {
		return &infer.ImproperError{Of: "the expected utility", Status: c.status}
	}
	return nil
}

func (a *averaging) objective(c *calibration, value float64) (float64, error) {
	if err := a.step(c); err != nil {
		return 0, err
	}
	return Objective(c.opt.Rule, c.cavity, value) + c.logZ, nil
}

// look makes q and its marginals at the points.
func (c *calibration) look() error {
	without := gauss.NewNaturals(len(c.q), c.q.Dim())
	without.SetProduct(c.q.Naturals(), c.site, -c.by.deleted())
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
	if err := c.by.step(c); err != nil {
		return 0, err
	}
	length := c.q.Step(c.next, &c.ws)
	for ; c.damping > 1e-6; c.damping /= 2 {
		c.moved.SetProduct(c.q.Naturals(), c.next, c.damping)
		if c.set() {
			c.site.Times(c.next, c.damping)
			return length, nil
		}
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

// evidence is A(q) + log E U + Σ(log Z − A + A\), the last with rows as q̄ sees them, or the calibrated bound.
func (c *calibration) evidence(ctx context.Context) (float64, error) {
	sums, err := c.engine.Look(ctx, c.q.Naturals(), Options{Rule: c.opt.Rule}, nil)
	if err != nil {
		return 0, err
	}
	return c.by.objective(c, sums.Value)
}
