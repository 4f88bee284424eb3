package gp_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/pass"
)

// beside is a kernel of the first column, and σ² where two rows are in the same group, which the second says.
type beside struct {
	kernel.Kernel
	variance float64
}

func (k beside) gram(x, z *mat.Dense) *mat.Dense {
	var cross mat.Dense
	k.Basis(z).Cross(&cross, x)
	n, m := cross.Dims()
	for i := range n {
		for j := range m {
			if x.At(i, 1) == z.At(j, 1) {
				cross.Set(i, j, cross.At(i, j)+k.variance)
			}
		}
	}
	return &cross
}

// dense is expectation propagation on all rows, with the views of others.
func (k beside) dense(t *testing.T, x, others *mat.Dense, terms []factor.Factor) (*infer.EPResult, *gauss.Views) {
	t.Helper()
	n, _ := x.Dims()
	k2, _ := others.Dims()
	gram := mat.NewSymDense(n, nil)
	all := k.gram(x, x)
	for i := range n {
		for j := i; j < n; j++ {
			gram.SetSym(i, j, all.At(i, j))
		}
	}
	root, err := gauss.NewRoot(gram)
	if err != nil || root.Jitter > 0 {
		t.Fatal(err, root.Jitter)
	}
	variance := make([]float64, k2)
	for i := range variance {
		variance[i] = k.Variance(others.RawRowView(i)) + k.variance
	}
	r, err := infer.EP{Tolerance: 1e-12}.Fit(context.Background(), &infer.Model{Views: root.Views(), Terms: terms})
	if err != nil {
		t.Fatal(err)
	}
	return r, root.Project(k.gram(others, x), variance)
}

// With all rows as inducing points a family beside the process is the kernel σ²·[g(x) = g(x′)]: the same
// predictions, of groups that are known and of one that is new, by either way of making them; the same evidence, and
// its maximum in σ².
func TestFamilyBesideTheProcessIsTheDenseKernel(t *testing.T) {
	const n, groups = 60, 7
	rng := rand.New(rand.NewPCG(5, 6))
	x, terms := mat.NewDense(n, 2, nil), gp.Values{}
	ids, effect := make([]int32, n), make([]float64, groups)
	for g := range effect {
		effect[g] = rng.NormFloat64()
	}
	for i := range n {
		ids[i] = int32(i * i % groups) // some have no rows
		x.SetRow(i, []float64{float64(i) / 8, float64(ids[i])})
		terms.Factors = append(terms.Factors, factor.Probit{Y: math.Copysign(1, math.Sin(float64(i)/8)+effect[ids[i]]+rng.NormFloat64())})
	}
	smooth, err := kernel.Parse("matern12(variance=1.3, lengthscale=[2, 1e6]) + constant(variance=0.5)", 2)
	if err != nil {
		t.Fatal(err)
	}
	process, err := gp.NewInducing(smooth, x)
	if err != nil {
		t.Fatal(err)
	}
	fit := effects.NewFit(effects.NewTable(x, 1), effects.NewInMemory(x, terms, 0))
	if err := fit.Add(context.Background(), effects.Family{{Column: 1}}, 1); err != nil {
		t.Fatal(err)
	}
	e := fit.Effects()[0]
	driver := gp.InMemory(x, terms, nil, 0)
	rows, err := driver.Drive(process, nil)
	if err != nil {
		t.Fatal(err)
	}
	engine := gp.Group(driver, rows, e, nil, nil)
	var r *pass.Result
	for range 60 { // Newton's steps, with a Hessian that is that of independent effects
		if r, err = pass.Settle(context.Background(), engine, pass.Settings{Tolerance: 1e-12, Warm: true}); err != nil || !r.Status.Converged {
			t.Fatal(err, r)
		}
		*e = *e.Under(r.Q[0], engine.Given())
		next := e.Step()
		if math.Abs(next/e.Variance-1) < 1e-7 {
			break
		}
		e.Variance = next
		engine.SetVariance(next)
	}
	sums, err := engine.Look(context.Background(), r.Q.Naturals(), pass.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	others := mat.NewDense(5, 2, []float64{0.3, 0, 2.2, 1, 20, 2, 7, 4, 1.1, math.NaN()}) // the last one is new
	k := beside{smooth, e.Variance}
	want, views := k.dense(t, x, others, terms.Factors)
	if got := pass.Objective(infer.Propagation{}, r.Q, sums.Value); math.Abs(got-want.LogEvidence) > 1e-8 {
		t.Errorf("log evidence %.12f, want %.12f", got, want.LogEvidence)
	}
	for _, h := range []float64{-0.01, 0.01} { // 1e-4 of a second derivative of about one
		if at, _ := (beside{smooth, e.Variance * math.Exp(h)}).dense(t, x, others, terms.Factors); at.LogEvidence > want.LogEvidence {
			t.Errorf("the evidence rises by %v from the variance %v", at.LogEvidence-want.LogEvidence, e.Variance)
		}
	}
	all := make([][2]float64, 0, 15)
	note := func(mean, variance []float64) {
		for i := range mean {
			all = append(all, [2]float64{mean[i], variance[i]})
		}
	}
	mean, variance := make([]float64, 5), make([]float64, 5)
	want.Q.Predict(views, mean, variance, new(gauss.Workspace))
	note(mean, variance)
	with := process.With(effects.Set{e})
	r.Q[0].Predict(with.At(others), mean, variance, new(gauss.Workspace))
	note(mean, variance)
	fast, ok := with.Predictor(r.Q[0])
	if !ok {
		t.Fatal("no predictor")
	}
	fast.Moments(others, mean, variance)
	note(mean, variance)
	for i, a := range all {
		if b := all[i%5]; math.Abs(a[0]-b[0]) > 1e-8 || math.Abs(a[1]-b[1]) > 1e-8 {
			t.Errorf("row %d: %.12f, want %.12f", i%5, a, b)
		}
	}
}
