package nuts_test

import (
	"context"
	"fmt"
	"math"

	"github.com/lossep/lossep/nuts"
)

// logGamma is the density of log X for X ~ Gamma(shape, 1); working with the
// logarithm removes the edge at zero.
type logGamma struct{ shape float64 }

func (g logGamma) Dim() int { return 1 }

func (g logGamma) LogDensity(x, grad []float64) float64 {
	grad[0] = g.shape - math.Exp(x[0])
	return g.shape*x[0] - math.Exp(x[0])
}

func ExampleSample() {
	newTarget := func() nuts.Target { return logGamma{shape: 3} }
	result, err := nuts.Sample(context.Background(), newTarget, nuts.Options{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, warning := range result.Warnings {
		fmt.Println(warning)
	}
	// Anything derived from the draws comes with its Monte Carlo error.
	mean, err := result.Map(func(x []float64) float64 { return math.Exp(x[0]) }).Estimate()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("E X = 3 within three standard errors: %t\n", math.Abs(mean.Mean-3) < 3*mean.MCSE)
	fmt.Printf("standard error below 0.05: %t\n", mean.MCSE < 0.05)
	// Output:
	// E X = 3 within three standard errors: true
	// standard error below 0.05: true
}

func ExampleSeries_Summarize() {
	// Two chains that do not agree.
	series := nuts.Series{
		{1, 2, 3, 2, 1, 2, 3, 2},
		{5, 6, 7, 6, 5, 6, 7, 6},
	}
	summary, err := series.Summarize()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("mean %.0f, R̂ %.2f\n", summary.Mean, summary.RHat)
	for _, warning := range summary.Warnings() {
		fmt.Println(warning.Kind)
	}
	// Output:
	// mean 4, R̂ 1.78
	// R̂ too high
	// bulk effective sample size too small
	// tail effective sample size too small
}
