package normal

import (
	"math"
	"math/big"
)

// The reference implementation the tests measure against: arbitrary-precision
// arithmetic, no approximation formula shared with the package. Φ comes from
// its Taylor-type series near zero and from Laplace's continued fraction in
// the tails; where both apply they are compared by TestReferenceAgreesWithItself.

// refPrec is 320 bits, 96 decimal digits: the series loses at most
// log10(e^18) < 8 of them and the squarings in refExp about 5.
const refPrec = 320

func bigOf(x float64) *big.Float               { return new(big.Float).SetPrec(refPrec).SetFloat64(x) }
func bigNew() *big.Float                       { return new(big.Float).SetPrec(refPrec) }
func add(a, b *big.Float) *big.Float           { return bigNew().Add(a, b) }
func sub(a, b *big.Float) *big.Float           { return bigNew().Sub(a, b) }
func mul(a, b *big.Float) *big.Float           { return bigNew().Mul(a, b) }
func quo(a, b *big.Float) *big.Float           { return bigNew().Quo(a, b) }
func neg(a *big.Float) *big.Float              { return bigNew().Neg(a) }
func scale(a *big.Float, k float64) *big.Float { return mul(a, bigOf(k)) }

// negligible reports whether term no longer changes sum at refPrec.
func negligible(term, sum *big.Float) bool {
	return term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-refPrec-8
}

var (
	refLn2 = refLogNearOne(bigOf(2))
	refPi  = machinPi()
	// refLogSqrt2Pi is log √(2π).
	refLogSqrt2Pi = scale(refLog(scale(refPi, 2)), 0.5)
)

// machinPi returns π = 16 atan(1/5) − 4 atan(1/239).
func machinPi() *big.Float {
	atanInverse := func(n float64) *big.Float {
		power := quo(bigOf(1), bigOf(n))
		square := mul(power, power)
		sum := bigNew()
		for k := 0; ; k++ {
			term := quo(power, bigOf(float64(2*k+1)))
			if k > 0 && negligible(term, sum) {
				return sum
			}
			if k%2 == 1 {
				term = neg(term)
			}
			sum = add(sum, term)
			power = mul(power, square)
		}
	}
	return sub(scale(atanInverse(5), 16), scale(atanInverse(239), 4))
}

// refLogNearOne returns log y = 2 atanh((y−1)/(y+1)), quick for y in [½, 2].
func refLogNearOne(y *big.Float) *big.Float {
	z := quo(sub(y, bigOf(1)), add(y, bigOf(1)))
	square := mul(z, z)
	sum, power := bigNew().Set(z), mul(z, square)
	for k := 3.0; ; k += 2 {
		term := quo(power, bigOf(k))
		if negligible(term, sum) {
			return scale(sum, 2)
		}
		sum = add(sum, term)
		power = mul(power, square)
	}
}

// refLog returns log y for y > 0.
func refLog(y *big.Float) *big.Float {
	mantissa := bigNew()
	exponent := y.MantExp(mantissa)
	return add(refLogNearOne(mantissa), scale(refLn2, float64(exponent)))
}

// refExp returns e^x: e^x = 2^k (e^{r/2^16})^{2^16} with r = x − k log 2.
func refExp(x *big.Float) *big.Float {
	k, _ := quo(x, refLn2).Int64()
	r := sub(x, scale(refLn2, float64(k)))
	r.SetMantExp(r, -16)
	sum, term := bigOf(1), bigOf(1)
	for n := 1.0; ; n++ {
		term = quo(mul(term, r), bigOf(n))
		if negligible(term, sum) {
			break
		}
		sum = add(sum, term)
	}
	for range 16 {
		sum = mul(sum, sum)
	}
	return bigNew().SetMantExp(sum, int(k))
}

// refLogDensity returns log N(x).
func refLogDensity(x *big.Float) *big.Float {
	return neg(add(scale(mul(x, x), 0.5), refLogSqrt2Pi))
}

