package lossep

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

	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// TestMixtureSharpened: all that a model says of new cases has the power in it, and a file
// and a calibration keep it.
func TestMixtureSharpened(t *testing.T) {
	m := fitWide(t, EP)
	x := m.recipeRows(t, wideTable(t, 20, 3, 2))
	m.summary.Sharpness = 0
	plain, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	m.summary.Sharpness = 1.4
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	loaded, err := Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	calibrated, err := loaded.Calibrate(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if calibrated.Summary().Sharpness != 1.4 {
		t.Errorf("calibrated the power is %v", calibrated.Summary().Sharpness)
	}
	predictions, err := loaded.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	decisions, err := loaded.Decide(x)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range plain {
		search.Temper(p.Probabilities, 1.4)
		if got := predictions[i].Probability(); math.Abs(got-p.Probability()) > 1e-14 {
			t.Errorf("row %d: %v, want %v", i, got, p.Probability())
		}
		if d := decisions[i]; d.Probability() != predictions[i].Probability() || d.Action != d.Stakes.Best(p.Probabilities, -1) {
			t.Errorf("row %d: decided by %v, predicted %v", i, d.Probabilities, p.Probabilities)
		}
	}
	if text := strings.Join(loaded.Results(), "\n"); !strings.Contains(text, "calibration slope  1.4: ") {
		t.Errorf("nothing is said of it: %s", text)
	}
	for _, wrong := range []float64{-1, 0.1, 5, math.NaN()} {
		s := m.summary
		s.Sharpness = wrong
		if s.checkSharpness() == nil {
			t.Errorf("a power of %v is read", wrong)
		}
	}
}

// TestPrevalenceLeavesPower: candidates are weighed and sharpened by the rows as they are,
// however frequent outcomes are where decisions are made.
func TestPrevalenceLeavesPower(t *testing.T) {
	plain := fitWide(t, EP)
	o := autoOptions(t, EP)
	o.Data.Prevalence = 0.02
	m, err := Fit(context.Background(), wideTable(t, 70, 3, 1), o)
	if err != nil {
		t.Fatal(err)
	}
	if m.summary.Sharpness != plain.summary.Sharpness || !slices.EqualFunc(m.Components(), plain.Components(), func(a, b Component) bool { return a.Weight == b.Weight }) {
		t.Errorf("power %v and weights %v, without a prevalence %v and %v", m.summary.Sharpness, m.Components(), plain.summary.Sharpness, plain.Components())
	}
	for k, c := range m.summary.Candidates {
		if c.LogPredictive != plain.summary.Candidates[k].LogPredictive {
			t.Errorf("%s: log predictive %v, without a prevalence %v", c.Name, c.LogPredictive, plain.summary.Candidates[k].LogPredictive)
		}
	}
}

// TestOrderOfCopies: where rows are written several times the folds have the same rows, in
// whatever order they come.
func TestOrderOfCopies(t *testing.T) {
	table := wideTable(t, 40, 1, 3)
	var rows []int
	for i := range 40 {
		for range 1 + i%3 {
			rows = append(rows, i)
		}
	}
	parts := func() (all []string) {
		p, err := Prepare(table.Subset(rows), autoOptions(t, EP))
		if err != nil {
			t.Fatal(err)
		}
		p = p.ordered()
		for k, s := range p.searched().Folds() {
			for _, i := range s.Test {
				all = append(all, fmt.Sprintf("%d: %.9f %d", k, p.X.RawRowView(i), p.Labels[i]))
			}
		}
		slices.Sort(all)
		return all
	}
	want := parts()
	rand.New(rand.NewPCG(4, 4)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	if got := parts(); len(got) != len(rows) || !slices.Equal(got, want) {
		t.Errorf("folds of the same rows in another order: %q and %q", got, want)
	}
}

// TestAdjust: standard errors change as probabilities do, sharpened and shifted.
func TestAdjust(t *testing.T) {
	of := func(power, prevalence float64) *Learned {
		target := recipe.Target{Rows: []int{70, 30}, Prevalence: prevalence}
		return &Learned{problem: &Problem{Recipe: &recipe.Recipe{Target: target}}, sharpness: power}
	}
	for _, l := range []*Learned{of(1.5, 0), of(0, 0.05), of(1.5, 0.05)} {
		for _, p := range []float64{0.01, 0.3, 0.5, 0.98} {
			const h = 1e-6
			at, errors := [][]float64{{1 - p + h, p - h}, {1 - p, p}, {1 - p - h, p + h}}, posterior.Tuples(3, 2)
			errors[1][1] = 1
			l.Adjust(at, errors)
			if want := (at[2][1] - at[0][1]) / (2 * h); math.Abs(errors[1][1]-want) > 1e-5*want {
				t.Errorf("power %v: at %v the standard error is multiplied by %v, want %v", l.sharpness, p, errors[1][1], want)
			}
		}
	}
	same, errors := [][]float64{{0.7, 0.3}}, [][]float64{{0.1, 0.1}}
	of(0, 0).Adjust(same, errors)
	if same[0][1] != 0.3 || math.Abs(errors[0][1]-0.1) > 1e-16 {
		t.Errorf("without either: %v ± %v", same[0], errors[0])
	}
}

// TestSharpenedOutcomes: so it is with more than two outcomes.
func TestSharpenedOutcomes(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	var b strings.Builder
	b.WriteString("a,b,y\n")
	for range 60 {
		x := [2]float64{rng.NormFloat64(), rng.NormFloat64()}
		y := "low"
		if x[0]+0.3*rng.NormFloat64() > 0 {
			y = "high"
		} else if x[1] > 0 {
			y = "middle"
		}
		fmt.Fprintf(&b, "%.4f,%.4f,%s\n", x[0], x[1], y)
	}
	table, err := table.Read(context.Background(), strings.NewReader(b.String()), "three.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := Fit(context.Background(), table, Options{Kernel: AutoKernel, Method: EP, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	x := m.recipeRows(t, table)
	m.summary.Sharpness = 0
	plain, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	m.summary.Sharpness = 1.7
	got, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range plain {
		search.Temper(p.Probabilities, 1.7)
		if floats.Distance(p.Probabilities, got[i].Probabilities, math.Inf(1)) > 1e-14 {
			t.Fatalf("row %d: %v, want %v", i, got[i].Probabilities, p.Probabilities)
		}
	}
}

// TestTimidTable: where outcomes are divided by a bent surface and rows are few, posteriors
// are timid, and the power that rows left out ask for makes new rows more probable.
func TestTimidTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	table := func(rows int) *table.Table {
		var b strings.Builder
		b.WriteString("a,b,c,d,y\n")
		for range rows {
			var x [4]float64
			for k := range x {
				x[k] = rng.NormFloat64()
				fmt.Fprintf(&b, "%.4f,", x[k])
			}
			y := "no"
			if x[0]+x[1]*x[2]+0.5*x[3] > 0 {
				y = "yes"
			}
			b.WriteString(y + "\n")
		}
		read, err := table.Read(context.Background(), strings.NewReader(b.String()), "divided.csv", table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		return read
	}
	m, err := Fit(context.Background(), table(150), autoOptions(t, EP))
	if err != nil {
		t.Fatal(err)
	}
	if !(m.summary.Sharpness > 1) {
		t.Fatalf("power %v: %v", m.summary.Sharpness, m.Results())
	}
	other := table(1000)
	labels, err := m.recipe.Labels(other)
	if err != nil {
		t.Fatal(err)
	}
	x := m.recipeRows(t, other)
	loss := func() (sum float64) {
		predictions, err := m.Predict(x)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range predictions {
			sum -= math.Log(p.Probabilities[labels[i]]) / float64(len(labels))
		}
		return sum
	}
	with := loss()
	m.summary.Sharpness = 0
	if without := loss(); !(with < without) {
		t.Errorf("log loss %v with the power, %v without", with, without)
	}
}
