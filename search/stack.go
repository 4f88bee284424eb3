package search

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Candidates are weighed by what they predict of rows that were left out: stacking (Yao,
// Vehtari, Simpson and Gelman 2018).

// favour is how many rows are in favour of the simplest trial: bitRows for each bit that it
// leaves unknown about the outcome of a row, by its log loss out of fold. Where outcomes are
// nearly certain all there is to gain is a few nats, and less is in its favour; a trial that
// is worse than to know nothing earns nothing by that. A density of numbers has no such scale: a bit of each row is not known.
func favour(logs, counts []float64, outcomes int) float64 {
	if outcomes == 0 {
		return bitRows
	}
	loss := -floats.Dot(logs, counts) / floats.Sum(counts)
	return bitRows * min(loss, math.Log(float64(outcomes))) / math.Ln2
}

// weigh are the weights w of the trials that make
//
//	Σ_i n_i log Σ_k w_k p_ik + favour·log w_0
//
// largest, where p_ik is the probability that trial k gives to the outcome of row i, which
// was left out, and n_i how often the row counts: stacking, with as much in favour of the
// first trial, the simplest, as so many rows would say that only it can explain. Where rows
// hardly tell trials apart that decides. Those with little weight get none.
//
// It is a concave function: weight is moved between two trials at a time until none moves.
func weigh(trials []*trial, counts []float64, outcomes int) []float64 {
	weights := make([]float64, len(trials))
	var compared []int
	for k, t := range trials {
		if t.logs != nil {
			compared = append(compared, k)
		}
	}
	if len(compared) == 0 {
		weights[0] = 1 // there is nothing to go by
		return weights
	}
	simplest := favour(trials[0].logs, counts, outcomes)
	if !(simplest > 0) {
		weights[0] = 1 // no other can be better, or no row counts
		return weights
	}
	for _, k := range compared {
		weights[k] = 1 / float64(len(compared))
	}
	p := relativeProbabilities(trials, counts)
	for range mostExchanges {
		moved := 0.0
		for i, a := range compared {
			for _, b := range compared[i+1:] {
				moved = max(moved, exchange(weights, a, b, p, counts, simplest))
			}
		}
		if moved < 1e-6 {
			break
		}
	}
	for k, w := range weights {
		if w < leastWeight {
			weights[k] = 0
		}
	}
	sum := floats.Sum(weights)
	for k := range weights {
		weights[k] /= sum // exactly one, if it is the only one
	}
	return weights
}

// heavy takes the weights of trials that were compared on some of the rows from all but the
// heaviest and those with heavyWeight: a fit of each to all rows takes as long as a third of the
// comparison, and what the others add to the mixture does not show; see docs/research/inducing.md.
func heavy(weights []float64) {
	most := slices.Max(weights)
	for k, w := range weights {
		if w < min(most, heavyWeight) {
			weights[k] = 0
		}
	}
	floats.Scale(1/floats.Sum(weights), weights)
}

const (
	heavyWeight = 0.4
	// bitRows was chosen on other tables than those reported on; see docs/research/kernels.md.
	bitRows       = 4.0
	mostExchanges = 200
	// leastWeight is below what a candidate is left out.
	leastWeight = 0.05
)

// exchange moves weight between trials a and b to where the slope of what weigh makes
// largest, which falls, is zero, and returns how much.
func exchange(weights []float64, a, b int, p, counts []float64, simplest float64) float64 {
	before, both := weights[a], weights[a]+weights[b]
	slope := func(w float64) float64 {
		weights[a], weights[b] = w, both-w
		sum := 0.0
		if a == 0 {
			sum = simplest / w
		}
		for i, n := range counts {
			row := p[i*len(weights) : (i+1)*len(weights)]
			if q := floats.Dot(weights, row); q > 0 {
				sum += n * (row[a] - row[b]) / q
			}
		}
		return sum
	}
	low, high := 0.0, both
	for range 30 {
		if middle := 0.5 * (low + high); slope(middle) > 0 {
			low = middle
		} else {
			high = middle
		}
	}
	// A maximum at an end is one of a weight of nothing.
	weights[a] = 0.5 * (low + high)
	switch {
	case low == 0:
		weights[a] = 0
	case high == both:
		weights[a] = both
	}
	weights[b] = both - weights[a]
	return math.Abs(weights[a] - before)
}

// relativeProbabilities are those of the trials for each row, relative to the highest.
func relativeProbabilities(trials []*trial, counts []float64) []float64 {
	p := make([]float64, len(counts)*len(trials))
	for i := range counts {
		top := math.Inf(-1)
		for _, t := range trials {
			if t.logs != nil {
				top = max(top, t.logs[i])
			}
		}
		for k, t := range trials {
			if t.logs != nil && !math.IsInf(top, -1) {
				p[i*len(trials)+k] = math.Exp(t.logs[i] - top)
			}
		}
	}
	return p
}

// slopeOf is the calibration slope of the mixture of trials with these weights.
func slopeOf(trials []*trial, weights []float64, labels []int, counts []float64, units []int) float64 {
	left := make([][]float64, len(labels))
	for k, t := range trials {
		switch {
		case weights[k] == 0:
			continue
		case t.left == nil:
			return 0 // rows are too few to leave some out
		}
		for i, p := range t.left {
			if left[i] == nil {
				left[i] = make([]float64, len(p))
			}
			floats.AddScaled(left[i], weights[k], p)
		}
	}
	return CalibrationSlope(left, labels, counts, units)
}
