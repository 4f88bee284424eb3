package corrected

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/lanes"
)

// walk is expectation propagation given f, from node to node.
//
// Given f the values s at the terms are N(μ, C) under q, with μ linear in f and
// C = cov(s) − ccᵀ/w. What is asked for is log E[Π_i r_i(s_i) | f], the evidence of a model
// with N(μ, C) as the prior and the ratios r_i of terms to their sites as the terms. So every
// r_i gets a site of its own, δν_i and δτ_i: with A = (C⁻¹ + diag δτ)⁻¹ = (I + C diag δτ)⁻¹C
// and m = μ + A(δν − δτ∘μ) the evidence is
//
//	−½ log|I + C diag δτ| + δν·μ − ½ μ·(δτ∘μ) + ½ (δν − δτ∘μ)·(m − μ) + Σ_i [log Ẑ_i − log Z̃_i],
//
// where Ẑ_i is the mean of term i under its cavity and Z̃_i that of what stands for it, its
// site and δ; of one that counts more than once both are those of a copy, with a share β of
// both. It is stationary in the δ, so that those of the node before, and one
// step of moment matching, are good enough: the error is of the order of the square of what
// they are off. Only A and m see that f has moved. A is kept by updates of rank one.
//
// At the fixed point the means and variances are matched, and the first that the
// correlations of the s_i add are the third cumulants of pairs (Opper, Paquet and Winther
// 2013): ⅙ Σ_{i<j} κ_i κ_j A_ij³, with κ_i the third derivative of log Ẑ_i in the
// cavity's mean, times (c_i/A_ii)³ for c_i the cavity's variance.
type walk struct {
	terms      []exchange
	mean       []float64 // μ at x = 0
	tolerance  float64   // how far moments may be off
	from, here state
	slope      []float64 // of μ in x
	kappa      []float64
	column     []float64      // scratch, with zeros at the end as the rows of A have
	asked      []gauss.Scalar // δ that the moments ask for
	cavities   []cavity
	// What z and the density of probit terms are under their cavities, the one replaced by
	// its probability.
	z, density []float64
}

// cavity is a value without its site and δ.
type cavity struct {
	left           float64 // of its precision, 1 − τv
	mean, variance float64
	scale          float64 // z is scale times the mean, for a probit term
}

// state is where a walk stands.
type state struct {
	x      float64
	delta  []gauss.Scalar
	mu, m  []float64
	a      []float64 // A, by rows of octets(n) numbers and so many of them, zeros at the ends
	logDet float64   // log|I + C diag δτ|
}

func newState(n int) state {
	return state{delta: make([]gauss.Scalar, n), mu: make([]float64, n), m: make([]float64, n), a: make([]float64, octets(n)*octets(n))}
}

func (s *state) copyFrom(o *state) {
	s.x, s.logDet = o.x, o.logDet
	copy(s.delta, o.delta)
	copy(s.mu, o.mu)
	copy(s.m, o.m)
	copy(s.a, o.a)
}

func newWalk(terms []exchange, mean []float64, tolerance float64) *walk {
	n := len(terms)
	return &walk{
		terms: terms, mean: mean, tolerance: tolerance, from: newState(n), here: newState(n),
		slope: make([]float64, n), kappa: make([]float64, n), column: make([]float64, octets(n)), asked: make([]gauss.Scalar, n),
		cavities: make([]cavity, n), z: make([]float64, octets(n)), density: make([]float64, octets(n)),
	}
}

const (
	// walkTolerance is how far the moments at a node may be off, in standard deviations and
	// relative to variances, all terms together, for the evidence to be taken: its error is
	// of the order of the square of that.
	walkTolerance = 0.05
	// determined is the share of a variance that rounding may leave of none.
	determined = 1e-10
	// mostSteps bounds the steps at one node.
	mostSteps = 30
	// negligible is how far a variance may be off without an update, relative to the
	// tolerance.
	negligible = 0.03
	// Beyond walkReach standard deviations a walk ends where the density is below e^−walkDepth
	// of the highest.
	walkReach = 4.0
	walkDepth = 20.0
)

// paired writes the logarithm of the paired marginal. It reports false where that is not to
// be had.
func (c *Posterior) paired(s *correction, sd float64, cov []float64) bool {
	s.reset((nodes(sd)-1)*s.refine + 1)
	if s.walk == nil {
		s.walk = newWalk(c.terms, c.mean, walkTolerance)
	}
	for k := range s.p {
		s.p[k], s.pairs[k] = math.Inf(-1), 0
	}
	if c.walk(s, sd, cov) && small(s.p, s.pairs) {
		floats.Add(s.p, s.pairs)
		return true
	}
	c.declined.Add(1)
	return false
}

