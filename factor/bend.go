package factor

import (
	"math"

	"github.com/lossep/lossep/internal/finite"
)

// The angles y that expectBend chooses from, as y, sin²y and 1/cos 2y. Beyond
// π/4 ≈ 0.785 the Gaussian no longer decays.
var bendAngles = func() (a [8][3]float64) {
	for i, y := range [len(a)]float64{0.72, 0.62, 0.5, 0.38, 0.26, 0.17, 0.11, 0.06} {
		a[i] = [3]float64{y, math.Sin(y) * math.Sin(y), 1 / math.Cos(2*y)}
	}
	return a
}()

// expectBend integrates log t and its derivatives against N(m, v) for a factor
// that bends once, at zero, that tends to one above as fast as exp(−f²/2), and that
// is analytic between the branches of the hyperbola Im² − Re² = scale²/2, such as
// Probit. It takes 25 to 150 nodes where panels take 128 to 600.
//
// The rule is the trapezoidal one in t, f = scale·sinh t. Its error is
// exp(−2πy/h) times the growth of the integrand on the line Im t = y, which for
// the Gaussian is exp(G), G = (scale² + m²/cos 2y) sin²y/2v: so the step is the
// largest of 2πy/(digits + G) over y.
func expectBend(log logFunc, m, v, scale float64) (l, d1, d2 float64) {
	if !finite.All(m, v) {
		return noNumbers()
	}
	sd := math.Sqrt(v)
	if m-sd == m || m+sd == m {
		return log(m) // nothing to average over that a float64 could tell apart
	}
	// Where the factor has come close to one its logarithm is as small as
	// exp(−f²/2), and the integrand has its mass about m/(1+v) instead of m. At 30
	// standard deviations from m nothing is left of it either way.
	centre := m
	if m > 0 {
		centre = max(m/(1+v), m-30*sd)
	}
	s := integral{log: log, m: m, sd: sd}
	if sd < straight*math.Hypot(scale, m) {
		s.trapezoid((centre - m) / sd)
		return s.l, s.d1, s.d2
	}
	// exp(−f²/2) also grows off the axis, by another exp(scale² sin²y/2).
	s2, m2 := scale*scale*(1+1/v), (m/sd)*(m/sd)
	h := 0.0
	for _, a := range bendAngles {
		h = max(h, 2*math.Pi*a[0]/(bendDigits+0.5*(s2+m2*a[2])*a[1]))
	}
	lo, hi := math.Asinh((centre-bendReach*sd)/scale), math.Asinh((centre+bendReach*sd)/scale)
	n := int(math.Ceil((hi - lo) / h))
	h = (hi - lo) / float64(n)
	// eᵗ by repeated multiplication: over a hundred nodes it drifts by 1e-14, and
	// a node and its weight drift together.
	e, ratio := math.Exp(lo), math.Exp(h)
	scale, h = scale/2, h/sd
	for k := 0; k <= n; k++ {
		up, down := scale*e, scale/e
		f := up - down
		s.add(f, (f-m)/sd, h*(up+down))
		e *= ratio
	}
	return s.l, s.d1, s.d2
}

const (
	// bendDigits asks for an error of e^−32 = 1e-14, which leaves a little for the
	// growth of log t itself.
	bendDigits = 32.0
	// Beyond 8.4 standard deviations lies 2e-15 of the mass of z².
	bendReach = 8.4
	// straight is the √v below which, in units of √(scale² + m²), the bend is so far
	// away that the plain rule in z has room for its optimal line, Im z = √(2·digits).
	straight = 0.06
)

// trapezoid is the plain rule in z about centre, with the step that is best for a
// Gaussian: 2π/√(2·digits).
func (s *integral) trapezoid(centre float64) {
	const n = 22
	const h = 2 * bendReach / n // 0.764, against the best 2π/√64
	for k := 0; k <= n; k++ {
		z := centre + (float64(k)-n/2.0)*h
		s.add(s.m+s.sd*z, z, h)
	}
}
