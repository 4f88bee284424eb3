package effects

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/normal"
)

// labels are 0 or 1.
type labels []float64

var probits = [2]factor.Factor{factor.Probit{Y: -1}, factor.Probit{Y: 1}}

func (l labels) Len() int                 { return len(l) }
func (l labels) Term(i int) factor.Factor { return probits[int(l[i])] }

// weighted are labels that count as often as they say.
type weighted struct {
	labels
	counts []float64
}

func (w weighted) Count(i int) float64 { return w.counts[i] }

// newFit is a fit to rows in memory.
func newFit(t *Table, terms Terms) *Fit { return NewFit(t, NewInMemory(t.X, terms, 0)) }

func mustAdd(t *testing.T, f *Fit, family Family) {
	t.Helper()
	if err := f.Add(t.Context(), family, 0); err != nil {
		t.Fatal(err)
	}
}

func mustRun(t *testing.T, f *Fit, passes int, tolerance float64, trace func(Progress)) float64 {
	t.Helper()
	bound, err := f.Run(context.Background(), passes, tolerance, trace)
	if err != nil {
		t.Fatal(err)
	}
	return bound
}

// crossedRows are rows of a number in [0, 1), and two codes, whose outcome depends on a bin of the number, on the
// first code and on its crossing with the bin.
func crossedRows(n int, seed uint64) (*Table, labels) {
	rng := rand.New(rand.NewPCG(seed, 1))
	x, y := mat.NewDense(n, 3, nil), make(labels, n)
	bin, code, both := normals(rng, 16, 0.5), normals(rng, 20, 0.4), normals(rng, 320, 0.7)
	for i := range n {
		u, a, b := rng.Float64(), rng.IntN(20), rng.IntN(50)
		x.SetRow(i, []float64{u, float64(a), float64(b)})
		if rng.Float64() < normal.CDF(-1+bin[int(16*u)]+code[a]+both[20*int(16*u)+a]) {
			y[i] = 1
		}
	}
	return NewTable(x, 2), y
}

func normals(rng *rand.Rand, n int, sd float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = sd * rng.NormFloat64()
	}
	return all
}

var crossedFamilies = []Family{{}, {{0, 16}}, {{1, 0}}, {{0, 16}, {1, 0}}, {{0, 64}, {1, 0}, {2, 0}}}

// No pass lowers the bound, with variances that move and with rare outcomes, where a plain
// Newton step does.
func TestBoundNeverFalls(t *testing.T) {
	for _, rare := range []bool{false, true} {
		table, y := crossedRows(20_000, 2)
		if rare {
			for i := range y {
				if i%20 > 0 {
					y[i] = 0
				}
			}
		}
		f := newFit(table, y)
		for _, family := range crossedFamilies {
			mustAdd(t, f, family)
		}
		best := math.Inf(-1)
		var taken []float64 // bounds that were kept: one that is lower is followed by a shorter pass
		mustRun(t, f, 60, 1e-6, func(p Progress) {
			if p.Bound >= best {
				best = p.Bound
				taken = append(taken, best)
			}
		})
		value, err := f.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// Means of logarithms are those of other rules on either side of some variances, which
		// differ by 1e-6 for a row at most.
		if end := f.bound(value); end < best-1e-6*float64(table.Len()) {
			t.Errorf("rare %v: the bound ends at %.6f, and was %.6f", rare, end, best)
		}
		if len(taken) < 5 {
			t.Errorf("rare %v: bounds %v", rare, taken)
		}
	}
}

// At the end the variance of a family is the mean square of its effects, and no effect has a
// slope.
func TestFixedPoint(t *testing.T) {
	table, y := crossedRows(20_000, 3)
	f := newFit(table, y)
	for _, family := range crossedFamilies[:4] {
		mustAdd(t, f, family)
	}
	mustRun(t, f, 400, 1e-9, nil)
	for _, m := range f.members {
		square := 0.0
		for _, w := range m.Moments {
			square += (w.Mean*w.Mean + w.Variance) / float64(len(m.Moments))
		}
		if math.Abs(square/m.Variance-1) > 1e-3 {
			t.Errorf("%v: variance %g, mean square %g", m.Family, m.Variance, square)
		}
		sums, err := f.sum(t.Context(), nil, m.Grouping)
		if err != nil {
			t.Fatal(err)
		}
		for g, s := range sums {
			w := m.Moments[g]
			if step := (s.Slope - w.Mean/m.Variance) * w.Variance; math.Abs(step) > 2e-3*math.Sqrt(w.Variance) {
				t.Errorf("%v, group %d: a step of %g is left with a standard deviation of %g", m.Family, g, step, math.Sqrt(w.Variance))
			}
		}
	}
}

