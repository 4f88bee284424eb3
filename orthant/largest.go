package orthant

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/normal"
)

// Largest is how probable each of several normals that depend on each other is the
// largest, without any random number: the same mean and covariance give the same bits, so
// that nothing that is decided by a probability depends on luck.
//
// # The idea
//
// Only differences count, so that Σ may be replaced by Σ + v1ᵀ + 1vᵀ for any v, which is
// chosen to make what is off the diagonal small: nothing is left of it for three. Then
// with D = α·diag, as large as leaves the rest R = Σ − D a covariance (of differences),
// the normals are independent given an r ~ N(0, R), and
//
//	P(c | r) = ∫ N(t; μ_c + r_c, D_c) Π_{j≠c} Φ((t − μ_j − r_j)/√D_j) dt.
//
// By equal steps of 0.4 of the smallest √D that integral is exact to 1e-10 for all c at once,
// for the integrand is analytic and falls off like a Gaussian. R has at most C−2
// dimensions, over which is averaged by sparse grids. Where the functions of a Gaussian
// process are seen by data, R is a hundredth of D or less, and few points do. Where it is
// not small one or two dimensions are averaged over by the rule of Gauss and Hermite; for
// more, each probability is that of a Region, by lattices that double until two in a row
// agree.
//
// A Largest holds scratch and is for one goroutine.
type Largest struct {
	n       int
	v       []float64  // what is added to rows and columns
	d       []float64  // √D
	dims    int        // of r
	spread  *mat.Dense // r of dims standard normals
	at      []float64
	below   []float64
	density []float64
	sums    [2][]float64
	eigen   mat.EigenSym
}

const (
	// largestTolerance is the difference of two rules in a row, and largestShare the share
	// of the probability, at which the latter is taken: its error is far smaller.
	largestTolerance, largestShare = 5e-7, 1e-3
	// sparseTolerance is the same for sparse grids, of which there are sparseLevels of at
	// most sparsePoints, and slowest how much nearer each has to come.
	sparseTolerance, sparseLevels, sparsePoints, slowest = 2e-7, 7, 20_000, 0.6
	// mostHermite is the number of nodes in one dimension that a sequence at most ends with.
	mostHermite = 128
	// firstLattice and lastLattice are the number of points of the first lattice and of
	// the largest.
	firstLattice, lastLattice = 250, 1 << 16
)

// NewLargest is for n normals, two or more.
func NewLargest(n int) *Largest {
	l := &Largest{
		n: n, v: make([]float64, n), d: make([]float64, n), at: make([]float64, n),
		below: make([]float64, n), density: make([]float64, n),
	}
	for k := range l.sums {
		l.sums[k] = make([]float64, n)
	}
	return l
}

// Probabilities writes the probability that the c-th is the largest, for all of them, and
// returns a bound on their errors. Where cov is not regular in the differences, or a number
// is not finite, they are NaN.
func (l *Largest) Probabilities(dst, mean []float64, cov *mat.SymDense) (err float64) {
	if !l.divide(cov) || math.IsNaN(floats.Sum(mean)) || math.IsInf(floats.Norm(mean, 1), 0) {
		for c := range dst {
			dst[c] = math.NaN()
		}
		return math.NaN()
	}
	if l.n == 3 && l.dims > 0 {
		return l.threeCorners(dst, mean, cov)
	}
	if l.dims == 0 {
		l.independent(dst, mean)
		return 1e-10
	}
	if err, ok := l.sparse(dst, mean); ok {
		return err
	}
	if l.dims <= 2 {
		return l.hermite(dst, mean)
	}
	return l.corners(dst, mean, cov)
}

// sparse averages over r by sparse grids of rising level, as long as each is much nearer to
// the next than the one before. It reports false where that does not lead far enough: where
// r varies as much as D does.
func (l *Largest) sparse(dst, mean []float64) (err float64, ok bool) {
	last, one := l.sums[0], l.sums[1]
	before := math.Inf(1)
	for level := range sparseLevels {
		clear(dst)
		g := sparseGrid(l.dims, level)
		if len(g.weights) > sparsePoints {
			return 0, false
		}
		for i, w := range g.weights {
			node := g.nodes[i*l.dims : (i+1)*l.dims]
			for c := range l.at {
				l.at[c] = mean[c] + floats.Dot(l.spread.RawRowView(c), node)
			}
			l.independent(one, l.at)
			floats.AddScaled(dst, w, one)
		}
		if level > 0 {
			step := floats.Distance(dst, last, math.Inf(1))
			// Further steps would be about as much smaller again, each than the one before.
			ratio := step / before
			err = max(2*step*ratio/(1-ratio), 1e-10)
			if level > 1 && ratio < slowest && err <= sparseTolerance || step < 1e-12 {
				return err, true
			}
			if level > 2 && ratio > slowest {
				return 0, false
			}
			before = step
		}
		copy(last, dst)
	}
	return 0, false
}

