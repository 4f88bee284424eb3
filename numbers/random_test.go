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
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

var (
	problems = flag.Int("problems", 20, "random problems to fit")
	patience = flag.Duration("patience", 5*time.Minute, "how long a random problem may take")
)

// strange are outcomes of all sorts, of which nobody would be surprised in a table: tails, outliers of
// a million, no noise, no difference or hardly any, large counts, tiny and huge units.
var strange = map[string]func(a, b float64, rng *rand.Rand) float64{
	"cauchy":   func(a, b float64, rng *rand.Rand) float64 { return a + rng.NormFloat64()/rng.NormFloat64() },
	"outliers": func(a, b float64, rng *rand.Rand) float64 { return smooth(a, b) + 1e6*math.Floor(rng.Float64()*1.1) },
	"both sides": func(a, b float64, rng *rand.Rand) float64 {
		return smooth(a, b) + 1e6*math.Floor(rng.Float64()*2.2-0.1)
	},
	"no noise":   smoothly,
	"linear":     func(a, b float64, rng *rand.Rand) float64 { return 3*a - b },
	"noise":      func(a, b float64, rng *rand.Rand) float64 { return rng.NormFloat64() },
	"two values": func(a, b float64, rng *rand.Rand) float64 { return math.Floor(2 * rng.Float64()) },
	"one other":  func(a, b float64, rng *rand.Rand) float64 { return math.Floor(1.04 * rng.Float64()) },
	"constant":   func(a, b float64, rng *rand.Rand) float64 { return -7 },
	"all zero":   func(a, b float64, rng *rand.Rand) float64 { return 0 },
	"few counts": func(a, b float64, rng *rand.Rand) float64 { return drawCount(rng, math.Exp(a)) },
	"counts": func(a, b float64, rng *rand.Rand) float64 {
		return math.Floor(1e9 * math.Exp(smooth(a, b)+0.1*rng.NormFloat64()))
	},
	"a huge count": func(a, b float64, rng *rand.Rand) float64 {
		return drawCount(rng, 3) + 1e9*math.Floor(rng.Float64()*1.1)
	},
	"zeros":       func(a, b float64, rng *rand.Rand) float64 { return math.Max(0, smooth(a, b)+rng.NormFloat64()) },
	"tiny":        func(a, b float64, rng *rand.Rand) float64 { return 1e-30 * (smooth(a, b) + rng.NormFloat64()) },
	"huge":        func(a, b float64, rng *rand.Rand) float64 { return 1e30 * (5 + smooth(a, b) + rng.NormFloat64()) },
	"all sizes":   func(a, b float64, rng *rand.Rand) float64 { return math.Pow(10, 60*rng.Float64()-30) },
	"far":         func(a, b float64, rng *rand.Rand) float64 { return 1e12 + smooth(a, b) + 0.1*rng.NormFloat64() },
	"lognormal":   func(a, b float64, rng *rand.Rand) float64 { return math.Exp(5 * rng.NormFloat64()) },
	"skewed down": func(a, b float64, rng *rand.Rand) float64 { return 3 - math.Exp(smooth(a, b)+2*rng.NormFloat64()) },
}

func smoothly(a, b float64, _ *rand.Rand) float64 { return smooth(a, b) }

// A problem has from one to some thirty rows, all but one with the same features in one of seven, weights in one of five, and any
// method.
func TestStrangeOutcomes(t *testing.T) {
	kinds := slices.Sorted(maps.Keys(strange))
	refused := 0
	for k := range *problems {
		rng := rand.New(rand.NewPCG(uint64(k), 9))
		name, n := kinds[k%len(kinds)], 1+int(32*math.Pow(rng.Float64(), 1.5))
		methods := append(numbers.Methods(), lossep.EP, lossep.EP, lossep.EP)
		o := lossep.Options{Kernel: "matern32 + constant", Seed: 1, Method: methods[rng.IntN(len(methods))]}
		same, weighted := rng.IntN(7) == 0, rng.IntN(5) == 0
		data := strangeTable(t, n, rng, same, weighted, strange[name])
		o.Data.Target = "y"
		if weighted {
			o.Data.Weights = "w"
		}
		t.Run(fmt.Sprintf("%d %s, %d rows, by %s", k, name, n, o.Method), func(t *testing.T) {
			if !checkStrange(t, data, o) {
				refused++
			}
		})
	}
	t.Logf("%d problems, of which %d are refused for a reason that is given", *problems, refused)
	if refused > *problems/3 {
		t.Errorf("%d of %d problems are refused", refused, *problems)
	}
}

// strangeTable are rows of two columns and an outcome.
func strangeTable(t *testing.T, n int, rng *rand.Rand, same, weighted bool, draw func(a, b float64, rng *rand.Rand) float64) *table.Table {
	t.Helper()
	text := "a,b,w,y\n"
	if !weighted {
		text = "a,b,y\n"
	}
	for i := range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		if same && i > 0 {
			a, b = 1, 2
		}
		y := draw(a, b, rng)
		text += fmt.Sprintf("%.6f,%.6f,", a, b)
		if weighted {
			text += fmt.Sprintf("%v,", []float64{0, 0.25, 1, 1, 2, 20, 500, 1e6}[rng.IntN(8)])
		}
		text += fmt.Sprintln(y)
	}
	data, err := table.Read(context.Background(), strings.NewReader(text), "strange.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// checkStrange fits a problem and tells whether there is a model: of finite numbers, whose actions cost no more than their
// neighbours. Otherwise an error says why not.
func checkStrange(t *testing.T, data *table.Table, o lossep.Options) bool {
	costs, err := decision.ParseNumberCosts("under=15,over=5")
	if err != nil {
		t.Fatal(err)
	}
	p, err := numbers.Prepare(data, o, costs)
	var m *numbers.Model
	if err == nil {
		ctx, cancel := context.WithTimeout(t.Context(), *patience)
		defer cancel()
		m, err = p.Fit(ctx)
	}
	if flagged(err) {
		t.Log(err)
		return false
	}
	if err != nil {
		t.Fatalf("%v: %+v", err, p.Weights)
	}
	if s := m.Summary(); !s.Converged && s.Status == "" {
		t.Error("it has not converged, and does not say why")
	} else if l := s.LeaveOneOut; l != nil {
		for _, v := range []float64{l.LogDensity, l.Cost, l.Constant, l.Coverage, l.Expected, l.Error, l.Rows, s.LogEvidence, s.Objective} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%+v, %v, %v", l, s.LogEvidence, s.Objective)
			}
		}
	}
	x := mat.NewDense(4, 2, []float64{0, 0, 1, -1, -3, 2, 50, 50})
	all, err := m.Predict(x)
	if far := new(lossep.FarError); errors.As(err, &far) { // there is no mean of outcomes of all sizes
		return false
	}
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
	return true
}

// flagged tells whether an error says what is wrong with the rows.
func flagged(err error) bool {
	var start *search.StartError
	var improper *infer.ImproperError
	var input *lossep.InputError
	var place *table.Error
	var cost *decision.SpecError
	return err != nil && (errors.As(err, &start) || errors.As(err, &improper) || errors.As(err, &input) || errors.As(err, &cost) && cost.Fix != "" || errors.As(err, &place) && place.Fix != "")
}
