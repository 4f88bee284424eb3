package gauss_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
)

// problem is a random Gaussian, prior times scalar sites on views, together with
// everything the textbook says about it, by dense inverses.
type problem struct {
	name  string
	rng   *rand.Rand
	a     *mat.Dense
	views *gauss.Views
	sites []gauss.Scalar
	// Λ = I + AᵀTA, its inverse, h = Aᵀν and the mean.
	precision, covariance *mat.Dense
	h, mean               *mat.VecDense
	logDet                float64
}

// problems has views with every pattern of zeros at sizes around the blocks of the
// package (64 and 128 rows): fewer and more views than dimensions, one dimension,
// one view.
func problems() (all []*problem) {
	for _, size := range [][2]int{{1, 1}, {7, 1}, {1, 9}, {5, 5}, {40, 23}, {23, 40}, {130, 70}, {65, 129}, {150, 150}, {300, 20}} {
		for _, zeros := range []string{"none", "leading", "trailing", "rows"} {
			all = append(all, newProblem(size[0], size[1], zeros))
		}
	}
	return all
}

func newProblem(n, m int, zeros string) *problem {
	p := &problem{
		name: fmt.Sprintf("%d views of %d, zeros %s", n, m, zeros),
		rng:  rand.New(rand.NewPCG(uint64(n), uint64(m))),
		a:    mat.NewDense(n, m, nil),
	}
	for i := range n {
		for j := range m {
			if !isZero(zeros, i, j, n, m) {
				p.a.Set(i, j, p.rng.NormFloat64()/math.Sqrt(float64(m)))
			}
		}
	}
	b, r := make([]float64, n), make([]float64, n)
	p.sites = make([]gauss.Scalar, n)
	for i := range n {
		b[i], r[i] = p.rng.NormFloat64(), p.rng.ExpFloat64()
		p.sites[i] = gauss.Scalar{Nu: p.rng.NormFloat64(), Tau: 2 * p.rng.ExpFloat64()}
		if i%3 == 2 {
			// Rows have unit length or so: negative precisions that stay far
			// from taking away the prior's.
			p.sites[i].Tau = -0.3 * float64(m) / float64(n+m) * p.rng.Float64()
		}
	}
	p.views = gauss.NewViews(p.a, b, r)
	p.solve()
	return p
}

// isZero says where views have zeros: before or behind a diagonal that runs from
// corner to corner, or in whole rows.
func isZero(zeros string, i, j, n, m int) bool {
	switch zeros {
	case "leading":
		return (j+1)*n < (n-1-i)*m
	case "trailing":
		return j*n > (i+1)*m
	case "rows":
		return i%5 == 1 || i < n-1 && i >= 128
	}
	return false
}

// solve fills in the textbook's answers.
func (p *problem) solve() {
	n, m := p.a.Dims()
	p.precision, p.h = mat.NewDense(m, m, nil), mat.NewVecDense(m, nil)
	for k := range m {
		p.precision.Set(k, k, 1)
	}
	for i := range n {
		row := p.a.RowView(i)
		var outer mat.Dense
		outer.Outer(p.sites[i].Tau, row, row)
		p.precision.Add(p.precision, &outer)
		p.h.AddScaledVec(p.h, p.sites[i].Nu, row)
	}
	p.covariance, p.mean = new(mat.Dense), new(mat.VecDense)
	if err := p.covariance.Inverse(p.precision); err != nil {
		panic(err)
	}
	p.mean.MulVec(p.covariance, p.h)
	var sign float64
	if p.logDet, sign = mat.LogDet(p.precision); sign <= 0 {
		panic("gauss_test: an improper problem")
	}
}

// natural is prior times sites.
func (p *problem) natural(ws *gauss.Workspace) *gauss.Natural {
	n := gauss.NewNatural(p.views.Dim())
	n.SetStandard()
	n.TimesScalars(p.views, p.sites, ws)
	return n
}

func (p *problem) gaussian(t testing.TB) *gauss.Gaussian {
	t.Helper()
	g := gauss.NewGaussian(p.views.Dim())
	if err := g.Exchange(p.natural(new(gauss.Workspace))); err != nil {
		t.Fatal(err)
	}
	return g
}

// forProblems runs a test on every problem.
func forProblems(t *testing.T, test func(t *testing.T, p *problem)) {
	for _, p := range problems() {
		t.Run(p.name, func(t *testing.T) { test(t, p) })
	}
}

// dense turns a symmetric matrix into a plain one, from its upper triangle.
func dense(s *mat.SymDense) *mat.Dense { return mat.DenseCopyOf(s) }

// equal compares matrices or vectors up to bound times the largest entry wanted.
// Bounds are a few hundred roundings: sums of up to 300 terms, and precisions with
// condition numbers below 1e3.
func equal(t *testing.T, what string, got, want mat.Matrix, bound float64) {
	t.Helper()
	var diff mat.Dense
	diff.Sub(got, want)
	if d, size := mat.Norm(&diff, math.Inf(1)), mat.Norm(want, math.Inf(1)); !(d <= bound*max(size, 1e-3)) {
		t.Errorf("%s differs by %.1e, of %.1e", what, d, size)
	}
}

const tolerance = 1e-12
