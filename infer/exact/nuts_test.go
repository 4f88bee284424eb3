package exact_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/internal/problems"
	"github.com/lossep/lossep/nuts"
)

func fitNUTS(t testing.TB, o nuts.Options, m *infer.Model) *exact.NUTSResult {
	t.Helper()
	r, err := exact.NUTS{Options: o}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestNUTSAgainstExact compares predictive probabilities of random probit Gaussian
// processes, one view of each so that the z-scores are independent. They differ by
// what both standard errors allow, no more and no less.
func TestNUTSAgainstExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	z := make([]float64, *trials)
	for k := range z {
		n := 2 + rng.IntN(39)
		p, m := problems.DrawnProcess(t, rng, n, math.Exp(4*rng.Float64()), math.Exp(1.5*rng.Float64()-0.5))
		at := problems.ViewsAt(p, 20*rng.Float64()-10)
		e, err := exact.Sampler{Draws: 20_000, EvidencePoints: 16, Seed: rng.Uint64()}.Fit(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		s := fitNUTS(t, nuts.Options{Warmup: 300, Draws: 500, Seed: rng.Uint64()}, m)
		var p1, e1, p2, e2 [1]float64
		e.Expect(at, factor.Probit{Y: 1}, p1[:], e1[:])
		s.Expect(at, factor.Probit{Y: 1}, p2[:], e2[:])
		z[k] = (p2[0] - p1[0]) / math.Hypot(e1[0], e2[0])
	}
	problems.CheckMeanSquare(t, "NUTS against exact", z)
}

// TestNUTSIsRegression: under Gaussian factors moments and expectations are known.
func TestNUTSIsRegression(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	z := map[string][]float64{}
	for range *trials {
		m, q, _ := problems.Regression(t, rng, 2+rng.IntN(10), 1+rng.IntN(8))
		r := fitNUTS(t, nuts.Options{Warmup: 200, Draws: 400, Seed: rng.Uint64()}, m)
		n := m.Views.Len()
		mean, variance, errMean, errVar := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		r.Moments(m.Views, mean, variance)
		r.MomentErrors(m.Views, errMean, errVar)
		want, wantVar := make([]float64, n), make([]float64, n)
		infer.Gaussian{Gaussian: q}.Moments(m.Views, want, wantVar)
		z["mean"] = append(z["mean"], (mean[0]-want[0])/errMean[0])
		z["variance"] = append(z["variance"], (variance[0]-wantVar[0])/errVar[0])
		infer.Gaussian{Gaussian: q}.Expect(m.Views, factor.Probit{Y: 1}, want, wantVar)
		r.Expect(m.Views, factor.Probit{Y: 1}, mean, errMean)
		z["probability"] = append(z["probability"], (mean[0]-want[0])/errMean[0])
	}
	for what, scores := range z {
		problems.CheckMeanSquare(t, what, scores)
	}
}

// TestNUTSCalibration is simulation-based calibration (Talts et al. 2018): with v
// from the prior and labels given v, the rank of a function of v among its values at
// posterior draws is uniform. The functions are the latent value at a new input and
// the log-likelihood of the labels, which sees errors in all directions at once. The
// statistic is χ² over ten equal ranges of ranks.
func TestNUTSCalibration(t *testing.T) {
	const (
		labels = 8
		kept   = 19 // thinned draws, so that ranks 0 … 19 fall into ten pairs
		thin   = 16 // enough to leave no correlation at the ends of the ranks
		bins   = (kept + 1) / 2
	)
	rng := rand.New(rand.NewPCG(3, 3))
	functions := []string{"latent value", "log-likelihood"}
	counts := make([][bins]float64, len(functions))
	for range *calibrations {
		p, m := problems.DrawnProcess(t, rng, labels, math.Exp(3), math.E)
		at := problems.ViewsAt(p, 20*rng.Float64()-10)
		truth := problems.StandardNormals(rng, labels)
		f := make([]float64, labels)
		m.Views.At(f, truth)
		for i := range f {
			m.Terms[i] = factor.NewProbit(problems.DrawnLabel(rng, f[i]))
		}
		evaluate := func(v []float64) [2]float64 {
			var out [2]float64
			at.At(out[:1], v)
			m.Views.At(f, v)
			for i, term := range m.Terms {
				l, _, _ := term.Log(f[i])
				out[1] += l
			}
			return out
		}
		r := fitNUTS(t, nuts.Options{Chains: 1, Warmup: 200, Draws: kept * thin, Seed: rng.Uint64()}, m)
		want := evaluate(truth)
		var rank [2]int
		for k := range kept {
			got := evaluate(r.Centre(k * thin))
			for i := range rank {
				if got[i] < want[i] {
					rank[i]++
				}
			}
		}
		for i := range rank {
			counts[i][rank[i]/2]++
		}
	}
	limit := distuv.ChiSquared{K: bins - 1}.Quantile(0.9995)
	expected := float64(*calibrations) / bins
	for i, name := range functions {
		statistic := 0.0
		for _, c := range counts[i] {
			statistic += (c - expected) * (c - expected) / expected
		}
		t.Logf("%s: χ² = %.1f on %d degrees of freedom, limit %.1f; ranks %v", name, statistic, bins-1, limit, counts[i])
		if statistic > limit {
			t.Errorf("%s: ranks are not uniform, χ² = %.1f on %d degrees of freedom", name, statistic, bins-1)
		}
	}
}

// TestNUTSOnClutter: one mode, where the mixture is the truth, and two far apart,
// where chains disagree and the status has to say so.
func TestNUTSOnClutter(t *testing.T) {
	m := problems.Clutter(1.8, 2.2, 1.9, 2.6)
	truth, err := exact.Mixture{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	// Chains seldom cross from the narrow mode to the wide one where all is clutter,
	// so they have to be long.
	r := fitNUTS(t, nuts.Options{Draws: 5000, Seed: 1}, m)
	var want, zero, got, se [1]float64
	truth.Expect(m.Views.Slice(0, 1), factor.Step{T: 2, Below: 0, Above: 1}, want[:], zero[:])
	r.Expect(m.Views.Slice(0, 1), factor.Step{T: 2, Below: 0, Above: 1}, got[:], se[:])
	problems.Near(t, "P(φ > 2)", got[0], want[0], 4*se[0])

	far := problems.Clutter(-30, -30.1, 30, 30.1)
	apart := fitNUTS(t, nuts.Options{Seed: 2}, far)
	if apart.Status.Converged {
		t.Error("chains in two modes 60 standard deviations apart are said to have converged")
	}
	found := false
	for _, w := range apart.Diagnostics.Warnings {
		found = found || w.Kind == nuts.HighRHat
	}
	if !found || apart.Status.Residual < 0.1 {
		t.Errorf("R̂ − 1 = %g for chains in two modes; warnings %v", apart.Status.Residual, apart.Diagnostics.Warnings)
	}
}

// TestNUTSWithUtility: the utility-weighted posterior against the grid's.
func TestNUTSWithUtility(t *testing.T) {
	p, m := problems.TwoPoint(t)
	m.Points = problems.ViewsAt(p, -6, -3, 0, 1, 5)
	u, err := decision.NewUtility(decision.Probit(), 5, nil, decision.Table{{1, 0}, {0, 0.2}})
	if err != nil {
		t.Fatal(err)
	}
	m.Utility = u
	plain := fitGrid(t, exact.Grid{}, m)
	actions, _ := bestActions(plain, u, m.Points)
	g := fitGrid(t, exact.Grid{Actions: actions}, m)
	var o exact.NUTS
	o.Seed, o.Draws, o.Actions = 1, 4000, actions
	r, err := o.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Status.Converged {
		t.Error(r.Status)
	}
	mean, variance, em, ev := make([]float64, 2), make([]float64, 2), make([]float64, 2), make([]float64, 2)
	gm, gv, pm, pv := make([]float64, 2), make([]float64, 2), make([]float64, 2), make([]float64, 2)
	r.Moments(m.Views, mean, variance)
	r.MomentErrors(m.Views, em, ev)
	g.Moments(m.Views, gm, gv)
	plain.Moments(m.Views, pm, pv)
	for i := range mean {
		problems.Near(t, "mean", mean[i], gm[i], 4*em[i])
		problems.Near(t, "variance", variance[i], gv[i], 4*ev[i])
	}
	// The test would be empty if the utility moved nothing.
	if floats.EqualApprox(gm, pm, 5*em[0]) {
		t.Errorf("means with the utility %v and without %v are too close to tell apart", gm, pm)
	}
}

// TestNUTSSaysWhenDrawsAreTooFew: the status of a run that is too short.
func TestNUTSSaysWhenDrawsAreTooFew(t *testing.T) {
	_, m := problems.TwoPoint(t)
	r := fitNUTS(t, nuts.Options{Warmup: 20, Draws: 20}, m)
	if r.Status.Converged || r.Status.Reason == "" {
		t.Errorf("status %v after 20 draws", r.Status)
	}
}

// TestNUTSStartsWhereItIsTold: starting points are values of v, whatever the
// coordinates the chains move in, and a wrong number of them is an error.
func TestNUTSStartsWhereItIsTold(t *testing.T) {
	_, m := problems.TwoPoint(t)
	if _, err := (exact.NUTS{Options: nuts.Options{Chains: 1, Init: [][]float64{{1}}}}).Fit(ctx, m); err == nil {
		t.Error("a starting point of one coordinate in two dimensions was taken")
	}
	// Two modes far apart: a chain stays in the one where it starts.
	far := problems.Clutter(-30, -30.1, 30, 30.1)
	for _, start := range []float64{-3, 3} { // in v, a tenth of what the views read
		r := fitNUTS(t, nuts.Options{Chains: 2, Draws: 50, Warmup: 100, Init: [][]float64{{start}, {start}}}, far)
		var mean, variance [1]float64
		r.Moments(far.Views.Slice(0, 1), mean[:], variance[:])
		problems.Near(t, "mean", mean[0], 10*start, 1)
	}
}

func BenchmarkNUTS(b *testing.B) {
	for _, n := range []int{15, 100} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			_, m := problems.DrawnProcess(b, rand.New(rand.NewPCG(1, 1)), n, math.Exp(3), math.E)
			ess := 0.0
			for seed := uint64(0); b.Loop(); seed++ {
				r := fitNUTS(b, nuts.Options{Seed: seed}, m)
				least := math.Inf(1)
				for _, c := range r.Diagnostics.Coordinates {
					least = min(least, c.BulkESS)
				}
				ess += least
			}
			b.ReportMetric(ess/b.Elapsed().Seconds(), "ESS/s")
		})
	}
}

