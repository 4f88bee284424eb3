package pass

import (
	"context"
	"sync"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
)

// Settings of Settle. The zero value is ready to use.
type Settings struct {
	Rule infer.Rule // see Options
	// Sweeps is that of the passes; see Options.
	Sweeps int
	// Tolerance is how far the last pass may have moved q, in its own metric: no view's
	// mean by more standard deviations than that, and no variance by √2 times as much,
	// relatively. 0 stands for 1e-6.
	Tolerance float64
	// Ahead says that the way that is left after a pass counts in place of its step, where steps become
	// shorter by a constant factor, as they do near a fixed point.
	Ahead bool
	// MaxPasses bounds the work; 0 stands for 200.
	MaxPasses int
	// Warm says that the engine's sites are a start; otherwise they are emptied.
	Warm bool
	// From is what passes came to with the engine's sites, if that is known. A warm start then needs
	// no pass to gather them.
	From *Result
	// Extra is a site on v as a whole, such as that of a utility; nil stands for none.
	Extra gauss.Naturals
	// Draws is how many draws a utility is averaged over by variational inference, a multiple of 16; 0 stands for 512.
	// Seed decides them.
	Draws int
	Seed  uint64
	// Trace, if set, is called with every pass.
	Trace func(Step)
}

// Step is what Trace is called with.
type Step struct {
	Number   int
	Residual float64 // how far the pass moved q; see Settings.Tolerance
	Damping  float64
	// Objective is that of the rule, with every row as it was seen during the pass.
	Objective float64
}

// Result is where Settle came to rest.
type Result struct {
	// Q is the prior times all sites, those on v as a whole with them, for each function.
	Q      gauss.Gaussians
	Status infer.Status
}

// Settle repeats passes until q no longer moves. Each moves from the q before it; where
// that does not go well, because a step would leave the proper Gaussians or the steps do
// not become shorter, sites move by a part of what they are asked to. When even that does
// not help expectation propagation, it starts again from where variational inference
// settles, which for log-concave terms it always does.
//
// The error is that of the engine or of the context, or *infer.ImproperError. A run that
// did not settle is returned with a Status that says so.
func Settle(ctx context.Context, e Engine, o Settings) (*Result, error) {
	if o.Tolerance == 0 {
		o.Tolerance = 1e-6
	}
	if o.MaxPasses == 0 {
		o.MaxPasses = 200
	}
	s := newSettling(e, o)
	defer s.leave()
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	err := s.run(ctx, Options{Rule: o.Rule, Damping: 1, Sweeps: o.Sweeps})
	if err == nil && s.stuck && o.propagates() {
		s.opt.Tolerance = max(o.Tolerance, safeTolerance)
		e.Clear()
		s.opt.Warm = false
		if err = s.start(ctx); err == nil {
			err = s.run(ctx, Options{Rule: infer.Variational{}, Damping: 1, Sweeps: o.Sweeps})
		}
		s.opt.Tolerance = o.Tolerance
		if err == nil {
			err = s.run(ctx, Options{Rule: o.Rule, Damping: 0.5, Sweeps: o.Sweeps})
		}
	}
	if err != nil {
		return nil, err
	}
	return &Result{Q: s.q, Status: s.status}, nil
}

// propagates tells whether the rule is expectation propagation.
func (o Settings) propagates() bool {
	_, ok := Options{Rule: o.Rule}.rule().(infer.Propagation)
	return ok
}

// safeTolerance is enough for a start.
const safeTolerance = 1e-3

// settling is one run of Settle.
type settling struct {
	opt    Settings
	engine Engine
	q      gauss.Gaussians
	*settleRoom
	status infer.Status
	before float64 // the step before the first pass, 0 if there is none that it could be compared with
	stuck  bool    // the damping has come to its end
}

// settleRoom is memory of a run of Settle, for the next one.
type settleRoom struct {
	moved gauss.Naturals // natural parameters that q is to have
	ws    gauss.Workspace
}

var settleRooms sync.Pool

func newSettling(e Engine, o Settings) *settling {
	k, m := e.Functions(), e.Dim()
	return &settling{opt: o, engine: e, q: gauss.NewGaussians(k, m), settleRoom: takeSettleRoom(k, m)}
}

// leave makes way for the next run.
func (s *settling) leave() {
	s.ws.Forget()
	settleRooms.Put(s.settleRoom)
	s.settleRoom = nil
}

