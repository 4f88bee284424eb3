package lossep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// TestOutcomeWorth: against every way the case can turn out, for costs and utilities.
func TestOutcomeWorth(t *testing.T) {
	for _, costs := range []bool{true, false} {
		s := decision.Stakes{Table: decision.Table{{0, 5}, {1, 0}, {0.3, 0.3}}, Costs: costs}
		for _, p := range []float64{0, 0.05, 0.1, 0.3, 0.9, 1} {
			pair := []float64{1 - p, p}
			d := Decision{Choice: s.Choose(make([]float64, 3), pair), Probabilities: pair, Stakes: s}
			best := func(at [2]float64) float64 {
				values := make([]float64, 3)
				for a, row := range s.Table {
					values[a] = row[0]*at[0] + row[1]*at[1]
				}
				if costs {
					return -slices.Min(values)
				}
				return slices.Max(values)
			}
			want := (1-p)*best([2]float64{1, 0}) + p*best([2]float64{0, 1}) - best([2]float64{1 - p, p})
			if got := d.OutcomeWorth(); math.Abs(got-want) > 1e-15 {
				t.Errorf("P = %v, costs %v: worth %v, want %v", p, costs, got, want)
			}
		}
	}
}

// TestColumnWorth: with as many training rows as donors the value is any of theirs, so that
// every case can be predicted by itself; a column that says nothing is worth less than the
// one that says most, and none is worth more than the outcome.
func TestColumnWorth(t *testing.T) {
	o := autoOptions(t, EP)
	train := wideTable(t, posterior.NearestRows, 2, 3)
	m, err := Fit(context.Background(), train, o)
	if err != nil {
		t.Fatal(err)
	}
	x := m.recipeRows(t, wideTable(t, 8, 2, 4))
	own := m.orOwn(nil)[0]
	all := m.x
	// Entries: a, n0, n1, the code of kind.
	sum := map[string]float64{}
	for column, features := range map[string][]int{"a": {0}, "kind": {3}, "n0": {1}} {
		got, err := m.ColumnWorth(t.Context(), x, column)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			mean, with := []float64{0, 0}, 0.0
			for k := range posterior.NearestRows {
				row := mat.NewDense(1, 4, slices.Clone(x.RawRowView(i)))
				for _, f := range features {
					row.Set(0, f, all.At(k, f))
				}
				p, err := m.Predict(row)
				if err != nil {
					t.Fatal(err)
				}
				q := p[0].Probabilities
				mean[0] += q[0] / posterior.NearestRows
				mean[1] += q[1] / posterior.NearestRows
				with += min(5*q[1], q[0]) / posterior.NearestRows
			}
			want := min(5*mean[1], mean[0]) - with
			if math.Abs(got[i]-want) > 1e-12 {
				t.Errorf("%s, case %d: worth %v, by hand %v", column, i, got[i], want)
			}
			sum[column] += got[i]
			known := Decision{Choice: own.Choose(make([]float64, 2), mean), Probabilities: mean, Stakes: own}
			if got[i] > known.OutcomeWorth()+1e-12 {
				t.Errorf("%s, case %d: worth %v, more than the outcome, %v", column, i, got[i], known.OutcomeWorth())
			}
		}
	}
	if sum["a"] <= sum["n0"] {
		t.Errorf("worth of what matters %v, of noise %v", sum["a"], sum["n0"])
	}
	if _, err := m.ColumnWorth(t.Context(), x, "colour"); err == nil {
		t.Error("a column that does not exist has a worth")
	}
}