// Simulated groups: variance components are right to within their own error, and intervals of
// effects hold what they promise.
func TestSimulatedGroups(t *testing.T) {
	const groups, tables = 40, 60
	for _, c := range []struct {
		rows int
		sd   float64
	}{{30, 0.5}, {30, 1}, {100, 1}} {
		rng := rand.New(rand.NewPCG(5, uint64(c.rows)))
		covered, logs, squares := 0, 0.0, 0.0
		for range tables {
			effects := normals(rng, groups, c.sd)
			x, y := mat.NewDense(groups*c.rows, 1, nil), make(labels, groups*c.rows)
			for i := range y {
				g := i % groups
				x.Set(i, 0, float64(g))
				if rng.Float64() < normal.CDF(effects[g]) {
					y[i] = 1
				}
			}
			f := newFit(NewTable(x, 1), y)
			mustAdd(t, f, Family{{0, 0}})
			mustRun(t, f, 200, 1e-6, nil)
			e := f.Effects()[0]
			for g, w := range e.Moments {
				if math.Abs(w.Mean-effects[g]) < 1.96*math.Sqrt(w.Variance) {
					covered++
				}
			}
			l := math.Log(math.Sqrt(e.Variance) / c.sd)
			logs, squares = logs+l/tables, squares+l*l/tables
		}
		share := float64(covered) / (groups * tables)
		if share < 0.93 || share > 0.97 {
			t.Errorf("%d rows a group, sd %g: intervals of 95 %% cover %.1f %%", c.rows, c.sd, 100*share)
		}
		// Three standard errors over the tables, and 2 % for the bound.
		if sd := math.Sqrt(squares - logs*logs); math.Abs(logs) > 3*sd/math.Sqrt(tables)+0.02 {
			t.Errorf("%d rows a group, sd %g: standard deviations are off by %.3f ± %.3f in the logarithm", c.rows, c.sd, logs, sd/math.Sqrt(tables))
		}
	}
}

// Of two crossed families intervals of effects, as they are shown, hold what they promise, and so do those of a product for
// differences of effects from the mean of their family.
func TestCrossedGroups(t *testing.T) {
	const tables, sd = 100, 0.8
	for _, groups := range []int{10, 20, 40, 100} {
		rng := rand.New(rand.NewPCG(9, uint64(groups)))
		covered, relative := 0, 0
		for range tables {
			truth := [2][]float64{normals(rng, groups, sd), normals(rng, groups, sd)}
			x, y := mat.NewDense(groups*40, 2, nil), make(labels, groups*40)
			for i := range y {
				g, h := rng.IntN(groups), rng.IntN(groups)
				x.SetRow(i, []float64{float64(g), float64(h)})
				if rng.Float64() < normal.CDF(truth[0][g]+truth[1][h]) {
					y[i] = 1
				}
			}
			f := newFit(NewTable(x, 2), y)
			mustAdd(t, f, Family{{0, 0}})
			mustAdd(t, f, Family{{1, 0}})
			mustRun(t, f, 200, 1e-6, nil)
			shown := Set(f.Effects()).Uncertain()
			for k, e := range f.Effects() {
				off := 0.0 // of their mean
				for g, w := range e.Moments {
					off += (w.Mean - truth[k][g]) / float64(groups)
				}
				for g, w := range e.Moments {
					if d, within := w.Mean-truth[k][g], 1.96*math.Sqrt(shown[k].Moments[g].Variance); math.Abs(d) < within {
						covered++
					}
					if d, within := w.Mean-truth[k][g]-off, 1.96*math.Sqrt(w.Variance); math.Abs(d) < within {
						relative++
					}
				}
			}
		}
		all := float64(2 * groups * tables)
		t.Logf("%d groups: intervals of 95 %% cover %.1f %% of effects, %.1f %% of their differences from the mean", groups, 100*float64(covered)/all, 100*float64(relative)/all)
		for what, n := range map[string]int{"effects": covered, "differences from the mean": relative} {
			// With ten groups the curvature of the rows' part in σ, which is taken to second order, matters.
			if share := float64(n) / all; share > 0.97 || share < 0.93 && (groups > 10 || share < 0.92) {
				t.Errorf("%d groups: intervals of 95 %% cover %.1f %% of the %s", groups, 100*share, what)
			}
		}
	}
}

