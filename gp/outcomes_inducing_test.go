package gp_test

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/pass"
)

// apart settles outcomes seen from inducing points z, with a posterior for each function by itself.
func apart(t testing.TB, k kernel.Kernel, x, z *mat.Dense, o gp.Terms, rule infer.Rule) (*gp.Inducing, gp.Engine, *pass.Result, float64) {
	t.Helper()
	p, err := gp.NewInducing(k, z)
	if err != nil {
		t.Fatal(err)
	}
	e := gp.NewEngine(p, p.Shards(x, o, &gp.ViewBuffer{Bytes: 1 << 30}, 0), nil)
	r, err := pass.Settle(context.Background(), e, pass.Settings{Rule: rule, Tolerance: 1e-9})
	if err != nil || !r.Status.Converged {
		t.Fatalf("%v: %v, %v", k, err, r)
	}
	sums, err := e.Look(context.Background(), r.Q.Naturals(), pass.Options{Rule: rule}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, e, r, pass.Objective(rule, r.Q, sums.Value)
}

// apartAt are the probabilities of the outcomes at one input.
func apartAt(p *gp.Inducing, q gauss.Gaussians, at []float64) []float64 {
	views := p.At(mat.NewDense(1, len(at), at))
	mean, variance, out := make([]float64, len(q)), make([]float64, len(q)), make([]float64, len(q))
	for c, one := range q {
		one.Predict(views, mean[c:c+1], variance[c:c+1], new(gauss.Workspace))
	}
	factor.OutcomeProbabilities(out, mean, variance)
	return out
}

// Where the functions are taken to be independent given the rows, little is lost: with all rows
// as inducing points the evidence and the probabilities are near those of the posterior that
// has all functions together, of two outcomes and more. The differences are what was found,
// rounded up; docs/research/outcomes.md states them.
func TestApartAgainstTogether(t *testing.T) {
	k, err := kernel.Parse("matern32(variance=4, lengthscale=1.5) + constant", 2)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 51))
	for _, number := range []int{2, 3, 5} {
		far, mean, count, evidence := 0.0, 0.0, 0, 0.0
		for range 6 {
			x, o := contest(rng, 60, number)
			full, r := settledOutcomes(t, k, x, o)
			p, _, q, log := apart(t, k, x, x, o, infer.Propagation{})
			evidence = max(evidence, math.Abs(log-r.LogEvidence)/60)
			for range 20 {
				at := []float64{1.5 * rng.NormFloat64(), 1.5 * rng.NormFloat64()}
				m, c := full.OutcomesAt(r.Q, at)
				want, got := classes(m, c), apartAt(p, q.Q, at)
				for y := range want {
					far = max(far, math.Abs(want[y]-got[y]))
					mean += math.Abs(want[y] - got[y])
					count++
				}
			}
		}
		mean /= float64(count)
		t.Logf("%d outcomes: log evidence off by %.4f a row at most, a probability by %.4f on average and %.3f at most", number, evidence, mean, far)
		if mean > 0.01 || far > 0.03 || evidence > 0.07 {
			t.Errorf("%d outcomes: log evidence off by %.4f a row, a probability by %.4f on average and %.3f at most", number, evidence, mean, far)
		}
	}
}

// The gradient is that of the evidence, with rows that count more and less than once, and with labels that may be wrong.
func TestApartEvidenceGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 51))
	x, o := contest(rng, 80, 4)
	z := x.Slice(0, 12, 0, 2).(*mat.Dense)
	counted := &gp.Outcomes{Of: o.Of, Number: o.Number}
	for range 80 {
		counted.Counts = append(counted.Counts, 0.3+2*rng.Float64())
	}
	for name, o := range map[string]gp.Terms{"once": o, "counted": counted, "robust": gp.RobustOutcomes{Noted: counted, Noise: 0.1}} {
		k, err := kernel.Parse("matern32(variance=2, lengthscale=[0.8, 1.7]) + additive(variance=[0.5, 0.8], lengthscale=[0.6, 2]) + constant(variance=0.7)", 2)
		if err != nil {
			t.Fatal(err)
		}
		evidence := func(logs []float64) (float64, []float64) {
			p, e, r, log := apart(t, k.With(logs), x, z, o, infer.Propagation{})
			grad, _, err := p.EvidenceGradient(context.Background(), e, r.Q, pass.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return log, grad
		}
		logs := k.Params(nil)
		_, grad := evidence(logs)
		for i, param := range k.ParamNames() {
			const h = 1e-4
			at := logs[i]
			logs[i] = at + h
			above, _ := evidence(logs)
			logs[i] = at - h
			below, _ := evidence(logs)
			logs[i] = at
			// Differences of sites that have settled to 1e-9 are good to about 1e-6.
			if slope := (above - below) / (2 * h); math.Abs(slope-grad[i]) > 1e-5*(1+math.Abs(slope)) {
				t.Errorf("%s: ∂/∂log %s is %v, by differences %v", name, param, grad[i], slope)
			}
		}
	}
}

