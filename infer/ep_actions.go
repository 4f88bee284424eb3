package infer

import (
	"context"
	"slices"
)

// decide runs Loss-EP, with the actions chosen as Decide does.
func (e *engine) decide(ctx context.Context) error {
	// Even a run in which every sweep is taken back has actions then.
	if slices.Contains(e.sites.Actions, -1) {
		if !e.deleteUtility() {
			return &ImproperError{Of: "q", Status: e.status}
		}
		e.selectActions()
	}
	c, err := Decide(ctx, deciding{e})
	e.status.ActionRounds, e.status.ActionsHeld = c.Rounds, c.Held
	return err
}

// deciding is an engine as a Decider.
type deciding struct{ *engine }

func (e deciding) Visit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e.sweep(false)
	return nil
}

func (e deciding) Settle(ctx context.Context) (bool, error) {
	err := e.settle(ctx)
	return e.status.Converged, err
}

func (e deciding) Evidence(context.Context) (float64, error) {
	r, err := e.result()
	if err != nil {
		return 0, err
	}
	return r.LogEvidence, nil
}

func (e deciding) Actions() []int { return e.sites.Actions }

func (e deciding) Select(actions []int) {
	e.model.Utility.Select(actions, e.pointMean, e.pointVar)
}

// Keep implements Decider. The sites have settled before, so that little is left to do.
func (e deciding) Keep() func(context.Context) error {
	sites := e.sites.clone()
	return func(ctx context.Context) error {
		e.sites = sites.clone()
		e.damping = e.opt.Damping
		if err := e.refresh(); err != nil {
			return &ImproperError{Of: "q̄", Status: e.status}
		}
		return e.settle(ctx)
	}
}
