package numbers

import "slices"

// sample is the distribution of outcomes that have occurred, all as probable.
type sample []float64

func newSample(y []float64) sample { return slices.Sorted(slices.Values(y)) }

// Mean implements decision.Distribution.
func (s sample) Mean() float64 { return mean(s) }

// Quantile implements decision.Distribution: the smallest outcome that the share p does not exceed.
func (s sample) Quantile(p float64) float64 {
	return s[min(len(s)-1, max(0, int(p*float64(len(s)))))]
}

// Short implements decision.Distribution.
func (s sample) Short(a float64) float64 {
	return s.Expect(func(y float64) float64 { return max(a-y, 0) })
}

// Excess implements decision.Distribution.
func (s sample) Excess(a float64) float64 {
	return s.Expect(func(y float64) float64 { return max(y-a, 0) })
}

// Expect implements decision.Distribution.
func (s sample) Expect(g func(y float64) float64, _ ...float64) float64 {
	sum := 0.0
	for _, y := range s {
		sum += g(y)
	}
	return sum / float64(len(s))
}

// some are at most n of the outcomes, from the smallest to the largest.
func (s sample) some(n int) []float64 {
	if len(s) <= n {
		return s
	}
	few := make([]float64, n)
	for k := range few {
		few[k] = s[k*(len(s)-1)/(n-1)]
	}
	return few
}
