package lab

import (
	"context"
	"math"
	"testing"
)

// near compares with a number known to the decimals it is written with.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.9g, want %.9g", what, got, want)
	}
}

// The numbers were found by an independent prototype, and the exact ones by
// enumeration; half a unit of the last digit given.
func TestReactor(t *testing.T) {
	r, err := NewFigure1(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		method         string
		mean, variance float64
		tolerance      float64
		action         int
	}{
		{"exact", -1.139, 16.015, 5e-4, 1},
		{"vi", -2.232, 1.252, 5e-4, 0},
		{"loss-vi", -2.232, 1.247, 5e-4, 0},
		{"ep", -2.316, 2.802, 5e-4, 0},
		{"loss-ep", 0.297, 35.1, 5e-2, 1},
	}
	for i, w := range want {
		c := r.Curves[i]
		if c.Method != w.method || *c.Action != w.action {
			t.Errorf("curve %d is %s with action %d, want %s with %d", i, c.Method, *c.Action, w.method, w.action)
		}
		near(t, w.method+"'s mean", c.Mean, w.mean, w.tolerance)
		near(t, w.method+"'s variance", c.Variance, w.variance, w.tolerance)
		// The densities cover what is drawn: Loss-EP's q has 4 % beyond, the exact
		// posterior the 2 % of its prior-like component.
		mass := 0.0
		for k := 1; k < len(r.State); k++ {
			mass += (c.Density[k] + c.Density[k-1]) / 2 * (r.State[k] - r.State[k-1])
		}
		near(t, w.method+"'s mass", mass, 1, 0.06)
	}
	near(t, "P(φ > T)", r.Curves[0].Exceeds, 0.151, 5e-4)
	near(t, "U(on)", r.Curves[0].ExpectedUtility[0], 0.850, 5e-4)
	near(t, "U(off)", r.Curves[0].ExpectedUtility[1], 0.915, 5e-4)
}

// The numbers come from an independent prototype, to six decimals.
func TestTwoPoints(t *testing.T) {
	p, err := NewFigure2(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	near(t, "optimal expected utility", p.ExpectedUtility, 0.7943744, 5e-8)
	for _, w := range []struct {
		got  Moments
		want [5]float64 // means, variance, covariance, variance
	}{
		{p.OfPosterior[0], [5]float64{-2.3308915, 2.3308915, 4.7897857, 0.9083446, 4.7897857}},
		{p.OfPosterior[1], [5]float64{-2.2780339, 2.2780339, 3.5810094, 0.5486582, 3.5810094}},
		{p.OfPosterior[2], [5]float64{-2.3326463, 2.3326463, 4.8172040, 0.9750557, 4.8172040}},
		{p.OfPosterior[3], [5]float64{-2.305862, 2.321192, 4.916460, 1.017514, 4.934267}},
		{p.OfWeighted[0], [5]float64{-2.396374, 2.399312, 4.759524, 0.943324, 4.815078}},
		{p.OfWeighted[2], [5]float64{-2.391384, 2.398337, 4.752936, 1.006006, 4.839483}},
	} {
		g := w.got
		got := [5]float64{g.Mean[0], g.Mean[1], g.Covariance[0][0], g.Covariance[0][1], g.Covariance[1][1]}
		for k := range got {
			near(t, g.Method+" "+g.Of, got[k], w.want[k], 1e-6)
		}
	}
	// The densities drawn are those whose moments are listed: sums over the grid,
	// which leaves out some tenths of a percent of the mass, far from the mean.
	for _, d := range []struct {
		z    [][]float64
		want Moments
	}{{p.Posterior, p.OfPosterior[0]}, {p.Weighted, p.OfWeighted[0]}} {
		var mass, m1, m2 float64
		for i, row := range d.z {
			for j, z := range row {
				mass += z
				m1 += z * p.F1[j]
				m2 += z * p.F2[i]
			}
		}
		near(t, d.want.Of+" f1", m1/mass, d.want.Mean[0], 0.02)
		near(t, d.want.Of+" f2", m2/mass, d.want.Mean[1], 0.02)
	}
}