// TestWorthOfOpenCases: a case of which a column is not known is decided by the mean over what
// the donors have, and its columns are worth what they are worth by hand: the one that is not
// known whatever stood there, and with another one not known by two sums.
func TestWorthOfOpenCases(t *testing.T) {
	train := wideTable(t, posterior.NearestRows, 2, 3)
	m, err := Fit(context.Background(), train, autoOptions(t, EP))
	if err != nil {
		t.Fatal(err)
	}
	full := m.recipeRows(t, wideTable(t, 4, 2, 4))
	stakes := decision.Stakes{Table: decision.Table{{0, 3}, {1, 0}}, Costs: true}
	with := func(row []float64, a, n0 float64) []float64 {
		x := mat.NewDense(1, 4, slices.Clone(row))
		x.Set(0, 0, a)
		x.Set(0, 1, n0)
		p, err := m.Predict(x)
		if err != nil {
			t.Fatal(err)
		}
		return p[0].Probabilities
	}
	nan := math.NaN()
	x := mat.DenseCopyOf(full)
	x.Set(1, 0, nan) // a
	x.Set(2, 0, nan)
	x.Set(2, 1, nan) // and n0
	got, err := m.WorthOf(context.Background(), x, Ask{Columns: []string{"a"}}, stakes)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := m.WorthOf(context.Background(), full, Ask{Columns: []string{"a"}}, stakes)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 3} {
		if got[i].Probabilities[1] != plain[i].Probabilities[1] || got[i].Outcome != plain[i].Outcome || got[i].Columns[0] != plain[i].Columns[0] {
			t.Errorf("case %d, which is known: %+v, among known ones %+v", i, got[i], plain[i])
		}
	}
	cost := func(p float64) float64 { return min(3*p, 1-p) }
	mean := 0.0
	for k := range posterior.NearestRows { // all training rows are donors
		mean += with(x.RawRowView(1), m.x.At(k, 0), x.At(1, 1))[1] / posterior.NearestRows
	}
	if math.Abs(got[1].Probabilities[1]-mean) > 1e-12 || math.Abs(got[1].Outcome-cost(mean)) > 1e-12 || got[1].Columns[0] != plain[1].Columns[0] || got[1].Columns[0] > got[1].Outcome {
		t.Errorf("one column open: %+v, by hand P = %v; with the column %+v", got[1], mean, plain[1])
	}
	// Where n0 is not known either, it is that of the nearest few in what is.
	row := x.RawRowView(2)
	near := make([]int, posterior.NearestRows)
	for k := range near {
		near[k] = k
	}
	distance := func(k int) float64 {
		d := (m.x.At(k, 2) - row[2]) * (m.x.At(k, 2) - row[2])
		if m.x.At(k, 3) != row[3] {
			d += 2
		}
		return d
	}
	slices.SortStableFunc(near, func(i, j int) int { return cmp.Compare(distance(i), distance(j)) })
	mean, seen := 0.0, 0.0
	for k := range posterior.NearestRows {
		p := 0.0
		for _, c := range near[:companions] {
			p += with(row, m.x.At(k, 0), m.x.At(c, 1))[1] / companions
		}
		mean += p / posterior.NearestRows
		seen += cost(p) / posterior.NearestRows
	}
	if want := cost(mean) - seen; math.Abs(got[2].Columns[0]-want) > 1e-12 {
		t.Errorf("two columns open: worth %v, by hand %v", got[2].Columns[0], want)
	}
	if seen == cost(mean) {
		t.Error("measuring is worth nothing, so that nothing is tested")
	}
	if _, err := m.WorthOf(context.Background(), x, Ask{Labels: true}, stakes); err == nil {
		t.Error("a case that is not known has a label's worth")
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if _, err := m.WorthOf(ended, full, Ask{}, stakes); err != context.Canceled {
		t.Errorf("error %v", err)
	}
	if _, err := m.ColumnWorth(ended, x, "a", stakes); err != context.Canceled {
		t.Errorf("error within a column %v", err)
	}
	// What cannot be asked is said before anything is computed.
	var input *InputError
	if _, err := m.WorthOf(ended, full, Ask{Columns: []string{"a", "no"}}, stakes); !errors.As(err, &input) || !strings.Contains(err.Error(), `"no" is not a feature of the model; there are "a", "kind", "n0", "n1"`) {
		t.Errorf("a column that is not there: %v", err)
	}
	// What mistakes cost in a case has to be known, or nothing can be worth anything.
	perCase, err := decision.ParseCosts("fn=5*a,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	if perCase, err = m.Bind(perCase); err != nil {
		t.Fatal(err)
	}
	if err := m.CheckAsk(Ask{Columns: []string{"n0", "a"}}, perCase); !errors.As(err, &input) || !strings.Contains(err.Error(), `"a" says what mistakes cost, and what it is worth to know that is not computed`) {
		t.Errorf("a column that costs are of: %v", err)
	}
	for _, s := range []*decision.Spec{nil, perCase} {
		if err := m.CheckAsk(Ask{Columns: []string{"n0"}}, s); err != nil {
			t.Error(err)
		}
	}
}

