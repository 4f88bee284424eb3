package numbers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/table"
)

// tableOf reads rows; each is written by a function.
func tableOf(t *testing.T, name, header string, rows int, row func(i int) string) *table.Table {
	t.Helper()
	lines := []string{header}
	for i := range rows {
		lines = append(lines, row(i))
	}
	read, err := table.Read(context.Background(), strings.NewReader(strings.Join(lines, "\n")+"\n"), name, table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// amounts are about 3 + 2a, in rows of which those that no weight counts are far from it, and all of which begin with w.
func amounts(t *testing.T, rows int, weight func(i int) int) *table.Table {
	rng := rand.New(rand.NewPCG(2, 7))
	return tableOf(t, "amounts.csv", "w,a,b,y", rows, func(i int) string {
		a, b, y := rng.Float64(), rng.Float64(), 3+0.3*rng.NormFloat64()
		if weight(i) == 0 {
			a, y = a+1, y+40
		}
		return fmt.Sprintf("%d,%.4f,%.4f,%.4f", weight(i), a, b, y+2*a)
	})
}

func prepared(t *testing.T, data *table.Table, costs string, change func(*lossep.Options)) (*Problem, *Model) {
	t.Helper()
	c, err := decision.ParseNumberCosts(costs)
	if err != nil {
		t.Fatal(err)
	}
	o := lossep.Options{Kernel: "rbf + constant", Seed: 1, CostFeatures: true}
	o.Data.Target, o.Data.Weights, o.Data.Impute = "y", "w", true
	if change != nil {
		change(&o)
	}
	p, err := Prepare(data, o, c)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return p, m
}

// A row of weight zero is as good as none, in a fit, in what completes cases, and in an audit.
func TestRowsThatCountNothing(t *testing.T) {
	data := amounts(t, 60, func(i int) int { return (i + 1) % 2 })
	var counting []int
	for i := 0; i < data.Len(); i += 2 {
		counting = append(counting, i)
	}
	p, with := prepared(t, data, "under=3,over=1", nil)
	_, without := prepared(t, data.Subset(counting), "under=3,over=1", nil)
	if a, b := with.Summary(), without.Summary(); a.Rows != 30 || a.LogEvidence != b.LogEvidence || *a.LeaveOneOut != *b.LeaveOneOut {
		t.Errorf("%d rows, log evidence %v, left out %+v; without rows that count nothing %v, %+v", a.Rows, a.LogEvidence, a.LeaveOneOut, b.LogEvidence, b.LeaveOneOut)
	}
	if got := strings.Join(p.Notes, "\n"); !strings.Contains(got, "30 of 60 rows") {
		t.Errorf("the notes are %q", p.Notes)
	}
	// The rows nearest to it count nothing.
	if _, err := with.Predict(mat.NewDense(1, 2, []float64{4, math.NaN()})); err != nil {
		t.Error(err)
	}
	run := func(t2 *table.Table) *Audit {
		o := lossep.Options{Kernel: "rbf + constant", Seed: 1}
		o.Data.Target, o.Data.Weights, o.Data.Impute = "y", "w", true
		a, err := RunAudit(context.Background(), t2, o, nil, AuditOptions{Folds: 2})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a, b := run(data), run(data.Subset(counting)); a.Rows != 30 || a.Methods[0].Cost != b.Methods[0].Cost {
		t.Errorf("%d cases cost %v; without those that count nothing %v", a.Rows, a.Methods[0].Cost, b.Methods[0].Cost)
	}
}

// A model is fitted again by its own recipe to rows with a gap that none had before, which is filled.
func TestRecipeOfAModelFitsAgain(t *testing.T) {
	_, m := prepared(t, amounts(t, 30, func(int) int { return 1 }), "under=1,over=1", nil)
	gap := tableOf(t, "gap.csv", "w,a,b,y", 30, func(i int) string {
		if i == 4 {
			return "1,,0.5,3"
		}
		return fmt.Sprintf("1,%.2f,%.2f,%d", float64(i)/30, float64(i%7)/7, 3+i%5)
	})
	_, again := prepared(t, gap, "under=1,over=1", func(o *lossep.Options) { o.Recipe = m.Recipe() })
	d, err := again.Predict(mat.NewDense(1, 2, []float64{0, 0}))
	if err != nil || math.IsNaN(d[0].Mean()) {
		t.Errorf("%v, %v", d, err)
	}
	far := tableOf(t, "far.csv", "w,a,b,y", 30, func(i int) string { return fmt.Sprintf("1,%.2f,%ge60,%d", float64(i)/30, float64(i/20), 3+i%5) })
	o := lossep.Options{Kernel: "rbf", Recipe: m.Recipe()}
	if _, err := Prepare(far, o, nil); err == nil || !strings.Contains(err.Error(), "line 22") || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("a feature that no kernel takes: %v", err)
	}
}

// What an audit decides of other rows is what the model that is deployed decides, of rows with gaps that no training row
// has too.
func TestAuditOfGapsIsOfTheDeployedModel(t *testing.T) {
	train := amounts(t, 40, func(int) int { return 1 })
	test := tableOf(t, "test.csv", "w,a,b,y", 6, func(i int) string {
		if i%2 == 0 {
			return "1,,0.5,4"
		}
		return fmt.Sprintf("1,0.%d,0.2,4", i)
	})
	p, m := prepared(t, train, "under=3,over=1", nil)
	a, err := RunAudit(context.Background(), train, p.opt, p.Costs, AuditOptions{Test: test})
	if err != nil {
		t.Fatal(err)
	}
	x, _, err := m.Recipe().Apply(test)
	if err != nil {
		t.Fatal(err)
	}
	all, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range all {
		if want := p.Stake(0).Choose(d).Action; a.Decisions[i].Action != want {
			t.Errorf("case %d: the audit's action is %v, the model's %v", i+1, a.Decisions[i].Action, want)
		}
	}
	for k, w := range a.Methods {
		for i, action := range a.Actions[k] {
			if math.IsNaN(action) {
				t.Errorf("%s: no action in case %d", w.Name, i+1)
			}
		}
	}
}

// A training row that costs forbid is named by its line, wherever it stands among the rows of a fit.
func TestForbiddenRowIsNamed(t *testing.T) {
	data := amounts(t, 30, func(int) int { return 1 })
	p, m := prepared(t, data, "under=1,over=1", nil)
	for i := range p.Len() {
		at := p.at(i)
		row := -1
		for k := range data.Len() {
			if data.Line(k) == at.Line {
				row = k
			}
		}
		y, err := m.recipe.Numbers(data)
		if err != nil || row < 0 || y[row] != p.Values[i] {
			t.Fatalf("row %d is at line %d: %v", i, at.Line, err)
		}
	}
}

// The constant action that fits compare with is the best for the costs of every row.
func TestBestConstantHeedsCosts(t *testing.T) {
	p, m := prepared(t, amounts(t, 40, func(int) int { return 1 }), "under=1+20*a,over=1+b", nil)
	least := math.Inf(1)
	for _, action := range p.Values { // at one of which a sum of such costs is least
		sum := 0.0
		for i, y := range p.Values {
			sum += p.Stake(i).Cost(action, y) / float64(p.Len())
		}
		least = min(least, sum)
	}
	// The search ends within 1e-8 of the range of outcomes, and costs have bounded slopes.
	if got := m.Summary().LeaveOneOut.Constant; got > least*(1+1e-6) {
		t.Errorf("the best constant action costs %v, and %v is possible", got, least)
	}
}

// A sample in which outcomes have weights is that in which each is written so often.
func TestSampleOfWeights(t *testing.T) {
	y, weights := []float64{5, 1, 4, 2}, []float64{1, 2, 3, 4}
	one, many := newSample(y, weights), newSample([]float64{5, 1, 1, 4, 4, 4, 2, 2, 2, 2}, nil)
	for k := range 20 {
		p := (float64(k) + 0.5) / 20
		if one.Quantile(p) != many.Quantile(p) {
			t.Errorf("quantile %v is %v, of the copies %v", p, one.Quantile(p), many.Quantile(p))
		}
	}
	// Sums of ten numbers.
	for what, x := range map[string][2]float64{"mean": {one.Mean(), many.Mean()}, "short": {one.Short(3), many.Short(3)}, "excess": {one.Excess(3), many.Excess(3)}} {
		if math.Abs(x[0]-x[1]) > 1e-14 {
			t.Errorf("%s: %v, of the copies %v", what, x[0], x[1])
		}
	}
}

// Rows of which none counts are refused.
func TestNoRowCounts(t *testing.T) {
	o := lossep.Options{Kernel: "rbf"}
	o.Data.Target, o.Data.Weights = "y", "w"
	if _, err := Prepare(amounts(t, 20, func(int) int { return 0 }), o, nil); err == nil || !strings.Contains(err.Error(), "weight") {
		t.Errorf("they are prepared: %v", err)
	}
}
