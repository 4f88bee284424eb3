package numbers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/internal/indices"
)

// shops are sales by shop, day and year, whose root has normal noise that is larger in one shop; some shops are closed on Sundays, and of
// all other outcomes so many are zero by chance.
func shops(t *testing.T, zeros float64) *Problem {
	rng := rand.New(rand.NewPCG(4, 4))
	data := tableOf(t, "shops", "shop,day,year,sold", 4200, func(i int) string {
		shop, day, year := rng.IntN(6), rng.IntN(7), rng.IntN(3)
		sd := 0.6
		if shop == 5 {
			sd = 1.2
		}
		root := max(0, 2+float64(shop)+0.5*float64(day)+0.3*float64(year)+sd*rng.NormFloat64())
		if shop < 3 && day == 6 || rng.Float64() < zeros {
			root = 0
		}
		return fmt.Sprintf("s%d,d%d,%d,%.1f", shop, day, 2016+year, root*root)
	})
	o := lossep.Options{Kernel: lossep.ManyRowsKernel + " + " + lossep.AutoEffects, Seed: 1}
	o.Data.Target = "sold"
	p, err := Prepare(data, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A density could be as high as it likes at zeros that columns tell of, such as those of closed shops: the logarithm would have
// it. Effects and probabilities of what is rounded to outcomes find the transformation under which noise is normal.
func TestShapeIsFoundWithEffects(t *testing.T) {
	best, tried, err := shops(t, 0).shape(t.Context())
	if err != nil || best.Transform.Name != "root" || len(tried) < 3 {
		t.Errorf("%+v of %+v, %v", best, tried, err)
	}
}

// Outliers are found to be tails of the noise, and not a wide noise of all rows: as many outcomes are below quantiles as should be. In a year
// beyond those of the training rows their trend goes on, and is less certain.
func TestOutliersAreTails(t *testing.T) {
	p := shops(t, 0.03)
	m, err := p.Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if m.uneven.tails == nil || m.uneven.spread == nil || m.shape.Transform.Name != "root" {
		t.Fatalf("%v", m.Results())
	}
	below := [3]float64{}
	share := [3]float64{0.25, 0.5, 0.9} // of outcomes that are not zero for a reason
	open := 0.0
	again := saved(t, m).predict(p.X)
	for i, d := range m.predict(p.X) {
		if again[i].Quantile(0.1) != d.Quantile(0.1) {
			t.Fatalf("row %d: %v, once read %v", i, d.Quantile(0.1), again[i].Quantile(0.1))
		}
		if d.Quantile(0.5) < 1 {
			continue
		}
		open++
		for k, q := range share {
			if p.Values[i] <= d.Quantile(q) {
				below[k]++
			}
		}
	}
	for k, q := range share {
		// Three standard errors of a share of all rows.
		if got := below[k] / open; math.Abs(got-q) > 3*math.Sqrt(q*(1-q)/open) {
			t.Errorf("%.3f of outcomes are below the quantile %v", got, q)
		}
	}
	const year = 0 // the only number comes first
	years := mat.Col(nil, year, p.X)
	some := mat.DenseCopyOf(p.X.Slice(0, 20, 0, p.coding.Len()))
	all := func(year0 float64) []Distribution {
		for i := range 20 {
			some.Set(i, year, year0)
		}
		return m.predict(some)
	}
	last := slices.Max(years)
	next := all(last + (last-slices.Min(years))/2)
	for i, d := range saved(t, m).predict(some) {
		if d.Quantile(0.9) != next[i].Quantile(0.9) {
			t.Fatal("another distribution beyond the last year once the model is read")
		}
	}
	rise, wider, rows := 0.0, 0.0, 0.0
	for i, now := range all(last) {
		if now.Quantile(0.5) < 1 {
			continue
		}
		root := func(d Distribution, q float64) float64 { return math.Sqrt(d.Quantile(q)) }
		rise += root(next[i], 0.5) - root(now, 0.5)
		wider += root(next[i], 0.95) - root(next[i], 0.05) - root(now, 0.95) + root(now, 0.05)
		rows++
	}
	// The root rises by 0.3 a year, of which two steps leave two thirds.
	if rise /= rows; math.Abs(rise-0.2) > 0.03 || !(wider > 0) {
		t.Errorf("the root is higher by %v a year later, and its intervals wider by %v", rise, wider/rows)
	}
}

// The noise of a group that is new is no larger than that of any could be found to be, however much groups differ: the mean of an amount
// whose logarithm has noise of 0.2 would be e^60 times as large with 3,000 times the variance.
func TestNoiseOfNewGroupsIsBounded(t *testing.T) {
	const groups, each = 12, 30
	x := mat.NewDense(groups*each, 1, nil)
	all := make([]residual, groups*each)
	for i := range all {
		x.Set(i, 0, float64(i%groups))
		all[i] = residual{row: x.RawRowView(i), off: 4, even: 1}
		if i%2 == 0 {
			all[i].off = 0.2
		}
	}
	s := sampled{x: x, codes: 1, seed: 1}
	found, err := s.groups(t.Context(), indices.Of(len(all)), all, uneven{})
	if err != nil {
		t.Fatal(err)
	}
	narrow, wide, other := excess(found, []float64{0}), excess(found, []float64{1}), excess(found, []float64{-1})
	if !(narrow < 0.1 && wide > 10 && other > 1 && other <= mostSquare*(1+1e-9)) {
		t.Errorf("noise of %v, %v, and %v of a group that is new", narrow, wide, other)
	}
}