// TestOpenColumnInPopulation: half of the training rows are sick, and one in fifty of the cases
// to be decided. The test is N(3, 1) among the sick and N(0, 1) among others, age says nothing: who
// has not been tested is sick with probability 0.02, and the test is worth what the best
// threshold on it saves, whether a prevalence says so or weights do.
func TestOpenColumnInPopulation(t *testing.T) {
	const rows, share, missed = 200, 0.02, 20.0
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("test,age,weight,sick\n")
	for i := range rows {
		test, weight, sick := rng.NormFloat64(), 2*(1-share), "no"
		if i%2 == 0 {
			test, weight, sick = test+3, 2*share, "yes"
		}
		fmt.Fprintf(&b, "%.4f,%.2f,%v,%s\n", test, 50+10*rng.NormFloat64(), weight, sick)
	}
	table, err := table.Read(t.Context(), strings.NewReader(b.String()), "sick.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := decision.ParseCosts("fn=20,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	best := min(1, missed*share)
	untested := best
	for c := 0.0; c < 4; c += 0.001 {
		best = min(best, missed*share*normal.CDF(c-3)+(1-share)*normal.CDF(-c))
	}
	for name, change := range map[string]func(*recipe.Options){
		"prevalence": func(o *recipe.Options) { o.Prevalence, o.Drop = share, []string{"weight"} },
		"weights":    func(o *recipe.Options) { o.Weights = "weight" },
	} {
		o := autoOptions(t, EP)
		o.Data.Target, o.Utility, o.Kernel = "sick", spec, "linear + constant"
		change(&o.Data)
		m, err := Fit(t.Context(), table, o)
		if err != nil {
			t.Fatal(err)
		}
		var p, worth float64
		const cases = 40
		x := mat.DenseCopyOf(m.x.Slice(0, cases, 0, 2))
		for i := range cases {
			x.Set(i, 0, math.NaN())
		}
		got, err := m.WorthOf(t.Context(), x, Ask{Columns: []string{"test"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range got {
			p += w.Probabilities[1] / cases
			worth += w.Columns[0] / cases
		}
		// 50 donors are not the population.
		if math.Abs(p-share) > 0.01 || math.Abs(worth-(untested-best)) > 0.1 {
			t.Errorf("%s: P(sick) %.4f, want %v; the test is worth %.3f, want %.3f", name, p, share, worth, untested-best)
		}
	}
}

// TestLabelWorth: against expectation propagation run again with every case and either
// outcome added to the training rows.
func TestLabelWorth(t *testing.T) {
	for _, classes := range []int{2, 3} {
		rows := func(n int, seed uint64) *table.Table { return wideTable(t, n, 0, seed) }
		o := autoOptions(t, EP)
		if classes == 3 {
			rows = func(n int, seed uint64) *table.Table { return waveTable(t, n, seed) }
			o.Data.Positive, o.Utility = "", nil
		}
		labelWorth(t, o, classes, rows)
	}
}

// waveTable is rows of a number, and of three outcomes that a wave of it makes likely.
func waveTable(t *testing.T, rows int, seed uint64) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 31))
	var b strings.Builder
	b.WriteString("a,y\n")
	for range rows {
		a := 1.5 * rng.NormFloat64()
		k := min(2, max(0, int(math.Floor(1.5+1.2*math.Sin(2*a)+0.4*rng.NormFloat64()))))
		fmt.Fprintf(&b, "%.4f,%c\n", a, 'p'+rune(k))
	}
	read, err := table.Read(context.Background(), strings.NewReader(b.String()), "wave.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func labelWorth(t *testing.T, o Options, classes int, rows func(n int, seed uint64) *table.Table) {
	t.Helper()
	o.Kernel = "rbf(variance=4, lengthscale=1) + constant"
	o.Fixed = true
	m, err := Fit(context.Background(), rows(12, 3), o)
	if err != nil {
		t.Fatal(err)
	}
	x := m.recipeRows(t, rows(10, 4))
	wrong := make(decision.Table, classes)
	for a := range wrong {
		wrong[a] = slices.Repeat([]float64{1}, classes)
		wrong[a][a] = 0
	}
	got, err := m.LabelWorth(x, decision.Stakes{Table: wrong, Costs: true})
	if err != nil {
		t.Fatal(err)
	}
	before := m.predict(m.opinions[0], x)
	gains := func(m *Model) float64 {
		sum := 0.0
		for i, p := range m.predict(m.opinions[0], x) {
			sum += (slices.Max(p.Probabilities) - p.Probabilities[floats.MaxIdx(before[i].Probabilities)]) / 10
		}
		return sum
	}
	largest := slices.Max(got)
	for j := range got {
		want := 0.0
		for y, p := range before[j].Probabilities {
			more, inputs := *m, mat.NewDense(13, m.coding.Len(), nil)
			inputs.Copy(m.x)
			inputs.SetRow(12, x.RawRowView(j))
			link := linkOf(m.recipe, m.likelihood)
			of := gp.CasesOf(link.terms(append(slices.Clone(m.labels), y), nil))
			process, err := of.Process(m.Kernel(), inputs, new(gp.Scratch))
			if err != nil {
				t.Fatal(err)
			}
			r, err := infer.EP{}.Fit(context.Background(), of.Model(process))
			if err != nil {
				t.Fatal(err)
			}
			q, err := link.full(context.Background(), process, r.Sites.Terms, nil)
			if err != nil {
				t.Fatal(err)
			}
			more.opinions = []opinion{{EP, q}}
			want += p * gains(&more)
		}
		// One step of expectation propagation is not its fixed point.
		if math.Abs(got[j]-want) > 0.15*largest {
			t.Errorf("%d outcomes, case %d: worth %v, by refitting %v", classes, j, got[j], want)
		}
	}
	if largest < 1e-3 {
		t.Error("no label is worth anything, so that nothing is tested")
	}
}

// TestNearestOfTies: of rows that are as near as each other the first of the table are not
// the only ones to be asked, which in a sorted table would all be alike.
func TestNearestOfTies(t *testing.T) {
	o := autoOptions(t, EP)
	o.Kernel, o.Fixed = "rbf", true
	m, err := Fit(context.Background(), wideTable(t, 70, 3, 1), o)
	if err != nil {
		t.Fatal(err)
	}
	unknown := make([]float64, m.x.RawMatrix().Cols)
	for k := range unknown {
		unknown[k] = math.NaN()
	}
	near := m.donors().Nearest(unknown)
	if len(near) != posterior.NearestRows || slices.Max(near) < 60 {
		t.Errorf("of 70 rows that are all as near: %v", near)
	}
}

// A stream of more rows than labels are valued for is refused without a number that was not counted.
func TestLabelsOfManyRows(t *testing.T) {
	m, some := fitWide(t, EP), wideTable(t, 1, 3, 5)
	for _, rows := range []int{mostLabels + 1, 3 * mostLabels} {
		text := strings.Join(some.Columns(), ",") + "\n" + strings.Repeat(strings.Join(some.Row(0), ",")+"\n", rows)
		rd, err := recipe.NewReader(t.Context(), strings.NewReader(text), "pool.csv", m.Recipe(), table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range m.Worth(t.Context(), rd, nil, Ask{Labels: true}) {
			if err == nil || !strings.Contains(err.Error(), "there are more than 1000 rows; give a sample of them") {
				t.Errorf("%d rows: %v", rows, err)
			}
			break
		}
	}
}
