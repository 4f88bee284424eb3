package lanes

import (
	"fmt"
	"math"
)

// Decay is a correlation that falls with the squared distance s: a function of
// t = scale·s, or of its root.
//
// Here it is stated, once: plain Go evaluates value as it stands, and the vector code is
// generated to the same roundings.
type Decay struct {
	root bool // r = √t; otherwise r = t
	// value is amplitude·κ(r), given e = e^−r.
	value func(r, amplitude, e float64) float64
	// slope is −2 dκ/dt, given the same.
	slope func(r, e float64) float64
	loop  func(*code) loop
	// falls is the loop of a decay that the slope is a multiple of, steep times it; nil if
	// there is none.
	falls func(*code) loop
	steep float64
}

// The decays.
var (
	// Gaussian is e^−t.
	Gaussian = Decay{
		value: func(_, amplitude, e float64) float64 { return amplitude * e },
		slope: func(_, e float64) float64 { return 2 * e },
		loop:  func(c *code) loop { return c.gaussian },
		falls: func(c *code) loop { return c.gaussian },
		steep: 2,
	}
	// Exponential is e^−r, r² = t. Its slope at r = 0 is infinite, where all that is ever
	// multiplied by it is zero; it is given as 0 there.
	Exponential = Decay{
		root:  true,
		value: func(_, amplitude, e float64) float64 { return amplitude * e },
		slope: func(r, e float64) float64 {
			if r == 0 {
				return 0
			}
			return e / r
		},
		loop: func(c *code) loop { return c.exponential },
	}
	// Matern32 is (1 + r)·e^−r, r² = t.
	Matern32 = Decay{
		root:  true,
		value: func(r, amplitude, e float64) float64 { return math.FMA(r, amplitude, amplitude) * e },
		slope: func(_, e float64) float64 { return e },
		loop:  func(c *code) loop { return c.matern32 },
		falls: func(c *code) loop { return c.exponential },
		steep: 1,
	}
	// Matern52 is (1 + r + r²/3)·e^−r, r² = t.
	Matern52 = Decay{
		root:  true,
		value: func(r, amplitude, e float64) float64 { return amplitude * math.FMA(r, math.FMA(r, 1./3, 1), 1) * e },
		slope: func(r, e float64) float64 { return (1 + r) / 3 * e },
		loop:  func(c *code) loop { return c.matern52 },
		falls: func(c *code) loop { return c.matern32 },
		steep: 1. / 3,
	}
)

// At is κ at t = scale·s, and the slope −2 dκ/ds.
func (d Decay) At(s, scale float64) (value, slope float64) {
	r := d.argument(s, scale)
	e := math.Exp(-r)
	return d.value(r, 1, e), scale * d.slope(r, e)
}

// Apply replaces every s by amplitude·κ at t = scale·s. It wants a multiple of Width
// numbers, all of them at least zero or NaN, which stays.
func (d Decay) Apply(s []float64, amplitude, scale float64) {
	if len(s)%Width != 0 {
		panic(fmt.Sprintf("lanes: %d numbers are not a multiple of %d", len(s), Width))
	}
	d.loop(selected)(s, amplitude, scale)
}

// Slopes replaces every s by −2·amplitude·dκ/ds at t = scale·s, otherwise as Apply.
func (d Decay) Slopes(s []float64, amplitude, scale float64) {
	if d.falls != nil && len(s)%Width == 0 {
		d.falls(selected)(s, amplitude*scale*d.steep, scale)
		return
	}
	for i, v := range s {
		_, slope := d.At(v, scale)
		s[i] = amplitude * slope
	}
}

// plain is Apply in plain Go.
func (d Decay) plain(s []float64, amplitude, scale float64) {
	for i, v := range s {
		r := d.argument(v, scale)
		s[i] = d.value(r, amplitude, expMinus(r))
	}
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

// argument is r at t = scale·s, at most farthest; NaN stays.
func (d Decay) argument(s, scale float64) float64 {
	r := scale * s
	if d.root {
		r = math.Sqrt(r)
	}
	if r > farthest {
		return farthest
	}
	return r
}
