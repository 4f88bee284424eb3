package lossep_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/recipe"
)

// weightedCases are rows of one column with small whole weights, and the same with every
// row written as often as it counts.
func weightedCases(n int) (weighted, repeated string) {
	rng := rand.New(rand.NewPCG(3, 1))
	var w, r strings.Builder
	w.WriteString("x,w,y\n")
	r.WriteString("x,w,y\n")
	for range n {
		x, k := rng.NormFloat64(), 1+rng.IntN(3)
		y := 0
		if x+0.7*rng.NormFloat64() > 0.4 {
			y = 1
		}
		fmt.Fprintf(&w, "%.6f,%d,%d\n", x, k, y)
		for range k {
			fmt.Fprintf(&r, "%.6f,1,%d\n", x, y)
		}
	}
	return w.String(), r.String()
}

// A row that counts k times is k rows, to the jitter of repeated rows; but of more than 60 rows
// a correction leaves out pairs.
func TestWeightsAreRepeatedRows(t *testing.T) {
	weighted, repeated := weightedCases(40)
	for method, tolerance := range map[lossep.Method]float64{lossep.Laplace: 1e-5, lossep.VI: 1e-5, lossep.EP: 1e-5, lossep.Corrected: 1e-3} {
		o := lossep.Options{
			Data:    recipe.Options{Target: "y", Weights: "w"},
			Utility: costs(t, "fn=5,fp=1"), Method: method, Kernel: "rbf(variance=2, lengthscale=0.8)", Fixed: true,
		}
		one, err := lossep.Fit(t.Context(), tableOf(t, weighted), o)
		if err != nil {
			t.Fatal(err)
		}
		o.Data.Weights, o.Data.Drop = "", []string{"w"}
		many, err := lossep.Fit(t.Context(), tableOf(t, repeated), o)
		if err != nil {
			t.Fatal(err)
		}
		new := "x,w\n-1.5,1\n-0.2,1\n0.3,1\n0.6,1\n2,1\n"
		x, _, err := one.Recipe().Apply(tableOf(t, new))
		if err != nil {
			t.Fatal(err)
		}
		a, err := one.Predict(x)
		if err != nil {
			t.Fatal(err)
		}
		b, err := many.Predict(x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range a {
			if diff := math.Abs(a[i].Probability() - b[i].Probability()); diff > tolerance {
				t.Errorf("%s, case %d: %v weighted, %v repeated", method, i, a[i].Probability(), b[i].Probability())
			}
		}
		if math.Abs(one.Summary().LeaveOneOut.Constant-many.Summary().LeaveOneOut.Constant) > 1e-12 {
			t.Errorf("%s: constant %v weighted, %v repeated", method, one.Summary().LeaveOneOut.Constant, many.Summary().LeaveOneOut.Constant)
		}
		// The weights are part of the model.
		var file bytes.Buffer
		if err := one.Write(&file); err != nil {
			t.Fatal(err)
		}
		loaded, err := lossep.Read(&file)
		if err != nil {
			t.Fatal(err)
		}
		again, err := loaded.Predict(x)
		if err != nil || !cmp.Equal(again, a) {
			t.Errorf("%s: loaded %v, %v; want %v", method, again, err, a)
		}
	}
}

// Another prevalence multiplies odds by a constant, whatever the method, and its
// decisions are those under costs multiplied likewise.
func TestPrevalenceShiftsOdds(t *testing.T) {
	text, _ := weightedCases(60)
	for _, method := range []lossep.Method{lossep.EP, lossep.LossEP, lossep.Corrected} {
		o := lossep.Options{
			Data:    recipe.Options{Target: "y", Drop: []string{"w"}},
			Utility: costs(t, "fn=5,fp=1"), Method: method, Kernel: "rbf(variance=2, lengthscale=0.8)", Fixed: true,
		}
		plain, err := lossep.Fit(t.Context(), tableOf(t, text), o)
		if err != nil {
			t.Fatal(err)
		}
		o.Data.Prevalence = 0.02
		rare, err := lossep.Fit(t.Context(), tableOf(t, text), o)
		if err != nil {
			t.Fatal(err)
		}
		shift := rare.Recipe().Target.Shift()
		no, yes := shift[0], shift[1]
		o.Data.Prevalence = 0
		o.Utility = costs(t, fmt.Sprintf("fn=%v,fp=%v", 5*yes, no))
		scaled, err := lossep.Fit(t.Context(), tableOf(t, text), o)
		if err != nil {
			t.Fatal(err)
		}
		x, _, err := rare.Recipe().Apply(tableOf(t, "x\n-1\n0.1\n0.5\n1\n1.5\n2\n3\n"))
		if err != nil {
			t.Fatal(err)
		}
		decide := func(m *lossep.Model) []lossep.Decision {
			d, err := m.Decide(x)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		a, b, c := decide(plain), decide(rare), decide(scaled)
		for i := range a {
			odds := a[i].Probabilities[1] / a[i].Probabilities[0] * yes / no
			got := b[i].Probabilities[1] / b[i].Probabilities[0]
			// A calibrated method sees what actions are worth in the other population, and
			// its probabilities move a little with that.
			if math.Abs(got/odds-1) > 1e-9 && method != lossep.LossEP {
				t.Errorf("%s, case %d: odds %v, want %v", method, i, got, odds)
			}
			if b[i].Action != c[i].Action {
				t.Errorf("%s, case %d: action %d, %d under costs that are scaled", method, i, b[i].Action, c[i].Action)
			}
		}
		if text := strings.Join(rare.Describe(), "\n"); !strings.Contains(text, "the positive outcome has 2 % of the cases") {
			t.Errorf("the description does not say for whom:\n%s", text)
		}
	}
}

// A row of weight zero is as good as none: in the scale of the columns, the kernel, the
// posterior and what is said about the fit. Here such rows are far from all others, and one
// has a category that no other has.
func TestRowsThatCountNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	with, without := "x,c,w,y\n", "x,c,w,y\n"
	for i := range 60 {
		x := rng.NormFloat64()
		row := fmt.Sprintf("%.6f,%s,%d,%d\n", x, []string{"red", "blue"}[rng.IntN(2)], 1+i%2, max(0, int(math.Copysign(1, x+0.5*rng.NormFloat64()))))
		with, without = with+row, without+row
		if i%3 == 0 {
			with += fmt.Sprintf("%.6f,%s,0,%d\n", 40*rng.NormFloat64(), []string{"red", "green"}[rng.IntN(2)], i%2)
		}
	}
	for _, kernel := range []string{"rbf + constant", lossep.AutoKernel} {
		var files [2]bytes.Buffer
		for k, text := range []string{with, without} {
			o := lossep.Options{Data: recipe.Options{Target: "y", Weights: "w"}, Utility: costs(t, "fn=5,fp=1"), Kernel: kernel}
			m, err := lossep.Fit(t.Context(), tableOf(t, text), o)
			if err != nil {
				t.Fatal(err)
			}
			if rows := m.Provenance().Rows; rows != 60 {
				t.Errorf("%s: %d training rows", kernel, rows)
			}
			x, _, err := m.Recipe().Apply(tableOf(t, "x,c,w\n-1,red,1\n0.2,blue,1\n3,red,0\n"))
			if err != nil {
				t.Fatal(err)
			}
			p, err := m.Predict(x)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.NewEncoder(&files[k]).Encode([]any{m.Kernel().String(), m.Summary(), p}); err != nil {
				t.Fatal(err)
			}
		}
		if a, b := files[0].String(), files[1].String(); a != b {
			t.Errorf("%s: %s", kernel, cmp.Diff(a, b))
		}
	}
}

// A model of rows that count very much can be read again, by EP unless another method is asked
// for: corrections average powers of terms for every decision.
func TestLargeWeightsAreKept(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,w,y\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%d,30000,%d\n", i%6, i/6%2)
	}
	o := lossep.Options{
		Data:    recipe.Options{Target: "y", Weights: "w"},
		Utility: costs(t, "fn=5,fp=1"), Kernel: "rbf(variance=1, lengthscale=1)", Fixed: true,
	}
	m, err := lossep.Fit(t.Context(), tableOf(t, b.String()), o)
	if err != nil {
		t.Fatal(err)
	}
	if want := lossep.DefaultMethod(60); m.Method() != want {
		t.Errorf("the method is %s, and of rows without weights %s", m.Method(), want)
	}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := lossep.Read(&file); err != nil {
		t.Errorf("read again: %v", err)
	}
}

