package gp_test

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/problems"
	"github.com/lossep/lossep/kernel"
)

// fit runs EP and fails the test when it does not converge.
func fit(t *testing.T, ep infer.EP, m *infer.Model) *infer.EPResult {
	t.Helper()
	r, err := ep.Fit(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Status.Converged {
		t.Fatal(r.Status)
	}
	return r
}

// near fails unless got is want to the digits printed in the source of want.
func near(t *testing.T, what string, got, want, digits float64) {
	t.Helper()
	if !(math.Abs(got-want) <= digits) {
		t.Errorf("%s = %.9f, want %.9f to %g", what, got, want, digits)
	}
}

// moments are the mean and covariance of the values at two inputs.
func moments(q *gauss.Gaussian, v *gauss.Views) (m0, m1, c00, c01, c11 float64) {
	var ws gauss.Workspace
	mean, variance := make([]float64, 2), make([]float64, 2)
	q.Marginals(v, mean, variance, &ws)
	c := mat.NewSymDense(2, nil)
	q.Cross(v, c, &ws)
	return mean[0], mean[1], c.At(0, 0), c.At(0, 1), c.At(1, 1)
}

// twoPoints is the paper's two-point data: x = ∓√2, y = ∓1, σ² = e³, ℓ = e.
func twoPoints(t *testing.T) (*gp.Process, *infer.Model) {
	t.Helper()
	p, err := gp.New(kernel.RBF(math.Exp(3), math.E), mat.NewDense(2, 1, []float64{-math.Sqrt2, math.Sqrt2}))
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Classify([]int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	if p.Jitter() != 0 {
		t.Errorf("two well separated points need no jitter, got %v", p.Jitter())
	}
	return p, m
}

// The EP row of the two-point table, computed by an independent program.
func TestTwoPointsEP(t *testing.T) {
	for _, s := range []infer.Schedule{infer.Sequential, infer.Parallel} {
		_, m := twoPoints(t)
		r := fit(t, infer.EP{Schedule: s}, m)
		m0, m1, c00, c01, c11 := moments(r.Q, m.Views)
		near(t, "mean 0", m0, -2.3326463, 5e-8)
		near(t, "mean 1", m1, 2.3326463, 5e-8)
		near(t, "variance 0", c00, 4.8172040, 5e-8)
		near(t, "variance 1", c11, 4.8172040, 5e-8)
		near(t, "covariance", c01, 0.9750557, 5e-8)
		near(t, "log Z", r.LogEvidence, -1.8539174, 5e-8)
	}
}

// grid201 are the 201 equally spaced points of [−10, 10] that stand for p(x).
func grid201() *mat.Dense {
	z := mat.NewDense(201, 1, nil)
	for j := range 201 {
		z.Set(j, 0, float64(j-100)/10)
	}
	return z
}

// Loss-EP on the two-point data, computed by an independent program.
func TestTwoPointsLossEP(t *testing.T) {
	for _, ep := range []infer.EP{{}, {Damping: 0.5}, {Schedule: infer.Parallel}} {
		p, m := twoPoints(t)
		u, err := decision.NewUtility(decision.Probit(), 201, nil, decision.Table{{1, 0}, {0.5, 1}})
		if err != nil {
			t.Fatal(err)
		}
		m.Utility, m.Points = u, p.At(grid201())
		r := fit(t, ep, m)
		m0, m1, c00, c01, c11 := moments(r.Q, m.Views)
		near(t, "q mean 0", m0, -2.305862, 5e-7)
		near(t, "q mean 1", m1, 2.321192, 5e-7)
		near(t, "q variance 0", c00, 4.916460, 5e-7)
		near(t, "q covariance", c01, 1.017514, 5e-7)
		near(t, "q variance 1", c11, 4.934267, 5e-7)
		m0, m1, c00, c01, c11 = moments(r.Tilted, m.Views)
		near(t, "q̄ mean 0", m0, -2.391384, 5e-7)
		near(t, "q̄ mean 1", m1, 2.398337, 5e-7)
		near(t, "q̄ variance 0", c00, 4.752936, 5e-7)
		near(t, "q̄ covariance", c01, 1.006006, 5e-7)
		near(t, "q̄ variance 1", c11, 4.839483, 5e-7)
	}
}

// On the symmetric problem with a point at 0 the actions there tie exactly. The run
// must end, and say how.
func TestTwoPointsTie(t *testing.T) {
	p, m := twoPoints(t)
	u, err := decision.NewUtility(decision.Probit(), 201, nil, decision.Table{{1, 0}, {0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	m.Utility, m.Points = u, p.At(grid201())
	r := fit(t, infer.EP{}, m)
	for j, a := range r.Sites.Actions {
		if j != 100 && (a == 1) != (j > 100) {
			t.Errorf("point %v: action %d", float64(j-100)/10, a)
		}
	}
}

func fivePoints(t *testing.T, logs []float64) (*gp.Process, *infer.Model) {
	t.Helper()
	x := mat.NewDense(5, 2, []float64{-1.07932, -1.83544, 1.15768, 2.91702, 3.26631, -3.85663, 1.79009, 0.11949, -3.66051, 1.75159})
	p, err := gp.New(kernel.RBF(1, 1).With(logs), x)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Classify([]int{0, 1, 1, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	return p, m
}

// Five points in the plane, from Shogun's tests, where GPML made the numbers.
func TestFivePoints(t *testing.T) {
	p, m := fivePoints(t, []float64{2 * math.Log(1.5), math.Log(2)})
	r := fit(t, infer.EP{}, m)
	near(t, "−log Z", -r.LogEvidence, 3.38359489, 5e-9)
	mean, variance := make([]float64, 5), make([]float64, 5)
	infer.Gaussian{Gaussian: r.Q}.Moments(m.Views, mean, variance)
	for i, want := range []float64{-0.8824857, 1.1326122, 1.0160338, 1.0791577, -1.0163779} {
		near(t, "mean", mean[i], want, 5e-8)
	}
	g := p.EvidenceGradient(r, nil)
	near(t, "∂(−log Z)/∂log σ", -2*g[0], -0.0538024, 5e-8)
	near(t, "∂(−log Z)/∂log ℓ", -g[1], -0.0552143, 5e-8)
}

// The gradient of the evidence against finite differences of refitted evidences,
// whose error is that of the differences: about 1e-9 with a step of 1e-4.
func TestEvidenceGradient(t *testing.T) {
	logs := []float64{0.3, 0.9}
	evidence := func(logs []float64) float64 {
		_, m := fivePoints(t, logs)
		return fit(t, infer.EP{Tolerance: 1e-12}, m).LogEvidence
	}
	want := fd.Gradient(nil, evidence, logs, &fd.Settings{Formula: fd.Central, Step: 1e-4})
	p, m := fivePoints(t, logs)
	got := p.EvidenceGradient(fit(t, infer.EP{Tolerance: 1e-12}, m), nil)
	for k := range want {
		near(t, p.Kernel().ParamNames()[k], got[k], want[k], 1e-8)
	}
}

// Duplicated inputs make the kernel's matrix singular: jitter is chosen and
// reported, and the answer is that of the model in which the two inputs are one.
func TestDuplicates(t *testing.T) {
	x := mat.NewDense(4, 1, []float64{-1, 1, 1, 2})
	p, err := gp.New(kernel.RBF(2, 1), x)
	if err != nil {
		t.Fatal(err)
	}
	if !(p.Jitter() > 0 && p.Jitter() < 1e-9) {
		t.Errorf("jitter %v", p.Jitter())
	}
	m, err := p.Classify([]int{0, 1, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	r := fit(t, infer.EP{}, m)
	mean, variance := make([]float64, 4), make([]float64, 4)
	infer.Gaussian{Gaussian: r.Q}.Moments(m.Views, mean, variance)
	// The two may differ by what the jitter allows.
	near(t, "mean at the same input", mean[1], mean[2], 1e-9)
	near(t, "variance at the same input", variance[1], variance[2], 1e-9)
}

// A new input that is one of the data sees what the data see.
func TestAtInputs(t *testing.T) {
	p, m := fivePoints(t, []float64{0.8, 0.7})
	r := fit(t, infer.EP{}, m)
	q := infer.Gaussian{Gaussian: r.Q}
	var m1, v1, m2, v2 [5]float64
	q.Moments(p.Views(), m1[:], v1[:])
	q.Moments(p.At(p.Inputs()), m2[:], v2[:])
	for i := range m1 {
		near(t, "mean", m2[i], m1[i], 1e-12)
		near(t, "variance", v2[i], v1[i], 1e-12)
	}
}

func TestLabels(t *testing.T) {
	p, _ := twoPoints(t)
	for _, labels := range [][]int{{1}, {-1, 1}, {1, 2}} {
		if _, err := p.Classify(labels); err == nil {
			t.Errorf("labels %v: no error", labels)
		}
	}
}

// The gradient of the evidence for every kernel and likelihood against differences
// of refitted evidences. Five points with a step of 2e-4 have an error of 5e-17 of the
// fifth derivative, which is 1e6 for a periodic kernel of many periods; evidences are
// of the second order in sites converged to 1e-11, so that rounding is left: 1e-14/2e-4.
func TestEvidenceGradients(t *testing.T) {
	formula := fd.Formula{
		Stencil:    []fd.Point{{Loc: -2, Coeff: 1. / 12}, {Loc: -1, Coeff: -8. / 12}, {Loc: 1, Coeff: 8. / 12}, {Loc: 2, Coeff: -1. / 12}},
		Derivative: 1, Step: 2e-4,
	}
	x, y := problems.Cloud(14, 2, 1)
	for _, text := range problems.Forms {
		for name, label := range problems.Likelihoods {
			t.Run(text+"/"+name, func(t *testing.T) {
				k := problems.Parse(t, text, 2)
				settled := func(logs []float64) (*gp.Process, *infer.EPResult) {
					p, err := gp.New(k.With(logs), x)
					if err != nil {
						t.Fatal(err)
					}
					m := &infer.Model{Views: p.Views(), Terms: problems.Terms(y, label)}
					return p, fit(t, infer.EP{Tolerance: 1e-11}, m)
				}
				logs := k.Params(nil)
				want := fd.Gradient(nil, func(logs []float64) float64 {
					_, r := settled(logs)
					return r.LogEvidence
				}, logs, &fd.Settings{Formula: formula})
				p, r := settled(logs)
				for i, got := range p.EvidenceGradient(r, nil) {
					near(t, k.ParamNames()[i], got, want[i], 1e-8*(1+math.Abs(want[i])))
				}
			})
		}
	}
}
