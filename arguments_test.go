package lossep

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
)

// What is given to a function belongs to the caller: tables of utilities, weights, inputs and
// labels are the same after a fit, decisions and values of information.
func TestArgumentsStay(t *testing.T) {
	for _, inducing := range []int{NoInducing, 10} {
		o := autoOptions(t, LossEP)
		o.Kernel, o.Inducing, o.Data.Prevalence = "rbf", inducing, 0.1
		p, err := Prepare(wideTable(t, 60, 2, 3), o)
		if err != nil {
			t.Fatal(err)
		}
		p.Weights = slices.Repeat([]float64{1.5}, p.Len())
		u := decision.Table{{1, 2}, {3, 0}}
		given := []any{mat.DenseCopyOf(p.X), slices.Clone(p.Labels), slices.Clone(p.Weights), decision.Table{{1, 2}, {3, 0}}}
		p.forPopulation(u)
		m, err := p.Fit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Decide(p.X, decision.Stakes{Table: u}); err != nil {
			t.Fatal(err)
		}
		if inducing == NoInducing {
			if _, err := m.LabelWorth(p.X); err != nil {
				t.Fatal(err)
			}
		}
		p.CaseWeights()[0] = 7
		same := cmp.Comparer(func(a, b *mat.Dense) bool { return mat.Equal(a, b) })
		if diff := cmp.Diff(given, []any{p.X, p.Labels, p.Weights, u}, same); diff != "" {
			t.Errorf("with %d inducing points:\n%s", inducing, diff)
		}
	}
}

// A model says of what is at stake what the problem said before the fit, whatever way of fitting
// was taken.
func TestModelsKnowTheirCeiling(t *testing.T) {
	costs, err := decision.ParseCosts("fn=3+max(n0,0-n0),fp=1")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Options){
		"kernel":   func(o *Options) { o.Kernel = "rbf" },
		"auto":     func(o *Options) {},
		"inducing": func(o *Options) { o.Kernel, o.Inducing = "rbf", 10 },
	} {
		o := Options{Data: recipe.Options{Positive: "yes"}, Utility: costs, Method: EP}
		change(&o)
		p, err := Prepare(wideTable(t, 60, 2, 3), o)
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.Fit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if p.zero < 3 || m.Summary().Zero != p.zero {
			t.Errorf("%s: the model has the ceiling %v, and the problem %v", name, m.Summary().Zero, p.zero)
		}
	}
}
