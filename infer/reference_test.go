package infer_test

import (
	"context"
	"flag"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

var (
	trials       = flag.Int("trials", 50, "number of random problems on which sampling and exact answers are compared")
	calibrations = flag.Int("calibrations", 150, "number of simulations behind the calibration of sampling")
)

var ctx = context.Background()

// drawnProcess is a probit Gaussian process with n inputs uniform on [−10, 10] and
// labels drawn from the model itself.
func drawnProcess(t testing.TB, rng *rand.Rand, n int, variance, scale float64) (*gp.Process, *infer.Model) {
	t.Helper()
	x := mat.NewDense(n, 1, nil)
	for i := range n {
		x.Set(i, 0, 20*rng.Float64()-10)
	}
	p, err := gp.New(kernel.RBF(variance, scale), x)
	if err != nil {
		t.Fatal(err)
	}
	f := make([]float64, n)
	p.Views().At(f, standardNormals(rng, n))
	for i := range f {
		f[i] = drawnLabel(rng, f[i])
	}
	m, err := p.Classify(f)
	if err != nil {
		t.Fatal(err)
	}
	return p, m
}

func drawnLabel(rng *rand.Rand, f float64) float64 {
	if f+rng.NormFloat64() > 0 {
		return 1
	}
	return -1
}

func standardNormals(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// viewsAt are the views of a process at numbers.
func viewsAt(p *gp.Process, x ...float64) *gauss.Views {
	return p.At(mat.NewDense(len(x), 1, x))
}

// twoPoint is the problem of theory's two-point table.
func twoPoint(t testing.TB) (*gp.Process, *infer.Model) {
	t.Helper()
	p, err := gp.New(kernel.RBF(math.Exp(3), math.E), mat.NewDense(2, 1, []float64{-math.Sqrt2, math.Sqrt2}))
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Classify([]float64{-1, 1})
	if err != nil {
		t.Fatal(err)
	}
	return p, m
}

// withSum adds to two views the view that reads their sum, so that a posterior's
// answers about variances give the covariance too.
func withSum(v *gauss.Views) *gauss.Views {
	a := mat.NewDense(3, v.Dim(), nil)
	for i := range 2 {
		a.SetRow(i, v.Row(i))
		for j, x := range v.Row(i) {
			a.Set(2, j, a.At(2, j)+x)
		}
	}
	return gauss.NewViews(a, nil, nil)
}

// pairMoments are means, variances and covariance of two views.
func pairMoments(p infer.Posterior, v *gauss.Views) (mean, variance [2]float64, cov float64) {
	m, s := make([]float64, 3), make([]float64, 3)
	p.Moments(withSum(v), m, s)
	return [2]float64(m), [2]float64(s), (s[2] - s[0] - s[1]) / 2
}

// clutterModel is a clutter model with clutter of weight ½ and variance 10, prior
// variance 100 and noise 1.
func clutterModel(y ...float64) *infer.Model {
	a := mat.NewDense(len(y), 1, nil)
	terms := make([]factor.Factor, len(y))
	for i := range y {
		a.Set(i, 0, 10)
		terms[i] = factor.Clutter{Y: y[i], Weight: 0.5, Variance: 10, Noise: 1}
	}
	return &infer.Model{Views: gauss.NewViews(a, nil, nil), Terms: terms}
}

// regressionModel is a random model with Gaussian terms, whose posterior is known.
func regressionModel(t testing.TB, rng *rand.Rand, n, dim int) (*infer.Model, *gauss.Gaussian, float64) {
	t.Helper()
	a := mat.NewDense(n, dim, standardNormals(rng, n*dim))
	b, r := standardNormals(rng, n), make([]float64, n)
	terms := make([]factor.Factor, n)
	sites := make([]gauss.Scalar, n)
	logZ := 0.0
	for i := range n {
		r[i] = rng.Float64()
		y, noise := 2*rng.NormFloat64(), 0.1+rng.Float64()
		terms[i] = factor.Gaussian{Y: y, Variance: noise}
		sites[i] = gauss.ScalarFromMoments(y-b[i], noise+r[i])
		// log N(y − b; a·v, w) = −½log 2πw − ½(y−b)²/w + the site's exponent.
		logZ -= 0.5 * (math.Log(2*math.Pi*(noise+r[i])) + (y-b[i])*(y-b[i])/(noise+r[i]))
	}
	m := &infer.Model{Views: gauss.NewViews(a, b, r), Terms: terms}
	natural := gauss.NewNatural(dim)
	natural.SetPosterior(m.Views, sites, new(gauss.Workspace))
	q := gauss.NewGaussian(dim)
	if err := q.Exchange(natural); err != nil {
		t.Fatal(err)
	}
	return m, q, logZ + q.LogPartition()
}

// checkMeanSquare checks that independent z-scores have the mean square of standard
// normals: their sum of squares must lie between the 0.0005 and 0.9995 quantiles of
// χ². Standard errors that are too small fail above, too large below.
func checkMeanSquare(t *testing.T, what string, z []float64) {
	t.Helper()
	sum := 0.0
	for _, x := range z {
		sum += x * x
	}
	chi := distuv.ChiSquared{K: float64(len(z))}
	lo, hi := chi.Quantile(0.0005), chi.Quantile(0.9995)
	t.Logf("%s: mean square of %d z-scores %.2f, allowed %.2f to %.2f", what, len(z), sum/chi.K, lo/chi.K, hi/chi.K)
	if !(sum > lo && sum < hi) {
		t.Errorf("%s: mean square of %d z-scores is %.3g, z = %.2f", what, len(z), sum/chi.K, z)
	}
}

// near reports a value that differs from what is wanted by more than tol.
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.10g, want %.10g ± %.1g", what, got, want, tol)
	}
}

