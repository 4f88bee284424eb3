package lab

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
)

// The special case has to be the general one.
func TestUtilityIsTheDecisionsOwn(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 50
	for _, u10 := range append(Utilities(), 0.999) {
		for _, size := range []float64{0.1, 1, 10, 100} {
			actions, m, v := make([]int, n), make([]float64, n), make([]float64, n)
			got, want := [2][]float64{make([]float64, n), make([]float64, n)}, [2][]float64{make([]float64, n), make([]float64, n)}
			for j := range n {
				actions[j], m[j], v[j] = rng.IntN(2), size*rng.NormFloat64(), rng.ExpFloat64()
				if size == 100 { // every action meets its worst outcome
					m[j] = math.Abs(m[j])
					actions[j] = 0
				}
			}
			u, err := newPaperUtility(u10, gauss.NewViews(mat.NewDense(n, 1, nil), nil, slices.Clone(v)))
			if err != nil {
				t.Fatal(err)
			}
			for j := range v { // some around the residual, some wider
				v[j] += float64(j % 3)
			}
			a := u.LogMean(actions, m, v, got[0], got[1])
			b := u.Utility.LogMean(actions, m, v, want[0], want[1])
			// 1e-13 of a probability, over a sum that is at least 1e-4 of its size.
			if math.Abs(a-b) > 1e-9 {
				t.Errorf("u10 = %v, size %v: log mean %v, want %v", u10, size, a, b)
			}
			for k := range got {
				for j := range n {
					if math.Abs(got[k][j]-want[k][j]) > 1e-9/n {
						t.Fatalf("u10 = %v, size %v: derivative %d of point %d is %v, want %v", u10, size, k+1, j, got[k][j], want[k][j])
					}
				}
			}
		}
	}
}

func BenchmarkUtility(b *testing.B) {
	const n = 1000
	actions, m, v := make([]int, n), make([]float64, n), make([]float64, n)
	for j := range n {
		m[j], v[j] = 3*math.Sin(float64(j)), 0.5
		if m[j] > 0 {
			actions[j] = 1
		}
	}
	u, err := newPaperUtility(0.5, gauss.NewViews(mat.NewDense(n, 1, nil), nil, slices.Clone(v)))
	if err != nil {
		b.Fatal(err)
	}
	d1, d2 := make([]float64, n), make([]float64, n)
	for b.Loop() {
		u.LogMean(actions, m, v, d1, d2)
	}
}
