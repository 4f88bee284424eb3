package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Cases says how much each case counts and which of them belong together. Cases of a
// group (the visits of one patient) are not independent, so the group is the unit:
// intervals are for as many independent units as there are groups.
type Cases struct {
	n      int
	weight []float64 // of each case; nil for one each
	unit   []int     // of each case; nil for its own
	units  int
	strata [][]int // the cases of each stratum; nil if there are none
}

// NewCases are n cases. Weights may be nil for one each, and groups for cases that are
// independent; cases with the same number in groups belong together. It panics if a
// weight is negative or not finite, or the lengths do not agree.
func NewCases(n int, weights []float64, groups []int) *Cases {
	if weights != nil && len(weights) != n || groups != nil && len(groups) != n {
		panic(fmt.Sprintf("compare: %d weights and %d groups for %d cases", len(weights), len(groups), n))
	}
	for i, w := range weights {
		if !(w >= 0 && w <= math.MaxFloat64) {
			panic(fmt.Sprintf("compare: weight %d is %v", i, w))
		}
	}
	c := &Cases{n: n, weight: weights, units: n}
	if groups != nil {
		number := make(map[int]int)
		c.unit = make([]int, n)
		for i, g := range groups {
			if _, seen := number[g]; !seen {
				number[g] = len(number)
			}
			c.unit[i] = number[g]
		}
		c.units = len(number)
	}
	return c
}

// Stratified are the same cases where the weight of each stratum is known, as that of an
// outcome is by its prevalence: chance is what happens within strata, and not how many
// cases they have. Strata are numbered from 0; means and differences of all cases heed
// them.
func (c *Cases) Stratified(stratum []int) *Cases {
	if len(stratum) != c.n {
		panic(fmt.Sprintf("compare: %d strata for %d cases", len(stratum), c.n))
	}
	s := *c
	s.strata = make([][]int, slices.Max(stratum)+1)
	for i, h := range stratum {
		if c.weightOf(i) > 0 {
			s.strata[h] = append(s.strata[h], i)
		}
	}
	return &s
}

func (c *Cases) weightOf(i int) float64 {
	if c.weight == nil {
		return 1
	}
	return c.weight[i]
}

func (c *Cases) unitOf(i int) int {
	if c.unit == nil {
		return i
	}
	return c.unit[i]
}

// Range is between what values can lie: those of all cases and, where strata differ in
// that, those of each.
type Range struct {
	Least, Most float64
	Strata      []Range
}

// of is the range in a stratum.
func (r *Range) of(stratum int) (least, most float64) {
	if r.Strata == nil {
		return r.Least, r.Most
	}
	return r.Strata[stratum].Least, r.Strata[stratum].Most
}

// Mean estimates the mean over all cases, each by its weight. The range, if it is known,
// says what a value could have been; see Estimate.
func (c *Cases) Mean(values []float64, within *Range, level float64) (Estimate, error) {
	return c.Ratio(values, nil, within, level)
}

// Ratio estimates Σ wᵢ·valuesᵢ / Σ wᵢ·ofᵢ, the mean over a part of the cases if of is 1
// there and 0 elsewhere, as values have to be too: of the positive cases, those found.
// A nil of stands for all cases. Fewer than two units that count, or values so large
// that their squares overflow, are a *SampleError. It panics if the level is not strictly
// between 0 and 1, a value is not finite, or lengths do not agree.
func (c *Cases) Ratio(values, of []float64, within *Range, level float64) (Estimate, error) {
	return c.estimate(values, of, within, halfCase, level)
}

// Difference estimates by how much the values of cases exceed others of the same cases,
// on average. Where two ways to decide differ in few cases, half a case at either end of
// the range is too little: a difference of zero would be called significant too often. It
// is two thirds here.
func (c *Cases) Difference(values, than []float64, within *Range, level float64) (Estimate, error) {
	if len(than) != len(values) {
		panic(fmt.Sprintf("compare: %d values and %d to compare them with", len(values), len(than)))
	}
	differences := make([]float64, len(values))
	for i := range values {
		differences[i] = values[i] - than[i]
	}
	return c.estimate(differences, nil, within, differenceCase, level)
}

// estimate is Ratio with so much of a case at each end of the range.
func (c *Cases) estimate(values, of []float64, within *Range, part, level float64) (Estimate, error) {
	if !(level > 0 && level < 1) {
		panic(fmt.Sprintf("compare: confidence level %v is not between 0 and 1", level))
	}
	if len(values) != c.n || of != nil && len(of) != c.n {
		panic(fmt.Sprintf("compare: %d values for %d cases", len(values), c.n))
	}
	var unseen []end
	if c.strata != nil && of == nil {
		values, unseen = c.centred(values, within)
	} else if within != nil {
		unseen = []end{{within.Least, 1}, {within.Most, 1}}
	}
	units, single, err := c.sums(values, of)
	if err != nil {
		return Estimate{}, err
	}
	e, weight, squares, err := pooled(units)
	if err != nil {
		return Estimate{}, err
	}
	e.Level = level
	each := weight * c.perCase(float64(e.N), squares, single, e.Mean) / float64(len(single))
	for _, u := range unseen {
		units = append(units, atom{u.value * each * u.weight, each * u.weight, part})
	}
	e.spread(units)
	return e, nil
}

