package orthant

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/normal"
)

// The problems the tests share, and their true values.

// equicorrelated returns ½(I + 11ᵀ), whose positive orthant has probability
// 1/(n+1).
func equicorrelated(n int) *mat.SymDense {
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i {
			s.SetSym(i, j, 0.5)
		}
		s.SetSym(i, i, 1)
	}
	return s
}

// probitGP returns I + D K D for a squared-exponential kernel on n inputs
// uniform on [−10, 10], the labels D drawn from the prior by a probit.
func probitGP(n int, variance, scale float64, seed uint64) *mat.SymDense {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.Float64()*20 - 10
	}
	k, jittered := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			d := (x[i] - x[j]) / scale
			k.SetSym(i, j, variance*math.Exp(-d*d/2))
			jittered.SetSym(i, j, k.At(i, j))
		}
		jittered.SetSym(i, i, variance*(1+1e-8))
	}
	var chol mat.Cholesky
	if !chol.Factorize(jittered) {
		panic("kernel without factor")
	}
	var l mat.TriDense
	chol.LTo(&l)
	f := mat.NewVecDense(n, nil)
	for i := range n {
		f.SetVec(i, rng.NormFloat64())
	}
	f.MulVec(&l, f)
	s := mat.NewSymDense(n, nil)
	label := make([]float64, n)
	for i := range n {
		label[i] = math.Copysign(1, f.AtVec(i)+rng.NormFloat64())
		for j := range i + 1 {
			s.SetSym(i, j, label[i]*label[j]*k.At(i, j))
		}
		s.SetSym(i, i, s.At(i, i)+1)
	}
	return s
}

// oneFactor is X_i = load_i U + e_i with U standard normal and e_i ~ N(0, 1):
// given U the coordinates are independent, so every integral over the region
// is one-dimensional, whatever the number of variables.
type oneFactor struct {
	load, lower []float64
}

func (o oneFactor) cov() *mat.SymDense {
	n := len(o.load)
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			s.SetSym(i, j, o.load[i]*o.load[j])
		}
		s.SetSym(i, i, s.At(i, i)+1)
	}
	return s
}

// logInside returns log P(X > lower | U = u).
func (o oneFactor) logInside(u float64) float64 {
	sum := 0.0
	for i, b := range o.load {
		sum += normal.LogCDF(b*u - o.lower[i])
	}
	return sum
}

// prob returns P(X > lower), integrating over [−9, 9] in 400 pieces of 8
// Gauss–Legendre nodes each, so that a step of width 1/load is resolved for
// loads up to some hundreds.
func (o oneFactor) prob() float64 {
	return o.integrate(func(float64) float64 { return 1 })
}

// mean returns E[X_i | X > lower].
func (o oneFactor) mean(i int) float64 {
	// Given U, X_i is b u + e_i with e_i > lower_i − b u: mean b u + hazard.
	return o.integrate(func(u float64) float64 {
		b := o.load[i]
		return b*u + normal.Hazard(b*u-o.lower[i])
	}) / o.prob()
}

func (o oneFactor) integrate(f func(u float64) float64) float64 {
	return piecewise(func(u float64) float64 {
		return f(u) * math.Exp(normal.LogDensity(u)+o.logInside(u))
	}, -9, 9, 400)
}

// piecewise integrates f over [a, b] by 8-point Gauss–Legendre rules.
func piecewise(f func(float64) float64, a, b float64, pieces int) float64 {
	sum, width := 0.0, (b-a)/float64(pieces)
	for p := range pieces {
		left := a + float64(p)*width
		sum += quad.Fixed(f, left, left+width, 8, quad.Legendre{}, 0)
	}
	return sum
}

// mustNew is New for problems that must work.
func mustNew(t testing.TB, cov mat.Symmetric, lower []float64) *Region {
	t.Helper()
	r, err := New(cov, lower)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// correlated returns the correlation matrix with the given entries below the
// diagonal, row by row.
func correlated(entries ...float64) *mat.SymDense {
	n := 1
	for n*(n-1)/2 < len(entries) {
		n++
	}
	s := mat.NewSymDense(n, nil)
	k := 0
	for i := range n {
		s.SetSym(i, i, 1)
		for j := range i {
			s.SetSym(i, j, entries[k])
			k++
		}
	}
	return s
}
