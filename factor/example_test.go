package factor_test

import (
	"fmt"
	"math"

	"github.com/lossep/lossep/factor"
)

// The three questions about one probit label at N(1, 4): what expectation
// propagation, and what variational inference ask of it.
func ExampleFactor() {
	var label factor.Factor = factor.Probit{Y: -1}
	logMean, slope, curvature := label.LogMean(1, 4)
	fmt.Printf("P(y = −1) = %.6f, slope %.6f, curvature %.6f\n", math.Exp(logMean), slope, curvature)
	meanLog, _, _ := label.MeanLog(1, 4)
	fmt.Printf("E log Φ(−f) = %.6f, at most %.6f\n", meanLog, logMean)
	// Output:
	// P(y = −1) = 0.327360, slope -0.493139, curvature -0.144558
	// E log Φ(−f) = -3.315768, at most -1.116694
}

// A utility of 1 below the threshold and 0.01 above: its expectation under N(0, 1)
// is the worth of leaving the reactor on.
func ExampleStep() {
	worth := factor.Step{T: 2, Below: 1, Above: 0.01}
	l, slope, _ := worth.LogMean(0, 1)
	fmt.Printf("%.6f %.6f\n", math.Exp(l), slope)
	// Output: 0.977477 -0.054683
}
