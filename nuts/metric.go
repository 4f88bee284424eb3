package nuts

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// metric is the kinetic energy's mass matrix M, known through its inverse,
// which estimates the posterior covariance.
type metric interface {
	// mulInverse writes M⁻¹src into dst.
	mulInverse(dst, src []float64)
	// drawMomentum writes a draw from N(0, M) into dst.
	drawMomentum(dst []float64, rng *rand.Rand)
	// inverse is M⁻¹, for reports.
	inverse() mat.Symmetric
}

type diagonalMetric struct {
	variance []float64 // diagonal of M⁻¹
	massRoot []float64 // 1/√variance
}

func newDiagonalMetric(variance []float64) *diagonalMetric {
	root := make([]float64, len(variance))
	for i, v := range variance {
		root[i] = 1 / math.Sqrt(v)
	}
	return &diagonalMetric{variance: variance, massRoot: root}
}

// unitMetric is M = I, the metric before anything is known.
func unitMetric(dim int) *diagonalMetric {
	ones := make([]float64, dim)
	for i := range ones {
		ones[i] = 1
	}
	return newDiagonalMetric(ones)
}

func (m *diagonalMetric) mulInverse(dst, src []float64) {
	variance := m.variance[:len(dst)]
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = variance[i] * src[i]
	}
}

func (m *diagonalMetric) drawMomentum(dst []float64, rng *rand.Rand) {
	for i := range dst {
		dst[i] = m.massRoot[i] * rng.NormFloat64()
	}
}

func (m *diagonalMetric) inverse() mat.Symmetric {
	return mat.NewDiagDense(len(m.variance), m.variance)
}

type denseMetric struct {
	covariance *mat.SymDense     // M⁻¹ = UᵀU
	full       blas64.General    // M⁻¹ with both triangles: gemv is the faster product
	upper      blas64.Triangular // U
}

// newDenseMetric reports false when covariance is not numerically positive
// definite.
func newDenseMetric(covariance *mat.SymDense) (*denseMetric, bool) {
	var chol mat.Cholesky
	if !chol.Factorize(covariance) {
		return nil, false
	}
	var upper mat.TriDense
	chol.UTo(&upper)
	return &denseMetric{
		covariance: covariance,
		full:       mat.DenseCopyOf(covariance).RawMatrix(),
		upper:      upper.RawTriangular(),
	}, true
}

func (m *denseMetric) mulInverse(dst, src []float64) {
	blas64.Gemv(blas.NoTrans, 1, m.full, vector(src), 0, vector(dst))
}

// drawMomentum: p = U⁻¹z has covariance U⁻¹U⁻ᵀ = (UᵀU)⁻¹ = M.
func (m *denseMetric) drawMomentum(dst []float64, rng *rand.Rand) {
	for i := range dst {
		dst[i] = rng.NormFloat64()
	}
	blas64.Trsv(blas.NoTrans, m.upper, vector(dst))
}

func (m *denseMetric) inverse() mat.Symmetric { return m.covariance }

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Data: x, Inc: 1} }
