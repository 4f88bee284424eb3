package problems

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/kernel"
)

// Smooth is two-valued labels of a smooth function of d random inputs.
func Smooth(n, d int, seed uint64) (*mat.Dense, gp.Values) {
	rng := rand.New(rand.NewPCG(seed, 0))
	x := mat.NewDense(n, d, nil)
	terms := make([]factor.Factor, n)
	for i := range n {
		sum := 0.0
		for k := range d {
			v := rng.NormFloat64()
			x.Set(i, k, v)
			sum += math.Sin(2*v + float64(k))
		}
		y := 1
		if sum+0.5*rng.NormFloat64() < 0 {
			y = 0
		}
		terms[i] = factor.NewProbit(y)
	}
	return x, gp.Values{Factors: terms}
}

// Sectors draws inputs in the plane, with an outcome for each of so many sectors. Noise, in turns,
// is that of their borders.
func Sectors(rng *rand.Rand, n, number int, noise float64) (*mat.Dense, *gp.Outcomes) {
	x, o := mat.NewDense(n, 2, nil), &gp.Outcomes{Of: make([]int, n), Number: number}
	for i := range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		x.SetRow(i, []float64{a, b})
		angle := math.Atan2(b, a)/(2*math.Pi) + 1.5 + noise*rng.NormFloat64()
		o.Of[i] = int(float64(number)*angle) % number
	}
	return x, o
}

// Kernels are one kernel of each family, alone and composed, of two columns.
var Kernels = []string{
	"rbf(variance=1.3, lengthscale=0.8)", "rbf(variance=0.9, lengthscale=[0.8, 1.7])",
	"matern12(variance=1.3, lengthscale=0.8)", "matern12(variance=0.9, lengthscale=[0.8, 1.7])",
	"matern32(variance=1.3, lengthscale=0.8)", "matern32(variance=0.9, lengthscale=[0.8, 1.7])",
	"matern52(variance=1.3, lengthscale=0.8)", "matern52(variance=0.9, lengthscale=[0.8, 1.7])",
	"linear(variance=0.6)", "linear(variance=[0.6, 1.4])",
	"periodic(variance=1.2, lengthscale=1.1, period=2.3)",
	"constant(variance=0.7)", "matern32 + white(variance=0.4)",
	"matern32(variance=1.1, lengthscale=0.9) * linear(variance=0.8) + constant(variance=0.5)",
	"(rbf(variance=1.1, lengthscale=1.9) + constant(variance=0.4)) * (linear(variance=0.8) + white(variance=0.3))",
}

// Cloud are n inputs in d columns and labels that a wavy function of them makes,
// with some noise.
func Cloud(n, d int, seed uint64) (*mat.Dense, []int) {
	rng := rand.New(rand.NewPCG(seed, 3))
	x, y := mat.NewDense(n, d, nil), make([]int, n)
	for i := range n {
		for k := range d {
			x.Set(i, k, rng.NormFloat64())
		}
		f := 2*math.Sin(1.5*x.At(i, 0)) + x.At(i, d-1)
		if f+rng.NormFloat64() > 0 {
			y[i] = 1
		}
	}
	return x, y
}

// Likelihoods are the terms of a label that may be asked for.
var Likelihoods = map[string]func(y int) factor.Factor{
	"probit": func(y int) factor.Factor { return factor.NewProbit(y) },
	"logit":  func(y int) factor.Factor { return factor.NewLogit(y) },
	"robust": func(y int) factor.Factor { return factor.NewRobustProbit(y, 0.05) },
}

// Terms are the factors of labels.
func Terms(y []int, label func(y int) factor.Factor) []factor.Factor {
	t := make([]factor.Factor, len(y))
	for i := range y {
		t[i] = label(y[i])
	}
	return t
}

// Parse reads a kernel.
func Parse(t testing.TB, text string, dim int) kernel.Kernel {
	t.Helper()
	k, err := kernel.Parse(text, dim)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Forms are kernels with all leaves, compositions and parameters by column, of two columns.
var Forms = []string{
	"rbf", "matern12", "matern32", "matern52", "linear", "periodic", "constant + linear", "white + rbf",
	"rbf(ard)", "matern52(ard) + white", "linear(ard) + constant",
	"rbf(variance=0.7, lengthscale=[0.5, 2]) * linear + matern32 * periodic(variance=2, period=3) + white(variance=0.1)",
	"(rbf + linear) * (matern12(ard) + constant)",
}
