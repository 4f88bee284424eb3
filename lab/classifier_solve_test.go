package lab

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/methods"
	"github.com/lossep/lossep/normal"
)

// twoPointSolver is that of the data of the paper's Figure 2.
func twoPointSolver(t *testing.T) *twoOutcomes {
	t.Helper()
	p, err := Classifier{
		X: [][]float64{{-math.Sqrt2}, {math.Sqrt2}}, Labels: []int{0, 1},
		Kernel:  "rbf(variance=20.085536923187668, lengthscale=2.718281828459045)",
		Utility: [][]float64{{1, 0}, {0.5, 1}},
		Grid:    &Grid{From: []float64{-10}, To: []float64{10}, Points: []int{201}},
	}.problem()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newTwoOutcomes(p, new(ClassifierView))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The moments of every method at the two points, known to the digits given.
func TestTwoPointMoments(t *testing.T) {
	s := twoPointSolver(t)
	for _, c := range []struct {
		name           string
		mean, variance [2]float64
		digit          float64
	}{
		{"ep", [2]float64{-2.3326463, 2.3326463}, [2]float64{4.8172040, 4.8172040}, 5e-8},
		{"vi", [2]float64{-2.2780339, 2.2780339}, [2]float64{3.5810094, 3.5810094}, 5e-8},
		{"laplace", [2]float64{-1.3897179, 1.3897179}, [2]float64{3.0587905, 3.0587905}, 5e-8},
		{"loss-ep", [2]float64{-2.305862, 2.321192}, [2]float64{4.916460, 4.934267}, 5e-7},
	} {
		d, _ := methods.Named(c.name)
		f, err := s.fit(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		var mean, variance [2]float64
		f.Moments(s.model.Views, mean[:], variance[:])
		for i := range 2 {
			if math.Abs(mean[i]-c.mean[i]) > c.digit || math.Abs(variance[i]-c.variance[i]) > c.digit {
				t.Errorf("%s: mean %v and variance %v, want %v and %v", c.name, mean, variance, c.mean, c.variance)
			}
		}
	}
}

// Loss-VI with few draws and a loose end is where it is with many and a tight one.
func TestLossVIIsCloseEnough(t *testing.T) {
	s := twoPointSolver(t)
	d, _ := methods.Named("loss-vi")
	quick, err := s.fit(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	slow, err := infer.LossVI{Draws: 2048, Seed: 7}.Fit(context.Background(), s.calibrated)
	if err != nil {
		t.Fatal(err)
	}
	n := s.grid.Len()
	p, q, stderr := make([]float64, n), make([]float64, n), make([]float64, n)
	quick.Expect(s.grid, factor.Probit{Y: 1}, p, stderr)
	slow.Expect(s.grid, factor.Probit{Y: 1}, q, stderr)
	for j := range p {
		// VI itself is wrong by 0.02 here.
		if math.Abs(p[j]-q[j]) > 1e-3 {
			t.Fatalf("P(+1) = %v at point %d, want %v", p[j], j, q[j])
		}
	}
}

// The standard error of a regret, from eight batches, is that of all draws one by one.
func TestRegretError(t *testing.T) {
	s := twoPointSolver(t)
	truth, err := newTruth(context.Background(), s.model, onGrid(s.grid))
	if err != nil {
		t.Fatal(err)
	}
	n := s.grid.Len()
	best, wrong, weights := make([]int, n), make([]int, n), make([]float64, n)
	s.utility.Actions(best, truth.p)
	for j, a := range best {
		wrong[j] = a
		if j < 80 { // on one side
			wrong[j] = 1 - a
			// The loss of action a' at p has slope Δ_a − Δ_a', for the table [[1, 0], [0.5, 1]].
			weights[j] = []float64{-1.5, 1.5}[a] / float64(n)
		}
	}
	got := truth.regret(s.utility, best, wrong).StdErr
	r, err := exact.Sampler{Draws: truth.draws, EvidencePoints: 1, Seed: 99}.Fit(context.Background(), s.model)
	if err != nil {
		t.Fatal(err)
	}
	// Of the weighted sum of probabilities at every draw.
	values, spread, sums := make([]float64, s.grid.Len()), r.Spread(s.grid), make([]float64, r.Len())
	for k := range sums {
		s.grid.At(values, r.Centre(k))
		for j, w := range weights {
			sums[k] += w * normal.CDF(values[j]/math.Sqrt(1+spread[j]))
		}
	}
	want := stat.StdDev(sums, nil) / math.Sqrt(float64(len(sums)))
	// With seven degrees of freedom a standard deviation is between 0.3 and 2 times
	// itself but once in a thousand times.
	if got < 0.3*want || got > 2*want {
		t.Errorf("a standard error of %v, want %v", got, want)
	}
}

// The lines of a coarser grid are lines of the grid, evenly spaced and in the middle.
func TestCoarser(t *testing.T) {
	for _, n := range []int{2, 3, 16, 40, 41, 61} {
		x := axis(-1, 1, n)
		for _, axes := range [][][]float64{{x}, {x, axis(0, 1, 41)}} {
			kept := coarser(axes, calibrationPoints)
			total := 1
			for k, a := range kept {
				total *= len(a)
				before, after := a[0]-axes[k][0], axes[k][len(axes[k])-1]-a[len(a)-1]
				if line := axes[k][1] - axes[k][0]; math.Abs(before-after) > 1.001*line {
					t.Errorf("%v left out before and %v after, with lines %v apart", before, after, line)
				}
			}
			if total > calibrationPoints || len(kept) != len(axes) {
				t.Errorf("%d points on %d axes", total, len(kept))
			}
			if len(axes) == 1 && len(kept[0]) != n {
				t.Errorf("%d of %d points kept on a line", len(kept[0]), n)
			}
		}
	}
}
