package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// ofOne are visits of one outcome.
func ofOne(t *testing.T) *table.Table {
	all := strings.Split(visits(60, 2), "\n")
	return tableOf(t, strings.Join(slices.DeleteFunc(all, func(line string) bool { return strings.HasSuffix(line, ",no") }), "\n"))
}

// visits are n cases, three to a patient, day by day, with probabilities of two models.
func visits(n int, seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	b.WriteString("x,good,twice,patient,day,sex,amount,class\n")
	common := 0.0
	for i := range n {
		if i%3 == 0 {
			common = rng.NormFloat64()
		}
		x := 0.6*common + 0.8*rng.NormFloat64()
		p := 1 / (1 + math.Exp(-2*x))
		class := "no"
		if rng.Float64() < p {
			class = "yes"
		}
		sex := "f"
		if rng.IntN(3) == 0 {
			sex = "m"
		}
		fmt.Fprintf(&b, "%.4f,%.6f,%.6f,p%d,2025-%02d-%02d,%s,%d,%s\n", x, p, p*p/(p*p+(1-p)*(1-p)), i/3, 1+i/28%12, 1+i%28, sex, 1+i%4, class)
	}
	return b.String()
}

func visited(t *testing.T, o Options) (*Audit, *Result) {
	t.Helper()
	o.Fit.Utility = costsOf(t, "fn=5,fp=1")
	if len(o.Probabilities) == 0 {
		o.Fit.Method, o.Methods = lossep.EP, []lossep.Method{lossep.EP}
		o.Fit.Kernel, o.Fit.Fixed = testKernel, true
		o.Fit.Data.Features = []string{"x"}
	}
	a, err := New(t.Context(), tableOf(t, visits(150, 1)), o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Summarise(run(t, a))
	if err != nil {
		t.Fatal(err)
	}
	return a, r
}

// Patients are never on both sides, and are the units of intervals.
func TestGroupsStayTogether(t *testing.T) {
	a, r := visited(t, Options{Folds: 5, Fit: lossep.Options{Data: recipe.Options{Groups: "patient"}}})
	for _, s := range a.splits[0] {
		for _, i := range s.Test {
			for _, j := range s.Train {
				if i/3 == j/3 {
					t.Fatalf("rows %d and %d are of one patient", i+1, j+1)
				}
			}
		}
	}
	if r.Rows != 150 || r.Independent != 50 || r.Split.Kind != ByGroups || r.Split.Column != "patient" {
		t.Errorf("%d rows, %d independent, %+v", r.Rows, r.Independent, r.Split)
	}
	_, alone := visited(t, Options{Folds: 5})
	if alone.Split.Kind != Stratified || alone.Independent != 150 {
		t.Errorf("%d independent, %+v", alone.Independent, alone.Split)
	}
}

// The past teaches and the next is decided; the first part is never decided, and rows
// of patients who are decided are not learned from.
func TestTimeRolls(t *testing.T) {
	a, r := visited(t, Options{Folds: 3, Time: "day", Fit: lossep.Options{Data: recipe.Options{Groups: "patient"}}})
	days, err := a.table.Times("day", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range a.splits[0] {
		for _, i := range s.Test {
			for _, j := range s.Train {
				if days[j] >= days[i] || i/3 == j/3 {
					t.Fatalf("row %d teaches about row %d", j+1, i+1)
				}
			}
		}
	}
	decided := 0
	for _, w := range a.weights {
		decided += int(w)
	}
	if r.Rows != decided || decided >= 120 || decided < 105 {
		t.Errorf("%d rows of %d", r.Rows, decided)
	}
	if len(r.Decisions) != decided*len(r.Methods) || len(r.Notes) == 0 {
		t.Errorf("%d decisions, notes %q", len(r.Decisions), r.Notes)
	}
}

// A test set is decided by all of the table, with the recipe of the table.
func TestTestSet(t *testing.T) {
	test := tableOf(t, visits(60, 2))
	a, r := visited(t, Options{Test: test})
	if a.Len() != 1 || r.Rows != 60 || len(a.splits[0][0].Train) != 150 {
		t.Errorf("%d folds, %d rows, %d learned from", a.Len(), r.Rows, len(a.splits[0][0].Train))
	}
	x, err := test.Floats("x")
	if err != nil {
		t.Fatal(err)
	}
	// Probabilities rise with x, in the test set's own rows.
	p := make(map[int]float64)
	for _, d := range r.Decisions {
		if d.Method == "ep" {
			p[d.Row-1] = d.Probabilities[1]
		}
	}
	low, high := slices.Index(x, slices.Min(x)), slices.Index(x, slices.Max(x))
	if len(p) != 60 || p[low] > 0.3 || p[high] < 0.7 {
		t.Errorf("P is %v at the lowest and %v at the highest", p[low], p[high])
	}
}

// A test set with gaps that no training row has is decided as the model decides that is fitted to all of the table.
func TestGapsOfATestSet(t *testing.T) {
	text := strings.Split(visits(30, 2), "\n")
	for _, i := range []int{1, 4, 9} {
		text[i] = text[i][strings.IndexByte(text[i], ','):]
	}
	test := tableOf(t, strings.Join(text, "\n"))
	o := Options{Test: test, References: 1}
	o.Fit.Data.Impute = true
	a, r := visited(t, o)
	m, err := lossep.Fit(t.Context(), a.table, a.opt.Fit)
	if err != nil {
		t.Fatal(err)
	}
	x, _, err := m.Recipe().Apply(test)
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range r.Decisions {
		if p := want[d.Row-1].Probabilities[1]; d.Method == "ep" && math.Abs(d.Probabilities[1]-p) > 1e-9 { // but for rounding
			t.Errorf("row %d: the probability is %v, the model's %v", d.Row, d.Probabilities[1], p)
		}
	}
	if !slices.ContainsFunc(r.FoldModels[0].Notes, func(n string) bool { return strings.Contains(n, "exact posterior") }) {
		t.Errorf("the notes are %q", r.FoldModels[0].Notes)
	}
}

// Probabilities made elsewhere: nothing is fitted, the cost is that of deciding by them,
// and overconfident ones are mended by recalibration.
func TestProbabilitiesMadeElsewhere(t *testing.T) {
	a, r := visited(t, Options{Folds: 5, Probabilities: []string{"twice", "good"}, Recalibrations: Recalibrations()})
	if r.Method != "twice" || r.Methods[1].Method != "good" || len(r.Methods) != 2+6+1+2 || r.Methods[2].Method != "twice (isotonic)" {
		t.Errorf("methods %v", r.Methods)
	}
	p, err := a.table.Floats("twice")
	if err != nil {
		t.Fatal(err)
	}
	cost := 0.0
	for i := range p {
		cost += a.realised(i, cheapest(a.costs[i], decision.Pair(p[i]))) / float64(len(p))
	}
	near(t, "cost", r.Methods[0].MeanCost, cost)
	if r.Methods[0].Kind != External || r.Verdicts[2].Question != AboutProbabilities {
		t.Errorf("%s, %+v", r.Methods[0].Kind, r.Verdicts[2])
	}
	if len(r.Recalibrations) != 6 || r.Recalibrations[0].Than != "twice" || r.Recalibrations[5].Than != "good" {
		t.Errorf("recalibrations %+v", r.Recalibrations)
	}
	for _, name := range []string{"twice (platt)", "twice (gp)"} {
		if before, after := find(r.Methods, "twice").Quality.LogLoss.Value, find(r.Methods, name).Quality.LogLoss.Value; after >= before {
			t.Errorf("%s: log loss %v, before %v", name, after, before)
		}
	}
	// A test row has no say in how it is recalibrated.
	f := *run(t, a)[0]
	labels := slices.Clone(a.judged.Labels)
	for _, i := range f.Rows {
		a.judged.Labels[i] = 1 - a.judged.Labels[i]
	}
	again, err := a.fold(context.Background(), 0)
	copy(a.judged.Labels, labels)
	if err != nil || !slices.Equal(positives(again.Answers["twice (gp)"]), positives(f.Answers["twice (gp)"])) {
		t.Errorf("other outcomes of test rows give other probabilities (%v)", err)
	}
}

// Cost and counts of the parts add up to the whole; weights count.
func TestByColumn(t *testing.T) {
	_, r := visited(t, Options{Folds: 5, By: "sex", Probabilities: []string{"good"}, Fit: lossep.Options{Data: recipe.Options{Weights: "amount"}}})
	if len(r.Parts) != 2 || r.Parts[0].Value != "f" || r.Parts[0].Cases+r.Parts[1].Cases != 150 {
		t.Fatalf("parts %+v", r.Parts)
	}
	weights := make([]float64, 2)
	sum, missed := 0.0, 0.0
	for k, part := range r.Parts {
		for _, c := range part.Counts {
			weights[k] += c.Cases
			if c.Action == 0 && c.Outcome == 1 {
				missed += c.Cases
			}
		}
		sum += weights[k] * part.Cost.Value
		if part.P < 0 || part.P > 1 || part.Difference.Low > part.Difference.Value {
			t.Errorf("part %+v", part)
		}
	}
	near(t, "weights", weights[0]+weights[1], 373) // of 150 rows, 1 to 4 in turn
	near(t, "cost", sum/(weights[0]+weights[1]), r.Methods[0].MeanCost)
	near(t, "missed", missed, r.Methods[0].Counts[1].Cases)
	near(t, "opposite", r.Parts[0].Difference.Value, -r.Parts[1].Difference.Value)
}

func TestBadSplits(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"time and test":     {Options{Time: "day", Test: tableOf(t, visits(9, 1))}, "exclude each other"},
		"test of one":       {Options{Test: ofOne(t)}, "have one outcome"},
		"repeats by time":   {Options{Time: "day", Repeats: 2}, "repeats"},
		"no such group":     {Options{Fit: lossep.Options{Data: recipe.Options{Groups: "nobody"}}}, "no such column"},
		"no such time":      {Options{Time: "sex"}, "neither a number nor a date"},
		"too many parts":    {Options{Folds: 5, By: "x", Probabilities: []string{"good"}}, "more than 30"},
		"not a probability": {Options{Probabilities: []string{"amount"}}, "invalid probability"},
		"twice":             {Options{Probabilities: []string{"good", "good"}}, "twice"},
		"recalibration":     {Options{Probabilities: []string{"good"}, Recalibrations: []Recalibration{"magic"}}, "unknown"},
		"groups":            {Options{Fit: lossep.Options{Data: recipe.Options{Groups: "sex"}}, Folds: 3}, "groups"},
	} {
		c.o.Fit.Utility = costsOf(t, "fn=5,fp=1")
		a, err := New(t.Context(), tableOf(t, visits(150, 1)), c.o)
		if err == nil {
			_, err = a.Summarise(run(t, a))
		}
		var input *lossep.InputError
		var rows *table.Error
		if !(errors.As(err, &input) || errors.As(err, &rows)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Rows that were copied teach nothing about each other: of noise, each row of which is there
// three times, nothing can be learned, although a copy would tell the outcome.
func TestCopiesStayTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	var b strings.Builder
	b.WriteString("x,z,class\n")
	for range 40 {
		row := fmt.Sprintf("%.4f,%.4f,%s\n", rng.NormFloat64(), rng.NormFloat64(), []string{"no", "yes"}[rng.IntN(2)])
		b.WriteString(strings.Repeat(row, 3))
	}
	o := Options{Folds: 5, Methods: []lossep.Method{lossep.EP}}
	o.Fit = lossep.Options{Method: lossep.EP, Kernel: "rbf(variance=100, lengthscale=0.01)", Fixed: true, Utility: costsOf(t, "fn=1,fp=1")}
	a, err := New(t.Context(), tableOf(t, b.String()), o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Summarise(run(t, a))
	if err != nil {
		t.Fatal(err)
	}
	if r.Independent != 40 || r.Split.Kind != ByCopies || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "80 of 120 rows") {
		t.Errorf("%d independent, %+v, %q", r.Independent, r.Split, r.Notes)
	}
	// A row's copies would be right nearly always; 40 guesses are right between 10 and 30 times, but
	// for a chance of 0.1 %.
	if cost := r.Methods[0].MeanCost; cost < 0.25 || cost > 0.75 {
		t.Errorf("noise was predicted at a cost of %v", cost)
	}
}

// Large weights give a warning however cases are divided.
func TestLargeWeightsAreAskedAbout(t *testing.T) {
	var b strings.Builder
	b.WriteString("patient,day,x,weight,class\n")
	for i := range 60 {
		fmt.Fprintf(&b, "p%d,%d,%d.5,15000,%s\n", i/3, i, i*i%41, []string{"no", "yes"}[i%2])
	}
	all := tableOf(t, b.String())
	for name, o := range map[string]Options{
		"folds": {}, "groups": {Fit: lossep.Options{Data: recipe.Options{Groups: "patient"}}}, "time": {Time: "day"}, "test": {Test: all},
	} {
		o.Fit.Utility, o.Fit.Kernel, o.Fit.Fixed, o.Fit.Data.Weights, o.Folds = costsOf(t, "fn=2,fp=1"), "rbf", true, "weight", 2
		if o.Fit.Data.Groups == "" {
			o.Fit.Data.Drop = []string{"patient"}
		}
		a, err := New(t.Context(), all, o)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(a.notes, func(s string) bool { return strings.Contains(s, "1.5e+04 on average") }) {
			t.Errorf("%s: %q", name, a.notes)
		}
	}
}

// Folds hold the same cases whatever the order of rows and columns, and whichever outcome is called
// positive; with groups, with copies and with neither.
func TestFoldsDoNotDependOnOrder(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(visits(90, 3)), "\n")
	copied := append(slices.Clone(lines), lines[5:15]...)
	shuffled := func(lines []string) []string {
		lines = slices.Clone(lines)
		rand.New(rand.NewPCG(5, 5)).Shuffle(len(lines)-1, func(i, j int) { lines[i+1], lines[j+1] = lines[j+1], lines[i+1] })
		return lines
	}
	turned := func(lines []string) (all []string) { // with the first column last
		for _, line := range lines {
			first, rest, _ := strings.Cut(line, ",")
			all = append(all, rest+","+first)
		}
		return all
	}
	folds := func(lines []string, positive, groups string) (all []string) {
		o := Options{Repeats: 2, Folds: 4}
		o.Fit.Data = recipe.Options{Target: "class", Positive: positive, Groups: groups, Features: []string{"x", "good", "sex"}}
		a, err := New(t.Context(), tableOf(t, strings.Join(lines, "\n")+"\n"), o)
		if err != nil {
			t.Fatal(err)
		}
		for r, splits := range a.splits {
			for k, s := range splits {
				for _, i := range s.Test {
					all = append(all, fmt.Sprintf("%d %d %v", r, k, must(a.table.Texts("good"))[i]))
				}
			}
		}
		slices.Sort(all)
		return all
	}
	for name, c := range map[string]struct {
		lines  []string
		groups string
	}{"rows": {lines, ""}, "copies": {copied, ""}, "groups": {lines, "patient"}} {
		want := folds(c.lines, "yes", c.groups)
		for how, got := range map[string][]string{
			"positive": folds(c.lines, "no", c.groups), "rows": folds(shuffled(c.lines), "yes", c.groups), "columns": folds(turned(c.lines), "yes", c.groups),
		} {
			if !slices.Equal(got, want) {
				t.Errorf("%s: other folds with other %s", name, how)
			}
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
