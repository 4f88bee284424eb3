package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// benchKernels are timed on inputs the size of German credit after coding:
// 1000 cases of 61 standardised columns.
var benchKernels = []string{"rbf", "rbf(ard)", "matern52(ard)", "periodic", "rbf(ard) + linear"}

func benchInputs() (x *mat.Dense, w *mat.SymDense) {
	rng := rand.New(rand.NewPCG(1, 2))
	return randomInputs(rng, 1000, 61), randomWeights(rng, 1000)
}

// benchKernel sets the length scales so that the covariances are neither all
// one nor all zero.
func benchKernel(text string) Kernel {
	k, err := Parse(text, 61)
	if err != nil {
		panic(err)
	}
	params := k.Params(nil)
	for i, p := range k.Describe() {
		if p.Kind == Lengthscale {
			params[i] = 2
		}
	}
	return k.With(params)
}

func BenchmarkGram(b *testing.B) {
	x, _ := benchInputs()
	for _, text := range benchKernels {
		b.Run(fmt.Sprintf("%s/N=1000/d=61", text), func(b *testing.B) {
			k := benchKernel(text)
			var gram mat.SymDense
			b.ReportAllocs()
			for b.Loop() {
				k.Gram(&gram, x)
			}
		})
	}
}

func BenchmarkCross(b *testing.B) {
	x, _ := benchInputs()
	for _, text := range benchKernels {
		b.Run(fmt.Sprintf("%s/N=1000/d=61", text), func(b *testing.B) {
			k := benchKernel(text)
			var cross mat.Dense
			b.ReportAllocs()
			for b.Loop() {
				k.Cross(&cross, x, x)
			}
		})
	}
}

func BenchmarkWeightedGrad(b *testing.B) {
	x, w := benchInputs()
	for _, text := range benchKernels {
		b.Run(fmt.Sprintf("%s/N=1000/d=61", text), func(b *testing.B) {
			k := benchKernel(text)
			grad := make([]float64, k.NumParams())
			b.ReportAllocs()
			for b.Loop() {
				k.WeightedGrad(grad, w, x)
			}
		})
	}
}

// randomInputs draws n standard normal cases of d columns.
func randomInputs(rng *rand.Rand, n, d int) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for k := range d {
			x.Set(i, k, rng.NormFloat64())
		}
	}
	return x
}

// randomWeights draws a symmetric n×n matrix of standard normals.
func randomWeights(rng *rand.Rand, n int) *mat.SymDense {
	w := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			w.SetSym(i, j, rng.NormFloat64())
		}
	}
	return w
}
