package nuts

import (
	"math"
	"math/rand/v2"
)

// metric is the kinetic energy's mass matrix M. It is diagonal, and known through its
// inverse, which estimates the variances of the posterior.
type metric struct {
	variance []float64 // diagonal of M⁻¹
	massRoot []float64 // 1/√variance
}

func newMetric(variance []float64) *metric {
	root := make([]float64, len(variance))
	for i, v := range variance {
		root[i] = 1 / math.Sqrt(v)
	}
	return &metric{variance: variance, massRoot: root}
}

// unitMetric is M = I, the metric before anything is known.
func unitMetric(dim int) *metric {
	ones := make([]float64, dim)
	for i := range ones {
		ones[i] = 1
	}
	return newMetric(ones)
}

// mulInverse writes M⁻¹src into dst.
func (m *metric) mulInverse(dst, src []float64) {
	variance := m.variance[:len(dst)]
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = variance[i] * src[i]
	}
}

// drawMomentum writes a draw from N(0, M) into dst.
func (m *metric) drawMomentum(dst []float64, rng *rand.Rand) {
	for i := range dst {
		dst[i] = m.massRoot[i] * rng.NormFloat64()
	}
}
