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
)

func fitGrid(t testing.TB, g exact.Grid, m *infer.Model) *infer.Result {
	t.Helper()
	r, err := g.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Status.Converged {
		t.Error("grid:", r.Status)
	}
	return r
}

// TestGridTwoPoint reaches theory's exact row.
func TestGridTwoPoint(t *testing.T) {
	_, m := problems.TwoPoint(t)
	r := fitGrid(t, exact.Grid{}, m)
	mean, variance, cov := problems.PairMoments(r, m.Views)
	problems.Near(t, "first mean", mean[0], -2.3308915, 6e-8)
	problems.Near(t, "second mean", mean[1], 2.3308915, 6e-8)
	problems.Near(t, "variance", variance[0], 4.7897857, 6e-8)
	problems.Near(t, "covariance", cov, 0.9083446, 6e-8)
	problems.Near(t, "log evidence", r.LogEvidence, -1.8548257, 6e-8)
}

// bestActions are the actions with the highest expected utility under a posterior.
func bestActions(p infer.Posterior, u *decision.Utility, points *gauss.Views) (actions []int, utility float64) {
	n := points.Len()
	up, se := make([]float64, n), make([]float64, n)
	p.Expect(points, u.Outcome()[1], up, se)
	actions = make([]int, n)
	for j := range actions {
		table := u.Table(j)
		odds := []float64{1 - up[j], up[j]}
		actions[j] = decision.Stakes{Table: table}.Best(odds, -1)
		utility += decision.Stakes{Table: table}.Expected(actions[j], odds) / float64(n)
	}
	return actions, utility
}

// TestGridUtilityWeighted reaches theory's row for the posterior weighted by the
// utility of the optimal actions, p(x) uniform on 201 points of [−10, 10].
func TestGridUtilityWeighted(t *testing.T) {
	p, m := problems.TwoPoint(t)
	x := make([]float64, 201)
	for j := range x {
		x[j] = -10 + 0.1*float64(j)
	}
	m.Points = problems.ViewsAt(p, x...)
	u, err := decision.NewUtility(decision.Probit(), len(x), nil, decision.Table{{1, 0}, {0.5, 1}})
	if err != nil {
		t.Fatal(err)
	}
	m.Utility = u
	plain := fitGrid(t, exact.Grid{}, m)
	actions, utility := bestActions(plain, u, m.Points)
	problems.Near(t, "optimal expected utility", utility, 0.7943744, 6e-8)
	r := fitGrid(t, exact.Grid{Actions: actions}, m)
	// The evidence with the utility is that without times the expected utility.
	problems.Near(t, "ratio of evidences", math.Exp(r.LogEvidence-plain.LogEvidence), utility, 1e-11)
	mean, variance, cov := problems.PairMoments(r, m.Views)
	problems.Near(t, "first mean", mean[0], -2.396374, 6e-7)
	problems.Near(t, "second mean", mean[1], 2.399312, 6e-7)
	problems.Near(t, "first variance", variance[0], 4.759524, 6e-7)
	problems.Near(t, "covariance", cov, 0.943324, 6e-7)
	problems.Near(t, "second variance", variance[1], 4.815078, 6e-7)
}

// TestGridIsRegression: under Gaussian factors the answer is known in closed form.
func TestGridIsRegression(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for k := range 12 {
		m, q, logZ := problems.Regression(t, rng, 1+rng.IntN(5), 1+k%2)
		checkRegression(t, m, q, logZ)
	}
}

func checkRegression(t *testing.T, m *infer.Model, q *gauss.Gaussian, logZ float64) {
	t.Helper()
	r := fitGrid(t, exact.Grid{}, m)
	n := m.Views.Len()
	a, b, c, d := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	r.Moments(m.Views, a, b)
	infer.Gaussian{Gaussian: q}.Moments(m.Views, c, d)
	// The quadrature stops at a change of 1e-10 in units of the posterior, and the
	// evidence carries rounding in proportion.
	problems.Near(t, "log evidence", r.LogEvidence, logZ, 1e-9+1e-13*math.Abs(logZ))
	for i := range a {
		problems.Near(t, "mean", a[i], c[i], 1e-9*math.Max(1, math.Abs(c[i])))
		problems.Near(t, "variance", b[i], d[i], 1e-8*d[i])
	}
}

