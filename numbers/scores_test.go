package numbers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/table"
)

// Comparisons that are planned are not adjusted, so that p is below 0.05 where the interval excludes zero; those with other models
// are, and one that always acts the same is none of them.
func TestPlannedComparisonsAreNotAdjusted(t *testing.T) {
	const n = 60
	rng := rand.New(rand.NewPCG(1, 1))
	costs := func(more float64) (all []float64) {
		for range n {
			all = append(all, more+rng.NormFloat64())
		}
		return all
	}
	actions, others := make([]float64, n), make([]float64, n)
	others[0] = 1
	own := costs(0)
	a := &auditing{ways: []way{
		{"model", actions, own},
		{BestConstant, others, costs(0.5)},
		{PredictedMedian, others, costs(0.4)},
		{"a", others, costs(0.45)},
		{"b", others, costs(0.4)},
		{"the same", actions, own},
	}}
	mean := func(of func(i int) float64, within *compare.Range) compare.Estimate {
		values := make([]float64, n)
		for i := range values {
			values[i] = of(i)
		}
		e, err := compare.NewCases(n, nil, nil).Mean(values, within, audit.Level)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	var p []float64
	all := a.methods(mean)
	for k, m := range all {
		p = append(p, mean(func(i int) float64 { return a.ways[k].Costs[i] - own[i] }, nil).P(0))
		if m.Planned() && (m.P != p[k] || (m.P < 0.05) != (m.SavedLow > 0 || m.SavedHigh < 0)) {
			t.Errorf("%+v, unadjusted %v", m, p[k])
		}
	}
	for k, want := range compare.Holm(p[3:5]) {
		if got := all[3+k].P; got != want || want <= p[3+k] && want < 1 && k == 0 {
			t.Errorf("%s: p %v; want %v of %v", all[3+k].Name, got, want, p)
		}
	}
	if all[5].P != 1 {
		t.Errorf("p = %v of what acts the same", all[5].P)
	}
}

// Intervals of an audit contain as many outcomes as lie between the ends that are written down, and are expected to contain as
// much as these have: of counts more than the level, and just that of amounts.
func TestCoverageIsOfIntervalsWithTheirEnds(t *testing.T) {
	for _, counts := range []bool{true, false} {
		o := lossep.Options{Kernel: "rbf", Seed: 1}
		o.Data.Target, o.Data.Count = "y", counts
		a, err := RunAudit(t.Context(), sold(t, counts), o, nil, AuditOptions{Folds: 2})
		if err != nil {
			t.Fatal(err)
		}
		inside := 0.0
		for _, c := range a.Decisions {
			if c.Low <= c.Outcome && c.Outcome <= c.High {
				inside++
			}
		}
		for _, c := range a.Scores.Coverage {
			if c.Level == 0.9 && math.Abs(c.Share.Value-inside/60) > 1e-12 {
				t.Errorf("counts %v: %v in the intervals, and %v is said", counts, inside/60, c.Share.Value)
			}
			if off := c.Expected - c.Level; counts && !(off > 0.01) || !counts && math.Abs(off) > 1e-6 {
				t.Errorf("counts %v: intervals of %v are expected to contain %v", counts, c.Level, c.Expected)
			}
		}
	}
	// Of a Poisson variable with the mean 1, 0 to 3 is the interval of 90 %.
	i := intervalOf(poisson{}.Predict(0, 0, nil), 0.9)
	if want := math.Exp(-1) * (1 + 1 + 0.5 + 1.0/6); i.Low != 0 || i.High != 3 || math.Abs(i.Probability-want) > 1e-9 {
		t.Errorf("%+v; want 0 to 3 with %v", i, want)
	}
}

// A model whose rows cost more when they are left out than by one action for all is warned of, unless that may be chance.
func TestWorseThanConstantIsWarnedOf(t *testing.T) {
	for _, c := range []struct {
		cost, err float64
		want      bool
	}{{1.2, 0.05, true}, {1.2, 0.15, false}, {0.8, 0.05, false}, {1.2, 0, false}} {
		m := new(Model)
		m.summary.LeaveOneOut = &LeaveOneOut{Coverage: 0.9, Rows: 1000, Cost: c.cost, Expected: c.cost, Error: 0.1, Constant: 1, Difference: c.err}
		if got := strings.Contains(strings.Join(m.Warnings(), ""), "best constant action"); got != c.want {
			t.Errorf("%+v: warned: %v", c, got)
		}
	}
	// The error is that of the mean of pairs: here the costs are those of columns.
	var text strings.Builder
	text.WriteString("x,y\n")
	rng := rand.New(rand.NewPCG(2, 1))
	for range 60 {
		fmt.Fprintf(&text, "%.3f,%.3f\n", rng.NormFloat64(), rng.NormFloat64())
	}
	data, err := table.Read(context.Background(), strings.NewReader(text.String()), "noise.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	costs, err := decision.ParseNumberCosts("under=3,over=1")
	if err != nil {
		t.Fatal(err)
	}
	o := lossep.Options{Kernel: "rbf + constant", Seed: 1}
	o.Data.Target = "y"
	p, err := Prepare(data, o, costs)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, all, err := m.LeftOut(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	constant, sum, squares := p.constant(1), 0.0, 0.0
	for i, a := range all {
		d := a.Cost - p.Stake(i).Cost(constant, p.Values[i])
		sum, squares = sum+d, squares+d*d
	}
	n := float64(len(all))
	want := math.Sqrt((squares/n - sum*sum/n/n) / (n - 1))
	if got := m.summary.LeaveOneOut.Difference; math.Abs(got-want) > 1e-9 {
		t.Errorf("standard error %v of the difference; want %v", got, want)
	}
}
