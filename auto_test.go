package lossep

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

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// wideTable has columns of noise of which the first two matter: the first bends, and the
// second is a category.
func wideTable(t *testing.T, rows, noise int, seed uint64) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 9))
	var b strings.Builder
	b.WriteString("a,kind")
	for k := range noise {
		fmt.Fprintf(&b, ",n%d", k)
	}
	b.WriteString(",y\n")
	for range rows {
		a, kind := rng.NormFloat64(), rng.IntN(3)
		fmt.Fprintf(&b, "%.4f,%c", a, 'p'+rune(kind))
		for range noise {
			fmt.Fprintf(&b, ",%.4f", rng.NormFloat64())
		}
		y := "no"
		if 2*math.Sin(2*a)+float64(kind-1)+0.5*rng.NormFloat64() > 0 {
			y = "yes"
		}
		b.WriteString("," + y + "\n")
	}
	table, err := table.Read(context.Background(), strings.NewReader(b.String()), "wide.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func autoOptions(t *testing.T, method Method) Options {
	t.Helper()
	costs, err := decision.ParseCosts("fn=5,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	return Options{Data: recipe.Options{Positive: "yes"}, Utility: costs, Kernel: AutoKernel, Method: method, Seed: 1}
}

// fitWide is a small mixture, of more than one part, by a method.
func fitWide(t *testing.T, method Method) *Model {
	t.Helper()
	m, err := Fit(context.Background(), wideTable(t, 70, 3, 1), autoOptions(t, method))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Components()) < 2 {
		t.Fatalf("%d components; the tests need a mixture: %v", len(m.Components()), m.Summary().Candidates)
	}
	return m
}

// TestMixture: what a mixture says is what its parts say, weighted, for every method, and
// a file keeps it to the last bit.
func TestMixture(t *testing.T) {
	for _, method := range Methods() {
		t.Run(string(method), func(t *testing.T) {
			m := fitWide(t, method)
			m.summary.Sharpness = 1.4
			x := m.recipeRows(t, wideTable(t, 20, 3, 2))
			got, err := m.Predict(x)
			if err != nil {
				t.Fatal(err)
			}
			sum, mean, second := make([]float64, 20), make([]float64, 20), make([]float64, 20)
			for _, part := range posterior.Parts(m.opinions[0].Posterior) {
				p, w := part.Predict(x), part.Weight
				for i := range p {
					sum[i] += w * p[i].Probability()
					mean[i] += w * p[i].Mean
					second[i] += w * (p[i].Variance + p[i].Mean*p[i].Mean)
				}
			}
			for i, p := range got {
				pair := []float64{1 - sum[i], sum[i]}
				search.Temper(pair, 1.4)
				sum[i] = pair[1]
				if math.Abs(p.Probability()-sum[i]) > 1e-15 || math.Abs(p.Probabilities[0]+sum[i]-1) > 1e-7 ||
					math.Abs(p.Mean-mean[i]) > 1e-12 || math.Abs(p.Variance-(second[i]-mean[i]*mean[i])) > 1e-10 {
					t.Fatalf("row %d: %+v, the parts give %v, %v, %v", i, p, sum[i], mean[i], second[i]-mean[i]*mean[i])
				}
			}
			decisions, err := m.Decide(x)
			if err != nil {
				t.Fatal(err)
			}
			for i, d := range decisions {
				if want := d.Stakes.Best([]float64{1 - sum[i], sum[i]}, -1); d.Action != want {
					t.Errorf("row %d: action %d, want %d", i, d.Action, want)
				}
			}
			var file bytes.Buffer
			if err := m.Write(&file); err != nil {
				t.Fatal(err)
			}
			bytes1 := bytes.Clone(file.Bytes())
			loaded, err := Read(&file)
			if err != nil {
				t.Fatal(err)
			}
			again, err := loaded.Predict(x)
			if err != nil {
				t.Fatal(err)
			}
			for i := range again {
				if again[i].Probability() != got[i].Probability() {
					t.Errorf("row %d: %v after loading, %v before", i, again[i].Probability(), got[i].Probability())
				}
			}
			var second2 bytes.Buffer
			if err := loaded.Write(&second2); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(bytes1, second2.Bytes()) {
				t.Error("a model that was loaded is another file")
			}
			if strings.Join(m.Describe(), "\n") != strings.Join(loaded.Describe(), "\n") {
				t.Error("a model that was loaded is described in other words")
			}
		})
	}
}

