package nuts

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// state is one point of phase space with all that is needed to leave it in
// either direction of time. Keeping M⁻¹p and M⁻¹∇log π beside p and ∇log π
// means one product with M⁻¹ per leapfrog step instead of two, which halves
// the cost of a dense metric.
type state struct {
	position     []float64 // q
	momentum     []float64 // p
	velocity     []float64 // M⁻¹p
	gradient     []float64 // ∇log π(q)
	acceleration []float64 // M⁻¹∇log π(q)
	logDensity   float64   // log π(q)
	energy       float64   // H(q, p); +Inf when anything above is not finite

	refs int // how many ends and picks of trees point here
}

// statePool recycles states and momentum sums, so that a chain allocates
// nothing once its deepest tree has been built.
type statePool struct {
	dim    int
	states []*state
	sums   [][]float64
}

func (p *statePool) get() *state {
	if n := len(p.states); n > 0 {
		s := p.states[n-1]
		p.states = p.states[:n-1]
		return s
	}
	block := make([]float64, 5*p.dim)
	part := func(k int) []float64 { return block[k*p.dim : (k+1)*p.dim : (k+1)*p.dim] }
	return &state{position: part(0), momentum: part(1), velocity: part(2), gradient: part(3), acceleration: part(4)}
}

// release gives up one reference; the last one returns the state to the pool.
func (p *statePool) release(s *state) {
	s.refs--
	if s.refs == 0 {
		p.states = append(p.states, s)
	}
}

func (p *statePool) getSum() []float64 {
	if n := len(p.sums); n > 0 {
		sum := p.sums[n-1]
		p.sums = p.sums[:n-1]
		return sum
	}
	return make([]float64, p.dim)
}

func (p *statePool) releaseSum(sum []float64) { p.sums = append(p.sums, sum) }

// leapfrog makes to the point that a step of the given signed size leads to
// from from: half a kick, a drift, half a kick. It is exactly reversible,
// preserves volume, and keeps H to O(step²) (locally O(step³)).
func leapfrog(target Target, m *metric, from, to *state, step float64) {
	half := step / 2
	n := len(to.position)
	q0, p0, v0, g0, a0 := from.position[:n], from.momentum[:n], from.velocity[:n], from.gradient[:n], from.acceleration[:n]
	q, p, v := to.position[:n], to.momentum[:n], to.velocity[:n]
	for i := range q {
		p[i] = p0[i] + half*g0[i]
		v[i] = v0[i] + half*a0[i]
		q[i] = q0[i] + step*v[i]
	}
	to.logDensity = target.LogDensity(q, to.gradient)
	m.mulInverse(to.acceleration, to.gradient)
	g, a := to.gradient[:n], to.acceleration[:n]
	for i := range p {
		p[i] += half * g[i]
		v[i] += half * a[i]
	}
	to.setEnergy()
}

// setEnergy fills in H. Anything not finite, be it density, gradient or
// momentum, makes the energy +Inf: such a point has no weight.
func (s *state) setEnergy() {
	s.energy = floats.Dot(s.momentum, s.velocity)/2 - s.logDensity
	if math.IsNaN(s.energy) || math.IsInf(s.energy, -1) {
		s.energy = math.Inf(1)
	}
}

func allFinite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
