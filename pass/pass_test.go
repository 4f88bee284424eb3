package pass_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/pass"
)

// rows is views and terms that are all in memory.
type rows struct {
	views *gauss.Views
	terms []factor.Factor
}

func (r rows) Len() int                    { return r.views.Len() }
func (r rows) Dim() int                    { return r.views.Dim() }
func (r rows) Views(i, j int) *gauss.Views { return r.views.Slice(i, j) }
func (r rows) Term(i int) factor.Factor    { return r.terms[i] }

// random is n views of m dimensions with a residual, and a term for each.
func random(n, m int, seed uint64, term func(f float64, rng *rand.Rand) factor.Factor) rows {
	rng := rand.New(rand.NewPCG(seed, 7))
	a, r := mat.NewDense(n, m, nil), make([]float64, n)
	v := make([]float64, m)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	terms := make([]factor.Factor, n)
	for i := range n {
		for j := range m {
			a.Set(i, j, rng.NormFloat64()/math.Sqrt(float64(m)))
		}
		r[i] = 0.3 * rng.Float64()
		terms[i] = term(floats.Dot(a.RawRowView(i), v)+math.Sqrt(r[i])*rng.NormFloat64(), rng)
	}
	return rows{gauss.NewViews(a, nil, r), terms}
}

func probit(f float64, rng *rand.Rand) factor.Factor {
	return factor.Probit{Y: math.Copysign(1, f+rng.NormFloat64())}
}

