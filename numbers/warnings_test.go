package numbers

import (
	"math"
	"strings"
	"testing"
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
