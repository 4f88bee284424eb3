package kernel

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/internal/lanes"
	"github.com/lossep/lossep/level3"
)

// RBF returns the squared exponential kernel
//
//	k(x, z) = variance · exp(−½ Σ_k (x_k − z_k)²/lengthscale_k²)
//
// with one length scale for all input columns, or one for each of them.
func RBF(variance float64, lengthscale ...float64) Kernel {
	return newKernel(newLeaf(&rbf, []float64{variance}, slices.Clone(lengthscale)))
}

// Matern12 returns the Matérn kernel of smoothness 1/2,
//
//	k(x, z) = variance · exp(−r),  r² = Σ_k (x_k − z_k)²/lengthscale_k²,
//
// with one length scale for all input columns, or one for each of them.
func Matern12(variance float64, lengthscale ...float64) Kernel {
	return newKernel(newLeaf(&matern12, []float64{variance}, slices.Clone(lengthscale)))
}

// Matern32 returns the Matérn kernel of smoothness 3/2,
//
//	k(x, z) = variance · (1 + √3 r) exp(−√3 r),
//
// with r as in [Matern12].
func Matern32(variance float64, lengthscale ...float64) Kernel {
	return newKernel(newLeaf(&matern32, []float64{variance}, slices.Clone(lengthscale)))
}

// Matern52 returns the Matérn kernel of smoothness 5/2,
//
//	k(x, z) = variance · (1 + √5 r + 5/3 r²) exp(−√5 r),
//
// with r as in [Matern12].
func Matern52(variance float64, lengthscale ...float64) Kernel {
	return newKernel(newLeaf(&matern52, []float64{variance}, slices.Clone(lengthscale)))
}

var (
	rbf      = stationaryFamily("rbf", shape{lanes.Gaussian, 0.5})
	matern12 = stationaryFamily("matern12", shape{lanes.Exponential, 1})
	matern32 = stationaryFamily("matern32", shape{lanes.Matern32, 3})
	matern52 = stationaryFamily("matern52", shape{lanes.Matern52, 5})
)

func stationaryFamily(name string, p shape) family {
	return family{
		name: name,
		groups: []group{
			{kind: Variance, centre: unit},
			{kind: Lengthscale, perColumn: true, centre: func(s Scale, column int) float64 { return math.Sqrt(s.total(s.Variance, column)) }},
		},
		build: func(values [][]float64, codes int) function {
			f := stationary{shape: p, amplitude: values[0][0], inverse: make([]float64, len(values[1])), codes: codes}
			for k, length := range values[1] {
				f.inverse[k] = 1 / length
			}
			return f
		},
	}
}

// shape is how a correlation κ falls with the scaled squared distance s.
type shape struct {
	decay lanes.Decay
	scale float64 // of s in the decay's argument
}

// profile is κ at s, and slope = −2 dκ/ds, so that ∂κ/∂log ℓ_k = slope · (x_k − z_k)²/ℓ_k².
func (p shape) profile(s float64) (value, slope float64) { return p.decay.At(s, p.scale) }

// stationary is amplitude · κ(s), where s is the squared distance after
// multiplying the columns by inverse: one number for all, or one for each.
type stationary struct {
	shape     shape
	amplitude float64
	inverse   []float64
	codes     int // the last columns
}

// scale returns the reciprocal length scale of column k.
func (f stationary) scale(k int) float64 { return ofColumn(f.inverse, k) }

// ofColumn is the value of column k: the only one, or one of one for each column.
func ofColumn(values []float64, k int) float64 { return values[min(k, len(values)-1)] }

func (f stationary) squaredDistance(x, z []float64) float64 {
	s := 0.0
	for k, v := range x {
		d := (v - z[k]) * f.scale(k)
		s += d * d
	}
	return s
}

// code is what a column of codes adds to a squared distance.
func (f stationary) code(k int, a, b float64) float64 { return differ(a, b) * f.scale(k) * f.scale(k) }

func (f stationary) cov(x, z []float64) float64 {
	numbers := len(x) - f.codes
	s := f.squaredDistance(x[:numbers], z[:numbers])
	for k := numbers; k < len(x); k++ {
		s += f.code(k, x[k], z[k])
	}
	value, _ := f.shape.profile(s)
	return f.amplitude * value
}

func (f stationary) variance([]float64) float64 { return f.amplitude }

// scaled borrows the rows of m, less the middle, in units of the length scales.
func (f stationary) scaled(m blas64.General, middle []float64, s *scratch) cloud {
	c := newCloud(m.Rows, m.Cols, s)
	for i := range m.Rows {
		to := row(c.points, i)
		for k, v := range row(m, i) {
			to[k] = (v - middle[k]) * f.scale(k)
		}
	}
	c.measure()
	return c
}

// distances fills dst with the scaled squared distances of the pairs, as far as their
// numbers go, and returns the two clouds they are between.
func (f stationary) distances(dst blas64.General, p pairs, s *scratch) (u, v cloud) {
	p = p.numbers(f.codes)
	mean := middle(p, s)
	u, v = f.scaled(p.x, mean, s), f.scaled(p.z, mean, s)
	squaredDistances(dst, u, v, s, func(i, j int) float64 {
		return f.squaredDistance(row(p.x, i), row(p.z, j))
	})
	return u, v
}

// decaying is a stationary kernel with one argument fixed.
type decaying struct {
	stationary
	strips  lanes.Strips
	weights []float64 // 1/ℓ_k², nil if all are the same
	coded   coded
}

