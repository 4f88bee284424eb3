package orthant_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/orthant"
)

// Quick probabilities are those that are right to 1e-6, to two hundredths (of 40 problems to 0.012), of functions that depend on each other as
// much as those of a process far from data do; of three they are those, where no v makes them independent, too: what is
// common to the second and each of the others has the sign of (−2)·2.
func TestQuick(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	worst := 0.0
	for range 12 {
		n := 2 + rng.IntN(5)
		root := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				root.Set(i, j, 0.7*rng.NormFloat64())
			}
		}
		cov, mean := mat.NewSymDense(n, nil), make([]float64, n)
		cov.SymOuterK(1, root)
		for c := range n {
			cov.SetSym(c, c, 1+cov.At(c, c))
			mean[c] = rng.NormFloat64()
		}
		got, want := make([]float64, n), make([]float64, n)
		orthant.NewLargest(n).Quick(got, mean, cov)
		orthant.NewLargest(n).Probabilities(want, mean, cov)
		worst = max(worst, floats.Distance(got, want, math.Inf(1)))
		if math.Abs(floats.Sum(got)-1) > 1e-8 {
			t.Errorf("%v add up to %v", got, floats.Sum(got))
		}
	}
	cov, got, want := mat.NewSymDense(3, []float64{5, 0, -4, 0, 1, 0, -4, 0, 5}), make([]float64, 3), make([]float64, 3)
	orthant.NewLargest(3).Quick(got, []float64{0.3, 0, 0}, cov)
	orthant.NewLargest(3).Probabilities(want, []float64{0.3, 0, 0}, cov)
	if !floats.Equal(got, want) {
		t.Errorf("of three %v, want %v", got, want)
	}
	if t.Logf("off by %.2g at most", worst); worst > 0.02 {
		t.Errorf("off by %v", worst)
	}
}
