package effects

import (
	"math"
	"slices"
)

// Uncertain are the effects as they are shown: with variances that allow for those of the families not being known, and
// for rows that tell of the means of several families by their sum alone.
//
// A constant c that all G effects of a family have in common has the prior variance d = σ²/G, and rows, which see the sum of
// the families' constants, say of each what a precision T says. By themselves constants would have the variances d − Td²/(1 + Td),
// which is what a product of families has in its effects. Together they have d − Td²/(1 + TD), where D is the sum of d over families.
func (s Set) Uncertain() Set {
	all := slices.Clone(s)
	total := 0.0
	for j, e := range s {
		all[j] = e.uncertain()
		total += all[j].Variance / float64(e.Groups())
	}
	if len(s) == 1 {
		return all
	}
	for j, e := range s {
		c, d := *all[j], all[j].Variance/float64(e.Groups())
		c.Moments = slices.Clone(c.Moments)
		for k := range e.Functions() {
			told := 0.0
			for _, w := range e.Of(k) {
				told += max(0, 1/w.Variance-1/e.Variance)
			}
			for g := range e.Groups() {
				c.Of(k)[g].Variance += told * d * d * (1/(1+told*d) - 1/(1+told*total))
			}
		}
		all[j] = &c
	}
	return all
}

// mostUncertain is the most groups of a family whose standard deviation is not taken as known: of more it adds less than a
// thousandth to the variance of an effect.
const mostUncertain = 1000

// uncertain is the family with the mean squares of its effects about their means where the standard deviation σ has what the
// rows say of it, to second order, times a Cauchy density on σ > 0 with scale 1: it is proper with a single group.
func (e *Effect) uncertain() *Effect {
	if e.Groups() > mostUncertain {
		return e
	}
	c, freedom := *e, e.freedom()
	c.Variance, c.Moments = 0, slices.Clone(e.Moments)
	sums := make([]Sum, len(e.Moments))
	for g, w := range e.Moments {
		sums[g] = Sum{w.Mean / w.Variance, max(0, 1/w.Variance-1/e.Variance)}
		c.Moments[g].Variance = 0
	}
	logs, weights := deviations(func(log float64) float64 {
		variance := math.Exp(2 * log)
		return gainOf(sums, variance, freedom) + log - math.Log1p(variance)
	})
	for k, log := range logs {
		variance := math.Exp(2 * log)
		c.Variance += weights[k] * variance
		for g, s := range sums {
			w := &c.Moments[g]
			v := variance / (1 + s.Curvature*variance)
			w.Variance += weights[k] * (v + (v*s.Slope-w.Mean)*(v*s.Slope-w.Mean))
		}
	}
	return &c
}

// deviations are points of log σ, and their weights by the logarithm of its density: at even steps, of which there are two or more in
// the standard deviation of log σ.
func deviations(density func(log float64) float64) (points, weights []float64) {
	least, most := math.Log(leastVariance)/2, math.Log(mostVariance)/2
	for from, to, step := least, most, 0.25; ; step /= 4 {
		points, weights = points[:0], weights[:0]
		for x := from; x <= to; x += step {
			points, weights = append(points, x), append(weights, density(x))
		}
		top, sum, mean, square := slices.Max(weights), 0.0, 0.0, 0.0
		for k, w := range weights {
			weights[k] = math.Exp(w - top)
			sum += weights[k]
			mean += weights[k] * points[k]
			square += weights[k] * points[k] * points[k]
		}
		for k := range weights {
			weights[k] /= sum
		}
		mean /= sum
		width := math.Sqrt(max(1e-6, square/sum-mean*mean))
		if step <= width/2 {
			return points, weights
		}
		half := max(4*step, 6*width)
		from, to = max(least, mean-half), min(most, mean+half)
	}
}
