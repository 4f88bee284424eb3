package lossep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
)

// A method that has no number for a row has no opinion on it, which is no dissent, and
// nobody is asked whether its number could be corrected.
func TestNoOpinionIsNoDissent(t *testing.T) {
	costs := decision.Stakes{Table: decision.Table{{0, 5}, {1, 0}}, Costs: true}
	nothing := []float64{math.NaN(), math.NaN()}
	for action := range costs.Table {
		d := Decision{Choice: decision.Choice{Action: action}, Stakes: costs}
		d.hear(EP, nothing)
		if len(d.Dissent) != 0 {
			t.Errorf("action %d: %v", action, d.Dissent)
		}
		if rows := closeCalls([]Decision{d}, [][]float64{nothing}, 1); len(rows) != 0 {
			t.Errorf("action %d: the corrections of no number are asked for", action)
		}
		d.hear(EP, []float64{float64(action), float64(1 - action)})
		if got, ok := d.Dissent[EP]; !ok || got != 1-action {
			t.Errorf("action %d: %v", action, d.Dissent)
		}
	}
}

// TestCertainMixture: weights that add up to one but for rounding make no probability above one of
// outcomes that all parts are certain of, and no such row is refused.
func TestCertainMixture(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,b,y\n")
	rng := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		a, y := rng.NormFloat64(), "no"
		if a+rng.NormFloat64() > 0 {
			y = "yes"
		}
		fmt.Fprintf(&b, "%.4f,%.4f,%s\n", a, rng.NormFloat64(), y)
	}
	table, err := data.Read(t.Context(), strings.NewReader(b.String()), "certain.csv", data.Format{})
	if err != nil {
		t.Fatal(err)
	}
	o := autoOptions(t, EP)
	o.Kernel, o.Fixed = "linear + constant", true
	m, err := Fit(t.Context(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	var weights []float64
	var parts []*Model
	sum := 0.0
	for k := range 10 {
		weights, parts = append(weights, []float64{0.75 / 5, 0.25 / 5}[k/5]), append(parts, m)
		sum += weights[k]
	}
	x := mat.NewDense(1, 2, []float64{100, 0})
	before, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	if !(sum > 1) || before[0].Probabilities[1] != 1 {
		t.Fatalf("nothing is tested: weights add up to %v, P = %v", sum, before[0].Probabilities)
	}
	m = mixed(weights, parts, nil, 0)
	predictions, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	decisions, err := m.Decide(x)
	if err != nil {
		t.Fatal(err)
	}
	open := mat.NewDense(1, 2, []float64{100, math.NaN()})
	worth, err := parts[0].WorthOf(t.Context(), open, Ask{Columns: []string{"b"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range [][]float64{predictions[0].Probabilities, decisions[0].Probabilities, worth[0].Probabilities} {
		if p[1] != 1 {
			t.Errorf("P = %v", p)
		}
	}
}
