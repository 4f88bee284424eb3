package normal

import "math"

// Hazard returns ρ(x) = N(x)/Φ(x), the derivative of log Φ, also known as the
// inverse Mills ratio. It decreases from −x (plus a little) in the lower tail
// to N(x) in the upper one.
func Hazard(x float64) float64 {
	if x > 0 {
		density := Density(x)
		return density / (1 - density/(x+excess(x)))
	}
	return excess(-x) - x
}

// LogCDF returns log Φ(x).
func LogCDF(x float64) float64 {
	if x > 0 {
		// log Φ(x) tends to −Φ(−x): only log1p keeps its digits.
		return math.Log1p(-upperTail(x))
	}
	return LogDensity(x) - math.Log(excess(-x)-x)
}

// LogCDFHazard returns log Φ(x) and its derivative N(x)/Φ(x) for little more
// than the price of one of them.
func LogCDFHazard(x float64) (logCDF, hazard float64) {
	if x > 0 {
		density := Density(x)
		upper := density / (x + excess(x))
		return math.Log1p(-upper), density / (1 - upper)
	}
	hazard = excess(-x) - x
	return LogDensity(x) - math.Log(hazard), hazard
}

// LogCDFDerivatives returns log Φ(x), its first derivative ρ = N(x)/Φ(x) and
// its second derivative −ρ(x + ρ), which lies between −1 and 0.
//
// Forming x + ρ from [Hazard] would cancel in the lower tail, leaving no
// correct digit of the second derivative below x ≈ −1e8; here it stays exact.
func LogCDFDerivatives(x float64) (logCDF, first, second float64) {
	switch {
	case math.IsInf(x, -1):
		return x, math.Inf(1), -1
	case x > 0:
		logCDF, first = LogCDFHazard(x)
		if first == 0 { // x may be +Inf here, and 0·Inf is no number
			return logCDF, 0, 0
		}
		return logCDF, first, -first * (x + first)
	}
	d := excess(-x)
	hazard := d - x
	return LogDensity(x) - math.Log(hazard), hazard, -hazard * d
}
