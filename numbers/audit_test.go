package numbers

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/table"
)

// sold is a table of counts or amounts whose costs differ from row to row.
func sold(t *testing.T, counts bool) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(4, 9))
	var b strings.Builder
	b.WriteString("x,price,g,y\n")
	for i := range 60 {
		x := rng.Float64()
		y := 3 + 4*x + 0.7*rng.NormFloat64()
		if counts {
			y = max(0, math.Round(y-4))
		}
		fmt.Fprintf(&b, "%.3f,%.2f,%d,%.3f\n", x, 1+rng.Float64(), i/4, y)
	}
	read, err := table.Read(context.Background(), strings.NewReader(b.String()), "sold.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// The figures of an audit agree with each other: bars of the histogram add up to the cases, costs at the
// ratio given are those of the decisions, and a case that is decided the same costs the same.
func TestAuditAgreesWithItself(t *testing.T) {
	for _, c := range []struct {
		costs  string
		counts bool
	}{{"under=3,over=1", true}, {"under=2*price,over=1", false}} {
		costs, err := decision.ParseNumberCosts(c.costs)
		if err != nil {
			t.Fatal(err)
		}
		o := lossep.Options{Kernel: "rbf"}
		o.Data.Target, o.Data.Groups = "y", "g"
		a, err := RunAudit(context.Background(), sold(t, c.counts), o, costs, AuditOptions{Folds: 2, CasesPerYear: 100})
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got, want float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) { // sums of 60 numbers
				t.Errorf("%s, %s: %v; want %v", c.costs, what, got, want)
			}
		}
		sum, total := 0.0, 0.0
		for _, n := range a.Scores.PIT {
			sum += n
		}
		near("bars", sum, 60)
		own, constant := a.Methods[0], a.Methods[1]
		upTo := 0.0
		for _, d := range a.Decisions {
			if d.Outcome <= d.Action {
				upTo++
			}
		}
		near("outcomes up to the action", a.Scores.UpToAction.Share.Value, upTo/60)
		if at := a.Scores.UpToAction; !c.counts && !(at.Expected > 0.65 && at.Expected < 0.85) { // 2 to 4 against 1
			t.Errorf("%v of the outcomes are expected up to the action", at.Expected)
		}
		for _, r := range a.Ratios {
			if r.Times == 1 {
				near("re-optimised", r.Adapted.Value, own.Cost)
				near("kept", r.Kept.Value, own.Cost)
				near("constant", r.Constant.Value, constant.Cost)
			}
		}
		near("saved", own.Cost+constant.Saved, constant.Cost)
		near("a year", a.Yearly.Cost.Value, 100*own.Cost)
		near("surprise", a.Scores.Expected+a.Scores.Surprise.Value, own.Cost)
		for i, d := range a.Decisions {
			near("the action", a.Actions[0][i], d.Action)
			total += d.Cost
		}
		if a.Independent != 15 || len(a.Decisions) != 60 || !(total > 0) {
			t.Errorf("%d groups, %d cases, cost %v", a.Independent, len(a.Decisions), total)
		}
	}
}