// A row that counts twice is two rows.
func TestCounts(t *testing.T) {
	table, y := crossedRows(4000, 6)
	n := len(y)
	x := mat.NewDense(2*n, 3, nil)
	twice, counts := make(labels, 2*n), make([]float64, n)
	for i := range n {
		counts[i] = 2
		for k := range 2 {
			x.SetRow(2*i+k, table.X.RawRowView(i))
			twice[2*i+k] = y[i]
		}
	}
	a, b := newFit(table, weighted{y, counts}), newFit(NewTable(x, 2), twice)
	for _, f := range []*Fit{a, b} {
		mustAdd(t, f, Family{})
		mustAdd(t, f, Family{{1, 0}, {2, 0}})
		mustRun(t, f, 20, 0, nil)
	}
	for j := range a.members {
		for g, w := range a.members[j].Moments {
			if o := b.members[j].Moments[g]; math.Abs(o.Mean-w.Mean) > 1e-9 || math.Abs(o.Variance-w.Variance) > 1e-9 {
				t.Fatalf("family %d, group %d: %v and %v", j, g, w, o)
			}
		}
	}
}

// The same bits come out on any number of cores.
func TestSameBitsOnAnyNumberOfCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var all [][]*Effect
	for _, cores := range []int{1, 4} {
		runtime.GOMAXPROCS(cores)
		table, y := crossedRows(40_000, 4)
		f := newFit(table, y)
		mustAdd(t, f, Family{})
		if err := f.Choose(context.Background(), DefaultChoice()); err != nil {
			t.Fatal(err)
		}
		all = append(all, f.Effects())
	}
	for i, e := range all[0] {
		o := all[1][i]
		if !slices.Equal(e.Family, o.Family) || e.Variance != o.Variance || !slices.Equal(e.Moments, o.Moments) {
			t.Errorf("family %v differs", e.Family)
		}
	}
}

// What is there is found, and nothing else.
func TestChoose(t *testing.T) {
	table, y := crossedRows(60_000, 7)
	f := newFit(table, y)
	mustAdd(t, f, Family{})
	if err := f.Choose(context.Background(), DefaultChoice()); err != nil {
		t.Fatal(err)
	}
	var found []Family
	for _, e := range f.Effects() {
		found = append(found, e.Family)
	}
	slices.SortFunc(found, func(a, b Family) int { return len(a) - len(b) })
	want := []Family{{}, {{0, 16}}, {{1, 0}}, {{0, 16}, {1, 0}}}
	if len(found) == 4 && len(found[1]) == 1 && found[1][0].Column == 1 {
		found[1], found[2] = found[2], found[1]
	}
	if d := cmp.Diff(want, found); d != "" {
		t.Errorf("families (−want +got):\n%s", d)
	}
}

// Three categories are crossed where none of their pairs tells anything, as where a smooth part has told it already.
func TestChooseTripleWithoutPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	x, y := mat.NewDense(4000, 4, nil), make(labels, 4000)
	for i := range y {
		a, b, c := rng.IntN(2), rng.IntN(2), rng.IntN(2)
		x.SetRow(i, []float64{rng.NormFloat64(), float64(a), float64(b), float64(c)})
		if rng.Float64() < 0.3+0.4*float64((a+b+c)%2) {
			y[i] = 1
		}
	}
	f := newFit(NewTable(x, 3), y)
	mustAdd(t, f, Family{})
	if err := f.Choose(t.Context(), DefaultChoice()); err != nil {
		t.Fatal(err)
	}
	if got := f.Effects(); len(got) != 2 || !slices.Equal(got[1].Family, Family{{1, 0}, {2, 0}, {3, 0}}) {
		t.Errorf("%+v", got)
	}
}

// Where nothing is there nothing is found.
func TestChooseNothing(t *testing.T) {
	for seed := range uint64(20) {
		table, y := crossedRows(3000, seed)
		rng := rand.New(rand.NewPCG(seed, 9))
		for i := range y {
			y[i] = float64(rng.IntN(2))
		}
		f := newFit(table, y)
		mustAdd(t, f, Family{})
		if err := f.Choose(context.Background(), DefaultChoice()); err != nil {
			t.Fatal(err)
		}
		if n := len(f.Effects()); n != 1 {
			t.Errorf("seed %d: %d families", seed, n)
		}
	}
}

// A gain is the log of the ratio of evidences where terms are Gaussian, and largest at the
// variance that it names.
func TestGain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	sums := make([]Sum, 300)
	for i := range sums {
		h := 0.1 + 5*rng.Float64()
		sums[i] = Sum{Slope: math.Sqrt(h+h*h*0.3) * rng.NormFloat64(), Curvature: h} // effects of variance 0.3
	}
	best, at := Gain(sums, 1)
	if at < 0.2 || at > 0.45 {
		t.Errorf("variance %g", at)
	}
	for _, other := range []float64{at / 1.1, at * 1.1, 1e-6, 10} {
		want := 0.0
		for _, s := range sums { // N(B/H; 0, σ² + 1/H) over N(B/H; 0, 1/H)
			y, noise := s.Slope/s.Curvature, 1/s.Curvature
			want += normal.LogDensity(y/math.Sqrt(other+noise)) - 0.5*math.Log(other+noise) - normal.LogDensity(y/math.Sqrt(noise)) + 0.5*math.Log(noise)
		}
		if got := gainOf(sums, other, 1); math.Abs(got-want) > 1e-9 || got > best {
			t.Errorf("at %g: %g, want %g, at most %g", other, got, want, best)
		}
	}
}

