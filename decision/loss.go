package decision

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Distribution is what is known of an outcome that is a number.
type Distribution interface {
	Mean() float64
	Quantile(p float64) float64
	// Short is E (a − y)⁺, and Excess E (y − a)⁺.
	Short(a float64) float64
	Excess(a float64) float64
	// Expect is E g(y), of a function that bends sharply at the given outcomes alone.
	Expect(g func(y float64) float64, kinks ...float64) float64
	// Finite tells whether there is such an expectation, of what is not below 0.
	Finite(g func(y float64) float64) bool
	// Whole tells whether outcomes are whole numbers from 0 on.
	Whole() bool
}

// Loss is what actions cost in one case whose outcome is a number. Actions are numbers, too, or the
// places of named ones.
type Loss interface {
	// Cost is that of an action under an outcome.
	Cost(action, outcome float64) float64
	// Expected is its mean under a distribution.
	Expected(action float64, d Distribution) float64
	// Free is the action of the least expected cost among all numbers.
	Free(d Distribution) float64
}

// Pinball costs Under for every unit that the action is below the outcome, and Over for every unit
// that it is above: the cost of ordering too little or too much.
type Pinball struct{ Under, Over float64 }

// Cost implements Loss.
func (c Pinball) Cost(action, outcome float64) float64 {
	return max(c.Under*(outcome-action), c.Over*(action-outcome))
}

// Expected implements Loss, of two parts that are not below 0: nothing cancels.
func (c Pinball) Expected(action float64, d Distribution) float64 {
	return c.Under*d.Excess(action) + c.Over*d.Short(action)
}

// Free implements Loss: the quantile at Under/(Under + Over).
func (c Pinball) Free(d Distribution) float64 { return d.Quantile(c.Under / (c.Under + c.Over)) }

// Formula is the cost of an action under an outcome as somebody wrote it down.
type Formula struct {
	Of func(action, outcome float64) float64
	// Bends are zero where the slope of Of jumps, besides where action and outcome are equal.
	Bends []func(action, outcome float64) float64
}

// Cost implements Loss.
func (f Formula) Cost(action, outcome float64) float64 { return f.Of(action, outcome) }

// Expected implements Loss, by quadrature that knows where slopes jump.
func (f Formula) Expected(action float64, d Distribution) float64 {
	kinks := []float64{action}
	if len(f.Bends) > 0 && !d.Whole() {
		lo, hi := d.Quantile(1e-6), d.Quantile(1-1e-6)
		for _, bend := range f.Bends { // inner ones first: between their zeros the others are straight, as a rule
			kinks = append(kinks, between(func(y float64) float64 { return bend(action, y) }, lo, hi, kinks)...)
		}
	}
	return d.Expect(func(y float64) float64 { return f.Of(action, y) }, kinks...)
}

// between are the zeros of a function in the pieces that kinks cut from lo to hi, of which the first and the last have no end.
func between(f func(y float64) float64, lo, hi float64, kinks []float64) (all []float64) {
	cuts := []float64{lo, hi}
	for _, k := range kinks {
		if lo < k && k < hi {
			cuts = append(cuts, k)
		}
	}
	slices.Sort(cuts)
	for i, b := range cuts[1:] {
		for _, at := range zeros(f, cuts[i], b) {
			if (i == 0 || at > cuts[i]) && (i+2 == len(cuts) || at < b) {
				all = append(all, at)
			}
		}
	}
	return all
}

// zeros are those of a function: of a straight line its only one, of others where the sign changes on a grid.
func zeros(f func(y float64) float64, lo, hi float64) (all []float64) {
	first, last := f(lo), f(hi)
	if off := f(lo+(hi-lo)/2) - (first/2 + last/2); math.Abs(off) <= 1e-9*(math.Abs(first)+math.Abs(last)) {
		if at := lo - first/(last-first)*(hi-lo); !math.IsNaN(at) && !math.IsInf(at, 0) {
			all = append(all, at)
		}
		return all
	}
	const points = 64
	for k := range points {
		a, b := lo+(hi-lo)*float64(k)/points, lo+(hi-lo)*float64(k+1)/points
		below := f(a) < 0
		if below == (f(b) < 0) {
			continue
		}
		for range 60 {
			if mid := a + (b-a)/2; (f(mid) < 0) == below {
				a = mid
			} else {
				b = mid
			}
		}
		all = append(all, a)
	}
	return all
}

