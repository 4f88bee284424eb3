package factor

import (
	"math"

	"github.com/lossep/lossep/internal/lanes"
)

// Equal steps are exact for a Gaussian times Φ's but for e^−2π²/h², with h the step in standard
// deviations of a Gaussian as narrow as the integrand anywhere; nodes are few where all scales
// are alike, and then Φ and its density are had for all of them together, to 1e-13.
const (
	equalStep = 0.4
	// mostSteps is the number of nodes beyond which panels are fewer.
	mostSteps = 96
	// equalReach is how many standard deviations are covered: beyond lies 1e-14.
	equalReach = 7.6
	// leastMean is the smallest mean of a term of which that leaves ten digits.
	leastMean = 1e-3
)

// nodes lays out nodes from one place to another in steps by the smallest scale of those values
// that are not surely below, and finds Φ and the density of all values there. It reports false
// where they would be too many.
func (r *rivals) nodes(from, to float64) (step float64, ok bool) {
	least := math.Inf(1)
	for c, m := range r.m {
		if m+equalReach*r.s[c] > from {
			least = min(least, r.s[c])
		}
	}
	step = equalStep * least
	if !(from < to && to-from < mostSteps*step) || from+step == from {
		return 0, false
	}
	k := (int((to-from)/step) + lanes.Octet) / lanes.Octet * lanes.Octet
	n := len(r.m)
	if cap(r.x) < k || cap(r.below) < k*n {
		r.x, r.below, r.density = make([]float64, mostSteps+lanes.Octet), make([]float64, (mostSteps+lanes.Octet)*n), make([]float64, (mostSteps+lanes.Octet)*n)
		r.before, r.after = make([]float64, (mostSteps+lanes.Octet)*n), make([]float64, mostSteps+lanes.Octet)
	}
	r.x, r.below, r.density, r.after = r.x[:k], r.below[:k*n], r.density[:k*n], r.after[:k]
	for i := range r.x {
		r.x[i] = from + float64(i)*step
	}
	for c, m := range r.m {
		inverse := 1 / r.s[c]
		for i, x := range r.x {
			r.below[c*k+i] = (x - m) * inverse
		}
	}
	lanes.Normals(r.below, r.density)
	return step, true
}

// equalSteps is LogMean by equal steps, where they serve.
//
// With F the integrand and F_j that with the density of j in place of its Φ, the derivatives
// of E t in m_j are −∫F_j/s_j and −∫F_j z_j/s_j². Moving all means together changes nothing,
// so that those in m_y are sums over j of ∫F_j/s_j and of ∫F_j (x − m_y)/(s_j s_y²).
func (r *rivals) equalSteps(y int, d1, d2 []float64) (l float64, ok bool) {
	from, to := math.Inf(-1), r.m[y]+equalReach*r.s[y]
	for c, m := range r.m {
		from = max(from, m-equalReach*r.s[c])
	}
	step, ok := r.nodes(from, to)
	if !ok {
		return 0, false
	}
	k := len(r.x)
	own := r.density[y*k : (y+1)*k]
	// before[c] is the density of y times the Φ of all rivals before c.
	so := r.after
	copy(so, own)
	for c := range r.m {
		copy(r.before[c*k:(c+1)*k], so)
		if c != y {
			multiply(so, r.below[c*k:(c+1)*k])
		}
	}
	z := 0.0
	for _, f := range so {
		z += f
	}
	mean := z * step / r.s[y]
	if !(mean > leastMean) {
		return 0, false
	}
	first, second := 0.0, 0.0
	for i := range so {
		so[i] = 1 // from here on the Φ of all rivals after c
	}
	for c := len(r.m) - 1; c >= 0; c-- {
		if c == y {
			continue
		}
		a, b, d := 0.0, 0.0, 0.0
		density, before := r.density[c*k:(c+1)*k], r.before[c*k:(c+1)*k]
		inverse := 1 / r.s[c]
		for i, x := range r.x {
			f := before[i] * density[i] * so[i]
			a += f
			b += f * ((x - r.m[c]) * inverse)
			d += f * (x - r.m[y])
		}
		slope := a * inverse / z
		d1[c], d2[c] = -slope, -b*inverse*inverse/z-slope*slope
		first += slope
		second += d * inverse / z
		multiply(so, r.below[c*k:(c+1)*k])
	}
	d1[y], d2[y] = first, second/(r.s[y]*r.s[y])-first*first
	return min(0, math.Log(mean)), true
}

// multiply multiplies numbers by others.
func multiply(dst, by []float64) {
	for i, x := range by {
		dst[i] *= x
	}
}

// equalProbabilities is OutcomeProbabilities by equal steps, where they serve.
func (r *rivals) equalProbabilities(p []float64) bool {
	from, to := math.Inf(-1), math.Inf(-1)
	for c, m := range r.m {
		from, to = max(from, m-equalReach*r.s[c]), max(to, m+equalReach*r.s[c])
	}
	step, ok := r.nodes(from, to)
	if !ok {
		return false
	}
	k := len(r.x)
	so := r.after
	for i := range so {
		so[i] = 1
	}
	for c := range r.m {
		copy(r.before[c*k:(c+1)*k], so)
		multiply(so, r.below[c*k:(c+1)*k])
	}
	for i := range so {
		so[i] = 1
	}
	for c := len(r.m) - 1; c >= 0; c-- {
		density, before, sum := r.density[c*k:(c+1)*k], r.before[c*k:(c+1)*k], 0.0
		for i, d := range density {
			sum += before[i] * d * so[i]
		}
		p[c] = sum * step / r.s[c]
		multiply(so, r.below[c*k:(c+1)*k])
	}
	return true
}
