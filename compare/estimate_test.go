package compare

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

func mustMean(t testing.TB, c *Cases, values []float64, within *Range, level float64) Estimate {
	t.Helper()
	e, err := c.Mean(values, within, level)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Student's own sleep data (1908), differences of the two drugs: R's
// t.test(extra ~ group, data = sleep, paired = TRUE) gives mean 1.58 and t = 4.0621.
func TestMeanSleep(t *testing.T) {
	e, err := Mean([]float64{1.2, 2.4, 1.3, 1.3, 0, 1, 1.8, 0.8, 4.6, 1.4}, nil, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	// Half a unit of the last digit printed there.
	if math.Abs(e.Mean-1.58) > 1e-14 || math.Abs(e.Mean/e.StdErr-4.0621) > 5e-5 {
		t.Errorf("%+v", e)
	}
	// Skewed to the right, and so is the interval.
	if !(e.High-e.Mean > e.Mean-e.Low) || e.Low < 0 {
		t.Errorf("interval %v to %v", e.Low, e.High)
	}
}

// The interval before Student's stretch.
func (e Estimate) bootstrapped() (low, high float64) {
	return e.Mean + (e.Low-e.Mean)/e.stretch, e.Mean + (e.High-e.Mean)/e.stretch
}

// For shares of yes and no the law is the beta distribution, and the interval is that of
// Jeffreys.
func TestShares(t *testing.T) {
	for _, n := range []int{5, 20, 200, 5000} {
		for _, k := range []int{1, 2, 4} {
			x := make([]float64, n)
			for i := range k {
				x[i] = 1
			}
			e := mustMean(t, NewCases(n, nil, nil), x, &Range{Least: 0, Most: 1}, 0.95)
			low, high := e.bootstrapped()
			law := distuv.Beta{Alpha: float64(k) + 0.5, Beta: float64(n-k) + 0.5}
			// The tail probabilities are right to a fiftieth. A stretched end may be cut off
			// at 0 or 1.
			for _, c := range []struct{ tail, end float64 }{{law.CDF(low), e.Low}, {1 - law.CDF(high), e.High}} {
				if math.Abs(c.tail/0.025-1) > 0.02 && c.end > 0 && c.end < 1 {
					t.Errorf("%d of %d: a tail of %v", k, n, c.tail)
				}
			}
		}
	}
	// None of a thousand: not 0 to 0. Jeffreys' upper end at 95 % is 0.0025.
	e := mustMean(t, NewCases(1000, nil, nil), make([]float64, 1000), &Range{Least: 0, Most: 1}, 0.95)
	if e.Low != 0 || math.Abs(e.High-0.0025) > 1e-4 {
		t.Errorf("none of 1000: %v to %v", e.Low, e.High)
	}
}

// With weights, groups and values of all kinds, the law against draws of its own.
func TestAgainstDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n, draws = 60, 200_000
	values, weights, groups := make([]float64, n), make([]float64, n), make([]int, n)
	for i := range values {
		values[i], weights[i], groups[i] = math.Exp(2*rng.NormFloat64()), 0.5+rng.Float64(), rng.IntN(25)
	}
	e := mustMean(t, NewCases(n, weights, groups), values, &Range{Least: 0, Most: 200}, 0.95)
	means := make([]float64, draws)
	for d := range means {
		sum, weight := 0.0, 0.0
		for _, a := range e.atoms {
			g := distuv.Gamma{Alpha: a.count, Beta: 1, Src: rng}.Rand()
			sum += g * a.sum
			weight += g * a.weight
		}
		means[d] = sum / weight
	}
	slices.Sort(means)
	for _, p := range []float64{0.005, 0.025, 0.1, 0.5, 0.9, 0.975, 0.995} {
		got := below(e.atoms, means[int(p*draws)])
		// Four standard errors of the draws, and the formula's own few hundredths: here half
		// a case at the end of the range is most of the spread.
		if tolerance := 4*math.Sqrt(p*(1-p)/draws) + 0.04*min(p, 1-p); math.Abs(got-p) > tolerance {
			t.Errorf("%v of draws, %v by the formula", p, got)
		}
	}
}

// The interval and the test are one statement: the bounds are the values supposed
// that are just significant.
func TestIntervalAndTestAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-10, 10), 3, 12).Draw(t, "x")
		level := rapid.Float64Range(0.5, 0.99).Draw(t, "level")
		e, err := Mean(x, &Range{Least: -30, Most: 30}, level)
		if err != nil {
			t.Fatal(err)
		}
		if !(e.StdErr > 1e-6) {
			return // bounds so near the mean that they round into it
		}
		for _, bound := range []float64{e.Low, e.High} {
			if bound == -30 || bound == 30 {
				continue // cut off
			}
			// The bound is rounded at a relative 1e-16 of 30.
			if p := e.P(bound); math.Abs(p-(1-level)) > 1e-6 {
				t.Fatalf("%+v: p at the bound is %v", e, p)
			}
		}
	})
}

