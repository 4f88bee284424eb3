package factor

import (
	"math"

	"github.com/lossep/lossep/internal/finite"
)

// StudentT is the term of a measurement Y whose noise has long tails: Student's t with DF degrees
// of freedom and the given Scale. One that is far out counts for little.
//
// Its noise is normal with a precision λ/Scale² of its own, λ ~ Gamma(DF/2, DF/2); that is how
// averages over f are taken.
type StudentT struct {
	Y, Scale, DF float64
}

// Log implements Factor.
func (t StudentT) Log(f float64) (l, d1, d2 float64) {
	wide := t.Scale * math.Sqrt(t.DF)
	x := (t.Y - f) / wide
	top, _ := math.Lgamma((t.DF + 1) / 2)
	bottom, _ := math.Lgamma(t.DF / 2)
	size := math.Hypot(1, x)
	near := 1 / (size * size) // 1/(1 + x²)
	l = top - bottom - math.Log(wide) - 0.5*math.Log(math.Pi) - (t.DF+1)*math.Log(size)
	if x != 0 {
		d1 = (t.DF + 1) / wide / (x + 1/x)
	}
	return l, d1, -(t.DF + 1) / (wide * wide) * near * (2*near - 1)
}

// LogMean implements Factor: Z = E N(Y; m, v + Scale²/λ), by the trapezoidal rule in u = log λ.
//
// The integrand is analytic for |Im u| < π/2 and has the width √(1/a), a = (DF + 1)/2, of a gamma density, which
// bound the step for an error of e^−32; it falls at least as e^(u·DF/2) to the left of where an outlier
// puts it, and double exponentially to the right.
func (t StudentT) LogMean(m, v float64) (l, d1, d2 float64) {
	if !finite.All(m, v) {
		return noNumbers()
	}
	e := t.Y - m
	if t.straight(e, v) {
		return t.Log(m)
	}
	var room [nodesAtHand]scaled
	nodes := t.scales(room[:0], e, 1)
	top := math.Inf(-1)
	for k := range nodes {
		n := &nodes[k]
		w := v + n.variance
		n.log -= 0.5 * (e/w*e + math.Log(w))
		n.variance = w
		top = max(top, n.log)
	}
	l, d1, d2 = summed(nodes, e, top, 0)
	return l - 0.5*logTwoPi, d1, d2
}

// summed is the logarithm of a sum over nodes, and of what lies beyond them, e^top times so much, and its derivatives in m.
func summed(nodes []scaled, e, top, beyond float64) (l, d1, d2 float64) {
	sum := beyond
	var slope, bend float64
	for _, n := range nodes {
		if p := math.Exp(n.log - top); p > 0 {
			sum += p
			slope += p * (e / n.variance)
			bend += p * (e/n.variance*(e/n.variance) - 1/n.variance)
		}
	}
	d1 = slope / sum
	return top + math.Log(sum), d1, bend/sum - d1*d1
}

// straight tells whether nothing is left of an average over so small a variance.
func (t StudentT) straight(e, v float64) bool {
	return math.Sqrt(v) <= straightT*math.Hypot(e, t.Scale*math.Sqrt(t.DF))
}

// straightT is the √v below which, relative to how far the measurement is, nothing is left of an
// average: its effect is of the order of the square.
const straightT = 1e-9

// scaled is a node of the mixture: the variance of the noise, and the logarithm of its weight.
type scaled struct {
	variance, log float64
}

// nodesAtHand is how many nodes need no memory of their own: with two degrees of freedom there are some 180.
const nodesAtHand = 256

// scales appends nodes for a measurement at the distance e, so many times as far apart as they can be for an error of e^−32.
func (t StudentT) scales(nodes []scaled, e, apart float64) []scaled {
	half, a := t.DF/2, (t.DF+1)/2
	h := apart * t.spacing()
	outlier := math.Log(a/half) - 2*math.Log(math.Hypot(1, e/(t.Scale*math.Sqrt(t.DF))))
	lo := min(0, outlier) - 40/half
	norm, _ := math.Lgamma(half)
	norm = half*math.Log(half) - norm
	lo -= 9 / math.Sqrt(a)
	hi := t.highest()
	norm += math.Log(h)
	// By products λ has an error of as many roundings as there are nodes, 1e-13 at most.
	lambda, less := math.Exp(hi), math.Exp(-h)
	for k := range int((hi-lo)/h) + 1 {
		nodes = append(nodes, scaled{t.Scale * t.Scale / lambda, norm + (a-0.5)*(hi-float64(k)*h) - half*lambda})
		lambda *= less
	}
	return nodes
}

// spacing is that of nodes in u, and highest the largest of them.
func (t StudentT) spacing() float64 { return min(0.25, 1.1/math.Sqrt(t.DF+1)) }

func (t StudentT) highest() float64 {
	return 0.1 + min(math.Sqrt(160/t.DF), math.Log(41+80/t.DF))
}

// Mixture are variances and weights of normals that make the noise, adding up to one: what is
// normal in f is averaged over it by them, to 1e-7.
func (t StudentT) Mixture() (variances, weights []float64) {
	for _, n := range t.scales(nil, 0, 1.4) {
		if w := math.Exp(n.log); w > 1e-14 {
			variances, weights = append(variances, n.variance), append(weights, w)
		}
	}
	return variances, weights
}

// MeanLog implements Factor by quadrature: log t is singular at Y ± i·Scale·√DF.
func (t StudentT) MeanLog(m, v float64) (l, d1, d2 float64) {
	return expect(t.Log, m, v, feature{t.Y, t.Scale * math.Sqrt(t.DF)})
}
