package infer

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
)

// LossVI is variational inference calibrated to the utility of the model: to the
// bound of VI it adds E_q log U(a, v), where U(a, v) is averaged over the residuals
// of the points only. It alternates between raising that bound for given actions and
// choosing the actions of highest expected utility under q, from those of plain VI
// on, until they stay or come back to an earlier choice.
//
// The expectation has no closed form. It is estimated by fixed draws, and the
// estimate is maximised. A utility on a single view that is a factor (factor.Single)
// needs none: it becomes one more term. Without a utility LossVI is VI.
//
// Start gives the sites of the terms for the first climb, that of plain VI, and if it has a
// utility's site, as of other points, where the calibrated climb begins; Trace hears of every climb in turn, each from iteration 0. A Tolerance of 0 stands for that of
// VI, but for 1e-4 standard deviations where draws are behind the bound: their own error
// is far larger.
type LossVI struct {
	VI
	// Draws is the number of draws, rounded up to a multiple of 16; 0 stands for
	// 512.
	Draws int
	// Seed decides the draws: the same seed gives the same result.
	Seed uint64
	// Floor is what U is raised by, relative to its largest value, where it touches
	// zero; 0 stands for UtilityFloor.
	Floor float64
}

// UtilityFloor is what a utility that touches zero is raised by, relative to its largest value: log U is −∞ there and the
// bound without a maximum. What is worth nothing then counts as −7 in the bound, as much as a handful of
// observations; a floor far below would let it outweigh all of them. A utility
// that stays above zero is left as it is.
const UtilityFloor = 1e-3

// LossVIResult is what Loss-VI found. Decisions are made with Q, as under VI; the
// calibrated bound is its LogEvidence.
type LossVIResult struct {
	Result
	// MeanLogUtility is E_q log U(a, v) for the actions in Sites, a part of the bound,
	// and StdErr its standard error: the spread of 8 independently scrambled sets of
	// draws, 0 for an expectation in closed form.
	MeanLogUtility, StdErr float64
	// ActionCycle is the number of action vectors that follow each other for ever, 0
	// when the actions came to rest. The one with the highest bound is held.
	ActionCycle int
}

// drawnTolerance is the residual at which the climb of a bound with draws ends.
const drawnTolerance = 1e-4

// Fit maximises the calibrated bound of the model.
//
// The error is non-nil when the context ends, when the bound is not finite at the
// start, and, as *UnsupportedError, for a utility that is piecewise constant in v at
// several points; a run that did not converge is returned with a Status that says so.
func (o LossVI) Fit(ctx context.Context, m *Model) (*LossVIResult, error) {
	m.Check()
	if o.Draws == 0 {
		o.Draws = 512
	}
	if o.Floor == 0 {
		o.Floor = UtilityFloor
	}
	o.Draws = (o.Draws + 2*scramblings - 1) / (2 * scramblings) * (2 * scramblings)
	plain, err := o.VI.Fit(ctx, m)
	if err != nil {
		return nil, err
	}
	if m.Utility == nil {
		return &LossVIResult{Result: *plain}, nil
	}
	c := newCalibration(o, m)
	c.status.Sweeps = plain.Status.Sweeps
	return c.run(ctx, plain)
}

// begin is the Gaussian and the sites that the calibrated climb begins with: those of plain
// VI, unless there are better ones.
func (c *calibration) begin(plain *Result) (*gauss.Gaussian, *Sites) {
	s := c.opt.Start
	if s == nil || s.Utility == nil || len(s.Terms) != len(c.model.Terms) {
		return plain.Q, &Sites{Terms: plain.Sites.Terms}
	}
	n := gauss.NewNatural(c.model.Dim())
	n.SetPosterior(c.model.Views, s.Terms, &c.ws)
	n.Times(s.Utility, 1)
	q := gauss.NewGaussian(c.model.Dim())
	if q.Exchange(n) != nil {
		return plain.Q, &Sites{Terms: plain.Sites.Terms}
	}
	return q, s
}

// calibration is one run of Loss-VI.
type calibration struct {
	opt     LossVI
	model   *Model
	actions []int
	drawn   *drawnUtility // nil when the utility is a term
	status  Status
	floor   float64 // by which U is raised under the actions

	q     *gauss.Gaussian // of the last climb
	start *Sites          // for the next, what the last ended with
	best  calibrated      // the last climb, or the one held

	mean, variance []float64 // of the points
	ws             gauss.Workspace
}

func newCalibration(o LossVI, m *Model) *calibration {
	n, block := m.Points.Len(), factor.ViewsOf(m.Utility)
	c := &calibration{opt: o, model: m, actions: make([]int, n/block), mean: make([]float64, n), variance: make([]float64, n*block)}
	for j := range c.actions {
		c.actions[j] = -1
	}
	return c
}

// choose writes the actions of highest expected utility under q.
func (c *calibration) choose(actions []int) {
	c.q.PredictBlocks(c.model.Points, factor.ViewsOf(c.model.Utility), c.mean, c.variance, &c.ws)
	c.model.Utility.Select(actions, c.mean, c.variance)
}

