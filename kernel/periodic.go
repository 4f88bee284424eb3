package kernel

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/internal/lanes"
)

// Periodic returns the kernel
//
//	k(x, z) = variance · exp(−2 Σ_k sin²(π (x_k − z_k)/period) / lengthscale²),
//
// MacKay's periodic kernel in each input column with the period and the length
// scale shared by all. (A sine of the Euclidean distance, which some libraries
// use, is not positive definite in more than one column.)
func Periodic(variance, lengthscale, period float64) Kernel {
	return newKernel(newLeaf(&periodic, []float64{variance}, []float64{lengthscale}, []float64{period}))
}

var periodic = family{
	name: "periodic",
	// Sines have no scale; the period is two standard deviations of a typical column.
	groups: []group{
		{kind: Variance, centre: unit},
		{kind: Lengthscale, centre: func(s Scale, _ int) float64 { return math.Sqrt(float64(s.written)) }},
		{kind: Period, centre: func(s Scale, _ int) float64 { return 2 * math.Sqrt(s.total(s.Variance, -1)/float64(s.written)) }},
	},
	build: func(values [][]float64, codes int) function {
		return circular{amplitude: values[0][0], inverse: 1 / values[1][0], frequency: 1 / values[2][0], codes: codes}
	},
}

// circular is a squared exponential on circles: column x becomes the point
// (sin 2πx/p, cos 2πx/p), and two such points are 2|sin π(x − z)/p| apart.
type circular struct {
	amplitude float64
	// inverse and frequency are the reciprocals of length scale and period.
	inverse, frequency float64
	codes              int // the last columns
}

// squaredDistance is the squared distance on the circles in units of the
// length scale, so that k = amplitude · exp(−squaredDistance/2).
func (f circular) squaredDistance(x, z []float64) float64 {
	total := 0.0
	numbers := len(x) - f.codes
	for k, v := range x[:numbers] {
		d := 2 * math.Sin(math.Pi*(v-z[k])*f.frequency) * f.inverse
		total += d * d
	}
	for k := numbers; k < len(x); k++ {
		total += f.code(k, x[k], z[k])
	}
	return total
}

// code is what a column of codes adds to a squared distance: 0/1 columns that differ are
// one apart.
func (f circular) code(_ int, a, b float64) float64 {
	d := 2 * math.Sin(math.Pi*f.frequency) * f.inverse
	return differ(a, b) * d * d
}

func (f circular) cov(x, z []float64) float64 {
	return f.amplitude * math.Exp(-f.squaredDistance(x, z)/2)
}

func (f circular) variance([]float64) float64 { return f.amplitude }

// wound borrows the rows of m wound on circles: sines in the even columns,
// cosines in the odd, both divided by the length scale.
func (f circular) wound(m blas64.General, middle []float64, s *scratch) cloud {
	c := newCloud(m.Rows, 2*m.Cols, s)
	for i := range m.Rows {
		to := row(c.points, i)
		for k, v := range row(m, i) {
			sin, cos := math.Sincos(2 * math.Pi * (v - middle[k]) * f.frequency)
			to[2*k], to[2*k+1] = sin*f.inverse, cos*f.inverse
		}
	}
	c.measure()
	return c
}

// distances fills dst with the squared distances of the pairs on the circles, as far as
// their numbers go, and returns the two wound clouds.
func (f circular) distances(dst blas64.General, p pairs, s *scratch) (u, v cloud) {
	p = p.numbers(f.codes)
	plain := f
	plain.codes = 0
	mean := middle(p, s)
	u, v = f.wound(p.x, mean, s), f.wound(p.z, mean, s)
	squaredDistances(dst, u, v, s, func(i, j int) float64 {
		return plain.squaredDistance(row(p.x, i), row(p.z, j))
	})
	return u, v
}

// waves is the periodic kernel with one argument fixed.
type waves struct {
	circular
	middle []float64
	strips lanes.Strips // of the cases wound on circles
	coded  coded
}

func (f circular) against(z blas64.General, s *scratch) functions {
	numbers := numbersOf(z, f.codes)
	mean := middle(pairs{z: numbers}, s)
	return waves{f, mean, strips(f.wound(numbers, mean, s).points, s), newCoded(z, f.codes, f.code)}
}

func (w waves) fill(dst, x blas64.General, s *scratch) {
	defer s.release(s.mark())
	if numbers := numbersOf(x, w.codes); numbers.Cols > 0 {
		w.strips.Distances(dst, w.wound(numbers, w.middle, s).points)
	} else {
		clear(dst.Data)
	}
	w.coded.add(dst, x)
	lanes.Gaussian.Apply(dst.Data, w.amplitude, 0.5)
}

// addVarianceGrad knows that a variance is the amplitude.
func (f circular) addVarianceGrad(grad []float64, w []float64, _ blas64.General) {
	grad[0] += f.amplitude * floats.Sum(w)
}

// addGrad uses, with k the covariance, δ_k = x_k − z_k and S the squared
// distance on the circles,
//
//	∂k/∂log lengthscale = k · S,
//	∂k/∂log period      = k · Σ_k (2πδ_k/period) sin(2πδ_k/period) / lengthscale²,
//
// and takes the sine of the difference from the sines and cosines at hand.
func (f circular) addGrad(grad []float64, w blas64.General, p pairs, s *scratch) {
	defer s.release(s.mark())
	square := s.matrix(w.Rows, w.Cols)
	u, v := f.distances(square, p, s)
	apart := math.Sin(2*math.Pi*f.frequency) * f.inverse * f.inverse // of 0/1 columns that differ
	var variance, lengthscale, period float64
	for i := range w.Rows {
		x, a, weights := row(p.x, i), row(u.points, i), row(w, i)
		for j, d2 := range row(square, i) {
			z, b := row(p.z, j), row(v.points, j)
			turn := 0.0
			numbers := len(x) - f.codes
			for k := range numbers {
				turn += (x[k] - z[k]) * (a[2*k]*b[2*k+1] - a[2*k+1]*b[2*k])
			}
			for k := numbers; k < len(x); k++ {
				d2 += f.code(k, x[k], z[k])
				turn += differ(x[k], z[k]) * apart
			}
			weighted := weights[j] * f.amplitude * math.Exp(-d2/2)
			variance += weighted
			lengthscale += weighted * d2
			period += weighted * turn
		}
	}
	grad[0] += variance
	grad[1] += lengthscale
	grad[2] += 2 * math.Pi * f.frequency * period
}