// threeCorners is for three normals that no v makes independent.
func (l *Largest) threeCorners(dst, mean []float64, cov *mat.SymDense) float64 {
	for c := range dst {
		m, s := l.differences(c, mean, cov)
		s0, s1 := math.Sqrt(s.At(0, 0)), math.Sqrt(s.At(1, 1))
		dst[c] = quadrant(m[0]/s0, m[1]/s1, s.At(0, 1)/s0/s1)
	}
	return 1e-10
}

// hermite averages over one or two dimensions of r, by as many nodes in each as it takes
// for two numbers of them to agree.
func (l *Largest) hermite(dst, mean []float64) (err float64) {
	last, one := l.sums[0], l.sums[1]
	for n := 8; ; n *= 2 {
		clear(dst)
		rule := hermiteRule(n)
		second := hermiteRule(1)
		if l.dims == 2 {
			second = rule
		}
		for i, x := range rule.x {
			for j, y := range second.x {
				w := rule.w[i] * second.w[j]
				if w < 1e-14 {
					continue
				}
				for c := range l.at {
					row := l.spread.RawRowView(c)
					l.at[c] = mean[c] + row[0]*x + row[l.dims-1]*y
				}
				if l.dims == 1 {
					for c := range l.at {
						l.at[c] = mean[c] + l.spread.At(c, 0)*x
					}
				}
				l.independent(one, l.at)
				floats.AddScaled(dst, w, one)
			}
		}
		if n > 8 {
			if err = floats.Distance(dst, last, math.Inf(1)); err <= largestTolerance || n >= mostHermite {
				return err
			}
		}
		copy(last, dst)
	}
}

// corners takes one outcome after the other, by lattices that double.
func (l *Largest) corners(dst, mean []float64, cov *mat.SymDense) (err float64) {
	for c := range dst {
		m, s := l.differences(c, mean, cov)
		for i := range m {
			m[i] = -m[i]
		}
		r, failed := New(s, m)
		if failed != nil {
			dst[c] = math.NaN()
			return math.NaN()
		}
		p, e := r.corner()
		dst[c], err = p, max(err, e)
	}
	return err
}

// corner is the probability of the region by lattices that double until two in a row
// agree.
func (r *Region) corner() (p, err float64) {
	bound, last := math.Exp(r.bound), math.NaN()
	if bound < 1e-300 {
		return bound, bound
	}
	z := make([]float64, r.bounded)
	for points := primeFrom(firstLattice); ; points = primeFrom(2 * points) {
		generator := cornerGenerator(points, r.bounded-1)
		l := &lattice{generator: generator, shift: make([]float64, len(generator)), point: make([]float64, len(generator)), index: -0.5}
		sum := 0.0
		for range points {
			sum += math.Exp(r.logWeight(l.next(), z))
		}
		p = bound * sum / float64(points)
		err = math.Abs(p - last)
		if err <= largestTolerance && err <= largestShare*p || points >= lastLattice {
			return p, err
		}
		last = p
	}
}

// differences are the mean and covariance of the c-th normal less each of the others.
func (l *Largest) differences(c int, mean []float64, cov *mat.SymDense) ([]float64, *mat.SymDense) {
	others := make([]int, 0, l.n-1)
	for i := range l.n {
		if i != c {
			others = append(others, i)
		}
	}
	m, s := make([]float64, len(others)), mat.NewSymDense(len(others), nil)
	for a, i := range others {
		m[a] = mean[c] - mean[i]
		for b, j := range others[a:] {
			s.SetSym(a, a+b, cov.At(c, c)-cov.At(c, i)-cov.At(c, j)+cov.At(i, j))
		}
	}
	return m, s
}

// diagonal finds v, and the D that is nearest to what is left of the covariance; false if that is not finite.
func (l *Largest) diagonal(cov *mat.SymDense) bool {
	n, total := l.n, 0.0
	for i := range n {
		l.v[i] = 0
		for j := range n {
			if i != j {
				l.v[i] -= cov.At(i, j)
			}
		}
		total += l.v[i]
	}
	total /= float64(2 * (n - 1))
	least, most := math.Inf(1), 0.0
	for i := range n {
		if n > 2 {
			l.v[i] = (l.v[i] - total) / float64(n-2)
		} else {
			l.v[i] = -0.5 * cov.At(0, 1)
		}
		l.d[i] = cov.At(i, i) + 2*l.v[i]
		least, most = min(least, l.d[i]), max(most, l.d[i])
	}
	if !(least > 1e-3*most) { // no such diagonal: one that is the same for all
		for i := range l.d {
			l.d[i] = 1
		}
	}
	return !math.IsNaN(most) && !math.IsInf(most, 0)
}

