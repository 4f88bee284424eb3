package kernel_test

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/kernel"
)

// farLeaves are the kernels of the language.
var farLeaves = []string{
	"rbf(variance=2, lengthscale=0.7)", "rbf(variance=1, lengthscale=[3, 0.1])", "matern12", "matern32(variance=3)", "matern52(lengthscale=2)",
	"additive(variance=[0.5, 2])", "linear(variance=[0.5, 2])", "periodic(period=3)", "constant(variance=0.3)", "white(variance=0.1)",
}

// compositions are all sums and products of leaves up to degree four in which a linear
// kernel takes part, as the others are bounded, and all of two.
func compositions() []string {
	all := append([]string{}, farLeaves...)
	for i, a := range farLeaves {
		for _, b := range farLeaves[i:] {
			all = append(all, a+" + "+b, a+" * "+b, "linear * ("+a+" + "+b+")", "linear * "+a+" * "+b, "linear * linear * "+a+" * "+b, "(linear + "+a+") * linear * linear * "+b)
		}
	}
	return all
}

// Up to 1e50 every kernel of one row with another is what it is one pair at a time, a
// number wherever that is one, and a leaf or a product of two linear ones always is. No
// size of a number does worse than to have no number come out.
func TestFarInputs(t *testing.T) {
	near := mat.NewDense(3, 2, []float64{0.3, -0.7, 1.1, 0.2, -2, 1})
	for n, text := range compositions() {
		k, err := kernel.Parse(text, 2)
		if err != nil {
			t.Fatal(err)
		}
		basis := k.Basis(near)
		for e := -324; e <= 308; e += 7 {
			for _, sign := range []float64{1, -1} {
				z := sign * math.Pow(10, float64(e))
				for _, row := range [][]float64{{z, 0.5}, {z, -z}} {
					var got mat.Dense
					basis.Cross(&got, mat.NewDense(1, 2, row))
					variance := k.Variance(row)
					if e > 50 {
						continue // beyond what kernels promise, and still here
					}
					if n < len(farLeaves) && !(variance >= 0 && variance <= math.MaxFloat64) {
						t.Errorf("%s: the variance of %v is %v", text, row, variance)
					}
					for j := range 3 {
						want := k.Cov(row, near.RawRowView(j))
						if n < len(farLeaves) && !finite(want) || finite(want) != finite(got.At(0, j)) {
							t.Errorf("%s of %v and %v: %v, pair by pair %v", text, row, near.RawRowView(j), got.At(0, j), want)
						}
						// The sums of a linear kernel may cancel; they are as good as
						// their terms.
						size := math.Sqrt(math.Abs(variance)) * math.Sqrt(k.Variance(near.RawRowView(j)))
						if lost := strings.Contains(text, "periodic") && e > 6; lost {
							continue // a rounding of the input is a part of the period
						}
						if finite(want) && !(math.Abs(got.At(0, j)-want) <= 1e-9*max(1, size)) {
							t.Errorf("%s of %v and %v: %v, pair by pair %v", text, row, near.RawRowView(j), got.At(0, j), want)
						}
					}
				}
			}
		}
	}
}

// Matrices of far rows with each other hold numbers, or what is none, and nothing
// panics on the way; nor do gradients.
func TestFarMatrices(t *testing.T) {
	for _, text := range compositions() {
		k, err := kernel.Parse(text, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, z := range []float64{5e-324, 1e10, 1e50, 1e160, math.MaxFloat64, math.Inf(1), math.NaN()} {
			x := mat.NewDense(4, 2, []float64{z, -z, z, z, 0, z, 1, 1})
			var gram mat.SymDense
			k.Gram(&gram, x)
			if got := k.WeightedGrad(nil, &gram, x); len(got) != k.NumParams() {
				t.Errorf("%s: %v", text, got)
			}
			k.Diag(nil, x)
		}
	}
}

func finite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }
