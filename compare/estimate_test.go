package compare

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Student's own sleep data (1908), differences of the two drugs: R's
// t.test(extra ~ group, data = sleep, paired = TRUE) gives mean 1.58, the interval
// (0.7001142, 2.4598858), t = 4.0621 and p = 0.002833.
func TestMeanSleep(t *testing.T) {
	e, err := Mean([]float64{1.2, 2.4, 1.3, 1.3, 0, 1, 1.8, 0.8, 4.6, 1.4}, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	// Half a unit of the last digit printed there.
	for _, c := range []struct{ got, want, tolerance float64 }{
		{e.Mean, 1.58, 1e-14},
		{e.Low, 0.7001142, 5e-8},
		{e.High, 2.4598858, 5e-8},
		{e.Mean / e.StdErr, 4.0621, 5e-5},
		{e.P(0), 0.002833, 5e-7},
	} {
		if math.Abs(c.got-c.want) > c.tolerance {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

// With 1 and 2 degrees of freedom Student's quantiles are elementary: tan(π(q−½))
// and a√(2/(1−a²)), a = 2q−1.
func TestMeanClosedForm(t *testing.T) {
	for _, level := range []float64{0.5, 0.9, 0.95, 0.99, 0.9999} {
		two, err := Mean([]float64{-1, 1}, level) // s = √2, standard error 1
		if err != nil {
			t.Fatal(err)
		}
		three, err := Mean([]float64{-math.Sqrt(3), 0, math.Sqrt(3)}, level) // s = √3, standard error 1
		if err != nil {
			t.Fatal(err)
		}
		// gonum inverts the incomplete beta function to about 1e-10.
		for _, c := range []struct{ got, want float64 }{
			{two.High, math.Tan(math.Pi * level / 2)},
			{three.High, level * math.Sqrt(2/(1-level*level))},
		} {
			if math.Abs(c.got/c.want-1) > 1e-9 {
				t.Errorf("level %v: got %v, want %v", level, c.got, c.want)
			}
		}
	}
}

// The interval and the test are one statement: the bounds are the values supposed
// that are just significant.
func TestIntervalAndTestAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		folds := rapid.IntRange(2, 6).Draw(t, "folds")
		x := rapid.SliceOfN(rapid.Float64Range(-10, 10), 2*folds, 2*folds).Draw(t, "x")
		level := rapid.Float64Range(0.5, 0.99).Draw(t, "level")
		plain, err := Mean(x, level)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Resampled(x, folds, level)
		if err != nil {
			t.Fatal(err)
		}
		if e.Mean != plain.Mean || e.StdErr < plain.StdErr {
			t.Fatalf("resampled %+v, plain %+v", e, plain)
		}
		if !(e.StdErr > 1e-6) {
			return // bounds so near the mean that they round into it
		}
		for _, bound := range []float64{e.Low, e.High} {
			// The bound is rounded at a relative 1e-16 of 10, and the quantile at 1e-10.
			if p := e.P(bound); math.Abs(p-(1-level)) > 1e-7 {
				t.Fatalf("%+v: p at the bound is %v", e, p)
			}
		}
	})
}

func TestResampledVariance(t *testing.T) {
	x := []float64{1, 2, 4, 8, 3, 1, 0, 5, 6, 2} // 2 repetitions of 5 folds: s² = 6.4
	e, err := Resampled(x, 5, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	want := math.Sqrt(6.4 * (1.0/10 + 1.0/4))
	if math.Abs(e.StdErr-want) > 1e-15*want*4 || e.Mean != 3.2 {
		t.Errorf("%+v, want standard error %v", e, want)
	}
}

// Normal values with the correlation 1/folds that the correction supposes make its
// statistic exactly Student's, so that the interval covers as it says. The textbook
// interval does not, by far.
func TestResampledCoverage(t *testing.T) {
	const folds, repetitions, trials, level = 10, 3, 4000, 0.9
	rng := rand.New(rand.NewPCG(7, 7))
	x := make([]float64, folds*repetitions)
	corrected, plain := 0, 0
	for range trials {
		common := math.Sqrt(1.0/folds) * rng.NormFloat64()
		for i := range x {
			x[i] = common + math.Sqrt(1-1.0/folds)*rng.NormFloat64()
		}
		e, err := Resampled(x, folds, level)
		if err != nil {
			t.Fatal(err)
		}
		if e.Low <= 0 && 0 <= e.High {
			corrected++
		}
		if e, err = Mean(x, level); err != nil {
			t.Fatal(err)
		}
		if e.Low <= 0 && 0 <= e.High {
			plain++
		}
	}
	slack := 4 * math.Sqrt(level*(1-level)/trials) // four binomial standard errors
	if got := float64(corrected) / trials; math.Abs(got-level) > slack {
		t.Errorf("covers in %v of trials, stated %v", got, level)
	}
	if got := float64(plain) / trials; got > 0.75 {
		t.Errorf("uncorrected covers in %v of trials: the values are not correlated", got)
	}
}

func TestEstimateExtremes(t *testing.T) {
	var short *SampleError
	for _, x := range [][]float64{nil, {3}, {1e308, -1e308}, {1e200, -1e200}} {
		if _, err := Mean(x, 0.95); !errors.As(err, &short) {
			t.Errorf("%v: error %v", x, err)
		}
	}
	e, err := Mean([]float64{0.1, 0.1, 0.1}, 0.95)
	if err != nil || e.StdErr != 0 || e.Low != 0.1 || e.High != 0.1 || e.P(0.1) != 1 || e.P(0) != 0 {
		t.Errorf("constant: %+v, %v", e, err)
	}
	e, err = Mean([]float64{1, 2}, math.Nextafter(1, 0))
	if err != nil || math.IsInf(e.High, 0) || math.IsNaN(e.High) {
		t.Errorf("level almost 1: %+v, %v", e, err)
	}
	// A large common offset must not swamp the spread: 1e9 ± 1 has variance 1.
	e, err = Mean([]float64{1e9 - 1, 1e9, 1e9 + 1}, 0.95)
	if err != nil || math.Abs(e.StdErr-1/math.Sqrt(3)) > 1e-15 {
		t.Errorf("offset: %+v, %v", e, err)
	}
	for name, call := range map[string]func(){
		"level 1":      func() { _, _ = Mean([]float64{1, 2}, 1) },
		"level NaN":    func() { _, _ = Mean([]float64{1, 2}, math.NaN()) },
		"value NaN":    func() { _, _ = Mean([]float64{1, math.NaN()}, 0.9) },
		"one fold":     func() { _, _ = Resampled([]float64{1, 2}, 1, 0.9) },
		"broken round": func() { _, _ = Resampled([]float64{1, 2, 3}, 2, 0.9) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was taken", name)
				}
			}()
			call()
		}()
	}
}

func ExampleResampled() {
	// Cost per case of one method less that of another, 2 repetitions of 5 folds.
	diff := []float64{-0.12, -0.05, -0.08, 0.01, -0.11, -0.06, -0.09, -0.02, -0.10, -0.08}
	e, err := Resampled(diff, 5, 0.95)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f (%.3f to %.3f), p = %.3f\n", e.Mean, e.Low, e.High, e.P(0))
	// Output: -0.070 (-0.125 to -0.015), p = 0.018
}