// walk goes from the mean of f to either side.
func (c *Posterior) walk(s *correction, sd float64, cov []float64) bool {
	w := s.walk
	n, stride := len(cov), len(s.walk.column)
	from := &w.from
	from.x, from.logDet = 0, 0
	clear(from.delta)
	floats.ScaleTo(w.slope, 1/sd, cov)
	copy(from.mu, c.mean)
	copy(from.m, c.mean)
	for i, slope := range w.slope {
		row := from.a[i*stride : i*stride+n]
		floats.AddScaledTo(row, c.cross.RawRowView(i), -slope, w.slope)
	}
	// A value that f determines has no variance but rounding.
	for i, v := range c.variance {
		if !(from.a[i*stride+i] > determined*v) {
			for j := range n {
				from.a[i*stride+j], from.a[j*stride+i] = 0, 0
			}
		}
	}
	middle, top := len(s.x)/2, math.Inf(-1)
	visit := func(at *state, k int) bool {
		evidence, ok := w.settle(at)
		s.p[k], s.pairs[k] = evidence-0.5*s.x[k]*s.x[k], w.pairs(at)
		top = max(top, s.p[k])
		return ok
	}
	if !visit(from, middle) {
		return false
	}
	w.update(from)
	for _, side := range [2]int{1, -1} {
		w.here.copyFrom(from)
		for k := middle + side; k >= 0 && k < len(s.x); k += side {
			w.reach(&w.here, s.x[k])
			if !visit(&w.here, k) {
				return false
			}
			if math.Abs(s.x[k]) > walkReach && s.p[k] < top-walkDepth {
				break
			}
			w.update(&w.here)
		}
	}
	return true
}

// settle matches moments until they hardly move, and returns the evidence. What the moments
// ask for last is left in asked.
func (w *walk) settle(at *state) (evidence float64, ok bool) {
	best, rate := math.Inf(1), 1.0
	for range mostSteps {
		evidence, residual, ok := w.match(at)
		if !ok {
			return 0, false
		}
		if residual <= w.tolerance {
			return evidence, true
		}
		// Steps of all sites at once may overshoot together.
		if residual > best {
			rate /= 2
		}
		best = min(best, residual)
		for i, to := range w.asked {
			w.asked[i] = at.delta[i].Towards(to, rate)
		}
		w.update(at)
		w.reach(at, at.x)
	}
	return 0, false
}

// match asks the moments of every term under its cavity for the site they want, and returns
// the evidence of the sites as they are and how far these are off.
func (w *walk) match(at *state) (evidence, residual float64, ok bool) {
	if !w.leave(at) {
		return 0, 0, false
	}
	lanes.Normals(w.z, w.density)
	evidence = -0.5 * at.logDet
	// Of factors the logarithm is taken together, a few at a time so that none is too small.
	product, rest := 1.0, 1.0
	for i, d := range at.delta {
		m, v, mu := at.m[i], at.a[i*len(w.column)+i], at.mu[i]
		e, c := &w.terms[i], &w.cavities[i]
		total := d.Times(e.site).Power(e.share)
		var g, h, third float64
		if p := w.z[i]; e.label != 0 && p > leastProbability {
			hazard, squared := w.density[i]/p, c.scale*c.scale
			z := c.scale * (c.mean + e.offset)
			g, h = c.scale*hazard, -squared*hazard*(z+hazard)
			third = -(h*(c.mean+e.offset)+g)*squared - 2*g*h
			if e.share == 1 {
				product *= p
			} else {
				evidence += math.Log(p) / e.share
			}
		} else {
			var l float64
			l, g, h = e.logMean(c.mean, c.variance)
			third = e.third(c.mean, c.variance, g, h)
			evidence += l / e.share
		}
		if e.share == 1 {
			rest *= c.left
		} else {
			evidence -= 0.5 * math.Log(c.left) / e.share
		}
		if i%lanes.Octet == 0 {
			evidence += math.Log(product) - 0.5*math.Log(rest)
			product, rest = 1, 1
		}
		// As in logRatio, with all that depends on v.
		evidence += 0.5 * (total.Tau*m*m - 2*total.Nu*m + total.Nu*total.Nu*v) / c.left / e.share
		evidence += mu*(d.Nu-0.5*d.Tau*mu) + 0.5*(d.Nu-d.Tau*mu)*(m-mu)
		w.asked[i], w.kappa[i] = d, 0
		if v == 0 { // f determines the value
			continue
		}
		one, proper := infer.MatchMoments(c.mean, c.variance, g, h)
		if !proper {
			return 0, 0, false
		}
		w.asked[i] = one.Power(1 / e.share).Over(e.site)
		w.kappa[i] = third / (c.left * c.left * c.left) / e.share
		variance, mean := (w.asked[i].Tau-d.Tau)*v, c.mean+c.variance*g-m
		residual += variance*variance + mean*mean/v
	}
	evidence += math.Log(product) - 0.5*math.Log(rest)
	residual = math.Sqrt(residual)
	return evidence, residual, !math.IsNaN(evidence+residual) && !math.IsInf(evidence, 0)
}