// divide finds v, D and a root of R.
func (l *Largest) divide(cov *mat.SymDense) bool {
	if !l.diagonal(cov) {
		return false
	}
	n := l.n
	a, g := mat.NewSymDense(n-1, nil), mat.NewSymDense(n-1, nil)
	contrasts := gauss.Contrasts(n)
	form := func(dst *mat.SymDense, at func(i, j int) float64) {
		for p := range n - 1 {
			for q := p; q < n-1; q++ {
				sum := 0.0
				for i := range p + 2 {
					for j := range q + 2 {
						sum += contrasts.At(p, i) * contrasts.At(q, j) * at(i, j)
					}
				}
				dst.SetSym(p, q, sum)
			}
		}
	}
	form(a, cov.At)
	form(g, func(i, j int) float64 {
		if i == j {
			return l.d[i]
		}
		return 0
	})
	// R of differences is G^½(M − αI)G^½ᵀ with M = G^−½AG^−½ᵀ.
	var chol mat.Cholesky
	if !chol.Factorize(g) {
		return false
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	var half, inner mat.Dense
	if half.Solve(&lower, a) != nil || inner.Solve(&lower, half.T()) != nil {
		return false
	}
	m := mat.NewSymDense(n-1, nil)
	for p := range n - 1 {
		for q := p; q < n-1; q++ {
			m.SetSym(p, q, 0.5*(inner.At(p, q)+inner.At(q, p)))
		}
	}
	if !l.eigen.Factorize(m, true) {
		return false
	}
	values := l.eigen.Values(nil)
	alpha := values[0]
	if !(alpha > 0) {
		return false
	}
	for i := range l.d {
		l.d[i] = math.Sqrt(alpha * l.d[i])
	}
	l.root(&lower, contrasts, values)
	return true
}

// root keeps the directions of R from the widest on, but for those that are rounding. Values are those of
// the eigenvectors, and the first is α.
func (l *Largest) root(lower *mat.TriDense, contrasts mat.Matrix, values []float64) {
	n, alpha := l.n, values[0]
	var vectors, root, spread mat.Dense
	l.eigen.VectorsTo(&vectors)
	root.Mul(lower, &vectors)
	var kept []int
	for k := n - 2; k >= 0; k-- {
		if values[k]-alpha > 1e-13*values[n-2] {
			kept = append(kept, k)
		}
	}
	if l.dims = len(kept); l.dims == 0 {
		return
	}
	columns := mat.NewDense(n-1, len(kept), nil)
	for to, k := range kept {
		size := math.Sqrt(values[k] - alpha)
		for p := range n - 1 {
			columns.Set(p, to, size*root.At(p, k))
		}
	}
	spread.Mul(contrasts.T(), columns)
	l.spread = &spread
}

// reach is where the largest of independent normals may be, and the step in which its
// density is integrated.
func (l *Largest) reach(mean []float64) (from, to, step float64) {
	from, to, step = math.Inf(-1), math.Inf(-1), math.Inf(1)
	for c, m := range mean {
		from, to, step = max(from, m-10*l.d[c]), max(to, m+9*l.d[c]), min(step, 0.4*l.d[c])
	}
	return from, to, step
}

// independent is the same for independent normals with standard deviations d.
func (l *Largest) independent(dst, mean []float64) {
	from, to, step := l.reach(mean)
	clear(dst)
	steps := int((to - from) / step)
	for k := range steps + 1 {
		t := from + float64(k)*step
		all, zeros := 1.0, 0
		for c, m := range mean {
			z := (t - m) / l.d[c]
			l.below[c] = normal.CDF(z)
			l.density[c] = math.Exp(-0.5*z*z) / l.d[c]
			all *= l.below[c]
			if l.below[c] == 0 {
				zeros++
			}
		}
		if zeros > 0 || all == 0 {
			continue
		}
		for c := range dst {
			dst[c] += l.density[c] * all / l.below[c]
		}
	}
	floats.Scale(step/math.Sqrt(2*math.Pi), dst)
}

// Rules and lattices that were made, by their size.
var hermiteRules, cornerGenerators sync.Map

type nodes struct{ x, w []float64 }

// hermiteRule averages over a standard normal.
func hermiteRule(n int) nodes {
	if r, ok := hermiteRules.Load(n); ok {
		return r.(nodes)
	}
	r := nodes{make([]float64, n), make([]float64, n)}
	quad.Hermite{}.FixedLocations(r.x, r.w, math.Inf(-1), math.Inf(1))
	for i := range r.x {
		r.x[i] *= math.Sqrt2
		r.w[i] /= math.SqrtPi
	}
	hermiteRules.Store(n, r)
	return r
}

func cornerGenerator(points, dim int) []float64 {
	key := [2]int{points, dim}
	if g, ok := cornerGenerators.Load(key); ok {
		return g.([]float64)
	}
	g := latticeGenerator(points, dim)
	cornerGenerators.Store(key, g)
	return g
}
