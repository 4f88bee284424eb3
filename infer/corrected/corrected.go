package corrected

import (
	"math"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/internal/lanes"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/level3"
)

// Order is how far a corrected marginal goes.
type Order int

const (
	// Factorised exchanges every site for its term by itself, as if the values at
	// the terms were independent given the value at the point of interest (Cseke and
	// Heskes 2011). It takes N evaluations of a term for each node.
	Factorised Order = iota
	// Paired sees the correlations of those values too: by expectation propagation given
	// the value at the point of interest, and by what all pairs of terms add to its
	// evidence. It takes up to N² multiplications for every site that moves from one node
	// to the next. Where inference given a value does not settle, or what pairs add is
	// not small, the view is left with the factorised correction, and counted by Declined.
	Paired
)

// Posterior is a posterior whose marginals see past the Gaussian: the fitted sites
// of expectation propagation are exchanged again for the terms they stand for,
// given the value at the point of interest.
//
// Let f be the value at a view, N(m, w) under q, and s the values at the terms,
// Gaussian given f. With r_i the ratio of term i to its site the exact marginal of f is
// N(f; m, w)·E[Π_i r_i(s_i) | f], normalised. Without correlations the expectation is
// Π_i E[r_i | f]; that is the factorised correction. The paired one is in paired.go.
//
// The corrected marginal is skewed where the posterior is, and it needs nothing but
// the fitted sites. What a posterior with heavy tails, as of clutter, has beyond eight
// standard deviations of q is left out.
type Posterior struct {
	order Order
	q     *gauss.Gaussian
	terms []exchange

	white          *mat.Dense      // the terms' views, as seen from a standard Gaussian
	mean, variance []float64       // of the s_i
	cross          *mat.Dense      // covariances of the s_i; of the paired correction
	tables         []func() ratios // nil if every term is evaluated
	widest         float64         // the largest standard deviation of an s_i in the prior
	scratch        sync.Pool       // of *correction
	declined       atomic.Int64
}

// exchange is a term with the site that stands for it in q.
//
// One that counts more than once is as many copies, each of which is exchanged for its part of
// the site: see Propagation. What they come to is that of one copy over share.
type exchange struct {
	term          factor.Factor // one copy
	site          gauss.Scalar  // of all copies
	share         float64       // of the site that a copy has
	offset, noise float64       // of its view
	label         float64       // ±1 for a probit term, 0 for others
}

func newExchange(t factor.Factor, count float64, site gauss.Scalar, offset, noise float64) exchange {
	rule := infer.Propagation{}
	e := exchange{term: rule.Tilt(t, count), share: rule.Share(count), site: site, offset: offset, noise: noise}
	if p, ok := e.term.(factor.Probit); ok && math.Abs(p.Y) == 1 {
		e.label = p.Y
	}
	return e
}

// logMean is that of the term under N(m, v) of what its view reads, with two derivatives.
func (e *exchange) logMean(m, v float64) (l, g, h float64) {
	return e.term.LogMean(m+e.offset, v+e.noise)
}

// Declined is the number of views so far for which the paired correction was asked
// for and of no use.
func (c *Posterior) Declined() int { return int(c.declined.Load()) }

// The trapezoidal rule in f: it converges geometrically for an analytic integrand
// that vanishes at both ends. Two lengths limit its spacing, the standard deviation
// of f and the unit over which the terms bend; with the fractions here probabilities
// are found to 1e-7. Where f is so wide that the rule would need more nodes than the
// limit, a unit is a small part of it and so is the error, below one in a hundred.
const (
	correctionReach = 8.0 // standard deviations on either side
	spacingSD       = 0.5
	spacingUnit     = 1.2
	maxNodes        = 1025
	nodeStep        = 16
)

// nodes is the number of nodes for a standard deviation of f.
func nodes(sd float64) int {
	// As a number until it is known to be small: one of more than 1e19 is no int.
	n := 2 * correctionReach * max(1/spacingSD, sd/spacingUnit)
	// In steps, so that the scratch keeps its shape from view to view.
	return min(maxNodes, nodeStep*int(math.Ceil(min(n, maxNodes)/nodeStep))+1)
}

