package infer

import (
	"cmp"
	"context"
	"slices"
)

// round is a choice of actions under which the sites settled.
type round struct {
	sites    Sites
	evidence float64
}

// decide runs Loss-EP: sweeps in which the actions are chosen anew at every visit
// of the utility; then rounds in which the actions are held while the sites settle
// and chosen again from the settled q. It ends when they are chosen again as they
// were. When they come back to an earlier choice, or to one under which nothing
// settles, the settled choice with the highest evidence is held: of those that
// alternate, or of all.
func (e *engine) decide(ctx context.Context) error {
	const free = 5 // sweeps with actions chosen at every visit
	if err := e.chooseFirst(); err != nil {
		return err
	}
	for range free {
		if err := ctx.Err(); err != nil {
			return err
		}
		e.sweep(false)
	}
	var rounds []round
	for {
		if err := e.settle(ctx); err != nil {
			return err
		}
		r, err := e.result()
		if err != nil || !e.status.Converged {
			if len(rounds) == 0 {
				return err
			}
			return e.hold(ctx, rounds)
		}
		rounds = append(rounds, round{e.sites.clone(), r.LogEvidence})
		next := slices.Clone(e.sites.Actions)
		e.model.Utility.Select(next, e.pointMean, e.pointVar)
		if slices.Equal(next, e.sites.Actions) {
			return nil
		}
		seen := slices.IndexFunc(rounds, func(r round) bool { return slices.Equal(r.sites.Actions, next) })
		if seen >= 0 {
			return e.hold(ctx, rounds[seen:])
		}
		e.status.ActionRounds++
		copy(e.sites.Actions, next)
	}
}

// chooseFirst chooses actions from q as it is at the start, unless the start came
// with some: even a run in which every sweep is taken back has actions then.
func (e *engine) chooseFirst() error {
	if e.sites.Actions[0] >= 0 {
		return nil
	}
	if !e.deleteUtility() {
		return &ImproperError{Of: "q", Status: e.status}
	}
	e.selectActions()
	return nil
}

// hold settles under the best of the actions, which are no longer chosen. Their
// sites have settled before, so that little is left to do.
func (e *engine) hold(ctx context.Context, rounds []round) error {
	best := slices.MaxFunc(rounds, func(a, b round) int { return cmp.Compare(a.evidence, b.evidence) })
	e.sites = best.sites.clone()
	e.damping = e.opt.Damping
	e.status.ActionsHeld = true
	if err := e.refresh(); err != nil {
		return &ImproperError{Of: "q̄", Status: e.status}
	}
	return e.settle(ctx)
}
