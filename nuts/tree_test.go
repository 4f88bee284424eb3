package nuts

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// orbit follows the two-dimensional harmonic oscillator from a circular orbit
// and returns points first … last−1 as a tree with their momentum sum.
func orbit(first, last int, step float64) tree {
	c := testChain(standardNormal(2), []float64{1, 0}, step, unitMetric(2), 1)
	here := c.current
	copy(here.momentum, []float64{0, 1})
	copy(here.velocity, here.momentum)
	copy(here.acceleration, here.gradient)
	out := tree{momentumSum: make([]float64, 2)}
	for i := range last {
		if i == first {
			out.begin = here
		}
		if i >= first {
			out.momentumSum[0] += here.momentum[0]
			out.momentumSum[1] += here.momentum[1]
		}
		out.end = here
		next := c.pool.get()
		leapfrog(c.target, c.metric, here, next, step)
		here = next
	}
	return out
}

// On a circle through N+1 points an angle ω apart, v₀·ρ = Σ cos(kω) changes
// sign when Nω passes π: half a turn. The leapfrog's own angle per step is
// ω = arccos(1 − ε²/2).
func TestUTurnAtHalfAPeriod(t *testing.T) {
	for _, step := range []float64{0.05, 0.1, 0.3} {
		angle := math.Acos(1 - step*step/2)
		half := int(math.Pi / angle) // last N with Nω < π
		for _, test := range []struct {
			points int
			want   bool
		}{
			{half / 2, false}, {half, false}, {half + 2, true}, {3 * half / 2, true},
		} {
			cut := test.points / 2
			if got := uTurn(orbit(0, cut, step), orbit(cut, test.points, step)); got != test.want {
				t.Errorf("step %g: %d points of an orbit with %.1f to half a turn: U-turn %v, want %v",
					step, test.points, math.Pi/angle, got, test.want)
			}
		}
	}
}

// Two halves of just under half a turn each make a little more than a full
// turn, which the ends and the sum of the whole cannot tell from no turn at
// all. Only the checks across the joint notice.
func TestUTurnSeesFullTurns(t *testing.T) {
	const points = 32 // in each half
	angle := 2 * math.Pi / (2*points - 1.5)
	step := math.Sqrt(2 - 2*math.Cos(angle))
	a, b := orbit(0, points, step), orbit(points, 2*points, step)
	sum := []float64{a.momentumSum[0] + b.momentumSum[0], a.momentumSum[1] + b.momentumSum[1]}
	dot := func(s *state) float64 { return s.velocity[0]*sum[0] + s.velocity[1]*sum[1] }
	if dot(a.begin) <= 0 || dot(b.end) <= 0 {
		t.Fatal("the whole trajectory looks turned already; the test shows nothing")
	}
	if !uTurn(a, b) {
		t.Error("a full turn went unnoticed")
	}
}

// One transition from an exact draw must give an exact draw. The step is
// coarse, so that acceptance is far from 1 and wrong weights would show.
func TestTransitionLeavesTargetInvariant(t *testing.T) {
	const starts, bins = 200000, 40
	rng := rand.New(rand.NewPCG(11, 12))
	logit := func() float64 { u := rng.Float64(); return math.Log(u) - math.Log1p(-u) }
	c := testChain(logistic(2), []float64{0, 0}, 2.2, newMetric([]float64{1, 2}), 13)
	var counts, productCounts [bins]float64
	var accept, jump float64
	for range starts {
		x, y := logit(), logit()
		copy(c.current.position, []float64{x, y})
		c.evaluate()
		tr := c.transition(context.Background())
		accept += tr.acceptStat() / starts
		a := c.current.position
		jump += (a[0] - x) * (a[0] - x) / starts
		u, v := 1/(1+math.Exp(-a[0])), 1/(1+math.Exp(-a[1]))
		counts[int(u*bins)]++
		productCounts[min(int((1-u*v+u*v*math.Log(u*v))*bins), bins-1)]++ // P(UV > uv)
	}
	if accept > 0.9 || jump < 1 {
		t.Errorf("acceptance %.3f and mean squared jump %.3f: the test has no teeth", accept, jump)
	}
	// χ² with 39 degrees of freedom; a right sampler fails once in 10,000 seeds.
	limit := distuv.ChiSquared{K: bins - 1}.Quantile(1 - 1e-4)
	for name, c := range map[string][bins]float64{"coordinate": counts, "product": productCounts} {
		if x2 := chiSquare(c[:]); x2 > limit {
			t.Errorf("%s: χ² = %.1f after one transition, limit %.1f", name, x2, limit)
		} else {
			t.Logf("%s: χ²(%d) = %.1f", name, bins-1, x2)
		}
	}
}

// chiSquare is Σ (count − expected)²/expected for equally likely bins.
func chiSquare(counts []float64) float64 {
	var total, sum float64
	for _, c := range counts {
		total += c
	}
	expected := total / float64(len(counts))
	for _, c := range counts {
		sum += (c - expected) * (c - expected) / expected
	}
	return sum
}

// A density that claims to be finite at infinity gets no draw there.
func TestTransitionStaysFinite(t *testing.T) {
	flat := density{1, func(_, grad []float64) float64 { grad[0] = 0; return 0 }}
	c := testChain(flat, []float64{0}, math.MaxFloat64, unitMetric(1), 4)
	divergences := 0
	for range 100 {
		if c.transition(context.Background()).divergent {
			divergences++
		}
		if !allFinite(c.current.position) {
			t.Fatal("draw is not finite")
		}
	}
	if divergences == 0 {
		t.Error("steps to infinity went unreported")
	}
}

func TestTransitionDoesNotAllocate(t *testing.T) {
	const dim = 20
	c := testChain(standardNormal(dim), make([]float64, dim), 0.1, unitMetric(dim), 2)
	for range 100 {
		c.transition(context.Background())
	}
	if n := testing.AllocsPerRun(200, func() { c.transition(context.Background()) }); n != 0 {
		t.Errorf("%g allocations per transition", n)
	}
}

// All states but the current one are back in the pool after a transition.
func TestTransitionReturnsStates(t *testing.T) {
	c := testChain(funnel(4), make([]float64, 4), 0.4, unitMetric(4), 3)
	made := 1
	for range 2000 {
		before := len(c.pool.states)
		c.transition(context.Background())
		made += max(0, len(c.pool.states)-before)
		if got := len(c.pool.states) + 1; got != made {
			t.Fatalf("%d states after a transition, %d before", got, made)
		}
		if c.current.refs != 1 {
			t.Fatalf("current state has %d references", c.current.refs)
		}
	}
	if made > 3*(c.maxDepth+2) {
		t.Errorf("%d states for trees of depth %d", made, c.maxDepth)
	}
}