// New corrects the marginals of a result of expectation propagation on the
// model.
func New(m *infer.Model, r *infer.Result, order Order) *Posterior {
	n := m.Views.Len()
	c := &Posterior{
		order: order, q: r.Q, terms: make([]exchange, n),
		white: mat.NewDense(n, m.Dim(), nil),
		mean:  make([]float64, n), variance: make([]float64, n),
	}
	for i, t := range m.Terms {
		c.widest = max(c.widest, floats.Norm(m.Views.Row(i), 2))
		c.terms[i] = newExchange(t, m.Count(i), r.Sites.Terms[i], m.Views.Offset(i), m.Views.Residual(i))
	}
	var ws gauss.Workspace
	r.Q.Whiten(c.white, m.Views, &ws)
	r.Q.Marginals(m.Views, c.mean, c.variance, &ws)
	if order == Paired {
		c.cross = mat.NewDense(n, n, nil)
		level3.Gemm(blas.NoTrans, blas.Trans, 1, c.white.RawMatrix(), c.white.RawMatrix(), 0, c.cross.RawMatrix())
	}
	if order == Factorised && n >= tabulatedFrom {
		c.tables = c.tablesOf()
	}
	return c
}

// correction is the marginal of one view, and the scratch to find it.
type correction struct {
	refine int       // how many times finer than usual the rule is
	x, p   []float64 // nodes, in standard deviations from the mean, and probabilities
	pairs  []float64 // what pairs add at the nodes
	walk   *walk     // of the paired correction
	tabulation
	// Numbers for every node, and up to a multiple of lanes.Width.
	scratch, densities []float64
}

// reset makes room for n nodes, and places them.
func (s *correction) reset(n int) {
	if len(s.x) == n {
		return
	}
	s.x, s.p, s.pairs = make([]float64, n), make([]float64, n), make([]float64, n)
	s.scratch, s.densities = make([]float64, lanes.Padded(n)), make([]float64, lanes.Padded(n))
	for k := range s.x {
		s.x[k] = node(k, n)
	}
}

// node is where node k of n lies, in standard deviations.
func node(k, n int) float64 { return correctionReach * (2*float64(k)/float64(n-1) - 1) }

// logRatio is log E_i(f) when s_i given f is N(mu, v): the log of the term's mean
// under the conditional without the site, relative to the site's, up to what does not
// depend on mu.
//
// With ν and τ the site, the conditional's cavity has variance v/(1−τv) and mean
// (mu−νv)/(1−τv), and the log-partitions differ by
// ½(τmu² − 2νmu + ν²v)/(1−τv) − ½log(1−τv), a form that stays exact as v → 0. Of that
// the terms without mu are left out: the marginal is normalised in the end.
func (c *Posterior) logRatio(i int, mu, v float64) float64 {
	e := &c.terms[i]
	s := e.site.Power(e.share)
	left := 1 - s.Tau*v
	l, _, _ := e.logMean((mu-s.Nu*v)/left, v/left)
	return (l + mu*(0.5*s.Tau*mu-s.Nu)/left) / e.share
}

// marginal writes the corrected probabilities of the nodes f = m + √w·x, given the
// covariances of f with the s_i.
func (c *Posterior) marginal(s *correction, w float64, cov []float64) {
	sd := math.Sqrt(w)
	if c.order != Paired || !c.paired(s, sd, cov) {
		c.evaluated(s, sd, cov)
	}
	s.normalise()
}

// normalise turns the logarithms of probabilities into these.
func (s *correction) normalise() {
	top := floats.Max(s.p)
	for k, l := range s.p {
		s.scratch[k] = top - l
	}
	lanes.Gaussian.Apply(s.scratch, 1, 1)
	copy(s.p, s.scratch)
	floats.Scale(1/floats.Sum(s.p), s.p)
}

// evaluated writes the logarithm of the factorised marginal by evaluating every term at every
// node.
func (c *Posterior) evaluated(s *correction, sd float64, cov []float64) {
	s.reset((nodes(sd)-1)*s.refine + 1)
	for k, x := range s.x {
		s.p[k] = -0.5 * x * x
	}
	for i, ci := range cov {
		// Rounding may leave a value that f determines with a negative variance.
		slope := ci / sd
		v := max(0, c.variance[i]-slope*slope)
		for k, x := range s.x {
			s.p[k] += c.logRatio(i, c.mean[i]+slope*x, v)
		}
	}
}

// Marginal is a corrected marginal: a density on nodes.
type Marginal struct {
	mean, sd float64
	*correction
}

// Moments are its mean and variance; NaN of a view that is too far out for q to have any.
func (m Marginal) Moments() (mean, variance float64) {
	if math.IsNaN(m.mean) {
		return m.mean, m.mean
	}
	first, second := floats.Dot(m.p, m.x), 0.0
	for k, x := range m.x {
		second += m.p[k] * (x - first) * (x - first)
	}
	return m.mean + m.sd*first, m.sd * m.sd * second
}

