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

// threeWays are cases of three outcomes.
func threeWays(t *testing.T, rows int) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(16, 16))
	var b strings.Builder
	b.WriteString("a,b,where\n")
	for range rows {
		x, y := rng.NormFloat64(), rng.NormFloat64()
		angle := math.Atan2(y, x)/(2*math.Pi) + 1.5 + 0.05*rng.NormFloat64()
		fmt.Fprintf(&b, "%.4f,%.4f,w%d\n", x, y, int(3*angle)%3)
	}
	table, err := table.Read(context.Background(), strings.NewReader(b.String()), "cases.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// An audit of three outcomes: what is counted is what was decided.
func TestSeveralOutcomes(t *testing.T) {
	costs, err := decision.ParseCostMatrix("costs.csv", []byte("action,w0,w1,w2\nhome,0,5,50\nward,1,0,10\nicu,4,2,0\ncall,2,2,2\n"))
	if err != nil {
		t.Fatal(err)
	}
	table := threeWays(t, 60)
	a, err := New(t.Context(), table, Options{Folds: 3, References: 1, Fit: lossep.Options{Utility: costs, Kernel: "matern32(variance=4, lengthscale=1.5)", Fixed: true, Seed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	folds, err := a.Run(context.Background(), nil, func(*Fold) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folds {
		if !a.Fits(f) {
			t.Error("a fold does not fit the audit that made it")
		}
	}
	r, err := a.Summarise(folds)
	if err != nil {
		t.Fatal(err)
	}
	if r.Method != "ep" || !slices.Equal(r.Outcomes, []string{"w0", "w1", "w2"}) || r.Cuts != nil || r.Gains != nil || len(r.ReliableOf) != 3 {
		t.Errorf("%+v", r)
	}
	own := r.Methods[0]
	met := make([]float64, 12)
	sum, wrong, logs := 0.0, 0.0, 0.0
	stakes := []float64{0, 5, 50, 1, 0, 10, 4, 2, 0, 2, 2, 2}
	for _, d := range r.Decisions {
		if d.Method != r.Method {
			continue
		}
		met[3*d.Action+d.Outcome]++
		sum += stakes[3*d.Action+d.Outcome]
		logs -= math.Log(d.Probabilities[d.Outcome])
		if d.Cost != stakes[3*d.Action+d.Outcome] {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%v decisions cost what they should not", wrong)
	}
	for i, c := range own.Counts {
		if c.Cases != met[i] || c.Action != i/3 || c.Outcome != i%3 {
			t.Errorf("%+v, want %v", c, met[i])
		}
	}
	near(t, "mean cost", own.MeanCost, sum/60)
	near(t, "log loss", own.Quality.LogLoss.Value, logs/60)
	if own.Quality.Area != nil || own.Quality.Accuracy.Value < 0.5 {
		t.Errorf("%+v", own.Quality)
	}
	// What is more frequent than predicted is matched by what is less.
	excess := 0.0
	for _, of := range r.ReliableOf {
		excess += of.Excess.Value
	}
	if math.Abs(excess) > 1e-9 {
		t.Errorf("outcomes are more frequent than predicted by %v in all", excess)
	}
	if !slices.ContainsFunc(r.Methods, func(s Score) bool { return s.Method == Likeliest }) {
		t.Error("the most probable outcome is not tried")
	}
	if c := r.MostProbable(); c.Method != Likeliest {
		t.Errorf("compared with %s", c.Method)
	}
	if got := r.Approximation(); got == NotAsked || len(r.Regrets) != len(a.opt.Methods) {
		t.Errorf("approximation %v", got)
	}
}

// An audit decides by the kernel that a fit would have.
func TestKernelOfManyRowsOfSeveral(t *testing.T) {
	a, err := New(t.Context(), threeWays(t, lossep.FullRows+1), Options{Folds: 3})
	if err != nil {
		t.Fatal(err)
	}
	if a.opt.Fit.Kernel != lossep.ManyRowsKernel {
		t.Errorf("the kernel is %s", a.opt.Fit.Kernel)
	}
}

// Columns that say how to judge are not among those that the kernel depends on the number of.
func TestKernelDoesNotCountGroups(t *testing.T) {
	var text strings.Builder
	text.WriteString("group,")
	for k := range lossep.FewColumns {
		fmt.Fprintf(&text, "x%d,", k)
	}
	text.WriteString("y\n")
	for i := range lossep.FullRows + 1 {
		fmt.Fprintf(&text, "g%d,", i%50)
		for k := range lossep.FewColumns {
			fmt.Fprintf(&text, "%d,", i*(k+3)%101)
		}
		fmt.Fprintf(&text, "%d\n", i*i%7/4)
	}
	table, err := table.Read(context.Background(), strings.NewReader(text.String()), "groups.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	for groups, want := range map[string]string{"group": lossep.ManyRowsKernel + " + " + lossep.AutoEffects, "": lossep.ManyColumnsKernel + " + " + lossep.AutoEffects} {
		a, err := New(t.Context(), table, Options{Folds: 3, Fit: lossep.Options{Data: recipe.Options{Groups: groups}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := a.opt.Fit.Kernel; got != want || a.problem.AskedKernel() != want {
			t.Errorf("groups %q: the kernel is %s, and %s is fitted", groups, got, a.problem.AskedKernel())
		}
	}
}

func TestForTwoOutcomesOnly(t *testing.T) {
	table := threeWays(t, 30)
	for says, o := range map[string]Options{
		"corrected is for two outcomes, and there are 3": {Methods: []lossep.Method{lossep.EP, lossep.Corrected}, Fit: lossep.Options{Method: lossep.EP}},
		"corrected is for two outcomes":                  {Fit: lossep.Options{Method: lossep.Corrected}},
	} {
		var input *lossep.InputError
		if _, err := New(t.Context(), table, o); !errors.As(err, &input) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// Probabilities of three outcomes that were made elsewhere stand in a column for each, and
// parts are distinguished by a column.
func TestGivenOfSeveral(t *testing.T) {
	costs, err := decision.ParseCostMatrix("costs.csv", []byte("action,w0,w1,w2\nhome,0,5,50\nward,1,0,10\nicu,4,2,0\n"))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(4, 4))
	text, want := "sharp_w0,sharp_w1,sharp_w2,flat_w0,flat_w1,flat_w2,sex,where\n", 0.0
	stakes := [][]float64{{0, 5, 50}, {1, 0, 10}, {4, 2, 0}}
	sums := map[string]float64{}
	for i := range 60 {
		y := rng.IntN(3)
		p := []float64{0.1, 0.1, 0.1}
		p[(y+i%5/4)%3] = 0.8 // wrong in every fifth
		expected := make([]float64, 3)
		for a := range stakes {
			for c := range p {
				expected[a] += stakes[a][c] * p[c]
			}
		}
		cost := stakes[slices.Index(expected, slices.Min(expected))][y]
		sex := []string{"f", "m"}[i%2]
		want += cost / 60
		sums[sex] += cost / 30
		text += fmt.Sprintf("%g,%g,%g,0.333333,0.333333,0.333333,%s,w%d\n", p[0], p[1], p[2], sex, y)
	}
	o := Options{Probabilities: []string{"sharp", "flat"}, Recalibrations: Recalibrations(), Folds: 3, By: "sex", Fit: lossep.Options{Utility: costs, Data: recipe.Options{Target: "where"}}}
	a, err := New(t.Context(), tableOf(t, text), o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Summarise(run(t, a))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "mean cost", r.Methods[0].MeanCost, want)
	if r.Methods[0].Method != "sharp" || r.Methods[1].Method != "flat" || r.Methods[0].Kind != "given" || len(r.Recalibrations) > 0 || len(r.Notes) != 1 {
		t.Errorf("%+v", r)
	}
	for y, of := range r.ReliableOf { // 0.8 for the outcome but in every fifth case
		if of.Area == nil || of.Area.Value < 0.7 || of.Area.Value > 1 || of.Area.Low >= of.Area.Value {
			t.Errorf("outcome %d: %+v", y, of.Area)
		}
	}
	for _, part := range r.Parts {
		if near(t, part.Value, part.Cost.Value, sums[part.Value]); part.Cases != 30 || part.Excess != nil || len(part.Counts) != 9 {
			t.Errorf("%+v", part)
		}
	}
	const head, good = "sharp_w0,sharp_w1,sharp_w2,where\n", "0.1,0.1,0.8,w2\n0.1,0.8,0.1,w1\n0.8,0.1,0.1,w0\n"
	for says, wrong := range map[string]string{
		"test.csv, line 8: the probabilities in sharp_… sum to 1.1": head + good + good + "0.2,0.1,0.8,w0\n",
		"invalid probability: 2":              head + good + good + "2,0.1,0.8,w0\n",
		"column \"sharp_w2\": no such column": strings.ReplaceAll(head+good+good, "sharp_w2", "w2"),
	} {
		_, err := New(t.Context(), tableOf(t, wrong), Options{Probabilities: []string{"sharp"}, Folds: 2, Fit: o.Fit})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// The squared error of two outcomes is that of one probability.
func TestBrier(t *testing.T) {
	if got := brier([]float64{0.3, 0.7}, 0); math.Abs(got-0.49) > 1e-15 {
		t.Errorf("%v", got)
	}
	if got := brier([]float64{0.2, 0.3, 0.5}, 1); math.Abs(got-0.5*(0.04+0.49+0.25)) > 1e-15 {
		t.Errorf("%v", got)
	}
}
