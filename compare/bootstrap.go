package compare

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// bootstraps is how many times a statistic that is no mean is computed anew. The ends of
// an interval then waver by a twentieth of its half.
const bootstraps = 1000

// Bootstrap gives an interval to a statistic that is no mean, such as a difference between
// parts, by drawing the same weights that Estimate computes with: exponential ones on
// the units, and those of half a case each on extra cases that could have been; of grouped
// cases, as many as the groups make of one in the values. The statistic is given the
// weights of all cases and after them those of the extra ones, which are 0 when it is
// computed for the value itself.
func (c *Cases) Bootstrap(statistic func(weights []float64) float64, values []float64, extra int, level float64, rng *rand.Rand) Estimate {
	weights := make([]float64, c.n+extra)
	c.stated(weights)
	e := Estimate{Mean: statistic(weights), Level: level, N: c.units}
	draw := c.drawer(halfCase, c.designEffect(values), rng)
	draws := make([]float64, bootstraps)
	squares := 0.0
	for d := range draws {
		draw(weights)
		draws[d] = statistic(weights)
		squares += (draws[d] - e.Mean) * (draws[d] - e.Mean)
	}
	slices.Sort(draws)
	tail := int(math.Round((1 - level) / 2 * bootstraps))
	e.Low, e.High = min(e.Mean, draws[tail]), max(e.Mean, draws[bootstraps-1-tail])
	e.StdErr, e.draws = math.Sqrt(squares/bootstraps), draws
	return e
}

// stated fills in the weights as they are, and none for extra cases.
func (c *Cases) stated(weights []float64) {
	clear(weights)
	for i := range c.n {
		weights[i] = c.weightOf(i)
	}
}

// drawer draws weights: those of cases are multiplied by what is drawn for their unit, and
// those of extra cases are of Gamma(part), in units of so many average cases.
func (c *Cases) drawer(part, size float64, rng *rand.Rand) func(weights []float64) {
	total := 0.0
	for i := range c.n {
		total += c.weightOf(i)
	}
	units := make([]float64, c.units)
	unseen := distuv.Gamma{Alpha: part, Beta: float64(c.n) / (total * size), Src: rng}
	return func(weights []float64) {
		for u := range units {
			units[u] = rng.ExpFloat64()
		}
		for i := range c.n {
			weights[i] = c.weightOf(i) * units[c.unitOf(i)]
		}
		for i := c.n; i < len(weights); i++ {
			weights[i] = unseen.Rand()
		}
	}
}

// designEffect is perCase of the mean of values.
func (c *Cases) designEffect(values []float64) float64 {
	if c.unit == nil {
		return 1
	}
	units, single, err := c.sums(values, nil)
	if err != nil || len(units) < 2 {
		return 1
	}
	sum, weight, squares := 0.0, 0.0, 0.0
	for _, u := range units {
		sum, weight = sum+u.sum, weight+u.weight
	}
	for _, u := range units {
		squares += (u.sum - u.weight*sum/weight) * (u.sum - u.weight*sum/weight)
	}
	return c.perCase(float64(len(units)), squares, single, sum/weight)
}
