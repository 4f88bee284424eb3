package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/nuts"
)

// Markov chains and independent draws agree, and chains that are too short are doubted.
func TestReferences(t *testing.T) {
	a := sixty(t, Options{})
	process, model, posed, err := a.posed(a.problem, lossep.Component{Kernel: a.problem.Kernel})
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(3, 3, []float64{0, 0, 0, 1, -1, 0, 2, 1, 1})
	ctx := context.Background()
	ask := func(draws *exact.Draws, r *Reference, chains *exact.NUTSResult, err error) *Reference {
		t.Helper()
		if err == nil {
			err = r.ask(posed(process, draws), chains, x, 2)
		}
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	byExact := ask(a.draw(ctx, model))
	byChains := ask(drawChains(ctx, model, nuts.Options{Warmup: 200, Draws: 500, Seed: 1}))
	if byExact.By != "exact" || byExact.Doubt != "" || byChains.By != "nuts" || byChains.Doubt != "" {
		t.Errorf("%+v, %+v", byExact, byChains)
	}
	for i, p := range byExact.Probabilities {
		// Four standard errors of the difference.
		q, e := byChains.Probabilities[i], math.Hypot(byExact.StdErrs[i][1], byChains.StdErrs[i][1])
		if d := math.Abs(p[1] - q[1]); d > 4*e || e == 0 || e > 0.02 || math.Abs(p[0]+p[1]-1) > 1e-12 {
			t.Errorf("case %d: %v and %v, with errors %v and %v", i, p, q, byExact.StdErrs[i], byChains.StdErrs[i])
		}
	}
	// Grades of which there are two are the two outcomes.
	graded, of := *a.problem, *a.problem.Recipe
	of.Target.Ordered, graded.Recipe = true, &of
	process, model, posed, err = a.posed(&graded, lossep.Component{Kernel: a.problem.Kernel, Cuts: []float64{0}})
	if err != nil {
		t.Fatal(err)
	}
	byGrades := ask(a.draw(ctx, model))
	if byGrades.By != "nuts" || byGrades.Doubt != "" {
		t.Errorf("%+v", byGrades)
	}
	for i, p := range byExact.Probabilities {
		e := math.Hypot(byExact.StdErrs[i][1], byGrades.StdErrs[i][1])
		if d := math.Abs(p[1] - byGrades.Probabilities[i][1]); d > 4*e || e == 0 || e > 0.02 {
			t.Errorf("case %d of grades: %v and %v, which is more than four standard errors of %v", i, p, byGrades.Probabilities[i], e)
		}
	}
	short := ask(drawChains(ctx, model, nuts.Options{Warmup: 20, Draws: 10, Seed: 1}))
	if !strings.Contains(short.Doubt, "of 3 cases") {
		t.Errorf("ten draws are not doubted: %+v", short)
	}
}

// With more than two outcomes decisions are compared with exact draws, where EP is as good as they can tell, and columns
// are worth what they tell.
func TestReferenceOfSeveral(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,noise,y\n")
	rng := rand.New(rand.NewPCG(7, 3))
	for range 60 {
		a := rng.NormFloat64()
		y := min(2, max(0, int(math.Floor(1.5+a+0.4*rng.NormFloat64()))))
		fmt.Fprintf(&text, "%.4f,%.4f,%c\n", a, rng.NormFloat64(), 'p'+rune(y))
	}
	a, err := New(t.Context(), tableOf(t, text.String()), Options{
		Fit:     lossep.Options{Method: lossep.EP, Kernel: "rbf + constant"},
		Methods: []lossep.Method{lossep.EP, lossep.Laplace}, References: 1, Folds: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	folds := run(t, a)
	r, err := a.Summarise(folds)
	if err != nil {
		t.Fatal(err)
	}
	ref := folds[0].Reference
	if ref == nil || ref.Sample != nil || folds[1].Reference != nil || len(r.Regrets) != 2 {
		t.Fatalf("%+v, %+v", ref, r.Regrets)
	}
	for _, p := range ref.Probabilities {
		if math.Abs(floats.Sum(p)-1) > 1e-9 {
			t.Errorf("%v", p)
		}
	}
	// A thousand draws are off by 0.006 on average, and EP by far less.
	ep, laplace := r.Regrets[0], r.Regrets[1]
	if ep.Cases != 20 || ep.Off > 0.012 || ep.Off == 0 || laplace.Off <= ep.Off || ep.Mean > 0.005 {
		t.Errorf("%+v, %+v", ep, laplace)
	}
	if r.Importances[0].Column != "a" || r.Importances[0].Cost.Low <= 0 || len(r.Importances) != 2 {
		t.Errorf("%+v", r.Importances)
	}
}

// The error of a difference of costs of two outcomes is that of one probability times the slope, and decisions are open
// where two standard errors reach past the boundary.
func TestErrorsOfDecisions(t *testing.T) {
	if got, want := errorOf([]float64{3, 1}, []float64{0, 5}, []float64{0.01, 0.01}), 0.01*7; math.Abs(got-want) > 1e-15 {
		t.Errorf("%v, want %v", got, want)
	}
	c := decision.Stakes{Table: decision.Table{{0, 3}, {1, 0}}, Costs: true} // the boundary is at a quarter
	for p, want := range map[float64]bool{0.2: false, 0.24: true, 0.26: true, 0.29: false} {
		if got := unsettled(c, decision.Pair(p), []float64{0.01, 0.01}); got != want {
			t.Errorf("%v: open %v", p, got)
		}
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
