package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Where the weight of strata is known, what is the same for all cases of a stratum is known
// too, and the standard error is that of stratified samples.
func TestStrataThatAreKnown(t *testing.T) {
	const positive, negative, prevalence = 30, 50, 0.02
	stratum, weights := make([]int, positive+negative), make([]float64, positive+negative)
	constant, some := make([]float64, len(stratum)), make([]float64, len(stratum))
	for i := range stratum {
		weights[i] = (1 - prevalence) / negative
		if i < positive {
			stratum[i], weights[i], constant[i] = 1, prevalence/positive, 5
			some[i] = float64(5 * (i % 2))
		} else {
			some[i] = float64(i % 3 / 2)
		}
	}
	cases := NewCases(len(stratum), weights, nil).Stratified(stratum)
	within := &Range{Least: 0, Most: 5, Strata: []Range{{Least: 0, Most: 0}, {Least: 5, Most: 5}}}
	e := mustMean(t, cases, constant, within, 0.95)
	if math.Abs(e.Mean-0.1) > 1e-15 || e.High-e.Low > 1e-15 || e.P(0) != 0 {
		t.Errorf("always negative costs %v (%v to %v), p %v", e.Mean, e.Low, e.High, e.P(0))
	}
	e = mustMean(t, cases, some, &Range{Least: 0, Most: 5, Strata: []Range{{Least: 0, Most: 1}, {Least: 0, Most: 5}}}, 0.95)
	share, n := 16.0/50, float64(len(stratum))
	want := math.Sqrt((prevalence*prevalence*2.5*2.5/positive + (1-prevalence)*(1-prevalence)*share*(1-share)/negative) * n / (n - 1))
	if math.Abs(e.StdErr-want) > 1e-12 {
		t.Errorf("standard error %v, not %v", e.StdErr, want)
	}
}

// Rates of misses and of false alarms in samples of either outcome, and what they cost
// together at a prevalence: the interval holds that as often as it says.
func TestCoverageOfStrata(t *testing.T) {
	const runs, each, ratio, prevalence, missed, alarms = 1000, 100, 20, 0.05, 0.1, 0.2
	rng := rand.New(rand.NewPCG(1, 1))
	stratum, weights, losses := make([]int, 2*each), make([]float64, 2*each), make([]float64, 2*each)
	for i := range stratum {
		stratum[i], weights[i] = i/each, []float64{1 - prevalence, prevalence}[i/each]
	}
	cases := NewCases(2*each, weights, nil).Stratified(stratum)
	within := &Range{Least: 0, Most: ratio, Strata: []Range{{Least: 0, Most: 1}, {Least: 0, Most: ratio}}}
	held := 0
	for range runs {
		for i := range losses {
			losses[i] = 0
			if rng.Float64() < []float64{alarms, missed}[stratum[i]] {
				losses[i] = []float64{1, ratio}[stratum[i]]
			}
		}
		e := mustMean(t, cases, losses, within, 0.95)
		held += int(indicator(holds(prevalence*ratio*missed+(1-prevalence)*alarms, e.Low, e.High)))
	}
	// Two hundredths, as in the tables of docs/research/intervals.md, and three standard errors.
	if share, slack := float64(held)/runs, 0.02+3*math.Sqrt(0.95*0.05/runs); math.Abs(share-0.95) > slack {
		t.Errorf("the interval holds in %v", share)
	}
}

// A difference between parts of grouped cases that is none is called one as often as it may
// be.
func TestBootstrapOfGroups(t *testing.T) {
	const runs, groups, size = 400, 40, 5
	rng := rand.New(rand.NewPCG(2, 2))
	group, losses := make([]int, groups*size), make([]float64, groups*size)
	rejected := 0
	for range runs {
		for g := range groups {
			risk := 0.4 * rng.Float64()
			for k := range size {
				group[g*size+k], losses[g*size+k] = g, 5*indicator(rng.Float64() < risk)
			}
		}
		e := NewCases(len(group), nil, group).Bootstrap(func(w []float64) float64 {
			extra := w[len(group):]
			sums, totals := [2]float64{5 * extra[0], 5 * extra[2]}, [2]float64{extra[0] + extra[1], extra[2] + extra[3]}
			for i, g := range group {
				sums[g%2] += w[i] * losses[i]
				totals[g%2] += w[i]
			}
			return sums[0]/totals[0] - sums[1]/totals[1]
		}, losses, 4, 0.95, rng)
		rejected += int(indicator(e.P(0) < 0.05))
	}
	// The share is 0.05 but for three standard errors and two hundredths.
	if share := float64(rejected) / runs; math.Abs(share-0.05) > 0.02+3*math.Sqrt(0.05*0.95/runs) {
		t.Errorf("a difference of zero is called significant in %v", share)
	}
	t.Logf("significant in %v", float64(rejected)/runs)
}
