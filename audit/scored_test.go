package audit

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/lossep/lossep/decision"
)

// scored are cases with an identifier and probabilities made elsewhere, right way up and upside
// down.
func scored(t *testing.T, rows int, utility *decision.Spec, column string, o Options) *Result {
	t.Helper()
	rng := rand.New(rand.NewPCG(33, 7))
	var b strings.Builder
	b.WriteString("case,y,p,inv\n")
	for i := range rows {
		p, y := rng.Float64(), 0
		if rng.Float64() < p {
			y = 1
		}
		fmt.Fprintf(&b, "%04d,%d,%.3f,%.3f\n", i, y, p, 1-p)
	}
	o.Fit.Utility, o.Fit.Data.ID, o.Fit.Data.Target, o.Probabilities = utility, "case", "y", []string{column}
	a, err := New(t.Context(), tableOf(t, b.String()), o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Summarise(run(t, a))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Cases keep their names, as the table spells them.
func TestIdentifiersAreCarried(t *testing.T) {
	r := scored(t, 60, costsOf(t, "fn=5,fp=1"), "p", Options{})
	for _, d := range r.Decisions {
		if want := fmt.Sprintf("%04d", d.Row-1); d.ID != want {
			t.Fatalf("row %d is %q, want %q", d.Row, d.ID, want)
		}
	}
	for _, c := range r.Nearest {
		if want := fmt.Sprintf("%04d", c.Row-1); c.ID != want {
			t.Fatalf("row %d is %q, want %q", c.Row, c.ID, want)
		}
	}
}

// Probabilities of what did not happen are noticed.
func TestInvertedProbabilities(t *testing.T) {
	costs := costsOf(t, "fn=5,fp=1")
	if r := scored(t, 60, costs, "inv", Options{}); r.Verdicts[0] != (Verdict{AboutProbabilities, Bad, Inverted}) {
		t.Errorf("%+v with an area of %+v", r.Verdicts[0], r.Methods[0].Quality.Area)
	}
	if r := scored(t, 60, costs, "p", Options{}); len(r.Inverted()) > 0 {
		t.Errorf("the right way up, with an area of %+v", r.Methods[0].Quality.Area)
	}
}

// Thresholds are those of the action that the positive outcome calls for, in whichever order
// actions stand.
func TestActionsInEitherOrder(t *testing.T) {
	spec := func(text string) *decision.Spec {
		s, err := decision.ParseSpec("costs.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const accept, refuse = "  accept: {0: 0, 1: 5}\n", "  refuse: {0: 1, 1: 0}\n"
	one := scored(t, 60, spec("outcomes: [0, 1]\ncosts:\n"+accept+refuse), "p", Options{})
	other := scored(t, 60, spec("outcomes: [0, 1]\ncosts:\n"+refuse+accept), "p", Options{})
	if one.Acting() != 1 || other.Acting() != 0 || other.Threshold == nil || *other.Threshold != *one.Threshold {
		t.Fatalf("acting %d and %d, threshold %v", one.Acting(), other.Acting(), other.Threshold)
	}
	if !reflect.DeepEqual(one.Cuts, other.Cuts) || !reflect.DeepEqual(one.Benefit, other.Benefit) {
		t.Errorf("%+v, in the other order %+v", one.Cuts, other.Cuts)
	}
}

// A threshold that no case is above decides as the constant action does, with its interval; and
// that all positive cases are among all cases is certain.
func TestCertainties(t *testing.T) {
	r := scored(t, 60, costsOf(t, "fn=5,fp=1"), "p", Options{})
	same := 0
	for _, c := range r.Cuts {
		for _, constant := range r.Methods[len(r.Methods)-2:] {
			if none, all := c.TruePositive+c.FalsePositive == 0, c.TrueNegative+c.FalseNegative == 0; none && constant.Method == "always negative" || all && constant.Method == "always positive" {
				same++
				if want := (Measure{constant.MeanCost, constant.Low, constant.High}); c.Cost != want {
					t.Errorf("a threshold of %v costs %+v, %s %+v", c.Threshold, c.Cost, constant.Method, want)
				}
			}
		}
	}
	if same == 0 {
		t.Error("no threshold decides all cases alike")
	}
	if last := r.Gains[len(r.Gains)-1]; last.Share != 1 || *last.OfPositive != (Measure{1, 1, 1}) {
		t.Errorf("of all cases %+v", *last.OfPositive)
	}
}

// No bin is left with a handful of cases, and none is lost.
func TestBinsHaveCases(t *testing.T) {
	for _, rows := range []int{14, 40, 60, 200, 1000} {
		r := scored(t, rows, costsOf(t, "fn=5,fp=1"), "p", Options{})
		count, to := 0, 0.0
		for _, b := range r.Reliable.Bins {
			if b.Count < binCases && rows >= binCases || b.From != to {
				t.Errorf("%d rows: bin %+v after %v", rows, b, to)
			}
			count, to = count+b.Count, b.To
		}
		if count != rows || to != 1 {
			t.Errorf("%d rows: %d in bins up to %v", rows, count, to)
		}
		if n := len(r.Reliable.Bins); rows == 1000 && n != reliabilityBins || rows == 60 && n > 4 {
			t.Errorf("%d rows: %d bins", rows, n)
		}
	}
}

// Cases that did not tell a difference are never said to suffice.
func TestMoreCasesThanThereAre(t *testing.T) {
	for rows := 40; rows < 240; rows += 20 {
		r := scored(t, rows, costsOf(t, "fn=5,fp=1"), "p", Options{Recalibrations: Recalibrations()})
		for _, c := range r.Comparisons {
			// At P = 0.05 it takes (1.960 + 0.842)² / 1.960² = 2.04 times as many.
			if c.Needed > 0 && (float64(c.Needed) < 2*float64(rows) || c.TooFew) {
				t.Errorf("%d cases, of which %d are needed: %+v", rows, c.Needed, c)
			}
		}
	}
}