// What must not matter does not: the order of cases, the unit of weights, the unit and
// the origin of values; and cases repeated within a group are one case.
func TestEstimateLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(4, 20).Draw(t, "n")
		x := rapid.SliceOfN(rapid.Float64Range(0, 5), n, n).Draw(t, "x")
		w := rapid.SliceOfN(rapid.Float64Range(0.1, 3), n, n).Draw(t, "w")
		g := rapid.SliceOfN(rapid.IntRange(0, n), n, n).Draw(t, "g")
		scale, shift := rapid.Float64Range(0.5, 2).Draw(t, "scale"), rapid.Float64Range(-2, 2).Draw(t, "shift")
		e, err := NewCases(n, w, g).Mean(x, &Range{Least: 0, Most: 5}, 0.9)
		if err != nil {
			return // all in one group
		}
		same := func(what string, f Estimate, err error, scale, shift float64) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range [][2]float64{{f.Mean, e.Mean}, {f.Low, e.Low}, {f.High, e.High}} {
				if want := shift + scale*c[1]; math.Abs(c[0]-want) > 1e-9*(1+math.Abs(want)) { // a search by halvings
					t.Fatalf("%s: %v, want %v", what, c[0], want)
				}
			}
		}
		y, v, turned := make([]float64, n), make([]float64, n), make([]float64, n)
		var xx, ww []float64
		var gg []int
		for i := range x {
			y[i], v[i], turned[i] = shift+scale*x[i], 7*w[i], x[n-1-i]
			xx, ww, gg = append(xx, x[i], x[i]), append(ww, 1, 1), append(gg, i, i)
		}
		f, err := NewCases(n, w, g).Mean(y, &Range{Least: shift, Most: shift + 5*scale}, 0.9)
		same("another unit", f, err, scale, shift)
		f, err = NewCases(n, v, g).Mean(x, &Range{Least: 0, Most: 5}, 0.9)
		same("another unit of weight", f, err, 1, 0)
		w, g = slices.Clone(w), slices.Clone(g)
		slices.Reverse(w)
		slices.Reverse(g)
		f, err = NewCases(n, w, g).Mean(turned, &Range{Least: 0, Most: 5}, 0.9)
		same("another order", f, err, 1, 0)

		if e, err = Mean(x, &Range{Least: 0, Most: 5}, 0.9); err == nil && e.StdErr > 0 {
			f, err = NewCases(2*n, ww, gg).Mean(xx, &Range{Least: 0, Most: 5}, 0.9)
			same("repeated within groups", f, err, 1, 0)
		}
	})
}

