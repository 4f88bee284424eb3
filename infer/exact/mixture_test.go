package exact_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/internal/problems"
	"github.com/lossep/lossep/normal"
)

// randomClutter is a clutter model with different views and terms.
func randomClutter(rng *rand.Rand, n int) *infer.Model {
	a, b, r := mat.NewDense(n, 1, nil), make([]float64, n), make([]float64, n)
	terms := make([]factor.Factor, n)
	for i := range n {
		a.Set(i, 0, 1+2*rng.Float64())
		b[i], r[i] = rng.NormFloat64(), rng.Float64()
		terms[i] = factor.Clutter{Y: 4 * rng.NormFloat64(), Weight: 0.1 + 0.8*rng.Float64(), Variance: 1 + 10*rng.Float64(), Noise: 0.1 + rng.Float64()}
		if rng.IntN(5) == 0 {
			terms[i] = factor.Gaussian{Y: 2 * rng.NormFloat64(), Variance: 1 + rng.Float64()}
		}
	}
	return &infer.Model{Views: gauss.NewViews(a, b, r), Terms: terms}
}

// lineIntegrals are ∫ p, ∫ v p and ∫ v² p of a one-dimensional model's density and
// ∫ E t(b + a v + e) p, by the trapezoidal rule on [−12, 12]: densities here are
// smooth over 0.1 at the least, ten times the spacing, so it is exact to rounding.
func lineIntegrals(m *infer.Model, view *gauss.Views, t factor.Factor) (z, mean, square, expect float64) {
	const reach, spacing = 12, 0.01
	for v := -float64(reach); v <= reach; v += spacing {
		l := normal.LogDensity(v)
		for i, term := range m.Terms {
			lt, _, _ := term.LogMean(m.Views.Offset(i)+m.Views.Row(i)[0]*v, m.Views.Residual(i))
			l += lt
		}
		p := spacing * math.Exp(l)
		lt, _, _ := t.LogMean(view.Offset(0)+view.Row(0)[0]*v, view.Residual(0))
		z, mean, square, expect = z+p, mean+v*p, square+v*v*p, expect+math.Exp(lt)*p
	}
	return z, mean / z, square / z, expect / z
}

