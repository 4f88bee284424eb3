package numbers

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/normal"
)

// Under costs of a unit the actions within a capacity are quantiles at one price. Of normals of the same width they are all
// as far from their means, so that actions and costs are known; a case that counts twice is two.
func TestAuditWithinCapacity(t *testing.T) {
	const sd, under, over, most = 2.0, 3.0, 1.0, 100.0
	rng := rand.New(rand.NewPCG(2, 7))
	a := &auditing{ways: []way{{}}, shared: &sharing{}}
	var err error
	costs, err := decision.ParseNumberCosts("under=3,over=1")
	if err != nil {
		t.Fatal(err)
	}
	if a.shared.limits, err = costs.Within([]decision.Capacity{{Name: "action", Most: most}}); err != nil {
		t.Fatal(err)
	}
	plain := &Transform{Scale: 1}
	var means []float64
	for i := range 12 {
		mean, y := 10+rng.NormFloat64(), 10+3*rng.NormFloat64()
		stake := decision.Stake{Loss: decision.Pinball{Under: under, Over: over}}
		d := newNormals([]Part{{1, mean, sd}}, plain, 0)
		means = append(means, mean)
		a.weights = append(a.weights, 1+float64(i%2))
		a.cases = append(a.cases, scoredCase{CostCase: CostCase{Outcome: y}})
		a.ways[0].Costs = append(a.ways[0].Costs, stake.Cost(stake.Best(d), y))
		a.shared.cases = append(a.shared.cases, decision.NumberCase{Stake: stake, Of: d, Efforts: [][]float64{{1}}})
	}
	mean := func(of func(i int) float64, _ *compare.Range) compare.Estimate {
		sum := 0.0
		for i, w := range a.weights {
			sum += w * of(i)
		}
		return compare.Estimate{Mean: sum / floats.Sum(a.weights)}
	}
	out := new(Audit)
	if err := a.limited(out, mean); err != nil {
		t.Fatal(err)
	}
	z := (most - floats.Dot(means, a.weights)) / (sd * floats.Sum(a.weights))
	price := under - (under+over)*normal.CDF(z)
	want := mean(func(i int) float64 { return a.shared.cases[i].Cost(means[i]+sd*z, a.cases[i].Outcome) }, nil).Mean
	got := out.Limited
	// The price is found to the precision of numbers, and quantiles to 1e-13.
	for _, c := range [][2]float64{{got.Cost.Value, want}, {got.Limits[0].Price, price}, {got.Limits[0].Used, most}, {got.Extra.Value, want - mean(func(i int) float64 { return a.ways[0].Costs[i] }, nil).Mean}} {
		if math.Abs(c[0]-c[1]) > 1e-9*(1+math.Abs(c[1])) {
			t.Errorf("%v, want %v", c[0], c[1])
		}
	}
}

// A capacity that is never short changes nothing, whatever the costs; one per group is one for each.
func TestAuditOfAmpleCapacity(t *testing.T) {
	o := lossep.Options{Kernel: "rbf"}
	o.Data.Target, o.Data.Groups = "y", "g"
	for _, text := range []string{"under=2*price,over=1", "cost: (outcome - action)*(outcome - action)\naction: {from: 0, to: 12, step: 1}"} {
		costs, err := decision.ParseNumberCosts(text)
		if err != nil {
			costs, err = decision.ParseNumberSpec("costs.yaml", []byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
		a, err := RunAudit(context.Background(), sold(t, false), o, costs, AuditOptions{Folds: 2, Capacity: []decision.Capacity{{Name: "action", Most: 1e6}}, Per: "g"})
		if err != nil {
			t.Fatal(err)
		}
		l := a.Limited
		if l.Extra.Value != 0 || l.Limits[0].Price != 0 || l.Periods != 15 || math.Abs(l.Cost.Value-a.Methods[0].Cost) > 1e-12 {
			t.Errorf("%s: %+v beside a cost of %v", text, l, a.Methods[0].Cost)
		}
	}
}

// With normal noise the exact posterior is that of expectation propagation, and chains decide as it does but for the noise
// of 400 independent draws: their latent value is less wide than the outcome.
func TestAuditByExactAndChains(t *testing.T) {
	o := lossep.Options{Kernel: "rbf"}
	o.Data.Target = "y"
	costs, err := decision.ParseNumberCosts("under=3,over=1")
	if err != nil {
		t.Fatal(err)
	}
	a, err := RunAudit(context.Background(), sold(t, false), o, costs, AuditOptions{Folds: 2, Methods: []lossep.Method{NUTS, Exact}})
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) []float64 {
		return a.Actions[slices.IndexFunc(a.Methods, func(m Audited) bool { return m.Name == name })]
	}
	own, exactly, chains := at("model"), at("Exact"), at("NUTS")
	for i, c := range a.Decisions {
		sd := (c.High - c.Low) / (2 * 1.645)
		if math.Abs(own[i]-exactly[i]) > 1e-9*math.Abs(own[i]) || math.Abs(own[i]-chains[i]) > 4.5*sd/math.Sqrt(400) {
			t.Errorf("case %d: %v, exactly %v, by chains %v; standard deviation %v", i, own[i], exactly[i], chains[i], sd)
		}
	}
	if _, err := RunAudit(context.Background(), sold(t, false), o, costs, AuditOptions{Folds: 2, Methods: []lossep.Method{"corrected"}}); err == nil {
		t.Error("corrections are taken for those of numbers")
	}
}

// A blend of normals is their mixture, and one of counts the sum over counts.
func TestBlendAsDistribution(t *testing.T) {
	check := func(what string, got, want, bound float64) {
		t.Helper()
		if !(math.Abs(got-want) <= bound) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	plain := &Transform{Scale: 1}
	parts := []Part{{0.5, 0, 1}, {0.3, 2, 0.5}, {0.2, -3, 2}}
	whole, mixed := newNormals(slices.Clone(parts), plain, 0), blend{}
	for _, p := range parts {
		mixed.parts, mixed.weights = append(mixed.parts, newNormals([]Part{{1, p.Mean, p.SD}}, plain, 0)), append(mixed.weights, p.Weight)
	}
	for _, y := range []float64{-9, -2, 0.3, 2, 5} {
		check("normals", mixed.CDF(y), whole.CDF(y), 1e-12)
		check("normals", mixed.LogDensity(y), whole.LogDensity(y), 1e-12)
		check("normals", mixed.CRPS(y), whole.CRPS(y), 1e-7) // by quadrature both
	}
	for _, p := range []float64{0.01, 0.4, 0.97} {
		check("quantile", mixed.Quantile(p), whole.Quantile(p), 1e-9)
	}
	of := blend{parts: []Distribution{newCounts(0.5, 0.2, math.Inf(1)), newCounts(1.5, 0.1, 3)}, weights: []float64{0.6, 0.4}}
	for _, y := range []float64{0, 2, 9} {
		crps, below := 0.0, 0.0
		for k := range 400 {
			below += 0.6*math.Exp(of.parts[0].LogDensity(float64(k))) + 0.4*math.Exp(of.parts[1].LogDensity(float64(k)))
			if p := below; float64(k) >= y {
				crps += (p - 1) * (p - 1)
			} else {
				crps += p * p
			}
		}
		check("counts", of.CRPS(y), crps, 1e-6) // of all but a billionth, and nodes of the trapezoidal rule
	}
}