// leastProbability is that of an outcome down to which the probabilities of vector code,
// good to 1e-13 and to a few 1e-10 of themselves here, are exact enough.
const leastProbability = 1e-4

// leave finds the cavities, and the z of probit terms.
func (w *walk) leave(at *state) bool {
	for i, d := range at.delta {
		v := at.a[i*len(w.column)+i]
		e, c := &w.terms[i], &w.cavities[i]
		total := d.Times(e.site).Power(e.share)
		left := 1 - total.Tau*v
		if !(left > 0) {
			return false
		}
		inverse := 1 / left
		c.left, c.mean, c.variance = left, (at.m[i]-total.Nu*v)*inverse, v*inverse
		c.scale = e.label / math.Sqrt(1+c.variance+e.noise)
		w.z[i] = c.scale * (c.mean + e.offset)
	}
	return true
}

// third is the third derivative of logMean in m, given the first two.
func (e *exchange) third(m, v, g, h float64) float64 {
	if e.label != 0 {
		// h = −g m/(1+v) − g², and its derivative.
		return -(h*(m+e.offset)+g)/(1+v+e.noise) - 2*g*h
	}
	step := 1e-3 * math.Sqrt(1+v+e.noise)
	_, _, above := e.logMean(m+step, v)
	_, _, below := e.logMean(m-step, v)
	return (above - below) / (2 * step)
}

// pairs is what the third cumulants of pairs add to the evidence.
func (w *walk) pairs(at *state) (sum float64) {
	stride := len(w.column)
	for i, ki := range w.kappa {
		inner := 0.0
		for j, a := range at.a[i*stride : i*stride+i] {
			inner += w.kappa[j] * a * a * a
		}
		// Of n copies, each with the n-th part of κ, n(n−1)/2 pairs see the same value.
		own := at.a[i*stride+i]
		sum += ki * (inner + 0.5*(1-w.terms[i].share)*ki*own*own*own)
	}
	return sum / 6
}

// update moves the sites to what was asked for. A precision that hardly changes is left as
// it is, with a mean that makes up for it, and so is one that would make A improper.
func (w *walk) update(at *state) {
	stride, product, factors := len(w.column), 1.0, 0
	for i, to := range w.asked {
		d := &at.delta[i]
		step, v := to.Tau-d.Tau, at.a[i*stride+i]
		one := 1 + step*v
		if math.Abs(step)*v < negligible*w.tolerance || !(one > 0) {
			d.Nu = to.Nu - step*at.m[i]
			continue
		}
		*d = to
		product *= one
		if factors++; factors%lanes.Octet == 0 {
			at.logDet += math.Log(product)
			product = 1
		}
		copy(w.column, at.a[i*stride:(i+1)*stride])
		lanes.Outer(at.a, len(w.asked), -step/one, w.column)
	}
	at.logDet += math.Log(product)
}

// reach goes to another node, or anew to the same.
func (w *walk) reach(at *state, x float64) {
	stride := len(w.column)
	at.x = x
	floats.AddScaledTo(at.mu, w.mean, x, w.slope)
	clear(w.column)
	for i, d := range at.delta {
		w.column[i] = d.Nu - d.Tau*at.mu[i]
	}
	// A is symmetric: its rows are its columns.
	clear(w.density)
	for i := 0; i < stride; i += 4 {
		lanes.Blend(w.density, (*[4]float64)(w.column[i:]), at.a[i*stride:(i+4)*stride])
	}
	floats.AddTo(at.m, at.mu, w.density[:len(at.m)])
}

// small reports whether a correction of a log density is one: whether over all nodes
// that matter, with it or without, it varies by less than five. Where the expansion
// breaks down it varies by far more. A constant makes no difference.
func small(logp, add []float64) bool {
	const (
		mass      = 9.2 // a node matters down to e^−9.2, a ten-thousandth of the largest
		variation = 5
	)
	before, after := math.Inf(-1), math.Inf(-1)
	for k, l := range logp {
		before, after = max(before, l), max(after, l+add[k])
	}
	low, high := math.Inf(1), math.Inf(-1)
	for k, l := range logp {
		if l > before-mass || l+add[k] > after-mass {
			low, high = min(low, add[k]), max(high, add[k])
		}
	}
	return high-low < variation // false for a NaN
}
