package normal_test

import (
	"fmt"
	"math"

	"github.com/lossep/lossep/normal"
)

func ExampleCDF() {
	fmt.Printf("%.10f\n", normal.CDF(1.96))
	// Output: 0.9750021049
}

func ExampleQuantile() {
	fmt.Printf("%.10f\n", normal.Quantile(0.975))
	// Output: 1.9599639845
}

// Where Φ itself has long underflowed, log Φ and its derivatives are exact.
func ExampleLogCDFDerivatives() {
	logCDF, first, second := normal.LogCDFDerivatives(-1e4)
	fmt.Printf("%.6f %.6f %.10f\n", logCDF, first, second)
	// Output: -50000010.129279 10000.000100 -0.9999999900
}

// The median of a standard normal variable known to exceed 50: half of the
// tail's probability, in logs, mirrored to the lower side.
func ExampleQuantileLog() {
	logTail := normal.LogCDF(-50)
	fmt.Printf("%.6f\n", -normal.QuantileLog(logTail+math.Log(0.5)))
	// Output: 50.013855
}
