package numbers

import (
	"math"

	"github.com/lossep/lossep/decision"
)

// What is known of outcomes besides numbers: whether they are whole, and whether expectations exist. Quadrature looks as far as reach, and would give a number where there is none.
//
// Functions are looked at, not known, so that the bounds here tell kinds of growth apart that are far from each other: powers from
// exponentials, and exponentials of z from those of its square.

// huge is the most that a cost may be.
const huge = decision.LargestNumberCost

// Finite implements decision.Distribution.
func (d normals) Finite(g func(y float64) float64, poles ...float64) bool {
	for _, y := range poles {
		z, inside := d.transform.At(y), false
		for _, p := range d.parts {
			inside = inside || p.Weight > leastWeight && math.Abs(z-p.Mean) < reach*p.SD
		}
		if inside && pole(g, y, d.transform.Back(z+d.parts[0].SD)-y) {
			return false
		}
	}
	widest := d.parts[0]
	for _, p := range d.parts {
		if p.SD > widest.SD {
			widest = p
		}
	}
	back := func(z float64) float64 { return d.transform.Back(widest.Mean + z*widest.SD) }
	if d.df > 0 { // tails of |y|^−(df + 1): the power that g grows with has to be below df, from 1e3 to 1e6 deviations
		for _, side := range []float64{-1, 1} {
			near, far := g(back(side*1e3)), g(back(side*1e6))
			if !(far < huge) || far > 0 && near > 0 && math.Log(far/near) >= d.df*math.Log(1e3) {
				return false
			}
		}
		return true
	}
	return tailsFinite(g, back)
}

// Whole implements decision.Distribution.
func (normals) Whole() bool { return false }

// Whole implements decision.Distribution.
func (counts) Whole() bool { return true }

// Whole implements decision.Distribution.
func (sample) Whole() bool { return false }

// Finite implements decision.Distribution: the logarithm of the mean is normal, and counts are at least as
// far out as their mean.
func (c counts) Finite(g func(y float64) float64, poles ...float64) bool {
	for _, y := range poles {
		if y = math.Round(y); y >= 0 && !(math.Abs(g(y)) < huge) && c.CDF(y) > c.CDF(y-1) {
			return false
		}
	}
	sd := math.Sqrt(c.v)
	return sd == 0 || tailsFinite(g, func(z float64) float64 { return math.Exp(c.m + sd*z) })
}

// Finite implements decision.Distribution.
func (sample) Finite(func(y float64) float64, ...float64) bool { return true }

// tailsFinite tells whether g(y(z)) has an expectation under a standard normal z that can be computed: the
// logarithm of g grows no faster than the square of z, and what is beyond reach has no part in it.
func tailsFinite(g, back func(float64) float64) bool {
	for _, side := range []float64{-1, 1} {
		at := func(z float64) float64 { return g(back(side * z)) }
		weighted := func(z float64) float64 { return at(z) * math.Exp(-z*z/2) }
		if !(at(reach) < huge) {
			return false
		}
		// From reach to twice that powers up to the 33rd grow 2³³ ≈ 1e10 times; of what grows faster no more than a thousandth of its
		// largest part may be left at reach, as then less is beyond.
		if end := weighted(reach); !(at(2*reach) < 1e10*at(reach)) && end > 0 {
			peak := 0.0
			for z := 0.0; z < reach; z += 0.5 {
				peak = max(peak, weighted(z))
			}
			if !(end < 1e-3*peak) {
				return false
			}
		}
		if power := growth(at); power > 2.2 { // 2, the most that there is an expectation of, as far as two slopes tell
			return false
		}
	}
	return true
}

// growth is the power of z that the logarithm of a function grows with, from two slopes of it between
// three of its values, 0 where it never reaches them as functions do that have no exponential.
func growth(at func(z float64) float64) float64 {
	levels, z := [3]float64{1e30, 1e60, huge}, [3]float64{}
	for k, level := range levels {
		lo, hi := 0.0, float64(reach)
		for ; at(hi) < level; lo, hi = hi, 2*hi {
			if hi > 1e9 {
				return 0
			}
		}
		for range 60 {
			if mid := lo + (hi-lo)/2; at(mid) < level {
				lo = mid
			} else {
				hi = mid
			}
		}
		z[k] = hi
	}
	first, second := math.Log(levels[1]/levels[0])/(z[1]-z[0]), math.Log(levels[2]/levels[1])/(z[2]-z[1])
	return 1 + math.Log(second/first)/math.Log((z[2]+z[1])/(z[1]+z[0]))
}

// pole tells whether a function becomes so large beside a place that it has no integral there, as one over the distance has none: it grows a
// thousand times as much from a millionth of a width to a billionth as from a thousandth to a millionth.
func pole(g func(y float64) float64, at, width float64) bool {
	for _, side := range []float64{-width, width} {
		far, near, next := g(at+1e-3*side), g(at+1e-6*side), g(at+1e-9*side)
		if grown := math.Abs(next - near); !(math.Abs(next) < huge) || grown > 300*math.Abs(near-far) && grown > 1e-9*math.Abs(near) {
			return true
		}
	}
	return false
}