func takeSettleRoom(functions, m int) *settleRoom {
	if r, ok := settleRooms.Get().(*settleRoom); ok && len(r.moved) == functions && r.moved.Dim() == m {
		return r
	}
	return &settleRoom{moved: gauss.NewNaturals(functions, m)}
}

// start makes the first q. Sites to start from that do not make a proper one are put
// aside: starting empty is always possible.
func (s *settling) start(ctx context.Context) error {
	if s.opt.Warm && s.opt.From != nil {
		s.moved.CopyFrom(s.opt.From.Q.Naturals())
		if s.set() {
			if s.opt.From.Status.Damping == 1 {
				s.before = s.opt.From.Status.Residual
			}
			return nil
		}
	}
	if s.opt.Warm {
		sum, err := s.engine.Gather(ctx)
		if err != nil {
			return err
		}
		s.base()
		s.moved.Times(sum, 1)
		if s.set() {
			return nil
		}
	}
	s.engine.Clear()
	s.base()
	if !s.set() {
		return &infer.ImproperError{Of: "the prior", Status: s.status}
	}
	return nil
}

// base is the prior and what is on v as a whole.
func (s *settling) base() {
	s.moved.SetStandard()
	if s.opt.Extra != nil {
		s.moved.Times(s.opt.Extra, 1)
	}
}

// set gives q its next natural parameters, or says that they are not proper.
func (s *settling) set() bool { return s.q.Exchange(s.moved) == nil }

const (
	patience     = 3 // passes in a row without a shorter step, before steps are damped
	confidence   = 4 // passes in a row with one, before they are damped less
	leastDamping = 1.0 / 64
)

func (s *settling) run(ctx context.Context, o Options) error {
	s.status.Converged, s.status.Reason, s.stuck = false, "", false
	before := s.before
	s.before = 0
	best, worse, better, wanted := 0.0, 0, 0, confidence
	for s.status.Sweeps < s.opt.MaxPasses {
		sums, err := s.engine.Pass(ctx, s.q.Naturals(), o)
		if err != nil {
			return err
		}
		s.status.Sweeps++
		s.status.Damping = o.Damping
		s.moved.SetProduct(s.q.Naturals(), sums.Change, 1)
		failed, step := !s.set(), 0.0
		if !failed {
			s.engine.Keep()
			// In units of a full step.
			step = s.q.Step(sums.Change, &s.ws) / o.Damping
			s.status.Residual = step
			if sums.Skipped > 0 { // rows that stand still have not come to rest
				s.status.Residual = max(step, sums.Residual)
			}
			if s.opt.Trace != nil {
				s.opt.Trace(Step{s.status.Sweeps, s.status.Residual, o.Damping, Objective(o.Rule, s.q, sums.Value)})
			}
			left := step
			if s.opt.Ahead {
				left = wayLeft(before, step)
			}
			if sums.Skipped == 0 && left <= s.opt.Tolerance {
				s.status.Converged = true
				sums.Release()
				return nil
			}
			failed = sums.Skipped > 0 && step <= s.opt.Tolerance
			before = step
		}
		sums.Release()
		switch {
		case failed:
			worse = patience
		case best == 0 || step < 0.95*best:
			best, worse = step, 0
			if better++; better >= wanted && o.Damping < 1 {
				o.Damping, better, before = min(1, 2*o.Damping), 0, 0
			}
		default:
			worse, better = worse+1, 0
		}
		if worse < patience {
			continue
		}
		// Each time that steps have to be damped they have to do well for longer.
		best, worse, better, wanted = 0, 0, 0, 2*wanted
		before = 0
		if o.Damping /= 2; o.Damping < leastDamping {
			s.stuck = true
			s.status.Reason = "the steps do not become shorter, even when they are damped"
			return nil
		}
	}
	s.status.Reason = "the limit on passes is reached; raise it"
	return nil
}

// wayLeft is how far q may still be from the fixed point after a step, which followed one before. Steps
// that become shorter by a factor r go on for r/(1 − r) times the last one; the first factors are smaller
// than those that follow, hence the margin.
func wayLeft(before, step float64) float64 {
	const margin = 3
	if !(4*step < before) {
		return step
	}
	return min(step, margin*step*step/(before-step))
}

// Objective is that of the rule, where the rows' part in it is value; see infer.Rule. Functions
// are independent under q.
func Objective(rule infer.Rule, q gauss.Gaussians, value float64) float64 {
	for _, one := range q {
		value = Options{Rule: rule}.rule().Objective(one, value)
	}
	return value
}
