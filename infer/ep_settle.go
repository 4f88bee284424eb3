package infer

import (
	"context"
	"math"
)

// settle brings the sites to rest with the actions held, by the mildest means that does
// it: sweeps with as little damping as goes; sites that were updated all at once visited
// one by one; the double loop.
func (e *engine) settle(ctx context.Context) error {
	e.status.Converged, e.status.Reason = false, ""
	for {
		if ended, err := e.iterate(ctx); ended || err != nil {
			return err
		}
		e.damping = e.opt.Damping
		if e.opt.Schedule == Sequential {
			return e.doubleLoop(ctx)
		}
		e.opt.Schedule = Sequential
	}
}

// iterate sweeps until the residual is within the tolerance or no sweep is left. It
// halves the damping when the residual stops falling, and reports false when that has
// not helped.
func (e *engine) iterate(ctx context.Context) (ended bool, err error) {
	// How many sweeps may pass without a new best residual. One by one, sites may
	// take a detour; all at once, they overshoot together and only get worse.
	patience := 12
	if e.opt.Schedule == Parallel {
		patience = 3
	}
	// The residuals of sweeps with and without a visit to the utility say different
	// things, and are watched apart.
	var all, terms progress
	for least := e.opt.Damping / 64; e.damping >= least; {
		if err := ctx.Err(); err != nil {
			return true, err
		}
		if e.status.Sweeps >= e.opt.MaxSweeps {
			e.status.Reason = sweepLimit
			return true, nil
		}
		residual := e.sweep(true)
		complete := e.visited || e.model.Utility == nil
		if complete && residual <= e.opt.Tolerance {
			e.status.Converged = true
			return true, nil
		}
		watch := &all
		if !complete {
			watch = &terms
		} else {
			terms = progress{}
		}
		if watch.stalled(residual, patience) {
			e.mixer.forget()
			e.damping /= 2
		}
	}
	return false, nil
}

// progress watches a residual fall.
type progress struct {
	best  float64 // 0 before the first
	since int
}

// stalled notes a residual, and reports whether so many have come in a row without a
// new best that something has to change; it then starts anew from this one.
func (p *progress) stalled(residual float64, patience int) bool {
	const improvement = 0.95
	if p.best == 0 || residual < improvement*p.best {
		p.best, p.since = residual, 0
		return false
	}
	if p.since++; p.since < patience {
		return false
	}
	p.best, p.since = residual, 0
	return true
}

// sweep is one sweep of Algorithm 1, noted down, and its residual. One that leads to
// improper sites is taken back: the next takes shorter steps, and the residual is +Inf.
func (e *engine) sweep(hold bool) float64 {
	e.save()
	residual, ok := e.algorithm1(hold)
	if !ok {
		residual = math.Inf(1)
		e.restore()
		e.mixer.forget()
		e.damping /= 2
		if err := e.refresh(); err != nil {
			panic(err) // the sites before the sweep were proper
		}
	}
	e.record(residual)
	return residual
}

func (e *engine) save() {
	copy(e.saved.Terms, e.sites.Terms)
	if e.sites.Utility != nil {
		e.saved.Utility.CopyFrom(e.sites.Utility)
		copy(e.saved.Actions, e.sites.Actions)
	}
}

func (e *engine) restore() { e.sites, e.saved = e.saved, e.sites }

// record notes the end of a sweep and tells the trace.
func (e *engine) record(residual float64) {
	e.status.Sweeps++
	e.status.Residual = residual
	e.status.Damping = e.damping
	if e.opt.Trace != nil {
		e.opt.Trace(Sweep{Number: e.status.Sweeps, Residual: residual, Damping: e.damping, Actions: e.sites.Actions})
	}
}