// Free implements Loss: the best of a grid over what outcomes are likely to be, and then between its
// neighbours. It is infinite where the cost falls beyond all of them. An outcome that is known says nothing of how far
// from it the best action may be; there the grid begins with a share of its size.
func (f Formula) Free(d Distribution) float64 {
	lo, hi := d.Quantile(1e-3), d.Quantile(1-1e-3)
	if !(hi > lo) {
		w := max(math.Abs(lo), 1) / 16
		lo, hi = lo-w, hi+w
	}
	for range 6 {
		const points = 32
		best, least := 0, math.Inf(1)
		for k := range points + 1 {
			if c := f.Expected(lo+(hi-lo)*float64(k)/points, d); c < least {
				best, least = k, c
			}
		}
		width := hi - lo
		switch {
		case best == 0:
			lo -= 4 * width
		case best == points:
			hi += 4 * width
		default:
			return golden(lo+width*float64(best-1)/points, lo+width*float64(best+1)/points, func(a float64) float64 { return f.Expected(a, d) })
		}
	}
	if f.Expected(lo, d) < f.Expected(hi, d) {
		return math.Inf(-1)
	}
	return math.Inf(1)
}

// golden is the least of a function with one minimum, to the root of the precision of numbers.
func golden(lo, hi float64, f func(float64) float64) float64 {
	const ratio = 0.6180339887498949
	a, b := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	fa, fb := f(a), f(b)
	for range 44 {
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - ratio*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + ratio*(hi-lo)
			fb = f(b)
		}
	}
	return lo + (hi-lo)/2
}

// Stake is what is at stake in one case: a loss, and the actions that there are.
type Stake struct {
	Loss
	Actions
}

// Times is the stake of as many cases that are decided as one.
func (s Stake) Times(n float64) Stake {
	if c, ok := s.Loss.(Pinball); ok {
		s.Loss = Pinball{Under: n * c.Under, Over: n * c.Over}
		return s
	}
	of := s.Loss.(Formula)
	s.Loss = Formula{func(action, outcome float64) float64 { return n * of.Of(action, outcome) }, of.Bends}
	return s
}

// NumberChoice is the action of the least expected cost, and what its neighbours would cost.
type NumberChoice struct {
	Action, Expected       float64
	Lower, ExpectedLower   float64 // the same as Action where there is none
	Higher, ExpectedHigher float64
	AtEdge                 bool // of the range that was given: a wider one might cost less
}

// Choose finds it.
func (s Stake) Choose(d Distribution) NumberChoice {
	action, edge := s.Actions.best(s.Loss, d)
	return s.choice(action, edge, d)
}

// choice is what is known of an action that was chosen.
func (s Stake) choice(action float64, edge bool, d Distribution) NumberChoice {
	c := NumberChoice{Action: action, AtEdge: edge}
	c.Lower, c.Higher = s.Actions.beside(action, d)
	c.Expected, c.ExpectedLower, c.ExpectedHigher = s.Loss.Expected(c.Action, d), s.Loss.Expected(c.Lower, d), s.Loss.Expected(c.Higher, d)
	if f, ok := s.Loss.(Formula); ok && !d.Finite(func(y float64) float64 { return f.Of(c.Action, y) }) {
		c.Expected = math.Inf(1)
	}
	return c
}

// Best is the action alone.
func (s Stake) Best(d Distribution) float64 {
	action, _ := s.Actions.best(s.Loss, d)
	return action
}

// Actions are the numbers that can be chosen. The zero value is all of them.
type Actions struct {
	From, To float64 // both zero for no bounds
	Step     float64 // zero for all numbers between
	List     []float64
	Choices  []string // the names of actions that are no numbers
}

// called is what a message calls an action.
func (a *Actions) called(action float64) string {
	if a.Choices != nil {
		return "the action " + strconv.Quote(a.Choices[int(action)])
	}
	return fmt.Sprintf("action %v", action)
}

// bounded tells whether there are bounds.
func (a *Actions) bounded() bool { return a.From != 0 || a.To != 0 }

