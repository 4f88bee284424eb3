package lossep_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"

	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// crossedTable is rows of a number, a category and another, whose outcome depends on the crossing
// of the number's tenths with the first category.
func crossedTable(t *testing.T, n int, seed uint64) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	b.WriteString("hour,origin,colour,late\n")
	fixed := rand.New(rand.NewPCG(7, 7)) // the same for every seed
	effect := make([]float64, 600)
	for i := range effect {
		effect[i] = fixed.NormFloat64()
	}
	for range n {
		hour, origin, colour := rng.Float64(), rng.IntN(60), rng.IntN(3)
		late := "no"
		if rng.Float64() < normal.CDF(-0.5+effect[60*int(10*hour)+origin]) {
			late = "yes"
		}
		fmt.Fprintf(&b, "%.4f,a%d,c%d,%s\n", hour, origin, colour, late)
	}
	table, err := table.Read(context.Background(), strings.NewReader(b.String()), "table.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func fitCrossed(t *testing.T, table *table.Table, kernel string) *lossep.Model {
	t.Helper()
	p, err := lossep.Prepare(table, lossep.Options{Kernel: kernel, Data: recipe.Options{Target: "late", Positive: "yes"}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func terms(m *lossep.Model) (all []string) {
	for _, e := range m.Summary().Effects {
		all = append(all, e.Term)
	}
	return all
}

func probabilities(t *testing.T, m *lossep.Model, table *table.Table) (p []float64) {
	t.Helper()
	x, _, err := m.Recipe().Apply(table)
	if err != nil {
		t.Fatal(err)
	}
	all, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		p = append(p, one.Probability())
	}
	return p
}

// logLoss is that of the outcomes of a table, and the mean of its outcomes less that of the
// probabilities.
func logLoss(t *testing.T, m *lossep.Model, table *table.Table) (loss, bias float64) {
	t.Helper()
	late, err := table.Texts("late")
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range probabilities(t, m, table) {
		y := 0.0
		if late[i] == "yes" {
			y, loss = 1, loss-math.Log(p)
		} else {
			loss -= math.Log1p(-p)
		}
		bias += (y - p) / float64(len(late))
	}
	return loss / float64(len(late)), bias
}

// A fit of many rows finds the crossing that the outcome depends on, beside the
// smooth part; predictions of other rows gain by it, and what leave-one-out says of them holds.
// A model file has it all.
func TestEffectsAuto(t *testing.T) {
	const rows = 3000
	table, other := crossedTable(t, rows, 1), crossedTable(t, rows, 2)
	with, without := fitCrossed(t, table, "matern32 + constant + effects(auto)"), fitCrossed(t, table, "matern32 + constant")
	if all := terms(with); !slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, "hour/") && strings.Contains(s, "origin") }) {
		t.Fatalf("effects %q", all)
	}
	if all := terms(without); all != nil {
		t.Fatalf("effects %q of a kernel without", all)
	}
	gained, bias := logLoss(t, with, other)
	plain, _ := logLoss(t, without, other)
	if !(gained < plain-0.01) {
		t.Errorf("log loss %.4f with effects, %.4f without", gained, plain)
	}
	if math.Abs(bias) > 3*0.5/math.Sqrt(rows) { // three standard errors of a mean of outcomes
		t.Errorf("probabilities are off by %.3f on average", bias)
	}
	// Three standard errors of the difference of two means of log probabilities, with a
	// standard deviation of 0.45 or so.
	if left := -with.Summary().LeaveOneOut.LogPredictive / rows; math.Abs(left-gained) > 3*0.45*math.Sqrt(2.0/rows) {
		t.Errorf("log loss %.4f of rows left out one by one, %.4f of others", left, gained)
	}

	var file bytes.Buffer
	if err := with.Write(&file); err != nil {
		t.Fatal(err)
	}
	again, err := lossep.Read(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(probabilities(t, with, other), probabilities(t, again, other)) {
		t.Error("a model that was read predicts otherwise")
	}
	calibrated, err := again.Calibrate(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if loss, _ := logLoss(t, calibrated, other); math.Abs(loss-gained) > 0.01 {
		t.Errorf("log loss %.4f calibrated, %.4f before", loss, gained)
	}
	var second bytes.Buffer
	if err := again.Write(&second); err != nil || !bytes.Equal(file.Bytes(), second.Bytes()) {
		t.Errorf("a model that was read is written otherwise: %v", err)
	}
}

// Effects that are asked for are there, with few rows too, and a category that is new has none.
func TestEffectsAsked(t *testing.T) {
	data := crossedTable(t, 1500, 3)
	m := fitCrossed(t, data, "constant + effects(origin, hour/10) + effects(colour)")
	if all := terms(m); !slices.Equal(all, []string{"effects(hour/10, origin)", "effects(colour)"}) {
		t.Fatalf("effects %q", all)
	}
	fresh, err := table.Read(context.Background(), strings.NewReader("hour,origin,colour\n0.5,new,c1\n"), "new.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	x, _, err := m.Recipe().Apply(fresh)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	// Contributions are how far the values of two cases are apart, beside which there is a constant, and
	// say what is new.
	x = mat.DenseCopyOf(x.Grow(1, 0))
	x.SetRow(1, x.RawRowView(0))
	x.Set(1, 1, 2) // another origin, one of the training rows
	decisions, err := m.Decide(x)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Explain(2, nil).Of(context.Background(), x, decisions); err != nil {
		t.Fatal(err)
	}
	both, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	a, b := decisions[0].Contributions, decisions[1].Contributions
	if len(a) != 2 || !a[0].New || a[0].Effect != 0 || a[1].New || b[0].New || a[0].Term != "effects(hour/10, origin)" || !(b[0].SD < a[0].SD) {
		t.Errorf("contributions %+v of a new category, %+v of another", a, b)
	}
	if apart := both[1].Mean - both[0].Mean; math.Abs(b[0].Effect+b[1].Effect-a[0].Effect-a[1].Effect-apart) > 1e-12 {
		t.Errorf("contributions %+v and %+v, values are %g apart", a, b, apart)
	}
	// The same in the words of the table.
	families := m.EffectFamilies()
	for _, f := range families {
		if !(f.Share > 0 && f.Share < 2) {
			t.Errorf("%s has %g of the variance", f.Term, f.Share)
		}
		if f.Term == "effects(colour)" {
			for _, c := range f.Cells {
				if f.Axes[0].Labels[c.At[0]] == "c1" && c.Mean != a[1].Effect {
					t.Errorf("colour c1 has the effect %g and contributes %g", c.Mean, a[1].Effect)
				}
			}
		} else if labels := f.Axes[0].Labels; len(f.Axes[0].Cuts) != 9 || len(labels) != 11 || !strings.HasPrefix(labels[1], "below") || len(f.Cells) != m.Summary().Effects[0].Cells {
			t.Errorf("%s has the axes %+v", f.Term, f.Axes)
		}
	}
	if len(families) != 2 {
		t.Errorf("%d families", len(families))
	}
	if e := m.Summary().Effects[0]; !(p[0].Variance > e.Variance) || math.IsInf(p[0].Variance, 0) {
		t.Errorf("the value of a new category has the variance %g, and effects have %g", p[0].Variance, e.Variance)
	}
}

// Kernels with effects that are none are refused.
func TestEffectsRefused(t *testing.T) {
	table := crossedTable(t, 300, 4)
	for _, kernel := range []string{
		"effects()", "effects(gate)", "effects(origin/8)", "effects(hour/1)", "effects(hour/x)", "effects(hour/9999999)",
		"effects(origin, origin)", "effects(hour, origin, colour, hour)", "2 * effects(origin)", "effects(origin", "rbf + effects(origin)*rbf",
		"each(effects(origin))",
	} {
		p, err := lossep.Prepare(table, lossep.Options{Kernel: kernel, Data: recipe.Options{Target: "late", Positive: "yes"}})
		if err == nil {
			_, err = p.Fit(context.Background())
		}
		var input *lossep.InputError
		if !errors.As(err, &input) {
			t.Errorf("%q: %v", kernel, err)
		}
	}
	_, err := lossep.Prepare(table, lossep.Options{Kernel: "effects(origin)", Inducing: lossep.NoInducing, Data: recipe.Options{Target: "late", Positive: "yes"}})
	if err == nil {
		t.Error("effects of the full process")
	}
}

// Families whose groups take more than a quarter of the memory are refused by name where the kernel names them, and
// otherwise left out by name.
func TestEffectsBeyondMemory(t *testing.T) {
	data := crossedTable(t, 3000, 8).Owned() // so that the memory suffices for the rows
	fit := func(kernel string) (*lossep.Model, error) {
		p, err := lossep.Prepare(data, lossep.Options{Kernel: kernel, Inducing: 10, MaxMemory: 200_000, Data: recipe.Options{Target: "late", Positive: "yes"}})
		if err != nil {
			t.Fatal(err)
		}
		return p.Fit(context.Background())
	}
	var input *lossep.InputError
	if _, err := fit("constant + effects(hour/16, origin)"); !errors.As(err, &input) || !strings.Contains(err.Error(), "effects(hour/16, origin)") || !strings.Contains(err.Error(), "memory") {
		t.Errorf("more groups than there is memory for: %v", err)
	}
	m, err := fit("constant + effects(auto)")
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(m.Summary().Status.Notes, "\n")
	if strings.Contains(strings.Join(terms(m), " "), "effects(hour/16, origin)") || !strings.Contains(notes, ", origin) is left out: its ") {
		t.Errorf("effects %q, and %s", terms(m), notes)
	}
}

// Every method, likelihood and weight goes along with effects.
func TestEffectsOfAllMethods(t *testing.T) {
	table := crossedTable(t, 1200, 5)
	for _, o := range []lossep.Options{
		{Method: lossep.VI},
		{Method: lossep.Laplace},
		{Method: lossep.LossEP},
		{Likelihood: lossep.Likelihood{Name: "logit"}},
		{Likelihood: lossep.Likelihood{Name: "robust", Noise: 0.02}},
		{Data: recipe.Options{Weights: "hour"}},
	} {
		o.Kernel = "constant + effects(origin) + effects(colour)"
		o.Data.Target, o.Data.Positive = "late", "yes"
		m, err := lossep.Fit(context.Background(), table, o)
		if err != nil {
			t.Errorf("%+v: %v", o, err)
			continue
		}
		if loss, _ := logLoss(t, m, table); !(loss < 0.69) || len(m.Summary().Effects) != 2 {
			t.Errorf("%s, %v: log loss %.4f, effects %q", o.Method, o.Likelihood, loss, terms(m))
		}
	}
}

// A column that tells the outcome is said to, and probabilities stay between 0 and 1.
func TestEffectsThatTellTheOutcome(t *testing.T) {
	var text strings.Builder
	text.WriteString("hour,origin,colour,late\n")
	for i := range 600 {
		fmt.Fprintf(&text, "%d,%s,c%d,%s\n", i*7%24, []string{"a", "b", "c", "d"}[i%4], i*5%3, []string{"no", "yes"}[i%2])
	}
	data, err := table.Read(context.Background(), strings.NewReader(text.String()), "told.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	m := fitCrossed(t, data, "constant + effects(origin) + effects(colour)")
	if !slices.ContainsFunc(m.Summary().Status.Notes, func(s string) bool { return strings.HasPrefix(s, "effects(origin) nearly determines") }) {
		t.Errorf("notes %q", m.Summary().Status.Notes)
	}
	for _, p := range probabilities(t, m, data) {
		if !(p > 0 && p < 1) {
			t.Errorf("probability %g", p)
		}
	}
}

// A fit that is interrupted after its effects were found, or named, goes on from them and ends with the same file, also of grades with
// cut points.
func TestInterruptedEffects(t *testing.T) {
	crossed := crossedTable(t, 3000, 1)
	binary := recipe.Options{Target: "late", Positive: "yes"}
	for name, c := range map[string]struct {
		rows   *table.Table
		data   recipe.Options
		kernel string
	}{
		"chosen": {crossed, binary, "matern32 + constant + " + lossep.AutoEffects},
		"named":  {crossed, binary, "matern32 + constant + effects(origin)"},
		"grades": {levels(t, 1200, false, func(i int) int { return i % 9 }), recipe.Options{Target: "level", Grading: recipe.Graded}, "constant + effects(who)"},
	} {
		o := lossep.Options{Kernel: c.kernel, Inducing: 20, Data: c.data}
		file := func(ctx context.Context) (string, error) {
			m, err := lossep.Fit(ctx, c.rows, o)
			if err != nil {
				return "", err
			}
			var b bytes.Buffer
			err = m.Write(&b)
			return b.String(), err
		}
		want, err := file(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		kept := new(memory)
		o.Checkpoints = kept
		ctx, cancel := context.WithCancel(t.Context())
		o.Progress = func(lossep.Progress) {
			if len(kept.states) > 0 {
				cancel()
			}
		}
		if _, err := file(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		chosen := false
		o.Progress = func(p lossep.Progress) { chosen = chosen || strings.HasSuffix(p.Stage, "in 0 families") }
		if got, err := file(t.Context()); err != nil || got != want || chosen || !slices.Equal(kept.resumed, []int{c.rows.Len()}) {
			t.Errorf("%s: another model, or families chosen again (%v); gone on from %d rows; %v", name, chosen, kept.resumed, err)
		}
	}
}

// Groups that a column has many of are for effects, and not for the smooth part as well: their
// standard deviation is the one they have, and other rows are predicted about as well as by those
// who know it all.
func TestEffectsOfManyGroups(t *testing.T) {
	const groups, sd = 250, 0.8
	rng := rand.New(rand.NewPCG(6, 6))
	effect := make([]float64, groups)
	for g := range effect {
		effect[g] = sd * rng.NormFloat64()
	}
	truth := 0.0
	draw := func(n int) *table.Table {
		var text strings.Builder
		text.WriteString("a,group,late\n")
		truth = 0
		for range n {
			g, a, late := rng.IntN(groups), rng.NormFloat64(), "no"
			p := normal.CDF(effect[g] - 0.5 + 0.6*a)
			truth -= (p*math.Log(p) + (1-p)*math.Log1p(-p)) / float64(n)
			if rng.Float64() < p {
				late = "yes"
			}
			fmt.Fprintf(&text, "%g,g%d,%s\n", a, g, late)
		}
		data, err := table.Read(context.Background(), strings.NewReader(text.String()), "groups.csv", table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	// Fewer points than groups: with more the smooth part could tell them apart by itself.
	p, err := lossep.Prepare(draw(5000), lossep.Options{
		Kernel: "matern32(ard) + additive(ard) + constant + effects(auto)", Inducing: 40, Data: recipe.Options{Target: "late", Positive: "yes"},
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if k := m.Kernel().String(); !strings.Contains(k, "e+08])") {
		t.Errorf("kernel %s has the groups", k)
	}
	loss, _ := logLoss(t, m, draw(20000))
	at := slices.IndexFunc(m.Summary().Effects, func(e lossep.Effects) bool { return e.Term == "effects(group)" })
	if at < 0 {
		t.Fatalf("effects %q", terms(m))
	}
	found := math.Sqrt(m.Summary().Effects[at].Variance)
	t.Logf("standard deviation %.3f, log loss %.4f, of the truth %.4f", found, loss, truth)
	// The sampling error of a standard deviation of 250 is 5 %, of effects known from 20 rows each a
	// little more; and 20 rows a group leave about half a nat a group to be learnt.
	if math.Abs(found/sd-1) > 0.2 || loss > truth+0.02 {
		t.Errorf("standard deviation %.3f of %.3f, log loss %.4f of %.4f", found, sd, loss, truth)
	}
}
