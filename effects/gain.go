package effects

import (
	"math"

	"github.com/lossep/lossep/internal/tasks"
)

// Sum is what the rows of a group say: the slope and the curvature of their terms.
type Sum struct {
	Slope, Curvature float64
}

// Moment is what is known of an effect.
type Moment struct {
	Mean, Variance float64
}

// groupBlock is the number of groups of one task.
const groupBlock = 1 << 11

// reduce adds up what part finds for ranges of groups, in their order.
func reduce[T any](groups int, part func(from, to int) T, add func(T)) {
	n := (groups + groupBlock - 1) / groupBlock
	parts := make([]T, n)
	tasks.For(n, func(task int) { parts[task] = part(task*groupBlock, min((task+1)*groupBlock, groups)) })
	for _, p := range parts {
		add(p)
	}
}

// eachGroup shares groups out.
func eachGroup(groups int, do func(from, to int)) {
	tasks.For((groups+groupBlock-1)/groupBlock, func(task int) { do(task*groupBlock, min((task+1)*groupBlock, groups)) })
}

// The variance of a family whose groups have slopes B, without their own effects, and
// curvatures H: to second order the evidence that it brings is
//
//	Γ(σ²) = Σ ½[B²σ²/(1 + Hσ²) − log(1 + Hσ²)].
//
// Its maximum has σ² = mean(m² + V), as the bound has. Of C functions of which only differences count the
// logarithm counts by its freedom, (C − 1)/C.

// gainOf is Γ.
func gainOf(sums []Sum, variance, freedom float64) (gain float64) {
	reduce(len(sums), func(from, to int) (part float64) {
		for _, s := range sums[from:to] {
			u := s.Curvature * variance
			part += s.Slope*s.Slope*variance/(1+u) - freedom*math.Log1p(u)
		}
		return part
	}, func(part float64) { gain += part / 2 })
	return gain
}

// gainSlopes are the derivatives of Γ in log σ², and mean(m² + V).
type gainSlopes struct{ first, second, moment float64 }

func slopesOf(sums []Sum, variance, freedom float64) (all gainSlopes) {
	reduce(len(sums), func(from, to int) (part gainSlopes) {
		for _, s := range sums[from:to] {
			r := 1 / (1 + s.Curvature*variance)
			u := s.Curvature * variance * r
			b := s.Slope * s.Slope * variance * r * r
			part.first += b - freedom*u
			part.second += b*(2*r-1) - freedom*u*r // (1−Hσ²)/(1+Hσ²) = 2r − 1
			part.moment += variance * (b/freedom + r)
		}
		return part
	}, func(part gainSlopes) {
		all.first += part.first / 2
		all.second += part.second / 2
		all.moment += part.moment
	})
	all.moment /= float64(max(1, len(sums)))
	return all
}

// Variances of families are within these bounds: below the least one a family says nothing,
// and beyond the largest a probability of a group is 0 or 1.
const (
	leastVariance = 1e-9
	mostVariance  = 100
	longestStep   = 1.5 // of log σ²
)

// step is the next variance on the way to the maximum of Γ: Newton's in log σ², or, where Γ is
// not concave, that of expectation and maximisation, which never falls.
func (s gainSlopes) step(variance float64) float64 {
	next := s.moment
	if s.second < 0 {
		next = variance * math.Exp(max(-longestStep, min(longestStep, -s.first/s.second)))
	} else if s.first > 0 {
		next = max(next, variance*math.E)
	}
	return max(leastVariance, min(mostVariance, next))
}

// Gain is the evidence that a family with these sums, which has no effects yet, brings to second order, in
// nats, and the variance with which it does.
func Gain(sums []Sum, freedom float64) (nats, variance float64) {
	variance = firstVariance
	for range 30 {
		s := slopesOf(sums, variance, freedom)
		next := s.step(variance)
		done := math.Abs(math.Log(next/variance)) < 1e-3
		variance = next
		if done {
			break
		}
	}
	return gainOf(sums, variance, freedom), variance
}

// firstVariance is where the search for a variance begins.
const firstVariance = 0.05
