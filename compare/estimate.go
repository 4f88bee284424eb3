package compare

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/normal"
)

// Estimate is an average with what is known of its error.
//
// Mean and StdErr are the textbook's, by the sums of independent units. The interval is
// that of a Bayesian bootstrap (Rubin 1981): the unknown distribution puts random
// weights, independent and exponential, on the units seen, and, where the range of the
// values is known, half a case's weight on each of its ends. For shares of yes and no
// that is the interval of Jeffreys. For losses it follows their skew, as Student's
// interval does not, and it does not end at the losses that happened to be seen: where
// no costly mistake was made among n cases, one in a few n may still be made. The ends
// are pulled apart by as much as Student's interval is wider than the normal one, which
// matters with few units only.
type Estimate struct {
	Mean float64
	// StdErr is the standard error of Mean.
	StdErr float64
	// Low and High bound the confidence interval at Level.
	Low, High, Level float64
	// N is the number of independent units averaged.
	N int

	atoms   []atom
	stretch float64
	draws   []float64 // in order, where the interval was drawn
}

// SampleError says that values do not suffice for an estimate.
type SampleError struct {
	N   int // independent values given
	Msg string
}

func (e *SampleError) Error() string { return e.Msg }

// Mean estimates the mean of independent values that count alike; see Cases.
func Mean(x []float64, within *Range, level float64) (Estimate, error) {
	return NewCases(len(x), nil, nil).Mean(x, within, level)
}

// P is the two-sided probability of a mean at least this far from the value supposed. It
// is below 1−Level exactly when the value lies outside the interval. Values without
// any spread give 1 or 0.
func (e Estimate) P(mean float64) float64 {
	if mean == e.Mean {
		return 1
	}
	// The mean itself is not outside its interval, however skewed.
	tail := e.below(mean)
	if mean > e.Mean {
		tail = 1 - tail
	}
	return min(1, 2*tail)
}

// below is the probability of a mean at or below a value.
func (e Estimate) below(value float64) float64 {
	if e.draws == nil {
		return below(e.atoms, e.Mean+(value-e.Mean)/e.stretch)
	}
	k, _ := slices.BinarySearch(e.draws, value)
	return (float64(k) + 0.5) / float64(len(e.draws)+1)
}

// Needed is how many independent units would tell a mean of this size, with a spread as
// seen, from zero in power of all samples. It goes by P(0), as the interval does, so that
// units that do not tell it from zero are never said to suffice. It is infinite for a mean
// of zero.
func (e Estimate) Needed(power float64) float64 {
	z := normal.Quantile(power) - normal.Quantile((1-e.Level)/2)
	return float64(e.N) * math.Pow(z/normal.Quantile(e.P(0)/2), 2)
}

// atom is count cases, whole or not, that are alike: the sum of their values by their
// weights, and their weight.
type atom struct{ sum, weight, count float64 }

const (
	// halfCase is the weight at each end of the range, as in the prior of Jeffreys.
	halfCase = 0.5
	// differenceCase is that where values of the same cases are compared; see docs/research/intervals.md
	// for the simulations by which it was chosen.
	differenceCase = 2.0 / 3
)

// spread finds the interval from units, and what of cases could have been.
func (e *Estimate) spread(units []atom) {
	least, most := math.Inf(1), math.Inf(-1)
	for _, u := range units {
		least, most = min(least, u.sum/u.weight), max(most, u.sum/u.weight)
	}
	e.atoms = merged(units)
	n := float64(e.N)
	tail := (1 - e.Level) / 2
	// The variance under exponential weights falls short of the unbiased one by the root.
	e.stretch = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(tail) / normal.Quantile(tail) * math.Sqrt((n+1)/(n-1))
	var low, high float64
	tasks.For(2, func(i int) {
		if i == 0 {
			low = quantile(e.atoms, tail, least, most)
		} else {
			high = quantile(e.atoms, 1-tail, least, most)
		}
	})
	e.Low = min(e.Mean, max(least, e.Mean+e.stretch*(low-e.Mean)))
	e.High = max(e.Mean, min(most, e.Mean+e.stretch*(high-e.Mean)))
	if e.High-e.Low <= 1e-12*math.Abs(e.Mean) { // values that differ by rounding
		e.Low, e.High = e.Mean, e.Mean
	}
}

// quantile is the value below which the mean lies with probability p.
func quantile(atoms []atom, p, least, most float64) float64 {
	for range 60 { // halvings: to the last bits of the range
		middle := least + (most-least)/2
		if below(atoms, middle) < p {
			least = middle
		} else {
			most = middle
		}
	}
	return least + (most-least)/2
}

// below is the probability that the mean Σ Gⱼsⱼ/Σ Gⱼwⱼ, with Gⱼ of Gamma(countⱼ), is at
// most t, that is, that X = Σ Gⱼaⱼ ≤ 0 for aⱼ = sⱼ − t·wⱼ. X has the cumulant generating
// function K(z) = −Σ countⱼ log(1 − z·aⱼ), and with K′(z) = 0 the formula of Lugannani
// and Rice (1980) gives
//
//	P(X ≤ 0) ≈ Φ(r) + φ(r)(1/r − 1/u),  r = sign(z)√(−2K(z)),  u = z√K″(z).
//
// For two atoms, whose law is the beta distribution, it is right to a tenth of a tail
// probability with half a case in the tail, and to a hundredth with one and a half.
func below(atoms []atom, t float64) float64 {
	low, high := math.Inf(-1), math.Inf(1) // between these K is finite
	for _, a := range atoms {
		switch d := a.sum - t*a.weight; {
		case d > 0:
			high = min(high, 1/d)
		case d < 0:
			low = max(low, 1/d)
		}
	}
	switch {
	case math.IsInf(high, 1):
		return 1
	case math.IsInf(low, -1):
		return 0
	}
	z := 0.0
	var k2 float64
	for range 200 {
		k1 := 0.0
		k2 = 0
		for _, a := range atoms {
			d := a.sum - t*a.weight
			r := d / (1 - z*d)
			k1 += a.count * r
			k2 += a.count * r * r
		}
		// Newton's steps within a shrinking bracket; K′ increases.
		if k1 > 0 {
			high = z
		} else {
			low = z
		}
		if math.Abs(k1) <= 1e-12*math.Sqrt(k2) {
			break
		}
		next := z - k1/k2
		if !(next > low && next < high) {
			next = low + (high-low)/2
		}
		if next == z {
			break
		}
		z = next
	}
	k0, k3 := 0.0, 0.0
	for _, a := range atoms {
		d := a.sum - t*a.weight
		r := d / (1 - z*d)
		k0 -= a.count * math.Log1p(-z*d)
		k3 += 2 * a.count * r * r * r
	}
	r := math.Copysign(math.Sqrt(max(0, -2*k0)), z)
	density := math.Exp(-r*r/2) / math.Sqrt(2*math.Pi)
	// At the mean itself both terms in brackets are infinite; their difference has a
	// limit. Halfway down in precision the two are as good.
	if math.Abs(r) < 1e-4 {
		return 0.5 + density*k3/(6*math.Pow(k2, 1.5))
	}
	return min(1, max(0, normal.CDF(r)+density*(1/r-1/(z*math.Sqrt(k2)))))
}
