package kernel

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/internal/lanes"
)

// Additive returns the kernel of a sum of functions of one input column each,
//
//	k(x, z) = Σ_k variance_k · (1 + √3 r_k) exp(−√3 r_k),  r_k = |x_k − z_k|/lengthscale_k,
//
// with one value for all columns, or one for each. Where functions of all columns at once
// have to see rows in every corner before they know it, these learn each column from all
// rows. A column of codes is one column: a sum over the 0/1 columns it is short for would
// count those that are zero in both rows as an agreement.
func Additive(variance, lengthscale []float64) Kernel {
	return newKernel(newLeaf(&additive, slices.Clone(variance), slices.Clone(lengthscale)))
}

var additive = family{
	name:   "additive",
	groups: []group{{kind: Variance, perColumn: true}, {kind: Lengthscale, perColumn: true}},
	build: func(values [][]float64, codes int) function {
		f := separate{amplitudes: values[0], inverse: make([]float64, len(values[1])), codes: codes}
		for k, length := range values[1] {
			f.inverse[k] = 1 / length
		}
		return f
	},
}

// columnShape is how the covariance falls along each column.
var columnShape = shape{lanes.Matern32, 3}

// separate is Σ_k amplitude_k · κ(s_k), where s_k is the squared distance in column k,
// multiplied by inverse.
type separate struct {
	amplitudes, inverse []float64 // one for all columns, or one for each
	codes               int       // the last columns
}

// scale is what a squared difference in column k is multiplied by in the argument of κ.
func (f separate) scale(k int) float64 {
	inverse := ofColumn(f.inverse, k)
	return columnShape.scale * inverse * inverse
}

// squared is the squared difference in column k.
func (f separate) squared(k, columns int, a, b float64) float64 {
	if k >= columns-f.codes {
		return differ(a, b)
	}
	return (a - b) * (a - b)
}

func (f separate) cov(x, z []float64) float64 {
	total := 0.0
	for k := range x {
		value, _ := columnShape.decay.At(f.squared(k, len(x), x[k], z[k]), f.scale(k))
		total += ofColumn(f.amplitudes, k) * value
	}
	return total
}

func (f separate) variance(x []float64) float64 {
	total := 0.0
	for k := range x {
		total += ofColumn(f.amplitudes, k)
	}
	return total
}

// code is the covariance that a column of codes contributes.
func (f separate) code(k int, a, b float64) float64 {
	value, _ := columnShape.decay.At(differ(a, b), f.scale(k))
	return ofColumn(f.amplitudes, k) * value
}

// codeSlope is the derivative of code by the logarithm of the column's length scale.
func (f separate) codeSlope(k int, a, b float64) float64 {
	_, slope := columnShape.decay.At(differ(a, b), f.scale(k))
	return ofColumn(f.amplitudes, k) * slope * differ(a, b)
}

// onlyColumn is column k of m as a matrix.
func onlyColumn(m blas64.General, k int) blas64.General {
	return blas64.General{Rows: m.Rows, Cols: 1, Stride: m.Stride, Data: m.Data[k:]}
}

// columnwise is an additive kernel with one argument fixed.
type columnwise struct {
	separate
	strips []lanes.Strips // of every column of numbers
	coded  coded
}

func (f separate) against(z blas64.General, s *scratch) functions {
	c := columnwise{separate: f, strips: make([]lanes.Strips, z.Cols-f.codes), coded: newCoded(z, f.codes, f.code)}
	for k := range c.strips {
		c.strips[k] = strips(onlyColumn(z, k), s)
	}
	return c
}

func (c columnwise) fill(dst, x blas64.General, s *scratch) {
	defer s.release(s.mark())
	one := s.matrix(dst.Rows, dst.Cols)
	clear(dst.Data)
	for k := range c.strips {
		c.strips[k].Distances(one, onlyColumn(x, k))
		columnShape.decay.Apply(one.Data, ofColumn(c.amplitudes, k), c.scale(k))
		floats.Add(dst.Data, one.Data)
	}
	c.coded.add(dst, x)
}

// addGrad contracts w with the covariance of every column for its variance, and with slope
// times squared difference for its length scale.
func (f separate) addGrad(grad []float64, w blas64.General, p pairs, s *scratch) {
	defer s.release(s.mark())
	byVariance, byLength := grad[:len(f.amplitudes)], grad[len(f.amplitudes):]
	size := w.Rows * lanes.Padded(w.Cols)
	squares := blas64.General{Rows: w.Rows, Cols: lanes.Padded(w.Cols), Stride: lanes.Padded(w.Cols), Data: s.slice(size)}
	values, slopes := s.slice(size), s.slice(size)
	numbers := p.x.Cols - f.codes
	for k := range p.x.Cols {
		before := s.mark()
		var variance, length float64
		if k < numbers {
			strips(onlyColumn(p.z, k), s).Distances(squares, onlyColumn(p.x, k))
			copy(values, squares.Data)
			copy(slopes, squares.Data)
			columnShape.decay.Apply(values, ofColumn(f.amplitudes, k), f.scale(k))
			columnShape.decay.Slopes(slopes, ofColumn(f.amplitudes, k), f.scale(k))
			for i := range w.Rows {
				from := i * squares.Stride
				variance += floats.Dot(row(w, i), values[from:from+w.Cols])
				for j, weight := range row(w, i) {
					length += weight * slopes[from+j] * squares.Data[from+j]
				}
			}
		} else {
			covariances, falls := p.byCode(k, f.code, s), p.byCode(k, f.codeSlope, s)
			for i := range w.Rows {
				variance += floats.Dot(row(w, i), covariances.at(i))
				length += floats.Dot(row(w, i), falls.at(i))
			}
		}
		byVariance[min(k, len(byVariance)-1)] += variance
		byLength[min(k, len(byLength)-1)] += length
		s.release(before)
	}
}

// addVarianceGrad knows that a variance is the sum of the amplitudes.
func (f separate) addVarianceGrad(grad []float64, w []float64, x blas64.General) {
	total := floats.Sum(w)
	for k := range x.Cols {
		grad[min(k, len(f.amplitudes)-1)] += ofColumn(f.amplitudes, k) * total
	}
}
