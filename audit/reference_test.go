package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/nuts"
)

// Markov chains and independent draws agree, and chains that are too short are doubted.
func TestReferences(t *testing.T) {
	a := sixty(t, Options{})
	p := a.problem
	process, err := gp.New(p.Kernel, p.X)
	if err != nil {
		t.Fatal(err)
	}
	model, err := process.Classify(p.Labels)
	if err != nil {
		t.Fatal(err)
	}
	views := process.At(mat.NewDense(3, 3, []float64{0, 0, 0, 1, -1, 0, 2, 1, 1}))
	ctx := context.Background()
	exact, byExact, err := draw(ctx, model, views, 1)
	if err != nil {
		t.Fatal(err)
	}
	chains, byChains, err := drawChains(ctx, model, views, nuts.Options{Warmup: 200, Draws: 500, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if byExact.By != "exact" || byExact.Doubt != "" || byChains.By != "nuts" || byChains.Doubt != "" {
		t.Errorf("%+v, %+v", byExact, byChains)
	}
	var value, stderr [2][3]float64
	for k, posterior := range []decision.Predictive{exact, chains} {
		decision.Probit().Probabilities(posterior, views, value[k][:], stderr[k][:])
	}
	for i := range value[0] {
		// Four standard errors of the difference.
		if d, e := math.Abs(value[0][i]-value[1][i]), math.Hypot(stderr[0][i], stderr[1][i]); d > 4*e || e == 0 || e > 0.02 {
			t.Errorf("case %d: %v and %v, with errors %v and %v", i, value[0][i], value[1][i], stderr[0][i], stderr[1][i])
		}
	}
	_, short, err := drawChains(ctx, model, views, nuts.Options{Warmup: 20, Draws: 10, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(short.Doubt, "of 3 cases") {
		t.Errorf("ten draws are not doubted: %+v", short)
	}
}

// Other likelihoods than probit have no reference.
func TestNoReference(t *testing.T) {
	a := sixty(t, Options{
		Fit:     lossep.Options{Method: lossep.EP, Likelihood: lossep.Likelihood{Name: "logit"}},
		Methods: []lossep.Method{lossep.EP}, References: 1, Folds: 2,
	})
	folds := run(t, a)
	r, err := a.Summarise(folds)
	if err != nil {
		t.Fatal(err)
	}
	if folds[0].Reference != nil || len(r.Regrets) > 0 || r.Likelihood != "logit" {
		t.Errorf("%+v, %+v, %s", folds[0].Reference, r.Regrets, r.Likelihood)
	}
}

// With inducing points the methods are compared with the exact posterior of some rows.
func TestReferenceOfSome(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b,y\n")
	rng := rand.New(rand.NewPCG(3, 3))
	for range 1300 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		fmt.Fprintf(&text, "%.4f,%.4f,%d\n", a, b, map[bool]int{true: 1}[math.Sin(2*a)+b+rng.NormFloat64() > 0.8])
	}
	spec, err := decision.ParseCosts("fn=5,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(t.Context(), tableOf(t, text.String()), Options{
		Fit:     lossep.Options{Method: lossep.EP, Inducing: 60, Utility: spec, Kernel: "rbf + constant"},
		Methods: []lossep.Method{lossep.EP, lossep.Laplace}, References: 1, Folds: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	folds := run(t, a)
	s := folds[0].Reference.Sample
	if s == nil || s.Rows != sampleRows || len(s.Cases) != 650 || len(s.Answers) != 2 || folds[1].Reference != nil {
		t.Fatalf("%+v", s)
	}
	r, err := a.Summarise(folds)
	if err != nil {
		t.Fatal(err)
	}
	ep, laplace := r.Regrets[0], r.Regrets[1]
	// 4000 draws are off by 0.003 on average, EP by less than that; Laplace's mode is
	// nearer to one half than the mean.
	if ep.Rows != sampleRows || ep.Cases != 650 || ep.Off > 0.005 || ep.Off == 0 || laplace.Off <= ep.Off || ep.Mean > 0.005 {
		t.Errorf("%+v, %+v", ep, laplace)
	}
}
