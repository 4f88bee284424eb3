package numbers

import (
	"fmt"
	"math"

	"github.com/lossep/lossep/normal"
)

// mixture is the one of few normals that standardised residuals z are most probable under, by expectation and maximisation from
// one narrow, one of unit width and two wide ones.
func mixture(z []float64, of []residual) []Part {
	parts := []Part{{0.2, 0, 0.4}, {0.5, 0, 1}, {0.25, 0, 2}, {0.05, 0, 5}}
	last := math.Inf(-1)
	share := make([]float64, len(parts))
	for range mixtureSteps {
		sums := make([][3]float64, len(parts))
		value := 0.0
		for i, x := range z {
			p, each := responsibilities(parts, x, share)
			count := of[i].count
			value += count * math.Log(p)
			for k, r := range each {
				r *= count
				sums[k][0] += r
				sums[k][1] += r * x
				sums[k][2] += r * x * x
			}
		}
		total := 0.0
		for k, s := range sums { // as if each had one residual of unit width more
			mean := s[1] / (s[0] + 1)
			parts[k] = Part{s[0] + 1, mean, max(leastWidth, math.Sqrt((s[2]-2*mean*s[1]+mean*mean*s[0]+1)/(s[0]+1)))}
			total += s[0] + 1
		}
		for k := range parts {
			parts[k].Weight /= total
		}
		if value-last < 1e-6*float64(len(z)) {
			break
		}
		last = value
	}
	return parts
}

const (
	mixtureSteps = 300
	// leastWidth keeps residuals that are equal from being taken for what always occurs.
	leastWidth = 0.1
)

// responsibilities are how probable it is that z is of each normal, in the room given if any, and its density.
func responsibilities(parts []Part, z float64, share []float64) (density float64, each []float64) {
	if share == nil {
		share = make([]float64, len(parts))
	}
	for k, p := range parts {
		share[k] = p.Weight / p.SD * math.Exp(normal.LogDensity((z-p.Mean)/p.SD))
		density += share[k]
	}
	if !(density > 0) {
		density = math.SmallestNonzeroFloat64
	}
	for k := range share {
		share[k] /= density
	}
	return density, share
}

// effectiveSquare is the square of a residual in standard deviations of the normals that it may be of.
func effectiveSquare(parts []Part, z float64) (square float64) {
	_, each := responsibilities(parts, z, nil)
	for k, r := range each {
		off := (z - parts[k].Mean) / parts[k].SD
		square += r * off * off
	}
	return square
}

// checkTails refuses what no fit finds.
func checkTails(parts []Part) error {
	sum := 0.0
	for _, p := range parts {
		if !(p.Weight >= 0 && math.Abs(p.Mean) <= farthest && p.SD >= leastWidth && p.SD <= farthest) {
			return fmt.Errorf("its noise has a part %+v, which no fit finds", p)
		}
		sum += p.Weight
	}
	if parts != nil && math.Abs(sum-1) > 1e-9 {
		return fmt.Errorf("the parts of its noise have the probability %v", sum)
	}
	return nil
}
