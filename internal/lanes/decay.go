package lanes

import (
	"fmt"
	"math"
)

// Gaussian replaces every s by amplitude·exp(−scale·s). It wants a multiple of Width
// numbers, all of them at least zero or NaN, which stays.
func Gaussian(s []float64, amplitude, scale float64) { apply(selected.gaussian, s, amplitude, scale) }

// Exponential replaces every s by amplitude·exp(−r) with r² = scale·s, otherwise as
// Gaussian.
func Exponential(s []float64, amplitude, scale float64) {
	apply(selected.exponential, s, amplitude, scale)
}

// Matern32 replaces every s by amplitude·(1 + r)·exp(−r), otherwise as Exponential.
func Matern32(s []float64, amplitude, scale float64) { apply(selected.matern32, s, amplitude, scale) }

// Matern52 replaces every s by amplitude·(1 + r + r²/3)·exp(−r), otherwise as
// Exponential.
func Matern52(s []float64, amplitude, scale float64) { apply(selected.matern52, s, amplitude, scale) }

func apply(f decay, s []float64, amplitude, scale float64) {
	if len(s)%Width != 0 {
		panic(fmt.Sprintf("lanes: %d numbers are not a multiple of %d", len(s), Width))
	}
	f(s, amplitude, scale)
}

// The exponential is computed as e^−t = 2ⁿ·e^r with n = round(−t·log₂e), so that
// |r| ≤ ½ln 2, and the Taylor series of e^r to the power 13: what it leaves out is below
// |r|¹⁴/14! = 4e-18. The result is within one unit in the last place, and so are the
// subnormal ones. The vector code takes the same steps.
const (
	// farthest bounds t: e^−800 is zero, and what multiplies it stays finite.
	farthest = 800.0
	// Adding shifter to a number below 2⁵¹ rounds it to an integer, which is then in the
	// last digits of the sum.
	shifter = 0x1.8p52
	// ln2High + ln2Low is ln 2 to 107 bits.
	ln2High = 0x1.62e42fefa39efp-1
	ln2Low  = 0x1.abc9e3b39803fp-56
	bias    = 1023 << 52
)

// taylor are 1/k!, from the highest power down to the constant.
var taylor = func() (c [14]float64) {
	factorial := 1.0
	for k := range c {
		factorial *= float64(max(k, 1))
		c[len(c)-1-k] = 1 / factorial
	}
	return c
}()

// expMinus is e^−t for 0 ≤ t ≤ farthest.
func expMinus(t float64) float64 {
	n := math.FMA(-t, math.Log2E, shifter) - shifter
	r := math.FMA(-ln2Low, n, -math.FMA(n, ln2High, t))
	p := taylor[0]
	for _, c := range taylor[1:] {
		p = math.FMA(p, r, c)
	}
	// 2ⁿ may be below what a float64 holds: it is multiplied in two parts, the first of
	// them without rounding. The integer in the last digits becomes the exponent.
	half := math.FMA(0.5, n, shifter)
	rest := n - (half - shifter) + shifter
	return p * math.Float64frombits(math.Float64bits(half)<<52+bias) * math.Float64frombits(math.Float64bits(rest)<<52+bias)
}

// limited is t, at most farthest; NaN stays.
func limited(t float64) float64 {
	if t > farthest {
		return farthest
	}
	return t
}
