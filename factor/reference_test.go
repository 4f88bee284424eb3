package factor_test

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"
)

// reference integrates against N(m, v) by brute force: Gauss–Legendre panels a
// fraction of every length that matters, over all that carries weight. It shares
// nothing with the quadrature of the package but the weights of Legendre.
type reference struct {
	nodes, weights []float64
}

func newReference(nodesPerPanel int) *reference {
	r := &reference{make([]float64, nodesPerPanel), make([]float64, nodesPerPanel)}
	quad.Legendre{}.FixedLocations(r.nodes, r.weights, -1, 1)
	return r
}

// panels are the ends of the panels for a factor under N(m, v).
//
// The integrands are a Gaussian times t or log t. They have their mass within 14
// standard deviations of the mean, where the Gaussian has fallen to e^−98, or, where
// t moves it away, between there and the bends of t. The laws ask at most 7 standard
// deviations from a bend, so 24 are covered finely.
// They are offsets from m, which may be far larger than √v.
func (c lawCase) panels(m, v float64) []float64 {
	const beyond, fine, fineness = 14, 24, 0.5
	sd := math.Sqrt(v)
	lo, hi := -beyond*sd, beyond*sd
	for _, b := range c.bends {
		lo, hi = min(lo, b.at-m-beyond*sd), max(hi, b.at-m+beyond*sd)
	}
	ends := []float64{lo, hi}
	for _, b := range append([]bend{{m, sd, fine}}, c.bends...) {
		at := b.at - m
		ends = append(ends, at)
		// Outside the extent the panels widen by a half each.
		for k := fineness; b.width > 0 && k*b.width < hi-lo; {
			ends = append(ends, at-k*b.width, at+k*b.width)
			if k < b.extent {
				k += fineness
			} else {
				k *= 1.5
			}
		}
	}
	slices.Sort(ends)
	return slices.DeleteFunc(slices.Compact(ends), func(x float64) bool { return x < lo || x > hi })
}

// means are ∫ f_k(e) N(e; 0, v) de and the same of |f_k|, for the three functions
// of the offset e from m that f returns.
func (r *reference) means(c lawCase, m, v float64, f func(e float64) [3]float64) (mean, size [3]float64) {
	ends := c.panels(m, v)
	density := 1 / math.Sqrt(2*math.Pi*v)
	for k := range len(ends) - 1 {
		mid, half := (ends[k]+ends[k+1])/2, (ends[k+1]-ends[k])/2
		for i, node := range r.nodes {
			e := mid + half*node
			w := r.weights[i] * half * density * math.Exp(-e*e/(2*v))
			if w == 0 {
				continue
			}
			for k, fk := range f(e) {
				mean[k] += w * fk
				size[k] += w * math.Abs(fk)
			}
		}
	}
	return mean, size
}
