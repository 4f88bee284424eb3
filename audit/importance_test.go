package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep"
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
	a, err := New(table(t, b.String()), Options{
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
