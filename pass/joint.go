package pass

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/finite"
)

// joint is the scratch of a task for rows with a term on the values of several functions.
type joint struct {
	mean, variance   []float64 // of what the rule looks at: the cavities, or q
	total            []float64 // the variances with the residual
	d1, d2           []float64
	marginal, cavity []gauss.Scalar
	found            []projection
}

func (j *joint) grow(k int) {
	if len(j.mean) == k {
		return
	}
	room := make([]float64, 5*k)
	j.mean, j.variance, j.total, j.d1, j.d2 = room[:k], room[k:2*k], room[2*k:3*k], room[3*k:4*k], room[4*k:]
	j.marginal, j.cavity, j.found = make([]gauss.Scalar, k), make([]gauss.Scalar, k), make([]projection, k)
}

// coupledStep is the part of a step that is taken where terms couple functions. Each function
// moves as if the others stood still: where two outcomes compete each moves as far as both should
// together, so that the distance of the two from the fixed point would change its sign and hardly
// its size, and with three or more it would shrink to half or less. With two thirds of the step it
// shrinks to a third either way.
const coupledStep = 2.0 / 3

// projectJoint is project for one row of a block with values of several functions.
//
// Where only differences of the values count, the gradients of a term add up to zero over the
// functions, and at a fixed point so do the means of q, the prior being the same for all. What
// functions have in common on the way there would take as many passes to die away as data weigh
// more than the prior, for every function sees the others stand still. But a site may as well
// have the gradient g where all values are lower by what they have in common: ν − τt in place of
// ν with t their mean, which is zero at the fixed point.
func (w *work) projectJoint(j *joint, part *Sums, views *gauss.Views, sites []gauss.Scalar, from, i int) {
	k := w.functions
	j.grow(k)
	for c := range k {
		j.mean[c], j.variance[c] = w.mean[c*w.size+i], w.variance[c*w.size+i]
	}
	old := sites[i*k : (i+1)*k]
	term, common := w.coupled.Joint(from+i), 0.0
	if _, ok := term.(factor.Differences); ok {
		common = floats.Sum(j.mean) / float64(k)
	}
	value, ok := w.opt.joint(j, term, w.coupled.Count(from+i), views.Residual(i), old)
	for c := range k {
		w.found[c*w.size+i], w.steps[c*w.size+i] = j.found[c], gauss.Scalar{}
		if ok {
			p := &j.found[c]
			p.site.Nu -= p.site.Tau * common
			step := p.site.Over(old[c])
			w.steps[c*w.size+i] = gauss.Scalar{Nu: coupledStep * step.Nu, Tau: coupledStep * step.Tau}
			part.Residual = max(part.Residual, j.found[c].residual)
		}
	}
	if !ok {
		part.skip()
		return
	}
	part.Value += value
}

// joint finds the sites of a term on the values f_c = s_c + e_c of several functions, when
// s_c is N(m_c, c0_c) under q, independent of the others, and e_c ~ N(0, r). Each function has
// the site that it would have alone, by the derivatives of the term in its own mean. A row that
// counts w times has a site that is w times that of one: the cavity leaves one of them out, and
// each adds as much to the objective. It reports false when a cavity is improper or a number is
// not finite.
func (o Options) joint(j *joint, t factor.Multi, count, r float64, old []gauss.Scalar) (value float64, ok bool) {
	for c, m := range j.mean {
		j.found[c] = projection{count: count}
		v := j.variance[c]
		if !(v > leastVariance) { // it reads nothing; see project
			j.mean[c], j.variance[c], j.cavity[c] = 0, 0, gauss.Scalar{}
			continue
		}
		j.marginal[c] = gauss.ScalarFromMoments(m, v)
		if o.Rule == infer.Propagation {
			cavity := j.marginal[c].Over(gauss.Scalar{Nu: old[c].Nu / count, Tau: old[c].Tau / count})
			if !cavity.Proper() {
				return 0, false
			}
			j.cavity[c] = cavity
			j.mean[c], j.variance[c] = cavity.Mean(), cavity.Variance()
		}
	}
	value = o.jointMean(j, t, r)
	if !finite.All(value) {
		return 0, false
	}
	for c := range j.found {
		p := &j.found[c]
		p.g, p.eta = j.d1[c], -j.d2[c]
		if j.variance[c] == 0 {
			continue
		}
		if !o.jointSite(p, j, c, old[c], &value) {
			return 0, false
		}
	}
	return count * value, finite.All(value)
}

// jointMean asks the term what the rule asks for.
func (o Options) jointMean(j *joint, t factor.Multi, r float64) float64 {
	for c, v := range j.variance {
		j.total[c] = r
		if o.Rule != infer.Curvature {
			j.total[c] += v
		}
	}
	if o.Rule == infer.Variational {
		return t.MeanLog(j.mean, j.total, j.d1, j.d2)
	}
	return t.LogMean(j.mean, j.total, j.d1, j.d2)
}

// jointSite makes the site of one function of its derivatives, and adds its part of the evidence
// to the value of one time that the row counts.
func (o Options) jointSite(p *projection, j *joint, c int, old gauss.Scalar, value *float64) bool {
	m, v := j.mean[c], j.variance[c]
	if o.Rule != infer.Propagation {
		p.site = gauss.Scalar{Nu: p.count * (p.g + p.eta*m), Tau: p.count * p.eta}
		step := p.site.Over(old)
		p.residual = max(math.Abs(step.Tau)*v, math.Abs(step.Nu-step.Tau*m)*math.Sqrt(v))
		return finite.All(p.site.Nu, p.site.Tau, p.residual)
	}
	shrink := 1 - p.eta*v // variance of the tilted distribution over that of the cavity
	if !(shrink > 0) {
		return false
	}
	p.site = gauss.Scalar{Nu: p.count * (p.g + p.eta*m) / shrink, Tau: p.count * p.eta / shrink}
	*value += j.cavity[c].LogPartition() - j.marginal[c].LogPartition()
	before := j.marginal[c]
	p.residual = max(math.Abs(p.site.Tau-old.Tau)*before.Variance(), math.Abs(m+v*p.g-before.Mean())/math.Sqrt(before.Variance()))
	return finite.All(p.site.Nu, p.site.Tau, p.residual)
}
