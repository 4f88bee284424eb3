package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/recipe"
)

// A column that decides is worth something, one that is noise nothing, and a category is
// exchanged as a whole.
func TestImportance(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 13))
	var b strings.Builder
	b.WriteString("noise,x,colour,class\n")
	for range 200 {
		x, colour, class := rng.NormFloat64(), []string{"red", "green", "blue"}[rng.IntN(3)], "no"
		if 2*x+map[string]float64{"red": 1.5, "green": 0, "blue": -1.5}[colour]+0.7*rng.NormFloat64() > 0 {
			class = "yes"
		}
		fmt.Fprintf(&b, "%.4f,%.4f,%s,%s\n", rng.NormFloat64(), x, colour, class)
	}
	a, err := New(t.Context(), tableOf(t, b.String()), Options{
		Fit:     lossep.Options{Utility: costsOf(t, "fn=2,fp=1"), Method: lossep.EP, Kernel: "linear + constant"},
		Methods: []lossep.Method{lossep.EP}, Folds: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	folds := run(t, a)
	r, err := a.Summarise(folds)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, i := range r.Importances {
		order = append(order, i.Column)
		if i.Cost.Low > i.Cost.Value || i.Cost.High < i.Cost.Value {
			t.Errorf("importance %+v", i)
		}
	}
	if !slices.Equal(order, []string{"x", "colour", "noise"}) {
		t.Fatalf("in order of importance: %v", order)
	}
	if x, colour, noise := r.Importances[0], r.Importances[1], r.Importances[2]; x.P > 0.001 || colour.P > 0.001 || noise.P < 0.05 || x.Cost.Low < 0.2 || x.Changed < noise.Changed {
		t.Errorf("%+v", r.Importances)
	}
	// The model is linear on the latent scale, so a value of x above the mean raises the
	// probability, and one below lowers it.
	x, err := a.table.Floats("x")
	if err != nil {
		t.Fatal(err)
	}
	agree, effects, size := 0, 0, make(map[string]float64)
	for _, c := range r.Nearest {
		if len(c.Effects) != 3 || math.Abs(c.Effects[0].Raises) < math.Abs(c.Effects[2].Raises) {
			t.Fatalf("effects %+v", c.Effects)
		}
		for _, e := range c.Effects {
			if e.Column == "x" && math.Abs(x[c.Row-1]) > 0.3 {
				effects++
				if (e.Raises > 0) == (x[c.Row-1] > 0) {
					agree++
				}
			}
			size[e.Column] += math.Abs(e.Raises) / float64(len(r.Nearest))
		}
	}
	if size["noise"] > size["x"]/3 {
		t.Errorf("mean effects %v", size)
	}
	if effects == 0 || agree != effects {
		t.Errorf("%d of %d effects of x have its sign", agree, effects)
	}
}

// What a column does to a case, against a model that is fitted anew and asked about the
// case with the column's cell of every case learned from, each counted as often as such cases
// are where decisions are made.
func TestEffectsByBruteForce(t *testing.T) {
	for _, o := range []recipe.Options{{}, {Prevalence: 0.05}, {Weights: "weight"}} {
		t.Run(fmt.Sprint(o.Prevalence, o.Weights), func(t *testing.T) { effectsByBruteForce(t, o) })
	}
}

func effectsByBruteForce(t *testing.T, reading recipe.Options) {
	rng := rand.New(rand.NewPCG(22, 23))
	var b strings.Builder
	b.WriteString("x,z,colour,weight,class\n")
	for range 90 {
		x, z, colour, weight, class := rng.NormFloat64(), rng.NormFloat64(), []string{"red", "green"}[rng.IntN(2)], 1.95, "no"
		if x*z+map[string]float64{"red": 1, "green": -1}[colour]+0.5*rng.NormFloat64() > 0 {
			weight, class = 0.05, "yes"
		}
		fmt.Fprintf(&b, "%.4f,%.4f,%s,%v,%s\n", x, z, colour, weight, class)
	}
	all := tableOf(t, b.String())
	if reading.Weights == "" {
		reading.Drop = []string{"weight"}
	}
	o := lossep.Options{Data: reading, Utility: costsOf(t, "fn=2,fp=1"), Method: lossep.EP, Kernel: "rbf(variance=4, lengthscale=1.2)", Fixed: true}
	a, err := New(t.Context(), all, Options{Fit: o, Methods: []lossep.Method{lossep.EP}, Folds: 2})
	if err != nil {
		t.Fatal(err)
	}
	folds := run(t, a)
	compared := 0
	for n, f := range folds {
		train := a.splits[0][n].Train
		p, err := lossep.Prepare(all.Subset(train), o)
		if err != nil {
			t.Fatal(err)
		}
		weights := p.CaseWeights()
		if weights == nil {
			weights = slices.Repeat([]float64{1}, len(train))
		}
		m, err := lossep.Fit(t.Context(), all.Subset(train), o)
		if err != nil {
			t.Fatal(err)
		}
		ask := func(text string) []float64 {
			x, _, err := m.Recipe().Apply(tableOf(t, text))
			if err != nil {
				t.Fatal(err)
			}
			p, err := probabilities(m, x)
			if err != nil {
				t.Fatal(err)
			}
			return positives(p)
		}
		for row, effects := range f.Effects {
			for _, e := range effects {
				column, err := all.Column(e.Column)
				if err != nil {
					t.Fatal(err)
				}
				text := "x,z,colour,weight,class\n" + strings.Join(all.Row(row), ",") + "\n"
				for _, i := range train {
					cells := slices.Clone(all.Row(row))
					cells[column] = all.Row(i)[column]
					text += strings.Join(cells, ",") + "\n"
				}
				p := ask(text)
				mean := 0.0
				for k, q := range p[1:] {
					mean += q * weights[k] / floats.Sum(weights)
				}
				// 24 values stand for 45: half of one of them is out of place.
				if want := p[0] - mean; math.Abs(e.Raises-want) > 0.5/lossep.ReferenceValues {
					t.Errorf("row %d, %s: %v, by brute force %v", row, e.Column, e.Raises, want)
				}
				threshold := 1.0 / 3
				if math.Abs(mean-threshold) > 0.5/lossep.ReferenceValues && e.Flips != ((mean > threshold) != (p[0] > threshold)) {
					t.Errorf("row %d, %s flips: %v", row, e.Column, e.Flips)
				}
				compared++
			}
		}
	}
	if compared < 100 {
		t.Errorf("%d effects compared", compared)
	}
}

// Half of the cases are sick, and one in fifty where decisions are made. The test is N(3, 1) among
// the sick and N(0, 1) among others, and positive above c: with the cell of another case it says as little as
// an action at random, as often positive as tests are there.
func TestImportanceInPopulation(t *testing.T) {
	const share, missed = 0.02, 20.0
	rng := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	b.WriteString("test,weight,sick\n")
	for i := range 400 {
		test, weight, sick := rng.NormFloat64(), 2*(1-share), "no"
		if i%2 == 0 {
			test, weight, sick = test+3, 2*share, "yes"
		}
		fmt.Fprintf(&b, "%.4f,%v,%s\n", test, weight, sick)
	}
	// The log odds at a test of x are those of the share and 3x − 4.5.
	c := (4.5 + math.Log((1-share)/share) - math.Log(missed)) / 3
	positive := share*normal.CDF(3-c) + (1-share)*normal.CDF(-c)
	want := missed*share*(1-positive) + (1-share)*positive - missed*share*normal.CDF(c-3) - (1-share)*normal.CDF(-c)
	for name, reading := range map[string]recipe.Options{
		"prevalence": {Prevalence: share, Drop: []string{"weight"}}, "weights": {Weights: "weight"},
	} {
		o := lossep.Options{Data: reading, Utility: costsOf(t, "fn=20,fp=1"), Kernel: "linear(variance=5) + constant(variance=5)", Fixed: true}
		a, err := New(t.Context(), tableOf(t, b.String()), Options{Fit: o, Methods: []lossep.Method{lossep.EP}, Folds: 4})
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Summarise(run(t, a))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Importances[0].Cost.Value; math.Abs(got-want) > 0.06 {
			t.Errorf("%s: the test is worth %.3f, want %.3f", name, got, want)
		}
		sum, weight := 0.0, 0.0
		for _, d := range r.Decisions {
			if d.Method == r.Methods[0].Method {
				sum, weight = sum+d.Weight*d.Cost, weight+d.Weight
			}
		}
		if math.Abs(sum/weight-r.Methods[0].MeanCost) > 1e-12 {
			t.Errorf("%s: decisions cost %v on average, the result says %v", name, sum/weight, r.Methods[0].MeanCost)
		}
	}
}

// Every case gets the cell of another, and every cell goes to one case.
func TestDerangement(t *testing.T) {
	for _, n := range []int{2, 5, 40} {
		to := derangement(n, rand.New(rand.NewPCG(1, uint64(n))))
		seen := make([]bool, n)
		for i, j := range to {
			if i == j || seen[j] {
				t.Fatalf("%v", to)
			}
			seen[j] = true
		}
	}
}

// What importance takes grows with the inducing points that there are, not with the rows: a table of
// many rows and columns has it, too.
func TestImportanceWithInducingPoints(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 25))
	var b strings.Builder
	const columns = 10
	for k := range columns {
		fmt.Fprintf(&b, "x%d,", k)
	}
	b.WriteString("class\n")
	for range 3000 {
		sum := 0.3 * rng.NormFloat64()
		for k := range columns {
			x := rng.NormFloat64()
			if k == 0 {
				sum += x
			}
			fmt.Fprintf(&b, "%.4f,", x)
		}
		fmt.Fprintln(&b, map[bool]string{true: "yes", false: "no"}[sum > 0])
	}
	a, err := New(t.Context(), tableOf(t, b.String()), Options{
		Fit:     lossep.Options{Utility: costsOf(t, "fn=2,fp=1"), Method: lossep.EP, Kernel: "linear(variance=1) + constant(variance=1)", Fixed: true, Inducing: 12},
		Methods: []lossep.Method{lossep.EP}, Folds: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Summarise(run(t, a))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Importances) != columns || r.Importances[0].Column != "x0" || r.Importances[0].P > 0.001 {
		t.Errorf("importances %+v", r.Importances)
	}
}
