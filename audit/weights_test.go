package audit

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/recipe"
)

// repeatedVisits are visits with every row written as often as its amount says, and the
// same once each; both name the row.
func repeatedVisits(n int, seed uint64) (once, repeated string) {
	var o, r strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(visits(n, seed)), "\n") {
		if i == 0 {
			o.WriteString("row," + line + "\n")
			r.WriteString("row," + line + "\n")
			continue
		}
		times := 0
		if _, err := fmt.Sscan(strings.Split(line, ",")[6], &times); err != nil {
			panic(err)
		}
		fmt.Fprintf(&o, "r%d-%d,%s\n", seed, i, line)
		for range times {
			fmt.Fprintf(&r, "r%d-%d,%s\n", seed, i, line)
		}
	}
	return o.String(), r.String()
}

// otherwise are what repeated rows are counted in, and what draws at random among rows.
var otherwise = []string{
	"rows", "positive", "cases_needed", "decisions", "flips", "count", "nearest", "verdict", "split", "notes",
	"importances", "difference", "log_evidence",
}

// unlike lists where two results in JSON differ. Ends of intervals come from how much a
// case that did not occur would count: as the mean weight, or as the design effect of
// groups, which is near it.
func unlike(path string, a, b any, tolerance float64) (places []string) {
	switch x := a.(type) {
	case map[string]any:
		y, _ := b.(map[string]any)
		for key, v := range x {
			switch {
			case slices.Contains(otherwise, key):
			case x["difference"] != nil && (key == "cases" || key == "p_corrected"): // of a part
			case slices.Contains([]string{"low", "high", "p", "p_corrected"}, key):
				places = append(places, unlike(path+"."+key, v, y[key], 0.15)...)
			default:
				places = append(places, unlike(path+"."+key, v, y[key], tolerance)...)
			}
		}
	case []any:
		y, _ := b.([]any)
		if len(x) != len(y) {
			return []string{fmt.Sprintf("%s: %d and %d entries", path, len(x), len(y))}
		}
		for k := range x {
			places = append(places, unlike(fmt.Sprintf("%s[%d]", path, k), x[k], y[k], tolerance)...)
		}
	case float64:
		if y, ok := b.(float64); !ok || math.Abs(x-y) > tolerance*math.Max(1, math.Abs(x)) {
			return []string{fmt.Sprintf("%s: %v and %v", path, a, b)}
		}
	default:
		if a != b {
			return []string{fmt.Sprintf("%s: %v and %v", path, a, b)}
		}
	}
	return places
}

// A case of weight k is k cases that are one unit: every average, count and curve of an
// audit is the same.
func TestWeightsAreRepeatedCases(t *testing.T) {
	once, repeated := repeatedVisits(120, 1)
	onceNew, repeatedNew := repeatedVisits(90, 2)
	// Laplace's method agrees to the jitter of repeated rows, and probit regression by EP to
	// its error, which moves the decision of a case or two at some threshold.
	tolerance := map[string]float64{"given": 1e-9, "fitted": 1e-3}
	for name, o := range map[string]Options{
		"given":  {Probabilities: []string{"good", "twice"}, Folds: 2},
		"fitted": {Methods: []lossep.Method{lossep.Laplace}, Fit: lossep.Options{Method: lossep.Laplace, Kernel: testKernel, Fixed: true, Data: recipe.Options{Features: []string{"x"}}}},
	} {
		o.Fit.Data.Groups, o.By = "row", "sex"
		o.Fit.Utility = costsOf(t, "fn=5,fp=1")
		o.Fit.Data.Target, o.Fit.Data.ID = "class", "row"
		audited := func(cases, new, weights string) map[string]any {
			o := o
			o.Fit.Data.Weights = weights
			if name == "fitted" {
				o.Test = tableOf(t, new)
			}
			a, err := New(t.Context(), tableOf(t, cases), o)
			if err != nil {
				t.Fatal(err)
			}
			r, err := a.Summarise(run(t, a))
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			all := make(map[string]any)
			if err := json.Unmarshal(text, &all); err != nil {
				t.Fatal(err)
			}
			return all
		}
		a, b := audited(once, onceNew, "amount"), audited(repeated, repeatedNew, "")
		for _, place := range unlike(name, a, b, tolerance[name]) {
			t.Error(place)
		}
	}
}

// With a prevalence an audit is about that population: constant actions cost what the
// outcomes' shares there make of them, and counts are of as many cases of it.
func TestAuditOfAnotherPopulation(t *testing.T) {
	_, plain := visited(t, Options{Folds: 2})
	_, rare := visited(t, Options{Folds: 2, Fit: lossep.Options{Data: recipe.Options{Prevalence: 0.02}}})
	constant := func(r *Result, name string) *Score {
		for k := range r.Methods {
			if r.Methods[k].Method == name {
				return &r.Methods[k]
			}
		}
		t.Fatalf("no %q", name)
		return nil
	}
	near(t, "always negative", constant(rare, "always negative").MeanCost, 5*0.02)
	near(t, "always positive", constant(rare, "always positive").MeanCost, 0.98)
	near(t, "share of positive cases", rare.Share, 0.02)
	// The shares are given, and so is what follows from them alone.
	for _, name := range []string{"always negative", "always positive"} {
		if c := constant(rare, name); c.High-c.Low > 1e-12 {
			t.Errorf("%s costs %v to %v", name, c.Low, c.High)
		}
	}
	// Of an outcome the rows are as they were, and decided by other probabilities.
	positives := 0.0
	for _, c := range rare.Methods[0].Counts {
		if c.Outcome == 1 {
			positives += c.Cases
		}
	}
	near(t, "positive cases", positives, 0.02*150)
	if a, b := rare.Methods[0].Counts[3].OfOutcome.Value, plain.Methods[0].Counts[3].OfOutcome.Value; a >= b {
		t.Errorf("%v of positive cases are found where they are rare, %v where they are frequent", a, b)
	}
	if !strings.Contains(strings.Join(rare.Notes, "\n"), "2 % of the cases") {
		t.Errorf("notes %q do not say for whom this is", rare.Notes)
	}
}