// A category for every row, all rows in one group, a family that tells the outcome, and too
// many groups are all answered with numbers or an error.
func TestHostile(t *testing.T) {
	const n = 5000
	x, y := mat.NewDense(n, 4, nil), make(labels, n)
	for i := range n {
		y[i] = float64(i * 7 % 10 / 5)
		x.SetRow(i, []float64{math.NaN(), float64(i), 0, y[i]})
	}
	table := NewTable(x, 3)
	f := newFit(table, y)
	mustAdd(t, f, Family{})
	if err := f.Choose(context.Background(), DefaultChoice()); err != nil {
		t.Fatal(err)
	}
	for _, e := range f.Effects() {
		for _, w := range e.Moments {
			if !(math.Abs(w.Mean) < 100 && w.Variance > 0 && w.Variance <= e.Variance) {
				t.Errorf("%v: %v with a variance of %g", e.Family, w, e.Variance)
			}
		}
		if slices.Equal(e.Family, Family{{1, 0}}) {
			t.Error("a category for every row is taken for a family")
		}
		if tells := len(e.Family) == 1 && e.Family[0].Column == 3; e.Separates() != tells {
			t.Errorf("%v with a variance of %g: separates %t", e.Family, e.Variance, !tells)
		}
	}
	// A family of more groups than there may be is left out by name.
	few := DefaultChoice()
	few.Groups = 2
	f = newFit(table, y)
	mustAdd(t, f, Family{})
	if err := f.Choose(context.Background(), few); err != nil || len(f.Effects()) != 1 || len(f.Dropped) == 0 || f.Dropped[0].Family[0].Column != 3 {
		t.Errorf("%v, dropped %v of %d families", err, f.Dropped, len(f.Effects()))
	}
	for i := range n {
		x.Set(i, 2, float64(i))
		x.Set(i, 3, float64(i))
	}
	var many *TooManyGroupsError
	if err := newFit(NewTable(x, 3), y).Add(t.Context(), Family{{1, 0}, {2, 0}, {3, 0}}, 0); !errors.As(err, &many) {
		t.Errorf("%v for %g cells", err, math.Pow(n, 3))
	}
	for _, bad := range []Family{{{9, 0}}, {{1, 4}}, {{0, 0}}, {{0, 1}}, {{2, 0}, {1, 0}}, {{1, 0}, {1, 0}}, {{0, 1 << 20}}} {
		if err := f.Add(t.Context(), bad, 0); !errors.Is(err, ErrFamily) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// How rows are cut into shards changes nothing but rounding.
func TestShards(t *testing.T) {
	table, y := crossedRows(20_000, 5)
	whole, cut := newFit(table, y), NewFit(table, NewInMemory(table.X, y, 7_000))
	for _, f := range []*Fit{whole, cut} {
		if err := f.Choose(t.Context(), DefaultChoice()); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := f.Explain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-9*max(1, math.Abs(want))) { // rounding of sums of thousands, in some passes
			t.Errorf("%s: %.12g, want %.12g", what, got, want)
		}
	}
	if len(whole.members) < 3 || len(whole.members) != len(cut.members) {
		t.Fatalf("%d and %d families", len(whole.members), len(cut.members))
	}
	for j, m := range whole.members {
		o := cut.members[j]
		if !slices.Equal(m.Family, o.Family) || !slices.Equal(m.Keys(), o.Keys()) {
			t.Fatalf("%v and %v", m.Family, o.Family)
		}
		near("variance", o.Variance, m.Variance)
		near("share", o.Share, m.Share)
		for g, w := range m.Moments {
			near("mean", o.Moments[g].Mean, w.Mean)
			near("variance", o.Moments[g].Variance, w.Variance)
		}
	}
	sums, err := cut.Sums(nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(sums, cut.Effects().Trained(table.X)) {
		t.Error("sums of effects are others at single rows")
	}
	for _, row := range []int{0, 6_999, 7_000, 19_999} {
		a, b := whole.Without(row, 0), cut.Without(row, 0)
		near("mean without a row", b.Mean, a.Mean)
		near("variance without a row", b.Variance, a.Variance)
	}
}
