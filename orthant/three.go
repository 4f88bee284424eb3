package orthant

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/lanes"
)

// Three is how probable each of three normals is the largest, for many means and one
// covariance, such as those of draws around which the rest is Gaussian. What depends on the
// covariance alone is found once, and a mean takes a small part of the time of Largest.
//
// That the c-th is the largest is that both of its differences to the others are positive,
// and by Plackett's identity, with h and k their means in standard deviations,
//
//	P = Φ(h)Φ(k) + ∫₀^asin ρ exp(−(h² + k² − 2hk·sin θ)/(2cos² θ)) dθ/2π.
//
// The two events with the least correlated differences are asked for, and the third is what
// is left: normals with variances D₀ ≤ D₁ ≤ D₂ that are independent but for what is common
// have ρ₀ ≤ 1/2 and ρ₁ ≤ 1/√2. A Three may be used by several goroutines.
type Three struct {
	first, second, rest int
	pairs               [2]positive
}

// positive is the probability that two differences are positive.
type positive struct {
	of                 int // the normal that is less each of the others
	others             [2]int
	sd                 [2]float64
	rho                float64
	sin, scale, weight [threeNodes]float64 // sin θ and 1/(2cos² θ)
	near               bool                // ρ is too near ±1 for the rule
}

const (
	// threeNodes nodes are exact to 1e-8 as far as mostRho.
	threeNodes = 6
	mostRho    = 0.8
)

// threeRule is the rule of Gauss and Legendre.
var threeRule = sync.OnceValue(func() (rule struct{ x, w [threeNodes]float64 }) {
	quad.Legendre{}.FixedLocations(rule.x[:], rule.w[:], -1, 1)
	return rule
})

// NewThree is for normals with the covariance cov, of three rows. It reports false where
// that is not regular in the differences, or not finite.
func NewThree(cov *mat.SymDense) (*Three, bool) {
	var all [3]positive
	for c := range all {
		p := &all[c]
		p.of, p.others = c, [2]int{(c + 1) % 3, (c + 2) % 3}
		for i, o := range p.others {
			v := cov.At(c, c) - 2*cov.At(c, o) + cov.At(o, o)
			if !(v > 0) || math.IsInf(v, 1) {
				return nil, false
			}
			p.sd[i] = math.Sqrt(v)
		}
		a, b := p.others[0], p.others[1]
		p.rho = (cov.At(c, c) - cov.At(c, a) - cov.At(c, b) + cov.At(a, b)) / p.sd[0] / p.sd[1]
		p.rho = min(max(p.rho, -1), 1)
	}
	rest := 0
	for c := range all {
		if math.Abs(all[c].rho) > math.Abs(all[rest].rho) {
			rest = c
		}
	}
	t := &Three{first: (rest + 1) % 3, second: (rest + 2) % 3, rest: rest}
	for i, c := range []int{t.first, t.second} {
		t.pairs[i] = all[c]
		t.pairs[i].prepare()
	}
	return t, true
}

// prepare finds the nodes.
func (p *positive) prepare() {
	p.near = math.Abs(p.rho) > mostRho
	rule, half := threeRule(), 0.5*math.Asin(p.rho)
	for i, x := range rule.x {
		sin, cos := math.Sincos(half * (1 + x))
		p.sin[i], p.scale[i], p.weight[i] = sin, 0.5/(cos*cos), half*rule.w[i]/(2*math.Pi)
	}
}

// Probabilities writes, for many means at once, the probability of each normal to be the
// largest, to 1e-8, by which it may be below 0 or above 1: of the c-th in dst[c], for the means mean[0][k], mean[1][k], mean[2][k].
func (t *Three) Probabilities(dst, mean [3][]float64) {
	one, other, left := dst[t.first], dst[t.second], dst[t.rest]
	t.pairs[0].probabilities(one, mean)
	t.pairs[1].probabilities(other, mean)
	for k := range left {
		left[k] = 1 - one[k] - other[k]
	}
}

// panelMeans is for how many means at once the vector code is called.
const panelMeans = 16 * lanes.Width

func (p *positive) probabilities(dst []float64, mean [3][]float64) {
	var h, k, z, density [panelMeans]float64
	for from := 0; from < len(dst); from += panelMeans {
		dst := dst[from:min(from+panelMeans, len(dst))]
		own, first, second := mean[p.of][from:], mean[p.others[0]][from:], mean[p.others[1]][from:]
		for i := range dst {
			h[i], k[i] = (own[i]-first[i])/p.sd[0], (own[i]-second[i])/p.sd[1]
			if p.near {
				dst[i] = quadrant(h[i], k[i], p.rho)
			}
		}
		if p.near {
			continue
		}
		whole := (len(dst) + lanes.Width - 1) / lanes.Width * lanes.Width
		z = h
		lanes.Normals(z[:whole], density[:whole])
		copy(dst, z[:])
		z = k
		lanes.Normals(z[:whole], density[:whole])
		for i := range dst {
			dst[i] *= z[i]
		}
		for i := range dst {
			h[i], k[i] = h[i]*h[i]+k[i]*k[i], 2*h[i]*k[i]
		}
		for n, sin := range p.sin {
			for i := range dst {
				z[i] = h[i] - k[i]*sin // positive, for |2hk| ≤ h² + k²
			}
			lanes.Gaussian.Apply(z[:whole], p.weight[n], p.scale[n])
			for i := range dst {
				dst[i] += z[i]
			}
		}
	}
}
