package kernel

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// Constant returns the kernel k(x, z) = variance: an unknown offset shared by
// all cases.
func Constant(variance float64) Kernel {
	return newKernel(newLeaf(&constant, []float64{variance}))
}

// White returns the kernel that is variance between a case and itself and zero
// between different cases, even if their inputs agree: independent noise. It
// adds to the diagonal of [Kernel.Gram], to [Kernel.Diag] and to
// [Kernel.Variance]; [Kernel.Cov] and [Kernel.Cross] are about different cases.
func White(variance float64) Kernel {
	return newKernel(newLeaf(&white, []float64{variance}))
}

var (
	constant = family{
		name:   "constant",
		groups: []group{{kind: Variance, centre: unit}},
		build:  func(values [][]float64, _ int) function { return flat(values[0][0]) },
	}
	white = family{
		name:   "white",
		groups: []group{{kind: Variance, centre: unit}},
		build:  func(values [][]float64, _ int) function { return noise(values[0][0]) },
	}
)

// flat is the same for all pairs.
type flat float64

func (f flat) cov(_, _ []float64) float64 { return float64(f) }
func (f flat) variance([]float64) float64 { return float64(f) }

// against is the same value whatever the case.
func (f flat) against(blas64.General, *scratch) functions { return f }

func (f flat) fill(dst, _ blas64.General, _ *scratch) {
	for i := range dst.Data {
		dst.Data[i] = float64(f)
	}
}

func (f flat) addGrad(grad []float64, w blas64.General, _ pairs, _ *scratch) {
	total := 0.0
	for i := range w.Rows {
		for _, weight := range row(w, i) {
			total += weight
		}
	}
	grad[0] += float64(f) * total
}

func (f flat) addVarianceGrad(grad []float64, w []float64, _ blas64.General) {
	grad[0] += float64(f) * floats.Sum(w)
}

// noise is zero but for a case and itself.
type noise float64

func (f noise) cov(_, _ []float64) float64 { return 0 }
func (f noise) variance([]float64) float64 { return float64(f) }

// against is nothing, of cases that all differ.
func (f noise) against(blas64.General, *scratch) functions { return flat(0) }

func (f noise) addGrad(grad []float64, w blas64.General, p pairs, _ *scratch) {
	if !p.same {
		return
	}
	trace := 0.0
	for i := range w.Rows {
		trace += row(w, i)[i]
	}
	grad[0] += float64(f) * trace
}

func (f noise) addVarianceGrad(grad []float64, w []float64, _ blas64.General) {
	grad[0] += float64(f) * floats.Sum(w)
}