func (f stationary) against(z blas64.General, s *scratch) functions {
	numbers := numbersOf(z, f.codes)
	d := decaying{stationary: f, strips: strips(numbers, s)}
	if len(f.inverse) > 1 {
		d.weights = s.slice(numbers.Cols)
		for k := range d.weights {
			d.weights[k] = f.inverse[k] * f.inverse[k]
		}
		d.coded = newCoded(z, f.codes, f.code)
	} else {
		// In the units of the columns, as the distances are.
		d.coded = newCoded(z, f.codes, func(_ int, a, b float64) float64 { return differ(a, b) })
	}
	return d
}

func (d decaying) fill(dst, x blas64.General, _ *scratch) {
	numbers, scale := numbersOf(x, d.codes), d.shape.scale
	switch {
	case numbers.Cols == 0:
		clear(dst.Data)
	case d.weights != nil:
		d.strips.WeightedDistances(dst, numbers, d.weights)
	default:
		d.strips.Distances(dst, numbers)
	}
	d.coded.add(dst, x)
	if len(d.inverse) == 1 {
		scale = d.shape.scale * d.inverse[0] * d.inverse[0]
	}
	d.shape.decay.Apply(dst.Data, d.amplitude, scale)
}

// addGrad contracts amplitude · W∘κ for the variance and, for the length
// scales, M = amplitude · W∘slope with the squared differences.
func (f stationary) addGrad(grad []float64, w blas64.General, p pairs, s *scratch) {
	defer s.release(s.mark())
	m := s.matrix(w.Rows, w.Cols)
	u, v := f.distances(m, p, s)
	shared := len(f.inverse) == 1
	// Vector code takes whole vectors: what is beyond the matrix stays zero.
	values, slopes := s.slice(lanes.Padded(len(m.Data))), s.slice(lanes.Padded(len(m.Data)))
	whole := m // with the distances of the codes
	if f.codes > 0 {
		whole = s.matrix(w.Rows, w.Cols)
		copy(whole.Data, m.Data)
		f.addCodes(whole, p, s)
	}
	for _, to := range [][]float64{values, slopes} {
		clear(to[copy(to, whole.Data):])
	}
	f.shape.decay.Apply(values, f.amplitude, f.shape.scale)
	f.shape.decay.Slopes(slopes, f.amplitude, f.shape.scale)
	var variance, lengthscale float64
	for i := range m.Rows {
		to, weights := row(m, i), row(w, i)
		for j, d2 := range to {
			at := i*m.Stride + j
			variance += weights[j] * values[at]
			slope := weights[j] * slopes[at]
			slopes[at] = slope
			switch {
			case shared:
				lengthscale += slope * whole.Data[at]
			case near(d2, u.norms[i]+v.norms[j]):
				if d2 > 0 {
					f.addSquares(grad[1:], slope, row(p.x, i)[:u.points.Cols], row(p.z, j))
				}
				to[j] = 0
			default:
				to[j] = slope
			}
		}
	}
	grad[0] += variance
	if shared {
		grad[1] += lengthscale
		return
	}
	for k := p.x.Cols - f.codes; k < p.x.Cols; k++ {
		before := s.mark()
		apart := p.byCode(k, f.code, s)
		for i := range m.Rows {
			grad[1+k] += floats.Dot(slopes[i*m.Stride:i*m.Stride+m.Cols], apart.at(i))
		}
		s.release(before)
	}
	if u.points.Cols > 0 {
		addWeightedSquares(grad[1:], m, u.points, v.points, s)
	}
}

// addCodes adds the distances of the codes to those of the numbers. Those of cases that
// agree in all codes stay as they are.
func (f stationary) addCodes(dst blas64.General, p pairs, s *scratch) {
	for k := p.x.Cols - f.codes; k < p.x.Cols; k++ {
		before := s.mark()
		apart := p.byCode(k, f.code, s)
		for i := range dst.Rows {
			floats.Add(row(dst, i), apart.at(i))
		}
		s.release(before)
	}
}

// addVarianceGrad knows that a variance is the amplitude.
func (f stationary) addVarianceGrad(grad []float64, w []float64, _ blas64.General) {
	grad[0] += f.amplitude * floats.Sum(w)
}

// addSquares adds weight · (x_k − z_k)²/ℓ_k² to grad[k].
func (f stationary) addSquares(grad []float64, weight float64, x, z []float64) {
	for k := range x {
		d := (x[k] - z[k]) * f.scale(k)
		grad[k] += weight * d * d
	}
}

// addWeightedSquares adds Σ_ij m_ij (u_ik − v_jk)² to grad[k], by one matrix
// product: with row sums r and column sums c of m it is
//
//	Σ_i r_i u_ik² + Σ_j c_j v_jk² − 2 Σ_i u_ik (m v)_ik.
func addWeightedSquares(grad []float64, m, u, v blas64.General, s *scratch) {
	defer s.release(s.mark())
	columnSums := s.slice(m.Cols)
	clear(columnSums)
	mv := s.matrix(u.Rows, u.Cols)
	if u.Cols <= narrow {
		columns := transposed(v, s)
		for i := range m.Rows {
			for k := range u.Cols {
				mv.Data[i*mv.Stride+k] = -2 * floats.Dot(row(m, i), row(columns, k))
			}
		}
	} else {
		level3.Gemm(blas.NoTrans, blas.NoTrans, -2, m, v, 0, mv)
	}
	for i := range m.Rows {
		rowSum := 0.0
		for j, weight := range row(m, i) {
			rowSum += weight
			columnSums[j] += weight
		}
		products := row(mv, i)
		for k, x := range row(u, i) {
			grad[k] += x * (rowSum*x + products[k])
		}
	}
	for j, columnSum := range columnSums {
		for k, z := range row(v, j) {
			grad[k] += columnSum * z * z
		}
	}
}
