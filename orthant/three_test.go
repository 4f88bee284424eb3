package orthant_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/orthant"
)

// Three gives what Largest does, for random covariances, among them some in which one normal
// varies far more than the others, and two are all but the same.
func TestThree(t *testing.T) {
	worst := 0.0
	for seed := range 300 {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		root := mat.NewDense(3, 3, nil)
		root.Apply(func(i, _ int, _ float64) float64 { return rng.NormFloat64() * []float64{1, 1, 30}[i*(seed%2)] }, root)
		if seed%5 == 0 {
			row := root.RawRowView(0)
			floats.AddScaledTo(root.RawRowView(1), row, 1e-3, root.RawRowView(1))
		}
		cov := mat.NewSymDense(3, nil)
		cov.SymOuterK(1, root)
		if seed%3 == 0 {
			for c := range 3 {
				cov.SetSym(c, c, 1+cov.At(c, c))
			}
		}
		three, ok := orthant.NewThree(cov)
		if !ok {
			t.Fatalf("seed %d: none", seed)
		}
		var got, means [3][]float64
		number := 5
		if seed == 7 {
			number = 1100 // more than are taken at once
		}
		for c := range means {
			got[c], means[c] = make([]float64, number), make([]float64, number)
			for k := range means[c] {
				means[c][k] = float64(1+k%3) * rng.NormFloat64() * math.Sqrt(cov.At(c, c))
			}
		}
		three.Probabilities(got, means)
		want := make([]float64, 3)
		for k := range number {
			orthant.NewLargest(3).Probabilities(want, []float64{means[0][k], means[1][k], means[2][k]}, cov)
			worst = max(worst, floats.Distance([]float64{got[0][k], got[1][k], got[2][k]}, want, math.Inf(1)))
		}
	}
	// The rule is exact to 1e-8, Largest to 1e-10.
	t.Logf("off by %.2g at most", worst)
	if worst > 2e-8 {
		t.Errorf("probabilities are off by %v", worst)
	}
	if _, ok := orthant.NewThree(mat.NewSymDense(3, nil)); ok {
		t.Error("normals that do not vary")
	}
	nan := mat.NewSymDense(3, nil)
	nan.SetSym(1, 1, math.NaN())
	if _, ok := orthant.NewThree(nan); ok {
		t.Error("a variance that is no number")
	}
}

// BenchmarkThree takes a thousand means.
func BenchmarkThree(b *testing.B) {
	cov := mat.NewSymDense(3, []float64{3, 0.2, 0.1, 0.2, 2, 0.3, 0.1, 0.3, 4})
	three, _ := orthant.NewThree(cov)
	var p, means [3][]float64
	for c := range p {
		p[c], means[c] = make([]float64, 1000), make([]float64, 1000)
		for k := range means[c] {
			means[c][k] = float64((k*(c+1))%7) - 3
		}
	}
	for b.Loop() {
		three.Probabilities(p, means)
	}
}
