package lossep_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/recipe"
)

// codedCases have a code without order, a count that adds up, and a measurement.
func codedCases(n int) string {
	rng := rand.New(rand.NewPCG(4, 4))
	var b strings.Builder
	b.WriteString("code,count,measured,y\n")
	for range n {
		code, count, z := 1+rng.IntN(4), rng.IntN(6), rng.NormFloat64()
		f := []float64{-1.2, 1.3, -1.1, 1.2}[code-1] + 0.7*(float64(count)-2.5) + 0.5*z
		y := 0
		if f+rng.NormFloat64() > 0 {
			y = 1
		}
		fmt.Fprintf(&b, "%d,%d,%.3f,%d\n", code, count, z, y)
	}
	return b.String()
}

// unitCases have eleven columns in one unit: seven vary much and make the outcome, four hardly vary and say
// nothing. Of scale 1 each, as units says, the latter would make most of a distance.
func unitCases(n int, units []float64) string {
	rng := rand.New(rand.NewPCG(8, 8))
	var b strings.Builder
	b.WriteString("a,b,c,d,e,f,g,h,i,j,k,y\n")
	for range n {
		y, sum := 0, 0.0
		for k := range units {
			x := rng.NormFloat64()
			if k < 7 {
				sum += x
			} else {
				x *= 0.05
			}
			fmt.Fprintf(&b, "%.4f,", x*units[k])
		}
		if sum > 0 {
			y = 1
		}
		fmt.Fprintf(&b, "%d\n", y)
	}
	return b.String()
}

// The evidence tells columns in one unit from those that have to be standardised each.
func TestUnitsByEvidence(t *testing.T) {
	for name, test := range map[string]struct {
		units   []float64
		options lossep.Options
		want    bool
	}{
		"one unit":          {slices.Repeat([]float64{1}, 11), lossep.Options{}, true},
		"units that hide":   {slices.Concat(slices.Repeat([]float64{0.01}, 7), slices.Repeat([]float64{1e3}, 4)), lossep.Options{}, false},
		"one far larger":    {slices.Concat(slices.Repeat([]float64{1}, 10), []float64{1e6}), lossep.Options{}, false},
		"a kernel is given": {slices.Repeat([]float64{1}, 11), lossep.Options{Kernel: "matern32 + constant"}, false},
		"scaling is given":  {slices.Repeat([]float64{1}, 11), lossep.Options{Data: recipe.Options{Scaling: recipe.Straight}}, false},
	} {
		test.options.Utility = costs(t, "fn=5,fp=1")
		p, err := lossep.PrepareSettled(t.Context(), tableOf(t, unitCases(150, test.units)), test.options)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range p.Recipe.Columns {
			if c.Kind == recipe.Numeric && (c.Common != test.want || c.Common && c.Scale != p.Recipe.Columns[0].Scale) {
				t.Errorf("%s: column %s: common %v, scale %v", name, c.Name, c.Common, c.Scale)
			}
		}
		if said := strings.Contains(strings.Join(p.Notes, "\n"), "numeric columns are in one unit"); said != test.want {
			t.Errorf("%s: notes %q", name, p.Notes)
		}
	}
}

// The evidence tells codes from counts, and a fit takes it at its word.
func TestCodesByEvidence(t *testing.T) {
	cases := tableOf(t, codedCases(250))
	o := lossep.Options{Utility: costs(t, "fn=5,fp=1"), Method: lossep.EP, DecideCodes: true}
	p, err := lossep.PrepareSettled(t.Context(), cases, o)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]recipe.Kind{"code": recipe.Categorical, "count": recipe.Numeric, "measured": recipe.Numeric} {
		k := slices.IndexFunc(p.Recipe.Columns, func(c recipe.Column) bool { return c.Name == name })
		if got := p.Recipe.Columns[k].Kind; got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	notes := strings.Join(p.Notes, "\n")
	if !strings.Contains(notes, "few different whole numbers, treated as categorical by the evidence on 250 rows (log evidence ") || !strings.Contains(notes, "): code; numeric: count") || p.Codes != nil {
		t.Errorf("notes %q, codes %q", notes, p.Codes)
	}
	// What was decided is what raises the evidence, of the three that could have been: a
	// column does not become codes for less than a nat.
	best := 0.0
	for k, categorical := range [][]string{{"code"}, nil, {"code", "count"}} {
		margin := float64(max(0, len(categorical)-1))
		o := o
		o.DecideCodes, o.Data.Categorical = false, categorical
		m, err := lossep.Fit(t.Context(), cases, o)
		if err != nil {
			t.Fatal(err)
		}
		if e := m.Summary().LogEvidence; k == 0 {
			best = e
		} else if e > best+margin {
			t.Errorf("%q has a log evidence of %v, above %v", categorical, e, best)
		}
	}
	// Without such columns there is nothing to decide.
	o.Data.Drop = []string{"code", "count"}
	if p, err = lossep.PrepareSettled(t.Context(), cases, o); err != nil || len(p.Notes) > 0 {
		t.Errorf("%v, notes %q", err, p.Notes)
	}
}
