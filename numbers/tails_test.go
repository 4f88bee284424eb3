package numbers

import (
	"math"
	"strings"
	"testing"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/expr"
)

// The action of the least expected LINEX cost, e^{k(y−a)} − k(y − a) − 1, is μ + kσ²/2 for a normal, and
// it costs k²σ²/2.
func TestLINEX(t *testing.T) {
	plain := &Transform{Name: "none", Mean: 3, Scale: 2}
	for _, k := range []float64{-0.7, 0.3, 1} {
		d := newNormals([]Part{{1, 0.5, 0.8}}, plain, 0)
		mu, sd := 3+2*0.5, 2*0.8
		stake := decision.Stake{Loss: decision.Formula{Of: func(a, y float64) float64 { return math.Exp(k*(y-a)) - k*(y-a) - 1 }}}
		c := stake.Choose(d)
		// The search ends at the root of the precision of numbers.
		if want := mu + k*sd*sd/2; math.Abs(c.Action-want) > 1e-6 || math.Abs(c.Expected-k*k*sd*sd/2) > 1e-9 {
			t.Errorf("k = %v: action %v at %v; want %v at %v", k, c.Action, c.Expected, want, k*k*sd*sd/2)
		}
	}
}

// The neighbours of an action on counts are whole, as it is, and not below 0.
func TestWholeNeighbours(t *testing.T) {
	stake := decision.Stake{Loss: decision.Pinball{Under: 3, Over: 1}}
	for _, c := range []struct{ log, step float64 }{{-5, 1}, {1, 1}, {5, 2}} { // medians of 0, 3 and 148, whose quartiles are 16 apart
		got := stake.Choose(newCounts(c.log, 1e-4, math.Inf(1)))
		if got.Action != math.Trunc(got.Action) || got.Higher != got.Action+c.step || got.Lower != max(0, got.Action-c.step) {
			t.Errorf("%v, %v, %v", got.Lower, got.Action, got.Higher)
		}
	}
	bounded := decision.Stake{Loss: stake.Loss, Actions: decision.Actions{From: 1, To: 2.5}}
	if got := bounded.Choose(newCounts(-5, 1e-4, math.Inf(1))); got.Lower != 1 || got.Action != 1 || got.Higher != 2 {
		t.Errorf("%v, %v, %v", got.Lower, got.Action, got.Higher)
	}
}

// What has no expectation is distinguished from what has one.
func TestFinite(t *testing.T) {
	standard := []Part{{1, 0, 1}}
	all := map[string]Distribution{
		"normal":    newNormals(standard, &Transform{Name: "none", Scale: 1}, 0),
		"log":       newNormals(standard, &Transform{Name: "log", Mean: 1, Scale: 0.1}, 0),
		"root":      newNormals(standard, &Transform{Name: "root", Mean: 4, Scale: 1}, 0),
		"student 5": studentNoise{1, 5}.Predict(0, 0.5, &Transform{Name: "none", Scale: 1}),
		"student 2": studentNoise{1, 1.8}.Predict(0, 0.5, &Transform{Name: "none", Scale: 1}),
		"counts":    newCounts(1, 0.1, math.Inf(1)),
	}
	for _, c := range []struct{ formula, infinite string }{
		{"max(outcome - 8.9, 0)", ""},
		{"max(outcome - 100, 0) + max(100 - outcome, 0)", ""},
		{"outcome * outcome", "student 2"},
		{"outcome * outcome * outcome * outcome * outcome * outcome", "student 5 student 2"},
		{"exp(0.2 * outcome)", "log student 5 student 2 counts"},
		{"exp(0.2 * outcome - 400)", "log student 5 student 2 counts"},
		{"exp(outcome)", "log root student 5 student 2 counts"},
		{"exp(-0.2 * outcome)", "student 5 student 2"},
		{"exp(outcome * outcome)", "normal log root student 5 student 2 counts"},
		{"min(exp(outcome), 1000)", ""},
	} {
		e, err := expr.Parse(c.formula)
		if err != nil {
			t.Fatal(err)
		}
		for name, d := range all {
			got := d.Finite(func(y float64) float64 {
				x, err := e.Eval(func(string) (float64, error) { return y, nil })
				if err != nil {
					return math.Inf(1)
				}
				return x
			})
			want := !strings.Contains(c.infinite, name)
			if got != want {
				t.Errorf("%s under %s: %v", c.formula, name, got)
			}
		}
	}
}
