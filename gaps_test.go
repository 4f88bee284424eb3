package lossep

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/table"
)

// gapModels are fits of the same rows, each in another representation. Each has no more rows to
// fill gaps from than are taken, so that all of them are.
func gapModels(t *testing.T) map[string]*Model {
	t.Helper()
	inducing, fixed := autoOptions(t, EP), autoOptions(t, EP)
	inducing.Kernel, inducing.Inducing = ManyRowsKernel, posterior.NearestRows
	fixed.Kernel = ""
	all := make(map[string]*Model)
	for name, c := range map[string]struct {
		o    Options
		rows int
	}{
		"mixture": {autoOptions(t, LossEP), posterior.NearestRows}, "full": {fixed, posterior.NearestRows}, "inducing": {inducing, 400},
	} {
		m, err := Fit(t.Context(), wideTable(t, c.rows, 2, 3), c.o)
		if err != nil {
			t.Fatal(name, err)
		}
		if name == "inducing" {
			m.x, m.labels, m.weights = nil, nil, nil // as a model of many rows does without them
		}
		all[name] = m
	}
	return all
}

// TestGaps: what is not known of a case is averaged over, exactly as by predicting it with every
// value in turn; what is uncertain by it is in the variance. A column of noise hardly changes
// anything, and the one that matters moves predictions to what is known without it.
func TestGaps(t *testing.T) {
	for name, m := range gapModels(t) {
		donors := m.known()
		n, _ := donors.Dims()
		full := m.recipeRows(t, wideTable(t, 12, 2, 4))
		known, err := m.Predict(full)
		if err != nil {
			t.Fatal(err)
		}
		moved := make(map[int]float64)
		for _, column := range []int{0, 1, 3} { // a, n0 and the code of kind
			x := mat.DenseCopyOf(full)
			for i := range 12 {
				x.Set(i, column, math.NaN())
			}
			x.SetRow(5, full.RawRowView(5)) // one in the middle that is known
			got, err := m.Predict(x)
			if err != nil {
				t.Fatal(name, err)
			}
			if got[5].Probability() != known[5].Probability() || got[5].Variance != known[5].Variance {
				t.Errorf("%s: a row that is known has %v among others, %v before", name, got[5], known[5])
			}
			for i := range got {
				if i == 5 {
					continue
				}
				variants := mat.NewDense(n, 4, nil)
				for k := range n {
					variants.SetRow(k, full.RawRowView(i))
					variants.Set(k, column, donors.At(k, column))
				}
				all, err := m.Predict(variants)
				if err != nil {
					t.Fatal(err)
				}
				var p, mean, second float64
				for _, one := range all {
					p += one.Probability() / float64(n)
					mean += one.Mean / float64(n)
					second += (one.Variance + one.Mean*one.Mean) / float64(n)
				}
				const rounding = 1e-12 // of some dozen terms of size one
				if math.Abs(got[i].Probability()-p) > rounding || math.Abs(got[i].Mean-mean) > rounding || math.Abs(got[i].Variance-(second-mean*mean)) > 10*rounding {
					t.Errorf("%s, column %d, row %d: %+v, by hand P = %v, N(%v, %v)", name, column, i, got[i], p, mean, second-mean*mean)
				}
				moved[column] += math.Abs(got[i].Mean-known[i].Mean) / 11
			}
		}
		if moved[1] > moved[0]/3 {
			t.Errorf("%s: noise moves latent values by %v, what matters by %v", name, moved[1], moved[0])
		}
	}
}

// TestGapsAnywhere: decisions, second opinions and reasons are those of the same averages, with all
// columns of a row missing too, alone or in company, to the bit on any number of processors.
func TestGapsAnywhere(t *testing.T) {
	m := gapModels(t)["mixture"]
	x := m.recipeRows(t, wideTable(t, 30, 2, 4))
	for i := range 30 {
		for k := range 4 {
			if i%5 == k || i == 7 {
				x.Set(i, k, math.NaN())
			}
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GOMAXPROCS(3)
	decisions, err := m.Decide(x)
	if err != nil {
		t.Fatal(err)
	}
	m.Consult(x, decisions)
	for i, d := range decisions {
		alone, err := m.Predict(mat.NewDense(1, 4, x.RawRowView(i)))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.Probabilities, one[i].Probabilities) || !slices.Equal(alone[0].Probabilities, d.Probabilities) || alone[0].Variance != one[i].Variance {
			t.Errorf("row %d: %v among others, %v decided, %v alone", i, one[i], d.Probabilities, alone[0])
		}
	}
	if err := m.Explain(4, nil).Of(t.Context(), x, decisions); err != nil {
		t.Fatal(err)
	}
	for i, d := range decisions {
		for _, r := range d.Reasons {
			if math.IsNaN(r.Effect) || (r.Value == "missing") != (r.Column == []string{"a", "n0", "n1", "kind", ""}[i%5] || i == 7) {
				t.Errorf("row %d: %+v", i, r)
			}
		}
		if d.Flip != nil && d.Flip.From == "missing" {
			t.Errorf("row %d: flipped by %+v, which is not known", i, d.Flip)
		}
	}
}

// A model is fitted again by its own recipe to rows with a gap that none had before, which is filled.
func TestRecipeOfAModelFitsAgain(t *testing.T) {
	o := autoOptions(t, EP)
	o.Kernel, o.Data.Impute = "rbf", true
	whole := wideTable(t, 40, 1, 3)
	m, err := Fit(t.Context(), whole, o)
	if err != nil {
		t.Fatal(err)
	}
	text := "a,kind,n0,y\n,p,0.5,yes\n" + strings.Repeat("0.1,q,0.2,no\n0.3,p,-0.2,yes\n", 10)
	o.Recipe = m.Recipe()
	gap, err := table.Read(t.Context(), strings.NewReader(text), "gap.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := Fit(t.Context(), gap, o)
	if err != nil {
		t.Fatal(err)
	}
	if !again.Recipe().Gaps || again.recipe.Gaps {
		t.Error("rows to be predicted have their gaps filled, or those of a fit have not")
	}
}
