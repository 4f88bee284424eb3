package compare

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Estimate is an average with what is known of its error.
type Estimate struct {
	Mean float64
	// StdErr is the standard error of Mean.
	StdErr float64
	// Low and High bound the confidence interval at Level.
	Low, High, Level float64
	// N is the number of values averaged. The interval has N−1 degrees of freedom.
	N int
}

// SampleError says that values do not suffice for an estimate.
type SampleError struct {
	N   int // values given
	Msg string
}

func (e *SampleError) Error() string { return e.Msg }

// Mean estimates the mean of independent values: standard error s/√n and Student's
// interval at a confidence level such as 0.95. Fewer than two values, or values so
// large that their squares overflow, are a *SampleError. It panics if level is not
// strictly between 0 and 1, or a value is not finite.
func Mean(x []float64, level float64) (Estimate, error) {
	return estimate(x, level, 0)
}

// Resampled estimates the mean of x, one value per fold of repeated cross-validation
// with the given number of folds, R repetitions one after the other. Any two training
// sets share most of their cases, so fold values are correlated and s/√n claims too
// much. Nadeau and Bengio (2003) take the correlation as the share of cases in a test
// fold, which gives the variance of the mean
//
//	s² (1/n + n_test/n_train),   n_test/n_train = 1/(folds−1),
//
// for n = R·folds values, with n−1 degrees of freedom. Repetitions sharpen the first
// term only: the second is what one data set cannot tell. Differences between two
// methods on the same folds give a paired comparison; see Estimate.P.
//
// It panics if folds is below 2 or does not divide len(x), and as Mean does.
func Resampled(x []float64, folds int, level float64) (Estimate, error) {
	if folds < 2 || len(x)%folds != 0 {
		panic(fmt.Sprintf("compare: %d values for repetitions of %d folds", len(x), folds))
	}
	return estimate(x, level, 1/float64(folds-1))
}

// estimate is Student's interval for a mean with variance s²(1/n + shared).
func estimate(x []float64, level, shared float64) (Estimate, error) {
	if !(level > 0 && level < 1) {
		panic(fmt.Sprintf("compare: confidence level %v is not between 0 and 1", level))
	}
	n := float64(len(x))
	if len(x) < 2 {
		return Estimate{}, &SampleError{len(x), fmt.Sprintf("%d values have no measurable spread; give at least 2", len(x))}
	}
	mean := 0.0
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			panic(fmt.Sprintf("compare: value %d is %v", i, v))
		}
		mean += (v - mean) / float64(i+1)
	}
	squares, rest := 0.0, 0.0
	for _, v := range x {
		squares += (v - mean) * (v - mean)
		rest += v - mean // what rounding left in the mean
	}
	mean += rest / n
	squares -= rest * rest / n
	if !(squares <= math.MaxFloat64) {
		return Estimate{}, &SampleError{len(x), "the values are too large for their variance to be computed; express them in a larger unit"}
	}
	e := Estimate{Mean: mean, Level: level, N: len(x)}
	e.StdErr = math.Sqrt(max(0, squares) / (n - 1) * (1/n + shared))
	reach := -e.student().Quantile((1-level)/2) * e.StdErr // the lower tail: 1−level keeps its digits
	e.Low, e.High = mean-reach, mean+reach
	return e, nil
}

// P is the two-sided probability, by the same Student distribution that the interval
// uses, of a mean at least this far from the value supposed. It is below 1−Level
// exactly when the value lies outside the interval. Values without any spread give 1
// or 0.
func (e Estimate) P(mean float64) float64 {
	distance := math.Abs(e.Mean - mean)
	if distance == 0 {
		return 1
	}
	if e.StdErr == 0 {
		return 0
	}
	return 2 * e.student().CDF(-distance/e.StdErr)
}

func (e Estimate) student() distuv.StudentsT {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(e.N - 1)}
}
