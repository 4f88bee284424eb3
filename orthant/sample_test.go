package orthant

import (
	"context"
	"errors"
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep/normal"
)

func mustSample(t *testing.T, r *Region, rows int, seed uint64) (*mat.Dense, Stats) {
	t.Helper()
	dst := mat.NewDense(rows, r.Dim(), nil)
	s, err := r.Sample(context.Background(), dst, seed)
	if err != nil {
		t.Fatal(err)
	}
	if s.Accepted != rows {
		t.Fatalf("%d accepted for %d rows", s.Accepted, rows)
	}
	return dst, s
}

func TestDeepTail(t *testing.T) {
	t.Parallel()
	r := mustNew(t, mat.NewSymDense(1, []float64{4}), []float64{16})
	dst, s := mustSample(t, r, 20000, 1)
	if s.Rate() != 1 {
		t.Errorf("acceptance rate %g in one dimension", s.Rate())
	}
	x := mat.Col(nil, 0, dst)
	tail := normal.LogCDF(-8)
	checkKS(t, x, func(v float64) float64 { return -math.Expm1(normal.LogCDF(-v/2) - tail) })
	mean, variance := stat.MeanVariance(x, nil)
	wantMean, wantVar := excessMoments(8)
	sd := 2 * math.Sqrt(wantVar)
	// Close to exponential: the variance of the square is about 8 times the
	// squared variance.
	if z := (mean - 16 - 2*wantMean) / (sd / math.Sqrt(20000)); math.Abs(z) > 4 {
		t.Errorf("mean %g is off by %.1f standard errors", mean, z)
	}
	if z := (variance/(sd*sd) - 1) / math.Sqrt(8.0/20000); math.Abs(z) > 4 {
		t.Errorf("variance %g is off by %.1f standard errors", variance, z)
	}
}

// TestBivariateDistribution: given X > lower in two dimensions, the marginal of
// X_0 has density φ(x) Φ((ρx − l_1)/√(1−ρ²))/P on x > l_0.
func TestBivariateDistribution(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rho, l0, l1 float64 }{{0.8, 0, 0}, {-0.9, 0.5, 0}, {0.3, -1, 2}, {-0.6, 3, -2}} {
		r := mustNew(t, correlated(c.rho), []float64{c.l0, c.l1})
		const draws = 20000
		dst, _ := mustSample(t, r, draws, 7)
		checkMarginal := func(col int, l, other float64) {
			density := func(x float64) float64 {
				return normal.Density(x) * normal.CDF((c.rho*x-other)/math.Sqrt(1-c.rho*c.rho))
			}
			const top = 10
			total := piecewise(density, l, top, 200)
			moment := func(power float64) float64 {
				return piecewise(func(x float64) float64 { return math.Pow(x, power) * density(x) }, l, top, 200) / total
			}
			x := mat.Col(nil, col, dst)
			checkKS(t, x, func(v float64) float64 { return piecewise(density, l, v, 4) / total })
			m1, m2, m4 := moment(1), moment(2), moment(4)
			first, second := 0.0, 0.0
			for _, v := range x {
				first += v / draws
				second += v * v / draws
			}
			if z := (first - m1) / math.Sqrt((m2-m1*m1)/draws); math.Abs(z) > 4 {
				t.Errorf("%+v: mean of X_%d off by %.1f standard errors", c, col, z)
			}
			if z := (second - m2) / math.Sqrt((m4-m2*m2)/draws); math.Abs(z) > 4 {
				t.Errorf("%+v: mean square of X_%d off by %.1f standard errors", c, col, z)
			}
		}
		checkMarginal(0, c.l0, c.l1)
		checkMarginal(1, c.l1, c.l0)

		// E[X_0 X_1 | region], X_1 given X_0 = x being a truncated normal.
		s := math.Sqrt(1 - c.rho*c.rho)
		joint := func(f func(x, meanOfOther float64) float64) float64 {
			return piecewise(func(x float64) float64 {
				a := (c.rho*x - c.l1) / s
				return normal.Density(x) * normal.CDF(a) * f(x, c.rho*x+s*normal.Hazard(a))
			}, c.l0, 10, 200)
		}
		want := joint(func(x, y float64) float64 { return x * y }) / joint(func(float64, float64) float64 { return 1 })
		products := make([]float64, draws)
		for i := range products {
			products[i] = dst.At(i, 0) * dst.At(i, 1)
		}
		mean, sd := stat.MeanStdDev(products, nil)
		if z := (mean - want) / (sd / math.Sqrt(draws)); math.Abs(z) > 4 {
			t.Errorf("%+v: E[X_0 X_1] = %g, want %g", c, mean, want)
		}
	}
}

// TestManyVariables checks every mean of a problem in which no two variables
// are alike, so that a variable out of place shows.
func TestManyVariables(t *testing.T) {
	t.Parallel()
	const n, draws = 25, 10000
	o := spreadFactor(n)
	r := mustNew(t, o.cov(), o.lower)
	dst, s := mustSample(t, r, draws, 3)
	for i := range n {
		x := mat.Col(nil, i, dst)
		for _, v := range x {
			if v < o.lower[i] {
				t.Fatalf("X_%d = %g below its bound %g", i, v, o.lower[i])
			}
		}
		mean, sd := stat.MeanStdDev(x, nil)
		if z := (mean - o.mean(i)) / (sd / math.Sqrt(draws)); math.Abs(z) > 4 {
			t.Errorf("mean of X_%d is %g, want %g: off by %.1f standard errors", i, mean, o.mean(i), z)
		}
	}
	// The acceptance rate is P/exp(C).
	rate := o.prob() / math.Exp(r.bound)
	se := math.Sqrt(rate * (1 - rate) / float64(s.Proposals))
	if math.Abs(s.Rate()-rate) > 4*se {
		t.Errorf("acceptance rate %g, want %g ± %g", s.Rate(), rate, se)
	}
}