// The bound of variational inference is below the evidence by EP, and its probabilities are near.
func TestApartByOtherRules(t *testing.T) {
	k, err := kernel.Parse("rbf(variance=3, lengthscale=1.2) + constant", 2)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 51))
	x, o := contest(rng, 120, 3)
	z := x.Slice(0, 40, 0, 2).(*mat.Dense)
	p, _, ep, log := apart(t, k, x, z, o, infer.Propagation{})
	for _, rule := range []infer.Rule{infer.Variational{}, infer.Curvature{}} {
		_, _, r, value := apart(t, k, x, z, o, rule)
		if rule == infer.Rule(infer.Variational{}) && !(value < log && value > log-0.2*120) {
			t.Errorf("the bound is %v, the evidence %v", value, log)
		}
		far := 0.0
		for range 30 {
			at := []float64{rng.NormFloat64(), rng.NormFloat64()}
			a, b := apartAt(p, ep.Q, at), apartAt(p, r.Q, at)
			for y := range a {
				far = max(far, math.Abs(a[y]-b[y]))
			}
		}
		// Laplace's method is off by 0.04 on average of such problems; see docs/research/outcomes.md.
		if far > 0.2 {
			t.Errorf("rule %v: a probability is %v away from that of EP", rule, far)
		}
	}
}

// Predictors give what the posterior does, for all functions.
func TestApartPredictors(t *testing.T) {
	k, err := kernel.Parse("matern32(variance=2, lengthscale=1) + constant", 2)
	if err != nil {
		t.Fatal(err)
	}
	x, o := contest(rand.New(rand.NewPCG(4, 51)), 150, 5)
	p, _, r, _ := apart(t, k, x, x.Slice(0, 30, 0, 2).(*mat.Dense), o, infer.Propagation{})
	predictors, ok := p.Predictors(r.Q)
	if !ok {
		t.Fatal("no predictors")
	}
	mean, variance := make([][]float64, 5), make([][]float64, 5)
	for c := range mean {
		mean[c], variance[c] = make([]float64, 150), make([]float64, 150)
	}
	predictors.Moments(x, mean, variance)
	views := p.At(x)
	for c, one := range r.Q {
		m, v := make([]float64, 150), make([]float64, 150)
		one.Predict(views, m, v, new(gauss.Workspace))
		for i := range m {
			// As of one function; see TestInducingPredictor.
			if math.Abs(m[i]-mean[c][i]) > 1e-8 || math.Abs(v[i]-variance[c][i]) > 1e-8 {
				t.Fatalf("function %d, row %d: %v ± %v, want %v ± %v", c, i, mean[c][i], variance[c][i], m[i], v[i])
			}
		}
	}
}

