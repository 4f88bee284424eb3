package orthant

import (
	"math"
	"math/rand/v2"

	"github.com/lossep/lossep/normal"
)

// This file is about one standard normal Z given Z > t and its excess Z − t.

// halfNormalMean is E[Z | Z > 0] = √(2/π).
const halfNormalMean = math.Sqrt2 / math.SqrtPi

// excessMoments returns the mean of Z − t and the variance of Z given Z > t.
// With λ the hazard φ(t)/Φ̄(t) they are r = λ − t and 1 − λr, differences that
// cancel as t grows; from t = 20 on Laplace's continued fraction
// r = 1/(t+q), q = 2/(t+3/(t+4/(t+…))) gives both without a difference of
// large numbers. Its first 12 levels are exact to rounding there.
func excessMoments(t float64) (mean, variance float64) {
	if t < 20 {
		hazard := normal.Hazard(-t)
		mean = hazard - t
		return mean, 1 - hazard*mean
	}
	q := 0.0
	for k := 13.0; k >= 2; k-- {
		q = k / (t + q)
	}
	mean = 1 / (t + q)
	return mean, mean * (q - mean)
}

// truncationWithMean returns the t at which the mean excess is r > 0, the
// inverse of the decreasing function excessMoments(t).mean, whose derivative is
// minus the variance. Newton's iteration is monotone from either of two
// starts: −r lies left of the root of the convex r(t) − r, and 1/r lies right
// of the root of 1/r(t) − 1/r, which is nearly linear in the tail.
func truncationWithMean(r float64) float64 {
	tail := r < halfNormalMean
	t := -r
	if tail {
		t = 1 / r
	}
	// Convergence is quadratic; a value that is a little off would only cost
	// acceptance rate, so the number of steps is simply bounded.
	for range 50 {
		mean, variance := excessMoments(t)
		step := (mean - r) / variance
		if tail {
			step *= mean / r
		}
		t += step
		if math.Abs(step) <= 1e-14*(1+math.Abs(t)) {
			break
		}
	}
	return t
}

// drawExcess draws Z − t given Z > t by rejection, from the normal itself,
// from its absolute value or, in the tail, from a Rayleigh variable cut off at
// t, Z = √(t² + 2E) with E exponential, accepted with probability t/Z. Each is
// accepted at least 48 % of the time where it is used.
func drawExcess(t float64, rng *rand.Rand) float64 {
	switch {
	case t < 0:
		for {
			if z := rng.NormFloat64(); z > t {
				return z - t
			}
		}
	case t < 0.7:
		for {
			if z := math.Abs(rng.NormFloat64()); z > t {
				return z - t
			}
		}
	}
	for {
		e := rng.ExpFloat64()
		z := math.Sqrt(t*t + 2*e)
		if rng.Float64()*z <= t {
			return 2 * e / (z + t) // z − t without cancellation
		}
	}
}

// excessAt returns the excess e with P(Z − t > e | Z > t) = u, given
// logTail = log Φ̄(t): the inverse of the distribution function, for points
// that are not random.
func excessAt(u, t, logTail float64) float64 {
	return math.Max(0, -normal.QuantileLog(math.Log(u)+logTail)-t)
}
