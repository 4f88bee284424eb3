package gp_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

// newInputs are some at random, and some that the process knows.
func newInputs(rng *rand.Rand, p *gp.Process, n int) *mat.Dense {
	known, d := p.Inputs().Dims()
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for k := range d {
			x.Set(i, k, 30*rng.Float64()-15)
		}
		if i%3 == 0 {
			x.SetRow(i, p.Inputs().RawRowView(rng.IntN(known)))
		}
	}
	return x
}

// One input: with prior variance s and a site (ν, τ) the value at a new input with
// covariance c has mean cν/(1+sτ) and variance s − c²τ/(1+sτ), for τ of any sign.
func TestPredictorOfOneInput(t *testing.T) {
	p, err := gp.New(kernel.RBF(2, 1), mat.NewDense(1, 1, []float64{0.5}))
	if err != nil {
		t.Fatal(err)
	}
	for _, site := range []gauss.Scalar{{Nu: 0.7, Tau: 0.4}, {Nu: 0.7, Tau: 0}, {Nu: -1, Tau: 50}, {Nu: 0.3, Tau: -0.4}} {
		f, ok := p.Predictor(context.Background(), []gauss.Scalar{site})
		if !ok {
			t.Fatalf("no predictor for %v", site)
		}
		var mean, variance [3]float64
		f.Moments(mat.NewDense(3, 1, []float64{0.5, 1, 9}), mean[:], variance[:])
		for i, d := range []float64{0, 0.5, 8.5} {
			c := 2 * math.Exp(-d*d/2)
			near(t, fmt.Sprint("mean of ", site), mean[i], c*site.Nu/(1+2*site.Tau), 1e-14)
			near(t, fmt.Sprint("variance of ", site), variance[i], 2-c*c*site.Tau/(1+2*site.Tau), 1e-14)
		}
	}
}

// exactMoments are those of a value with covariances k and variance s, by elimination
// in 400 bits of (K + T⁻¹) for sites that all have a precision: mean k(K+T⁻¹)⁻¹(ν/τ) and
// variance s − k(K+T⁻¹)⁻¹k.
func exactMoments(gram *mat.SymDense, sites []gauss.Scalar, k []float64, s float64) (mean, variance float64) {
	n := len(sites)
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }
	// Rows of [K + T⁻¹ | k | ν/τ].
	rows := make([][]*big.Float, n)
	for i := range n {
		for j := range n {
			rows[i] = append(rows[i], num(gram.At(i, j)))
		}
		inverse := new(big.Float).SetPrec(400).Quo(num(1), num(sites[i].Tau))
		rows[i][i].Add(rows[i][i], inverse)
		rows[i] = append(rows[i], num(k[i]), inverse.Mul(inverse, num(sites[i].Nu)))
	}
	for c := range n {
		for i := c + 1; i < n; i++ {
			f := new(big.Float).SetPrec(400).Quo(rows[i][c], rows[c][c])
			for j := c; j < n+2; j++ {
				rows[i][j].Sub(rows[i][j], new(big.Float).SetPrec(400).Mul(f, rows[c][j]))
			}
		}
	}
	// With LDLᵀ the forms are sums over the eliminated right-hand sides.
	m, v := num(0), num(s)
	for c := range n {
		over := new(big.Float).SetPrec(400).Quo(rows[c][n], rows[c][c])
		v.Sub(v, new(big.Float).SetPrec(400).Mul(over, rows[c][n]))
		m.Add(m, over.Mul(over, rows[c][n+1]))
	}
	mean, _ = m.Float64()
	variance, _ = v.Float64()
	return mean, variance
}

// Against exact arithmetic: inputs that coincide, kernels from all but flat to all but
// white, variances over nine decades and sites from weak to strong, of either sign.
func TestPredictorIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	logUniform := func(lo, hi float64) float64 { return math.Exp(math.Log(lo) + rng.Float64()*math.Log(hi/lo)) }
	for trial := range 60 {
		n := 1 + rng.IntN(20)
		x := mat.NewDense(n, 2, nil)
		for i := range n {
			x.SetRow(i, []float64{10 * rng.Float64(), 10 * rng.Float64()})
			if i > 0 && rng.IntN(4) == 0 {
				x.SetRow(i, x.RawRowView(rng.IntN(i)))
			}
		}
		v := logUniform(1e-5, 1e4)
		p, err := gp.New(kernel.Sum(kernel.Matern32(v, logUniform(1e-2, 1e3)), kernel.Constant(v/3)), x)
		if err != nil {
			t.Fatal(err)
		}
		sites := make([]gauss.Scalar, n)
		for i := range sites {
			sites[i] = gauss.Scalar{Nu: rng.NormFloat64(), Tau: logUniform(1e-6, 10)}
		}
		if trial%3 == 0 { // one that takes away less than the prior has
			sites[0].Tau = -0.3 / v
		}
		f, ok := p.Predictor(context.Background(), sites)
		if !ok {
			t.Fatalf("no predictor for %v", p.Kernel())
		}
		var gram mat.SymDense
		p.Kernel().Gram(&gram, x)
		for i := range n {
			gram.SetSym(i, i, gram.At(i, i)+p.Jitter())
		}
		z := newInputs(rng, p, 6)
		mean, variance := make([]float64, 6), make([]float64, 6)
		f.Moments(z, mean, variance)
		var cross mat.Dense
		p.Kernel().Cross(&cross, z, x)
		for i := range mean {
			prior := p.Kernel().Variance(z.RawRowView(i))
			wantMean, wantVariance := exactMoments(&gram, sites, cross.RawRowView(i), prior)
			// A variance is a difference of sums of at most 20 squares, relative to the
			// prior's. A mean is a sum of terms that cancel where the kernel is flat.
			if !(math.Abs(variance[i]-wantVariance) <= 1e-14*prior) {
				t.Errorf("%v: variance %v, want %v: %.2g of the prior's", p.Kernel(), variance[i], wantVariance, math.Abs(variance[i]-wantVariance)/prior)
			}
			if !(math.Abs(mean[i]-wantMean) <= 5e-12*(math.Sqrt(prior)+math.Abs(wantMean))) {
				t.Errorf("%v: mean %v, want %v", p.Kernel(), mean[i], wantMean)
			}
		}
	}
}

