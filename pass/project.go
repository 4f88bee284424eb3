package pass

import (
	"math"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/finite"
)

// Options of a pass. The zero value is expectation propagation without damping.
type Options struct {
	Rule infer.Rule
	// Power is α in power expectation propagation (Minka 2004): a fraction α of each
	// term is exchanged at a time. Zero stands for 1.
	Power float64
	// Damping is δ in site ← (1−δ)·site + δ·update. Zero stands for 1, no damping.
	Damping float64
	// Sweeps is how often Over goes over the rows of a shard before others see what it
	// changed; zero stands for once. Where a pass is slow to begin, more of them make passes
	// fewer; the fixed point is the same.
	Sweeps int
}

func (o Options) damping() float64 {
	if o.Damping == 0 {
		return 1
	}
	return o.Damping
}

func (o Options) power() float64 {
	if o.Power == 0 {
		return 1
	}
	return o.Power
}

// projection is what a rule asks of one site.
type projection struct {
	site     gauss.Scalar
	value    float64 // the row's part in the objective
	g, eta   float64 // −eta is the second derivative
	count    float64 // how often the row counts
	residual float64
}

// project finds the site of a term on f = s + e, when s = a·v is N(m, c0) under q and
// e ~ N(0, r). It reports false when the cavity is improper or a number is not finite.
func (o Options) project(t factor.Factor, r float64, old gauss.Scalar, m, c0 float64) (p projection, ok bool) {
	// A view that reads nothing has a constant value; its site stays empty. So has one of a
	// row so far from all points that its precision 1/c0 is out of range.
	if !(c0 > leastVariance) {
		return o.constant(t, r)
	}
	switch o.Rule {
	case infer.Propagation:
		return o.propagate(t, r, old, m, c0)
	case infer.Variational:
		p.value, p.g, p.eta = t.MeanLog(m, c0+r)
	case infer.Curvature:
		p.value, p.g, p.eta = t.LogMean(m, r)
	}
	p.eta = -p.eta
	p.site = gauss.Scalar{Nu: p.g + p.eta*m, Tau: p.eta}
	// A step to this site moves the mean by c(g − (ν − τm)) with c the variance after it.
	step := p.site.Over(old)
	p.residual = max(math.Abs(step.Tau)*c0, math.Abs(step.Nu-step.Tau*m)*math.Sqrt(c0))
	return p, finite.All(p.value, p.site.Nu, p.site.Tau, p.residual)
}

// leastVariance is well above the numbers that have no inverse.
const leastVariance = 1e-300

// propagate is project for power expectation propagation: the cavity leaves out a
// fraction α of the site, and what matches the moments of the cavity times tᵅ is α times
// the new site.
func (o Options) propagate(t factor.Factor, r float64, old gauss.Scalar, m, c0 float64) (p projection, ok bool) {
	alpha := o.power()
	marginal := gauss.ScalarFromMoments(m, c0)
	cavity := marginal.Over(gauss.Scalar{Nu: alpha * old.Nu, Tau: alpha * old.Tau})
	if !cavity.Proper() {
		return p, false
	}
	c, mc := cavity.Variance(), cavity.Mean()
	if alpha != 1 {
		t = factor.Power{Of: t, Alpha: alpha}
	}
	logZ, g, d2 := t.LogMean(mc, c+r)
	p.g, p.eta = g, -d2
	shrink := 1 - p.eta*c // variance of the tilted distribution over c
	if !(shrink > 0) || !finite.All(logZ) {
		return p, false
	}
	p.site = gauss.Scalar{Nu: (g + p.eta*mc) / shrink / alpha, Tau: p.eta / shrink / alpha}
	p.value = (logZ + cavity.LogPartition() - marginal.LogPartition()) / alpha
	p.residual = max(math.Abs(p.site.Tau-old.Tau)*c0, math.Abs(mc+c*g-m)/math.Sqrt(c0))
	return p, finite.All(p.value, p.site.Nu, p.site.Tau, p.residual)
}

// constant is project for a view that reads nothing.
func (o Options) constant(t factor.Factor, r float64) (p projection, ok bool) {
	switch {
	case o.Rule == infer.Variational:
		p.value, p.g, p.eta = t.MeanLog(0, r)
	case o.Rule == infer.Propagation && o.power() != 1:
		p.value, p.g, p.eta = factor.Power{Of: t, Alpha: o.power()}.LogMean(0, r)
		p.value /= o.power()
	default:
		p.value, p.g, p.eta = t.LogMean(0, r)
	}
	p.eta = -p.eta
	return p, finite.All(p.value)
}
