package gauss_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
)

// Views of something so far away that its covariances overflow predict no numbers, and
// those beside them what they predict alone.
func TestFarViews(t *testing.T) {
	const n = 5
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			k.SetSym(i, j, math.Exp(-0.1*float64((i-j)*(i-j))))
		}
	}
	root, err := gauss.NewRoot(k)
	if err != nil {
		t.Fatal(err)
	}
	natural := gauss.NewNatural(n)
	natural.SetStandard()
	natural.TimesScalars(root.Views(), []gauss.Scalar{{Nu: 1, Tau: 2}, {Nu: -1, Tau: 1}, {Nu: 0, Tau: 3}, {Nu: 2, Tau: 0.5}, {Nu: 1, Tau: 1}}, new(gauss.Workspace))
	g := gauss.NewGaussian(n)
	if err := g.Exchange(natural); err != nil {
		t.Fatal(err)
	}
	near := []float64{0.9, 0.7, 0.4, 0.2, 0.1}
	predict := func(cross []float64, variances []float64) (mean, variance []float64) {
		views := root.Project(mat.NewDense(len(variances), n, cross), variances)
		mean, variance = make([]float64, len(variances)), make([]float64, len(variances))
		g.Predict(views, mean, variance, new(gauss.Workspace))
		return mean, variance
	}
	alone, around := predict(append([]float64{}, near...), []float64{1})
	for _, far := range []float64{1e155, 1e200, 1e308, math.Inf(1), math.NaN()} {
		var cross []float64
		for range 2 {
			cross = append(append(cross, near...), far, -far, far, far, 0)
		}
		mean, variance := predict(cross, []float64{1, far * far, 1, far})
		for i := range mean {
			finite := !math.IsNaN(mean[i]) && !math.IsInf(mean[i], 0) && variance[i] < math.Inf(1)
			// Rounding depends on the shape of a matrix product.
			if near := math.Abs(mean[i]-alone[0]) < 1e-14 && math.Abs(variance[i]-around[0]) < 1e-14; i%2 == 0 && !near || i%2 == 1 && finite {
				t.Errorf("beside %g: view %d has mean %g and variance %g, alone %g and %g", far, i, mean[i], variance[i], alone[0], around[0])
			}
		}
	}
}
