package infer_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/internal/problems"
)

// reactorData are the measurements of the reactor like the paper's Figure 1.
var reactorData = []float64{-1.1, -2.6, -4, 5.7, -1.1}

// clutterMoments are the moments of φ, which has prior variance 100.
func clutterMoments(q *gauss.Gaussian) (mean, variance float64) {
	return 10 * q.Mean()[0], 100 / q.Natural().P.At(0, 0)
}

// thin has the views of m without their residuals.
func thin(m *infer.Model) *infer.Model {
	n := m.Views.Len()
	a, b := mat.NewDense(n, m.Dim(), nil), make([]float64, n)
	for i := range n {
		a.SetRow(i, m.Views.Row(i))
		b[i] = m.Views.Offset(i)
	}
	return &infer.Model{Views: gauss.NewViews(a, b, nil), Terms: m.Terms}
}

// sparse is a probit model with more views than dimensions and with residuals.
func sparse(rng *rand.Rand, n, dim int) *infer.Model {
	a, b, r := mat.NewDense(n, dim, problems.StandardNormals(rng, n*dim)), problems.StandardNormals(rng, n), make([]float64, n)
	terms := make([]factor.Factor, n)
	for i := range terms {
		r[i] = rng.Float64()
		terms[i] = factor.NewProbit(problems.DrawnLabel(rng, 0))
	}
	return &infer.Model{Views: gauss.NewViews(a, b, r), Terms: terms}
}

// viModels are small models of every kind.
func viModels(t testing.TB) map[string]*infer.Model {
	rng := rand.New(rand.NewPCG(3, 14))
	_, two := problems.TwoPoint(t)
	_, process := problems.DrawnProcess(t, rng, 15, math.Exp(3), math.E)
	regression, _, _ := problems.Regression(t, rng, 7, 4)
	models := map[string]*infer.Model{
		"two-point": two, "process": process, "regression": regression, "sparse": sparse(rng, 9, 4),
		"reactor": problems.Clutter(reactorData...), "pair": problems.Clutter(0.1, 2.3), "groups": problems.Clutter(-5, 5),
		"far": problems.Clutter(1000, 1, 2),
	}
	// Rough processes of high variance, on which full steps overshoot threefold.
	for k := range 4 {
		_, models[fmt.Sprintf("rough %d", k)] = problems.DrawnProcess(t, rng, 10+10*k, 160, 1)
	}
	for k := range 10 {
		y := problems.StandardNormals(rng, 2+rng.IntN(8))
		for i := range y {
			y[i] *= 3
		}
		models[fmt.Sprintf("clutter %d", k)] = problems.Clutter(y...)
	}
	return models
}

