package orthant_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep/orthant"
)

// Three variables with pairwise correlation one half are all positive with
// probability one quarter.
func ExampleRegion_LogProb() {
	cov := mat.NewSymDense(3, []float64{
		1.0, 0.5, 0.5,
		0.5, 1.0, 0.5,
		0.5, 0.5, 1.0,
	})
	region, err := orthant.New(cov, []float64{0, 0, 0})
	if err != nil {
		log.Fatal(err)
	}
	p := region.LogProb(10000, 1)
	fmt.Printf("%.4f, known to 1 in 10,000: %v\n", math.Exp(p.Log), p.RelErr < 1e-4)
	// Output: 0.2500, known to 1 in 10,000: true
}

// Draws from a pair of negatively correlated variables that both exceed two
// standard deviations, an event of probability 2e-6.
func ExampleRegion_Sample() {
	cov := mat.NewSymDense(2, []float64{1, -0.5, -0.5, 1})
	region, err := orthant.New(cov, []float64{2, 2})
	if err != nil {
		log.Fatal(err)
	}
	draws := mat.NewDense(10000, 2, nil)
	stats, err := region.Sample(context.Background(), draws, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("acceptance rate %.1f, mean %.1f\n",
		stats.Rate(), stat.Mean(mat.Col(nil, 0, draws), nil))
	// Output: acceptance rate 1.0, mean 2.2
}
