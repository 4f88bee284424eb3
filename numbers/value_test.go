package numbers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
)

// What is known of a mixture of normals is what a fine sum says, and the quantile is where its distribution function is.
func TestBlend(t *testing.T) {
	plain := &Transform{Name: "none", Scale: 1}
	parts := []Distribution{newNormals([]Part{{1, -1, 0.5}}, plain, 0), newNormals([]Part{{1, 2, 1}}, plain, 0)}
	whole := newNormals([]Part{{0.3, -1, 0.5}, {0.7, 2, 1}}, plain, 0)
	m := blend{parts: parts, weights: []float64{0.3, 0.7}}
	for _, p := range []float64{0.01, 0.2, 0.31, 0.75, 0.99} {
		if got, want := m.Quantile(p), whole.Quantile(p); math.Abs(got-want) > 1e-9 {
			t.Errorf("quantile %v: %v, want %v", p, got, want)
		}
	}
	for _, a := range []float64{-2, 0, 3} {
		if math.Abs(m.Short(a)-whole.Short(a)) > 1e-12 || math.Abs(m.Excess(a)-whole.Excess(a)) > 1e-12 || math.Abs(m.Mean()-whole.Mean()) > 1e-12 {
			t.Errorf("at %v: %v and %v", a, m.Short(a), m.Excess(a))
		}
	}
	counts := blend{parts: []Distribution{newCounts(0, 0, math.Inf(1)), newCounts(3, 0, math.Inf(1))}, weights: []float64{0.5, 0.5}}
	for _, p := range []float64{0.05, 0.4, 0.5, 0.6, 0.95} {
		q := counts.Quantile(p)
		upTo := func(y float64) float64 {
			return counts.sum(func(d Distribution) float64 { return d.CDF(y) })
		}
		if q != math.Trunc(q) || upTo(q) < p || q > 0 && upTo(q-1) >= p {
			t.Errorf("quantile %v of counts: %v, up to which there is %v, and before it %v", p, q, upTo(q), upTo(q-1))
		}
	}
}

// The outcome is worth all that is expected to be lost where any action is possible, and with steps what is beyond the
// distance to the next one. A column that says everything about a switch of the outcome is worth what the closed form
// says, and one that says nothing is worth nothing.
func TestWorthOfKnowing(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	data := tableOf(t, "switch.csv", "kind,noise,y", 300, func(int) string {
		kind := rng.IntN(2)
		return fmt.Sprintf("%s,%.5f,%.5f", []string{"low", "high"}[kind], rng.NormFloat64(), 10*float64(kind)+0.1*rng.NormFloat64())
	})
	_, m := prepared(t, data, "under=3,over=1", func(o *lossep.Options) { o.Data.Weights, o.Kernel = "", "linear + constant" })
	ask := lossep.Ask{Columns: []string{"kind", "noise"}}
	v, err := m.Measuring(ask)
	if err != nil {
		t.Fatal(err)
	}
	x, _, err := m.Recipe().Apply(tableOf(t, "new.csv", "kind,noise", 1, func(int) string { return "low,0.1" }))
	if err != nil {
		t.Fatal(err)
	}
	units, err := m.Costs().Stake(nil)
	if err != nil {
		t.Fatal(err)
	}
	worth, err := v.Worth(t.Context(), x.RawRowView(0), units)
	if err != nil {
		t.Fatal(err)
	}
	// Half of the 50 nearest rows are of each kind, about; of a share s of high ones the action is 10 at a cost of 1·10(1 − s),
	// or 0 at 3·10·s, the least of which is lost: 5 of a half, and noise of 0.1 changes it by 0.2.
	if worth[0] < 2.5 || worth[0] > 7.5 || worth[1] > 0.05 {
		t.Errorf("worth of the kind %v, of the noise %v", worth[0], worth[1])
	}
	all, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	c := units.Choose(all[0])
	if got := OutcomeWorth(units, all[0], c); math.Abs(got-c.Expected) > 1e-9*c.Expected {
		t.Errorf("worth of the outcome %v of %v", got, c.Expected)
	}
	// The least of this cost is 0, at twice the outcome.
	twice, err := decision.ParseNumberSpec("costs.yaml", []byte("cost: (action - 2*outcome)*(action - 2*outcome)"))
	if err != nil {
		t.Fatal(err)
	}
	doubled, err := twice.Stake(nil)
	if err != nil {
		t.Fatal(err)
	}
	c = doubled.Choose(all[0])
	if got := OutcomeWorth(doubled, all[0], c); math.Abs(got-c.Expected) > 1e-6*c.Expected {
		t.Errorf("worth of the outcome %v of %v where the best action is twice the outcome", got, c.Expected)
	}
	stepped, err := decision.ParseNumberSpec("costs.yaml", []byte("{under: 3, over: 1, action: {from: -5, to: 15, step: 1}}"))
	if err != nil {
		t.Fatal(err)
	}
	steps, err := stepped.Stake(nil)
	if err != nil {
		t.Fatal(err)
	}
	c = steps.Choose(all[0])
	least := all[0].Expect(func(y float64) float64 {
		best := math.Inf(1)
		for a := -5.0; a <= 15; a++ {
			best = min(best, steps.Cost(a, y))
		}
		return best
	})
	if got := OutcomeWorth(steps, all[0], c); math.Abs(got-(c.Expected-least)) > 1e-9 || got >= c.Expected {
		t.Errorf("worth of the outcome with steps %v of %v, want %v", got, c.Expected, c.Expected-least)
	}
}
