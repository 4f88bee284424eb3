package nuts

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

func TestSchedule(t *testing.T) {
	for _, test := range []struct {
		warmup, start int
		ends          []int
	}{
		{1000, 75, []int{100, 150, 250, 450, 950}}, // Stan's default warm-up
		{2000, 75, []int{100, 150, 250, 450, 850, 1950}},
		{150, 75, []int{100}},
		{160, 75, []int{110}},
		{100, 15, []int{90}},
		{20, 3, []int{18}},
	} {
		got := newSchedule(test.warmup)
		if got.start != test.start || !cmp.Equal(got.ends, test.ends) {
			t.Errorf("warm-up of %d: start %d, windows end at %v; want %d, %v",
				test.warmup, got.start, got.ends, test.start, test.ends)
		}
	}
}

func TestMomentsAgainstTwoPass(t *testing.T) {
	const dim, draws = 4, 200
	rng := rand.New(rand.NewPCG(1, 3))
	data := mat.NewDense(draws, dim, nil)
	m := newMoments(dim)
	for range 2 { // the second round shows that reset forgets the first
		m.reset()
		for i := range draws {
			common := rng.NormFloat64()
			for j := range dim {
				data.Set(i, j, 1e6+common+0.1*rng.NormFloat64())
			}
			m.add(data.RawRowView(i))
		}
	}
	var want mat.SymDense
	stat.CovarianceMatrix(&want, data, nil)
	shrink := draws / (draws + 5.0)
	for i, got := range m.estimate().variance {
		w := shrink*want.At(i, i) + 1e-3*(1-shrink)
		// Digits lost to the offset: 1e6 × 1e-16 per deviation of about 1.
		if math.Abs(got-w) > 1e-8 {
			t.Errorf("variance %d is %g, want %g", i, got, w)
		}
	}
}

// A window in which nothing moved gives a usable metric.
func TestMomentsOfAStuckChain(t *testing.T) {
	m := newMoments(2)
	for range 25 {
		m.add([]float64{3, -1})
	}
	if got, want := m.estimate().variance[0], 1e-3*5/30; math.Abs(got-want) > 1e-15 {
		t.Errorf("variance %g, want %g", got, want)
	}
}

// Against the noisy acceptance curve exp(−ε), dual averaging must find the
// step −log(0.8) where it equals the target.
func TestDualAveraging(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	d := dualAveraging{target: 0.8}
	d.restart(1)
	step := 1.0
	for range 5000 {
		step = d.update(min(1, max(0, math.Exp(-step)+0.1*rng.NormFloat64())))
	}
	// Noise of 0.1 over the last thousand effective iterates.
	if want := -math.Log(0.8); math.Abs(d.averaged()/want-1) > 0.05 {
		t.Errorf("step size %g, want %g", d.averaged(), want)
	}
}

func TestFindStepSizeFollowsScale(t *testing.T) {
	for _, scale := range []float64{1e-6, 1, 1e4} {
		target := density{1, func(x, grad []float64) float64 {
			grad[0] = -x[0] / (scale * scale)
			return -x[0] * x[0] / (2 * scale * scale)
		}}
		c := testChain(target, []float64{scale}, 1, unitMetric(1), 8)
		if err := c.findStepSize(); err != nil {
			t.Fatal(err)
		}
		// The stability limit is 2·scale; 0.8 acceptance lies within a factor of 4 below or one doubling above.
		if r := c.stepSize / scale; r < 0.25 || r > 4 {
			t.Errorf("scale %g: first step size is %g of it", scale, r)
		}
	}
}
