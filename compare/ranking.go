package compare

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Ranking is cases in the order of a score, the highest first.
type Ranking struct {
	cases    []int
	ends     []int // of each run of equal scores, one past its last
	positive []bool
}

// Rank orders cases by their score.
func Rank(cases []int, score func(int) float64, positive func(int) bool) Ranking {
	k := Ranking{cases: slices.Clone(cases)}
	slices.SortStableFunc(k.cases, func(i, j int) int { return cmp.Compare(score(j), score(i)) })
	for n, i := range k.cases {
		k.positive = append(k.positive, positive(i))
		if n+1 == len(k.cases) || score(k.cases[n+1]) != score(i) {
			k.ends = append(k.ends, n+1)
		}
	}
	return k
}

// Four cases that could have been stand after the others in weights: of either outcome
// before all others and after all others.
const (
	positiveFirst = iota
	negativeFirst
	positiveLast
	negativeLast
	extremeCases
)

// climb visits the runs of equal scores from the highest to the lowest, with the weight
// of positive and of negative cases in each.
func (k Ranking) climb(weights []float64, visit func(positive, negative float64)) {
	extra := weights[len(weights)-extremeCases:]
	visit(extra[positiveFirst], extra[negativeFirst])
	start := 0
	for _, end := range k.ends {
		positive, negative := 0.0, 0.0
		for n := start; n < end; n++ {
			if w := weights[k.cases[n]]; k.positive[n] {
				positive += w
			} else {
				negative += w
			}
		}
		visit(positive, negative)
		start = end
	}
	visit(extra[positiveLast], extra[negativeLast])
}

// area is the probability that of a positive and a negative case the positive one has the
// higher score.
func (k Ranking) area(weights []float64) float64 {
	above, ordered, negatives := 0.0, 0.0, 0.0
	k.climb(weights, func(positive, negative float64) {
		ordered += negative * (above + positive/2)
		above += positive
		negatives += negative
	})
	return ordered / (above * negatives)
}

// precision is the mean over positive cases of the share of positive cases among those
// with at least their score.
func (k Ranking) precision(weights []float64) float64 {
	above, all, sum := 0.0, 0.0, 0.0
	k.climb(weights, func(positive, negative float64) {
		above += positive
		all += positive + negative
		if positive > 0 {
			sum += positive * above / all
		}
	})
	return sum / above
}

// Area is that under the receiver operating characteristic, averaged over rankings of the
// same cases, with an interval.
func (c *Cases) Area(rankings []Ranking, level float64, rng *rand.Rand) (value, low, high float64) {
	positive, negative := c.classes(rankings[0])
	return c.ranked(rankings, Ranking.area, 0.5/(positive*negative), level, rng)
}

// Precision is the average precision, as Area is the area.
func (c *Cases) Precision(rankings []Ranking, level float64, rng *rand.Rand) (value, low, high float64) {
	positive, _ := c.classes(rankings[0])
	return c.ranked(rankings, Ranking.precision, 0.5/positive, level, rng)
}

const (
	// rankingDraws is how many times a ranking is weighed anew. The standard deviation of
	// what comes out is then right to three hundredths.
	rankingDraws = 500
	// quarterCase is the weight of each case that could have been: half a case at either
	// end, as for a mean, shared by the two outcomes.
	quarterCase = 0.25
)

// ranked gives a share that a ranking makes an interval that is Student's on the scale of
// log odds, with as many degrees of freedom as the rarer outcome has. The standard error
// is that of a Bayesian bootstrap. Shares nearer to 0 or 1 than finest count as that: what
// is not seen among a few cases could still be.
func (c *Cases) ranked(rankings []Ranking, statistic func(Ranking, []float64) float64, finest, level float64, rng *rand.Rand) (value, low, high float64) {
	mean := func(weights []float64) float64 {
		sum := 0.0
		for _, k := range rankings {
			sum += statistic(k, weights)
		}
		return sum / float64(len(rankings))
	}
	logit := func(p float64) float64 {
		p = min(max(p, finest), 1-finest)
		return math.Log(p / (1 - p))
	}
	weights := make([]float64, c.n+extremeCases)
	c.stated(weights)
	value = mean(weights)
	draw := c.drawer(quarterCase, 1, rng)
	sum, squares := 0.0, 0.0
	for range rankingDraws {
		draw(weights)
		l := logit(mean(weights)) - logit(value)
		sum += l
		squares += l * l
	}
	spread := math.Sqrt(max(0, squares-sum*sum/rankingDraws) / (rankingDraws - 1))
	positive, negative := c.classes(rankings[0])
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: max(1, min(positive, negative)-1)}.Quantile((1 + level) / 2)
	back := func(l float64) float64 { return 1 / (1 + math.Exp(-l)) }
	return value, min(value, back(logit(value)-t*spread)), max(value, back(logit(value)+t*spread))
}

// classes is in how many independent units there is a positive and a negative case.
func (c *Cases) classes(k Ranking) (positive, negative float64) {
	var seen [2]map[int]bool
	for y := range seen {
		seen[y] = make(map[int]bool)
	}
	for n, i := range k.cases {
		if c.weightOf(i) > 0 {
			y := 0
			if k.positive[n] {
				y = 1
			}
			seen[y][c.unitOf(i)] = true
		}
	}
	return float64(len(seen[1])), float64(len(seen[0]))
}
