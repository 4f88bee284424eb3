package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/problems"
	"github.com/lossep/lossep/kernel"
)

// TestNewton: from pairs along the principal axes of a quadratic the memory knows its
// curvature, and a step leads to the maximum.
func TestNewton(t *testing.T) {
	axes := [][]float64{{1, 2, 2}, {2, 1, -2}, {2, -2, 1}} // orthogonal, of length 3
	curvatures := []float64{0.3, 2, 50}
	var m memory
	peak, gradient := []float64{0.7, -0.4, 1.1}, make([]float64, 3)
	for i, a := range axes {
		fall := floats.ScaleTo(make([]float64, 3), curvatures[i], a)
		if !m.learn(a, fall) {
			t.Fatal("a pair of positive curvature was refused")
		}
		floats.AddScaled(gradient, curvatures[i]*floats.Dot(a, peak)/9, a)
	}
	step := slices.Clone(gradient)
	m.newton(step, []bool{true, true, true})
	if !floats.EqualApprox(step, peak, 1e-13) {
		t.Errorf("step %v to a maximum at %v", step, peak)
	}
	// Twice the curvature makes the same gradient half the way.
	step = slices.Clone(gradient)
	twice := m.scaled(2, prior{})
	twice.newton(step, []bool{true, true, true})
	if floats.Scale(2, step); !floats.EqualApprox(step, peak, 1e-13) {
		t.Errorf("with twice the curvature: half of %v", step)
	}
	// What curves by the prior alone does so with any number of cases.
	alone := memory{steps: [][]float64{{2, 0, 0}}, falls: [][]float64{{0.5, 0, 0}}}
	if more := alone.scaled(4, prior{sd: []float64{2, 2, 2}}); !floats.EqualApprox(more.falls[0], alone.falls[0], 1e-15) {
		t.Errorf("with four times the cases a prior falls by %v, and with one by %v", more.falls[0], alone.falls[0])
	}
	// What is held stays, and the rest still goes up.
	held := []float64{gradient[0], 0, gradient[2]}
	step = slices.Clone(held)
	m.newton(step, []bool{true, false, true})
	if step[1] != 0 || !(floats.Dot(step, gradient) > 0) {
		t.Errorf("step %v for a gradient %v with the second held", step, gradient)
	}
	if m.learn([]float64{1, 0, 0}, []float64{-1, 0, 0}) {
		t.Error("a pair along which the objective curves upwards was taken in")
	}
}

// TestProjected: a gradient that points out of the box at its edge does not count;
// one that points back does.
func TestProjected(t *testing.T) {
	p := prior{mean: []float64{0, 0, 0, 0}, sd: []float64{1, 1, 1, 1}}
	at := &point{logs: []float64{boxWidth, boxWidth, -boxWidth, 1}, slope: []float64{2, -3, -4, 5}}
	gradient, free := ascent{objective: &objective{prior: p}}.projected(at)
	if want := []float64{0, -3, 0, 5}; !slices.Equal(gradient, want) || !slices.Equal(free, []bool{false, true, false, true}) {
		t.Errorf("projected to %v, want %v; free are %v", gradient, want, free)
	}
}

func TestPrior(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	x := mat.NewDense(30, 2, nil)
	for i := range 30 {
		x.SetRow(i, []float64{100 + 3*rng.NormFloat64(), 0.01 * rng.NormFloat64()})
	}
	k, err := kernel.Parse("rbf(ard) + linear(ard) * periodic + matern32 + white", 2)
	if err != nil {
		t.Fatal(err)
	}
	p := newPrior(k, x, 0, tuning{})
	logs := p.draw(rng)
	got := make([]float64, len(logs))
	p.addGradient(got, logs)
	want := fd.Gradient(nil, p.log, logs, &fd.Settings{Formula: fd.Central})
	if !floats.EqualApprox(got, want, 1e-8) { // of differences with a step of 1e-6
		t.Errorf("gradient %v, differences give %v", got, want)
	}
	for i := range logs {
		logs[i] = p.mean[i]
	}
	// At the mean the terms have unit variance where the documentation says so:
	// averaged over the inputs, and for their typical distance.
	at := k.With(logs).Describe()
	s := kernel.NewScale(x, 0)
	for i, want := range map[int]float64{
		0: 1, 1: math.Sqrt(2 * s.Variance[0]), 2: math.Sqrt(2 * s.Variance[1]),
		3: 1 / (2 * s.Square[0]), 4: 1 / (2 * s.Square[1]),
		5: 1, 6: math.Sqrt2, 7: 2 * math.Sqrt((s.Variance[0]+s.Variance[1])/2),
		8: 1, 9: math.Sqrt(s.Variance[0] + s.Variance[1]), 10: 1,
	} {
		if !(math.Abs(math.Log(at[i].Value/want)) < 1e-12) {
			t.Errorf("%v is centred on %v, want %v", at[i], at[i].Value, want)
		}
	}
	// However absurd the scale, the whole box is within the kernel's bounds.
	for _, size := range []float64{0, 1e-300, 1e-50, 1e50, 1e300, math.NaN()} {
		p := newPrior(k, mat.NewDense(2, 2, []float64{size, -size, size / 2, 0}), 0, tuning{})
		low, high := make([]float64, len(p.mean)), make([]float64, len(p.mean))
		for i := range p.mean {
			low[i], high[i] = p.low(i), p.high(i)
		}
		k.With(low)
		k.With(high)
	}
}

// A search for several outcomes ends where no step is worth it: it is brisk on the way, and
// nothing near its end is higher by more than what it may leave.
func TestBriskSearchEndsHigh(t *testing.T) {
	for _, number := range []int{3, 5} {
		rng := rand.New(rand.NewPCG(uint64(number), 33))
		n := 300 / number
		x, o := problems.Sectors(rng, n, number, 0.05)
		k, err := kernel.Parse("matern32(ard) + constant", 2)
		if err != nil {
			t.Fatal(err)
		}
		var cases []int
		fit, err := Optimise(t.Context(), k, x, o, Options{Progress: func(e Evaluation) { cases = append(cases, e.Cases) }})
		if err != nil || fit.Stop != Stationary || !fit.EP.Status.Converged {
			t.Fatalf("%v, %+v", err, fit)
		}
		if slices.Min(cases) != n/2 && slices.Min(cases) != n/4 {
			t.Errorf("%d outcomes: the search looked at %v cases, and not first at fewer of %d", number, cases, n)
		}
		for p := range fit.logs {
			for _, step := range []float64{-0.3, -0.1, 0.1, 0.3} {
				logs := slices.Clone(fit.logs)
				logs[p] += step
				at, err := fit.objective.at(t.Context(), logs, nil, 1e-8)
				if err != nil || at == nil {
					t.Fatal(err)
				}
				if most := fit.LogPosterior + 2*worthPerRow*float64(n); at.value > most {
					t.Errorf("%d outcomes: %v is higher than the end of the search, %v, %+.1f in parameter %d away", number, at.value, fit.LogPosterior, step, p)
				}
			}
		}
	}
}
