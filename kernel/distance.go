package kernel

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/level3"
)

// cancellation is the fraction of ‖u‖² + ‖v‖² below which ‖u − v‖² is not
// trusted to ‖u‖² + ‖v‖² − 2u·v. Above it the expansion loses at most three of
// the sixteen digits; below it, pairs are few and are computed directly.
const cancellation = 1e-3

// cloud is a set of points with their squared norms.
type cloud struct {
	points blas64.General
	norms  []float64
}

// newCloud borrows a cloud of n points in d dimensions; set its points, then
// call measure.
func newCloud(n, d int, s *scratch) cloud {
	return cloud{points: s.matrix(n, d), norms: s.slice(n)}
}

func (c cloud) measure() {
	for i := range c.points.Rows {
		norm := 0.0
		for _, v := range row(c.points, i) {
			norm += v * v
		}
		c.norms[i] = norm
	}
}

// near reports whether points at squared distance d2 are so near, for the sum
// of their squared norms, that expanding the square cancels.
func near(d2, norms float64) bool { return d2 <= cancellation*norms }

// narrow is the number of columns up to which products are added up along the rows of the
// larger matrix: those of a matrix product would be sums of as few numbers.
const narrow = 8

// transposed borrows mᵀ.
func transposed(m blas64.General, s *scratch) blas64.General {
	t := s.matrix(m.Cols, m.Rows)
	for i := range m.Rows {
		for k, v := range row(m, i) {
			t.Data[k*t.Stride+i] = v
		}
	}
	return t
}

// squaredDistances fills dst with the squared distances between the points of
// u and v, by one matrix product; direct(i, j) supplies those of near pairs. It
// is for gradients, which contract the same clouds; covariances add up
// differences.
func squaredDistances(dst blas64.General, u, v cloud, s *scratch, direct func(i, j int) float64) {
	if u.points.Cols == 0 { // no numbers, all codes
		clear(dst.Data)
		return
	}
	if u.points.Cols <= narrow {
		before := s.mark()
		columns := transposed(v.points, s)
		for i := range dst.Rows {
			to := row(dst, i)
			clear(to)
			for k, x := range row(u.points, i) {
				floats.AddScaled(to, -2*x, row(columns, k))
			}
		}
		s.release(before)
	} else {
		level3.Gemm(blas.NoTrans, blas.Trans, -2, u.points, v.points, 0, dst)
	}
	for i, nu := range u.norms {
		to := row(dst, i)
		for j, nv := range v.norms {
			d2 := nu + nv + to[j]
			if near(d2, nu+nv) {
				d2 = direct(i, j)
			}
			to[j] = d2
		}
	}
}

// middle borrows and fills the mean of all rows of p. Subtracted from every
// row it leaves the distances as they are and makes the norms small, so that
// few pairs are near for them, and angles small, so that they keep their digits.
func middle(p pairs, s *scratch) []float64 {
	mean := s.slice(p.z.Cols)
	clear(mean)
	scale := 1 / float64(p.x.Rows+p.z.Rows)
	for _, m := range []blas64.General{p.x, p.z} {
		for i := range m.Rows {
			for k, v := range row(m, i) {
				mean[k] += v * scale
			}
		}
	}
	return mean
}
