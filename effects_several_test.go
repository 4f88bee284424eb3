package lossep_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// crossedOutcomes is rows of a number, a category and another, of three outcomes that depend on the
// crossing of the number's tenths with the first category.
func crossedOutcomes(t *testing.T, n int, seed uint64) *table.Table {
	t.Helper()
	rng, fixed := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(8, 8)) // the same for every seed
	effect := make([]float64, 3*200)
	for i := range effect {
		effect[i] = fixed.NormFloat64()
	}
	var b strings.Builder
	b.WriteString("hour,origin,colour,arrival\n")
	for range n {
		hour, origin := rng.Float64(), rng.IntN(20)
		values := []float64{0, 0.8, -0.5}
		for c := range values {
			values[c] += effect[200*c+20*int(10*hour)+origin] + rng.NormFloat64()
		}
		fmt.Fprintf(&b, "%.4f,a%d,c%d,%s\n", hour, origin, rng.IntN(3), []string{"late", "on time", "very late"}[floats.MaxIdx(values)])
	}
	table, err := table.Read(context.Background(), strings.NewReader(b.String()), "table.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func fitOutcomes(t *testing.T, table *table.Table, o lossep.Options) *lossep.Model {
	t.Helper()
	o.Data.Target = "arrival"
	m, err := lossep.Fit(context.Background(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// outcomesLoss is the log loss of a table.
func outcomesLoss(t *testing.T, m *lossep.Model, of *table.Table) (loss float64) {
	t.Helper()
	x, _, err := m.Recipe().Apply(of)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	arrival, err := of.Texts("arrival")
	if err != nil {
		t.Fatal(err)
	}
	for i := range p {
		y := slices.Index(m.Recipe().Target.Outcomes, arrival[i])
		loss -= math.Log(p[i].Probabilities[y]) / float64(len(p))
	}
	return loss
}

// Three outcomes have effects each: a fit of many rows finds the crossing that they depend on, other rows
// gain by it as leave-one-out says, decisions have their reasons, and a file and an update keep it all.
func TestEffectsOfSeveralOutcomes(t *testing.T) {
	data, other := crossedOutcomes(t, 3000, 1), crossedOutcomes(t, 3000, 2)
	m := fitOutcomes(t, data, lossep.Options{Kernel: "constant + effects(auto)"})
	if all := terms(m); !slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, "hour/") && strings.Contains(s, "origin") }) {
		t.Fatalf("effects %q", all)
	}
	loss := outcomesLoss(t, m, other)
	if plain := outcomesLoss(t, fitOutcomes(t, data, lossep.Options{Kernel: "constant + effects(origin) + effects(hour/10)"}), other); !(loss < plain-0.01) {
		t.Errorf("log loss %.4f with the crossing, %.4f without", loss, plain)
	}
	// Three standard errors of the difference of means of 3000 log probabilities.
	if left := -m.Summary().LeaveOneOut.LogPredictive / 3000; math.Abs(left-loss) > 3*0.5*math.Sqrt(2.0/3000) {
		t.Errorf("log loss %.4f of rows left out one by one, %.4f of others", left, loss)
	}
	x, _, err := m.Recipe().Apply(other)
	if err != nil {
		t.Fatal(err)
	}
	first := x.Slice(0, 1, 0, x.RawMatrix().Cols).(*mat.Dense)
	decisions, err := m.Decide(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Explain(2, nil).Of(context.Background(), first, decisions); err != nil {
		t.Fatal(err)
	}
	// Families have a contribution for each outcome, and these add up to nothing.
	contributions := decisions[0].Contributions
	if len(contributions) != 3*len(terms(m)) || contributions[1].Outcome != "on time" || len(m.EffectFamilies())%3 != 0 {
		t.Errorf("contributions %+v", contributions)
	}
	for k := 0; k < len(contributions); k += 3 {
		if sum := contributions[k].Effect + contributions[k+1].Effect + contributions[k+2].Effect; math.Abs(sum) > 1e-9 {
			t.Errorf("contributions %+v add up to %g", contributions[k:k+3], sum)
		}
	}
	var file, second bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	again, err := lossep.Read(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if got := outcomesLoss(t, again, other); got != loss {
		t.Errorf("log loss %v of a model that was read, %v before", got, loss)
	}
	if err := again.Write(&second); err != nil || !bytes.Equal(file.Bytes(), second.Bytes()) {
		t.Errorf("a model that was read is written otherwise: %v", err)
	}
	calibrated, err := again.Calibrate(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := outcomesLoss(t, calibrated, other); math.Abs(got-loss) > 0.01 {
		t.Errorf("log loss %.4f calibrated, %.4f before", got, loss)
	}
	updated, err := again.Update(context.Background(), crossedOutcomes(t, 1000, 3), lossep.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := outcomesLoss(t, updated, other); !(got < loss) {
		t.Errorf("log loss %.4f with 1000 rows more, %.4f before", got, loss)
	}
}

// Every method, weights and forgetting go along with effects of several outcomes.
func TestEffectsOfSeveralByAllMethods(t *testing.T) {
	data := crossedOutcomes(t, 1000, 5)
	for _, o := range []lossep.Options{{}, {Method: lossep.VI}, {Method: lossep.Laplace}, {Method: lossep.LossEP}, {Data: recipe.Options{Weights: "hour"}}} {
		o.Kernel = "constant + effects(origin) + effects(colour)"
		m := fitOutcomes(t, data, o)
		if loss := outcomesLoss(t, m, data); !(loss < 1) || len(m.Summary().Effects) != 2 {
			t.Errorf("%s: log loss %.4f, effects %q", o.Method, loss, terms(m))
		}
		if o.Method != "" || o.Data.Weights != "" {
			continue
		}
		gone, err := m.Update(context.Background(), crossedOutcomes(t, 100, 6), lossep.UpdateOptions{Forget: data.Subset([]int{0, 1, 2})})
		if err != nil {
			t.Fatal(err)
		}
		if loss := outcomesLoss(t, gone, data); !(loss < 1) {
			t.Errorf("log loss %.4f after an update", loss)
		}
	}
}