// A share of a part of the cases is that of the part by itself.
func TestRatioOfAPart(t *testing.T) {
	values, of := []float64{1, 0, 0, 0, 1, 1, 0, 0}, []float64{1, 0, 1, 0, 1, 1, 1, 0}
	e, err := NewCases(8, nil, nil).Ratio(values, of, &Range{Least: 0, Most: 1}, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Mean([]float64{1, 0, 1, 1, 0}, &Range{Least: 0, Most: 1}, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if e.Mean != want.Mean || e.StdErr != want.StdErr || e.Low != want.Low || e.High != want.High || e.N != 5 {
		t.Errorf("%+v, want %+v", e, want)
	}
}

// Of values that are as good as normal, 7.849 = (1.960 + 0.842)² times the squared ratio of
// spread to mean are needed; and whatever they are, more than there are exactly where these do
// not tell the mean from zero, in half of all samples.
func TestNeeded(t *testing.T) {
	x := make([]float64, 100)
	for i := range x {
		x[i] = 1 + 10*float64(1-2*(i%2))
	}
	e := mustMean(t, NewCases(100, nil, nil), x, nil, 0.95)
	// The interval of 100 values is some 2 % wider than that of a normal distribution.
	if got, want := e.Needed(0.8), 7.84888*100*100.0/99; math.Abs(got/want-1) > 0.05 {
		t.Errorf("%v cases, want %v", got, want)
	}
	for missed := range 40 { // few values differ from zero, and far
		x := make([]float64, 60)
		for i := range x {
			if i < 7 {
				x[i] = 1
			}
			if i > 58-missed/10 {
				x[i] = -float64(missed%10) / 2
			}
		}
		e := mustMean(t, NewCases(60, nil, nil), x, &Range{Least: -5, Most: 1}, 0.95)
		if unclear := e.P(0) > 0.05; e.Mean != 0 && unclear != (e.Needed(0.5) > 60) {
			t.Errorf("mean %v, P %v, but %v cases of 60 are needed", e.Mean, e.P(0), e.Needed(0.5))
		}
	}
}

func TestEstimateExtremes(t *testing.T) {
	var short *SampleError
	for _, x := range [][]float64{nil, {3}, {1e308, -1e308}, {1e200, -1e200}} {
		if _, err := Mean(x, nil, 0.95); !errors.As(err, &short) {
			t.Errorf("%v: error %v", x, err)
		}
	}
	e, err := Mean([]float64{0.1, 0.1, 0.1}, nil, 0.95)
	if err != nil || e.StdErr != 0 || e.Low != 0.1 || e.High != 0.1 || e.P(0.1) != 1 || e.P(0) != 0 {
		t.Errorf("constant: %+v, %v", e, err)
	}
	e, err = Mean([]float64{1, 2}, nil, math.Nextafter(1, 0))
	if err != nil || math.IsInf(e.High, 0) || math.IsNaN(e.High) {
		t.Errorf("level almost 1: %+v, %v", e, err)
	}
	// A large common offset must not swamp the spread: 1e9 ± 1 has variance 1.
	e, err = Mean([]float64{1e9 - 1, 1e9, 1e9 + 1}, nil, 0.95)
	if err != nil || math.Abs(e.StdErr-1/math.Sqrt(3)) > 1e-15 {
		t.Errorf("offset: %+v, %v", e, err)
	}
	// One value a million times the others, and a p far out in the tail.
	e, err = Mean([]float64{1e-6, 2e-6, 1, 1.5e-6}, &Range{Least: 0, Most: 20}, 0.95)
	if err != nil || !(e.Low >= 0 && e.Low < e.Mean && e.Mean < e.High && e.High <= 20) {
		t.Errorf("one large: %+v, %v", e, err)
	}
	many := make([]float64, 1000)
	for i := range many {
		many[i] = 1 + float64(i%2)
	}
	if e, err = Mean(many, nil, 0.95); err != nil || !(e.P(1.4) > 0 && e.P(1.4) < 1e-8) {
		t.Errorf("far tail: %v, %v", e.P(1.4), err)
	}
	for name, call := range map[string]func(){
		"level 1":          func() { _, _ = Mean([]float64{1, 2}, nil, 1) },
		"level NaN":        func() { _, _ = Mean([]float64{1, 2}, nil, math.NaN()) },
		"value NaN":        func() { _, _ = Mean([]float64{1, math.NaN()}, nil, 0.9) },
		"negative weight":  func() { NewCases(2, []float64{1, -1}, nil) },
		"too few weights":  func() { NewCases(2, []float64{1}, nil) },
		"too many values":  func() { _, _ = NewCases(1, nil, nil).Mean([]float64{1, 2}, nil, 0.9) },
		"too short a part": func() { _, _ = NewCases(2, nil, nil).Ratio([]float64{1, 2}, []float64{1}, nil, 0.9) },
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

func ExampleCases_Mean() {
	// What 200 decisions cost: three misses at 20 each, thirty false alarms at 1.
	losses := make([]float64, 200)
	for i := range 33 {
		losses[i] = 1
		if i < 3 {
			losses[i] = 20
		}
	}
	e, err := NewCases(200, nil, nil).Mean(losses, &Range{Least: 0, Most: 20}, 0.95)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f (%.2f to %.2f)\n", e.Mean, e.Low, e.High)
	// Output: 0.45 (0.23 to 0.94)
}