// Shares of three outcomes shift probabilities by Bayes' rule, those not named share the rest as
// they do in the rows, and weights of cases have the shares of the population. A model that
// knows nothing but how frequent outcomes are says so. Of two outcomes a share by name is that of
// the positive one.
func TestPopulationOfSeveral(t *testing.T) {
	table := triage(t, 90, 3, 1)
	o := lossep.Options{Kernel: "rbf(variance=4, lengthscale=1)", Fixed: true}
	plain, err := lossep.Fit(t.Context(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Data.Population = map[string]float64{"w1": 0.7}
	shifted, err := lossep.Fit(t.Context(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	target := shifted.Recipe().Target
	rows, want := target.RowShares(), []float64{0, 0.7, 0}
	for _, y := range []int{0, 2} {
		want[y] = 0.3 * rows[y] / (rows[0] + rows[2])
	}
	if !floats.EqualApprox(target.Population, want, 1e-12) {
		t.Errorf("population %v, want %v", target.Population, want)
	}
	x := mat.NewDense(3, 2, []float64{-1, 0, 1, 0.1, 0.3, -2})
	a, err := plain.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	b, err := shifted.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a {
		p := slices.Clone(a[i].Probabilities)
		for y := range p {
			p[y] *= want[y] / rows[y]
		}
		floats.Scale(1/floats.Sum(p), p)
		if !floats.EqualApprox(p, b[i].Probabilities, 1e-12) {
			t.Errorf("row %d: %v, want %v", i, b[i].Probabilities, p)
		}
	}
	if p, err := lossep.Prepare(table, o); err != nil {
		t.Fatal(err)
	} else {
		sums := make([]float64, 3)
		for i, w := range p.CaseWeights() {
			sums[p.Labels[i]] += w / float64(p.Len())
		}
		if !floats.EqualApprox(sums, want, 1e-12) {
			t.Errorf("cases have the shares %v, want %v", sums, want)
		}
	}
	o.Kernel = "constant(variance=9)"
	ignorant, err := lossep.Fit(t.Context(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	// The prior is worth a row or two of ninety.
	if p, err := ignorant.Predict(x); err != nil || !floats.EqualApprox(p[0].Probabilities, want, 0.02) {
		t.Errorf("%v, want %v: %v", p[0].Probabilities, want, err)
	}
	two := lossep.Options{Data: recipe.Options{Target: "where", Positive: "w1", Population: map[string]float64{"w0": 0.9}}}
	if p, err := lossep.Prepare(triage(t, 20, 2, 1), two); err != nil || math.Abs(p.Recipe.Target.Prevalence-0.1) > 1e-12 {
		t.Errorf("%v, %v", p.Recipe.Target, err)
	}
}
