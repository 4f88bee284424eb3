package infer_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/problems"
)

// TestLaplaceTwoPoint: the digits printed in theory's table.
func TestLaplaceTwoPoint(t *testing.T) {
	_, m := problems.TwoPoint(t)
	r, err := infer.Laplace{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	const digits = 0.6e-7
	mean, variance, cov := problems.PairMoments(r.Posterior, m.Views)
	problems.Near(t, "mean", mean[0], -1.3897179, digits)
	problems.Near(t, "mean", mean[1], 1.3897179, digits)
	problems.Near(t, "variance", variance[0], 3.0587905, digits)
	problems.Near(t, "variance", variance[1], 3.0587905, digits)
	problems.Near(t, "covariance", cov, 0.4028179, digits)
	problems.Near(t, "log evidence", r.LogEvidence, -2.0857669, digits)
}

// logDensity is the log density of a model up to that of the prior at zero.
func logDensity(m *infer.Model, v []float64) float64 {
	f := make([]float64, m.Views.Len())
	m.Views.At(f, v)
	sum := -0.5 * floats.Dot(v, v)
	for i, term := range m.Terms {
		l, _, _ := term.LogMean(f[i], m.Views.Residual(i))
		sum += l
	}
	return sum
}

// TestLaplaceIsAtAMode: on every model the density rises to a place where it has no
// slope and the curvature that q has as precision, by differences.
func TestLaplaceIsAtAMode(t *testing.T) {
	for name, m := range viModels(t) {
		last, falls := math.Inf(-1), 0
		r, err := infer.Laplace{Trace: func(_ int, density, _ float64) {
			if density < last-1e-12*max(1, math.Abs(last)) {
				falls++
			}
			last = density
		}}.Fit(ctx, m)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if falls > 0 || !r.Status.Converged {
			t.Errorf("%s: the density fell %d times: %v", name, falls, r.Status)
		}
		density := func(v []float64) float64 { return logDensity(m, v) }
		dim, precision := m.Dim(), r.Q.Natural().P
		settings := &fd.Settings{Formula: fd.Central, Step: 1e-4}
		slope := fd.Gradient(nil, density, r.Q.Mean(), settings)
		curvature := mat.NewSymDense(dim, nil)
		fd.Hessian(curvature, density, r.Q.Mean(), &fd.Settings{Step: 1e-4})
		for i := range dim {
			scale := math.Sqrt(precision.At(i, i))
			// Errors of differences: step² times a third derivative, and rounding
			// over the step or its square.
			problems.Near(t, fmt.Sprintf("%s: slope %d", name, i), slope[i]/scale, 0, 1e-5+1e-11*math.Abs(last))
			for j := range i + 1 {
				problems.Near(t, fmt.Sprintf("%s: curvature %d, %d", name, i, j), -curvature.At(i, j), precision.At(i, j), 1e-2*precision.At(i, i)+1e-7*math.Abs(last))
			}
		}
		var chol mat.Cholesky
		if !chol.Factorize(precision) {
			t.Fatalf("%s: the precision is not positive definite", name)
		}
		problems.Near(t, name+": log evidence", r.LogEvidence, density(r.Q.Mean())-0.5*chol.LogDet(), 1e-11*max(1, math.Abs(last)))
	}
}

// TestLaplaceIsExactForGaussianTerms: closed-form regression, residuals included, in
// one Newton step.
func TestLaplaceIsExactForGaussianTerms(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{3, 3}, {9, 4}, {4, 9}} {
		m, want, logZ := problems.Regression(t, rng, size[0], size[1])
		r, err := infer.Laplace{}.Fit(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status.Sweeps != 1 {
			t.Errorf("%v: %d Newton steps", size, r.Status.Sweeps)
		}
		problems.Near(t, "log evidence", r.LogEvidence, logZ, 1e-12*math.Abs(logZ))
		for i, x := range want.Mean() {
			problems.Near(t, "mean", r.Q.Mean()[i], x, 1e-12)
			for j := range want.Mean() {
				problems.Near(t, "precision", r.Q.Natural().P.At(i, j), want.Natural().P.At(i, j), 1e-12*want.Natural().P.At(i, i))
			}
		}
	}
}

// TestLaplaceLeavesASaddle: between two equal groups the gradient vanishes by
// symmetry, at a minimum.
func TestLaplaceLeavesASaddle(t *testing.T) {
	m := problems.Clutter(-2, -2, 2, 2)
	slope, curvature := 0.0, -1.0/100
	for _, term := range m.Terms {
		_, d1, d2 := term.Log(0)
		slope, curvature = slope+d1, curvature+d2
	}
	if slope != 0 || !(curvature > 0) {
		t.Fatalf("slope %v and curvature %v at zero do not make a minimum", slope, curvature)
	}
	r, err := infer.Laplace{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	if mean, _ := clutterMoments(r.Q); !r.Status.Converged || !(mean > 1) {
		t.Errorf("the mode is %v: %v", mean, r.Status)
	}
}

func TestLaplaceStart(t *testing.T) {
	m := problems.Clutter(-6, -6, 6)
	one, err := infer.Laplace{Start: []float64{0.6}}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	other, err := infer.Laplace{Start: []float64{-0.6}}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := clutterMoments(one.Q)
	b, _ := clutterMoments(other.Q)
	if !(a > 5 && b < -5 && other.LogEvidence > one.LogEvidence) {
		t.Errorf("modes %v and %v with log evidence %v and %v", a, b, one.LogEvidence, other.LogEvidence)
	}
}

func TestLaplaceSaysWhenItIsCutShort(t *testing.T) {
	_, m := problems.TwoPoint(t)
	r, err := infer.Laplace{MaxIterations: 1}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	if r.Status.Converged || r.Status.Reason == "" {
		t.Errorf("after one step: %+v", r.Status)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (infer.Laplace{}).Fit(ended, m); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	never := problems.Clutter(1)
	never.Terms[0] = factor.Step{T: 1, Above: 1}
	var improper *infer.ImproperError
	if _, err := (infer.Laplace{}).Fit(ctx, never); !errors.As(err, &improper) {
		t.Errorf("with a density of 0 at the start: %v", err)
	}
}

func ExampleLaplace() {
	// One label y = +1 under a prior of variance 4.
	views := gauss.NewViews(mat.NewDense(1, 1, []float64{2}), nil, nil)
	m := &infer.Model{Views: views, Terms: []factor.Factor{factor.Probit{Y: 1}}}
	r, err := infer.Laplace{}.Fit(context.Background(), m)
	if err != nil {
		fmt.Println(err)
		return
	}
	mean, variance := make([]float64, 1), make([]float64, 1)
	r.Moments(views, mean, variance)
	fmt.Printf("f is %.4f ± %.4f, evidence %.4f (exactly 0.5)\n", mean[0], math.Sqrt(variance[0]), math.Exp(r.LogEvidence))
	// Output: f is 1.0615 ± 1.2887, evidence 0.4790 (exactly 0.5)
}

func BenchmarkLaplace(b *testing.B) {
	for _, n := range []int{15, 100} {
		_, m := problems.DrawnProcess(b, rand.New(rand.NewPCG(1, 2)), n, math.Exp(3), math.E)
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := infer.Laplace{}.Fit(ctx, m)
				if err != nil || !r.Status.Converged {
					b.Fatal(err)
				}
			}
		})
	}
}