// recipeRows are the features of a table by the model's recipe.
func (m *Model) recipeRows(t *testing.T, table *table.Table) *mat.Dense {
	t.Helper()
	x, _, err := m.recipe.Apply(table)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestMixtureCalibrates: a mixture by EP that is calibrated afterwards is the mixture that
// is fitted so, and its opinions can be asked.
func TestMixtureCalibrates(t *testing.T) {
	m, want := fitWide(t, EP), fitWide(t, LossEP)
	got, err := m.Calibrate(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	x := m.recipeRows(t, wideTable(t, 20, 3, 2))
	p, err := got.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	q, err := want.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p {
		if math.Abs(p[i].Probability()-q[i].Probability()) > 1e-6 { // both settle to 1e-9
			t.Errorf("row %d: %v after Calibrate, %v by a fit", i, p[i].Probability(), q[i].Probability())
		}
	}
	if math.Abs(got.Summary().LeaveOneOut.LogPredictive-want.Summary().LeaveOneOut.LogPredictive) > 1e-5 {
		t.Errorf("leave-one-out %v, by a fit %v", got.Summary().LeaveOneOut, want.Summary().LeaveOneOut)
	}
	decisions, err := got.Decide(x)
	if err != nil {
		t.Fatal(err)
	}
	got.Consult(x, decisions)
}

// TestMixtureLeavesOneOut: the log predictive of the mixture is that of its parts' own
// leave-one-out probabilities.
func TestMixtureLeavesOneOut(t *testing.T) {
	m := fitWide(t, EP)
	problem, err := Prepare(wideTable(t, 70, 3, 1), autoOptions(t, EP))
	if err != nil {
		t.Fatal(err)
	}
	problem = problem.ordered() // as the rows of a model are
	m.summary.Sharpness = 1.4
	p := make([]float64, len(m.labels))
	for _, part := range posterior.Parts(m.opinions[0].Posterior) {
		err := part.Posterior.(posterior.LeaveOut).LeaveOut(t.Context(), problem.Labels, nil, func(i int, _ []float64, l float64) {
			p[i] += part.Weight * math.Exp(l)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := 0.0
	for _, v := range p {
		pair := []float64{1 - v, v}
		search.Temper(pair, 1.4)
		want += math.Log(pair[1])
	}
	left := m.opinions[0].Posterior.(posterior.LeaveOut)
	found, err := problem.leaveOneOut(context.Background(), EP, left, nil, 1.4)
	if err != nil {
		t.Fatal(err)
	}
	if got := found.LogPredictive; math.Abs(got-want) > 1e-9 {
		t.Errorf("log predictive %v, the parts give %v", got, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if found, err := problem.leaveOneOut(ctx, EP, left, nil, 1.4); !errors.Is(err, context.Canceled) || found != nil {
		t.Errorf("interrupted: %v, %v", found, err)
	}
}

// TestAutoTellsColumns: where two of many columns matter the length scales of columns win,
// and the mixture predicts new rows better than one length scale does.
func TestAutoTellsColumns(t *testing.T) {
	o := autoOptions(t, EP)
	train, test := wideTable(t, 150, 30, 5), wideTable(t, 400, 30, 6)
	auto, err := Fit(context.Background(), train, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Kernel = search.Candidates[0].Kernel
	one, err := Fit(context.Background(), train, o)
	if err != nil {
		t.Fatal(err)
	}
	labels, err := auto.recipe.Labels(test)
	if err != nil {
		t.Fatal(err)
	}
	logLoss := func(m *Model) float64 {
		p, err := m.Predict(m.recipeRows(t, test))
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, y := range labels {
			sum -= math.Log(p[i].Probabilities[(y+1)/2]) / float64(len(labels))
		}
		return sum
	}
	if a, b := logLoss(auto), logLoss(one); a > 0.8*b {
		t.Errorf("log loss %v, with one length scale %v; candidates %+v", a, b, auto.Summary().Candidates)
	}
}

// TestAutoFewRows: where rows are too few to compare, the simplest kernel stands alone.
func TestAutoFewRows(t *testing.T) {
	m, err := Fit(context.Background(), wideTable(t, 15, 1, 1), autoOptions(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	if c := m.Summary().Candidates; len(c) != 1 || c[0].Weight != 1 || c[0].Name != search.Candidates[0].Name {
		t.Errorf("candidates %+v", c)
	}
}

// TestAutoInduced: with inducing points one candidate is chosen by some of the rows.
func TestAutoInduced(t *testing.T) {
	o := autoOptions(t, "")
	o.Inducing = 20
	m, err := Fit(context.Background(), wideTable(t, 200, 3, 1), o)
	if err != nil {
		t.Fatal(err)
	}
	if c := m.Summary().Candidates; len(c) != len(search.Candidates) || len(m.Components()) != 1 {
		t.Errorf("candidates %+v", c)
	}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(&file); err != nil {
		t.Error(err)
	}
}

// TestComparisonSample: the rows that candidates are compared on are the same, in the same order,
// however rows stand where they are not put in order, and whichever outcome is positive.
func TestComparisonSample(t *testing.T) {
	table, rows := wideTable(t, 1500, 1, 3), indices.Of(1500)
	sample := func(positive string) (all []string) {
		o := autoOptions(t, EP)
		o.Data.Positive = positive
		p, err := Prepare(table.Subset(rows), o)
		if err != nil {
			t.Fatal(err)
		}
		p.order = p.Order()
		for _, i := range p.searched().Sample() {
			all = append(all, fmt.Sprintf("%.9f %s", p.X.RawRowView(i), p.Recipe.Target.Outcomes[p.Labels[i]]))
		}
		return all
	}
	want := sample("yes")
	if len(want) != search.SampleSize {
		t.Fatalf("%d rows", len(want))
	}
	if !slices.Equal(sample("no"), want) {
		t.Error("another sample where the other outcome is positive")
	}
	rand.New(rand.NewPCG(4, 4)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	if !slices.Equal(sample("yes"), want) {
		t.Error("another sample of the same rows in another order")
	}
}

// TestMany: of many rows of a full process candidates are compared on some, and those that are
// mixed have seen all of them. Rows that belong together are compared together.
func TestMany(t *testing.T) {
	const rows = 1020
	o := autoOptions(t, EP)
	stages := make(map[string]int)
	o.Progress = func(p Progress) { stages[p.Stage] = max(stages[p.Stage], p.Step) }
	o.Inducing = NoInducing
	p, err := Prepare(wideTable(t, rows, 1, 3), o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		p.groups = append(p.groups, fmt.Sprint(i/3))
	}
	some := p.searched().Compared()
	of := make(map[int]int)
	for _, g := range some.Rows.Groups() {
		of[g]++
	}
	if 3*len(of) != some.Len() {
		t.Errorf("%d rows of %d groups of three", some.Len(), len(of))
	}
	p.groups = nil
	m, err := p.Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range m.Summary().Candidates {
		stage := fmt.Sprintf("searching for the kernel with %s, %d rows", c.Name, rows)
		if looks := stages[stage]; (looks > 0) != (c.Weight > 0) || looks > 4 || c.Weight > 0 && !c.Search.Stationary {
			t.Errorf("%s, weight %v: %d evaluations with all rows; %+v", c.Name, c.Weight, looks, c.Search)
		}
		if (c.Search.Rows > 0) != (c.Weight == 0) {
			t.Errorf("%s, weight %v: searched on %d rows", c.Name, c.Weight, c.Search.Rows)
		}
	}
	for _, part := range posterior.Parts(m.opinions[0].Posterior) {
		if n, _ := part.Inputs().Dims(); n != rows {
			t.Errorf("a part of %d rows", n)
		}
	}
}

// A mixture that takes more memory to be read again than it may is refused.
func TestMixturesThatCannotBeRead(t *testing.T) {
	m, o := fitWide(t, EP), autoOptions(t, EP)
	parts := len(m.Components())
	o.MaxMemory = int64(mixtureBytes(m.recipe, parts, m.provenance.Rows, m.coding.Len())) - 1
	_, err := Fit(t.Context(), wideTable(t, 70, 3, 1), o)
	if want := fmt.Sprintf("a mixture of %d posteriors", parts); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one about %s", err, want)
	}
}

// What it takes to read a mixture counts the tables of corrections of the parts that are
// read already.
func TestMixturesFitTheMemory(t *testing.T) {
	m := fitWide(t, Corrected)
	parts, sofar := posterior.Parts(m.opinions[0].Posterior), 0.0
	for _, part := range parts[:len(parts)-1] {
		sofar += part.Bytes()
	}
	need := nextBytes(sofar, m.recipe, m.coding.Len())
	if least := mixtureBytes(m.recipe, len(parts), m.provenance.Rows, m.coding.Len()); !(least <= need) {
		t.Errorf("%v bytes at least, and %v", least, need)
	}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadWithin(bytes.NewReader(file.Bytes()), int64(need)+1); err != nil {
		t.Error(err)
	}
	if _, err := ReadWithin(bytes.NewReader(file.Bytes()), int64(need)-1); err == nil || !strings.Contains(err.Error(), "GB of memory") {
		t.Errorf("error %v", err)
	}
}

// TestManyColumnsOfNoise: where columns are many and say nothing, fits without some rows know
// nothing of them. Begun with hyperparameters that all rows had chosen one of these tables had a
// log probability of −0.62 a row with a length scale for each column, and a power of 1.5.
func TestManyColumnsOfNoise(t *testing.T) {
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 21))
		var b strings.Builder
		for k := range 150 {
			fmt.Fprintf(&b, "n%d,", k)
		}
		b.WriteString("y\n")
		for i := range 60 {
			for range 150 {
				fmt.Fprintf(&b, "%.3f,", rng.NormFloat64())
			}
			b.WriteString([]string{"no", "yes"}[i%2] + "\n")
		}
		table, err := table.Read(context.Background(), strings.NewReader(b.String()), "noise.csv", table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := Fit(context.Background(), table, autoOptions(t, EP))
		if err != nil {
			t.Fatal(err)
		}
		for k, c := range m.summary.Candidates {
			if k > 0 && (c.Weight > 0 || c.LogPredictive > -math.Ln2) && c.LogPredictive != 0 {
				t.Errorf("table %d: %s has the weight %v and the log predictive %v", seed, c.Name, c.Weight, c.LogPredictive)
			}
		}
		if m.summary.Sharpness > 1 {
			t.Errorf("table %d: power %v", seed, m.summary.Sharpness)
		}
	}
}

// Without a row, what the rest says of its outcome is said once, however often the row counts.
func TestWeightedLogWithout(t *testing.T) {
	p, err := Prepare(wideTable(t, 60, 1, 3), autoOptions(t, EP))
	if err != nil {
		t.Fatal(err)
	}
	p.Weights = slices.Repeat([]float64{3}, p.Len())
	fit, err := search.Optimise(t.Context(), p.Kernel, p.X, p.cases(), search.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.learned(fit).Model(t.Context(), EP)
	if err != nil {
		t.Fatal(err)
	}
	// All rows count alike, so that leave-one-out is their sum.
	if got, want := floats.Sum(predictsOne{}.Without(fit)), m.Summary().LeaveOneOut.LogPredictive; math.Abs(got-want) > 1e-6 {
		t.Errorf("log predictive %v, by leave-one-out %v; of the terms, which count three times, %v", got, want, floats.Sum(fit.EP.LogPredictive))
	}
}
