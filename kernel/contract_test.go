package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"
)

// The contractions are derivatives of weighted sums of covariances of different cases,
// and of variances.
func TestContractions(t *testing.T) {
	forLaws(t, func(t *testing.T, k Kernel) {
		x, z := lawInputs(11, severalTiles), lawInputs(12, 7)
		rng := rand.New(rand.NewPCG(1, 1))
		w := mat.NewDense(severalTiles, 7, nil)
		w.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, w)
		diag := w.ColView(0).(*mat.VecDense).RawVector()
		weights := make([]float64, severalTiles)
		for i := range weights {
			weights[i] = diag.Data[i*diag.Inc]
		}
		cross := fd.Gradient(nil, func(logs []float64) (sum float64) {
			at := k.With(logs)
			for i := range severalTiles {
				for j := range 7 {
					sum += w.At(i, j) * at.Cov(x.RawRowView(i), z.RawRowView(j))
				}
			}
			return sum
		}, k.Params(nil), &fd.Settings{Formula: fd.Central})
		own := fd.Gradient(nil, func(logs []float64) (sum float64) {
			at := k.With(logs)
			for i, v := range weights {
				sum += v * at.Variance(x.RawRowView(i))
			}
			return sum
		}, k.Params(nil), &fd.Settings{Formula: fd.Central})
		gotCross, gotOwn := make([]float64, k.NumParams()), make([]float64, k.NumParams())
		k.AddCrossGrad(gotCross, w, x, z)
		k.AddDiagGrad(gotOwn, weights, x)
		for i, name := range k.ParamNames() {
			// Central differences are good to about 1e-9 of the sums, which are below 1e3.
			if math.Abs(gotCross[i]-cross[i]) > 1e-6*(1+math.Abs(cross[i])) {
				t.Errorf("∂/∂log %s of covariances: %v, by differences %v", name, gotCross[i], cross[i])
			}
			if math.Abs(gotOwn[i]-own[i]) > 1e-6*(1+math.Abs(own[i])) {
				t.Errorf("∂/∂log %s of variances: %v, by differences %v", name, gotOwn[i], own[i])
			}
		}
	})
}
