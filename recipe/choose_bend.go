package recipe

import (
	"math"

	"github.com/lossep/lossep/normal"
)

// A stationary kernel measures distances in standard deviations. Where a few values far
// out make the standard deviation, the others lie so close together that the kernel
// cannot tell them apart, and those far out are alone. The cure is a bend that brings the
// column near to its own normal scores; but a bend also takes away gaps and clusters,
// so that a column that is not in need of it is left alone.

const (
	// straightEnough is the squared correlation of a column with its own normal scores from
	// which it is left alone. Normal values have 1, uniform ones 0.95, exponential ones
	// 0.82, and log-normal ones with a deviation of 0.8, of which the middle 95 % differ by a
	// factor of 23, have 0.71. Of 0.6 to 0.9 it is the largest that lost on none of the
	// tables it was chosen on (docs/research/columns.md).
	straightEnough = 0.7
	// smoothEnough is the correlation from which a smooth bend will do. It has no corners and
	// two numbers in place of hundreds; what remains goes by ranks.
	smoothEnough = 0.95
)

// bendRows is how many values it takes to tell long tails from chance.
const bendRows = 30

// bendSample is how many values of a column decide about its bend.
const bendSample = 1 << 16

// chooseBend decides by the values of a column alone, in increasing order.
func chooseBend(sorted []float64, memory *spare) Bend {
	if len(sorted) < bendRows {
		return Straight
	}
	scores := tiedScores(sorted, memory)
	correlation, heavier := against(sorted, scores)
	if correlation >= straightEnough || !heavier {
		return Straight
	}
	bent := make([]float64, len(sorted))
	for _, bend := range []Bend{Log, YeoJohnson} {
		s := newScaling(bend, sorted)
		if s == nil {
			continue
		}
		s.bend(bent, sorted)
		if correlation, _ := against(bent, scores); correlation >= smoothEnough {
			return bend
		}
	}
	return Rank
}

// tiedScores are the normal scores of values in increasing order, the same for equal
// ones: the quantile of the normal distribution at their middle rank.
func tiedScores(sorted []float64, memory *spare) []float64 {
	n := len(sorted)
	scores, quantiles := memory.scoreRoom(n)
	for i := 0; i < n; {
		end := i + 1
		for end < n && sorted[end] == sorted[i] {
			end++
		}
		score := quantiles[i+end]
		if score == 0 { // not known yet, or in the middle
			score = normal.Quantile((float64(i) + float64(end)) / 2 / float64(n))
			quantiles[i+end] = score
		}
		for ; i < end; i++ {
			scores[i] = score
		}
	}
	return scores
}

// against compares values with their normal scores: by the squared correlation, and
// whether the values have the heavier tails (the larger fourth moment). Neither depends on
// the units. Values of two kinds, such as 0 and 1, are their own normal scores.
func against(values, scores []float64) (correlation float64, heavier bool) {
	mean, scale := meanScale(values)
	center, spread := meanScale(scores)
	if !(scale > 0) || math.IsInf(scale, 0) || !(spread > 0) {
		return 1, false
	}
	product, fourth := 0.0, [2]float64{}
	for i, x := range values {
		z, s := (x-mean)/scale, (scores[i]-center)/spread
		product += z * s
		fourth[0] += z * z * z * z
		fourth[1] += s * s * s * s
	}
	r := product / float64(len(values))
	return r * r, fourth[0] > fourth[1]
}

// wantedScaling estimates the bend that is wanted, nil if that is none or cannot be. The
// values are put in increasing order if there is something to bend.
func wantedScaling(values []float64, bend Bend, memory *spare) *Scaling {
	if bend == AutoBend {
		if bend = chooseBend(sampled(len(values), func(i int) float64 { return values[i] }, memory), memory); bend == Straight {
			return nil
		}
	}
	memory.sort(values)
	return newScaling(bend, values)
}

// sampled are at most bendSample of n values in increasing order, from rows that lie evenly
// in the table but at no period.
func sampled(n int, at func(i int) float64, memory *spare) []float64 {
	sample := memory.sampleRoom(min(n, bendSample))
	if len(sample) == n {
		for k := range sample {
			sample[k] = at(k)
		}
	} else {
		const golden = 0.6180339887498949
		step := float64(n) / float64(len(sample))
		for k := range sample { // one from each stretch of rows
			_, place := math.Modf(golden * float64(k))
			sample[k] = at(int((float64(k) + place) * step))
		}
	}
	memory.sort(sample)
	return sample
}