func settle(t *testing.T, o pass.Settings, shards ...pass.Rows) (*pass.Local, *pass.Result, float64) {
	t.Helper()
	l := pass.NewLocal(shards, nil)
	r, err := pass.Settle(context.Background(), l, o)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Status.Converged {
		t.Fatal(r.Status)
	}
	sums, err := l.Look(context.Background(), r.Q.Naturals(), pass.Options{Rule: o.Rule}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l, r, pass.Objective(o.Rule, r.Q, sums.Value)
}

// far is by how much the means of two Gaussians differ.
func far(a, b *gauss.Gaussian) float64 {
	return floats.Distance(a.Mean(), b.Mean(), math.Inf(1))
}

// Passes end where the engines that hold all rows in memory do.
func TestFixedPoints(t *testing.T) {
	r := random(300, 12, 1, probit)
	m := &infer.Model{Views: r.views, Terms: r.terms}
	ctx := context.Background()
	ep, err := infer.EP{Schedule: infer.Parallel}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	vi, err := infer.VI{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	laplace, err := infer.Laplace{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rule  infer.Rule
		q     *gauss.Gaussian
		value float64
	}{
		{infer.Propagation{}, ep.Q, ep.LogEvidence},
		{infer.Variational{}, vi.Q, vi.LogEvidence},
		{infer.Curvature{}, laplace.Q, laplace.LogEvidence},
	} {
		// Both ends are within 1e-7 or so of the fixed point.
		_, got, value := settle(t, pass.Settings{Rule: c.rule, Tolerance: 1e-9}, r)
		if d := far(got.Q[0], c.q); d > 1e-6 || math.Abs(value-c.value) > 1e-6 {
			t.Errorf("rule %d: objective %v, want %v; means differ by %v", c.rule, value, c.value, d)
		}
	}
}

// With Gaussian terms of variance s² the evidence of power α is known: it is that of
// regression with noise s² + αr, times Π(1 + αr/s²)^(−(1−α)/2α) (Bui, Yan and Turner 2017,
// section 3.3); at α = 1 it is exact for the model as it stands.
func TestPowerOfGaussianTerms(t *testing.T) {
	const noise = 0.4
	r := random(40, 5, 2, func(f float64, rng *rand.Rand) factor.Factor {
		return factor.Gaussian{Y: f + math.Sqrt(noise)*rng.NormFloat64(), Variance: noise}
	})
	for _, alpha := range []float64{1, 0.5, 0.1} {
		cov := mat.NewSymDense(40, nil)
		y := mat.NewVecDense(40, nil)
		want := -0.5 * 40 * math.Log(2*math.Pi)
		for i := range 40 {
			y.SetVec(i, r.terms[i].(factor.Gaussian).Y)
			for j := range i + 1 {
				cov.SetSym(i, j, floats.Dot(r.views.Row(i), r.views.Row(j)))
			}
			cov.SetSym(i, i, cov.At(i, i)+noise+alpha*r.views.Residual(i))
			want -= (1 - alpha) / (2 * alpha) * math.Log(1+alpha*r.views.Residual(i)/noise)
		}
		var c mat.Cholesky
		c.Factorize(cov)
		var s mat.VecDense
		c.SolveVecTo(&s, y)
		want -= 0.5*mat.Dot(y, &s) + 0.5*c.LogDet()
		_, _, got := settle(t, pass.Settings{Rule: infer.Propagation{Power: alpha}, Tolerance: 1e-9}, r)
		if math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("power %v: log evidence %v, want %v", alpha, got, want)
		}
	}
}

// As the power falls to zero, power EP becomes variational inference; what is left is of
// the first order in the power.
func TestSmallPowersAreVariational(t *testing.T) {
	r := random(60, 4, 3, probit)
	_, vi, bound := settle(t, pass.Settings{Rule: infer.Variational{}}, r)
	_, tenth, first := settle(t, pass.Settings{Rule: infer.Propagation{Power: 0.1}}, r)
	_, hundredth, second := settle(t, pass.Settings{Rule: infer.Propagation{Power: 0.01}}, r)
	if a, b := first-bound, second-bound; !(b > 0) || math.Abs(a/b-10) > 1 {
		t.Errorf("above the bound by %v at power 0.1 and %v at 0.01", a, b)
	}
	if a, b := far(tenth.Q[0], vi.Q[0]), far(hundredth.Q[0], vi.Q[0]); math.Abs(a/b-10) > 1 {
		t.Errorf("means %v away at power 0.1 and %v at 0.01", a, b)
	}
}

// Results are the same bits on any number of processors.
func TestBitsDoNotDependOnProcessors(t *testing.T) {
	shards := []pass.Rows{random(3000, 80, 4, probit), random(1500, 80, 5, probit)}
	var first *gauss.Natural
	var sites []gauss.Scalar
	for _, processors := range []int{1, 2, 5} {
		func() {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			l, r, _ := settle(t, pass.Settings{Tolerance: 1e-4}, shards...)
			if first == nil {
				first, sites = r.Q[0].Natural(), slices.Clone(l.Sites())
			}
			if !slices.Equal(first.H, r.Q[0].Natural().H) || !mat.Equal(first.P, r.Q[0].Natural().P) || !slices.Equal(sites, l.Sites()) {
				t.Errorf("%d processors give other bits", processors)
			}
		}()
	}
}

// A pass does not touch what it is given: the same arguments give the same sums, whatever
// was done between.
func TestOverIsPure(t *testing.T) {
	r := random(1500, 10, 6, probit)
	q := gauss.NewNaturals(1, 10)
	q.SetStandard()
	sites, next := make([]gauss.Scalar, 1500), make([]gauss.Scalar, 1500)
	one, err := pass.Over(q, r, sites, next, pass.Options{})
	if err != nil {
		t.Fatal(err)
	}
	again := make([]gauss.Scalar, 1500)
	two, err := pass.Over(q, r, sites, again, pass.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(next, again) || !slices.Equal(one.Change[0].H, two.Change[0].H) || one.Value != two.Value || sites[0] != (gauss.Scalar{}) {
		t.Error("two passes from the same place differ")
	}
	// What the sums say is what the sites come to.
	sum := pass.Gather(r, next)
	if d := floats.Distance(sum[0].H, one.Change[0].H, math.Inf(1)); d > 1e-12*floats.Norm(sum[0].H, math.Inf(1)) {
		t.Errorf("the sums are %v away from the sites", d)
	}
}

// More shards take more passes and end at the same place.
func TestShardsEndAtTheSamePlace(t *testing.T) {
	whole := random(4000, 20, 8, probit)
	half := rows{whole.views.Slice(0, 2000), whole.terms[:2000]}
	rest := rows{whole.views.Slice(2000, 4000), whole.terms[2000:]}
	_, a, one := settle(t, pass.Settings{Tolerance: 1e-9}, whole)
	_, b, two := settle(t, pass.Settings{Tolerance: 1e-9}, half, rest)
	if d := far(a.Q[0], b.Q[0]); d > 1e-8 || math.Abs(one-two) > 1e-8 {
		t.Errorf("evidence %v and %v, means differ by %v", one, two, d)
	}
}

// Sites that make no proper Gaussian are no start, and what is not to be settled is said.
func TestTrouble(t *testing.T) {
	r := random(50, 5, 9, probit)
	bad := make([]gauss.Scalar, 50)
	for i := range bad {
		bad[i].Tau = -10
	}
	l := pass.NewLocal([]pass.Rows{r}, bad)
	if s, err := pass.Settle(context.Background(), l, pass.Settings{Warm: true}); err != nil || !s.Status.Converged {
		t.Errorf("from improper sites: %v, %v", s, err)
	}
	if s, err := pass.Settle(context.Background(), l, pass.Settings{MaxPasses: 1}); err != nil || s.Status.Converged || s.Status.Reason == "" {
		t.Errorf("one pass: %v, %v", s, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := pass.Settle(ctx, l, pass.Settings{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Views of rows far from all points become so short on the way to zero that their variance
// has no inverse. They read nothing, as views of length zero do.
func TestShortViews(t *testing.T) {
	for _, rule := range []infer.Rule{infer.Propagation{}, infer.Variational{}, infer.Curvature{}} {
		var values []float64
		for _, length := range []float64{0, 1e-162, 1e-158, 1e-153, 1e-149, 1e-100} {
			r := random(60, 4, 21, probit)
			a := mat.NewDense(60, 4, nil)
			residual := make([]float64, 60)
			for i := range 60 {
				residual[i] = r.views.Residual(i)
				for j := range 4 {
					value := 0.3 * float64(1+(i*j)%3)
					if i%3 == 0 {
						value = length
					}
					a.Set(i, j, value)
				}
			}
			_, _, value := settle(t, pass.Settings{Rule: rule}, rows{gauss.NewViews(a, nil, residual), r.terms})
			values = append(values, value)
		}
		// The evidence is of the second order in what is left of a tolerance of 1e-6.
		for i, value := range values {
			if math.Abs(value-values[0]) > 1e-9 {
				t.Errorf("rule %v: objective %v where views vanish, %v where they are short (%d)", rule, values[0], value, i)
			}
		}
	}
}

// With a utility passes end where Loss-EP does that holds all rows in memory.
func TestCalibrate(t *testing.T) {
	r := random(200, 8, 10, probit)
	points := random(60, 8, 11, probit).views
	u, err := decision.NewUtility(decision.Probit(), 60, nil, decision.Table{{1, 0}, {0.6, 1}})
	if err != nil {
		t.Fatal(err)
	}
	want, err := infer.EP{Schedule: infer.Parallel}.Fit(context.Background(), &infer.Model{Views: r.views, Terms: r.terms, Utility: u, Points: points})
	if err != nil {
		t.Fatal(err)
	}
	l, plain, _ := settle(t, pass.Settings{}, r)
	got, err := pass.Calibrate(context.Background(), l, u, points, pass.Settings{Tolerance: 1e-8})
	if err != nil || !got.Status.Converged {
		t.Fatal(got, err)
	}
	if d := far(got.Q[0], want.Q); d > 1e-6 || far(got.Q[0], plain.Q[0]) < 100*d {
		t.Errorf("means differ by %v; those without the utility by %v", d, far(got.Q[0], plain.Q[0]))
	}
	if d := far(got.Tilted[0], want.Tilted); d > 1e-6 {
		t.Errorf("means with the utility differ by %v", d)
	}
	if math.Abs(got.LogEvidence-want.LogEvidence) > 1e-6 || !slices.Equal(got.Actions, want.Sites.Actions) {
		t.Errorf("log evidence %v, want %v; actions %v, want %v", got.LogEvidence, want.LogEvidence, got.Actions, want.Sites.Actions)
	}
}

// So with variational inference, where Loss-VI ends that has the same draws.
func TestCalibrateBound(t *testing.T) {
	r := random(200, 8, 10, probit)
	points := random(60, 8, 11, probit).views
	u, err := decision.NewUtility(decision.Probit(), 60, nil, decision.Table{{1, 0}, {0.6, 1}})
	if err != nil {
		t.Fatal(err)
	}
	vi := infer.LossVI{VI: infer.VI{Tolerance: 1e-8}, Seed: 3}
	want, err := vi.Fit(context.Background(), &infer.Model{Views: r.views, Terms: r.terms, Utility: u, Points: points})
	if err != nil || !want.Status.Converged {
		t.Fatal(want, err)
	}
	rule := infer.Variational{}
	l, plain, _ := settle(t, pass.Settings{Rule: rule}, r)
	got, err := pass.Calibrate(context.Background(), l, u, points, pass.Settings{Rule: rule, Tolerance: 1e-8, Seed: 3})
	if err != nil || !got.Status.Converged {
		t.Fatal(got, err)
	}
	if d := far(got.Q[0], want.Q); d > 1e-6 || far(got.Q[0], plain.Q[0]) < 100*d {
		t.Errorf("means differ by %v; those without the utility by %v", d, far(got.Q[0], plain.Q[0]))
	}
	if math.Abs(got.LogEvidence-want.LogEvidence) > 1e-6 || !slices.Equal(got.Actions, want.Sites.Actions) {
		t.Errorf("bound %v, want %v; actions %v, want %v", got.LogEvidence, want.LogEvidence, got.Actions, want.Sites.Actions)
	}
}

// What is read of rows at a q that was looked at before is the same as at first, whatever the rule, and
// another q is not mistaken for it.
func TestLooksAgain(t *testing.T) {
	r := random(500, 130, 3, probit)
	l, found, _ := settle(t, pass.Settings{}, r)
	ctx := context.Background()
	look := func(l *pass.Local, q gauss.Naturals, rule infer.Rule) (float64, []float64) {
		var seen []float64
		sums, err := l.Look(ctx, q, pass.Options{Rule: rule}, func(_ int, mean, variance []float64) { seen = append(append(seen, mean...), variance...) })
		if err != nil {
			t.Fatal(err)
		}
		return sums.Value, seen
	}
	for range 2 { // as it is found, and as it is known
		mean, variance := make([]float64, r.Len()), make([]float64, r.Len())
		l.Predict(found.Q, mean, variance)
		wantMean, wantVariance := make([]float64, r.Len()), make([]float64, r.Len())
		found.Q[0].Predict(r.views, wantMean, wantVariance, new(gauss.Workspace))
		if !floats.EqualApprox(mean, wantMean, 1e-12) || !floats.EqualApprox(variance, wantVariance, 1e-12) {
			t.Error("predictions differ from those of q") // by more than the rounding of products of other sizes
		}
	}
	moved := gauss.NewNaturals(1, 130)
	moved.CopyFrom(found.Q.Naturals())
	moved[0].H[3] += 0.1
	for _, q := range []gauss.Naturals{found.Q.Naturals(), moved, found.Q.Naturals()} {
		for _, rule := range []infer.Rule{infer.Propagation{}, infer.Variational{}} {
			got, seen := look(l, q, rule)
			want, first := look(l.Fork(), q, rule)
			if got != want || !slices.Equal(seen, first) {
				t.Errorf("%T: %v, at first %v", rule, got, want)
			}
		}
	}
}
