package kernel

import (
	"math"
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
	name: "additive",
	groups: []group{
		{kind: Variance, perColumn: true, centre: func(s Scale, _ int) float64 { return 1 / float64(len(s.Variance)) }},
		{kind: Lengthscale, perColumn: true, separate: true, centre: func(s Scale, column int) float64 {
			return math.Sqrt(s.total(s.Variance, column) / float64(len(s.Variance)))
		}},
	},
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

// columnwise is an additive kernel with one argument fixed.
//
// A pair of numbers takes no exponential of its own where each of the two has one; see
// lanes.Triples. Where the numbers of a column lie farther from zero than those allow, in
// units of the length scale, the column is gone over by itself.
type columnwise struct {
	separate
	// What the numbers are multiplied by, and the amplitudes; both zero for a column that is
	// gone over by itself.
	scales, near []float64
	triples      lanes.Triples
	far          []farColumn
	coded        coded
}

// farColumn is a column of numbers that is gone over by itself.
type farColumn struct {
	column int
	strips lanes.Strips
}

func (f separate) against(z blas64.General, s *scratch) functions {
	c := f.numbersAgainst(numbersOf(z, f.codes), s)
	c.coded = newCoded(z, f.codes, f.code)
	return c
}

// numbersAgainst is the functions without what codes contribute.
func (f separate) numbersAgainst(z blas64.General, s *scratch) columnwise {
	c := columnwise{separate: f, scales: s.slice(z.Cols), near: s.slice(z.Cols)}
	for k := range z.Cols {
		c.scales[k], c.near[k] = math.Sqrt(f.scale(k)), ofColumn(f.amplitudes, k)
		for i := range z.Rows {
			if !(math.Abs(row(z, i)[k])*c.scales[k] <= lanes.Reach) {
				c.scales[k], c.near[k] = 0, 0
				c.far = append(c.far, farColumn{k, strips(onlyColumn(z, k), s)})
				break
			}
		}
	}
	c.triples = lanes.NewTriples(z, c.scales, s.slice(lanes.TriplesSize(z.Rows, z.Cols)))
	return c
}

// probes borrows the numbers of the rows of x.
func (c *columnwise) probes(x blas64.General, s *scratch) lanes.Probes {
	return lanes.NewProbes(numbersOf(x, c.codes), c.scales, s.slice(lanes.ProbesSize(x.Rows, len(c.scales))))
}

func (c columnwise) fill(dst, x blas64.General, s *scratch) {
	defer s.release(s.mark())
	if len(c.scales) == 0 {
		clear(dst.Data)
	} else {
		c.triples.Matern32(dst, c.probes(x, s), c.near)
	}
	if len(c.far) > 0 {
		one := s.matrix(dst.Rows, dst.Cols)
		for _, far := range c.far {
			far.strips.Distances(one, onlyColumn(x, far.column))
			columnShape.decay.Apply(one.Data, ofColumn(c.amplitudes, far.column), c.scale(far.column))
			lanes.Add(dst.Data, one.Data, 0)
		}
	}
	c.coded.add(dst, x)
}

// onlyColumn is column k of m as a matrix.
func onlyColumn(m blas64.General, k int) blas64.General {
	return blas64.General{Rows: m.Rows, Cols: 1, Stride: m.Stride, Data: m.Data[k:]}
}

// addGrad contracts w with the covariance of every column for its variance, and with slope
// times squared difference for its length scale.
func (f separate) addGrad(grad []float64, w blas64.General, p pairs, s *scratch) {
	defer s.release(s.mark())
	byVariance, byLength := grad[:len(f.amplitudes)], grad[len(f.amplitudes):]
	add := func(k int, variance, length float64) {
		byVariance[min(k, len(byVariance)-1)] += variance
		byLength[min(k, len(byLength)-1)] += length
	}
	numbers := p.x.Cols - f.codes
	if numbers > 0 {
		c := f.numbersAgainst(numbersOf(p.z, f.codes), s)
		values, slopes := s.slice(numbers), s.slice(numbers)
		c.triples.Slopes(values, slopes, w, c.probes(p.x, s), s.slice(lanes.SlopesSize(numbers)))
		for k, amplitude := range c.near {
			add(k, amplitude*values[k], amplitude*slopes[k])
		}
		for _, far := range c.far {
			variance, length := f.contract(w, p, far, s)
			add(far.column, variance, length)
		}
	}
	for k := numbers; k < p.x.Cols; k++ {
		before := s.mark()
		var variance, length float64
		covariances, falls := p.byCode(k, f.code, s), p.byCode(k, f.codeSlope, s)
		for i := range w.Rows {
			variance += floats.Dot(row(w, i), covariances.at(i))
			length += floats.Dot(row(w, i), falls.at(i))
		}
		add(k, variance, length)
		s.release(before)
	}
}

// contract is what a column that is gone over by itself contributes to the gradient.
func (f separate) contract(w blas64.General, p pairs, far farColumn, s *scratch) (variance, length float64) {
	defer s.release(s.mark())
	k := far.column
	squares := s.matrix(w.Rows, lanes.Padded(w.Cols))
	far.strips.Distances(squares, onlyColumn(p.x, k))
	values, slopes := s.slice(len(squares.Data)), s.slice(len(squares.Data))
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
	return variance, length
}

// addVarianceGrad knows that a variance is the sum of the amplitudes.
func (f separate) addVarianceGrad(grad []float64, w []float64, x blas64.General) {
	total := floats.Sum(w)
	for k := range x.Cols {
		grad[min(k, len(f.amplitudes)-1)] += ofColumn(f.amplitudes, k) * total
	}
}
