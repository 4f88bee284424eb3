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
	offset, residual []float64 // of the views
	at, total        []float64 // the means with the offsets, and the variances with the residuals
	d1, d2           []float64
	marginal, cavity []gauss.Scalar
	found            []infer.Projection
}

func (j *joint) grow(k int) {
	if len(j.mean) == k {
		return
	}
	for _, values := range []*[]float64{&j.mean, &j.variance, &j.offset, &j.residual, &j.at, &j.total, &j.d1, &j.d2} {
		*values = make([]float64, k)
	}
	j.marginal, j.cavity, j.found = make([]gauss.Scalar, k), make([]gauss.Scalar, k), make([]infer.Projection, k)
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
		own := views.Of(c)
		j.offset[c], j.residual[c] = own.Offset(i), own.Residual(i)
	}
	old := sites[i*k : (i+1)*k]
	term, common := w.coupled.Joint(from+i), 0.0
	if _, ok := term.(factor.Differences); ok {
		common = floats.Sum(j.mean) / float64(k)
	}
	value, ok := jointly{w.opt.rule(), w.coupled.Count(from + i)}.project(j, term, old)
	for c := range k {
		w.found[c*w.size+i], w.steps[c*w.size+i] = j.found[c], gauss.Scalar{}
		if ok {
			p := &j.found[c]
			p.Site.Nu -= p.Site.Tau * common
			w.steps[c*w.size+i] = p.Site.Over(old[c]).Power(coupledStep)
			part.Residual = max(part.Residual, p.Residual)
		}
	}
	if !ok {
		part.skip()
		return
	}
	part.Value += value
}

// jointly is a rule for terms on the values of several functions, of which a row counts so often.
type jointly struct {
	rule  infer.Rule
	count float64
}

// propagates tells whether the rule looks at cavities.
func (o jointly) propagates() bool {
	_, ok := o.rule.(infer.Propagation)
	return ok
}

// project finds the sites of a term on the values f_c = b_c + s_c + e_c of several functions, when
// s_c is N(m_c, c0_c) under q, independent of the others, and e_c ~ N(0, r_c). Each function has
// the site that it would have alone, by the derivatives of the term in its own mean. A row that
// counts w times has a site that is w times that of one: the cavity leaves one of them out, and
// each adds as much to the objective. It reports false when a cavity is improper or a number is
// not finite.
func (o jointly) project(j *joint, t factor.Multi, old []gauss.Scalar) (value float64, ok bool) {
	for c, m := range j.mean {
		j.found[c] = infer.Projection{}
		v := j.variance[c]
		if !(v > infer.LeastVariance) { // it reads nothing
			j.mean[c], j.variance[c], j.cavity[c] = 0, 0, gauss.Scalar{}
			continue
		}
		j.marginal[c] = gauss.ScalarFromMoments(m, v)
		if o.propagates() {
			cavity := j.marginal[c].Over(old[c].Power(1 / o.count))
			if !cavity.Proper() {
				return 0, false
			}
			j.cavity[c] = cavity
			j.mean[c], j.variance[c] = cavity.Mean(), cavity.Variance()
		}
	}
	value = o.ask(j, t)
	if !finite.All(value) {
		return 0, false
	}
	for c := range j.found {
		j.found[c].Rho = 0.5 * o.count * j.d2[c]
		if o.propagates() {
			j.found[c].Rho += 0.5 * o.count * j.d1[c] * j.d1[c]
		}
		if j.variance[c] > 0 && !o.site(&j.found[c], j, c, old[c], &value) {
			return 0, false
		}
	}
	return o.count * value, finite.All(value)
}

// ask asks the term what the rule asks for.
func (o jointly) ask(j *joint, t factor.Multi) float64 {
	_, mode := o.rule.(infer.Curvature)
	for c, v := range j.variance {
		j.at[c], j.total[c] = j.offset[c]+j.mean[c], j.residual[c]
		if !mode {
			j.total[c] += v
		}
	}
	if _, ok := o.rule.(infer.Variational); ok {
		return t.MeanLog(j.at, j.total, j.d1, j.d2)
	}
	return t.LogMean(j.at, j.total, j.d1, j.d2)
}

// site makes the site of one function of its derivatives, and adds its part of the evidence to
// the value of one time that the row counts.
func (o jointly) site(p *infer.Projection, j *joint, c int, old gauss.Scalar, value *float64) bool {
	m, v, g, h := j.mean[c], j.variance[c], j.d1[c], j.d2[c]
	if !o.propagates() {
		p.Site = gauss.Scalar{Nu: o.count * (g - h*m), Tau: -o.count * h}
		step := p.Site.Over(old)
		p.Residual = max(math.Abs(step.Tau)*v, math.Abs(step.Nu-step.Tau*m)*math.Sqrt(v))
		return finite.All(p.Site.Nu, p.Site.Tau, p.Residual)
	}
	site, proper := infer.MatchMoments(m, v, g, h)
	if !proper {
		return false
	}
	p.Site = site.Power(o.count)
	*value += j.cavity[c].LogPartition() - j.marginal[c].LogPartition()
	before := j.marginal[c]
	p.Residual = max(math.Abs(p.Site.Tau-old.Tau)*before.Variance(), math.Abs(m+v*g-before.Mean())/math.Sqrt(before.Variance()))
	return finite.All(p.Site.Nu, p.Site.Tau, p.Residual)
}
