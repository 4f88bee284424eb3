package methods_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/internal/problems"
	"github.com/lossep/lossep/methods"
)

var ctx = context.Background()

// indifferent is a utility that is worth the same whatever is done and comes.
type indifferent struct{ worth float64 }

func (indifferent) Select(actions []int, _, _ []float64) { clear(actions) }

func (u indifferent) LogMean(_ []int, _, _, d1, d2 []float64) float64 {
	clear(d1)
	clear(d2)
	return math.Log(u.worth)
}

// Every method of the table keeps the contract. On a regression, whose posterior is
// Gaussian, it finds that posterior and its evidence; the factor of a utility that does
// not care adds its logarithm.
func TestMethodsOnRegression(t *testing.T) {
	for _, dim := range []int{1, 2} {
		m, posterior, logZ := problems.Regression(t, rand.New(rand.NewPCG(4, 4)), 6, dim)
		m = withoutResiduals(m)
		want := infer.Gaussian{Gaussian: posterior}
		cared := *m
		cared.Utility, cared.Points = indifferent{0.3}, m.Views.Slice(0, 2)
		for _, d := range methods.List(nil) {
			o := methods.Options{Seed: 1}
			r, err := d.Fit(ctx, &cared, o)
			if err != nil || !r.Status.Converged {
				t.Errorf("%s in %d dimensions: %v %v", d.Name, dim, err, r)
				continue
			}
			tolerance, evidence := 1e-6, logZ // corrections integrate to 1e-7
			if d.Calibrated {
				evidence += math.Log(0.3)
			}
			if draws, ok := r.Posterior.(*exact.Draws); ok {
				var mean, variance [6]float64
				draws.MomentErrors(m.Views, mean[:], variance[:])
				tolerance = 5 * max(floats.Max(mean[:]), floats.Max(variance[:]))
			}
			var mean, variance, wantMean, wantVariance [6]float64
			r.Moments(m.Views, mean[:], variance[:])
			want.Moments(m.Views, wantMean[:], wantVariance[:])
			if !floats.EqualApprox(mean[:], wantMean[:], tolerance) || !floats.EqualApprox(variance[:], wantVariance[:], tolerance) {
				t.Errorf("%s in %d dimensions: moments %v %v, want %v %v", d.Name, dim, mean, variance, wantMean, wantVariance)
			}
			if d.Name == "nuts" != math.IsNaN(r.LogEvidence) || !math.IsNaN(r.LogEvidence) && math.Abs(r.LogEvidence-evidence) > 1e-8 {
				t.Errorf("%s in %d dimensions: log evidence %v, want %v", d.Name, dim, r.LogEvidence, evidence)
			}
			checkSites(t, d, m, r)
		}
	}
}

// withoutResiduals is a regression with the residuals of its views in the noise, which is
// the same to all but VI: that averages over a residual after the logarithm.
func withoutResiduals(m *infer.Model) *infer.Model {
	n := m.Views.Len()
	a, b, terms := mat.NewDense(n, m.Dim(), nil), make([]float64, n), make([]factor.Factor, n)
	for i := range n {
		a.SetRow(i, m.Views.Row(i))
		b[i] = m.Views.Offset(i)
		term := m.Terms[i].(factor.Gaussian)
		term.Variance += m.Views.Residual(i)
		terms[i] = term
	}
	return &infer.Model{Views: gauss.NewViews(a, b, nil), Terms: terms}
}

// checkSites sees that the sites of a result make its Gaussian, as a file that keeps
// them relies on.
func checkSites(t *testing.T, d methods.Method, m *infer.Model, r *infer.Result) {
	t.Helper()
	if d.Kept && r.Q == nil {
		t.Errorf("%s is kept, and has no Gaussian", d.Name)
	}
	if r.Q == nil {
		return
	}
	n := gauss.NewNatural(m.Dim())
	n.SetPosterior(m.Views, r.Sites.Terms, new(gauss.Workspace))
	if c := r.Calibration(); c != nil {
		n.Times(c, 1)
	}
	if q := r.Q.Natural(); !floats.EqualApprox(n.H, q.H, 1e-8) || !mat.EqualApprox(n.P, q.P, 1e-8) {
		t.Errorf("%s: the sites do not make Q", d.Name)
	}
}

// The table is in order: names are unique, what one builds on is there, and a calibrated
// method without a utility says so.
func TestTableOfMethods(t *testing.T) {
	var names []string
	m, _, _ := problems.Regression(t, rand.New(rand.NewPCG(1, 8)), 4, 2)
	for _, d := range methods.List(nil) {
		if d.Name == "" || d.Label == "" || d.Title == "" || d.About == "" || slices.Contains(names, d.Name) {
			t.Errorf("%+v", d)
		}
		names = append(names, d.Name)
		of, ok := methods.Named(d.Of)
		if d.Of == "" && (d.Calibrated || d.Refines()) || d.Of != "" && (!ok || of.Calibrated || of.Refines()) {
			t.Errorf("%s builds on %q", d.Name, d.Of)
		}
		if d.Kept && d.Matrices <= 0 || d.Rule != nil && !d.Kept {
			t.Errorf("%s takes %d matrices; rule %v", d.Name, d.Matrices, d.Rule)
		}
		_, err := d.Fit(ctx, m, methods.Options{Draws: 100})
		if unsupported := new(infer.UnsupportedError); d.Calibrated != errors.As(err, &unsupported) {
			t.Errorf("%s without a utility: %v", d.Name, err)
		}
	}
	if _, ok := methods.Named("guess"); ok {
		t.Error("there is a method called guess")
	}
}

// What is called exact picks what is made for the model.
func TestExactPicks(t *testing.T) {
	d, _ := methods.Named("exact")
	_, classifier := problems.DrawnProcess(t, rand.New(rand.NewPCG(3, 3)), 5, 2, 3)
	clutter := &infer.Model{
		Views: gauss.NewViews(mat.NewDense(2, 1, []float64{1, 1}), nil, nil),
		Terms: []factor.Factor{factor.Clutter{Y: 1, Weight: 0.5, Variance: 10, Noise: 1}, factor.Probit{Y: 1}},
	}
	for name, m := range map[string]*infer.Model{"draws": classifier, "quadrature": clutter} {
		r, err := d.Fit(context.Background(), m, methods.Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		if _, draws := r.Posterior.(*exact.Draws); draws != (name == "draws") {
			t.Errorf("%s: %T", name, r.Posterior)
		}
	}
}
