package exact_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/internal/problems"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/orthant"
)

// triangular is a model of n probit terms on views with a lower triangular A,
// offsets and residuals, so that the i-th view reads v_0 … v_i.
func triangular(rng *rand.Rand, n int) *infer.Model {
	a := mat.NewDense(n, n, nil)
	b, r := make([]float64, n), make([]float64, n)
	terms := make([]factor.Factor, n)
	for i := range n {
		for j := range i + 1 {
			a.Set(i, j, 2*rng.NormFloat64())
		}
		b[i], r[i] = rng.NormFloat64(), rng.Float64()
		terms[i] = factor.NewProbit(problems.DrawnLabel(rng, 0))
	}
	return &infer.Model{Views: gauss.NewViews(a, b, r), Terms: terms}
}

// nestedIntegral is the evidence of a triangular model by the trapezoidal rule in
// v_0, then v_1, …; the last is integrated in closed form. Probits of slope up to
// about 5 are smooth over 0.2, twice the spacing, and beyond ±8.5 lies 2e-17.
func nestedIntegral(m *infer.Model, v []float64) float64 {
	const reach, spacing = 8.5, 0.1
	i := len(v)
	mean := m.Views.Offset(i)
	for j, x := range v {
		mean += m.Views.Row(i)[j] * x
	}
	y, slope, w := m.Terms[i].(factor.Probit).Y, m.Views.Row(i)[i], 1+m.Views.Residual(i)
	if i == m.Views.Len()-1 {
		return normal.CDF(y * mean / math.Sqrt(w+slope*slope))
	}
	sum := 0.0
	for x := -reach; x <= reach; x += spacing {
		sum += normal.Density(x) * normal.CDF(y*(mean+slope*x)/math.Sqrt(w)) * nestedIntegral(m, append(v, x))
	}
	return spacing * sum
}

// TestExactEvidenceByIntegration compares with integrals over v, which share
// nothing with the orthant's.
func TestExactEvidenceByIntegration(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var z []float64
	for n := 1; n <= 4; n++ {
		repeats := 8
		if n == 4 {
			repeats = 2
		}
		for range repeats {
			m := triangular(rng, n)
			r, err := exact.Sampler{Draws: 10, Seed: rng.Uint64()}.Fit(ctx, m)
			if err != nil {
				t.Fatal(err)
			}
			want := math.Log(nestedIntegral(m, make([]float64, 0, n)))
			// Beside its standard error the log evidence may be off by rounding,
			// and in one dimension that is all.
			if d := math.Abs(r.LogEvidence - want); d > 6*r.LogEvidenceError+1e-12 {
				t.Errorf("n = %d: log evidence %.12g ± %.1g, by integration %.12g", n, r.LogEvidence, r.LogEvidenceError, want)
			}
			if n > 2 {
				z = append(z, (r.LogEvidence-want)/r.LogEvidenceError)
			}
		}
	}
	// Student's t with 15 degrees of freedom has variance 15/13; the band of the
	// mean square of ten is wide enough for that.
	problems.CheckMeanSquare(t, "log evidence", z)
}

// succession is n labels of which k are positive, all about one standard normal:
// AAᵀ + I = I + 11ᵀ, and p = Φ(v) is uniform. So the evidence is k!(n−k)!/(n+1)!
// and the probability of a further positive (k+1)/(n+2), Laplace's rule of
// succession.
func succession(n, k int) (m *infer.Model, logZ, next float64) {
	a := mat.NewDense(n, 1, nil)
	terms := make([]factor.Factor, n)
	for i := range n {
		a.Set(i, 0, 1)
		terms[i] = factor.Probit{Y: -1}
		if i < k {
			terms[i] = factor.Probit{Y: 1}
		}
	}
	lk, _ := math.Lgamma(float64(k + 1))
	lnk, _ := math.Lgamma(float64(n - k + 1))
	ln, _ := math.Lgamma(float64(n + 2))
	return &infer.Model{Views: gauss.NewViews(a, nil, nil), Terms: terms}, lk + lnk - ln, float64(k+1) / float64(n+2)
}

