package audit

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lossep/lossep/compare"
)

// ranking is the cases of one repeat by the probability of an outcome, the most probable
// first.
type ranking struct {
	rows     []int
	ends     []int // of each group of equal probabilities, one past its last
	positive []bool
}

// Four cases that could have been stand after the others in weights: of either outcome
// with the highest and with the lowest probability of all.
const (
	positiveFirst = iota
	negativeFirst
	positiveLast
	negativeLast
	extremeCases
)

func (a *Audit) rankings(model string, folds []*Fold) []ranking {
	all := make([]ranking, a.opt.Repeats)
	p := make([]float64, a.len())
	for r := range all {
		var k ranking
		for _, f := range folds {
			if f.Repeat == r {
				for j, i := range f.Rows {
					p[i] = f.Answers[model][j][1]
					k.rows = append(k.rows, i)
				}
			}
		}
		slices.SortStableFunc(k.rows, func(i, j int) int { return cmp.Compare(p[j], p[i]) })
		for n, i := range k.rows {
			k.positive = append(k.positive, a.outcome(i) == 1)
			if n+1 == len(k.rows) || p[k.rows[n+1]] != p[i] {
				k.ends = append(k.ends, n+1)
			}
		}
		all[r] = k
	}
	return all
}

// climb visits the groups of equal probability from the highest to the lowest, with the
// weight of positive and of negative cases in each.
func (k ranking) climb(weights []float64, visit func(positive, negative float64)) {
	extra := weights[len(weights)-extremeCases:]
	visit(extra[positiveFirst], extra[negativeFirst])
	start := 0
	for _, end := range k.ends {
		positive, negative := 0.0, 0.0
		for n := start; n < end; n++ {
			if w := weights[k.rows[n]]; k.positive[n] {
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

// area is that under the receiver operating characteristic: the probability that of a
// positive and a negative case the positive one has the higher probability.
func (k ranking) area(weights []float64) float64 {
	above, ordered, negatives := 0.0, 0.0, 0.0
	k.climb(weights, func(positive, negative float64) {
		ordered += negative * (above + positive/2)
		above += positive
		negatives += negative
	})
	return ordered / (above * negatives)
}

// precision is the average precision: the mean over positive cases of the share of
// positive cases among those at least as probable. The negative case before all others,
// which could have been, is left out: it would halve the mean, however many there are.
func (k ranking) precision(weights []float64) float64 {
	weights[len(weights)-extremeCases+negativeFirst] = 0
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

// ranked is a statistic of rankings, averaged over repeats, with its interval.
func (a *Audit) ranked(rankings []ranking, statistic func(ranking, []float64) float64) *Measure {
	rng := rand.New(rand.NewPCG(a.opt.Fit.Seed, 1<<32)) // the same for all models
	e := a.cases.Bootstrap(func(weights []float64) float64 {
		mean := 0.0
		for _, k := range rankings {
			mean += statistic(k, weights) / float64(len(rankings))
		}
		return mean
	}, extremeCases, Level, rng)
	return measure(e)
}

// Gain is what is found among the cases most probably positive.
type Gain struct {
	// Share of all cases, those most probably positive, of which at least one is above
	// Probability.
	Share       float64 `json:"share"`
	Probability float64 `json:"probability"`
	// Cases and Found are how many that are, and how many of them are positive.
	Cases float64 `json:"cases"`
	Found float64 `json:"found"`
	// OfPositive is the share of the positive cases found, and Lift how many times as many
	// that is as among as many cases at random.
	OfPositive *Measure `json:"of_positive"`
	Lift       float64  `json:"lift"`
}

// gainShares are the depths at which gains are listed.
var gainShares = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}

// gains are those of a model, by probabilities averaged over repeats. Cases of equal
// probability at the edge of a share enter in part.
func (a *Audit) gains(p []float64) []Gain {
	var order []int
	positives := 0.0
	positive := make([]float64, a.len())
	for i, w := range a.weights {
		if w == 0 {
			continue
		}
		order = append(order, i)
		if a.outcome(i) == 1 {
			positive[i] = 1
			positives += w
		}
	}
	n := len(order)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[j], p[i]) })
	var all []Gain
	in := make([]float64, a.len())
	for _, share := range gainShares {
		g := Gain{Share: share, Cases: math.Round(share * a.total)}
		if g.Cases == 0 {
			continue
		}
		clear(in)
		left := g.Cases
		for start := 0; start < n && left > 0; {
			end, weight := start, 0.0
			for end < n && p[order[end]] == p[order[start]] {
				weight += a.weights[order[end]]
				end++
			}
			part := min(1, left/weight)
			for _, i := range order[start:end] {
				in[i] = part * positive[i]
				g.Found += in[i] * a.weights[i]
			}
			g.Probability = p[order[start]]
			left -= part * weight
			start = end
		}
		g.OfPositive = a.share(in, positive)
		g.Lift = g.Found / positives * a.total / g.Cases
		all = append(all, g)
	}
	return all
}

// Cut is what deciding by a threshold on the probability gives.
type Cut struct {
	Threshold float64 `json:"threshold"`
	// Given says that this is the threshold that the costs imply.
	Given bool `json:"given"`
	// Cost is that per case at the costs as stated.
	Cost Measure `json:"cost"`
	// Numbers of cases, averaged over repeats.
	TruePositive  float64 `json:"true_positive"`
	FalsePositive float64 `json:"false_positive"`
	FalseNegative float64 `json:"false_negative"`
	TrueNegative  float64 `json:"true_negative"`
	Sensitivity   float64 `json:"sensitivity"`
	Specificity   float64 `json:"specificity"`
	// NetBenefit is TP/n − FP/n·t/(1−t) at the threshold t (Vickers and Elkin 2006).
	NetBenefit float64 `json:"net_benefit"`
}

// cutPoints are the thresholds listed besides the given one.
var cutPoints = []float64{0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95}

// cuts decides by the second of two actions where the positive outcome is more probable
// than a threshold. It is nil for other numbers of actions.
func (a *Audit) cuts(model string, folds []*Fold) ([]Cut, error) {
	if len(a.problem.Utility.Actions()) != 2 {
		return nil, nil
	}
	points := slices.Clone(cutPoints)
	given, ok := a.threshold()
	if ok && !slices.Contains(points, given) {
		points = append(points, given)
		slices.Sort(points)
	}
	var all []Cut
	for _, t := range points {
		c := Cut{Threshold: t, Given: ok && t == given}
		losses := make([]float64, a.len())
		for _, f := range folds {
			for k, i := range f.Rows {
				action, part := 0, a.part()
				if f.Answers[model][k][1] > t {
					action = 1
				}
				losses[i] += part * a.realised(i, action)
				switch weight := part * a.weights[i]; {
				case action == 1 && a.outcome(i) == 1:
					c.TruePositive += weight
				case action == 1:
					c.FalsePositive += weight
				case a.outcome(i) == 1:
					c.FalseNegative += weight
				default:
					c.TrueNegative += weight
				}
			}
		}
		e, err := a.cases.Mean(losses, a.possible([]int{0, 1}), Level)
		if err != nil {
			return nil, err
		}
		c.Cost = *measure(e)
		c.Sensitivity = c.TruePositive / (c.TruePositive + c.FalseNegative)
		c.Specificity = c.TrueNegative / (c.TrueNegative + c.FalsePositive)
		c.NetBenefit = (c.TruePositive - c.FalsePositive*t/(1-t)) / a.total
		all = append(all, c)
	}
	return all, nil
}

// unit is between 0 and 1.
var unit = &compare.Range{Least: 0, Most: 1}
