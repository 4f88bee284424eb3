package orthant

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/lossep/lossep/normal"
)

// legendre are the nodes and weights of a rule for one piece of quadrant.
var legendre = sync.OnceValue(func() (rule struct{ x, w [24]float64 }) {
	quad.Legendre{}.FixedLocations(rule.x[:], rule.w[:], -1, 1)
	return rule
})

// quadrant is P(Z₀ > −a, Z₁ > −b) for standard normals of correlation ρ: the integral of
// φ(z)Φ((b + ρz)/√(1−ρ²)) over z > −a. The integrand is log-concave and falls from its
// largest value at least as fast as φ does, so that what counts is near; Φ bends where its
// argument is near zero. Between those places it is smooth.
func quadrant(a, b, rho float64) float64 {
	rho = min(max(rho, -1), 1)
	if b < a {
		a, b = b, a // what is least likely first
	}
	left := (1 - rho) * (1 + rho)
	if left < 1e-14 {
		if rho > 0 {
			return normal.CDF(a)
		}
		return max(0, normal.CDF(a)-normal.CDF(-b))
	}
	root := math.Sqrt(left)
	shift, slope := b/root, rho/root
	log := func(z float64) (l, d1, d2 float64) {
		l, d1, d2 = normal.LogCDFDerivatives(shift + slope*z)
		return l - 0.5*z*z, slope*d1 - z, slope*slope*d2 - 1
	}
	// The largest value: Newton's method climbs a concave function whose slope bends one
	// way; where a step leaves the interval that holds the root, it is halved.
	low, high := -a, max(-a, 0)+math.Abs(slope)*(1+math.Abs(shift))+1
	top := low
	if _, d1, _ := log(low); d1 > 0 {
		top = max(low, 0)
		for range 200 {
			_, d1, d2 := log(top)
			if d1 > 0 {
				low = top
			} else {
				high = top
			}
			next := top - d1/d2
			if !(next > low && next < high) {
				next = 0.5 * (low + high)
			}
			if math.Abs(next-top) <= 1e-6 {
				break
			}
			top = next
		}
		top = max(top, -a)
	}
	most, fall, _ := log(top)
	const depth, width = 40, 8.95 // e^−40, and √80
	from, to := max(-a, top-width), top+width
	if fall < 0 {
		to = min(to, top-depth/fall)
	}
	cuts := [6]float64{from, top, to, to, to, to}
	for k, at := range [3]float64{-8, 0, 8} {
		if slope != 0 {
			cuts[3+k] = min(max((at-shift)/slope, from), to)
		}
	}
	insertion(cuts[:])
	rule := legendre()
	sum := 0.0
	for k := range cuts[1:] {
		half := 0.5 * (cuts[k+1] - cuts[k])
		if half <= 0 {
			continue
		}
		middle := cuts[k] + half
		for i, x := range rule.x {
			z := middle + half*x
			sum += half * rule.w[i] * math.Exp(normal.LogCDF(shift+slope*z)-0.5*z*z-most)
		}
	}
	return min(sum*math.Exp(most)/math.Sqrt(2*math.Pi), normal.CDF(a))
}

// insertion sorts a few numbers.
func insertion(x []float64) {
	for i := range x {
		for j := i; j > 0 && x[j] < x[j-1]; j-- {
			x[j], x[j-1] = x[j-1], x[j]
		}
	}
}
