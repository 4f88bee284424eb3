package gp_test

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

// At far inputs a predictor and the views have numbers, and then the same ones, or none
// at all; what they say of the inputs beside them are the same bits as without.
func TestFarNewInputs(t *testing.T) {
	x := mat.NewDense(6, 2, []float64{0, 1, 1, 0, -1, 2, 2, 2, -2, -1, 0.5, -0.5})
	for _, text := range []string{
		"rbf + constant", "rbf(ard) + linear", "linear*linear*linear + rbf", "linear*linear*linear*linear + matern32",
		"(linear + periodic)*linear*(constant + matern12) + white", "linear*rbf",
	} {
		k, err := kernel.Parse(text, 2)
		if err != nil {
			t.Fatal(err)
		}
		p, err := gp.New(k, x)
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.Classify([]int{1, 0, 1, 1, 0, 0})
		if err != nil {
			t.Fatal(err)
		}
		r, err := infer.EP{}.Fit(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		f, ok := p.Predictor(context.Background(), r.Sites.Terms)
		if !ok {
			t.Fatalf("%s: no predictor", text)
		}
		var alone, around [1]float64
		f.Moments(mat.NewDense(1, 2, []float64{0.3, 0.4}), alone[:], around[:])
		for e := 0; e <= 308; e++ {
			for _, z := range []float64{math.Pow(10, float64(e)), -math.Pow(10, float64(e))} {
				var mean, variance [3]float64
				f.Moments(mat.NewDense(3, 2, []float64{0.3, 0.4, z, 1, 0.3, 0.4}), mean[:], variance[:])
				for _, i := range []int{0, 2} {
					if mean[i] != alone[0] || variance[i] != around[0] {
						t.Fatalf("%s: beside %g input %d has %g and %g, alone %g and %g", text, z, i, mean[i], variance[i], alone[0], around[0])
					}
				}
				var slow, slowVariance [1]float64
				infer.Gaussian{Gaussian: r.Q}.Moments(p.At(mat.NewDense(1, 2, []float64{z, 1})), slow[:], slowVariance[:])
				if variance[1] < 0 || slowVariance[0] < 0 {
					t.Fatalf("%s at %g: variances %g and %g", text, z, variance[1], slowVariance[0])
				}
				// Both lose to rounding what is small beside k(x,x), and each other's
				// overflows by a factor.
				prior := k.Variance([]float64{z, 1})
				if prior < 1e290 && !(math.Abs(mean[1]-slow[0]) <= 1e-6*math.Sqrt(prior) && math.Abs(variance[1]-slowVariance[0]) <= 1e-6*prior) {
					t.Errorf("%s at %g: %g and %g, by views %g and %g", text, z, mean[1], variance[1], slow[0], slowVariance[0])
				}
			}
		}
	}
}
