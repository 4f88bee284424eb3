package search_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/problems"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/search"
)

func optimise(t testing.TB, k kernel.Kernel, x *mat.Dense, terms []factor.Factor, opt search.Options) *search.Fit {
	t.Helper()
	f, err := search.Optimise(context.Background(), k, x, gp.Values{Factors: terms}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What is found is stationary, for every kernel and likelihood: the gradient is as
// small as was asked for, but for parameters at a bound, where it points outwards.
func TestStationary(t *testing.T) {
	x, y := problems.Cloud(40, 2, 2)
	for _, text := range problems.Forms {
		for name, label := range problems.Likelihoods {
			t.Run(text+"/"+name, func(t *testing.T) {
				const tolerance = 1e-4
				f := optimise(t, problems.Parse(t, text, 2), x, problems.Terms(y, label), search.Options{Tolerance: tolerance})
				if f.Stop != search.Stationary || !f.EP.Status.Converged {
					t.Fatalf("%v with %v after %d evaluations; gradient %v", f.Stop, f.EP.Status, f.Evaluations, f.Gradient)
				}
				if got := f.EP.LogEvidence + f.LogPrior; got != f.LogPosterior {
					t.Errorf("log posterior %v, its parts add to %v", f.LogPosterior, got)
				}
				for i, g := range f.Gradient {
					// The sites were settled further after the last step, which
					// moves the gradient by less than it was.
					if !f.AtBound[i] && !(math.Abs(g) <= 2*tolerance) {
						t.Errorf("%v: gradient %v", f.Process.Kernel().Describe()[i], g)
					}
					if f.AtBound[i] {
						t.Errorf("%v is at a bound", f.Process.Kernel().Describe()[i])
					}
				}
				t.Logf("%d evaluations: %v", f.Evaluations, f.Process.Kernel())
			})
		}
	}
}

// Beside a search over a fine grid nothing is higher, and the grid's best is next to
// what was found.
func TestGrid(t *testing.T) {
	x, y := problems.Cloud(20, 1, 5)
	ts := problems.Terms(y, problems.Likelihoods["probit"])
	f := optimise(t, kernel.RBF(1, 1), x, ts, search.Options{Tolerance: 1e-5})
	found := f.Process.Kernel().Params(nil)
	// The density of the prior as documented: the scale of one column is its
	// standard deviation.
	variance := 0.0
	mean := mat.Sum(x) / 20
	for i := range 20 {
		variance += (x.At(i, 0) - mean) * (x.At(i, 0) - mean) / 20
	}
	logPrior := func(logs []float64) float64 {
		z0, z1 := logs[0]/3, (logs[1]-0.5*math.Log(variance))/1.5
		return -0.5*(z0*z0+z1*z1) - math.Log(2*math.Pi*3*1.5)
	}
	problems.Near(t, "log prior", f.LogPrior, logPrior(found), 1e-12)
	const step = 0.25
	best, at := math.Inf(-1), []float64{0, 0}
	for v := -5.0; v <= 5; v += step {
		for l := -3.0; l <= 3; l += step {
			p, err := gp.New(kernel.RBF(math.Exp(v), math.Exp(l)), x)
			if err != nil {
				t.Fatal(err)
			}
			r := fit(t, infer.EP{Tolerance: 1e-6}, &infer.Model{Views: p.Views(), Terms: ts})
			if value := r.LogEvidence + logPrior([]float64{v, l}); value > best {
				best, at = value, []float64{v, l}
			}
		}
	}
	if !(best <= f.LogPosterior) {
		t.Errorf("the grid has %v at %v, found %v at %v", best, at, f.LogPosterior, found)
	}
	// Curvatures are a few units at most: within half a step the value falls by less
	// than 0.1, along the flattest direction by little over two steps.
	for i := range at {
		if !(math.Abs(at[i]-found[i]) <= 2*step) || !(f.LogPosterior-best < 0.1) {
			t.Errorf("the grid's best is %v at %v, found %v at %v", best, at, f.LogPosterior, found)
		}
	}
}

// Separable data, of which the evidence alone wants an infinite variance; data of
// one class, of which it wants an infinite length scale; two cases; and one.
func TestNoRunaway(t *testing.T) {
	for name, c := range map[string]struct {
		x []float64
		y []int
	}{
		"separable": {[]float64{-4, -3, -2, -1, 1, 2, 3, 4}, []int{0, 0, 0, 0, 1, 1, 1, 1}},
		"one class": {[]float64{-4, -3, -2, -1, 1, 2, 3, 4}, []int{1, 1, 1, 1, 1, 1, 1, 1}},
		"two cases": {[]float64{0, 1}, []int{0, 1}},
		"one case":  {[]float64{3}, []int{1}},
		"no spread": {[]float64{2, 2, 2}, []int{1, 0, 1}},
		"huge":      {[]float64{-4e30, -1e30, 2e30, 3e30}, []int{0, 0, 1, 1}},
		"tiny":      {[]float64{-4e-30, -1e-30, 2e-30, 3e-30}, []int{0, 0, 1, 1}},
	} {
		for like, label := range problems.Likelihoods {
			t.Run(name+"/"+like, func(t *testing.T) {
				x := mat.NewDense(len(c.x), 1, c.x)
				f := optimise(t, kernel.RBF(1, 1), x, problems.Terms(c.y, label), search.Options{})
				if f.Stop != search.Stationary {
					t.Errorf("%v", f.Stop)
				}
				spread := slices.Max(c.x) - slices.Min(c.x)
				if spread == 0 {
					spread = 1
				}
				p := f.Process.Kernel().Describe()
				// Three standard deviations of the prior.
				if v := p[0].Value; !(v > math.Exp(-6) && v < math.Exp(6)) {
					t.Errorf("variance %v", v)
				}
				if l := p[1].Value; !(l > spread/100 && l < spread*100) {
					t.Errorf("length scale %v for a spread of %v", l, spread)
				}
			})
		}
	}
}

// The found length scales follow when a column is rescaled, and nothing else moves.
func TestRescaled(t *testing.T) {
	x, y := problems.Cloud(60, 2, 7)
	ts := problems.Terms(y, problems.Likelihoods["probit"])
	k := problems.Parse(t, "rbf(ard) + linear(ard)", 2)
	a := optimise(t, k, x, ts, search.Options{Tolerance: 1e-6})
	scaled := mat.DenseCopyOf(x)
	scaled.Apply(func(_, j int, v float64) float64 { return v * []float64{1e3, 1e-2}[j] }, x)
	b := optimise(t, k, scaled, ts, search.Options{Tolerance: 1e-6})
	problems.Near(t, "log posterior", b.LogPosterior, a.LogPosterior, 1e-8)
	p, q := a.Process.Kernel().Describe(), b.Process.Kernel().Describe()
	for i, by := range []float64{1, 1e3, 1e-2, 1e-6, 1e4} {
		// Gradients of 1e-6 over curvatures of at least the prior's ¼.
		problems.Near(t, p[i].String(), math.Log(q[i].Value/by), math.Log(p[i].Value), 1e-5)
	}
}

// Restarts are the same for the same seed on any number of processors, other for
// another seed, and never worse than the first start alone.
func TestRestarts(t *testing.T) {
	x, y := problems.Cloud(50, 2, 11)
	ts := problems.Terms(y, problems.Likelihoods["probit"])
	k := problems.Parse(t, "periodic + rbf", 2)
	run := func(seed uint64, restarts int) (f *search.Fit, path []string) {
		f = optimise(t, k, x, ts, search.Options{Restarts: restarts, Seed: seed, Progress: func(e search.Evaluation) {
			path = append(path, fmt.Sprint(e.Kernel, e.LogPosterior))
			if e.Number != len(path) {
				t.Errorf("evaluation %d has the number %d", len(path), e.Number)
			}
		}})
		return f, path
	}
	a, first := run(1, 3)
	before := runtime.GOMAXPROCS(1)
	_, again := run(1, 3)
	runtime.GOMAXPROCS(before)
	if !slices.Equal(first, again) || a.Evaluations != len(first) {
		t.Errorf("twice the same seed: %d evaluations, %q at the end; and %d, %q", len(first), first[len(first)-1], len(again), again[len(again)-1])
	}
	if _, other := run(2, 3); other[0] != first[0] || slices.Equal(other, first) {
		t.Error("another seed has to begin at the same start, and to go on elsewhere")
	}
	one, _ := run(1, 0)
	if a.Evaluations <= one.Evaluations || a.LogPosterior < one.LogPosterior-0.01 { // what the tolerance leaves open
		t.Errorf("four starts reach %v, one reaches %v", a.LogPosterior, one.LogPosterior)
	}
}

// Of many cases a part is looked at first. That is a start and no more: the result is
// the one reached from elsewhere.
func TestLevels(t *testing.T) {
	if testing.Short() {
		t.Skip("fits 820 cases twice")
	}
	x, y := problems.Cloud(820, 3, 13)
	ts := problems.Terms(y, problems.Likelihoods["probit"])
	var cases []int
	opt := search.Options{Tolerance: 1e-3, Progress: func(e search.Evaluation) { cases = append(cases, e.Cases) }}
	a := optimise(t, kernel.RBF(1, 1), x, ts, opt)
	if cases[0] != 205 || !slices.IsSorted(cases) || cases[len(cases)-1] != 820 {
		t.Errorf("cases looked at: %v", cases)
	}
	opt.Start, opt.Seed = []float64{2, 1}, 5
	b := optimise(t, kernel.RBF(1, 1), x, ts, opt)
	// Gradients of 1e-3 over curvatures of order 10 leave 1e-3·1e-4.
	problems.Near(t, "log posterior", b.LogPosterior, a.LogPosterior, 1e-6)
}

// fragile is a label that no longer answers when asked about a wide Gaussian: a
// stand-in for everything that makes expectation propagation fail.
type fragile struct{ factor.Probit }

func (f fragile) LogMean(m, v float64) (l, d1, d2 float64) {
	if v > 3 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	return f.Probit.LogMean(m, v)
}

// Where expectation propagation fails the search draws back.
func TestDrawsBack(t *testing.T) {
	x, y := problems.Cloud(20, 1, 17)
	for i := range y {
		if y[i] = 0; x.At(i, 0) > 0 { // separable: it asks for more than is allowed
			y[i] = 1
		}
	}
	label := func(y int) factor.Factor { return fragile{factor.NewProbit(y)} }
	free := optimise(t, kernel.RBF(1, 1), x, problems.Terms(y, problems.Likelihoods["probit"]), search.Options{})
	if v := free.Process.Kernel().Describe()[0].Value; !(v > 3) {
		t.Fatalf("the free search ends at a variance of %v, so this test tests nothing", v)
	}
	f := optimise(t, kernel.RBF(1, 1), x, problems.Terms(y, label), search.Options{})
	if v := f.Process.Kernel().Describe()[0].Value; !(v > 1 && v < 10) || !f.EP.Status.Converged || f.Stop == search.Stationary {
		t.Errorf("variance %v, %v, %v", v, f.EP.Status, f.Stop)
	}
}

func TestCannotStart(t *testing.T) {
	x, y := problems.Cloud(10, 2, 19)
	ts := problems.Terms(y, problems.Likelihoods["probit"])
	bad := mat.DenseCopyOf(x)
	bad.Set(3, 1, math.NaN())
	var start *search.StartError
	if _, err := search.Optimise(context.Background(), kernel.RBF(1, 1), bad, gp.Values{Factors: ts}, search.Options{Restarts: 2}); !errors.As(err, &start) || start.Starts != 3 || start.Err == nil {
		t.Errorf("inputs that are no numbers: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	opt := search.Options{Progress: func(e search.Evaluation) {
		if e.Number == 2 {
			cancel()
		}
	}}
	if _, err := search.Optimise(ctx, kernel.RBF(1, 1), x, gp.Values{Factors: ts}, opt); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if f := optimise(t, kernel.RBF(1, 1), x, ts, search.Options{MaxEvaluations: 2, Tolerance: 1e-9}); f.Stop != search.Exhausted || f.Evaluations != 3 || !f.EP.Status.Converged {
		t.Errorf("two evaluations from a start: %v after %d", f.Stop, f.Evaluations)
	}
}

// A table of past cases in, a kernel out.
func ExampleOptimise() {
	x := mat.NewDense(8, 1, []float64{-4, -3, -2, -1, 1, 2, 3, 4})
	labels := make([]factor.Factor, 8)
	for i, y := range []int{0, 0, 1, 0, 1, 0, 1, 1} {
		labels[i] = factor.NewLogit(y)
	}
	f, err := search.Optimise(context.Background(), kernel.RBF(1, 1), x, gp.Values{Factors: labels}, search.Options{Tolerance: 1e-6})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range f.Process.Kernel().Describe() {
		fmt.Printf("%v %.3f\n", p, p.Value)
	}
	fmt.Printf("log evidence %.4f, %v\n", f.EP.LogEvidence, f.Stop)
	// Output:
	// rbf.variance 0.373
	// rbf.lengthscale 2.750
	// log evidence -5.6666, stationary
}

// BenchmarkOptimise is a fit to a table of the shape of German credit, 1000 cases of
// 7 numbers and 54 indicators of categories, with one length scale and with one for
// each column.
func BenchmarkOptimise(b *testing.B) {
	const n, numbers, groups, each = 1000, 7, 18, 3
	rng := rand.New(rand.NewPCG(23, 1))
	x, y := mat.NewDense(n, numbers+groups*each, nil), make([]int, n)
	for i := range n {
		f := -1.0
		for k := range numbers {
			x.Set(i, k, rng.NormFloat64())
			f += 0.4 * x.At(i, k) / float64(1+k)
		}
		for g := range groups {
			c := rng.IntN(each)
			x.Set(i, numbers+g*each+c, 1)
			f += 0.5 * float64(c-1) / float64(1+g)
		}
		if f+rng.NormFloat64() > 0 {
			y[i] = 1
		}
	}
	for name, label := range problems.Likelihoods {
		for _, text := range []string{"rbf", "rbf(ard)"} {
			b.Run(fmt.Sprintf("kernel=%s/label=%s", text, name), func(b *testing.B) {
				evaluations := 0
				for b.Loop() {
					f := optimise(b, problems.Parse(b, text, numbers+groups*each), x, problems.Terms(y, label), search.Options{})
					evaluations = f.Evaluations
				}
				b.ReportMetric(float64(evaluations), "evaluations")
			})
		}
	}
}

// fit runs EP and fails the test when it does not converge.
func fit(t *testing.T, ep infer.EP, m *infer.Model) *infer.EPResult {
	t.Helper()
	r, err := ep.Fit(context.Background(), m)
	if err != nil || !r.Status.Converged {
		t.Fatal(err, r)
	}
	return r
}