// Folds that were written down and read again are the same folds: an audit that goes on from any of them ends with the same
// bytes, with groups, other methods and a capacity, too; and a fold that is none of it is not taken.
func TestAuditGoesOnFromFolds(t *testing.T) {
	costs, err := decision.ParseNumberCosts("under=2*price,over=1")
	if err != nil {
		t.Fatal(err)
	}
	o := lossep.Options{Kernel: "rbf"}
	o.Data.Target, o.Data.Groups = "y", "g"
	a, err := NewAudit(sold(t, true), o, costs, AuditOptions{Folds: 3, CasesPerYear: 100, Methods: []lossep.Method{lossep.Laplace}, Capacity: []decision.Capacity{{Name: "action", Most: 100}}, Per: "x"})
	if err != nil {
		t.Fatal(err)
	}
	var kept [][]byte
	folds, err := a.Run(t.Context(), nil, func(f *Fold) error {
		text, err := json.Marshal(f)
		kept = append(kept, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	summary := func(folds []*Fold) (*Audit, string) {
		out, err := a.Summarise(folds)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		return out, string(text)
	}
	whole, want := summary(folds)
	for interrupted := 1; interrupted <= len(kept); interrupted++ {
		var known []*Fold
		for _, text := range kept[:interrupted] {
			f := new(Fold)
			if err := json.Unmarshal(text, f); err != nil || !a.Fits(f) {
				t.Fatalf("%v: %s", err, text)
			}
			known = append(known, f)
		}
		again := 0
		folds, err := a.Run(t.Context(), known, func(*Fold) error { again++; return nil })
		if err != nil || again != len(kept)-interrupted {
			t.Fatalf("%d folds again after %d, %v", again, interrupted, err)
		}
		got, text := summary(folds)
		if text != want || !slices.Equal(got.Decisions, whole.Decisions) || fmt.Sprint(got.Actions) != fmt.Sprint(whole.Actions) {
			t.Errorf("interrupted after %d folds: %s, want %s", interrupted, text, want)
		}
	}
	for what, change := range map[string]func(f *Fold){
		"another fold":  func(f *Fold) { f.Index = 1 },
		"no fold":       func(f *Fold) { f.Index = 3 },
		"a case less":   func(f *Fold) { f.Cases = f.Cases[1:] },
		"an action too": func(f *Fold) { f.Ways[0].Actions = append(f.Ways[0].Actions, 1) },
		"no model":      func(f *Fold) { f.File = nil },
	} {
		f := new(Fold)
		if err := json.Unmarshal(kept[0], f); err != nil {
			t.Fatal(err)
		}
		if change(f); a.Fits(f) {
			t.Errorf("%s is taken", what)
		}
	}
}

// The best constant action of costs and weights that differ is the best of all outcomes, one of which is
// the least of every sum of such costs.
func TestConstantOfDifferentCosts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	p := &Problem{Costs: decision.AbsoluteError()}
	for range 41 {
		p.Values = append(p.Values, 10*rng.NormFloat64())
		p.Weights = append(p.Weights, rng.ExpFloat64())
		p.stakes = append(p.stakes, decision.Stake{Loss: decision.Pinball{Under: 1 + rng.Float64(), Over: rng.Float64()}})
	}
	cost := func(a float64) (sum float64) {
		for i, y := range p.Values {
			sum += p.Weights[i] * p.stakes[i].Cost(a, y)
		}
		return sum
	}
	least := math.Inf(1)
	for _, y := range p.Values {
		least = min(least, cost(y))
	}
	// The search ends within 1e-8 of the range of outcomes, and costs have bounded slopes.
	if got := cost(p.constant(1)); got > least*(1+1e-6) {
		t.Errorf("it costs %v, and %v is possible", got, least)
	}
}

// Forward-chaining splits: a fold is decided by rows that are all before it, and by none of its groups.
func TestSplitsByTime(t *testing.T) {
	cases := sold(t, true)
	o := lossep.Options{}
	o.Data.Target, o.Data.Groups = "y", "g" // four rows in a row
	times, err := cases.Floats("x")
	if err != nil {
		t.Fatal(err)
	}
	opt := AuditOptions{Folds: 3, Time: "x"}
	a, err := NewAudit(cases, o, nil, opt)
	if err != nil || a.Len() != opt.Folds {
		t.Fatal(err)
	}
	tested := 0
	for _, s := range a.splits {
		tested += len(s.Test)
		for _, i := range s.Train {
			for _, j := range s.Test {
				if times[i] >= times[j] || i/4 == j/4 {
					t.Errorf("row %d of group %d at %v teaches row %d of group %d at %v", i, i/4, times[i], j, j/4, times[j])
				}
			}
		}
	}
	if want := 60 * 3 / 4; tested < want-4 || tested > want+4 { // parts of about as many rows, the first decides nothing
		t.Errorf("%d rows decided; want about %d", tested, want)
	}
	opt.Folds = 60
	if _, err := NewAudit(cases, o, nil, opt); err == nil || !strings.Contains(err.Error(), "folds") {
		t.Errorf("60 folds of 60 rows: %v", err)
	}
}
