package factor

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/lossep/lossep/internal/finite"
)

// feature is a pair of points at ± i·scale in the complex plane beside which log t
// stops being analytic: log t bends at the real number at, over the length scale.
type feature struct {
	at, scale float64
}

// The rule of one panel, and how many standard deviations of N(m, v) are covered.
// Beyond 8.7 lies less than 1e-16 of the mass of z², and log-factors grow no faster
// than a square. But the derivatives of a factor that is flat about m are as small
// as its bend is far away, and keep their digits only if that is covered too.
const (
	panelNodes = 16
	panelReach = 14
)

// Panels are short enough for 16 nodes to reach 1e-14. On a panel of half-width w
// the error of a Gauss–Legendre rule falls as ρ⁻³², where the ellipse with foci at
// the ends of the panel and half-axes that add to ρw must be free of singularities.
// One at a distance of 2w gives ρ ≥ 2 + √3 whatever its direction, so 5e-19. The
// Gaussian has none, but grows as exp(y²/2) off the axis; half-widths of 2.2
// standard deviations keep its error at 1e-15.
const (
	featuresPerHalf = 2.0
	widestHalf      = 2.2
)

var panelX, panelW = func() (x, w []float64) {
	x, w = make([]float64, panelNodes), make([]float64, panelNodes)
	quad.Legendre{}.FixedLocations(x, w, -1, 1)
	return x, w
}()

// logFunc is log t and its derivatives.
type logFunc func(f float64) (l, d1, d2 float64)

// integral is a sum over nodes of a weight times log t and its derivatives. By the
// theorems of Bonnet and Price the derivatives of the expectation in m are the
// expectations of the derivatives.
type integral struct {
	log       logFunc
	m, sd     float64
	l, d1, d2 float64
}

// add takes in the node f = m + sd·z, which stands for the length dz.
func (s *integral) add(f, z, dz float64) {
	const invSqrt2Pi = 0.398942280401432677939946059934381868
	w := invSqrt2Pi * dz * math.Exp(-0.5*z*z)
	a, b, c := s.log(f)
	s.l += w * a
	s.d1 += w * b
	s.d2 += w * c
}

// expect integrates log t and its derivatives against N(m, v), by a composite
// Gauss–Legendre rule whose panels resolve both the Gaussian and the features of
// the factor. Gauss–Hermite does not: its nodes spread with √v and step over a
// factor that is narrower than q.
func expect(log logFunc, m, v float64, where ...feature) (l, d1, d2 float64) {
	if !finite.All(m, v) {
		return noNumbers()
	}
	sd := math.Sqrt(v)
	if m-sd == m || m+sd == m {
		return log(m) // nothing to average over that a float64 could tell apart
	}
	s := integral{log: log, m: m, sd: sd}
	s.panels(-panelReach, panelReach, where)
	return s.l, s.d1, s.d2
}

// noNumbers is the answer where there is no distribution N(m, v), and a rule would lay
// out its nodes without end.
func noNumbers() (l, d1, d2 float64) { return math.NaN(), math.NaN(), math.NaN() }

// panels halves the range [lo, hi] of z = (f − m)/sd until every panel is short
// enough, and sums over them.
func (s *integral) panels(lo, hi float64, where []feature) {
	mid, half := (lo+hi)/2, (hi-lo)/2
	short := half <= widestHalf
	for _, w := range where {
		// Where that is no number there is nothing to resolve, and no end to halving.
		short = short && !(featuresPerHalf*half*s.sd > math.Hypot(s.m-w.at+mid*s.sd, w.scale))
	}
	if !short && lo < mid && mid < hi {
		s.panels(lo, mid, where)
		s.panels(mid, hi, where)
		return
	}
	for i, x := range panelX {
		z := mid + half*x
		s.add(s.m+s.sd*z, z, panelW[i]*half)
	}
}