// calibrated is a bound climbed with its actions held.
type calibrated struct {
	*ascent
	actions []int
	floor   float64
}

// run alternates between q and the actions.
func (c *calibration) run(ctx context.Context, plain *Result) (*LossVIResult, error) {
	c.q, c.start = c.begin(plain)
	c.choose(c.actions)
	chosen, err := Decide(ctx, c)
	if err != nil {
		return nil, err
	}
	c.status.ActionRounds, c.status.ActionsHeld = chosen.Rounds, chosen.Held
	return c.result(chosen.Cycle), nil
}

// Visit implements Decider: actions come from plain VI, and are held from there on.
func (*calibration) Visit(context.Context) error { return nil }

// Settle implements Decider.
func (c *calibration) Settle(ctx context.Context) (bool, error) {
	a, err := c.ascent()
	if err != nil {
		return false, err
	}
	if err := a.climb(ctx); err != nil {
		return false, err
	}
	c.status.Sweeps += a.status.Sweeps
	c.best = calibrated{a, slices.Clone(c.actions), c.floor}
	c.q, c.start = a.here.q, &Sites{Terms: a.here.params}
	return a.status.Converged, nil
}

// Evidence implements Decider: it is the bound.
func (c *calibration) Evidence(context.Context) (float64, error) { return c.best.here.bound, nil }

// Actions implements Decider.
func (c *calibration) Actions() []int { return c.actions }

// Select implements Decider.
func (c *calibration) Select(actions []int) { c.choose(actions) }

// Keep implements Decider.
func (c *calibration) Keep() func(context.Context) error {
	kept := c.best
	return func(context.Context) error {
		c.best = kept
		return nil
	}
}

// ascent prepares a climb with the actions as they are, from where the last one ended.
// q there tells whether the utility touches zero.
func (c *calibration) ascent() (*ascent, error) {
	opt := c.opt.VI
	opt.Start = nil
	a := c.ascentOfTerm(opt)
	if a == nil {
		if c.drawn == nil {
			c.drawn = newDrawnUtility(c.model, c.opt.Draws, c.opt.Seed)
		}
		floor, err := c.drawn.Hold(gauss.Gaussians{c.q}, c.actions, c.opt.Floor, &c.ws)
		if err != nil {
			return nil, err
		}
		c.floor = floor
		if opt.Tolerance == 0 {
			opt.Tolerance = drawnTolerance
		}
		a = newAscent(opt, c.model.Plain(), c.drawn)
	}
	copy(a.here.params, c.start.Terms)
	if c.start.Utility != nil && a.drawn != nil {
		a.drawn.pack(a.here.params[len(c.model.Terms):], c.start.Utility)
	}
	return a, nil
}

// ascentOfTerm is the climb with the utility as one more term, or nil where it is
// not one. A point with a residual does not qualify: U is averaged over the residual
// before the logarithm is taken, a term after.
func (c *calibration) ascentOfTerm(opt VI) *ascent {
	single, ok := c.model.Utility.(factor.Single)
	if !ok || c.model.Points.Len() != 1 || c.model.Points.Residual(0) > 0 {
		return nil
	}
	t, floor, ok := single.Term(c.actions, c.opt.Floor)
	if !ok {
		return nil
	}
	c.floor = floor
	return newAscent(opt, withTerm(c.model, t), nil)
}

// withTerm is the model with its point as one more view, with the term on it.
func withTerm(m *Model, t factor.Factor) *Model {
	with := &Model{Views: m.Views.Append(m.Points), Terms: append(slices.Clone(m.Terms), t), Shared: m.Shared}
	if m.Counts != nil {
		with.Counts = append(slices.Clone(m.Counts), 1)
	}
	return with
}

// result reports the bound climbed with the actions it was climbed with.
func (c *calibration) result(cycle int) *LossVIResult {
	best := c.best
	r := &LossVIResult{Result: best.result(), ActionCycle: cycle}
	r.Status.Floor = best.floor
	r.Status.Sweeps, r.Status.ActionRounds, r.Status.ActionsHeld = c.status.Sweeps, c.status.ActionRounds, c.status.ActionsHeld
	r.Sites.Actions = best.actions
	n := len(c.model.Terms)
	if best.drawn != nil {
		copy(c.drawn.actions, best.actions)
		c.drawn.floor = best.floor
		c.drawn.visit(gauss.Gaussians{r.Q}, &c.ws)
		r.MeanLogUtility, r.StdErr = stat.Mean(c.drawn.logs, nil), c.drawn.standardError()
		return r
	}
	r.Sites.Terms = r.Sites.Terms[:n:n]
	r.Sites.Utility = gauss.NewNatural(c.model.Dim())
	r.Sites.Utility.TimesScalar(c.model.Points.Row(0), best.here.params[n], 1)
	r.Q.Predict(c.model.Points, c.mean, c.variance, &c.ws)
	r.MeanLogUtility, _, _ = best.model.Terms[n].MeanLog(c.mean[0], c.variance[0])
	return r
}
