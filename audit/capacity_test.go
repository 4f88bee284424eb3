package audit_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// TestCapacityOnPastCases: with equal efforts the cases of a day that are visited are those of the largest
// expected saving, which a sort finds, and what that cost is a sum.
func TestCapacityOnPastCases(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 13))
	type past struct {
		day       int
		p, amount float64
		late      bool
	}
	const days, perDay, most = 12, 50, 6
	var cases []past
	var b bytes.Buffer
	b.WriteString("day,p,amount,late\n")
	for i := range days * perDay {
		c := past{i / perDay, math.Round(1e4*rng.Float64()*rng.Float64()) / 1e4, math.Round(100*math.Exp(3+rng.NormFloat64())) / 100, false}
		c.late = rng.Float64() < c.p
		cases = append(cases, c)
		fmt.Fprintf(&b, "2026-03-%02d,%v,%v,%d\n", 1+c.day, c.p, c.amount, map[bool]int{true: 1}[c.late])
	}
	cost := func(c past, visited bool) float64 {
		switch {
		case visited:
			return 3
		case c.late:
			return c.amount
		}
		return 0
	}
	// Of the days that are decided, by the largest values of a key where a visit pays.
	visiting := func(key func(past) float64, most int) (mean float64) {
		n := 0
		for day := range days {
			of := slices.Clone(cases[day*perDay : (day+1)*perDay])
			slices.SortStableFunc(of, func(a, b past) int { return cmp.Compare(key(b), key(a)) })
			left := most
			for _, c := range of {
				pays := c.p*c.amount > 3 && left > 0
				if pays {
					left--
				}
				mean += cost(c, pays)
				n++
			}
		}
		return mean / float64(n)
	}
	history, err := table.Read(context.Background(), bytes.NewReader(b.Bytes()), "past.csv", table.Format{Header: table.HeaderYes})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := decision.ParseSpec("visits.yaml", []byte("outcomes: [\"0\", \"1\"]\ncosts:\n  leave: {\"0\": 0, \"1\": amount}\n  visit: {\"0\": 3, \"1\": 3}\n"))
	if err != nil {
		t.Fatal(err)
	}
	o := audit.Options{
		Fit:           lossep.Options{Data: recipe.Options{Target: "late", Positive: "1"}, Utility: spec, Seed: 1},
		Probabilities: []string{"p"}, Capacity: []decision.Capacity{{Name: "visit", Most: most}}, Per: "day",
	}
	a, err := audit.New(t.Context(), history, o)
	if err != nil {
		t.Fatal(err)
	}
	folds, err := a.Run(context.Background(), nil, func(*audit.Fold) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Summarise(folds)
	if err != nil {
		t.Fatal(err)
	}
	got := r.Limited
	saving := func(c past) float64 { return c.p * c.amount }
	within, free, ranked := visiting(saving, most), visiting(saving, perDay), visiting(func(c past) float64 { return c.p }, most)
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"cost", got.Cost.Value, within},
		{"extra", got.Extra.Value, within - free},
		{"by probability", got.Ranked.Value, ranked - within},
		{"periods", float64(got.Periods), days},
		{"gap", got.Gap, 0},
		{"used", got.Limits[0].Used, most},
	} {
		if math.Abs(c.got-c.want) > 1e-9 { // sums of 600 costs of some ten
			t.Errorf("%s %v, want %v", c.what, c.got, c.want)
		}
	}
	if e := got.Extra; !(e.Low < e.Value && e.Value < e.High) || got.Limits[0].Price <= 0 {
		t.Errorf("%+v", got)
	}
	o.Capacity = []decision.Capacity{{Name: "call", Most: 1}}
	if _, err := audit.New(t.Context(), history, o); err == nil {
		t.Error("a capacity of no action is audited")
	}
}
