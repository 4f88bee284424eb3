package compare

import (
	"math"
	"math/rand/v2"
	"slices"
)

// bootstraps is how many times a statistic that is no mean is computed anew. The ends of
// an interval then waver by a twentieth of its half.
const bootstraps = 1000

// Bootstrap gives an interval to a statistic that is no mean, such as the area under a
// curve, by drawing the same weights that Estimate computes with: exponential ones on
// the units, and those of half a case each on extra cases that could have been. The
// statistic is given the weights of all cases and after them those of the extra ones,
// which are 0 when it is computed for the value itself.
func (c *Cases) Bootstrap(statistic func(weights []float64) float64, extra int, level float64, rng *rand.Rand) Estimate {
	weights := make([]float64, c.n+extra)
	total := 0.0
	for i := range c.n {
		weights[i] = c.weightOf(i)
		total += weights[i]
	}
	e := Estimate{Mean: statistic(weights), Level: level, N: c.units}
	units := make([]float64, c.units)
	draws := make([]float64, bootstraps)
	squares := 0.0
	for d := range draws {
		for u := range units {
			units[u] = rng.ExpFloat64()
		}
		for i := range c.n {
			unit := i
			if c.unit != nil {
				unit = c.unit[i]
			}
			weights[i] = c.weightOf(i) * units[unit]
		}
		for i := c.n; i < len(weights); i++ {
			z := rng.NormFloat64()
			weights[i] = total / float64(c.n) * z * z / 2 // of Gamma(1/2)
		}
		draws[d] = statistic(weights)
		squares += (draws[d] - e.Mean) * (draws[d] - e.Mean)
	}
	slices.Sort(draws)
	tail := int(math.Round((1 - level) / 2 * bootstraps))
	e.Low, e.High = min(e.Mean, draws[tail]), max(e.Mean, draws[bootstraps-1-tail])
	e.StdErr, e.draws = math.Sqrt(squares/bootstraps), draws
	return e
}

func (c *Cases) weightOf(i int) float64 {
	if c.weight == nil {
		return 1
	}
	return c.weight[i]
}
