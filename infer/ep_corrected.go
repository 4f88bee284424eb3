package infer

import (
	"math"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/level3"
)

// Correction is how far a corrected marginal goes.
type Correction int

const (
	// Factorised exchanges every site for its term by itself, as if the values at
	// the terms were independent given the value at the point of interest (Cseke and
	// Heskes 2011). It takes N evaluations of a term for each node.
	Factorised Correction = iota
	// Paired adds what the correlations of those values contribute, to second
	// order. It takes 3N² multiplications more for each node, in matrix products.
	// Where the second-order terms are not small an expansion says nothing; such a
	// view is left with the factorised correction, and counted by Declined.
	Paired
)

// Corrected is a posterior whose marginals see past the Gaussian: the fitted sites
// of expectation propagation are exchanged again for the terms they stand for,
// given the value at the point of interest.
//
// Let f be the value at a view, N(m, w) under q, and s the values at the terms,
// Gaussian given f with means μ and covariance C. With r_i the ratio of term i to
// its site the exact marginal of f is N(f; m, w)·E[Π_i r_i(s_i) | f], normalised.
// Without correlations the expectation is Π_i R_i with R_i = E[r_i | f]; that is the
// factorised correction. In general it is exp(Σ_{i<j} C_ij ∂_i∂_j) Π_i R_i(μ_i), of
// whose logarithm the paired correction keeps the terms up to second order in the
// C_ij: with g_i and h_i the first and second derivative of log R_i in μ_i,
//
//	Σ_{i<j} C_ij g_i g_j + ½ Σ_i h_i (Σ_{j≠i} C_ij g_j)² + ½ Σ_{i<j} C_ij² h_i h_j.
//
// The corrected marginal is skewed where the posterior is, and it needs nothing but
// the fitted sites. What a posterior with heavy tails, as of clutter, has beyond eight
// standard deviations of q is left out.
type Corrected struct {
	order Correction
	model *Model
	q     *gauss.Gaussian
	sites []gauss.Scalar

	white          *mat.Dense // the terms' views, as seen from a standard Gaussian
	mean, variance []float64  // of the s_i
	// Covariances of the s_i and their squares, with zeros on the diagonal; of the
	// paired correction.
	cross, squares *mat.Dense
	tables         []func() ratios // nil if every term is evaluated
	scratch        sync.Pool       // of *correction
	declined       atomic.Int64
}

// Declined is the number of views so far for which the paired correction was asked
// for and its expansion was of no use.
func (c *Corrected) Declined() int { return int(c.declined.Load()) }

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

// NewCorrected corrects the marginals of a result of expectation propagation on the
// model.
func NewCorrected(m *Model, r *Result, order Correction) *Corrected {
	n := m.Views.Len()
	c := &Corrected{
		order: order, model: m, q: r.Q, sites: r.Sites.Terms,
		white: mat.NewDense(n, m.Dim(), nil),
		mean:  make([]float64, n), variance: make([]float64, n),
	}
	var ws gauss.Workspace
	r.Q.Whiten(c.white, m.Views, &ws)
	r.Q.Marginals(m.Views, c.mean, c.variance, &ws)
	if order == Paired {
		c.cross, c.squares = mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
		level3.Gemm(blas.NoTrans, blas.Trans, 1, c.white.RawMatrix(), c.white.RawMatrix(), 0, c.cross.RawMatrix())
		for i := range n {
			c.cross.Set(i, i, 0)
		}
		c.squares.MulElem(c.cross, c.cross)
	}
	if order == Factorised && n >= tabulatedFrom && !c.slow() {
		c.tables = c.tablesOf()
	}
	return c
}

// correction is the marginal of one view, and the scratch to find it.
type correction struct {
	refine int       // how many times finer than usual the rule is
	x, p   []float64 // nodes, in standard deviations from the mean, and probabilities
	minus  []float64 // what terms with a negative correlation add, from the last node on
	pairs  []float64 // the second-order terms at the nodes
	// Derivatives of log R_i, and c_i h_i, of the paired correction: one row for each
	// term, one column for each node. Their products with the covariances.
	g, h, ch   *mat.Dense
	ug, uh, sh *mat.Dense
}

