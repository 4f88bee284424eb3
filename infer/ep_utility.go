package infer

import "math"

// The site of the utility is like the others, but it is dense, on all points at once (the
// inputs that stand for p(x)), and its factor has actions to choose. Its cavity is q: the
// prior and the sites of the terms.

// utilityIsDue tells whether a sweep whose terms had that residual comes to the utility.
//
// One by one, it comes last in every sweep. All at once, a visit to it costs three times
// what a sweep of the terms does, so it waits until the terms have followed its last
// update: until their residual is a tenth of that step.
func (e *engine) utilityIsDue(residual float64) bool {
	return e.model.Utility != nil &&
		(e.opt.Schedule == Sequential || residual <= 0.1*e.lastVisit || residual <= e.opt.Tolerance)
}

// deleteUtility makes q, and its marginals at the points. It reports false when q is
// improper.
func (e *engine) deleteUtility() bool {
	e.nat.SetPosterior(e.model.Views, e.sites.Terms, e.ws)
	if e.q.Exchange(e.nat) != nil {
		return false
	}
	e.lastMean, e.pointMean = e.pointMean, e.lastMean
	e.lastVar, e.pointVar = e.pointVar, e.lastVar
	e.q.PredictBlocks(e.model.Points, e.block, e.pointMean, e.pointVar, &e.points)
	return true
}

// selectActions takes the actions of highest expected utility under q.
func (e *engine) selectActions() {
	e.model.Utility.Select(e.sites.Actions, e.pointMean, e.pointVar)
}

// projectUtility finds the site that gives q̄ the moments of q times the utility, in
// closed form. It leaves q behind in nat, to which the site can be added.
func (e *engine) projectUtility() bool {
	logZ := e.model.Utility.LogMean(e.sites.Actions, e.pointMean, e.pointVar, e.d1, e.d2)
	if math.IsNaN(logZ) || math.IsInf(logZ, 0) {
		return false
	}
	if e.q.TiltBlocks(e.site, e.model.Points, e.block, e.d1, e.d2, &e.points) != nil {
		return false
	}
	e.nat.CopyFrom(e.q.Natural())
	e.site.Times(e.nat, -1)
	return true
}

// updateUtility moves the site towards the one found. The residual is the size of the
// full step, which lastVisit keeps, or the change of q since the last visit.
func (e *engine) updateUtility() (residual float64) {
	e.lastVisit = e.stepUtility()
	e.mixer.forget() // what it remembers was seen under another utility site
	return max(e.momentChange(), e.lastVisit)
}

// momentChange is the largest change of the moments of q at the points since the
// last visit.
func (e *engine) momentChange() (change float64) {
	for j, m := range e.pointMean {
		own := j*e.block + j%e.block
		v := e.pointVar[own]
		if v == 0 {
			continue
		}
		change = max(change, math.Abs(m-e.lastMean[j])/math.Sqrt(v), math.Abs(v-e.lastVar[own])/v)
	}
	return change
}

// stepUtility moves the utility site towards the one proposed, and returns the
// size of the full step in units of q̄: |ΔΛ_ij|/√(Λ_ii Λ_jj) and |Δh_i|/√Λ_ii.
func (e *engine) stepUtility() (residual float64) {
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
