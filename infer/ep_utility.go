package infer

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// setCavityOfUtility makes q: the prior and the likelihood sites without the
// utility.
func (e *engine) setCavityOfUtility() error {
	e.nat.SetPosterior(e.model.Views, e.sites.Terms, &e.ws)
	return e.q.Exchange(e.nat)
}

// visitUtility is the update of the utility site: deletion, which gives q, whose
// natural form nat already is and is again afterwards; action selection, unless the actions are held;
// projection, in closed form; update. It leaves the size of the full step behind in
// lastVisit; the residual is that, or the change of q since the last visit.
func (e *engine) visitUtility(hold bool) (residual float64, ok bool) {
	if e.q.Exchange(e.nat) != nil {
		return 0, false
	}
	e.lastMean, e.pointMean = e.pointMean, e.lastMean
	e.lastVar, e.pointVar = e.pointVar, e.lastVar
	e.q.Predict(e.model.Points, e.pointMean, e.pointVar, &e.points)
	if !hold {
		e.model.Utility.Select(e.sites.Actions, e.pointMean, e.pointVar)
	}
	logZ := e.model.Utility.LogMean(e.sites.Actions, e.pointMean, e.pointVar, e.d1, e.d2)
	if math.IsNaN(logZ) || math.IsInf(logZ, 0) {
		return 0, false
	}
	if e.q.Tilt(e.site, e.model.Points, e.d1, e.d2, &e.points) != nil {
		return 0, false
	}
	residual = e.momentChange()
	e.nat.CopyFrom(e.q.Natural())
	e.site.Times(e.nat, -1)
	e.lastVisit = e.updateUtility()
	return max(residual, e.lastVisit), true
}

// chooseFirst chooses actions from q as it is at the start, unless the start came
// with some: even a run in which every sweep is taken back has actions then.
func (e *engine) chooseFirst() error {
	if e.sites.Actions[0] >= 0 {
		return nil
	}
	if err := e.setCavityOfUtility(); err != nil {
		return &ImproperError{Of: "q", Status: e.status}
	}
	e.q.Predict(e.model.Points, e.pointMean, e.pointVar, &e.points)
	e.model.Utility.Select(e.sites.Actions, e.pointMean, e.pointVar)
	return nil
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
		e.record(e.sweep(false))
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
