package search

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/posterior"
)

// Posteriors whose latent values are large and uncertain are underconfident: where outcomes are
// nearly divided, rows that are left out turn out as predicted more often than was said. How much,
// those rows tell.

// Temper raises probabilities to a power and makes them add up to one again: of two
// outcomes the log odds are multiplied by it. A power of 0 stands for 1, which changes
// nothing; probabilities that are NaN stay so.
func Temper(p []float64, power float64) {
	if power == 0 || power == 1 {
		return
	}
	top := 0.0
	for _, x := range p {
		top = max(top, x) // NaN, if there is one
	}
	sum := 0.0
	for c, x := range p {
		p[c] = math.Pow(x/top, power)
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
}

const (
	// Slopes are within these bounds.
	LeastSlope, MostSlope = 0.25, 4.0
	// standardErrors is what a slope has to be beyond; see docs/research/kernels.md.
	standardErrors = 2
)

// CalibrationSlope is the power b within the bounds that makes
//
//	Σ_i n_i log P_i(y_i)^b / Σ_c P_i(c)^b − s·|b − 1|
//
// largest, where P_i are the probabilities of the outcomes of a row that was left out, n_i is
// how much it counts, and s two standard errors of the slope of the sum at 1: a power other
// than 1 takes more than chance. What is left to chance are units, those rows that have the same
// number, or each row where units is nil, whatever its weight. It returns 0 for 1. The sum is
// concave in b.
func CalibrationSlope(left [][]float64, outcomes []int, counts []float64, units []int) float64 {
	logs := make([][]float64, len(left))
	for i, p := range left {
		for _, x := range p {
			logs[i] = append(logs[i], posterior.Log(x))
		}
	}
	p := make([]float64, 0, 16)
	// The slope of row i: how much more probable its outcome was than expected, in logs.
	at := func(i int, b float64) float64 {
		p = append(p[:0], left[i]...)
		Temper(p, b)
		slope := logs[i][outcomes[i]]
		for c, x := range p {
			slope -= x * logs[i][c]
		}
		return slope
	}
	slope := func(b float64) (sum float64) {
		for i, n := range counts {
			sum += n * at(i, b)
		}
		return sum
	}
	number := len(counts)
	if units != nil {
		number = slices.Max(units) + 1 // some may not be left out
	}
	slopes := make([]float64, number) // of units
	for i, n := range counts {
		unit := i
		if units != nil {
			unit = units[i]
		}
		slopes[unit] += n * at(i, 1)
	}
	chance := standardErrors * floats.Norm(slopes, 2)
	low, high := 1.0, MostSlope
	switch first := slope(1); {
	case first < -chance:
		low, high, chance = LeastSlope, 1, -chance
	case !(first > chance):
		return 0
	}
	for range 40 {
		if middle := 0.5 * (low + high); slope(middle) > chance {
			low = middle
		} else {
			high = middle
		}
	}
	return 0.5 * (low + high)
}
