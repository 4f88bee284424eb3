package lossep_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// stepsTable is rows of numbers, two categories and a weight: the outcome goes up and down in sixteen steps of a number, or
// follows it.
func stepsTable(t *testing.T, rows int, steps bool) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 1))
	var b strings.Builder
	b.WriteString("x,a,b,share,y\n")
	for range rows {
		x := rng.Float64()
		f := 6*x - 3
		if steps {
			f = 1.6 * float64(1-2*(int(16*x)%2))
		}
		y := "no"
		if rng.Float64() < normal.CDF(f) {
			y = "yes"
		}
		fmt.Fprintf(&b, "%.4f,a%d,b%d,%.1f,%s\n", x, rng.IntN(30), rng.IntN(40), 0.5+0.5*float64(rng.IntN(2)), y)
	}
	table, err := table.Read(context.Background(), strings.NewReader(b.String()), "steps.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Of few rows effects are learned by default where they predict rows that are left out better than mixtures of
// processes do, and nowhere else. Such a model is decided by EP, and a file has it whole.
func TestEffectsOfFewRows(t *testing.T) {
	for _, steps := range []bool{true, false} {
		for _, data := range []recipe.Options{{Target: "y", Positive: "yes", Drop: []string{"share"}}, {Target: "y", Positive: "yes", Weights: "share"}} {
			rows := stepsTable(t, 280, steps)
			m, err := lossep.Fit(context.Background(), rows, lossep.Options{Data: data})
			if err != nil {
				t.Fatal(err)
			}
			s := m.Summary()
			weights := make(map[bool]float64)
			for _, c := range s.Candidates {
				weights[strings.HasPrefix(c.Name, "effects")] += c.Weight
			}
			if steps != (s.Effects != nil) || steps != (weights[true] == 1) || !steps && weights[false] < 0.999 {
				t.Errorf("steps %v, weights %q: effects %v, candidates %+v", steps, data.Weights, s.Effects, s.Candidates)
			}
			if !steps {
				continue
			}
			told := slices.ContainsFunc(s.Status.Notes, func(note string) bool { return strings.Contains(note, "EP is used instead") })
			if m.Method() != lossep.EP || told != (data.Weights == "") { // with weights EP is the default
				t.Errorf("method %s, %q", m.Method(), s.Status.Notes)
			}
			var b bytes.Buffer
			if err := m.Write(&b); err != nil {
				t.Fatal(err)
			}
			again, err := lossep.Read(&b)
			if err != nil {
				t.Fatal(err)
			}
			if want, got := probabilities(t, m, rows), probabilities(t, again, rows); !slices.Equal(want, got) {
				t.Error("other predictions after reading")
			}
		}
	}
}