// isRange tells whether bounds and step make a range that is not too long.
func (a *Actions) isRange() bool {
	return a.To > a.From && !math.IsInf(a.To-a.From, 0) && a.Step >= 0 && a.Step <= a.To-a.From && (a.Step == 0 || (a.To-a.From)/a.Step <= mostSteps)
}

// mostSteps is the longest range of actions.
const mostSteps = 1e6

// Len is how many actions there are, 0 if they cannot be listed.
func (a *Actions) Len() int {
	switch {
	case a.Choices != nil:
		return len(a.Choices)
	case a.List != nil || a.Step == 0:
		return len(a.List)
	}
	return int(math.Floor((a.To-a.From)/a.Step*(1+1e-12))) + 1
}

// Listed are the actions, at even steps where they are more than so many; those of a range without
// steps are made up, and nil stands for all numbers.
func (a *Actions) Listed(most int) []float64 {
	all := a.all()
	if all == nil && a.bounded() {
		for k := range most {
			all = append(all, a.From+(a.To-a.From)*float64(k)/float64(most-1))
		}
	}
	if len(all) <= most {
		return all
	}
	few := make([]float64, most)
	for k := range few {
		few[k] = all[k*(len(all)-1)/(most-1)]
	}
	return few
}

// all are the actions, if they can be listed.
func (a *Actions) all() []float64 {
	if a.Choices != nil {
		numbers := make([]float64, len(a.Choices))
		for k := range numbers {
			numbers[k] = float64(k)
		}
		return numbers
	}
	if a.List != nil || a.Step == 0 {
		return a.List
	}
	numbers := make([]float64, a.Len())
	for k := range numbers {
		numbers[k] = a.From + float64(k)*a.Step
	}
	return numbers
}

// Nearest is the action that is the closest to a number.
func (a *Actions) Nearest(x float64) float64 {
	if a.Choices == nil && a.List == nil && a.Step > 0 { // of two as close the lower
		return a.From + a.Step*min(max(math.Ceil((x-a.From)/a.Step-0.5), 0), float64(a.Len()-1))
	}
	if all := a.all(); all != nil {
		return slices.MinFunc(all, func(a, b float64) int { return cmp.Compare(math.Abs(a-x), math.Abs(b-x)) })
	}
	if a.bounded() {
		return min(max(x, a.From), a.To)
	}
	return x
}

// best is the action of the least expected cost, and tells whether it is at the edge of its range.
func (a *Actions) best(l Loss, d Distribution) (best float64, edge bool) {
	if all := a.all(); all != nil {
		k := a.least(l, d, all)
		return all[k], a.Choices == nil && (k == 0 || k == len(all)-1) && len(all) > 1
	}
	best = l.Free(d)
	if a.bounded() {
		if edge = !(best > a.From && best < a.To); edge {
			best = min(max(best, a.From), a.To)
		}
	}
	return best, edge
}

// beside are the neighbours of an action: the next ones, or else a tenth of the distance between the quartiles away.
func (a *Actions) beside(best float64, d Distribution) (lower, higher float64) {
	if all := a.all(); all != nil {
		k, _ := slices.BinarySearch(all, best)
		return all[max(k-1, 0)], all[min(k+1, len(all)-1)]
	}
	from, to := math.Inf(-1), math.Inf(1)
	if a.bounded() {
		from, to = a.From, a.To
	}
	tenth := (d.Quantile(0.75) - d.Quantile(0.25)) / 10
	if d.Whole() && best == math.Trunc(best) {
		tenth, from = max(1, math.Round(tenth)), max(from, min(best, 0))
	}
	return max(best-tenth, from), min(best+tenth, to)
}

// least is the place of the cheapest: of costs that bend up alone, beside the best of all numbers.
func (a *Actions) least(l Loss, d Distribution, all []float64) int {
	from, to := 0, len(all)
	if p, ok := l.(Pinball); ok && slices.IsSorted(all) {
		k, _ := slices.BinarySearch(all, p.Free(d))
		from, to = max(0, k-1), min(len(all), k+1)
	}
	best, least := from, math.Inf(1)
	for k := from; k < to; k++ {
		if c := l.Expected(all[k], d); c < least {
			best, least = k, c
		}
	}
	return best
}
