package orthant

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/normal"
)

// checkProb fails unless the estimate is within five of its own standard
// errors of the truth (Student's t with 15 degrees of freedom is outside with
// probability 1.6e-4) and its standard error is at most maxRelErr.
func checkProb(t *testing.T, name string, got Probability, wantLog, maxRelErr float64) {
	t.Helper()
	if e := math.Abs(got.Log - wantLog); !(e <= 5*got.RelErr) {
		t.Errorf("%s: log probability %.12g ± %.2g, want %.12g", name, got.Log, got.RelErr, wantLog)
	}
	if !(got.RelErr <= maxRelErr) {
		t.Errorf("%s: relative error %.2g, more than %.2g", name, got.RelErr, maxRelErr)
	}
}

func TestEquicorrelated(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 50; n++ {
		r := mustNew(t, equicorrelated(n), make([]float64, n))
		want := -math.Log(float64(n + 1))
		checkProb(t, fmt.Sprint("n = ", n), r.LogProb(2048, uint64(n)), want, 0.01)
		if r.bound < want {
			t.Errorf("n = %d: bound %g below the truth %g", n, r.bound, want)
		}
	}
}

func TestIndependent(t *testing.T) {
	t.Parallel()
	lower := []float64{0, -1, 8, math.Inf(-1), 30, -9, 0.5}
	cov := mat.NewSymDense(len(lower), nil)
	want := 0.0
	for i, l := range lower {
		sd := 0.5 * float64(i+1)
		cov.SetSym(i, i, sd*sd)
		want += normal.LogCDF(-l / sd)
	}
	// Every gap is zero: one point is as good as many.
	checkProb(t, "product", mustNew(t, cov, lower).LogProb(1, 1), want, 1e-13)
}

func TestBivariateClosedForm(t *testing.T) {
	t.Parallel()
	for _, rho := range []float64{-0.999, -0.9, -0.5, -0.1, 0, 0.3, 0.8, 0.99, 0.99999} {
		r := mustNew(t, correlated(rho), []float64{0, 0})
		want := math.Log(0.25 + math.Asin(rho)/(2*math.Pi))
		checkProb(t, fmt.Sprint("ρ = ", rho), r.LogProb(4096, 3), want, 2e-4)
	}
}

func TestTrivariateClosedForm(t *testing.T) {
	t.Parallel()
	for i, c := range [][]float64{{0.5, 0.5, 0.5}, {-0.3, 0.2, 0.6}, {-0.4, -0.4, -0.15}, {0.9, -0.5, -0.7}} {
		r := mustNew(t, correlated(c...), make([]float64, 3))
		angles := math.Asin(c[0]) + math.Asin(c[1]) + math.Asin(c[2])
		want := math.Log(0.125 + angles/(4*math.Pi))
		checkProb(t, fmt.Sprint(c), r.LogProb(4096, uint64(i)), want, 2e-4)
	}
}

// TestBruteForce integrates the density coordinate by coordinate, in the order
// given and without tilting.
func TestBruteForce(t *testing.T) {
	t.Parallel()
	cases := []struct {
		cov   *mat.SymDense
		lower []float64
	}{
		{correlated(), []float64{1.5}},
		{correlated(0.7), []float64{2, -1}},
		{correlated(-0.3, 0.2, 0.6), []float64{1, 0.5, -0.5}},
		{correlated(0.5, -0.2, 0.1, 0.3, 0.4, -0.6), []float64{0.3, 1.2, -0.4, 0.8}},
		{probitGP(4, math.Exp(3), math.E, 9), make([]float64, 4)},
		{probitGP(4, math.Exp(3), 1, 10), []float64{3, -2, 1, 0}},
	}
	for i, c := range cases {
		want := math.Log(bruteForce(c.cov, c.lower))
		got := mustNew(t, c.cov, c.lower).LogProb(1<<14, 5)
		checkProb(t, fmt.Sprint("case ", i), got, want, 3e-4)
	}
}

