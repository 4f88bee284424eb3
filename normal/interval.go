package normal

import "math"

const (
	// narrow bounds both the width w of an interval and w·|midpoint| for which
	// the midpoint series is used: its first term left out, of sixth order in
	// the half-width, is then below 1e-14.
	narrow = 0.02
	// negligibleLog is a log-ratio of probabilities whose smaller side is far
	// below the rounding of the larger (e^−50 ≈ 2e-22).
	negligibleLog = -50
)

// LogDiffCDF returns log(Φ(b) − Φ(a)), the log-probability of the interval
// (a, b], for a ≤ b. Either bound may be infinite. The result is accurate for
// intervals in either tail, narrow or wide; it is −Inf for a = b and NaN for
// a > b.
func LogDiffCDF(a, b float64) float64 {
	if a == b {
		return math.Inf(-1)
	}
	if !(a < b) {
		return math.NaN()
	}
	if a+b > 0 {
		a, b = -b, -a // the mirror image, so that the bound far out is a
	}
	width, middle := b-a, a/2+b/2
	switch {
	case width < narrow && width*math.Abs(middle) < narrow:
		return logNarrow(middle, width)
	case b > 0:
		return logAroundZero(a, b)
	default:
		return logLowerTail(a, b)
	}
}

// logNarrow integrates the density over [m − w/2, m + w/2] by its Taylor series
// about m: N(m) w (1 + He₂(m)δ²/3! + He₄(m)δ⁴/5! + …), δ = w/2.
func logNarrow(m, w float64) float64 {
	delta2 := w * w / 4
	u := m * m * delta2
	second := u - delta2                         // He₂(m) δ²
	fourth := u*(u-6*delta2) + 3*(delta2*delta2) // He₄(m) δ⁴
	return LogDensity(m) + logPositive(w) + math.Log1p(second/6+fourth/120)
}

// logAroundZero handles a < 0 < b: what is missing from one when that is
// little, else the sum of the two sides of zero. Neither cancels.
func logAroundZero(a, b float64) float64 {
	if missing := CDF(a) + CDF(-b); missing < 0.5 {
		return math.Log1p(-missing)
	}
	return math.Log((math.Erf(b/math.Sqrt2) - math.Erf(a/math.Sqrt2)) / 2)
}

// logLowerTail handles a < b ≤ 0 as log Φ(b) + log(1 − Φ(a)/Φ(b)).
func logLowerTail(a, b float64) float64 {
	// log Φ(a)/Φ(b) = (b² − a²)/2 + log ρ(b)/ρ(a), both terms negative and
	// both formed from differences that do not cancel.
	squares := (b - a) * ((b + a) / 2)
	if squares < negligibleLog {
		return LogCDF(b)
	}
	excessA, excessB := excess(-a), excess(-b)
	hazardA, hazardB := excessA-a, excessB-b
	logRatio := squares + math.Log1p(((a-b)+(excessB-excessA))/hazardA)
	logCDF := LogDensity(b) - math.Log(hazardB)
	return logCDF + math.Log(-math.Expm1(logRatio))
}