// TestVITwoPoint: the digits printed in theory's table.
func TestVITwoPoint(t *testing.T) {
	_, m := problems.TwoPoint(t)
	r, err := infer.VI{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	const digits = 0.6e-7
	mean, variance, cov := problems.PairMoments(r.Posterior, m.Views)
	problems.Near(t, "mean", mean[0], -2.2780339, digits)
	problems.Near(t, "mean", mean[1], 2.2780339, digits)
	problems.Near(t, "variance", variance[0], 3.5810094, digits)
	problems.Near(t, "variance", variance[1], 3.5810094, digits)
	problems.Near(t, "covariance", cov, 0.5486582, digits)
	problems.Near(t, "bound", r.LogEvidence, -1.9792007, digits)
	if r.LogEvidence > -1.8548257 {
		t.Errorf("bound %v above the log evidence", r.LogEvidence)
	}
}

// TestVIReactor: theory's row, from the default start.
func TestVIReactor(t *testing.T) {
	r, err := infer.VI{}.Fit(ctx, problems.Clutter(reactorData...))
	if err != nil {
		t.Fatal(err)
	}
	mean, variance := clutterMoments(r.Q)
	problems.Near(t, "mean", mean, -2.232, 5e-4)
	problems.Near(t, "variance", variance, 1.252, 5e-4)
}

// TestVIClimbs: on every model the run converges, its bound rises from one iteration
// to the next, and it ends below the log evidence.
func TestVIClimbs(t *testing.T) {
	for name, m := range viModels(t) {
		last, falls := math.Inf(-1), 0
		r, err := infer.VI{Trace: func(s infer.VIStep) {
			// Beyond rounding of the terms, which are as large as the far bound.
			if s.Bound < last-1e-12*max(1, math.Abs(last)) {
				falls++
			}
			last = s.Bound
		}}.Fit(ctx, m)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if falls > 0 || !r.Status.Converged || !(r.Status.Residual <= 1e-9) || last != r.LogEvidence {
			t.Errorf("%s: the bound fell %d times and ended at %v, traced %v: %v", name, falls, r.LogEvidence, last, r.Status)
		}
		if _, ok := m.Terms[0].(factor.Clutter); !ok {
			continue
		}
		truth, err := exact.Mixture{}.Fit(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		if !(r.LogEvidence <= truth.LogEvidence) {
			t.Errorf("%s: bound %v above the log evidence %v", name, r.LogEvidence, truth.LogEvidence)
		}
	}
}

// plainBound is the bound of q = N(μ, LLᵀ) term by term: nothing of it but MeanLog
// is shared with the method. x holds μ and then L row by row.
func plainBound(m *infer.Model, x []float64) float64 {
	dim := m.Dim()
	root := mat.NewTriDense(dim, mat.Lower, nil)
	bound := 0.5 * float64(dim)
	k := dim
	for i := range dim {
		bound -= 0.5 * x[i] * x[i]
		for j := range i + 1 {
			root.SetTri(i, j, x[k])
			bound -= 0.5 * x[k] * x[k]
			k++
		}
		bound += math.Log(root.At(i, i))
	}
	var read mat.Dense
	for i, term := range m.Terms {
		a := mat.NewDense(1, dim, slices.Clone(m.Views.Row(i)))
		read.Mul(a, root)
		norm := mat.Norm(&read, 2)
		l, _, _ := term.MeanLog(m.Views.Offset(i)+mat.Dot(a.RowView(0), mat.NewVecDense(dim, x[:dim])), norm*norm+m.Views.Residual(i))
		bound += l
	}
	return bound
}

// momentsOf writes q as plainBound takes it.
func momentsOf(t *testing.T, q *gauss.Gaussian) (x []float64) {
	cov := mat.NewSymDense(q.Dim(), nil)
	q.Covariance(cov)
	var chol mat.Cholesky
	if !chol.Factorize(cov) {
		t.Fatal("covariance is not positive definite")
	}
	var root mat.TriDense
	chol.LTo(&root)
	x = slices.Clone(q.Mean())
	for i := range q.Dim() {
		for j := range i + 1 {
			x = append(x, root.At(i, j))
		}
	}
	return x
}

// fivePoint is the difference of fourth order.
var fivePoint = fd.Formula{
	Stencil:    []fd.Point{{Loc: -2, Coeff: 1. / 12}, {Loc: -1, Coeff: -8. / 12}, {Loc: 1, Coeff: 8. / 12}, {Loc: 2, Coeff: -1. / 12}},
	Derivative: 1, Step: 1e-3,
}

// TestVIIsStationary: the bound is what its definition says, and has no slope in
// any of the moments of q.
func TestVIIsStationary(t *testing.T) {
	for name, m := range viModels(t) {
		if m.Dim() > 5 {
			continue // differences in hundreds of moments
		}
		r, err := infer.VI{}.Fit(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		x := momentsOf(t, r.Q)
		bound := func(x []float64) float64 { return plainBound(m, x) }
		problems.Near(t, name+": bound", r.LogEvidence, bound(x), 1e-12*max(1, math.Abs(r.LogEvidence)))
		slope := fd.Gradient(nil, bound, x, &fd.Settings{Formula: fivePoint, Step: 1e-4})
		for i, g := range slope {
			// Differences of fourth order err by step⁴ times a fifth derivative,
			// which reaches 10⁷ for clutter with its standard deviation of 0.05, and
			// by rounding of the bound over the step. The residual of 1e-9 times
			// curvatures of at most 10³ adds 1e-6.
			problems.Near(t, fmt.Sprintf("%s: slope in moment %d", name, i), g, 0, 2e-6+1e-11*math.Abs(r.LogEvidence))
		}
	}
}

// TestVIIsExactForGaussianTerms: closed-form regression, in one full step.
func TestVIIsExactForGaussianTerms(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{3, 3}, {9, 4}, {4, 9}} {
		drawn, _, _ := problems.Regression(t, rng, size[0], size[1])
		m := thin(drawn)
		sites := make([]gauss.Scalar, len(m.Terms))
		logZ := 0.0
		for i, term := range m.Terms {
			g, e := term.(factor.Gaussian), term.(factor.Gaussian).Y-m.Views.Offset(i)
			sites[i] = gauss.ScalarFromMoments(e, g.Variance)
			logZ -= 0.5 * (math.Log(2*math.Pi*g.Variance) + e*e/g.Variance)
		}
		natural, want := gauss.NewNatural(m.Dim()), gauss.NewGaussian(m.Dim())
		natural.SetPosterior(m.Views, sites, new(gauss.Workspace))
		if err := want.Exchange(natural); err != nil {
			t.Fatal(err)
		}
		r, err := infer.VI{}.Fit(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status.Sweeps > 2 {
			t.Errorf("%v: %d iterations, want the start and one step", size, r.Status.Sweeps)
		}
		problems.Near(t, "bound", r.LogEvidence, logZ+want.LogPartition(), 1e-12*math.Abs(logZ))
		got := r.Q.Natural()
		for i := range m.Dim() {
			problems.Near(t, "mean", r.Q.Mean()[i], want.Mean()[i], 1e-12)
			for j := range m.Dim() {
				problems.Near(t, "precision", got.P.At(i, j), want.Natural().P.At(i, j), 1e-12*want.Natural().P.At(i, i))
			}
		}
	}
}

// TestVIOrder: the order of the terms does not matter.
func TestVIOrder(t *testing.T) {
	m := sparse(rand.New(rand.NewPCG(5, 5)), 12, 5)
	n := m.Views.Len()
	a, b, r := mat.NewDense(n, m.Dim(), nil), make([]float64, n), make([]float64, n)
	terms := make([]factor.Factor, n)
	for k, i := range rand.New(rand.NewPCG(6, 6)).Perm(n) {
		a.SetRow(k, m.Views.Row(i))
		b[k], r[k], terms[k] = m.Views.Offset(i), m.Views.Residual(i), m.Terms[i]
	}
	one, err := infer.VI{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	other, err := infer.VI{}.Fit(ctx, &infer.Model{Views: gauss.NewViews(a, b, r), Terms: terms})
	if err != nil {
		t.Fatal(err)
	}
	problems.Near(t, "bound", other.LogEvidence, one.LogEvidence, 1e-12)
	for i, x := range one.Q.Mean() {
		problems.Near(t, "mean", other.Q.Mean()[i], x, 1e-8) // both within 1e-9 of the optimum, in their units
	}
}

func TestVIStart(t *testing.T) {
	_, m := problems.TwoPoint(t)
	cold, err := infer.VI{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	warm, err := infer.VI{Start: &cold.Sites}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	if warm.Status.Sweeps != 1 || warm.LogEvidence != cold.LogEvidence {
		t.Errorf("from the fitted sites: %v, bound %v after %v", warm.Status, warm.LogEvidence, cold.LogEvidence)
	}
	improper := infer.Sites{Terms: []gauss.Scalar{{Tau: -100}, {Tau: -100}}}
	again, err := infer.VI{Start: &improper}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	if again.LogEvidence != cold.LogEvidence {
		t.Errorf("improper sites to start from lead to %v, the prior to %v", again.LogEvidence, cold.LogEvidence)
	}
}

func TestVISaysWhenItIsCutShort(t *testing.T) {
	r, err := infer.VI{MaxIterations: 3}.Fit(ctx, problems.Clutter(reactorData...))
	if err != nil {
		t.Fatal(err)
	}
	if r.Status.Converged || r.Status.Reason == "" || !(r.Status.Residual > 1e-9) {
		t.Errorf("after 3 iterations: %+v", r.Status)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (infer.VI{}).Fit(ended, problems.Clutter(reactorData...)); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	never := problems.Clutter(1)
	never.Terms[0] = factor.Step{Above: 1}
	var improper *infer.ImproperError
	if _, err := (infer.VI{}).Fit(ctx, never); !errors.As(err, &improper) {
		t.Errorf("with a bound of −∞: %v", err)
	}
}

// TestVIConstantView: views that read nothing have a value all the same.
func TestVIConstantView(t *testing.T) {
	m := &infer.Model{
		Views: gauss.NewViews(mat.NewDense(2, 1, []float64{0, 1}), []float64{0.3, 0}, nil),
		Terms: []factor.Factor{factor.Probit{Y: 1}, factor.Gaussian{Y: 2, Variance: 1}},
	}
	r, err := infer.VI{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	l, _, _ := m.Terms[0].Log(0.3)
	problems.Near(t, "mean", r.Q.Mean()[0], 1, 1e-14)
	problems.Near(t, "bound", r.LogEvidence, l-0.5*math.Log(2*math.Pi*2)-1, 1e-14) // log N(2; 0, 2)
}

func ExampleVI() {
	// Two measurements of φ ~ N(0, 100), each of them clutter with probability ½.
	views := gauss.NewViews(mat.NewDense(2, 1, []float64{10, 10}), nil, nil)
	m := &infer.Model{Views: views, Terms: []factor.Factor{
		factor.Clutter{Y: 0.1, Weight: 0.5, Variance: 10, Noise: 1},
		factor.Clutter{Y: 2.3, Weight: 0.5, Variance: 10, Noise: 1},
	}}
	r, err := infer.VI{}.Fit(context.Background(), m)
	if err != nil {
		fmt.Println(err)
		return
	}
	mean, variance := make([]float64, 1), make([]float64, 1)
	r.Moments(views.Slice(0, 1), mean, variance)
	fmt.Printf("φ is %.3f ± %.3f; log evidence at least %.4f; %v\n", mean[0], math.Sqrt(variance[0]), r.LogEvidence, r.Status)
	// Output: φ is 0.625 ± 7.193; log evidence at least -5.3712; converged in 8 sweeps
}

func BenchmarkVI(b *testing.B) {
	for _, n := range []int{15, 100} {
		_, m := problems.DrawnProcess(b, rand.New(rand.NewPCG(1, 2)), n, math.Exp(3), math.E)
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			sweeps := 0
			for b.Loop() {
				r, err := infer.VI{}.Fit(ctx, m)
				if err != nil || !r.Status.Converged {
					b.Fatal(err, r.Status)
				}
				sweeps = r.Status.Sweeps
			}
			b.ReportMetric(float64(sweeps), "iterations")
		})
	}
}