// bruteForce returns P(X > lower) by nested Gauss–Legendre rules in z, cut at
// nine standard deviations, the last coordinate in closed form. The conditional
// probabilities are smooth at the scale of 48 nodes: good to 1e-8 here.
func bruteForce(cov *mat.SymDense, lower []float64) float64 {
	var chol mat.Cholesky
	if !chol.Factorize(cov) {
		panic("covariance without factor")
	}
	var l mat.TriDense
	chol.LTo(&l)
	n := len(lower)
	z := make([]float64, n)
	var inside func(k int) float64
	inside = func(k int) float64 {
		bound := lower[k]
		for j := range k {
			bound -= l.At(k, j) * z[j]
		}
		bound /= l.At(k, k)
		if k == n-1 {
			return normal.CDF(-bound)
		}
		if bound > 9 {
			return 0
		}
		return quad.Fixed(func(x float64) float64 {
			z[k] = x
			return normal.Density(x) * inside(k+1)
		}, math.Max(bound, -9), 9, 48, quad.Legendre{}, 0)
	}
	return inside(0)
}

// TestHugeVariance has inputs that coincide under a prior of variance 1e6, with
// labels of both signs: the covariance is 1e6 times a matrix of rank one, plus
// the identity, and the region a sliver of probability about 1e-7.
func TestHugeVariance(t *testing.T) {
	t.Parallel()
	o := oneFactor{load: make([]float64, 20), lower: make([]float64, 20)}
	for i := range o.load {
		o.load[i] = 1e3
		if i%3 == 0 {
			o.load[i] = -1e3
		}
	}
	// Substitute v = 1e3 u, the scale on which the coordinates decide.
	want := piecewise(func(v float64) float64 {
		return 1e-3 * math.Exp(normal.LogDensity(v/1e3)+o.logInside(v/1e3))
	}, -12, 12, 200)
	r := mustNew(t, o.cov(), o.lower)
	checkProb(t, "duplicates", r.LogProb(1<<13, 1), math.Log(want), 0.02)
}

func TestOneFactor(t *testing.T) {
	t.Parallel()
	o := spreadFactor(30)
	got := mustNew(t, o.cov(), o.lower).LogProb(1<<14, 2)
	checkProb(t, "thirty variables", got, math.Log(o.prob()), 5e-3)
}

// spreadFactor is a one-factor problem in which no two variables are alike.
func spreadFactor(n int) oneFactor {
	o := oneFactor{load: make([]float64, n), lower: make([]float64, n)}
	for i := range n {
		o.load[i] = 2*math.Sin(float64(i)) + 0.5
		o.lower[i] = math.Cos(3*float64(i)) - 0.3
	}
	return o
}

// TestStandardErrorIsCalibrated compares the error with the reported standard
// error over many seeds. Errors over standard errors follow Student's t with
// ν = 15 degrees of freedom: mean square ν/(ν−2) = 1.154, and the mean of 600
// such squares has standard deviation √(3.39/600) = 0.075.
func TestStandardErrorIsCalibrated(t *testing.T) {
	t.Parallel()
	const seeds = 600
	r := mustNew(t, equicorrelated(10), make([]float64, 10))
	truth := math.Log(1.0 / 11)
	sum, squares := 0.0, 0.0
	for seed := range uint64(seeds) {
		p := r.LogProb(20*Shifts, seed)
		score := (p.Log - truth) / p.RelErr
		sum += score
		squares += score * score
	}
	if ms := squares / seeds; math.Abs(ms-1.154) > 3.5*0.075 {
		t.Errorf("mean square of error over standard error %.3f, want 1.154 ± 0.26", ms)
	}
	if mean := sum / seeds; math.Abs(mean) > 3.5*1.074/math.Sqrt(seeds) {
		t.Errorf("mean error %.3f standard errors: biased", mean)
	}
}

// TestPrecisionGrowsFasterThanMonteCarlo: 64 times the points bring the error
// of plain Monte Carlo down by 8.
func TestPrecisionGrowsFasterThanMonteCarlo(t *testing.T) {
	t.Parallel()
	r := mustNew(t, equicorrelated(5), make([]float64, 5))
	few, many := r.LogProb(1<<10, 1), r.LogProb(1<<16, 1)
	if few.RelErr < 16*many.RelErr {
		t.Errorf("relative error %.2g from 2^10 points, %.2g from 2^16", few.RelErr, many.RelErr)
	}
}

func TestLogProbSameBytes(t *testing.T) {
	r := mustNew(t, equicorrelated(6), make([]float64, 6))
	want := r.LogProb(500, 4)
	for _, procs := range []int{1, 3, 8} {
		old := runtime.GOMAXPROCS(procs)
		got := r.LogProb(500, 4)
		runtime.GOMAXPROCS(old)
		if got != want {
			t.Errorf("%d processors: %v, want %v", procs, got, want)
		}
	}
	if r.LogProb(500, 5) == want {
		t.Error("another seed gives the same estimate")
	}
}
