package numbers_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

var problems = flag.Int("problems", 13, "random problems to fit")

// strange are outcomes of all sorts, of which nobody would be surprised in a table: tails, outliers of
// a million, no noise, hardly any difference, large counts, tiny and huge units.
var strange = map[string]func(a, b float64, rng *rand.Rand) float64{
	"cauchy":     func(a, b float64, rng *rand.Rand) float64 { return a + rng.NormFloat64()/rng.NormFloat64() },
	"outliers":   func(a, b float64, rng *rand.Rand) float64 { return smooth(a, b) + 1e6*math.Floor(rng.Float64()*1.03) },
	"no noise":   smoothly,
	"linear":     func(a, b float64, rng *rand.Rand) float64 { return 3*a - b },
	"noise":      func(a, b float64, rng *rand.Rand) float64 { return rng.NormFloat64() },
	"two values": func(a, b float64, rng *rand.Rand) float64 { return math.Floor(2 * rng.Float64()) },
	"one other":  func(a, b float64, rng *rand.Rand) float64 { return math.Floor(1.04 * rng.Float64()) },
	"counts": func(a, b float64, rng *rand.Rand) float64 {
		return math.Floor(1e9 * math.Exp(smooth(a, b)+0.1*rng.NormFloat64()))
	},
	"zeros":     func(a, b float64, rng *rand.Rand) float64 { return math.Max(0, smooth(a, b)+rng.NormFloat64()) },
	"tiny":      func(a, b float64, rng *rand.Rand) float64 { return 1e-30 * (smooth(a, b) + rng.NormFloat64()) },
	"huge":      func(a, b float64, rng *rand.Rand) float64 { return 1e30 * (5 + smooth(a, b) + rng.NormFloat64()) },
	"far":       func(a, b float64, rng *rand.Rand) float64 { return 1e12 + smooth(a, b) + 0.1*rng.NormFloat64() },
	"lognormal": func(a, b float64, rng *rand.Rand) float64 { return math.Exp(5 * rng.NormFloat64()) },
}

func smoothly(a, b float64, _ *rand.Rand) float64 { return smooth(a, b) }

// Whatever the outcomes, there is a model of finite numbers whose actions cost no more than their
// neighbours, or an error that says why not.
func TestStrangeOutcomes(t *testing.T) {
	kinds := slices.Sorted(maps.Keys(strange))
	for k := range *problems {
		rng := rand.New(rand.NewPCG(uint64(k), 9))
		name := kinds[k%len(kinds)]
		t.Run(fmt.Sprintf("%d %s", k, name), func(t *testing.T) { checkStrange(t, drawn(t, 12+rng.IntN(40), uint64(k), strange[name])) })
	}
}

func checkStrange(t *testing.T, data *table.Table) {
	costs, err := decision.ParseNumberCosts("under=15,over=5")
	if err != nil {
		t.Fatal(err)
	}
	p, err := numbers.Prepare(data, lossep.Options{Data: recipe.Options{Target: "y"}, Kernel: "matern32 + constant", Seed: 1}, costs)
	if flagged(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Fit(context.Background())
	if flagged(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(4, 2, []float64{0, 0, 1, -1, -3, 2, 50, 50})
	all, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range all {
		c := p.Stake(0).Choose(d)
		numbers := []float64{d.Mean(), d.Quantile(0.05), d.Quantile(0.95), d.CDF(p.Values[0]), d.LogDensity(p.Values[0]), d.CRPS(p.Values[0]), c.Action, c.Expected, c.ExpectedLower, c.ExpectedHigher}
		for _, v := range numbers {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("row %d: %v by %+v", i, numbers, m.Shape())
			}
		}
		// Rounding of the difference of two large means.
		slack := 1e-6*math.Abs(c.Expected) + 1e-12*math.Abs(d.Mean())
		if c.ExpectedLower < c.Expected-slack || c.ExpectedHigher < c.Expected-slack {
			t.Errorf("row %d: a neighbour of %+v costs less, by %+v", i, c, m.Shape())
		}
	}
}

// flagged tells whether an error says what is wrong with the rows.
func flagged(err error) bool {
	var start *search.StartError
	var improper *infer.ImproperError
	var input *lossep.InputError
	var place *table.Error
	return err != nil && (errors.As(err, &start) || errors.As(err, &improper) || errors.As(err, &input) || errors.As(err, &place) && strings.Contains(place.Msg, "in every row"))
}
