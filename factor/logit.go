package factor

import (
	"math"

	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/normal"
)

// Logit is the term of a two-valued label: t(f) = σ(Y·f) = 1/(1 + exp(−Y·f)), with
// Y = +1 or −1.
type Logit struct {
	Y float64
}

// Complement implements Binary.
func (t Logit) Complement() Factor { return Logit{Y: -t.Y} }

// Log implements Factor.
func (t Logit) Log(f float64) (l, d1, d2 float64) {
	l, d1, d2 = logSigmoid(t.Y * f)
	return l, t.Y * d1, d2
}

// logSigmoid is log σ(x) and its derivatives σ(−x) and −σ(x)σ(−x).
func logSigmoid(x float64) (l, d1, d2 float64) {
	e := math.Exp(-math.Abs(x))
	large := 1 / (1 + e)
	small := e * large
	if x < 0 {
		return x - math.Log1p(e), large, -large * small
	}
	return -math.Log1p(e), small, -large * small
}

// LogMean implements Factor. The integral has no closed form; see sigmoidMean for
// how it is found to full accuracy in a few hundred nanoseconds.
func (t Logit) LogMean(m, v float64) (l, d1, d2 float64) {
	if !finite.All(m, v) {
		return noNumbers()
	}
	if sd := math.Sqrt(v); m-sd == m || m+sd == m {
		return t.Log(m) // nothing to average over that a float64 could tell apart
	}
	l, d1, d2 = sigmoidMean(t.Y*m, v)
	return l, t.Y * d1, d2
}

// MeanLog implements Factor by quadrature; the logarithm of the sigmoid ends at ±iπ.
func (t Logit) MeanLog(m, v float64) (l, d1, d2 float64) {
	l, d1, d2 = expect(logSigmoid, t.Y*m, v, feature{0, math.Pi})
	return l, t.Y * d1, d2
}

// sigmoidMean is log Z, Z(m) = E σ(f), and its derivatives in m.
//
// Two identities carry every m to where the integral is easy, and keep the relative
// accuracy of both tails on the way: σ(f) = 1 − σ(−f) gives Z(m) = 1 − Z(−m), and
// σ(f) = eᶠσ(−f), completing the square, gives Z(m) = exp(m + v/2)·Z(−m − v). They
// are the reflections about 0 and about −v/2.
func sigmoidMean(m, v float64) (l, d1, d2 float64) {
	switch {
	case m > 0:
		l, d1, d2 = sigmoidMean(-m, v)
		other := math.Exp(l)
		odds := other / (1 - other)
		g := odds * d1
		return math.Log1p(-other), g, -odds*(d2+d1*d1) - g*g
	case m < -v/2:
		// Z(−m−v) is one, less at most this; below a rounding only its size counts.
		if left := m + 1.5*v; left < -40 {
			e := math.Exp(left)
			return m + v/2, 1 - e, -e
		}
		if v < sigmoidWide {
			l, d1, d2 = sigmoidNarrow(-m-v, v)
		} else {
			l, d1, d2 = sigmoidMean(-m-v, v)
		}
		return m + v/2 + l, 1 - d1, d2
	case v < sigmoidWide:
		return sigmoidNarrow(m, v)
	}
	return sigmoidBroad(m, v)
}

// sigmoidWide is the variance from which on nodes are laid out along f, not along z.
const sigmoidWide = 4.0

// The rule for N(m, v) narrower than sigmoidWide: trapezoidal in z = (f − m)/√v. Its
// error is exp(−2πy/h) on the line Im z = y, times exp(y²/2) for the Gaussian; with
// y just below the pole at π/√v ≥ π/2 that is e^−38·e^1.2 = 1e-16. The derivatives
// have their mass as much as √v below the mean.
const (
	narrowStep = 0.2578
	narrowLow  = -40 // 10.3 standard deviations
	narrowHigh = 33  // 8.5
)

var narrowWeights = func() (w [narrowHigh - narrowLow + 1]float64) {
	for k := range w {
		w[k] = narrowStep * normal.Density(narrowStep*float64(k+narrowLow))
	}
	return w
}()

