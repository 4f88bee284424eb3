package lossep_test

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// rowsBetween are rows of a table.
func rowsBetween(t *table.Table, from, to int) *table.Table {
	var rows []int
	for i := from; i < to; i++ {
		rows = append(rows, i)
	}
	return t.Subset(rows)
}

// furthest is the largest difference of probabilities.
func furthest(a, b []float64) (most float64) {
	for i := range a {
		most = max(most, math.Abs(a[i]-b[i]))
	}
	return most
}

// updated is a model that was updated, written and read.
func updated(t *testing.T, m *lossep.Model, more *table.Table, o lossep.UpdateOptions) *lossep.Model {
	t.Helper()
	next, err := m.Update(context.Background(), more, o)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := next.Write(&file); err != nil {
		t.Fatal(err)
	}
	again, err := lossep.Read(&file)
	if err != nil {
		t.Fatalf("the file of an updated model: %v", err)
	}
	return again
}

// sameKernel fits all rows with the recipe and the kernel of a model.
func sameKernel(t *testing.T, m *lossep.Model, all *table.Table, o lossep.Options) *lossep.Model {
	t.Helper()
	o.Recipe, o.Kernel, o.Fixed, o.Method = m.Recipe(), m.Kernel().String(), true, m.Method()
	whole, err := lossep.Fit(context.Background(), all, o)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// An update of the full process is the fit of all rows with the same kernel, for every method, and
// rows that are taken away leave no trace. Both fixed points are found to a residual of 1e-9.
func TestUpdateOfTheFullProcess(t *testing.T) {
	all := manyRows(t, 500)
	for _, method := range []lossep.Method{lossep.EP, lossep.LossEP, lossep.VI} {
		o := manyOptions(t)
		o.Kernel, o.Method = "rbf + constant", method
		m, err := lossep.Fit(context.Background(), rowsBetween(all, 0, 450), o)
		if err != nil {
			t.Fatal(err)
		}
		next := updated(t, m, rowsBetween(all, 450, 500), lossep.UpdateOptions{})
		whole := sameKernel(t, m, all, o)
		if d := furthest(probabilities(t, next, all), probabilities(t, whole, all)); d > 1e-6 {
			t.Errorf("%s: an update differs from a fit by %g", method, d)
		}
		if d := furthest(probabilities(t, m, all), probabilities(t, whole, all)); d < 0.01 {
			t.Errorf("%s: the new rows change nothing, %g", method, d)
		}
		if a, b := next.Summary().LogEvidence, whole.Summary().LogEvidence; math.Abs(a-b) > 1e-5 {
			t.Errorf("%s: log evidence %v, and of a fit %v", method, a, b)
		}
		back := updated(t, next, nil, lossep.UpdateOptions{Forget: rowsBetween(all, 450, 500)})
		if d := furthest(probabilities(t, back, all), probabilities(t, m, all)); d > 1e-6 {
			t.Errorf("%s: what was taken away is still known, %g", method, d)
		}
		if s := back.Summary().Updates; s.Added != 50 || s.Forgotten != 50 || back.Provenance().Rows != 450 {
			t.Errorf("%s: %+v of %d rows", method, s, back.Provenance().Rows)
		}
	}
}

// So is that of a mixture, whose weights stay, and of several outcomes.
func TestUpdateOfOthers(t *testing.T) {
	all := manyRows(t, 200)
	o := manyOptions(t)
	m, err := lossep.Fit(context.Background(), rowsBetween(all, 0, 150), o)
	if err != nil {
		t.Fatal(err)
	}
	next := updated(t, m, rowsBetween(all, 150, 200), lossep.UpdateOptions{})
	back := updated(t, next, nil, lossep.UpdateOptions{Forget: rowsBetween(all, 150, 200)})
	if d := furthest(probabilities(t, back, all), probabilities(t, m, all)); d > 1e-6 {
		t.Errorf("a mixture is not what it was, by %g", d)
	}
	o.Data.Target, o.Data.Positive, o.Utility, o.Kernel = "kind", "", nil, "rbf + constant"
	if m, err = lossep.Fit(context.Background(), rowsBetween(all, 0, 150), o); err != nil {
		t.Fatal(err)
	}
	next = updated(t, m, rowsBetween(all, 150, 200), lossep.UpdateOptions{})
	if d := furthest(probabilities(t, next, all), probabilities(t, sameKernel(t, m, all, o), all)); d > 1e-6 {
		t.Errorf("an update of three outcomes differs from a fit by %g", d)
	}
}

// With RefitKernel an update finds the kernel that a fit of all rows finds from the same start, wherever that of the first rows
// was.
func TestUpdateRefitsKernel(t *testing.T) {
	all := manyRows(t, 200)
	o := manyOptions(t)
	o.Kernel, o.Fixed = "rbf(variance=0.3, lengthscale=9) + constant", true
	m, err := lossep.Fit(context.Background(), rowsBetween(all, 0, 150), o)
	if err != nil {
		t.Fatal(err)
	}
	kept := updated(t, m, rowsBetween(all, 150, 200), lossep.UpdateOptions{})
	next := updated(t, m, rowsBetween(all, 150, 200), lossep.UpdateOptions{RefitKernel: true})
	if kept.Kernel().String() != m.Kernel().String() || kept.Summary().Updates.Refitted || !next.Summary().Updates.Refitted {
		t.Errorf("kernels %v and %v", kept.Kernel(), next.Kernel())
	}
	o.Recipe, o.Fixed = m.Recipe(), false
	whole, err := lossep.Fit(context.Background(), all, o)
	if err != nil {
		t.Fatal(err)
	}
	// Both searches end where the gradient is below their tolerance, around one maximum.
	if a, b := next.Summary().LogEvidence, whole.Summary().LogEvidence; math.Abs(a-b) > 0.01 || a < kept.Summary().LogEvidence+1 {
		t.Errorf("log evidence %v, of a fit %v, and with the kernel as it was %v", a, b, kept.Summary().LogEvidence)
	}
	if d := furthest(probabilities(t, next, all), probabilities(t, whole, all)); d > 0.01 {
		t.Errorf("probabilities differ from those of a fit by %g", d)
	}
}

// A row that fades counts as one of that weight does.
func TestUpdateFades(t *testing.T) {
	all := manyRows(t, 300)
	o := manyOptions(t)
	o.Kernel, o.Method = "rbf + constant", lossep.EP
	m, err := lossep.Fit(context.Background(), rowsBetween(all, 0, 200), o)
	if err != nil {
		t.Fatal(err)
	}
	next := updated(t, m, rowsBetween(all, 200, 300), lossep.UpdateOptions{HalfLife: 100}) // so that old rows count 1/2
	twice := updated(t, m, rowsBetween(all, 200, 300), lossep.UpdateOptions{})
	plain := probabilities(t, twice, all)
	if d := furthest(probabilities(t, next, all), plain); d < 0.005 {
		t.Errorf("old rows count as much as new ones: %g", d)
	}
	// Without an end of fading the prior is what is left.
	gone := updated(t, m, rowsBetween(all, 200, 300), lossep.UpdateOptions{HalfLife: 2})
	only := sameKernel(t, m, rowsBetween(all, 200, 300), o)
	if d := furthest(probabilities(t, gone, all), probabilities(t, only, all)); d > 1e-6 {
		t.Errorf("rows that have faded away still count: %g", d)
	}
	// To nothing, in one update and over several.
	at := updated(t, m, rowsBetween(all, 200, 300), lossep.UpdateOptions{HalfLife: 0.05})
	if d := furthest(probabilities(t, at, all), probabilities(t, only, all)); d > 1e-6 || at.Summary().Updates.Forgotten != 0 {
		t.Errorf("rows that have faded to nothing still count: %g, %+v", d, at.Summary().Updates)
	}
	for range 3 {
		gone = updated(t, gone, rowsBetween(all, 200, 300), lossep.UpdateOptions{HalfLife: 2})
	}
	if d := furthest(probabilities(t, gone, all), probabilities(t, only, all)); d > 1e-6 {
		t.Errorf("after four updates: %g", d)
	}
}

// With inducing points, and effects beside them, an update is near the fit of all rows, and rows
// taken away are gone: exactly without effects.
func TestUpdateOfInducingPoints(t *testing.T) {
	all := manyRows(t, 3000)
	o := manyOptions(t)
	for _, method := range []lossep.Method{lossep.EP, lossep.VI} {
		o.Kernel, o.Fixed = "rbf(variance=1.1, lengthscale=1.2) + constant(variance=1)", true
		o.Method, o.Inducing = method, 400
		m, err := lossep.Fit(context.Background(), rowsBetween(all, 0, 2950), o)
		if err != nil {
			t.Fatal(err)
		}
		next := updated(t, m, rowsBetween(all, 2950, 3000), lossep.UpdateOptions{})
		whole := sameKernel(t, m, all, o)
		// With so many points other ones make a difference of 1e-3 as well.
		if d := furthest(probabilities(t, next, all), probabilities(t, whole, all)); d > 0.004 {
			t.Errorf("%s: an update differs from a fit by %g", method, d)
		}
		back := updated(t, next, nil, lossep.UpdateOptions{Forget: rowsBetween(all, 2950, 3000)})
		if d := furthest(probabilities(t, back, all), probabilities(t, m, all)); method == lossep.EP && d > 1e-9 {
			t.Errorf("%s: what was taken away is still known, %g", method, d)
		}
	}
}

// Columns that costs alone are read from go along with the rows: they are there to calibrate by.
func TestUpdateOfInducingPointsWithCostColumns(t *testing.T) {
	all, o := manyRows(t, 360), manyOptions(t)
	costs, err := decision.ParseCosts("fn=2+max(a,0-a),fp=1")
	if err != nil {
		t.Fatal(err)
	}
	o.Utility, o.Kernel, o.Fixed, o.Inducing = costs, "rbf(variance=1.1, lengthscale=1.2) + constant(variance=1)", true, 40
	m, err := lossep.Fit(context.Background(), rowsBetween(all, 0, 300), o)
	if err != nil {
		t.Fatal(err)
	}
	next := updated(t, m, rowsBetween(all, 300, 360), lossep.UpdateOptions{Forget: rowsBetween(all, 0, 20)})
	// What the points leave open of the rows of the fit is not known of others.
	loaded, err := lossep.Read(bytes.NewReader(written(t, next)))
	if err != nil {
		t.Fatal(err)
	}
	for want, m := range map[bool]*lossep.Model{true: m, false: loaded} {
		text := strings.Join(m.Results(), "\n")
		if strings.Contains(text, "lower bound") != want || strings.Contains(text, "unexplained") != want || !strings.Contains(text, "40 for 3") {
			t.Errorf("points are described as %s", text)
		}
	}
	if _, err := next.Calibrate(context.Background(), nil); err != nil {
		t.Error(err)
	}
}

// Effects learn from further rows most of what they learn from all at once: earlier rows told the process
// and the effects as if the other were known, so that both hold on to it more than they should. And what rows taken away told is gone but for terms of second order.
func TestUpdateOfEffects(t *testing.T) {
	all, test := crossedTable(t, 4000, 1), crossedTable(t, 2000, 2)
	fit := func(rows *table.Table) *lossep.Model {
		m, err := lossep.Fit(context.Background(), rows, lossep.Options{
			Kernel: "matern32(variance=0.5, lengthscale=2) + constant(variance=1) + effects(origin, hour/10)", Fixed: true, Inducing: 60,
			Data: recipe.Options{Target: "late", Positive: "yes"},
		})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := fit(rowsBetween(all, 0, 3000))
	next := updated(t, m, rowsBetween(all, 3000, 4000), lossep.UpdateOptions{})
	before, _ := logLoss(t, m, test)
	after, _ := logLoss(t, next, test)
	whole, _ := logLoss(t, fit(all), test)
	if !(whole < before-0.005 && after < before-0.6*(before-whole)) {
		t.Errorf("log loss %.5f, with further rows %.5f, of a fit of all %.5f", before, after, whole)
	}
	back := updated(t, next, nil, lossep.UpdateOptions{Forget: rowsBetween(all, 3000, 4000)})
	if d, moved := furthest(probabilities(t, back, test), probabilities(t, m, test)), furthest(probabilities(t, next, test), probabilities(t, m, test)); d > 0.3*moved {
		t.Errorf("probabilities are %g from what they were, after a change of %g", d, moved)
	}
}
