package normal

import (
	"math"
	"math/big"
	"testing"
)

// newtonCorrection returns the step a Newton iteration in arbitrary precision
// takes from x towards log Φ = logP. Newton's error is quadratic, so for an x
// that is right to 1e-13 the step is the error of x to 13 digits.
func newtonCorrection(x float64, logP *big.Float) float64 {
	ref := referenceAt(x)
	step, _ := quo(sub(logP, ref.logCDF), ref.hazard).Float64()
	return step
}

func TestQuantileAgainstReference(t *testing.T) {
	var probabilities []float64
	for p := 5e-324; p < 0.5; p *= 1.9 {
		probabilities = append(probabilities, p, 1-p)
	}
	for k := 1; k < 400; k++ {
		probabilities = append(probabilities, float64(k)/400)
	}
	// Towards ½, where x tends to zero: p − ½ is exact in float64, so x as a
	// function of the float64 p deserves, and gets, relative accuracy.
	for gap := 0.25; gap >= 0x1p-53; gap /= 2 {
		probabilities = append(probabilities, 0.5+gap, 0.5-gap)
	}
	worst := 0.0
	for _, p := range probabilities {
		if p == 1 {
			continue
		}
		x := Quantile(p)
		if p == 0.5 {
			if x != 0 {
				t.Errorf("Quantile(0.5) = %v", x)
			}
			continue
		}
		// The reference solves for min(p, 1 − p), exact in float64, so that
		// it is never asked for the log of a number close to one.
		lower, sign := p, 1.0
		if p > 0.5 {
			lower, sign = 1-p, -1
		}
		e := math.Abs(newtonCorrection(sign*x, refLog(bigOf(lower))) / x)
		worst = max(worst, e)
		if !(e <= tolerance) {
			t.Errorf("Quantile(%v) = %v: relative error %.2g", p, x, e)
		}
	}
	t.Logf("Quantile: worst relative error %.2g", worst)
}

func TestQuantileLogAgainstReference(t *testing.T) {
	var logs []float64
	for l := -1e-320; l > -1e18; l *= 1.9 {
		logs = append(logs, l)
	}
	for l := -12.0; l < 0; l += 0.01 {
		logs = append(logs, l)
	}
	logs = append(logs, -1e16, -math.Ln2, -0.99e20, -1.01e20, -1e60)
	worst := 0.0
	for _, logP := range logs {
		x := QuantileLog(logP)
		// Around logP = −log 2 the root passes zero while logP stays away from
		// it: a rounding of logP itself moves x by 1e-16 absolutely, so there
		// no relative accuracy exists and the error is measured against one.
		e := math.Abs(newtonCorrection(x, bigOf(logP))) / max(math.Abs(x), 1)
		worst = max(worst, e)
		if !(e <= tolerance) {
			t.Errorf("QuantileLog(%v) = %v: error %.2g", logP, x, e)
		}
	}
	t.Logf("QuantileLog: worst error %.2g", worst)
	// −√(2·MaxFloat64) to rounding: the other terms are 1e-305 of it.
	if got := QuantileLog(-math.MaxFloat64) / -math.Sqrt2 / math.Sqrt(math.MaxFloat64); math.Abs(got-1) > 1e-15 {
		t.Errorf("QuantileLog(-MaxFloat64) is off by the factor %v", got)
	}
}