// TestFreeVariables: a variable without a bound follows the others.
func TestFreeVariables(t *testing.T) {
	t.Parallel()
	const draws, rho = 20000, 0.8
	r := mustNew(t, correlated(rho), []float64{math.Inf(-1), 1})
	dst, _ := mustSample(t, r, draws, 2)
	// X_0 = ρ X_1 + √(1−ρ²) e with X_1 > 1.
	hazard := normal.Hazard(-1)
	_, tailVar := excessMoments(1)
	wantMean, wantVar := rho*hazard, rho*rho*tailVar+1-rho*rho
	mean, _ := stat.MeanVariance(mat.Col(nil, 0, dst), nil)
	if z := (mean - wantMean) / math.Sqrt(wantVar/draws); math.Abs(z) > 4 {
		t.Errorf("mean of the free variable %g, want %g", mean, wantMean)
	}

	free := mustNew(t, correlated(rho), []float64{math.Inf(-1), math.Inf(-1)})
	if p := free.LogProb(100, 1); p.Log != 0 {
		t.Errorf("log probability of the whole plane is %g", p.Log)
	}
	dst, _ = mustSample(t, free, draws, 2)
	_, variance := stat.MeanVariance(mat.Col(nil, 0, dst), nil)
	if z := (variance - 1) / math.Sqrt(2.0/draws); math.Abs(z) > 4 {
		t.Errorf("variance %g of a free variable, want 1", variance)
	}
	c := stat.Correlation(mat.Col(nil, 0, dst), mat.Col(nil, 1, dst), nil)
	if z := (c - rho) / ((1 - rho*rho) / math.Sqrt(draws)); math.Abs(z) > 4 {
		t.Errorf("correlation %g, want %g", c, rho)
	}
}

func TestSampleSameBytes(t *testing.T) {
	const n = 10
	r := mustNew(t, probitGP(n, math.Exp(3), math.E, 4), make([]float64, n))
	want, wantStats := mustSample(t, r, 1000, 9)
	for _, procs := range []int{1, 2, 7} {
		old := runtime.GOMAXPROCS(procs)
		got, s := mustSample(t, r, 1000, 9)
		runtime.GOMAXPROCS(old)
		if !mat.Equal(got, want) || s != wantStats {
			t.Errorf("%d processors give other draws", procs)
		}
	}
	few, _ := mustSample(t, r, 333, 9)
	if !mat.Equal(few, want.Slice(0, 333, 0, n)) {
		t.Error("fewer rows give other draws")
	}
	other, _ := mustSample(t, r, 1000, 10)
	if mat.Equal(other, want) {
		t.Error("another seed gives the same draws")
	}
}

func TestSampleCancelled(t *testing.T) {
	t.Parallel()
	r := mustNew(t, equicorrelated(3), make([]float64, 3))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := r.Sample(ctx, mat.NewDense(10, 3, nil), 1)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// TestAcceptanceRates holds one point per column of the table beside
// MinAcceptance. Seven problems spread over a factor of five at most at these
// sizes; the intervals leave a factor of three on either side of the median.
func TestAcceptanceRates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n           int
		scale, rate float64
	}{
		{15, math.E, 0.51},
		{100, math.E, 0.051},
		{200, math.E, 0.034},
		{100, 1, 0.019},
		{100, 0.3, 0.012},
	} {
		r := mustNew(t, probitGP(c.n, math.Exp(3), c.scale, 2), make([]float64, c.n))
		_, s := mustSample(t, r, 100, 1)
		if rate := s.Rate(); rate < c.rate/3 || rate > 3*c.rate {
			t.Errorf("n = %d, ℓ = %g: acceptance rate %.2g, the table says %.2g", c.n, c.scale, rate, c.rate)
		}
	}
}

func TestAcceptanceTooLow(t *testing.T) {
	t.Parallel()
	const n = 250
	r := mustNew(t, probitGP(n, math.Exp(3), 0.3, 1), make([]float64, n))
	_, err := r.Sample(context.Background(), mat.NewDense(200, n, nil), 1)
	var low *AcceptanceError
	if !errors.As(err, &low) {
		t.Fatalf("error %v, want an AcceptanceError", err)
	}
	if low.Dim != n || low.Proposals != blockBudget || low.Rate() >= MinAcceptance {
		t.Errorf("error %+v", low)
	}
	_, again := r.Sample(context.Background(), mat.NewDense(70, n, nil), 1)
	if again.Error() != err.Error() {
		t.Errorf("the error depends on the number of rows: %v, %v", err, again)
	}
}

func TestSampleShape(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic for a matrix with the wrong number of columns")
		}
	}()
	r := mustNew(t, equicorrelated(3), make([]float64, 3))
	_, _ = r.Sample(context.Background(), mat.NewDense(10, 4, nil), 1)
}
