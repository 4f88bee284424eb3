package numbers

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lossep/lossep"
)

// Coverage is warned of where it is far from 90 %, and chance is not enough for it.
func TestCoverageWarnings(t *testing.T) {
	for _, c := range []struct {
		coverage, rows float64
		transform      string
		want           string
	}{
		{0.307, 150, "root", "too narrow"},
		{0.75, 150, "none", "too narrow"},
		{0.75, 20, "none", ""}, // three standard errors of 90 % are 20 %
		{0.82, 5000, "none", ""},
		{0.9, 150, "none", ""},
		{1, 40, "none", ""},
		{1, 150, "none", "too wide"},
		{1, 150, "count", "too wide"},
	} {
		m := &Model{shape: Shape{Transform: Transform{Name: c.transform}}}
		m.summary.LeaveOneOut = &LeaveOneOut{Coverage: c.coverage, Rows: c.rows, Cost: 2, Expected: 2, Error: 0.1}
		got := strings.Join(m.Warnings(), "")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// Costs are warned of where they are a quarter off, and by more than chance.
func TestCostWarnings(t *testing.T) {
	for _, c := range []struct {
		cost, err float64
		want      bool
	}{{2.6, 0.1, true}, {2.4, 0.1, false}, {2.6, 0.3, false}, {1.4, 0.1, true}, {1.6, 0.1, false}} {
		m := new(Model)
		m.summary.LeaveOneOut = &LeaveOneOut{Coverage: 0.9, Rows: 1000, Cost: c.cost, Expected: 2, Error: c.err}
		if got := strings.Contains(strings.Join(m.Warnings(), ""), "do not rely on its costs"); got != c.want {
			t.Errorf("%+v: warned: %v", c, got)
		}
	}
}

// Counts are divided evenly over the probabilities that they stand for, so that 90 % of what a model expects is in an interval
// of 90 %, however few counts there are.
func TestCoverageOfCounts(t *testing.T) {
	for _, mean := range []float64{0.05, 1, 30} {
		d, covered := poisson{}.Predict(math.Log(mean), 0, nil), 0.0
		for y := range 200 {
			covered += math.Exp(d.LogDensity(float64(y))) * spanOf(d, float64(y)).within(0.05, 0.95)
		}
		if math.Abs(covered-0.9) > 1e-9 {
			t.Errorf("of counts with the mean %v, %v are expected in intervals of 90 %%", mean, covered)
		}
	}
}

// A fraction among counts is said to be one, with its line; amounts are not.
func TestFractionsAmongCounts(t *testing.T) {
	for _, odd := range []float64{0, 0.5} {
		for _, every := range []int{30, 2} {
			data := tableOf(t, "counts.csv", "a,y", 30, func(i int) string {
				y := float64(i % 25)
				if i%every == 7%every {
					y += odd
				}
				return fmt.Sprintf("%d,%v", i*i, y)
			})
			o := lossep.Options{Kernel: "rbf", Seed: 1}
			o.Data.Target = "y"
			p, err := Prepare(data, o, nil)
			if err != nil {
				t.Fatal(err)
			}
			noted := strings.Contains(strings.Join(p.Notes, "; "), "but not 7.5 in line 9 (1 of 30 are not)")
			if want := odd > 0 && every == 30; noted != want {
				t.Errorf("%v in one of %d rows: %q", odd, every, p.Notes)
			}
		}
	}
}
