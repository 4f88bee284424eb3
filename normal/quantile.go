package normal

import "math"

// centralHalfWidth is the distance of p from ½ up to which the central formula
// serves. Outside it the quantile is found from log p instead.
const centralHalfWidth = 0.425

// Quantile returns Φ⁻¹(p): −Inf at p = 0, +Inf at p = 1, NaN outside [0, 1].
func Quantile(p float64) float64 {
	switch fromHalf := p - 0.5; {
	case math.Abs(fromHalf) <= centralHalfWidth:
		// p − ½ is exact near ½, so the zero there is approached with full
		// relative accuracy.
		return math.Sqrt2 * math.Erfinv(2*fromHalf)
	case fromHalf < 0:
		return tailQuantile(logPositive(p))
	default:
		return -tailQuantile(math.Log(1 - p)) // 1 − p is exact for p ≥ ½
	}
}

// QuantileLog returns the x with log Φ(x) = logP: −Inf at logP = −Inf, +Inf at
// logP = 0, NaN for logP > 0. It stays accurate however small or however close
// to one the probability is.
func QuantileLog(logP float64) float64 {
	switch {
	case logP > -math.Ln2:
		// Upper half: Φ(−x) = 1 − e^logP.
		return -Quantile(-math.Expm1(logP))
	case logP > -2.5:
		return Quantile(math.Exp(logP))
	default:
		return tailQuantile(logP)
	}
}

// tailQuantile solves log Φ(x) = logP for logP below about −2.5 (x < −1.4).
func tailQuantile(logP float64) float64 {
	if logP < -1e20 {
		// The terms of log Φ(x) other than −x²/2 are now below rounding.
		return -math.Sqrt2 * math.Sqrt(-logP)
	}
	// With t = −x and ρ the hazard, −2 logP − log 2π = t² + log ρ(t)², and
	// log ρ(t)² is close to the log of the left side. That start is within
	// 0.03 of the root; each Halley step (third order, with the exact second
	// derivative) then cubes the error times about 0.1.
	target := -2*logP - 2*logSqrt2Pi
	x := -math.Sqrt(target - math.Log(target))
	for range 2 {
		value, first, second := LogCDFDerivatives(x)
		newton := (value - logP) / first
		x -= newton / (1 - newton*second/(2*first))
	}
	return x
}

// logPositive returns log p. The standard library's assembly on amd64 and s390x
// takes subnormal arguments for numbers just below the smallest normal one
// (golang.org/issue/56600), so they are scaled up first.
func logPositive(p float64) float64 {
	if p < 0x1p-1022 {
		return math.Log(p*0x1p+64) - 64*math.Ln2
	}
	return math.Log(p)
}
