package orthant

import (
	"math"
	"math/rand/v2"
)

// lattice runs through the points {i z/N + shift}, i = 1, 2, …, N, of a rank-1
// lattice with a uniformly random shift, folded by the tent map
// u ↦ 1 − |2u − 1|, which makes any integrand periodic. Each point is uniform
// in the cube, so a mean over them is unbiased.
type lattice struct {
	generator, shift []float64 // generator is z/N
	index            float64
	point            []float64
}

// korobovCandidates is the number of multipliers tried. More, or a search
// component by component, did not lower the errors measured.
const korobovCandidates = 32

// latticeGenerator returns z/N for a lattice of N points, N prime, in Korobov's
// form z = (1, a, a², …) mod N, with the a of the smallest worst-case error
//
//	Σ_i Π_j [1 + γ_j ω({i z_j/N})],  ω(x) = 2π²(x² − x + 1/6),
//
// over periodic functions with square-integrable mixed derivatives (Sloan and
// Joe 1994, Lattice Methods for Multiple Integration). The weights
// γ_j = 0.3/j² say that the first coordinates matter most.
func latticeGenerator(points, dim int) []float64 {
	omega := make([]float64, points)
	for i := range omega {
		x := float64(i) / float64(points)
		omega[i] = 2 * math.Pi * math.Pi * (x*x - x + 1.0/6)
	}
	best, bestError := 1, math.Inf(1)
	products := make([]float64, points)
	for c := range korobovCandidates {
		// Multiples of the golden ratio spread the candidates over 1..N−1.
		_, fraction := math.Modf(float64(c+1) * math.Phi)
		a := 1 + int(fraction*float64(points-1))
		if e := korobovError(a, dim, omega, products); e < bestError {
			best, bestError = a, e
		}
	}
	generator := make([]float64, dim)
	z := 1
	for j := range generator {
		generator[j] = float64(z) / float64(points)
		z = z * best % points
	}
	return generator
}

// korobovError returns the criterion of latticeGenerator for the multiplier a,
// using products as scratch space.
func korobovError(a, dim int, omega, products []float64) float64 {
	points := len(omega)
	for i := range products {
		products[i] = 1
	}
	z := 1
	for j := range dim {
		weight := 0.3 / float64((j+1)*(j+1))
		position := 0 // i z mod N
		for i := range products {
			products[i] *= 1 + weight*omega[position]
			position += z
			if position >= points {
				position -= points
			}
		}
		z = z * a % points
	}
	sum := 0.0
	for _, p := range products {
		sum += p
	}
	return sum
}

// primeFrom returns the smallest prime that is at least n.
func primeFrom(n int) int {
	for n = max(n, 2); ; n++ {
		prime := true
		for d := 2; d*d <= n && prime; d++ {
			prime = n%d != 0
		}
		if prime {
			return n
		}
	}
}

func newLattice(generator []float64, rng *rand.Rand) *lattice {
	l := &lattice{
		generator: generator,
		shift:     make([]float64, len(generator)),
		point:     make([]float64, len(generator)),
	}
	for j := range l.shift {
		l.shift[j] = rng.Float64()
	}
	return l
}

// next returns the next point; it is overwritten by the following call.
func (l *lattice) next() []float64 {
	l.index++
	for j, alpha := range l.generator {
		u := l.index*alpha + l.shift[j]
		u -= math.Floor(u)
		// Zero, where the inverse distribution function is infinite, is out.
		l.point[j] = math.Max(1-math.Abs(2*u-1), 0x1p-54)
	}
	return l.point
}
