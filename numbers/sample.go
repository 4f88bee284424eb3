package numbers

import (
	"cmp"
	"slices"
	"sort"

	"github.com/lossep/lossep/internal/indices"
)

// sample is the distribution of outcomes that have occurred.
type sample struct {
	y    []float64 // ascending
	upTo []float64 // the probability of each and those before it; nil if all are as probable
}

// newSample is that of outcomes that count as much as their weights, or once each if these are nil.
func newSample(y, weights []float64) sample {
	if weights == nil {
		return sample{y: slices.Sorted(slices.Values(y))}
	}
	order := indices.Of(len(y))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(y[i], y[j]) })
	s := sample{indices.Take(y, order), indices.Take(weights, order)}
	for k := range s.upTo[1:] {
		s.upTo[k+1] += s.upTo[k]
	}
	for k := range s.upTo {
		s.upTo[k] /= s.upTo[len(y)-1]
	}
	return s
}

// Mean implements decision.Distribution.
func (s sample) Mean() float64 { return s.Expect(func(y float64) float64 { return y }) }

// Quantile implements decision.Distribution: the smallest outcome that the share p does not exceed.
func (s sample) Quantile(p float64) float64 {
	k := int(p * float64(len(s.y)))
	if s.upTo != nil {
		k = sort.Search(len(s.y), func(k int) bool { return s.upTo[k] > p })
	}
	return s.y[min(len(s.y)-1, max(0, k))]
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
	sum, share, last := 0.0, 1/float64(len(s.y)), 0.0
	for k, y := range s.y {
		if s.upTo != nil {
			share, last = s.upTo[k]-last, s.upTo[k]
		}
		sum += share * g(y)
	}
	return sum
}

// some are at most n of the outcomes, from the smallest to the largest.
func (s sample) some(n int) []float64 {
	if len(s.y) <= n {
		return s.y
	}
	few := make([]float64, n)
	for k := range few {
		few[k] = s.y[k*(len(s.y)-1)/(n-1)]
	}
	return few
}