func TestMixtureAgainstQuadrature(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	one := gauss.NewViews(mat.NewDense(1, 1, []float64{1}), nil, nil)
	view := gauss.NewViews(mat.NewDense(1, 1, []float64{1.7}), []float64{0.3}, []float64{0.2})
	probe := factor.Clutter{Y: 1, Weight: 0.3, Variance: 3, Noise: 0.5}
	for n := 1; n <= 12; n++ {
		m := randomClutter(rng, n)
		r, err := exact.Mixture{}.Fit(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		z, mean, square, expect := lineIntegrals(m, view, probe)
		var gotMean, gotVar, value, se [1]float64
		r.Moments(one, gotMean[:], gotVar[:])
		r.Expect(view, probe, value[:], se[:])
		problems.Near(t, "log evidence", r.LogEvidence, math.Log(z), 1e-12*max(1, -math.Log(z)))
		problems.Near(t, "mean", gotMean[0], mean, 1e-12)
		problems.Near(t, "variance", gotVar[0], square-mean*mean, 1e-12)
		problems.Near(t, "expectation", value[0], expect, 1e-12)
		// The grid answers the same questions by its own search and rule.
		g, err := exact.Grid{}.Fit(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		if !g.Status.Converged {
			t.Error("grid:", g.Status)
		}
		problems.Near(t, "log evidence of the grid", g.LogEvidence, r.LogEvidence, 1e-10)
		g.Moments(one, gotMean[:], gotVar[:])
		g.Expect(view, probe, value[:], se[:])
		problems.Near(t, "mean of the grid", gotMean[0], mean, 1e-10)
		problems.Near(t, "variance of the grid", gotVar[0], square-mean*mean, 1e-10)
		problems.Near(t, "expectation of the grid", value[0], expect, 1e-10)
	}
}

// TestMixtureNumbers reaches theory's exact rows.
func TestMixtureNumbers(t *testing.T) {
	m := problems.Clutter(0.1, 2.3)
	r, err := exact.Mixture{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	var mean, variance [1]float64
	r.Moments(m.Views.Slice(0, 1), mean[:], variance[:])
	problems.Near(t, "mean", mean[0], 0.6371317, 5e-8)
	problems.Near(t, "variance", variance[0], 51.601758, 5e-7)
	problems.Near(t, "log evidence", r.LogEvidence, -5.1054673, 5e-8)

	reactor := problems.Clutter(-1.1, -2.6, -4, 5.7, -1.1)
	if r, err = (exact.Mixture{}).Fit(ctx, reactor); err != nil {
		t.Fatal(err)
	}
	var above, se [1]float64
	r.Expect(reactor.Views.Slice(0, 1), factor.Step{T: 2.2, Below: 0, Above: 1}, above[:], se[:])
	problems.Near(t, "P(φ > T)", above[0], 0.151, 5e-4)
	table := decision.Table{{1, 0.01}, {0.9, 1}}
	problems.Near(t, "utility of leaving on", decision.Stakes{Table: table}.Expected(0, []float64{1 - above[0], above[0]}), 0.850, 5e-4)
	problems.Near(t, "utility of shutting down", decision.Stakes{Table: table}.Expected(1, []float64{1 - above[0], above[0]}), 0.915, 5e-4)
}

// TestMixtureOfTwentyTerms: the grid knows the answer of the largest mixture too.
func TestMixtureOfTwentyTerms(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	y := make([]float64, exact.MaxMixtureTerms)
	for i := range y {
		y[i] = 3 + rng.NormFloat64()
		if i%4 == 0 {
			y[i] = 20 * rng.NormFloat64()
		}
	}
	m := problems.Clutter(y...)
	r, err := exact.Mixture{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	g, err := exact.Grid{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d components, %.1g left out, log evidence %.6g", r.Components, r.Dropped, r.LogEvidence)
	problems.Near(t, "log evidence", r.LogEvidence, g.LogEvidence, 1e-10)
	one := m.Views.Slice(0, 1)
	var m1, v1, m2, v2 [1]float64
	r.Moments(one, m1[:], v1[:])
	g.Moments(one, m2[:], v2[:])
	problems.Near(t, "mean", m1[0], m2[0], 1e-9)
	problems.Near(t, "variance", v1[0], v2[0], 1e-9)
	if r.Dropped > 1e-12 {
		t.Errorf("left out %g of the probability", r.Dropped)
	}
}

// TestMixtureOfFarModes: measurements many prior standard deviations apart, narrow
// and wide, between which the posterior has to choose or divide itself.
func TestMixtureOfFarModes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 40 {
		m := problems.Clutter(40*rng.NormFloat64(), 40*rng.NormFloat64(), 3, 40*rng.NormFloat64())
		noise := math.Pow(10, -4*rng.Float64())
		for i, term := range m.Terms {
			c := term.(factor.Clutter)
			c.Noise, c.Variance = noise, 1e3
			m.Terms[i] = c
		}
		r, err := exact.Mixture{}.Fit(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		g := fitGrid(t, exact.Grid{}, m)
		one := m.Views.Slice(0, 1)
		var m1, v1, m2, v2 [1]float64
		r.Moments(one, m1[:], v1[:])
		g.Moments(one, m2[:], v2[:])
		problems.Near(t, "log evidence", r.LogEvidence, g.LogEvidence, 1e-9)
		problems.Near(t, "mean", m1[0], m2[0], 1e-8)
		problems.Near(t, "variance", v1[0], v2[0], 1e-7)
	}
}

// TestMixtureDensity: it is a density, and the one its moments belong to.
func TestMixtureDensity(t *testing.T) {
	m := problems.Clutter(0.1, 2.3)
	r, err := exact.Mixture{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	const n, reach = 6001, 90.0 // nine prior standard deviations
	f, p := make([]float64, n), make([]float64, n)
	h := 2 * reach / (n - 1)
	for k := range f {
		f[k] = -reach + h*float64(k)
	}
	infer.Density(r, m.Views, f, p)
	total, mean := 0.0, 0.0
	for k := range f {
		total += h * p[k]
		mean += h * p[k] * f[k]
	}
	problems.Near(t, "integral", total, 1, 1e-12)
	problems.Near(t, "mean", mean, 0.6371317, 5e-8)
}

func BenchmarkMixture(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{10, exact.MaxMixtureTerms} {
		m := problems.Clutter(problems.StandardNormals(rng, n)...)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := (exact.Mixture{}).Fit(ctx, m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The exact posterior of a quantity measured twice, where either measurement may be
// clutter.
func ExampleMixture() {
	view := mat.NewDense(2, 1, []float64{10, 10}) // prior variance 100
	model := &infer.Model{
		Views: gauss.NewViews(view, nil, nil),
		Terms: []factor.Factor{
			factor.Clutter{Y: 0.1, Weight: 0.5, Variance: 10, Noise: 1},
			factor.Clutter{Y: 2.3, Weight: 0.5, Variance: 10, Noise: 1},
		},
	}
	posterior, err := exact.Mixture{}.Fit(ctx, model)
	if err != nil {
		fmt.Println(err)
		return
	}
	var mean, variance [1]float64
	posterior.Moments(model.Views.Slice(0, 1), mean[:], variance[:])
	fmt.Printf("mean %.5f, variance %.4f, log evidence %.5f\n", mean[0], variance[0], posterior.LogEvidence)
	// Output:
	// mean 0.63713, variance 51.6018, log evidence -5.10547
}