// reset makes room for n nodes, and places them. It reports whether it had to.
func (s *correction) reset(n int) bool {
	if len(s.x) == n {
		return false
	}
	s.x, s.p, s.pairs, s.minus = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for k := range s.x {
		s.x[k] = node(k, n)
	}
	return true
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
//
// It also returns the first and second derivative in mu.
func (c *Corrected) logRatio(i int, mu, v float64) (l, g, h float64) {
	s := c.sites[i]
	left := 1 - s.Tau*v
	l, g, h = c.model.Terms[i].LogMean((mu-s.Nu*v)/left+c.model.Views.Offset(i), v/left+c.model.Views.Residual(i))
	l += mu * (0.5*s.Tau*mu - s.Nu) / left
	return l, (g + s.Tau*mu - s.Nu) / left, (h/left + s.Tau) / left
}

// marginal writes the corrected probabilities of the nodes f = m + √w·x, given the
// covariances of f with the s_i.
func (c *Corrected) marginal(s *correction, w float64, cov []float64) {
	sd := math.Sqrt(w)
	if !c.tabulated(s, sd, cov) {
		c.evaluated(s, sd, cov)
	}
	if c.order == Paired {
		if small(s.p, s.pairs) {
			floats.Add(s.p, s.pairs)
		} else {
			c.declined.Add(1)
		}
	}
	top := floats.Max(s.p)
	for k := range s.p {
		s.p[k] = math.Exp(s.p[k] - top)
	}
	floats.Scale(1/floats.Sum(s.p), s.p)
}

// evaluated writes the logarithms of the factorised marginal and the second-order terms by
// evaluating every term at every node.
func (c *Corrected) evaluated(s *correction, sd float64, cov []float64) {
	if s.reset((nodes(sd)-1)*s.refine+1) && c.order == Paired {
		for _, m := range []**mat.Dense{&s.g, &s.h, &s.ch, &s.ug, &s.uh, &s.sh} {
			*m = mat.NewDense(len(c.sites), len(s.x), nil)
		}
	}
	for k, x := range s.x {
		s.p[k] = -0.5 * x * x
	}
	for i, ci := range cov {
		// Rounding may leave a value that f determines with a negative variance.
		slope := ci / sd
		v := max(0, c.variance[i]-slope*slope)
		for k, x := range s.x {
			l, g, h := c.logRatio(i, c.mean[i]+slope*x, v)
			s.p[k] += l
			if c.order == Paired {
				s.g.Set(i, k, g)
				s.h.Set(i, k, h)
				s.ch.Set(i, k, ci*h)
			}
		}
	}
	if c.order == Paired {
		c.expand(s, sd*sd, cov)
	}
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

// expand writes the second-order terms. Given f the covariances are those of q less
// c_i c_j/w, so that the sums over pairs are products with matrices that do not
// depend on the view:
// Σ_j C_ij g_j = (C⁰g)_i − c_i(c·g − c_i g_i)/w and
// Σ_{i≠j} C_ij² h_i h_j = hᵀ(C⁰∘C⁰)h − 2(c∘h)ᵀC⁰(c∘h)/w + ((Σc²h)² − Σ(c²h)²)/w².
func (c *Corrected) expand(s *correction, w float64, cov []float64) {
	for _, m := range []struct{ dst, a, b *mat.Dense }{{s.ug, c.cross, s.g}, {s.uh, c.cross, s.ch}, {s.sh, c.squares, s.h}} {
		level3.Gemm(blas.NoTrans, blas.NoTrans, 1, m.a.RawMatrix(), m.b.RawMatrix(), 0, m.dst.RawMatrix())
	}
	for k := range s.p {
		var along, sum, squares float64
		for i, ci := range cov {
			along += ci * s.g.At(i, k)
			x := ci * s.ch.At(i, k)
			sum += x
			squares += x * x
		}
		add := 0.25 * (sum*sum - squares) / (w * w)
		for i, ci := range cov {
			g, h := s.g.At(i, k), s.h.At(i, k)
			u := s.ug.At(i, k) - ci*(along-ci*g)/w
			add += 0.5 * (g*u + h*u*u)
			add += 0.25 * (h*s.sh.At(i, k) - 2*s.ch.At(i, k)*s.uh.At(i, k)/w)
		}
		s.pairs[k] = add
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

// Marginals calls use with the corrected marginal of every value whose mean and variance
// under q are given, and whose covariances with those at the terms are the rows of cov. A
// marginal is good until the next; it does not depend on the others.
func (c *Corrected) Marginals(mean, variance []float64, cov *mat.Dense, use func(j int, m Marginal)) {
	s, _ := c.scratch.Get().(*correction)
	if s == nil {
		s = &correction{refine: 1}
	}
	defer c.scratch.Put(s)
	c.marginals(s, mean, variance, cov, use)
}

func (c *Corrected) marginals(s *correction, mean, variance []float64, cov *mat.Dense, use func(j int, m Marginal)) {
	known := &correction{x: []float64{0}, p: []float64{1}}
	for j, w := range variance {
		switch {
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
func (c *Corrected) each(views *gauss.Views, refine int, use func(j int, m Marginal)) {
	const block = 64
	n := views.Len()
	tasks.Each((n+block-1)/block, func() func(int) {
		var ws gauss.Workspace
		s := &correction{refine: refine}
		return func(b int) {
			part := views.Slice(b*block, min((b+1)*block, n))
			mean, variance := make([]float64, part.Len()), make([]float64, part.Len())
			c.q.Predict(part, mean, variance, &ws)
			white := mat.NewDense(part.Len(), c.model.Dim(), nil)
			c.q.Whiten(white, part, &ws)
			cov := mat.NewDense(part.Len(), len(c.sites), nil)
			level3.Gemm(blas.NoTrans, blas.Trans, 1, white.RawMatrix(), c.white.RawMatrix(), 0, cov.RawMatrix())
			c.marginals(s, mean, variance, cov, func(j int, m Marginal) { use(b*block+j, m) })
		}
	})
}

// Moments implements Posterior.
func (c *Corrected) Moments(views *gauss.Views, mean, variance []float64) {
	c.each(views, 1, func(j int, m Marginal) { mean[j], variance[j] = m.Moments() })
}

// Expect implements Posterior. Of a factor.Step, which no rule on nodes can follow,
// the cell with the jump is divided, and the cells are made smaller: the error is of
// the order of the square of their width, and stays below a thousandth.
func (c *Corrected) Expect(views *gauss.Views, t factor.Factor, value, stderr []float64) {
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

var _ Posterior = (*Corrected)(nil)