// Against the Gaussian in whitened form, on the problems of TestRobustness.
func TestPredictorIsTheGaussian(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	used := 0
	for range 60 {
		m, p, err := problem(rng)
		if err != nil {
			continue
		}
		m.Utility, m.Points = nil, nil
		r, err := infer.EP{Schedule: infer.Parallel}.Fit(t.Context(), m)
		if err != nil {
			continue
		}
		f, ok := p.Predictor(context.Background(), r.Sites.Terms)
		if !ok {
			continue
		}
		used++
		const n = 20
		z := newInputs(rng, p, n)
		var mean, variance, wantMean, wantVariance [n]float64
		f.Moments(z, mean[:], variance[:])
		r.Q.Predict(p.At(z), wantMean[:], wantVariance[:], new(gauss.Workspace))
		prior := p.Kernel().Variance(z.RawRowView(0))
		for i := range n {
			// The views invert the root of a matrix that is singular to 1e-12 and less,
			// and lose up to half of their digits by it.
			if !(math.Abs(variance[i]-wantVariance[i]) <= 1e-8*(1+wantVariance[i])) ||
				!(math.Abs(mean[i]-wantMean[i]) <= 1e-8*math.Sqrt(1+wantVariance[i])) {
				t.Errorf("%v: %v and %v, want %v and %v (prior %v)", p.Kernel(), mean[i], variance[i], wantMean[i], wantVariance[i], prior)
			}
		}
	}
	if used < 30 {
		t.Errorf("only %d problems had a predictor", used)
	}
}

// A row's moments are the same bits alone, among others, on any number of processors and
// from several goroutines at once.
func TestPredictorRowByRow(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rng := rand.New(rand.NewPCG(7, 1))
	x := mat.NewDense(150, 4, nil)
	x.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, x)
	for _, text := range []string{"matern32(lengthscale=2) + constant", "rbf(ard) * linear + periodic(lengthscale=3) + white(variance=0.1)"} {
		k, err := kernel.Parse(text, 4)
		if err != nil {
			t.Fatal(err)
		}
		p, err := gp.New(k, x)
		if err != nil {
			t.Fatal(err)
		}
		sites := make([]gauss.Scalar, 150)
		for i := range sites {
			sites[i] = gauss.Scalar{Nu: rng.NormFloat64(), Tau: rng.ExpFloat64()}
		}
		sites[7].Tau = -0.01
		f, ok := p.Predictor(context.Background(), sites)
		if !ok {
			t.Fatal("no predictor")
		}
		const n = 300
		z := mat.NewDense(n, 4, nil)
		z.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, z)
		var mean, variance [n]float64
		runtime.GOMAXPROCS(1)
		f.Moments(z, mean[:], variance[:])
		runtime.GOMAXPROCS(4)
		var wg sync.WaitGroup
		for _, size := range []int{1, 2, 7, 8, 9, 64, 200, n} {
			wg.Go(func() {
				for from := 0; from < n; from += size {
					to := min(from+size, n)
					m, v := make([]float64, to-from), make([]float64, to-from)
					f.Moments(z.Slice(from, to, 0, 4).(*mat.Dense), m, v)
					for i := range m {
						if m[i] != mean[from+i] || v[i] != variance[from+i] {
							t.Errorf("%s: row %d among %d: %v and %v, among all %v and %v", text, from+i, size, m[i], v[i], mean[from+i], variance[from+i])
							return
						}
					}
				}
			})
		}
		wg.Wait()
	}
}

// What would be inaccurate, or does not exist, is declined.
func TestPredictorDeclines(t *testing.T) {
	x := mat.NewDense(2, 1, []float64{0, 1})
	for name, c := range map[string]struct {
		variance float64
		sites    []gauss.Scalar
	}{
		"a variance whose rounding error shows": {1e9, []gauss.Scalar{{Tau: 1}, {Tau: 1}}},
		"sites that take away more than all":    {1, []gauss.Scalar{{Tau: -2}, {Tau: 1}}},
		"a site that is no number":              {1, []gauss.Scalar{{Tau: math.NaN()}, {Tau: 1}}},
		"an infinite site":                      {1, []gauss.Scalar{{Tau: math.Inf(1)}, {Tau: 1}}},
	} {
		p, err := gp.New(kernel.RBF(c.variance, 1), x)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := p.Predictor(context.Background(), c.sites); ok {
			t.Errorf("%s: not declined", name)
		}
	}
}
