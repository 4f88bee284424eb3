package gauss

import "math"

// Scalar is a Gaussian factor of one variable in natural form, proportional to
// exp(Nu·s − ½ Tau·s²). It is a density only when Tau > 0; a site may have any
// sign, because what must be proper is the product it takes part in.
type Scalar struct {
	Nu, Tau float64
}

// ScalarFromMoments is the natural form of N(mean, variance).
func ScalarFromMoments(mean, variance float64) Scalar {
	return Scalar{Nu: mean / variance, Tau: 1 / variance}
}

// Times is the product of two factors; their natural parameters add.
func (s Scalar) Times(o Scalar) Scalar { return Scalar{s.Nu + o.Nu, s.Tau + o.Tau} }

// Over is the quotient of two factors; their natural parameters subtract.
func (s Scalar) Over(o Scalar) Scalar { return Scalar{s.Nu - o.Nu, s.Tau - o.Tau} }

// Power is the factor to a power; its natural parameters are multiplied by it.
func (s Scalar) Power(p float64) Scalar { return Scalar{p * s.Nu, p * s.Tau} }

// Towards is as far on the way to another factor as rate says, in natural parameters.
func (s Scalar) Towards(o Scalar, rate float64) Scalar {
	return Scalar{s.Nu + rate*(o.Nu-s.Nu), s.Tau + rate*(o.Tau-s.Tau)}
}

// Proper reports whether the factor can be normalised to a density.
func (s Scalar) Proper() bool {
	return s.Tau > 0 && !math.IsInf(s.Tau, 1) && !math.IsNaN(s.Nu) && !math.IsInf(s.Nu, 0)
}

// Mean is the mean of a proper factor.
func (s Scalar) Mean() float64 { return s.Nu / s.Tau }

// Variance is the variance of a proper factor.
func (s Scalar) Variance() float64 { return 1 / s.Tau }

// LogPartition is A(ν, τ) = ½ν²/τ − ½ log τ, the log-normaliser relative to that
// of the standard normal.
func (s Scalar) LogPartition() float64 {
	return 0.5 * (s.Nu*s.Nu/s.Tau - math.Log(s.Tau))
}
