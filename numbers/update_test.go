package numbers_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

func between(t *table.Table, from, to int) *table.Table {
	var rows []int
	for i := from; i < to; i++ {
		rows = append(rows, i)
	}
	return t.Subset(rows)
}

// updated is a model that was updated, written and read.
func updated(t *testing.T, m *numbers.Model, more *table.Table, o lossep.UpdateOptions) *numbers.Model {
	t.Helper()
	next, err := m.Update(context.Background(), more, o)
	if err != nil {
		t.Fatal(err)
	}
	return reread(t, next)
}

func reread(t *testing.T, m *numbers.Model) *numbers.Model {
	t.Helper()
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	again, err := numbers.Read(&file, lossep.DefaultMaxMemory)
	if err != nil {
		t.Fatalf("the file of an updated model: %v", err)
	}
	return again
}

// rowsOf are the encoded rows of a table.
func rowsOf(t *testing.T, m *numbers.Model, data *table.Table) (*mat.Dense, []float64) {
	t.Helper()
	x, _, err := m.Recipe().Apply(data)
	if err != nil {
		t.Fatal(err)
	}
	values, err := m.Recipe().Numbers(data)
	if err != nil {
		t.Fatal(err)
	}
	return x, values
}

// furthest is the largest difference of quantiles in relation to the spread.
func furthest(t *testing.T, a, b *numbers.Model, data *table.Table) (most float64) {
	t.Helper()
	x, _ := rowsOf(t, a, data)
	p, err := a.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	q, err := b.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p {
		spread := p[i].Quantile(0.84) - p[i].Quantile(0.16)
		for _, share := range []float64{0.1, 0.5, 0.9} {
			most = max(most, math.Abs(p[i].Quantile(share)-q[i].Quantile(share))/spread)
		}
	}
	return most
}

// With normal noise an update is exact regression on all rows, old ones with a weight where they fade; and rows
// that are taken away leave no trace.
func TestUpdateIsExactRegression(t *testing.T) {
	all := noisy(t, 90, 3)
	_, m := fit(t, between(all, 0, 60), "rbf + constant", "under=3,over=1")
	x, values := rowsOf(t, m, all)
	isRegression(t, updated(t, m, between(all, 60, 90), lossep.UpdateOptions{}), x, values, nil, 1e-8)
	weights := make([]float64, 90)
	for i := range weights {
		weights[i] = 1
		if i < 60 {
			weights[i] = 0.5
		}
	}
	next := updated(t, m, between(all, 60, 90), lossep.UpdateOptions{HalfLife: 30})
	isRegression(t, next, x, values, weights, 1e-8)
	back := updated(t, next, nil, lossep.UpdateOptions{Forget: between(all, 0, 60)})
	isRegression(t, back, mat.DenseCopyOf(x.Slice(60, 90, 0, 2)), values[60:], nil, 1e-8)
	if s := back.Summary(); s.Rows != 30 || s.Updates.Added != 30 || s.Updates.Forgotten != 60 || !s.Updates.Faded || back.Examples() != nil || next.Examples() == nil {
		t.Errorf("%+v of %d rows", s.Updates, s.Rows)
	}
	if loo, fresh := next.Summary().LeaveOneOut, m.Summary().LeaveOneOut; loo == nil || loo.Rows <= fresh.Rows {
		t.Errorf("left out %+v, before the update %+v", loo, fresh)
	}
}

// With inducing points of all rows an update is nearly so: the points stay those of the first rows. What is forgotten is
// gone, but for rounding.
func TestUpdateOfInducingPoints(t *testing.T) {
	for name, draw := range map[string]func(a, b float64, rng *rand.Rand) float64{
		"normal": func(a, b float64, rng *rand.Rand) float64 { return 5 + 2*smooth(a, b) + 0.3*rng.NormFloat64() },
		"counts": func(a, b float64, rng *rand.Rand) float64 { return drawCount(rng, math.Exp(1+smooth(a, b))) },
	} {
		all := drawn(t, 240, 3, draw)
		spec, err := decision.ParseNumberCosts("under=2+a*a,over=1")
		if err != nil {
			t.Fatal(err)
		}
		p, err := numbers.Prepare(between(all, 0, 200), lossep.Options{Data: recipe.Options{Target: "y"}, Kernel: "rbf + constant", Inducing: 60, Seed: 1, CostFeatures: true}, spec)
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.Fit(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		next := updated(t, m, between(all, 200, 240), lossep.UpdateOptions{})
		if name == "normal" {
			x, values := rowsOf(t, m, all)
			isRegression(t, next, x, values, nil, 0.02)
		}
		if d := furthest(t, m, next, all); d < 0.05 {
			t.Errorf("%s: further rows change nothing: %v", name, d)
		}
		if d := furthest(t, m, updated(t, next, nil, lossep.UpdateOptions{Forget: between(all, 200, 240)}), all); d > 1e-8 {
			t.Errorf("%s: what was taken away is still known: %v", name, d)
		}
		again := updated(t, m, between(all, 200, 240), lossep.UpdateOptions{RefitKernel: true})
		if s := again.Summary(); s.Rows != 240 || s.Inducing != 60 || !s.Updates.Refitted || s.LeaveOneOut == nil || again.Kernel() == m.Kernel() {
			t.Errorf("%s: refitted %+v", name, s.Updates)
		}
	}
}

// Outcomes that the model could not have been fitted to are refused, by their place.
func TestUpdateRefuses(t *testing.T) {
	counts := drawn(t, 60, 5, func(a, b float64, rng *rand.Rand) float64 { return drawCount(rng, math.Exp(1+smooth(a, b))) })
	_, ofCounts := fit(t, counts, "rbf + constant", "under=3,over=1")
	amounts := drawn(t, 60, 9, func(a, b float64, rng *rand.Rand) float64 { return math.Exp(smooth(a, b) + 0.2*rng.NormFloat64()) })
	_, ofAmounts := fit(t, amounts, "rbf + constant", "under=3,over=1")
	for _, c := range []struct {
		m    *numbers.Model
		y    float64
		want string
	}{
		{ofCounts, 2.5, "2.5 is no count"},
		{ofCounts, -1, "-1 is no count"},
		{ofAmounts, 0, "0 has no log(outcome)"},
		{ofAmounts, 1e60, "1e+60 is beyond"},
	} {
		bad := drawn(t, 1, 1, func(_, _ float64, _ *rand.Rand) float64 { return c.y })
		if _, err := c.m.Update(context.Background(), bad, lossep.UpdateOptions{}); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("an outcome of %v: %v; want %q", c.y, err, c.want)
		}
	}
	if _, err := ofCounts.Update(context.Background(), nil, lossep.UpdateOptions{Forget: counts}); err == nil || !strings.Contains(err.Error(), "0 rows would be left") {
		t.Errorf("no row is left: %v", err)
	}
}

// A model by any method is that of a fit to all rows by its kernel: with normal noise it is exact regression.
func TestUpdateByEveryMethod(t *testing.T) {
	data := noisy(t, 60, 3)
	for _, method := range numbers.Methods() {
		_, m := fitBy(t, between(data, 0, 50), lossep.Options{Kernel: "rbf + constant", Method: method}, "under=3,over=1")
		next := updated(t, m, between(data, 50, 60), lossep.UpdateOptions{})
		if next.Method() != method || (next.Summary().Ceiling > 0) != method.Calibrated() {
			t.Errorf("%s: %+v", method, next.Summary())
		}
		if x, y := rowsOf(t, m, data); method != lossep.LossVI {
			isRegression(t, next, x, y, nil, 1e-8)
		}
	}
}
