package kernel

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/lossep/lossep/internal/lanes"
)

// pairs is a rectangle of pairs of cases, every row of x with every row of z.
// If same is set, x and z are the same cases and entry (i, i) pairs a case
// with itself.
type pairs struct {
	x, z blas64.General
	same bool
}

// functions are k(·, z_j) of some cases z_j.
type functions interface {
	// fill sets the rows of dst to their values at the rows of x. It has whole
	// strips of columns without gaps between rows; those past the cases are left
	// with anything. A row depends on nothing but the row of x.
	fill(dst, x blas64.General, s *scratch)
}

// fill sets dst to the covariances of the pairs.
func fill(f function, dst blas64.General, p pairs, s *scratch) {
	defer s.release(s.mark())
	padded := s.matrix(dst.Rows, lanes.Padded(dst.Cols))
	f.against(p.z, s).fill(padded, p.x, s)
	for i := range dst.Rows {
		copy(row(dst, i), row(padded, i))
		if p.same {
			row(dst, i)[i] = f.variance(row(p.x, i))
		}
	}
}

// strips borrows the rows of m in the order of package lanes.
func strips(m blas64.General, s *scratch) lanes.Strips {
	if m.Cols == 0 {
		return lanes.Strips{} // of which nothing is asked
	}
	return lanes.NewStrips(m, s.slice(lanes.Size(m.Rows, m.Cols)))
}

// function is what a covariance function answers, leaf or composition.
type function interface {
	// cov is the covariance of two different cases.
	cov(x, z []float64) float64
	// variance is the covariance of a case with itself.
	variance(x []float64) float64
	// against is the functions k(·, z_j) of the rows of z, kept in s. They are of
	// different cases than any they are evaluated at.
	against(z blas64.General, s *scratch) functions
	// addGrad adds Σ_ij w_ij ∂k(x_i, z_j)/∂θ_k to grad[k] for every log
	// parameter θ_k, in the order of the parameters. It must not change w.
	addGrad(grad []float64, w blas64.General, p pairs, s *scratch)
	// addVarianceGrad adds Σ_i w_i ∂variance(x_i)/∂θ_k to grad[k], likewise.
	addVarianceGrad(grad []float64, w []float64, x blas64.General)
}