// TestReferencesOnAnyNumberOfCores: the same bytes on one core and on several.
func TestReferencesOnAnyNumberOfCores(t *testing.T) {
	p, m := drawnProcess(t, rand.New(rand.NewPCG(1, 1)), 12, 20, 2)
	_, two := twoPoint(t)
	at := viewsAt(p, -9, -7, -5, -3, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
	atTwo := gauss.NewViews(mat.NewDense(40, 2, standardNormals(rand.New(rand.NewPCG(2, 2)), 80)), nil, nil)
	weights := standardNormals(rand.New(rand.NewPCG(3, 3)), 20)
	answers := func(procs int) (all []float64) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		ask := func(q infer.Posterior, v *gauss.Views) {
			x, y := make([]float64, v.Len()), make([]float64, v.Len())
			q.Expect(v, factor.Probit{Y: 1}, x, y)
			all = append(append(all, x...), y...)
			q.Moments(v, x, y)
			all = append(append(all, x...), y...)
		}
		e, err := infer.Exact{Draws: 3000, Seed: 5}.Fit(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		ask(e, at)
		value, stderr := e.ExpectLinear(at, factor.Probit{Y: 1}, weights)
		all = append(all, value, stderr, e.LogEvidence)
		var s infer.NUTS
		s.Warmup, s.Draws = 100, 50
		n, err := s.Fit(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		ask(n, at)
		g, err := infer.Grid{}.Fit(ctx, two)
		if err != nil {
			t.Fatal(err)
		}
		ask(g, atTwo)
		return append(all, g.LogEvidence)
	}
	if !slices.Equal(answers(1), answers(4)) {
		t.Error("answers on one core and on four differ")
	}
}

func TestUnsupportedModels(t *testing.T) {
	_, probit := drawnProcess(t, rand.New(rand.NewPCG(1, 1)), 5, 1, 1)
	clutter := clutterModel(make([]float64, infer.MaxMixtureTerms+1)...)
	wrongLabel := &infer.Model{Views: clutterModel(0).Views, Terms: []factor.Factor{factor.Probit{Y: 2}}}
	for name, fit := range map[string]func() error{
		"exact of clutter":     func() error { _, err := infer.Exact{}.Fit(ctx, clutter); return err },
		"exact of a label 2":   func() error { _, err := infer.Exact{}.Fit(ctx, wrongLabel); return err },
		"one draw":             func() error { _, err := infer.Exact{Draws: 1}.Fit(ctx, probit); return err },
		"mixture of 21 terms":  func() error { _, err := infer.Mixture{}.Fit(ctx, clutter); return err },
		"mixture in 5 dims":    func() error { _, err := infer.Mixture{}.Fit(ctx, probit); return err },
		"mixture of probit":    func() error { _, err := infer.Mixture{}.Fit(ctx, wrongLabel); return err },
		"grid in 5 dimensions": func() error { _, err := infer.Grid{}.Fit(ctx, probit); return err },
	} {
		err := fit()
		if _, ok := err.(*infer.UnsupportedError); !ok {
			t.Errorf("%s: error %v, want an UnsupportedError", name, err)
		}
	}
}

// TestReferencesEndWithTheContext: every method gives up when asked to.
func TestReferencesEndWithTheContext(t *testing.T) {
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, m := twoPoint(t)
	_, exact := infer.Exact{}.Fit(ended, m)
	_, grid := infer.Grid{}.Fit(ended, m)
	_, sampling := infer.NUTS{}.Fit(ended, m)
	_, mixture := infer.Mixture{}.Fit(ended, clutterModel(1))
	for name, err := range map[string]error{"Exact": exact, "Grid": grid, "NUTS": sampling, "Mixture": mixture} {
		if err == nil {
			t.Errorf("%s did not notice that its context ended", name)
		}
	}
}
