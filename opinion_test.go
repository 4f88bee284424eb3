package lossep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/table"
)

// A method that has no number for a row has no opinion on it, which is no disagreement.
func TestNoPredictionIsNoDisagreement(t *testing.T) {
	costs := decision.Stakes{Table: decision.Table{{0, 5}, {1, 0}}, Costs: true}
	nothing := []float64{math.NaN(), math.NaN()}
	for action := range costs.Table {
		d := Decision{Choice: decision.Choice{Action: action}, Stakes: costs}
		d.compare(EP, nothing)
		if len(d.Disagreeing) != 0 {
			t.Errorf("action %d: %v", action, d.Disagreeing)
		}
		d.compare(EP, []float64{float64(action), float64(1 - action)})
		if got, ok := d.Disagreeing[EP]; !ok || got != 1-action {
			t.Errorf("action %d: %v", action, d.Disagreeing)
		}
	}
}

// TestDisagreementFarFromTheThreshold: a value of variance w that one label says something about has
// P = ½ + asin(w/(1+w))/π at its input, 0.986 with w = 1000; a Gaussian with the mean and the variance
// of the posterior has 0.907. Corrections are exact there, and are heard wherever the threshold lies
// between the two, however far from EP's probability that is.
func TestDisagreementFarFromTheThreshold(t *testing.T) {
	want := 0.5 + math.Asin(1000.0/1001)/math.Pi
	for _, rows := range []int{4, pairedRows + 10} {
		var b strings.Builder
		b.WriteString("a,y\n")
		for i := range rows {
			fmt.Fprintf(&b, "%d,%s\n", i, []string{"no", "yes"}[i%2])
		}
		table, err := table.Read(t.Context(), strings.NewReader(b.String()), "far.csv", table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		o := autoOptions(t, EP)
		o.Kernel, o.Fixed = "rbf(variance=1000, lengthscale=0.001)", true
		m, err := Fit(t.Context(), table, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, fp := range []float64{12, 24, 48} { // positive where P is above fp/(1 + fp): 0.92 to 0.98
			stakes := decision.Stakes{Table: decision.Table{{0, 1}, {fp, 0}}, Costs: true}
			decisions, err := m.Decide(m.x, stakes)
			if err != nil {
				t.Fatal(err)
			}
			m.Consult(m.x, decisions)
			for i, d := range decisions {
				if m.labels[i] == 0 {
					continue
				}
				if p := d.Probability(); d.Action != 0 || !(p < 0.92 && want > fp/(1+fp)) {
					t.Fatalf("%d rows: nothing is tested: P = %v and %v", rows, p, want)
				}
				if other, ok := d.Disagreeing[Corrected]; !ok || other != 1 {
					t.Errorf("%d rows, fp=%v, row %d: disagreeing %v", rows, fp, i, d.Disagreeing)
				}
			}
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
	table, err := table.Read(t.Context(), strings.NewReader(b.String()), "certain.csv", table.Format{})
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
	var parts [][]opinion
	sum := 0.0
	for k := range 10 {
		weights, parts = append(weights, []float64{0.75 / 5, 0.25 / 5}[k/5]), append(parts, m.opinions)
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
	one := *m
	m.opinions = mixed(weights, parts)
	predictions, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	decisions, err := m.Decide(x)
	if err != nil {
		t.Fatal(err)
	}
	open := mat.NewDense(1, 2, []float64{100, math.NaN()})
	worth, err := one.WorthOf(t.Context(), open, Ask{Columns: []string{"b"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range [][]float64{predictions[0].Probabilities, decisions[0].Probabilities, worth[0].Probabilities} {
		if p[1] != 1 {
			t.Errorf("P = %v", p)
		}
	}
}
