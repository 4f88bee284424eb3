package orthant

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/normal"
)

// The saddle point of ψ(z; μ) = Σ_k [½μ_k² − μ_k z_k + log Φ̄(c_k(z) − μ_k)],
// lowest in μ and highest in z. The minimum over each μ_k can be taken in
// closed form: with d_k = z_k − c_k(z) = (L̄ z − l̄)_k and t_k = c_k − μ_k it is
// where the mean excess r(t_k) equals d_k, and it leaves the problem of
// maximising
//
//	g(z) = −½|z|² + Σ_k H(d_k),  H(d) = ½ λ(t)² + log Φ̄(t) at r(t) = d,
//
// with H′ = λ and H″ = −(1−v)/v, v the variance of a normal cut off at t. H is
// concave and behaves like log d near zero, so g is strictly concave with its
// own barrier at the edge of the region: the mode of a Gaussian times
// log-concave factors. Newton's method with a shortened step always climbs to
// its one maximum, where ψ is the bound C.

const (
	// decrementTolerance is where the climb ends: the bound is then within
	// half of it of its minimum, which no acceptance rate can show.
	decrementTolerance = 1e-12
	maxNewtonSteps     = 200
)

// saddle returns the t_k at the saddle point, climbing from z = start, which
// must lie strictly inside the region.
func saddle(f *factor, start []float64) ([]float64, error) {
	m := f.bounded
	if m == 0 {
		return nil, nil
	}
	c := newClimb(f)
	at, next := newPoint(m), newPoint(m)
	copy(at.z, start)
	c.evaluate(at)

	for range maxNewtonSteps {
		decrement := c.direction(at)
		// Rounding in g is relative to its size.
		if decrement <= decrementTolerance*(1+math.Abs(at.g)) {
			return at.t, nil
		}
		if !c.search(at, next, decrement) {
			break
		}
		at, next = next, at
	}
	return nil, &ConvergenceError{Dim: m, Bound: at.g}
}

// point is a z with what g needs and gives there.
type point struct {
	z, d, t          []float64
	slope, curvature []float64 // H′(d) and −H″(d)
	g                float64
}

func newPoint(m int) *point {
	return &point{
		z: make([]float64, m), d: make([]float64, m), t: make([]float64, m),
		slope: make([]float64, m), curvature: make([]float64, m),
	}
}

// climb holds the problem and the space its Newton steps need.
type climb struct {
	f        *factor
	unit     *mat.TriDense // L̄
	scaled   *mat.Dense    // √W L̄
	hessian  *mat.SymDense // I + L̄ᵀ W L̄
	chol     mat.Cholesky
	gradient *mat.VecDense
	step     *mat.VecDense // Newton step in z
	stepD    *mat.VecDense // L̄ times it: the step in d
}

func newClimb(f *factor) *climb {
	m := f.bounded
	c := &climb{
		f:        f,
		unit:     mat.NewTriDense(m, mat.Lower, nil),
		scaled:   mat.NewDense(m, m, nil),
		hessian:  mat.NewSymDense(m, nil),
		gradient: mat.NewVecDense(m, nil),
		step:     mat.NewVecDense(m, nil),
		stepD:    mat.NewVecDense(m, nil),
	}
	for k := range m {
		for j, v := range f.row(k) {
			c.unit.SetTri(k, j, v)
		}
		c.unit.SetTri(k, k, 1)
	}
	return c
}

// evaluate fills p from p.z.
func (c *climb) evaluate(p *point) {
	for k := range p.z {
		p.d[k] = p.z[k] + floats.Dot(c.f.row(k), p.z[:k]) - c.f.lower[k]/c.f.diag[k]
	}
	p.g = -0.5 * floats.Dot(p.z, p.z)
	for k, d := range p.d {
		if !(d > 0) {
			p.g = math.Inf(-1)
			return
		}
		t := truncationWithMean(d)
		mean, variance := excessMoments(t)
		logTail, hazard := normal.LogCDFHazard(-t)
		p.t[k], p.slope[k] = t, hazard
		p.curvature[k] = (1 - variance) / variance
		if t > 0 {
			// ½λ² + log Φ̄ with Φ̄ = φ/λ and λ² − t² = r(2t + r): no
			// cancellation in the tail.
			p.g += 0.5*mean*(2*t+mean) + normal.LogDensity(0) - math.Log(hazard)
		} else {
			p.g += 0.5*hazard*hazard + logTail
		}
	}
}

// direction sets the Newton step at p and returns the squared decrement, the
// slope of g along the step; NaN if there is no step, which takes an overflow.
func (c *climb) direction(p *point) (decrement float64) {
	m := len(p.z)
	slope := mat.NewVecDense(m, p.slope)
	c.gradient.MulVec(c.unit.T(), slope)
	c.gradient.SubVec(c.gradient, mat.NewVecDense(m, p.z))

	c.scaled.Zero()
	for k, w := range p.curvature {
		row := c.scaled.RawRowView(k)
		root := math.Sqrt(w)
		floats.ScaleTo(row[:k], root, c.f.row(k))
		row[k] = root
	}
	c.hessian.SymOuterK(1, c.scaled.T())
	for k := range m {
		c.hessian.SetSym(k, k, c.hessian.At(k, k)+1)
	}
	if !c.chol.Factorize(c.hessian) {
		return math.NaN()
	}
	// The only error is a warning of a large condition number: the step is
	// then rough, and the search is there to judge it.
	_ = c.chol.SolveVecTo(c.step, c.gradient)
	c.stepD.MulVec(c.unit, c.step)
	return mat.Dot(c.gradient, c.step)
}

// search shortens the step until it stays inside the region and g rises by a
// fair part of what its slope promises, and puts the new point in next.
func (c *climb) search(at, next *point, decrement float64) bool {
	length := 1.0
	for k, d := range at.d {
		if change := c.stepD.AtVec(k); length*change < -0.95*d {
			length = -0.95 * d / change
		}
	}
	// Differences in g below its rounding say nothing.
	noise := 1e-14 * (1 + math.Abs(at.g)) * float64(len(at.z))
	for ; length > 1e-12; length /= 2 {
		floats.AddScaledTo(next.z, at.z, length, c.step.RawVector().Data)
		c.evaluate(next)
		if next.g >= at.g+1e-4*length*decrement-noise {
			return true
		}
	}
	return false
}
