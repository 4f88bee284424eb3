package gauss_test

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
)

// Bayesian linear regression: a standard Gaussian over intercept and slope, seen at
// x = 0, 1 and 2 with noise of variance 0.1.
func ExampleGaussian() {
	views := gauss.NewViews(mat.NewDense(3, 2, []float64{1, 0, 1, 1, 1, 2}), nil, nil)
	var sites []gauss.Scalar
	for _, y := range []float64{0.5, 1, 1.5} {
		sites = append(sites, gauss.ScalarFromMoments(y, 0.1))
	}
	var ws gauss.Workspace
	n := gauss.NewNatural(2)
	n.SetStandard()
	n.TimesScalars(views, sites, &ws)

	g := gauss.NewGaussian(2)
	if err := g.Exchange(n); err != nil {
		fmt.Println(err)
		return
	}
	mean, variance := make([]float64, 3), make([]float64, 3)
	g.Marginals(views, mean, variance, &ws)
	fmt.Printf("%.4f\n%.4f\n%.4f\n", g.Mean(), mean, variance)
	// Output:
	// [0.4846 0.4993]
	// [0.4846 0.9838 1.4831]
	// [0.0749 0.0323 0.0808]
}

// A site may have negative precision; what must be proper is the whole.
func ExampleGaussian_Exchange() {
	n := gauss.NewNatural(2)
	n.SetStandard()
	g := gauss.NewGaussian(2)

	n.TimesScalar([]float64{1, 1}, gauss.Scalar{Tau: -0.3}, 1)
	fmt.Println(g.Exchange(n))
	n.CopyFrom(g.Natural()) // n has changed places with what g was
	n.TimesScalar([]float64{1, 1}, gauss.Scalar{Tau: -0.3}, 1)
	fmt.Println(errors.Is(g.Exchange(n), gauss.ErrImproper))
	// Output:
	// <nil>
	// true
}