// Posteriors with labels that may be wrong, and with labels that are right, against draws of the prior that are weighed with
// their probability of what was noted down. Of 40,000 some thousand count, so that they are off by 0.005 or so.
func TestRobustApartAgainstTheTruth(t *testing.T) {
	k, err := kernel.Parse("rbf(variance=3, lengthscale=1) + constant", 2)
	if err != nil {
		t.Fatal(err)
	}
	const number, draws = 3, 40_000
	for _, noise := range []float64{0, 0.1} {
		rng := rand.New(rand.NewPCG(7, 51))
		far := 0.0
		for n := 3; n <= 6; n++ {
			x, o := contest(rng, n, number)
			terms := gp.RobustOutcomes{Noted: o, Noise: noise}
			p, _, q, log := apart(t, k, x, x, terms, infer.Propagation{})
			at := []float64{rng.NormFloat64(), rng.NormFloat64()}
			want, total := weighed(t, rng, k, x, terms, at, draws)
			for y, got := range apartAt(p, q.Q, at) {
				far = max(far, math.Abs(want[y]-got))
			}
			if off := math.Abs(log - total); off > 0.07*float64(n) { // as TestApartAgainstTogether
				t.Errorf("noise %v, %d rows: log evidence %v, by draws %v", noise, n, log, total)
			}
		}
		if t.Logf("noise %v: a probability is off by %.3f at most", noise, far); far > 0.04 {
			t.Errorf("noise %v: a probability is off by %.3f", noise, far)
		}
	}
}

// weighed are the probabilities of outcomes at one input and the log evidence by draws of the functions from the prior.
func weighed(t *testing.T, rng *rand.Rand, k kernel.Kernel, x *mat.Dense, terms gp.RobustOutcomes, at []float64, draws int) ([]float64, float64) {
	n, number := terms.Len(), terms.Functions()
	var all, f mat.Dense
	all.Stack(x, mat.NewDense(1, 2, at))
	gram := mat.NewSymDense(n+1, nil)
	k.Gram(gram, &all)
	var chol mat.Cholesky
	var lower mat.TriDense
	if !chol.Factorize(gram) {
		t.Fatal("the prior is singular")
	}
	chol.LTo(&lower)
	white, p, d, zero := mat.NewDense(n+1, number, nil), make([]float64, number), make([]float64, number), make([]float64, number)
	want, total := make([]float64, number), 0.0
	for range draws {
		for i := range white.RawMatrix().Data {
			white.RawMatrix().Data[i] = rng.NormFloat64()
		}
		f.Mul(&lower, white)
		weight := 0.0
		for i := range n {
			weight += terms.Joint(i).LogMean(f.RawRowView(i), zero, p, d)
		}
		factor.OutcomeProbabilities(p, f.RawRowView(n), zero)
		floats.AddScaled(want, math.Exp(weight), p)
		total += math.Exp(weight)
	}
	floats.Scale(1/total, want)
	return want, math.Log(total / float64(draws))
}

// By LOSSEP_LONG=1 go test ./gp -run ApartAgainstTheTruth -v: probabilities against exact ones.
func TestApartAgainstTheTruth(t *testing.T) {
	if os.Getenv("LOSSEP_LONG") == "" {
		t.Skip("needs LOSSEP_LONG")
	}
	rng := rand.New(rand.NewPCG(6, 51))
	var errors [2]float64
	var worst [2]float64
	count := 0
	for problem := range 50 {
		number := 3 + problem%4
		k, err := kernel.Parse("rbf(variance=3, lengthscale=1) + constant", 2)
		if err != nil {
			t.Fatal(err)
		}
		x, o := contest(rng, 5+rng.IntN(11), number)
		full, r := settledOutcomes(t, k, x, o)
		model := full.Model()
		draws, err := exact.Sampler{Draws: 4000, EvidencePoints: 100, Seed: uint64(problem)}.Fit(context.Background(), model)
		if err != nil {
			continue
		}
		p, _, q, _ := apart(t, k, x, x, o, infer.Propagation{})
		at := []float64{rng.NormFloat64(), rng.NormFloat64()}
		exact, _ := drawnClasses(full, draws.Draws, at, number)
		m, c := full.OutcomesAt(r.Q, at)
		for way, got := range [][]float64{classes(m, c), apartAt(p, q.Q, at)} {
			for y := range got {
				errors[way] += math.Abs(got[y] - exact[y])
				worst[way] = max(worst[way], math.Abs(got[y]-exact[y]))
			}
		}
		count += number
	}
	t.Logf("of %d probabilities: all functions together off by %.4f on average, %.3f at most; apart %.4f, %.3f",
		count, errors[0]/float64(count), worst[0], errors[1]/float64(count), worst[1])
}