// Expect is the expectation of a factor.
func (m Marginal) Expect(t factor.Factor) float64 {
	if math.IsNaN(m.mean) {
		return m.mean
	}
	if probit, ok := t.(factor.Probit); ok && len(m.x) > 1 {
		if p := m.probability(probit); p > 1e-6 { // an error of 1e-13 is nothing beside
			return p
		}
	}
	step, jumps := t.(factor.Step)
	width := m.sd * (m.x[len(m.x)-1] - m.x[0]) / float64(max(1, len(m.x)-1))
	sum := 0.0
	for k, x := range m.x {
		if jumps {
			sum += m.p[k] * share(step, m.mean+m.sd*x, width)
			continue
		}
		l, _, _ := t.Log(m.mean + m.sd*x)
		sum += m.p[k] * math.Exp(l)
	}
	return sum
}

// probability is the expectation of Φ(Yf).
func (m Marginal) probability(t factor.Probit) float64 {
	for k, x := range m.x {
		m.scratch[k] = t.Y * (m.mean + m.sd*x)
	}
	lanes.Normals(m.scratch, m.densities)
	return floats.Dot(m.p, m.scratch[:len(m.p)])
}

// Marginals calls use with the corrected marginal of every value whose mean and variance
// under q are given, and whose covariances with those at the terms are the rows of cov. A
// marginal is good until the next; it does not depend on the others.
func (c *Posterior) Marginals(mean, variance []float64, cov *mat.Dense, use func(j int, m Marginal)) {
	s, _ := c.scratch.Get().(*correction)
	if s == nil {
		s = &correction{refine: 1}
	}
	defer c.scratch.Put(s)
	c.marginals(s, mean, variance, cov, use)
}

func (c *Posterior) marginals(s *correction, mean, variance []float64, cov *mat.Dense, use func(j int, m Marginal)) {
	known := &correction{x: []float64{0}, p: []float64{1}}
	var done []bool
	if c.tables != nil && s.refine == 1 {
		done = c.tabulated(s, mean, variance, cov, use)
	}
	for j, w := range variance {
		switch {
		case done != nil && done[j]:
		case !finite.All(w, mean[j]):
			use(j, Marginal{math.NaN(), 0, known})
		case w == 0:
			use(j, Marginal{mean[j], 0, known})
		default:
			c.marginal(s, w, cov.RawRowView(j))
			use(j, Marginal{mean[j], math.Sqrt(w), s})
		}
	}
}

// each calls use with the corrected marginal of every view. Views are shared out in blocks;
// use is called from several goroutines, once for each view.
func (c *Posterior) each(views *gauss.Views, refine int, use func(j int, m Marginal)) {
	const block = 64
	n := views.Len()
	tasks.Each((n+block-1)/block, func() func(int) {
		var ws gauss.Workspace
		s := &correction{refine: refine}
		return func(b int) {
			mean, variance, cov := c.predict(views.Slice(b*block, min((b+1)*block, n)), &ws)
			c.marginals(s, mean, variance, cov, func(j int, m Marginal) { use(b*block+j, m) })
		}
	})
}

// predict is what q says of views: means, variances, and covariances with the values at the
// terms.
func (c *Posterior) predict(views *gauss.Views, ws *gauss.Workspace) (mean, variance []float64, cov *mat.Dense) {
	n := views.Len()
	mean, variance, cov = make([]float64, n), make([]float64, n), mat.NewDense(n, len(c.terms), nil)
	c.q.Predict(views, mean, variance, ws)
	white := mat.NewDense(n, c.q.Dim(), nil)
	c.q.Whiten(white, views, ws)
	level3.Gemm(blas.NoTrans, blas.Trans, 1, white.RawMatrix(), c.white.RawMatrix(), 0, cov.RawMatrix())
	return mean, variance, cov
}

// Moments implements Posterior.
func (c *Posterior) Moments(views *gauss.Views, mean, variance []float64) {
	c.each(views, 1, func(j int, m Marginal) { mean[j], variance[j] = m.Moments() })
}

// Expect implements Posterior. Of a factor.Step, which no rule on nodes can follow,
// the cell with the jump is divided, and the cells are made smaller: the error is of
// the order of the square of their width, and stays below a thousandth.
func (c *Posterior) Expect(views *gauss.Views, t factor.Factor, value, stderr []float64) {
	refine := 1
	if _, jumps := t.(factor.Step); jumps {
		refine = 8
	}
	clear(stderr)
	c.each(views, refine, func(j int, m Marginal) { value[j] = m.Expect(t) })
}

// share is the mean of a step over the cell of the given width around f.
func share(s factor.Step, f, width float64) float64 {
	above := 0.0
	switch {
	case width > 0:
		above = min(1, max(0, 0.5+(f-s.T)/width))
	case f > s.T:
		above = 1
	}
	return s.Below*(1-above) + s.Above*above
}

var _ infer.Posterior = (*Posterior)(nil)
