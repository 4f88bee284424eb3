package kernel

import "gonum.org/v1/gonum/blas/blas64"

// pairs is a rectangle of pairs of cases, every row of x with every row of z.
// If same is set, x and z are the same cases and entry (i, i) pairs a case
// with itself.
type pairs struct {
	x, z blas64.General
	same bool
}

// function is what a covariance function answers, leaf or composition.
type function interface {
	// cov is the covariance of two different cases.
	cov(x, z []float64) float64
	// variance is the covariance of a case with itself.
	variance(x []float64) float64
	// fill sets dst to the covariances of the pairs.
	fill(dst blas64.General, p pairs, s *scratch)
	// addGrad adds Σ_ij w_ij ∂k(x_i, z_j)/∂θ_k to grad[k] for every log
	// parameter θ_k, in the order of the parameters. It must not change w.
	addGrad(grad []float64, w blas64.General, p pairs, s *scratch)
}