func BenchmarkExactDraws(b *testing.B) {
	for _, c := range []struct {
		n     int
		scale float64
	}{{15, math.E}, {100, math.E}, {100, 1}} {
		b.Run(fmt.Sprintf("n=%d/scale=%.1f", c.n, c.scale), func(b *testing.B) {
			_, m := problems.DrawnProcess(b, rand.New(rand.NewPCG(1, 1)), c.n, math.Exp(3), c.scale)
			const draws = 20_000
			for seed := uint64(0); b.Loop(); seed++ {
				if _, err := (exact.Sampler{Draws: draws, EvidencePoints: 16, Seed: seed}).Fit(ctx, m); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(draws*float64(b.N)/b.Elapsed().Seconds(), "draws/s")
		})
	}
}

// BenchmarkExpect asks for a thousand predictive probabilities from 10,000 draws.
func BenchmarkExpect(b *testing.B) {
	for _, n := range []int{15, 100} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			p, m := problems.DrawnProcess(b, rand.New(rand.NewPCG(1, 1)), n, math.Exp(3), math.E)
			r, err := exact.Sampler{Draws: 10_000, EvidencePoints: 16}.Fit(ctx, m)
			if err != nil {
				b.Fatal(err)
			}
			x := make([]float64, 1000)
			for j := range x {
				x[j] = -10 + 0.02*float64(j)
			}
			at := problems.ViewsAt(p, x...)
			value, stderr := make([]float64, 1000), make([]float64, 1000)
			for b.Loop() {
				r.Expect(at, factor.Probit{Y: 1}, value, stderr)
			}
		})
	}
}

// A posterior without exact form, by several chains that say whether they agree.
func ExampleNUTS() {
	view := mat.NewDense(3, 1, []float64{1, 1, 1})
	model := &infer.Model{
		Views: gauss.NewViews(view, nil, nil),
		Terms: []factor.Factor{factor.Probit{Y: 1}, factor.Probit{Y: 1}, factor.Gaussian{Y: 0.5, Variance: 1}},
	}
	posterior, err := exact.NUTS{Options: nuts.Options{Seed: 1}}.Fit(ctx, model)
	if err != nil {
		fmt.Println(err)
		return
	}
	var p, stderr [1]float64
	posterior.Expect(model.Views.Slice(0, 1), factor.Probit{Y: 1}, p[:], stderr[:])
	fmt.Printf("P(y = 1) = %.1f, standard error below 0.01: %t\n", p[0], stderr[0] < 0.01)
	fmt.Println(posterior.Status)
	// Output:
	// P(y = 1) = 0.7, standard error below 0.01: true
	// converged in 4000 sweeps
}
