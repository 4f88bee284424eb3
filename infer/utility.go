package infer

import (
	"context"
	"math"
	"slices"
)

// setCavityOfUtility makes q: the prior and the likelihood sites without the
// utility.
func (e *engine) setCavityOfUtility() error {
	e.nat.SetStandard()
	e.nat.TimesScalars(e.model.Views, e.sites.Terms, &e.ws)
	return e.q.Set(e.nat)
}

// visitUtility is the update of the utility site: deletion, which gives q; action
// selection, unless the actions are held; projection, in closed form; update.
func (e *engine) visitUtility(hold bool) (residual float64, ok bool) {
	if e.setCavityOfUtility() != nil {
		return 0, false
	}
	e.lastMean, e.pointMean = e.pointMean, e.lastMean
	e.lastVar, e.pointVar = e.pointVar, e.lastVar
	e.q.Predict(e.model.Points, e.pointMean, e.pointVar, &e.ws)
	if !hold || e.sites.Actions[0] < 0 {
		e.model.Utility.Select(e.sites.Actions, e.pointMean, e.pointVar)
	}
	logZ := e.model.Utility.LogMean(e.sites.Actions, e.pointMean, e.pointVar, e.d1, e.d2)
	if math.IsNaN(logZ) || math.IsInf(logZ, 0) {
		return 0, false
	}
	if e.q.Tilt(e.site, e.model.Points, e.d1, e.d2, &e.ws) != nil {
		return 0, false
	}
	residual = e.momentChange()
	e.site.Times(e.q.Natural(), -1)
	return max(residual, e.updateUtility()), true
}

// momentChange is the largest change of the moments of q at the points since the
// last visit.
func (e *engine) momentChange() (change float64) {
	for j, m := range e.pointMean {
		v := e.pointVar[j]
		if v == 0 {
			continue
		}
		change = max(change, math.Abs(m-e.lastMean[j])/math.Sqrt(v), math.Abs(v-e.lastVar[j])/v)
	}
	return change
}

// updateUtility moves the utility site towards the one proposed, and returns the
// size of the full step in units of q̄: |ΔΛ_ij|/√(Λ_ii Λ_jj) and |Δh_i|/√Λ_ii.
func (e *engine) updateUtility() (residual float64) {
	site, next := e.sites.Utility, e.site
	p, n := site.P.RawSymmetric(), next.P.RawSymmetric()
	scale := e.tilted.Natural().P.RawSymmetric()
	root := e.col // free between sweeps
	for i := range root {
		root[i] = 1 / math.Sqrt(scale.Data[i*scale.Stride+i])
	}
	for i := range root {
		dh := next.H[i] - site.H[i]
		residual = max(residual, math.Abs(dh)*root[i])
		site.H[i] += e.damping * dh
		row, to := p.Data[i*p.Stride:i*p.Stride+p.N], n.Data[i*n.Stride:i*n.Stride+n.N]
		for j := i; j < len(row); j++ {
			d := to[j] - row[j]
			residual = max(residual, math.Abs(d)*root[i]*root[j])
			row[j] += e.damping * d
		}
	}
	return residual
}

// decide runs Loss-EP: sweeps in which the actions are chosen anew at every visit
// of the utility, until they stay; then rounds in which the actions are held while
// the sites settle and chosen again from the settled q. It ends when they are
// chosen again as they were, or when they come back to an earlier choice: then the
// choice with the highest evidence of those that alternate is held.
func (e *engine) decide(ctx context.Context) error {
	const free = 5 // sweeps with actions chosen at every visit
	for range free {
		if err := ctx.Err(); err != nil {
			return err
		}
		e.record(e.sweep(false))
	}
	type round struct {
		sites    Sites
		evidence float64
	}
	var rounds []round
	for {
		if err := e.settle(ctx, e.tol); err != nil {
			return err
		}
		settled := e.status
		r, err := e.result()
		if err != nil {
			return err
		}
		rounds = append(rounds, round{e.sites.clone(), r.LogEvidence})
		next := slices.Clone(e.sites.Actions)
		e.model.Utility.Select(next, e.pointMean, e.pointVar)
		if slices.Equal(next, e.sites.Actions) || !settled.Converged {
			return nil
		}
		seen := slices.IndexFunc(rounds, func(r round) bool { return slices.Equal(r.sites.Actions, next) })
		if seen >= 0 {
			cycle := rounds[seen:]
			best := slices.MaxFunc(cycle, func(a, b round) int { return compare(a.evidence, b.evidence) })
			e.sites = best.sites
			e.status.ActionCycle = len(cycle)
			return e.hold(ctx)
		}
		e.status.ActionRounds++
		copy(e.sites.Actions, next)
	}
}

// hold settles once more under actions that are no longer chosen.
func (e *engine) hold(ctx context.Context) error {
	if err := e.refresh(); err != nil {
		return &ImproperError{Of: "q̄", Status: e.status}
	}
	return e.settle(ctx, e.tol)
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
