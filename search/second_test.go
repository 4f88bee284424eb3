package search

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

// wide is standard normal inputs and the labels that a function of a row makes with some noise.
func wide(rows, columns int, seed uint64, of func(row []float64) float64) (*mat.Dense, []factor.Factor) {
	rng := rand.New(rand.NewPCG(seed, 17))
	x, terms := mat.NewDense(rows, columns, nil), make([]factor.Factor, rows)
	for i := range rows {
		row := x.RawRowView(i)
		for k := range row {
			row[k] = rng.NormFloat64()
		}
		terms[i] = factor.Probit{Y: math.Copysign(1, of(row)+0.3*rng.NormFloat64())}
	}
	return x, terms
}

func product(row []float64) float64 { return 2 * row[7] * row[11] }

// ask is what a screening of two outcomes explains.
func ask(terms []factor.Factor) []float64 {
	return slopes(&infer.Model{Terms: terms}, func(int) (float64, float64) { return 0, 1 })
}

// What a look at all features says is what a regression on each says, one by one: with columns
// that are the same, that never vary, that have two values, and more than one panel of them.
func TestLook(t *testing.T) {
	const rows, columns = 25, panel + 20
	x, terms := wide(rows, columns, 1, product)
	for i := range rows {
		x.Set(i, 3, 1)
		x.Set(i, 4, x.At(i, 5))
		x.Set(i, columns-1, math.Copysign(1, x.At(i, 6)))
		x.Set(i, columns-2, float64(i%2)) // whose square is the same in all rows but for ties
	}
	response := ask(terms)
	centre(response)
	s := newScreening(x, 1)
	s.bound = 8
	var want []feature
	regress := func(f feature, v []float64) {
		// Sums of squares of a straight line through v and the response.
		mv, n := 0.0, float64(rows)
		for _, e := range v {
			mv += e / n
		}
		var vv, vr, rr float64
		for i, e := range v {
			vv += (e - mv) * (e - mv)
			vr += (e - mv) * response[i]
			rr += response[i] * response[i]
		}
		if vv < 1e-12 {
			return
		}
		slope := vr / vv
		if f.gain = slope * slope * vv / ((rr - slope*vr) / (n - 2)); f.gain > s.bound {
			want = append(want, f)
		}
	}
	column := func(k int) []float64 {
		u := make([]float64, rows)
		for i := range u {
			for j := range rows { // the share below less the share above
				u[i] += float64(cmp.Compare(x.At(i, k), x.At(j, k))) / rows
			}
		}
		return u
	}
	all := make([][]float64, columns)
	for k := range all {
		all[k] = column(k)
		polynomials := []func(u float64) float64{
			func(u float64) float64 { return u },
			func(u float64) float64 { return (3*u*u - 1) / 2 },
			func(u float64) float64 { return (5*u*u*u - 3*u) / 2 },
			func(u float64) float64 { return (35*u*u*u*u - 30*u*u + 3) / 8 },
		}
		for d, p := range polynomials {
			v := make([]float64, rows)
			for i, u := range all[k] {
				v[i] = p(u)
			}
			regress(feature{a: k, b: -1, degree: d + 1}, v)
		}
	}
	for a := range columns {
		for b := a + 1; b < columns; b++ {
			v := make([]float64, rows)
			for i := range v {
				v[i] = all[a][i] * all[b][i]
			}
			regress(feature{a: a, b: b}, v)
		}
	}
	got, err := s.look(context.Background(), response)
	if err != nil {
		t.Fatal(err)
	}
	if len(want) < 20 || len(got) != min(len(want), mostSurvivors) {
		t.Fatalf("%d features, want those of %d", len(got), len(want))
	}
	slices.SortStableFunc(want, func(a, b feature) int { return cmp.Compare(b.gain, a.gain) })
	known := make(map[[3]int]float64)
	for _, f := range want {
		known[[3]int{f.a, f.b, f.degree}] = f.gain
	}
	for i, f := range got {
		if g := known[[3]int{f.a, f.b, f.degree}]; math.Abs(f.gain-g) > 1e-9*g || math.Abs(f.gain-want[i].gain) > 1e-9*g {
			t.Errorf("%+v is number %d; a regression says %v, and %v of the one in its place", f, i, g, want[i].gain)
		}
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if _, err := s.look(ended, response); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// A product may explain all there is: one column or the other, and not both, of a balanced design.
func TestScreeningOfOneOrTheOther(t *testing.T) {
	const rows, columns = 64, 40
	rng := rand.New(rand.NewPCG(2, 17))
	x, terms := mat.NewDense(rows, columns, nil), make([]factor.Factor, rows)
	for k := range columns {
		for place, i := range rng.Perm(rows) {
			x.Set(i, k, float64(place%2))
		}
	}
	for i := range rows {
		x.Set(i, 3, float64(i/2%2))
		x.Set(i, 8, float64(i%2))
		terms[i] = factor.Probit{Y: math.Copysign(1, 0.5-math.Abs(x.At(i, 3)-x.At(i, 8)))}
	}
	features, err := newScreening(x, 1).choose(context.Background(), ask(terms))
	if err != nil {
		t.Fatal(err)
	}
	if len(features) != 1 || features[0].a != 3 || features[0].b != 8 {
		t.Errorf("%+v", features)
	}
}

// Of more features than are compared the largest are, in whatever order they come.
func TestLookKeepsTheLargest(t *testing.T) {
	const rows, columns = 30, 120
	x, terms := wide(rows, columns, 6, product)
	for i := range rows { // all columns say much the same
		for k := range columns {
			x.Set(i, k, x.At(i, 0)+0.1*x.At(i, k))
		}
	}
	response := ask(terms)
	centre(response)
	s := newScreening(x, 1)
	s.bound = 1e-6
	got, err := s.look(context.Background(), response)
	if err != nil {
		t.Fatal(err)
	}
	var gains []float64
	square := floats.Dot(response, response)
	for a := range columns {
		for degree := 1; degree <= degrees; degree++ {
			v := s.values(feature{a: a, b: -1, degree: degree})
			gains = append(gains, s.gain(floats.Dot(response, v), floats.Dot(v, v), square))
		}
		for b := a + 1; b < columns; b++ {
			v := s.values(feature{a: a, b: b})
			gains = append(gains, s.gain(floats.Dot(response, v), floats.Dot(v, v), square))
		}
	}
	slices.SortFunc(gains, func(a, b float64) int { return cmp.Compare(b, a) })
	if len(gains) < 4*mostSurvivors || len(got) != mostSurvivors {
		t.Fatalf("%d of %d features", len(got), len(gains))
	}
	for i, f := range got {
		if math.Abs(f.gain-gains[i]) > 1e-9*(1+gains[i]) {
			t.Fatalf("number %d has the gain %v, want %v", i, f.gain, gains[i])
		}
	}
}

// By chance a feature stands out in one of twenty tables. In 60 three are expected, and nine or
// more with probability 0.004; in 600 there were 31.
func TestScreeningOfNoise(t *testing.T) {
	found := 0
	for seed := range uint64(60) {
		x, terms := wide(120, 40, seed, func([]float64) float64 { return 0 })
		features, err := newScreening(x, 1).choose(context.Background(), ask(terms))
		if err != nil {
			t.Fatal(err)
		}
		found += len(features)
	}
	if found >= 9 {
		t.Errorf("%d features of noise in 60 tables", found)
	}
}

// A product of two columns among many is found by the second search and not by the first, of two
// outcomes and of three, with and without a sparse prior; of noise there is no second search.
func TestSecondStart(t *testing.T) {
	const rows, columns = 120, 150
	k, err := kernel.Parse("matern32(ard) + constant", columns)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	x, terms := wide(rows, columns, 4, product)
	three := &gp.Outcomes{Of: make([]int, rows), Number: 3}
	for i := range rows {
		if product(x.RawRowView(i)) > 0.5 {
			three.Of[i] = 1
		} else if product(x.RawRowView(i)) < -0.5 {
			three.Of[i] = 2
		}
	}
	noise, nothing := wide(rows, columns, 4, func([]float64) float64 { return 0 })
	tests := map[string]struct {
		whole     *full
		shrinkage float64
		found     bool
	}{
		"independent":    {&full{x: x, cases: gp.Values{Factors: terms}}, 0, true},
		"sparse":         {&full{x: x, cases: gp.Values{Factors: terms}}, 1, true},
		"three outcomes": {&full{x: x, cases: three}, 0, true},
		"noise":          {&full{x: noise, cases: gp.Values{Factors: nothing}}, 0, false},
	}
	// The length scales follow the variance of the term.
	bothShort := func(logs []float64) bool {
		lengths := slices.Sorted(slices.Values(logs[1 : columns+1]))
		return max(logs[1+7], logs[1+11]) < lengths[columns/2]-1
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			opt := Options{Tolerance: 0.1, Shrinkage: test.shrinkage}.withDefaults()
			opt.Start, opt.Near = newPrior(k, test.whole.x, 0, tuning{}).mean, true // where a search begins
			o := &objective{kernel: k, evidence: test.whole, prior: newPrior(k, test.whole.x, test.shrinkage, tuning{}), pace: steady}
			first, m, err := o.begin(ctx, opt)
			if err != nil {
				t.Fatal(err)
			}
			if first, _, err = o.ascent(opt.Tolerance, opt).climb(ctx, first, &m); err != nil {
				t.Fatal(err)
			}
			if bothShort(first.logs) {
				t.Fatalf("the first search finds both columns: %v", first.logs)
			}
			start, err := o.secondStart(ctx, first)
			if err != nil || (start != nil) != test.found {
				t.Fatalf("second start %v, error %v", start, err)
			}
			fit, err := optimise(ctx, k, test.whole, opt)
			if err != nil {
				t.Fatal(err)
			}
			if bothShort(fit.logs) != test.found {
				t.Errorf("log parameters %v", fit.logs)
			}
			if gained := fit.LogPosterior > first.value+1; gained != test.found {
				t.Errorf("the log posterior is %v, by the first search alone %v", fit.LogPosterior, first.value)
			}
			// Where the product is explained there is no reason to search again. Without the
			// sparse prior length scales of so many other columns leave much of it.
			end := &point{logs: fit.logs, fitted: &fullFit{process: fit.Process, ep: fit.EP}}
			if again, err := o.secondStart(ctx, end); err != nil || again != nil && test.shrinkage > 0 {
				t.Errorf("a start once more: %v, error %v", again, err)
			}
		})
	}
}