// sigmoidNarrow is sigmoidMean for m ≥ −v/2 and a variance below sigmoidWide. With
// averages over σ(f)N(f; m, v) and s = σ(f), the derivatives of log Z are
// E(1−s) and E(1−s)·E s − 2E s(1−s): nothing cancels where they are small.
func sigmoidNarrow(m, v float64) (l, d1, d2 float64) {
	sd := math.Sqrt(v)
	// e^−f by repeated multiplication: over 74 nodes it drifts by less than 1e-14,
	// of which the sums see the average.
	e, ratio := math.Exp(-m-sd*narrowStep*narrowLow), math.Exp(-sd*narrowStep)
	var z, slope, both float64
	for _, w := range narrowWeights {
		s := 1 / (1 + e)
		ws := w * s
		wsq := ws * s * e
		z += ws
		slope += wsq
		both += wsq * s
		e *= ratio
	}
	d1 = slope / z
	return math.Log(z), d1, d1*(1-d1) - 2*both/z
}

// The rule for all wider ones: trapezoidal in f about the bend of the sigmoid, over
// as much of it as is needed, so that its cost does not grow with v.
//
// σ does not fall off, but σ(f) − Φ(f/c) does, like exp(−|f|), and the mean of Φ is
// known. The nodes are the same for all m and v, and so are the values there of this
// difference and of the derivatives of σ. The poles at ±iπ and the Gaussian make an
// error of exp(−2π²/h)·exp(π²/2v)·(2π/h)²/2 = 1e-17.
const (
	broadStep  = 0.4375
	broadNodes = 183 // to f = 80, where exp(−f/2) has fallen to 4e-18
	broadScale = 1.8 // c: about the standard deviation of the logistic distribution
)

// broadTable holds σ − Φ(·/c), σ′ and σ″ at the nodes. They are odd, even and odd.
var broadTable = func() (t [broadNodes][3]float64) {
	for k := range t {
		f := broadStep * float64(k)
		_, q, curvature := logSigmoid(f)
		t[k] = [3]float64{normal.CDF(-f/broadScale) - q, -curvature, curvature * (1 - 2*q)}
	}
	return t
}()

// sigmoidBroad is sigmoidMean for −v/2 ≤ m ≤ 0 and a variance from sigmoidWide on.
// All is taken relative to N(0; m, v), so that no tail is too far: with a = m/v,
// N(f; m, v) = N(0; m, v)·exp(af − f²/2v), and f and −f are taken together.
func sigmoidBroad(m, v float64) (l, d1, d2 float64) {
	const c2 = broadScale * broadScale
	a := m / v
	// The integrands fall as exp(−(1−|a|)f − f²/2v); where that is e^−38 they end.
	rate := 1 + a
	last := min(int(76/((rate+math.Sqrt(rate*rate+76/v))*broadStep)), broadNodes-1)

	stepSinh, stepCosh := math.Sinh(broadStep*a), math.Cosh(broadStep*a)
	sinh, cosh := 0.0, 1.0
	// exp(−f²/2v) from one node to the next: ratios that fall by a constant factor.
	ratio := math.Exp(-broadStep * broadStep / (2 * v))
	factor := ratio * ratio
	gauss := 1.0
	value, slope, bend := 0.0, 0.5*broadTable[0][1], 0.0
	for _, t := range broadTable[1 : last+1] {
		sinh, cosh = sinh*stepCosh+cosh*stepSinh, cosh*stepCosh+sinh*stepSinh
		gauss *= ratio
		ratio *= factor
		odd := gauss * sinh
		value += t[0] * odd
		slope += t[1] * (gauss * cosh)
		bend += t[2] * odd
	}
	const invSqrt2Pi = 0.398942280401432677939946059934381868
	weight := 2 * invSqrt2Pi * broadStep / math.Sqrt(v)
	// E Φ(f/c) = Φ(z) with z = m/√(v+c²), and Φ = N/hazard.
	smooth := math.Exp(0.5*a*a*c2/(1+c2/v)) * invSqrt2Pi / normal.Hazard(m/math.Sqrt(v+c2))
	z := smooth + weight*value
	d1 = weight * slope / z
	return math.Log(z) - 0.5*m*a, d1, weight*bend/z - d1*d1
}

var _ Binary = Logit{}
