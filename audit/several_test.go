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
	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
)

// threeWays are cases of three outcomes.
func threeWays(t *testing.T, rows int) *data.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(16, 16))
	var b strings.Builder
	b.WriteString("a,b,where\n")
	for range rows {
		x, y := rng.NormFloat64(), rng.NormFloat64()
		angle := math.Atan2(y, x)/(2*math.Pi) + 1.5 + 0.05*rng.NormFloat64()
		fmt.Fprintf(&b, "%.4f,%.4f,w%d\n", x, y, int(3*angle)%3)
	}
	table, err := data.Read(context.Background(), strings.NewReader(b.String()), "cases.csv", data.Format{})
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
	a, err := New(table, Options{Folds: 3, References: 1, Fit: lossep.Options{Utility: costs, Kernel: "matern32(variance=4, lengthscale=1.5)", Fixed: true, Seed: 1}})
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
		logs -= math.Log(d.Probability)
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
	for _, v := range r.Verdicts {
		if strings.Contains(v.Finding, "one half") {
			t.Error(v.Finding)
		}
	}
}

func TestForTwoOutcomesOnly(t *testing.T) {
	table := threeWays(t, 30)
	for says, o := range map[string]Options{
		"by: parts are told apart for two outcomes":    {By: "a"},
		"loss-vi is for two outcomes, and there are 3": {Methods: []lossep.Method{lossep.EP, lossep.LossVI}},
		"corrected is for two outcomes":                {Fit: lossep.Options{Method: lossep.Corrected}},
	} {
		var input *lossep.InputError
		if _, err := New(table, o); !errors.As(err, &input) || !strings.Contains(err.Error(), says) {
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
