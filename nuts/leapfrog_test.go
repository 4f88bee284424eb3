package nuts

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"
)

func TestLeapfrogIsReversible(t *testing.T) {
	const dim, steps = 5, 100
	for name, m := range map[string]*metric{"unit": unitMetric(dim), "scaled": newMetric([]float64{0.5, 1, 2, 0.1, 3})} {
		c := testChain(logistic(dim), []float64{0.1, -1, 2, 0.5, -3}, 0.2, m, 3)
		start := c.current
		c.refresh(start)
		here, there := start, c.pool.get()
		spare := c.pool.get()
		for range steps {
			leapfrog(c.target, m, here, there, 0.2)
			here, there, spare = there, spare, here
			if spare == start {
				spare = c.pool.get()
			}
		}
		if d := distance(here.position, start.position); d < 0.1 {
			t.Fatalf("%s: trajectory moved only %g; the way back proves nothing", name, d)
		}
		for range steps {
			leapfrog(c.target, m, here, there, -0.2)
			here, there = there, here
		}
		// 200 steps of rounding at 1e-16 each, in a stable system.
		if d := distance(here.position, start.position) + distance(here.momentum, start.momentum); d > 1e-12 {
			t.Errorf("%s: the way back misses the start by %g", name, d)
		}
	}
}

func distance(a, b []float64) float64 {
	var sum float64
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum)
}

// The map (q, p) → (q', p') of a leapfrog step has Jacobian determinant 1.
func TestLeapfrogPreservesVolume(t *testing.T) {
	const dim = 3
	m := newMetric([]float64{0.4, 2.8, 1.1})
	target := logistic(dim)
	c := testChain(target, make([]float64, dim), 0.7, m, 1)
	from, to := c.pool.get(), c.pool.get()
	step := func(out, in []float64) {
		copy(from.position, in[:dim])
		copy(from.momentum, in[dim:])
		target.LogDensity(from.position, from.gradient)
		m.mulInverse(from.velocity, from.momentum)
		m.mulInverse(from.acceleration, from.gradient)
		leapfrog(target, m, from, to, 0.7)
		copy(out[:dim], to.position)
		copy(out[dim:], to.momentum)
	}
	jacobian := mat.NewDense(2*dim, 2*dim, nil)
	fd.Jacobian(jacobian, step, []float64{0.3, -1.2, 2, 1, 0.5, -0.7}, &fd.JacobianSettings{Formula: fd.Central})
	// Central differences of step 6e-6 are good to about 1e-10.
	if det := mat.Det(jacobian); math.Abs(det-1) > 1e-8 {
		t.Errorf("determinant %.12g, want 1", det)
	}
}

// Over a fixed time the energy error falls as the square of the step.
func TestEnergyErrorIsSecondOrder(t *testing.T) {
	energyError := func(steps int) float64 {
		c := testChain(logistic(2), []float64{2, -1}, 1, unitMetric(2), 9)
		c.refresh(c.current)
		start := c.current.energy
		here, there := c.current, c.pool.get()
		for range steps {
			leapfrog(c.target, c.metric, here, there, 1.7/float64(steps))
			here, there = there, here
		}
		return math.Abs(here.energy - start)
	}
	for steps := 8; steps <= 64; steps *= 2 {
		// The next term of the error expansion is smaller by ε² ≤ 0.05.
		if ratio := energyError(steps) / energyError(2*steps); math.Abs(ratio-4) > 0.2 {
			t.Errorf("halving the step from 1.7/%d divides the energy error by %g, want 4", steps, ratio)
		}
	}
}

// Momenta have covariance M, the inverse of the metric's covariance.
func TestMomentumCovariance(t *testing.T) {
	const dim, draws = 3, 100000
	rng := rand.New(rand.NewPCG(7, 7))
	m := newMetric([]float64{0.25, 1, 4})
	sum := mat.NewSymDense(dim, nil)
	p := make([]float64, dim)
	for range draws {
		m.drawMomentum(p, rng)
		sum.SymRankOne(sum, 1.0/draws, mat.NewVecDense(dim, p))
	}
	var product mat.Dense
	product.Mul(sum, mat.NewDiagDense(dim, m.variance))
	for i := range dim {
		for j := range dim {
			want := 0.0
			if i == j {
				want = 1
			}
			// Standard errors are at most √2·condition(16)^½/√draws = 0.018.
			if got := product.At(i, j); math.Abs(got-want) > 0.05 {
				t.Errorf("(cov(p)·M⁻¹)[%d,%d] = %g, want %g", i, j, got, want)
			}
		}
	}
}
