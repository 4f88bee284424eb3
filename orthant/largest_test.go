package orthant

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/normal"
)

// drawNormals makes n normals that depend on each other, with a noise of one each.
func drawNormals(rng *rand.Rand, n int, scale float64) ([]float64, *mat.SymDense) {
	root := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			root.Set(i, j, scale*rng.NormFloat64())
		}
	}
	mean, cov := make([]float64, n), mat.NewSymDense(n, nil)
	cov.SymOuterK(1/float64(n), root)
	for i := range n {
		cov.SetSym(i, i, 1+cov.At(i, i))
		mean[i] = scale * rng.NormFloat64()
	}
	return mean, cov
}

// The quadrant has a closed probability at its middle, and two of them make a half plane.
// The closed form itself cancels near a correlation of −1.
func TestQuadrant(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 16))
	for range 3000 {
		a, b, rho := 3*rng.NormFloat64(), 3*rng.NormFloat64(), math.Tanh(3*rng.NormFloat64())
		if got, want := quadrant(a, b, rho)+quadrant(a, -b, -rho), normal.CDF(a); math.Abs(got-want) > 1e-12*want {
			t.Errorf("%v, %v, ρ = %v: two quadrants make %v, not %v", a, b, rho, got, want)
		}
		if got, want := quadrant(0, 0, rho), 0.25+math.Asin(rho)/(2*math.Pi); math.Abs(got-want) > 1e-12*want+1e-16/math.Sqrt(1-rho*rho) {
			t.Errorf("ρ = %v: %v, want %v", rho, got, want)
		}
	}
	for _, rho := range []float64{-1, 1} {
		if got, want := quadrant(0.3, 0.7, rho), map[float64]float64{1: normal.CDF(0.3), -1: normal.CDF(0.3) - normal.CDF(-0.7)}[rho]; math.Abs(got-want) > 1e-14 {
			t.Errorf("ρ = %v: %v, want %v", rho, got, want)
		}
	}
}

// One of two or three is the largest: against the closed form and against quadrants.
func TestLargestOfFew(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 16))
	for range 300 {
		mean, cov := drawNormals(rng, 2, 3)
		p := make([]float64, 2)
		NewLargest(2).Probabilities(p, mean, cov)
		if want := normal.CDF((mean[0] - mean[1]) / math.Sqrt(cov.At(0, 0)+cov.At(1, 1)-2*cov.At(0, 1))); math.Abs(p[0]-want) > 1e-13 {
			t.Errorf("%v, want %v", p, want)
		}
		mean, cov = drawNormals(rng, 3, 3)
		p = make([]float64, 3)
		l := NewLargest(3)
		l.Probabilities(p, mean, cov)
		want := make([]float64, 3)
		l.threeCorners(want, mean, cov)
		if floats.Distance(p, want, math.Inf(1)) > 1e-11 || math.Abs(floats.Sum(p)-1) > 1e-11 {
			t.Errorf("%v, want %v", p, want)
		}
	}
}

// One of several, against randomised lattices with an error of their own, which is not
// more than four of its standard errors but once in a thousand times. The probabilities of
// four add up because each is right; those of more do to what is stated.
func TestLargestOfSeveral(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 16))
	for n := 4; n <= 5; n++ {
		mean, cov := drawNormals(rng, n, 1)
		p := make([]float64, n)
		l := NewLargest(n)
		l.divide(cov)
		bound := l.corners(p, mean, cov)
		byGrid := make([]float64, n)
		if l.Probabilities(byGrid, mean, cov); floats.Distance(p, byGrid, math.Inf(1)) > 3e-6 {
			t.Errorf("%v by lattices, %v by grids", p, byGrid)
		}
		if math.Abs(floats.Sum(p)-1) > 1e-5 || !(bound <= 1e-6) {
			t.Errorf("%d: they add up to %v, with errors of at most %v", n, floats.Sum(p), bound)
		}
		for c := range p {
			m, s := l.differences(c, mean, cov)
			floats.Scale(-1, m)
			r, err := New(s, m)
			if err != nil {
				t.Fatal(err)
			}
			want := r.LogProb(4000, 1)
			if math.Abs(math.Log(p[c])-want.Log) > 5*want.RelErr+1e-6 {
				t.Errorf("%d, %d: %v, want %v ± %v", n, c, p[c], math.Exp(want.Log), want.RelErr*p[c])
			}
		}
	}
}

