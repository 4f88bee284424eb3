package infer

import (
	"math"
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
	spacingSD       = 0.4
	spacingUnit     = 1.2
	maxNodes        = 1025
)

// nodes is the number of nodes for a standard deviation of f.
func nodes(sd float64) int {
	// As a number until it is known to be small: one of more than 1e19 is no int.
	n := 2 * correctionReach * max(1/spacingSD, sd/spacingUnit)
	// In steps, so that the scratch keeps its shape from view to view.
	const step = 16
	return min(maxNodes, step*int(math.Ceil(min(n, maxNodes)/step))+1)
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
	return c
}

// correction is the marginal of one view, and the scratch to find it.
type correction struct {
	refine int       // how many times finer than usual the rule is
	x, p   []float64 // nodes, in standard deviations from the mean, and probabilities
	// Derivatives of log R_i, and c_i h_i, of the paired correction: one row for each
	// term, one column for each node. Their products with the covariances.
	g, h, ch   *mat.Dense
	ug, uh, sh *mat.Dense
	pairs      []float64 // the second-order terms at the nodes
}

// reset makes room for n nodes, and places them.
func (s *correction) reset(c *Corrected, n int) {
	if len(s.x) == n {
		return
	}
	s.x, s.p, s.pairs = make([]float64, n), make([]float64, n), make([]float64, n)
	for k := range s.x {
		s.x[k] = correctionReach * (2*float64(k)/float64(n-1) - 1)
	}
	if c.order == Paired {
		for _, m := range []**mat.Dense{&s.g, &s.h, &s.ch, &s.ug, &s.uh, &s.sh} {
			*m = mat.NewDense(len(c.sites), n, nil)
		}
	}
}

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
	s.reset(c, (nodes(sd)-1)*s.refine+1)
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
		c.expand(s, w, cov)
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

// each calls use with the mean, standard deviation and corrected marginal of every
// view. Of a view that is too far out for q to have finite moments the mean is NaN.
// Views are shared out in blocks; use is called from several goroutines, once for each
// view.
func (c *Corrected) each(views *gauss.Views, refine int, use func(j int, m, sd float64, s *correction)) {
	const block = 64
	n := views.Len()
	tasks.Each((n+block-1)/block, func() func(int) {
		var ws gauss.Workspace
		s := correction{refine: refine}
		known := correction{x: []float64{0}, p: []float64{1}}
		return func(b int) {
			part := views.Slice(b*block, min((b+1)*block, n))
			mean, variance := make([]float64, part.Len()), make([]float64, part.Len())
			c.q.Predict(part, mean, variance, &ws)
			white := mat.NewDense(part.Len(), c.model.Dim(), nil)
			c.q.Whiten(white, part, &ws)
			cov := mat.NewDense(part.Len(), len(c.sites), nil)
			level3.Gemm(blas.NoTrans, blas.Trans, 1, white.RawMatrix(), c.white.RawMatrix(), 0, cov.RawMatrix())
			for j, w := range variance {
				if !finite.All(w, mean[j]) {
					use(b*block+j, math.NaN(), 0, &known)
					continue
				}
				if w == 0 {
					use(b*block+j, mean[j], 0, &known)
					continue
				}
				c.marginal(&s, w, cov.RawRowView(j))
				use(b*block+j, mean[j], math.Sqrt(w), &s)
			}
		}
	})
}

// Moments implements Posterior.
func (c *Corrected) Moments(views *gauss.Views, mean, variance []float64) {
	c.each(views, 1, func(j int, m, sd float64, s *correction) {
		if math.IsNaN(m) {
			mean[j], variance[j] = m, m
			return
		}
		first := floats.Dot(s.p, s.x)
		second := 0.0
		for k, x := range s.x {
			second += s.p[k] * (x - first) * (x - first)
		}
		mean[j], variance[j] = m+sd*first, sd*sd*second
	})
}

// Expect implements Posterior. Of a factor.Step, which no rule on nodes can follow,
// the cell with the jump is divided, and the cells are made smaller: the error is of
// the order of the square of their width, and stays below a thousandth.
func (c *Corrected) Expect(views *gauss.Views, t factor.Factor, value, stderr []float64) {
	step, jumps := t.(factor.Step)
	refine := 1
	if jumps {
		refine = 8
	}
	c.each(views, refine, func(j int, m, sd float64, s *correction) {
		if math.IsNaN(m) {
			value[j], stderr[j] = m, 0
			return
		}
		sum := 0.0
		for k, x := range s.x {
			if jumps {
				sum += s.p[k] * share(step, m+sd*x, sd*(s.x[len(s.x)-1]-s.x[0])/float64(max(1, len(s.x)-1)))
				continue
			}
			l, _, _ := t.Log(m + sd*x)
			sum += s.p[k] * math.Exp(l)
		}
		value[j], stderr[j] = sum, 0
	})
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
