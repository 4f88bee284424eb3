package search_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/search"
)

// noisy are measurements with normal noise of a variance that is to be found.
type noisy struct {
	y     []float64
	noise float64
	logs  []float64
}

func (n *noisy) Len() int                    { return len(n.y) }
func (n *noisy) Term(i int) factor.Factor    { return factor.Gaussian{Y: n.y[i], Variance: n.noise} }
func (n *noisy) Hyperpriors() []kernel.Prior { return []kernel.Prior{{Mean: -2, SD: 2}} }
func (n *noisy) Tune(logs []float64)         { n.logs, n.noise = logs, math.Exp(logs[0]) }
func (n *noisy) Tuned() []float64            { return n.logs }
func (n *noisy) Fork() gp.TunedTerms         { c := *n; return &c }

func measured(n int) (*mat.Dense, *noisy) {
	rng := rand.New(rand.NewPCG(7, 7))
	x, terms := mat.NewDense(n, 2, nil), &noisy{noise: 1}
	for i := range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		x.SetRow(i, []float64{a, b})
		terms.y = append(terms.y, math.Sin(2*a)+0.3*b+0.2*rng.NormFloat64())
	}
	return x, terms
}

// regression is the log evidence of exact regression: log N(y; 0, K + σ²I).
func regression(t *testing.T, k kernel.Kernel, x *mat.Dense, terms *noisy) float64 {
	t.Helper()
	var gram mat.SymDense
	k.Gram(&gram, x)
	n := terms.Len()
	for i := range n {
		gram.SetSym(i, i, gram.At(i, i)+terms.noise)
	}
	var c mat.Cholesky
	if !c.Factorize(&gram) {
		t.Fatal("no Cholesky factor")
	}
	y, solved := mat.NewVecDense(n, terms.y), mat.NewVecDense(n, nil)
	if err := c.SolveVecTo(solved, y); err != nil {
		t.Fatal(err)
	}
	return -0.5 * (mat.Dot(y, solved) + c.LogDet() + float64(n)*math.Log(2*math.Pi))
}

// With normal noise expectation propagation is exact regression, and the variance of the noise is
// found with the kernel: where the search ends the evidence is that of the closed form, which falls
// in every direction.
func TestNoiseIsFoundWithTheKernel(t *testing.T) {
	x, terms := measured(120)
	k, err := kernel.ParseColumns("matern32(ard) + constant", kernel.Columns{Numbers: 2})
	if err != nil {
		t.Fatal(err)
	}
	fit, err := search.Optimise(context.Background(), k, x, terms, search.Options{})
	if err != nil {
		t.Fatal(err)
	}
	k = fit.Process.Kernel()
	want := regression(t, k, x, terms)
	if got := fit.EP.LogEvidence; !(math.Abs(got-want) <= 1e-9*math.Abs(want)) {
		t.Errorf("log evidence %.12g, exact regression has %.12g", got, want)
	}
	if !(math.Abs(math.Sqrt(terms.noise)-0.2) < 0.05) {
		t.Errorf("noise of standard deviation %v, drawn with 0.2", math.Sqrt(terms.noise))
	}
	posterior := func(shift float64) float64 {
		terms.Tune([]float64{fit.Tuned[0] + shift})
		z := (fit.Tuned[0] + shift + 2) / 2
		return regression(t, k, x, terms) - 0.5*z*z
	}
	const step = 1e-3
	slope := (posterior(step) - posterior(-step)) / (2 * step)
	// Both have the error of a difference.
	if last := fit.Gradient[len(fit.Gradient)-1]; math.Abs(last-slope) > 1e-4 {
		t.Errorf("slope in the noise %v, of exact regression %v", last, slope)
	}
}

// Seen from as many inducing points as there are rows it is the same.
func TestNoiseIsFoundWithInducingPoints(t *testing.T) {
	x, terms := measured(60)
	k, err := kernel.ParseColumns("matern32 + constant", kernel.Columns{Numbers: 2})
	if err != nil {
		t.Fatal(err)
	}
	fit, err := search.Induce(context.Background(), k, x, terms, search.InduceOptions{Points: 60, Memory: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	want := regression(t, fit.Process.Kernel(), x, terms)
	// To the tolerance of passes, and what jitter on the points takes.
	if !(math.Abs(fit.LogEvidence-want) <= 1e-4) {
		t.Errorf("log evidence %.12g, exact regression has %.12g", fit.LogEvidence, want)
	}
	if !(math.Abs(math.Sqrt(terms.noise)-0.2) < 0.08) {
		t.Errorf("noise of standard deviation %v, drawn with 0.2", math.Sqrt(terms.noise))
	}
}