// pooled is the mean over units with its standard error, their weight, and the sum of the squares around the mean.
func pooled(units []atom) (e Estimate, weight, squares float64, err error) {
	if len(units) < 2 {
		return e, 0, 0, &SampleError{len(units), fmt.Sprintf("%d independent cases have no measurable spread; give at least 2", len(units))}
	}
	e.N = len(units)
	n := float64(e.N)
	for i, u := range units {
		weight += u.weight
		e.Mean += (u.sum - u.weight*e.Mean) / weight
		if i == e.N-1 {
			e.Mean += residual(units, e.Mean) / weight // what rounding left in it
		}
	}
	for _, u := range units {
		squares += (u.sum - u.weight*e.Mean) * (u.sum - u.weight*e.Mean)
	}
	if !(squares <= math.MaxFloat64) {
		return e, 0, 0, &SampleError{e.N, "the values are too large for their variance to be computed; express them in a larger unit"}
	}
	e.StdErr = math.Sqrt(squares*n/(n-1)) / weight
	return e, weight, squares, nil
}

// MeanError is the mean over all cases, and its standard error. Errors are those of Ratio.
func (c *Cases) MeanError(values []float64) (mean, stdErr float64, err error) {
	units, _, err := c.sums(values, nil)
	if err != nil {
		return 0, 0, err
	}
	e, _, _, err := pooled(units)
	return e.Mean, e.StdErr, err
}

// end is a value that could have been, and how much a case there counts beside an average
// one.
type end struct{ value, weight float64 }

// centred moves the values of every stratum to the mean of all, which leaves that mean and
// takes away what the number of cases in strata would do to it. The ends of the range go
// with them.
func (c *Cases) centred(values []float64, within *Range) (moved []float64, unseen []end) {
	sums, weights := make([]float64, len(c.strata)), make([]float64, len(c.strata))
	sum, weight, n := 0.0, 0.0, 0
	for h, cases := range c.strata {
		for _, i := range cases {
			sums[h] += c.weightOf(i) * values[i]
			weights[h] += c.weightOf(i)
		}
		sum, weight, n = sum+sums[h], weight+weights[h], n+len(cases)
	}
	moved = slices.Clone(values)
	for h, cases := range c.strata {
		if len(cases) == 0 {
			continue
		}
		shift := sum/weight - sums[h]/weights[h]
		for _, i := range cases {
			moved[i] += shift
		}
		if within != nil {
			least, most := within.of(h)
			of := weights[h] / float64(len(cases)) / (weight / float64(n))
			unseen = append(unseen, end{least + shift, of}, end{most + shift, of})
		}
	}
	return moved, unseen
}

// sums adds up cases within units, and lists the cases that count by themselves too: the same list where each is a unit.
func (c *Cases) sums(values, of []float64) (units, single []atom, err error) {
	single = make([]atom, 0, len(values)) // of millions, it would be copied again and again
	if c.unit != nil {
		units = make([]atom, c.units)
	}
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			panic(fmt.Sprintf("compare: value %d is %v", i, v))
		}
		w, share := c.weightOf(i), 1.0
		if of != nil {
			share = of[i]
		}
		if !(w*share > 0) {
			continue
		}
		single = append(single, atom{w * v, w * share, 1})
		if unit := units; unit != nil {
			unit[c.unit[i]].sum += w * v
			unit[c.unit[i]].weight += w * share
		}
	}
	if units == nil {
		return single, single, nil
	}
	units = slices.DeleteFunc(units, func(u atom) bool { return u.weight == 0 })
	for k := range units {
		units[k].count = 1
	}
	return units, single, nil
}

// perCase is how many cases an independent one is worth: the design effect, by which
// groups widen the variance, between 1 and the size of a group. Seen in few groups it
// falls short as a rule, so it is pulled towards the size of a group by a third of the way
// (in logarithms), as simulations asked for.
func (c *Cases) perCase(units, squares float64, single []atom, mean float64) float64 {
	if c.unit == nil {
		return 1
	}
	alone := 0.0
	for _, s := range single {
		alone += (s.sum - s.weight*mean) * (s.sum - s.weight*mean)
	}
	size := float64(len(single)) / units
	if alone == 0 {
		return size
	}
	return math.Cbrt(math.Pow(min(max(squares/alone, 1), size), 2) * size)
}

func residual(units []atom, mean float64) float64 {
	rest := 0.0
	for _, u := range units {
		rest += u.sum - u.weight*mean
	}
	return rest
}

// merged joins atoms that are alike: losses take few different values as a rule.
func merged(atoms []atom) []atom {
	slices.SortFunc(atoms, func(a, b atom) int {
		return cmp.Or(cmp.Compare(a.sum, b.sum), cmp.Compare(a.weight, b.weight))
	})
	last := 0
	for _, a := range atoms[1:] {
		if a.sum == atoms[last].sum && a.weight == atoms[last].weight {
			atoms[last].count += a.count
			continue
		}
		last++
		atoms[last] = a
	}
	return atoms[:last+1]
}
