package infer_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/corrected"
	"github.com/lossep/lossep/internal/problems"
)

// Views at every distance: whatever the posterior, what they read has moments that are
// numbers, and an expectation that is one, or neither is; those beside them are none the
// worse.
func TestFarViews(t *testing.T) {
	_, m := problems.DrawnProcess(t, rand.New(rand.NewPCG(3, 4)), 8, 2, 1)
	r := problems.FitEP(t, m)
	posteriors := map[string]infer.Posterior{
		"gaussian":   infer.Gaussian{Gaussian: r.Q},
		"factorised": corrected.New(m, r, corrected.Factorised),
		"paired":     corrected.New(m, r, corrected.Paired),
	}
	near := m.Views.Row(3)
	for name, p := range posteriors {
		var alone, around, chance, stderr [1]float64
		beside := gauss.NewViews(mat.NewDense(1, m.Dim(), append([]float64{}, near...)), nil, nil)
		p.Moments(beside, alone[:], around[:])
		p.Expect(beside, factor.Probit{Y: 1}, chance[:], stderr[:])
		for e := -320; e <= 308; e += 12 {
			for _, scale := range []float64{math.Pow(10, float64(e)), -math.Pow(10, float64(e)), math.Inf(1), math.NaN()} {
				for _, residual := range []float64{0, math.Abs(scale)} {
					a := mat.NewDense(2, m.Dim(), nil)
					a.SetRow(0, near)
					for j, v := range m.Views.Row(5) {
						if v != 0 {
							a.Set(1, j, scale*v)
						}
					}
					views := gauss.NewViews(a, nil, []float64{0, residual})
					var mean, variance, value, stderr [2]float64
					p.Moments(views, mean[:], variance[:])
					p.Expect(views, factor.Probit{Y: 1}, value[:], stderr[:])
					// Rounding depends on the shape of a matrix product.
					if math.Abs(mean[0]-alone[0]) > 1e-12 || math.Abs(variance[0]-around[0]) > 1e-12 || math.Abs(value[0]-chance[0]) > 1e-12 {
						t.Fatalf("%s beside %g: %g, %g and %g, alone %g, %g and %g", name, scale, mean[0], variance[0], value[0], alone[0], around[0], chance[0])
					}
					finite := math.Abs(mean[1]) <= math.MaxFloat64 && math.Abs(variance[1]) <= math.MaxFloat64
					if finite && !(variance[1] >= 0 && value[1] >= 0 && value[1] <= 1+1e-12) || !finite && !math.IsNaN(value[1]) {
						t.Errorf("%s at %g, residual %g: %g, %g and %g", name, scale, residual, mean[1], variance[1], value[1])
					}
				}
			}
		}
	}
}