func TestExactRuleOfSuccession(t *testing.T) {
	var evidence, predictive []float64
	for i, c := range []struct{ n, k int }{{1, 1}, {2, 2}, {5, 5}, {5, 2}, {10, 10}, {10, 3}, {20, 20}, {20, 7}, {50, 50}, {50, 11}} {
		m, logZ, next := succession(c.n, c.k)
		r, err := exact.Sampler{Seed: uint64(i)}.Fit(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("n = %d, k = %d: log evidence %.6f ± %.1g, exact %.6f; acceptance %.2f", c.n, c.k, r.LogEvidence, r.LogEvidenceError, logZ, r.Acceptance)
		problems.Near(t, fmt.Sprintf("log evidence of %d in %d", c.k, c.n), r.LogEvidence, logZ, 6*r.LogEvidenceError+1e-12)
		if c.n > 2 {
			evidence = append(evidence, (r.LogEvidence-logZ)/r.LogEvidenceError)
		}
		var p, se [1]float64
		r.Expect(m.Views.Slice(0, 1), factor.Probit{Y: 1}, p[:], se[:])
		predictive = append(predictive, (p[0]-next)/se[0])
	}
	problems.CheckMeanSquare(t, "log evidence", evidence)
	problems.CheckMeanSquare(t, "predictive", predictive)
}

// TestExactMomentsAgainstGrid on the two-point problem.
func TestExactMomentsAgainstGrid(t *testing.T) {
	p, m := problems.TwoPoint(t)
	g, err := exact.Grid{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	at := problems.ViewsAt(p, -math.Sqrt2, 3, 20)
	n := at.Len()
	mean, variance, probability, none := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	g.Moments(at, mean, variance)
	g.Expect(at, factor.Probit{Y: 1}, probability, none)
	const seeds = 20
	z := map[string][]float64{}
	var offBy, claimed []float64 // of the log evidence
	for seed := range uint64(seeds) {
		r, err := exact.Sampler{Seed: seed, Draws: 2000}.Fit(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		a, b, ea, eb := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		i := int(seed) % (n - 1) // the last view, far away, is checked below
		r.Moments(at, a, b)
		r.MomentErrors(at, ea, eb)
		z["mean"] = append(z["mean"], (a[i]-mean[i])/ea[i])
		z["variance"] = append(z["variance"], (b[i]-variance[i])/eb[i])
		offBy = append(offBy, r.LogEvidence-g.LogEvidence)
		claimed = append(claimed, r.LogEvidenceError)
		r.Expect(at, factor.Probit{Y: 1}, a, ea)
		z["probability"] = append(z["probability"], (a[i]-probability[i])/ea[i])
		// The clutter term stands for factors without a fast path.
		c := factor.Clutter{Y: 1, Weight: 0.1, Variance: 4, Noise: 0.5}
		g.Expect(at, c, none, eb)
		r.Expect(at, c, a, ea)
		z["other factor"] = append(z["other factor"], (a[i]-none[i])/ea[i])
		// Where the data say nothing there is nothing left to be uncertain about.
		r.Expect(at, factor.Probit{Y: 1}, a, ea)
		problems.Near(t, "probability far away", a[2], 0.5, 1e-9)
	}
	for what, scores := range z {
		problems.CheckMeanSquare(t, what, scores)
	}
	// In two dimensions the errors of single randomisations are skewed, so that a
	// small scatter and a large error come together; the root mean squares agree.
	ratio := floats.Norm(offBy, 2) / floats.Norm(claimed, 2)
	t.Logf("log evidence: error over standard error %.2f", ratio)
	if !(ratio > 0.5 && ratio < 2) {
		t.Errorf("log evidence: errors are %.2g times the standard errors", ratio)
	}
}

// TestExactPredictiveIsARatioOfEvidences: P(y = 1 | x) = Φ_{N+1}/Φ_N, two orthant
// probabilities, against the average over draws.
func TestExactPredictiveIsARatioOfEvidences(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var z []float64
	for range 8 {
		p, m := problems.DrawnProcess(t, rng, 15, math.Exp(3), math.E)
		at := problems.ViewsAt(p, 20*rng.Float64()-10)
		more := mat.NewDense(16, 15, nil)
		r := make([]float64, 16)
		for i := range 15 {
			more.SetRow(i, m.Views.Row(i))
		}
		more.SetRow(15, at.Row(0))
		r[15] = at.Residual(0)
		extended := &infer.Model{Views: gauss.NewViews(more, nil, r), Terms: append(m.Terms[:15:15], factor.Probit{Y: 1})}
		without, err := exact.Sampler{Seed: rng.Uint64(), EvidencePoints: 1 << 14}.Fit(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		with, err := exact.Sampler{Seed: rng.Uint64(), EvidencePoints: 1 << 14, Draws: 2}.Fit(ctx, extended)
		if err != nil {
			t.Fatal(err)
		}
		var value, se [1]float64
		without.Expect(at, factor.Probit{Y: 1}, value[:], se[:])
		ratio := math.Exp(with.LogEvidence - without.LogEvidence)
		z = append(z, (value[0]-ratio)/math.Hypot(se[0], ratio*math.Hypot(with.LogEvidenceError, without.LogEvidenceError)))
	}
	problems.CheckMeanSquare(t, "predictive", z)
}

// TestExactOutOfReach: a rough process with many labels has no independent draws.
func TestExactOutOfReach(t *testing.T) {
	_, m := problems.DrawnProcess(t, rand.New(rand.NewPCG(1, 1)), 300, math.Exp(3), 0.3)
	_, err := exact.Sampler{Draws: 64}.Fit(ctx, m)
	var low *orthant.AcceptanceError
	if !errors.As(err, &low) {
		t.Fatalf("error %v, want an AcceptanceError", err)
	}
}

// TestExactOnNearlyRepeatedInputs: a covariance that is singular to working
// precision and of large variance loses no accuracy that matters.
func TestExactOnNearlyRepeatedInputs(t *testing.T) {
	// Ten labels at one place: with variance s² the latent value there is s·v, so
	// the problem is one-dimensional and the grid answers it.
	const s = 1e3
	p, m := problems.DrawnProcess(t, rand.New(rand.NewPCG(3, 1)), 10, s*s, 1e7)
	r, err := exact.Sampler{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	one := &infer.Model{Views: gauss.NewViews(mat.NewDense(10, 1, []float64{s, s, s, s, s, s, s, s, s, s}), nil, nil), Terms: m.Terms}
	g, err := exact.Grid{}.Fit(ctx, one)
	if err != nil {
		t.Fatal(err)
	}
	problems.Near(t, "log evidence", r.LogEvidence, g.LogEvidence, 5*r.LogEvidenceError+1e-6)
	var m1, v1, m2, v2, e1, e2 [1]float64
	r.Moments(problems.ViewsAt(p, 0), m1[:], v1[:])
	r.MomentErrors(problems.ViewsAt(p, 0), e1[:], e2[:])
	g.Moments(one.Views.Slice(0, 1), m2[:], v2[:])
	problems.Near(t, "mean", m1[0], m2[0], 5*e1[0])
	problems.Near(t, "variance", v1[0], v2[0], 5*e2[0])
}

// TestErrorOfEPBySize reports, and does not judge, how far expectation propagation
// is from the truth.
func TestErrorOfEPBySize(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	points := make([]float64, 41)
	for j := range points {
		points[j] = -10 + 0.5*float64(j)
	}
	t.Log("  N   log Z error (± s.e.)    probability error: mean, largest (s.e. of one)")
	for _, n := range []int{2, 5, 15, 40, 80} {
		p, m := problems.DrawnProcess(t, rng, n, math.Exp(3), math.E)
		e, err := exact.Sampler{Seed: 1, Draws: 4000}.Fit(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		ep, err := infer.EP{}.Fit(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		at := problems.ViewsAt(p, points...)
		want, se, got, zero := make([]float64, 41), make([]float64, 41), make([]float64, 41), make([]float64, 41)
		e.Expect(at, factor.Probit{Y: 1}, want, se)
		infer.Gaussian{Gaussian: ep.Q}.Expect(at, factor.Probit{Y: 1}, got, zero)
		mean, most, error := 0.0, 0.0, 0.0
		for j := range want {
			d := math.Abs(got[j] - want[j])
			mean += d / 41
			most = max(most, d)
			error = max(error, se[j])
		}
		t.Logf("%3d   %+.5f (%.5f)     %.5f  %.5f (%.5f)   %v", n, ep.LogEvidence-e.LogEvidence, e.LogEvidenceError, mean, most, error, ep.Status)
	}
}

// The exact posterior of three labels, and how sure its answers are.
func ExampleSampler() {
	a := mat.NewDense(3, 1, []float64{1, 1, 1})
	model := &infer.Model{
		Views: gauss.NewViews(a, nil, nil),
		Terms: []factor.Factor{factor.Probit{Y: 1}, factor.Probit{Y: 1}, factor.Probit{Y: -1}},
	}
	posterior, err := exact.Sampler{Draws: 50_000, Seed: 1}.Fit(ctx, model)
	if err != nil {
		fmt.Println(err)
		return
	}
	var p, stderr [1]float64
	posterior.Expect(model.Views.Slice(0, 1), factor.Probit{Y: 1}, p[:], stderr[:])
	fmt.Printf("evidence %.4f (exact: 1/12)\n", math.Exp(posterior.LogEvidence))
	fmt.Printf("a further positive: %.2f (exact: 3/5), standard error below 0.001: %t\n", p[0], stderr[0] < 0.001)
	// Output:
	// evidence 0.0833 (exact: 1/12)
	// a further positive: 0.60 (exact: 3/5), standard error below 0.001: true
}