// TestGridFindsNarrowPosteriors: far outside the prior, a hundred thousandth wide,
// or a ridge across both axes.
func TestGridFindsNarrowPosteriors(t *testing.T) {
	for _, c := range []struct {
		name  string
		a     []float64
		y     []float64
		noise float64
	}{
		{"far", []float64{1}, []float64{100}, 1e-4},
		{"narrow", []float64{1}, []float64{0.123456}, 1e-10},
		{"ridge", []float64{1, 1}, []float64{3}, 1e-8},
		{"far and narrow in the plane", []float64{1, 1, 1, -2}, []float64{30, -50}, 1e-6},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := len(c.y)
			m := &infer.Model{Views: gauss.NewViews(mat.NewDense(n, len(c.a)/n, c.a), nil, nil)}
			natural := gauss.NewNatural(m.Dim())
			natural.SetStandard()
			logZ := 0.0
			for i, y := range c.y {
				m.Terms = append(m.Terms, factor.Gaussian{Y: y, Variance: c.noise})
				natural.TimesScalar(m.Views.Row(i), gauss.ScalarFromMoments(y, c.noise), 1)
				logZ -= 0.5 * (math.Log(2*math.Pi*c.noise) + y*y/c.noise)
			}
			q := gauss.NewGaussian(m.Dim())
			if err := q.Exchange(natural); err != nil {
				t.Fatal(err)
			}
			r := fitGrid(t, exact.Grid{}, m)
			// The closed form cancels y²/noise, so it is the less accurate one.
			problems.Near(t, "log evidence", r.LogEvidence, logZ+q.LogPartition(), 1e-9+1e-14*math.Abs(c.y[0]*c.y[0]/c.noise))
			a, b, e, d := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
			r.Moments(m.Views, a, b)
			infer.Gaussian{Gaussian: q}.Moments(m.Views, e, d)
			for i := range a {
				problems.Near(t, "mean", a[i], e[i], 1e-6*math.Sqrt(d[i])+1e-13*math.Abs(e[i]))
				problems.Near(t, "variance", b[i], d[i], 1e-6*d[i])
			}
		})
	}
}

// TestGridSaysWhenItDoesNotSettle: a jump in the density is not integrated to the
// tolerance, and the status says so.
func TestGridSaysWhenItDoesNotSettle(t *testing.T) {
	one := gauss.NewViews(mat.NewDense(1, 1, []float64{1}), nil, nil)
	m := &infer.Model{Views: one, Terms: []factor.Factor{factor.Step{T: 0.3, Below: 1, Above: 2}}}
	r, err := exact.Grid{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	if r.Status.Converged || r.Status.Reason == "" {
		t.Errorf("status %v for a density with a jump", r.Status)
	}
	want, _, _ := m.Terms[0].LogMean(0, 1)
	problems.Near(t, "log evidence", r.LogEvidence, want, 1e-3)
}

func BenchmarkGrid(b *testing.B) {
	_, m := problems.TwoPoint(b)
	for b.Loop() {
		fitGrid(b, exact.Grid{}, m)
	}
}

// The exact posterior of two labels of opposite sign.
func ExampleGrid() {
	model := &infer.Model{
		Views: gauss.NewViews(mat.NewDense(2, 2, []float64{2, 0, 1, 1}), nil, nil),
		Terms: []factor.Factor{factor.Probit{Y: 1}, factor.Probit{Y: -1}},
	}
	posterior, err := exact.Grid{}.Fit(ctx, model)
	if err != nil {
		fmt.Println(err)
		return
	}
	mean, variance := make([]float64, 2), make([]float64, 2)
	posterior.Moments(model.Views, mean, variance)
	fmt.Printf("log evidence %.6f\nmeans %.6f\nvariances %.6f\n", posterior.LogEvidence, mean, variance)
	// Output:
	// log evidence -1.810109
	// means [0.773028 -0.317271]
	// variances [1.369200 0.804524]
}
