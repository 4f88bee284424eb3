// Package problems has the models that tests of inference share: random ones, and some whose
// answers are known.
package problems

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

// DrawnProcess is a probit Gaussian process with n inputs uniform on [−10, 10] and
// labels drawn from the model itself.
func DrawnProcess(t testing.TB, rng *rand.Rand, n int, variance, scale float64) (*gp.Process, *infer.Model) {
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
	p.Views().At(f, StandardNormals(rng, n))
	labels := make([]int, n)
	for i := range f {
		labels[i] = DrawnLabel(rng, f[i])
	}
	m, err := p.Classify(labels)
	if err != nil {
		t.Fatal(err)
	}
	return p, m
}

// DrawnLabel is a label that is 1 with probability Φ(f).
func DrawnLabel(rng *rand.Rand, f float64) int {
	if f+rng.NormFloat64() > 0 {
		return 1
	}
	return 0
}

func StandardNormals(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// ViewsAt are the views of a process at numbers.
func ViewsAt(p *gp.Process, x ...float64) *gauss.Views {
	return p.At(mat.NewDense(len(x), 1, x))
}

// TwoPoint is the problem of theory's two-point table.
func TwoPoint(t testing.TB) (*gp.Process, *infer.Model) {
	t.Helper()
	p, err := gp.New(kernel.RBF(math.Exp(3), math.E), mat.NewDense(2, 1, []float64{-math.Sqrt2, math.Sqrt2}))
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Classify([]int{0, 1})
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

// PairMoments are means, variances and covariance of two views.
func PairMoments(p infer.Posterior, v *gauss.Views) (mean, variance [2]float64, cov float64) {
	m, s := make([]float64, 3), make([]float64, 3)
	p.Moments(withSum(v), m, s)
	return [2]float64(m), [2]float64(s), (s[2] - s[0] - s[1]) / 2
}

// Clutter is a clutter model with clutter of weight ½ and variance 10, prior
// variance 100 and noise 1.
func Clutter(y ...float64) *infer.Model {
	a := mat.NewDense(len(y), 1, nil)
	terms := make([]factor.Factor, len(y))
	for i := range y {
		a.Set(i, 0, 10)
		terms[i] = factor.Clutter{Y: y[i], Weight: 0.5, Variance: 10, Noise: 1}
	}
	return &infer.Model{Views: gauss.NewViews(a, nil, nil), Terms: terms}
}

// Regression is a random model with Gaussian terms, whose posterior is known.
func Regression(t testing.TB, rng *rand.Rand, n, dim int) (*infer.Model, *gauss.Gaussian, float64) {
	t.Helper()
	a := mat.NewDense(n, dim, StandardNormals(rng, n*dim))
	b, r := StandardNormals(rng, n), make([]float64, n)
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

// CheckMeanSquare checks that independent z-scores have the mean square of standard
// normals: their sum of squares must lie between the 0.0005 and 0.9995 quantiles of
// χ². Standard errors that are too small fail above, too large below.
func CheckMeanSquare(t *testing.T, what string, z []float64) {
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

// Near reports a value that differs from what is wanted by more than tol.
func Near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.10g, want %.10g ± %.1g", what, got, want, tol)
	}
}

// Process is a smooth random problem with n inputs on a line.
func Process(tb testing.TB, n int, seed uint64) (*gp.Process, []int) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	x := mat.NewDense(n, 1, nil)
	labels := make([]int, n)
	for i := range n {
		x.Set(i, 0, 20*rng.Float64()-10)
		if math.Sin(x.At(i, 0))+0.5*rng.NormFloat64() > 0 {
			labels[i] = 1
		}
	}
	p, err := gp.New(kernel.Sum(kernel.RBF(math.Exp(3), math.E), kernel.Constant(1)), x)
	if err != nil {
		tb.Fatal(err)
	}
	return p, labels
}

// Classification is that problem with probit terms.
func Classification(tb testing.TB, n int, seed uint64) *infer.Model {
	tb.Helper()
	p, labels := Process(tb, n, seed)
	m, err := p.Classify(labels)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// FitEP is a run of EP that converged.
func FitEP(tb testing.TB, m *infer.Model) *infer.Result {
	tb.Helper()
	r, err := infer.EP{}.Fit(context.Background(), m)
	if err != nil || !r.Status.Converged {
		tb.Fatal(err, r.Status)
	}
	return &r.Result
}