// refDensity returns N(x).
func refDensity(x *big.Float) *big.Float { return refExp(refLogDensity(x)) }

// refSeriesMills returns R(t) = Φ(−t)/N(t) for moderate t ≥ 0 by the
// all-positive series Φ(t) = ½ + N(t) Σ t^{2k+1}/(2k+1)!!.
func refSeriesMills(t *big.Float) *big.Float {
	square := mul(t, t)
	sum, term := bigNew().Set(t), bigNew().Set(t)
	for k := 3.0; t.Sign() != 0; k += 2 {
		term = quo(mul(term, square), bigOf(k))
		if negligible(term, sum) {
			break
		}
		sum = add(sum, term)
	}
	return sub(quo(bigOf(0.5), refDensity(t)), sum)
}

// refFractionMills returns R(t) = 1/(t + 1/(t + 2/(t + 3/(t + …)))). Cut after
// n levels it errs by about e^{−2t√(2n)}: below 1e-100 for the n taken here.
func refFractionMills(t *big.Float) *big.Float {
	at, _ := t.Float64()
	f := bigNew().Set(t)
	for k := math.Ceil(40 + 8000/(at*at)); k >= 1; k-- {
		f = add(t, quo(bigOf(k), f))
	}
	return quo(bigOf(1), f)
}

// refMills returns R(t) = Φ(−t)/N(t) for t ≥ 0.
func refMills(t *big.Float) *big.Float {
	if t.Cmp(bigOf(6)) < 0 {
		return refSeriesMills(t)
	}
	return refFractionMills(t)
}

// reference holds the true values at one point.
type reference struct {
	density, logDensity, cdf, logCDF, hazard, curvature *big.Float
}

// referenceAt returns the true values at x. For x < −1e4 the density and the
// distribution function, far below the smallest float64, are left out (nil), as
// is for x < −1e20 the curvature of log Φ.
func referenceAt(x float64) reference {
	bx := bigOf(x)
	mills := refMills(bigOf(math.Abs(x)))
	ref := reference{logDensity: refLogDensity(bx)}
	if math.Abs(x) < 1e4 {
		ref.density = refExp(ref.logDensity)
	}
	if x <= 0 {
		ref.logCDF = add(ref.logDensity, refLog(mills))
		ref.hazard = quo(bigOf(1), mills)
		if ref.density != nil {
			ref.cdf = mul(ref.density, mills)
		}
	} else {
		upper := mul(ref.density, mills) // Φ(−x)
		ref.cdf = sub(bigOf(1), upper)
		ref.logCDF = refLog1m(upper)
		ref.hazard = quo(ref.density, ref.cdf)
	}
	if math.Abs(x) <= 1e20 {
		// d²/dx² log Φ = −ρ(x + ρ). The sum loses 2 log10|x| ≤ 40 of 96 digits.
		ref.curvature = neg(mul(ref.hazard, add(bx, ref.hazard)))
	}
	return ref
}

// refLog1m returns log(1 − q), to full relative precision however small q is.
func refLog1m(q *big.Float) *big.Float {
	if q.Cmp(bigOf(1e-3)) > 0 {
		return refLog(sub(bigOf(1), q))
	}
	sum, power := bigNew(), bigNew().Set(q)
	for k := 1.0; ; k++ {
		term := quo(power, bigOf(k))
		if k > 1 && negligible(term, sum) {
			return neg(sum)
		}
		sum = add(sum, term)
		power = mul(power, q)
	}
}

// relativeError returns |got − want|/|want|; a NaN or an infinite got is
// infinitely wrong.
func relativeError(got float64, want *big.Float) float64 {
	if math.IsNaN(got) || math.IsInf(got, 0) {
		return math.Inf(1)
	}
	difference := sub(bigOf(got), want)
	if want.Sign() == 0 {
		e, _ := difference.Abs(difference).Float64()
		return e
	}
	e, _ := quo(difference, want).Float64()
	return math.Abs(e)
}