// Where the normals hardly depend on each other, as the functions of a process that data
// have seen, the error is far below a millionth for up to ten: against a grid of a higher
// level. The probabilities add up whatever the grid is, because they do at every point of
// it; so that is no proof.
func TestLargestOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 16))
	for n := 4; n <= 10; n++ {
		mean, cov := drawNormals(rng, n, 1)
		for i := range n {
			mean[i] *= 1.5
			for j := range n {
				small := 0.02 * cov.At(i, j)
				if i == j {
					small += 1 + 0.3*rng.Float64()
				}
				cov.SetSym(i, j, small)
			}
		}
		p, again, one := make([]float64, n), make([]float64, n), make([]float64, n)
		l := NewLargest(n)
		bound := l.Probabilities(p, mean, cov)
		if math.Abs(floats.Sum(p)-1) > 1e-9 || !(bound <= 1e-7) {
			t.Errorf("%d: they add up to %v, with errors of at most %v", n, floats.Sum(p), bound)
		}
		g := sparseGrid(l.dims, 4)
		if n > 7 {
			g = sparseGrid(l.dims, 3)
		}
		for i, w := range g.weights {
			for c := range n {
				l.at[c] = mean[c] + floats.Dot(l.spread.RawRowView(c), g.nodes[i*l.dims:(i+1)*l.dims])
			}
			l.independent(one, l.at)
			floats.AddScaled(again, w, one)
		}
		if d := floats.Distance(p, again, math.Inf(1)); d > 1e-7 {
			t.Errorf("%d: off by %v", n, d)
		}
	}
}

// A sparse grid is exact for polynomials of its degree: the moments of a standard normal.
func TestSparseGrid(t *testing.T) {
	for dims := 1; dims <= 4; dims++ {
		for level := range 4 {
			g := sparseGrid(dims, level)
			if sum := floats.Sum(g.weights); math.Abs(sum-1) > 1e-13 {
				t.Errorf("%d dimensions, level %d: weights add up to %v", dims, level, sum)
			}
			for power := 2; power <= 2*level; power += 2 {
				want := 1.0
				for k := 1; k < power; k += 2 {
					want *= float64(k)
				}
				first, both := 0.0, 0.0
				for i, w := range g.weights {
					x := g.nodes[i*dims]
					first += w * math.Pow(x, float64(power))
					both += w * math.Pow(x, float64(power-2)) * math.Pow(g.nodes[i*dims+dims-1], 2)
				}
				wantBoth := want
				if dims > 1 {
					wantBoth = want / float64(power-1)
				}
				if math.Abs(first-want) > 1e-12*want || math.Abs(both-wantBoth) > 1e-12*want {
					t.Errorf("%d dimensions, level %d: moments %v and %v, want %v and %v", dims, level, first, both, want, wantBoth)
				}
			}
		}
	}
}

// Far apart, one is certain and the others keep their digits.
func TestLargestInTheTails(t *testing.T) {
	p := make([]float64, 2)
	for _, z := range []float64{1, 5, 7, 9} {
		NewLargest(2).Probabilities(p, []float64{0, z * math.Sqrt2}, mat.NewSymDense(2, []float64{1, 0, 0, 1}))
		if want := normal.CDF(-z); math.Abs(p[0]-want) > 1e-7*want {
			t.Errorf("z = %v: %v, want %v", z, p[0], want)
		}
	}
}

func TestNothingIsLargest(t *testing.T) {
	p := make([]float64, 3)
	for name, c := range map[string]struct {
		mean []float64
		cov  *mat.SymDense
	}{
		"a mean that is none":       {[]float64{0, math.NaN(), 0}, mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})},
		"an infinite variance":      {[]float64{0, 0, 0}, mat.NewSymDense(3, []float64{math.Inf(1), 0, 0, 0, 1, 0, 0, 0, 1})},
		"no covariance":             {[]float64{0, 0, 0}, mat.NewSymDense(3, []float64{1, 2, 2, 2, 1, 2, 2, 2, 1})},
		"differences without noise": {[]float64{0, 0, 0}, mat.NewSymDense(3, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1})},
	} {
		if err := NewLargest(3).Probabilities(p, c.mean, c.cov); !math.IsNaN(err) || !math.IsNaN(p[1]) {
			t.Errorf("%s: %v ± %v", name, p, err)
		}
	}
}
