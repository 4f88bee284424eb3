package search

import (
	"math"

	"github.com/lossep/lossep/kernel"
)

// tie draws the length scales of the columns of one term to a common one, in units of
// the columns, and lets a few go far from it. With θ_k their logarithms less those of the
// columns' scales, and c that of the common one, the log density is
//
//	−½((c − mean)/sd)² − strength·Σ_k log cosh 2(θ_k − c),
//
// at the c that makes it largest. With strength 1 the inverse squares ρ_k of the length
// scales are half-Cauchy with the common scale e^−2c, a sparse prior as in Eriksson and
// Jankowiak (2021): in log ρ the half-Cauchy density is 1/cosh, whose width does not
// depend on the scale, so that a maximum over both exists. Few columns are let go for
// nothing: what a column gains has to outweigh 2·strength nats for every power of e that
// its length scale is away from the others'. Many columns that say nothing settle together
// on a long one.
//
// It is a concave function of c and the θ_k together, and so is what is left of it.
type tie struct {
	params   []int     // of the kernel
	scale    []float64 // logarithms of the columns' scales
	strength float64
	mean, sd float64 // of c
}

// tied are the terms of the kernel with a length scale for each column.
func tied(k kernel.Kernel, s kernel.Scale, strength float64) []tie {
	priors := k.Priors(s)
	var ties []tie
	of := make(map[string]int)
	for i, p := range k.Describe() {
		if p.Kind != kernel.Lengthscale || p.Column < 0 {
			continue
		}
		t, known := of[p.Term]
		if !known {
			t = len(ties)
			of[p.Term] = t
			mean := 0.5 * math.Log(float64(len(s.Variance))) // as the prior of one column has it
			if p.Separate {
				mean = 0
			}
			ties = append(ties, tie{strength: strength, mean: mean, sd: priors[i].SD})
		}
		ties[t].params = append(ties[t].params, i)
		ties[t].scale = append(ties[t].scale, 0.5*math.Log(s.Variance[p.Column]))
	}
	return ties
}

// common is the c that makes the density largest. The slope falls in c, and the root lies
// between the mean and the θ_k.
func (t *tie) common(logs []float64) float64 {
	low, high := t.mean, t.mean
	for i, k := range t.params {
		low, high = min(low, logs[k]-t.scale[i]), max(high, logs[k]-t.scale[i])
	}
	c := 0.5 * (low + high)
	for range 200 {
		slope, bend := -(c-t.mean)/(t.sd*t.sd), -1/(t.sd*t.sd)
		for i, k := range t.params {
			h := math.Tanh(2 * (logs[k] - t.scale[i] - c))
			slope += 2 * t.strength * h
			bend -= 4 * t.strength * (1 - h*h)
		}
		if slope > 0 {
			low = c
		} else {
			high = c
		}
		next := c - slope/bend
		if !(next > low && next < high) {
			next = 0.5 * (low + high)
		}
		if math.Abs(next-c) <= 1e-14*(1+math.Abs(c)) {
			return next
		}
		c = next
	}
	return c
}

// log is the log density at the log parameters, but for what makes it a density.
func (t *tie) log(logs []float64) float64 {
	c := t.common(logs)
	z := (c - t.mean) / t.sd
	sum := -0.5 * z * z
	for i, k := range t.params {
		sum -= t.strength * logCosh(2*(logs[k]-t.scale[i]-c))
	}
	return sum
}

// addGradient adds the gradient of log to grad. The common length scale is where the
// slope in it vanishes, so that how it moves does not count.
func (t *tie) addGradient(grad, logs []float64) {
	c := t.common(logs)
	for i, k := range t.params {
		grad[k] -= 2 * t.strength * math.Tanh(2*(logs[k]-t.scale[i]-c))
	}
}

// logCosh is log cosh x for any x.
func logCosh(x float64) float64 {
	x = math.Abs(x)
	return x + math.Log1p(math.Exp(-2*x)) - math.Ln2
}
