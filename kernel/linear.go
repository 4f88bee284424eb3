package kernel

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/internal/lanes"
	"github.com/lossep/lossep/level3"
)

// Linear returns the kernel of Bayesian linear regression without intercept,
//
//	k(x, z) = Σ_k variance_k x_k z_k,
//
// with one prior variance for the weights of all input columns, or one for
// each of them.
func Linear(variance ...float64) Kernel {
	return newKernel(newLeaf(&linear, slices.Clone(variance)))
}

var linear = family{
	name: "linear",
	// The centre is what makes the variance at a typical input 1.
	groups: []group{{kind: Variance, perColumn: true, centre: func(s Scale, column int) float64 { return 1 / s.total(s.Square, column) }}},
	build: func(values [][]float64, codes int) function {
		return dotProduct{variances: values[0], codes: codes}
	},
}

// dotProduct is the linear kernel; variances has one number for all columns or
// one for each.
type dotProduct struct {
	variances []float64
	codes     int // the last columns
}

func (f dotProduct) scale(k int) float64 { return ofColumn(f.variances, k) }

func (f dotProduct) cov(x, z []float64) float64 {
	total := 0.0
	numbers := len(x) - f.codes
	for k, v := range x[:numbers] {
		total += f.scale(k) * v * z[k]
	}
	for k := numbers; k < len(x); k++ {
		total += f.code(k, x[k], z[k])
	}
	return total
}

// code is what a column of codes contributes.
func (f dotProduct) code(k int, a, b float64) float64 { return f.scale(k) * agree(a, b) }

func (f dotProduct) variance(x []float64) float64 { return f.cov(x, x) }

// planes is the linear kernel with one argument fixed.
type planes struct {
	dotProduct
	strips lanes.Strips
	coded  coded
}

func (f dotProduct) against(z blas64.General, s *scratch) functions {
	return planes{f, strips(numbersOf(z, f.codes), s), newCoded(z, f.codes, f.code)}
}

func (p planes) fill(dst, x blas64.General, s *scratch) {
	defer s.release(s.mark())
	numbers := numbersOf(x, p.codes)
	scaled := s.matrix(x.Rows, numbers.Cols)
	for i := range x.Rows {
		to := row(scaled, i)
		for k, v := range row(numbers, i) {
			to[k] = p.scale(k) * v
		}
	}
	if numbers.Cols > 0 {
		p.strips.Dots(dst, scaled)
	} else {
		clear(dst.Data)
	}
	p.coded.add(dst, x)
}

// addVarianceGrad uses that a variance is Σ_k variance_k x_k².
func (f dotProduct) addVarianceGrad(grad []float64, w []float64, x blas64.General) {
	for i, weight := range w {
		for k, v := range row(x, i) {
			square := v * v
			if k >= x.Cols-f.codes {
				square = agree(v, v)
			}
			grad[min(k, len(grad)-1)] += weight * f.scale(k) * square
		}
	}
}

// addGrad uses ∂k/∂log variance_k = variance_k x_k z_k, whose weighted sum is
// variance_k Σ_i x_ik (W Z)_ik.
func (f dotProduct) addGrad(grad []float64, w blas64.General, p pairs, s *scratch) {
	defer s.release(s.mark())
	for k := p.x.Cols - f.codes; k < p.x.Cols; k++ {
		before := s.mark()
		both := p.byCode(k, f.code, s)
		for i := range p.x.Rows {
			grad[min(k, len(grad)-1)] += floats.Dot(row(w, i), both.at(i))
		}
		s.release(before)
	}
	if p = p.numbers(f.codes); p.x.Cols == 0 {
		return
	}
	wz := s.matrix(p.x.Rows, p.x.Cols)
	level3.Gemm(blas.NoTrans, blas.NoTrans, 1, w, p.z, 0, wz)
	for i := range p.x.Rows {
		products := row(wz, i)
		for k, v := range row(p.x, i) {
			grad[min(k, len(grad)-1)] += f.scale(k) * v * products[k]
		}
	}
}
