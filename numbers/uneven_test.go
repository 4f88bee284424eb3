package numbers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/table"
)

// shops are sales by shop, day and year, whose root has normal noise that is larger in one shop; some shops are closed on Sundays, and of
// all other outcomes so many are zero by chance.
func shops(t *testing.T, zeros float64) *Problem {
	rng := rand.New(rand.NewPCG(4, 4))
	data := tableOf(t, "shops", "shop,day,year,sold", 4200, func(int) string { return shopRow(rng, zeros) })
	o := lossep.Options{Kernel: lossep.ManyRowsKernel + " + " + lossep.AutoEffects, Seed: 1}
	o.Data.Target = "sold"
	p, err := Prepare(data, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func shopRow(rng *rand.Rand, zeros float64) string {
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
}

// A density could be as high as it likes at zeros that columns tell of, such as those of closed shops. Effects, noise that depends on columns
// and probabilities of what is rounded to the outcome find the transformation under which new rows are most probable.
func TestShapeIsFoundWithEffects(t *testing.T) {
	p := shops(t, 0)
	best, tried, err := p.shape(t.Context())
	if err != nil || len(tried) < 3 {
		t.Fatalf("%+v, %v", tried, err)
	}
	rng := rand.New(rand.NewPCG(99, 4))
	fresh := &Problem{Recipe: p.Recipe}
	if err := fresh.encode(tableOf(t, "fresh", "shop,day,year,sold", 4000, func(int) string { return shopRow(rng, 0) })); err != nil {
		t.Fatal(err)
	}
	most, name := math.Inf(-1), ""
	for _, shape := range tried {
		if shape.Noise != best.Noise {
			continue
		}
		m, err := p.fit(t.Context(), shape, shape.family(), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, d := range m.predict(fresh.X) {
			sum += logProbability(d, fresh.Values[i], 0.1)
		}
		if sum > most {
			most, name = sum, shape.Transform.Name
		}
	}
	if best.Transform.Name != name {
		t.Errorf("%s is chosen, and new rows are most probable with %s", best.Transform.Name, name)
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
		all[i] = residual{row: x.RawRowView(i), off: 4, even: 1, count: 1}
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

// spreading is a wave whose noise grows with x where it is to, in rows of another seed from one table to the next.
func spreading(t *testing.T, rows int, seed uint64, even bool) *table.Table {
	rng := rand.New(rand.NewPCG(seed, 1))
	return tableOf(t, "spreading", "x,group,y", rows, func(int) string {
		x, sd := 10*rng.Float64(), 0.3
		if !even {
			sd = spreadAt(x)
		}
		return fmt.Sprintf("%.6f,g%d,%.9f", x, rng.IntN(3), math.Sin(x)+sd*rng.NormFloat64())
	})
}

func spreadAt(x float64) float64 { return 0.1 + 0.06*x }

// Noise of the full process depends on columns where it does: predicted widths are those of the outcomes, and the posterior is exact
// regression with the variance of each row, of the methods, after an update and once read.
func TestNoiseOfTheFullProcess(t *testing.T) {
	o := lossep.Options{Seed: 1, Kernel: "matern32 + constant"}
	o.Data.Target = "y"
	fit := func(rows int, even bool) *Model {
		p, err := Prepare(spreading(t, rows, 1, even), o, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.Fit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if m := fit(150, true); m.uneven.spread != nil {
		t.Errorf("even noise is said to be uneven: %v", m.Results())
	}
	m := fit(400, false)
	if m.uneven.spread == nil || len(m.summary.Noise) < 2 {
		t.Fatalf("%v", m.Results())
	}
	isWeightedRegression(t, m)
	places := &Problem{Recipe: m.recipe}
	if err := places.encode(tableOf(t, "places", "x,group,y", 9, func(i int) string { return fmt.Sprintf("%d,g0,0", i+1) })); err != nil {
		t.Fatal(err)
	}
	for i, d := range m.predict(places.X) {
		// The 25 rows of a bin tell a standard deviation to a seventh, three of which these are.
		if got, want := (d.Quantile(0.95)-d.Quantile(0.05))/(2*1.645), spreadAt(float64(i+1)); math.Abs(math.Log(got/want)) > 0.43 {
			t.Errorf("at %d the standard deviation is %.3f, not %.3f", i+1, got, want)
		}
	}
	again := saved(t, m).predict(m.x)
	for i, d := range m.predict(m.x) {
		if d.Quantile(0.1) != again[i].Quantile(0.1) {
			t.Fatal("another distribution once the model is read")
		}
	}
	next, err := m.Update(t.Context(), spreading(t, 100, 2, false), lossep.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(next.values) != 500 {
		t.Fatalf("%d rows", len(next.values))
	}
	isWeightedRegression(t, next)
	isWeightedRegression(t, saved(t, next))
	if term := m.term(m.x.RawRowView(0), m.values[0]).(factor.Gaussian); term.Variance != m.family.(normalNoise).variance*excess(m.uneven.spread, m.x.RawRowView(0)) {
		t.Errorf("the variance of a label is %v", term.Variance)
	}
}

// isWeightedRegression compares what is known of the latent values of ten rows with m = k(K + D)⁻¹z and v = k₀ − k(K + D)⁻¹k, where D is
// the variance that the model says the noise of each row has.
func isWeightedRegression(t *testing.T, m *Model) {
	t.Helper()
	n := len(m.values)
	var gram, noisy mat.SymDense
	m.posterior.Kernel().Gram(&gram, m.x)
	m.posterior.Kernel().Gram(&noisy, m.x)
	z := mat.NewVecDense(n, m.shape.Transform.all(m.values))
	for i := range n {
		noisy.SetSym(i, i, gram.At(i, i)+m.family.(normalNoise).variance*excess(m.uneven.spread, m.x.RawRowView(i)))
	}
	var root mat.Cholesky
	if !root.Factorize(&noisy) {
		t.Fatal("no factor")
	}
	var weights, against mat.VecDense
	if err := root.SolveVecTo(&weights, z); err != nil {
		t.Fatal(err)
	}
	for i, got := range m.latent(m.x)[:10] {
		k := mat.NewVecDense(n, mat.Row(nil, i, &gram))
		if err := root.SolveVecTo(&against, k); err != nil {
			t.Fatal(err)
		}
		mean, variance := mat.Dot(k, &weights), gram.At(i, i)-mat.Dot(k, &against)
		// Rounding of variances is that of the prior's, which are larger.
		if math.Abs(got.Mean-mean) > 1e-9*(1+math.Abs(mean)) || math.Abs(got.Variance-variance) > 1e-9*gram.At(i, i) {
			t.Errorf("row %d: N(%.12g, %.12g), by regression N(%.12g, %.12g)", i, got.Mean, got.Variance, mean, variance)
		}
	}
}

// Noise of groups from a twentieth to one of its largest is found as it is, and does not overshoot where it is small.
func TestNoiseOfQuietGroups(t *testing.T) {
	sd := []float64{0.05, 0.1, 0.3, 0.5, 0.9, 1}
	rng := rand.New(rand.NewPCG(7, 7))
	data := tableOf(t, "quiet", "x,k,y", 400, func(i int) string {
		x, k := 4*rng.Float64(), rng.IntN(len(sd))
		return fmt.Sprintf("%.6f,k%d,%.9f", x, k, x/2+sd[k]*rng.NormFloat64())
	})
	o := lossep.Options{Seed: 1}
	o.Data.Target = "y"
	p, err := Prepare(data, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	code := p.coding.Numbers()
	for i, d := range m.predict(p.X) {
		k := int(p.X.At(i, code))
		// 66 rows tell a standard deviation to a tenth, and the least is taken for as wide as the latent value was known under even noise.
		if got := (d.Quantile(0.95) - d.Quantile(0.05)) / (2 * 1.645); math.Abs(math.Log(got/sd[k])) > 0.5 {
			t.Fatalf("the standard deviation of k%d is %.3f, not %.3f: %v", k, got, sd[k], m.Results())
		}
	}
	if c := m.summary.LeaveOneOut.Coverage; math.Abs(c-0.9) > 3*math.Sqrt(0.9*0.1/400) {
		t.Errorf("%.1f %% of outcomes left out are in 90 %% intervals", 100*c)
	}
}

// Rows that belong together are left out together where kernels and noise are compared.
func TestGroupsAreLeftOutTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	together := make([]int, 100)
	y := make([]float64, len(together))
	for i := range together {
		together[i], y[i] = rng.IntN(20), rng.NormFloat64()
	}
	whole := func(what string, parts ...[]int) {
		of, rows := make(map[int]int), 0
		for k, part := range parts {
			rows += len(part)
			for _, i := range part {
				if before, seen := of[together[i]]; seen && before != k {
					t.Errorf("%s divide group %d", what, together[i])
				}
				of[together[i]] = k
			}
		}
		if rows != len(together) {
			t.Errorf("%s have %d rows", what, rows)
		}
	}
	p := &Problem{together: together}
	d := dealt{p, &terms{y: y}, indices.Of(len(y))}
	folds, err := d.Folds(d.Groups(), 5, rng)
	if err != nil {
		t.Fatal(err)
	}
	whole("folds", folds...)
	half, rest := sampled{together: together}.halves(rng.Perm(len(y)))
	whole("halves", half, rest)
	if len(half) < 40 || len(rest) < 40 {
		t.Errorf("halves of %d and %d rows", len(half), len(rest))
	}
	if _, err := d.Folds(d.Groups(), 30, rng); err == nil {
		t.Error("30 folds of 20 groups")
	}
}
