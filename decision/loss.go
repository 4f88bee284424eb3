package decision

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
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
	// Finite tells whether there is such an expectation, of what is not below 0 and may be infinite at the given outcomes alone.
	Finite(g func(y float64) float64, poles ...float64) bool
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

// Free is the action of the least expected cost among all numbers: the quantile at Under/(Under + Over).
func (c Pinball) Free(d Distribution) float64 { return d.Quantile(c.Under / (c.Under + c.Over)) }

// Formula is the cost of an action under an outcome as somebody wrote it down.
type Formula struct {
	Of func(action, outcome float64) float64
	// Bends are zero where the slope of Of jumps, besides where action and outcome are equal, and Divisors where there may be no
	// cost: those that are products by their factors.
	Bends, Divisors []Term
}

// Term is a part of a formula, and what it depends on.
type Term struct {
	Of              func(action, outcome float64) float64
	Action, Outcome bool
	Text            string
}

func (t Term) under(outcome float64) func(action float64) float64 {
	return func(action float64) float64 { return t.Of(action, outcome) }
}

func (t Term) of(action float64) func(outcome float64) float64 {
	return func(outcome float64) float64 { return t.Of(action, outcome) }
}

// Cost implements Loss.
func (f Formula) Cost(action, outcome float64) float64 { return f.Of(action, outcome) }

// Expected implements Loss, by quadrature that knows where slopes jump, infinite where a divisor that may be zero makes it so.
func (f Formula) Expected(action float64, d Distribution) float64 {
	g := Term{Of: f.Of}.of(action)
	kinks := f.bent(action, d, []float64{action})
	if poles := f.poles(action, d, kinks, f.Divisors...); len(poles) > 0 {
		if !d.Finite(g, poles...) {
			return math.Inf(1)
		}
		kinks = f.bent(action, d, append(kinks, around(poles, d)...))
	}
	return d.Expect(g, kinks...)
}

// bent adds the outcomes at which the slope of the cost of an action jumps.
func (f Formula) bent(action float64, d Distribution, kinks []float64) []float64 {
	if len(f.Bends) == 0 || d.Whole() {
		return kinks
	}
	lo, hi := d.Quantile(1e-6), d.Quantile(1-1e-6)
	for _, bend := range f.Bends { // inner ones first: between their zeros the others are straight, as a rule
		if bend.Outcome {
			kinks = append(kinks, between(bend.of(action), lo, hi, kinks, zeros)...)
		}
	}
	return kinks
}

// poles are the outcomes at which divisors are zero or nearly so.
func (f Formula) poles(action float64, d Distribution, kinks []float64, divisors ...Term) (all []float64) {
	for _, divisor := range divisors {
		if !divisor.Outcome {
			continue
		}
		of, lo, hi := divisor.of(action), d.Quantile(1e-12), d.Quantile(1-1e-12)
		near := 0.05 * max(math.Abs(of(lo)), math.Abs(of(hi)))
		for _, y := range slices.Concat(kinks, between(of, lo, hi, kinks, dips)) {
			if math.Abs(of(y)) <= near {
				all = append(all, y)
			}
		}
	}
	return all
}

// vanishing is the divisor that makes the expected cost of an action infinite, "" if there is none.
func (f Formula) vanishing(action float64, d Distribution) string {
	g, kinks := Term{Of: f.Of}.of(action), f.bent(action, d, []float64{action})
	finite := d.Finite(g)
	for _, divisor := range f.Divisors {
		if finite && !d.Finite(g, f.poles(action, d, kinks, divisor)...) {
			return divisor.Text
		}
		for k := range 9 { // it may be zero under many outcomes, or all
			if y := d.Quantile(float64(k+1) / 10); divisor.Of(action, y) == 0 && math.IsInf(g(y), 1) {
				return divisor.Text
			}
		}
	}
	return ""
}

// around are outcomes ever closer to those given, between which what is large at these is smooth.
func around(poles []float64, d Distribution) (all []float64) {
	width := d.Quantile(0.75) - d.Quantile(0.25)
	for _, y := range poles {
		all = append(all, y)
		for h := width; h > 1e-8*width; h /= 8 {
			all = append(all, y-h, y+h)
		}
	}
	return all
}

// between are the zeros or dips of a function in the pieces that kinks cut from lo to hi, of which the first and the last have no end.
func between(f func(y float64) float64, lo, hi float64, kinks []float64, those func(f func(y float64) float64, lo, hi float64) []float64) (all []float64) {
	cuts := []float64{lo, hi}
	for _, k := range kinks {
		if lo < k && k < hi {
			cuts = append(cuts, k)
		}
	}
	slices.Sort(cuts)
	for i, b := range cuts[1:] {
		for _, at := range those(f, cuts[i], b) {
			if (i == 0 || at > cuts[i]) && (i+2 == len(cuts) || at < b) {
				all = append(all, at)
			}
		}
	}
	return all
}

// gridOfTerms is how many pieces a function that is no straight line is looked at in.
const gridOfTerms = 64

// straight tells whether a function is a straight line, and where its only zero is.
func straight(f func(y float64) float64, lo, hi float64) (zero []float64, is bool) {
	first, last := f(lo), f(hi)
	if off := f(lo+(hi-lo)/2) - (first/2 + last/2); !(math.Abs(off) <= 1e-9*(math.Abs(first)+math.Abs(last))) {
		return nil, false
	}
	perUnit := (last - first) / (hi - lo)
	at := lo - first/perUnit
	at -= f(at) / perUnit // what rounding left
	if math.IsNaN(at) || math.IsInf(at, 0) {
		return nil, true
	}
	return []float64{at}, true
}

// zeros are those of a function: of a straight line its only one, of others where the sign changes on a grid.
func zeros(f func(y float64) float64, lo, hi float64) (all []float64) {
	if all, is := straight(f, lo, hi); is {
		return all
	}
	for k := range gridOfTerms {
		a, b := lo+(hi-lo)*float64(k)/gridOfTerms, lo+(hi-lo)*float64(k+1)/gridOfTerms
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

// dips are where a function is zero or closest to it: it may reach zero without another sign beyond, and where it almost
// does, one over it is as sharp.
func dips(f func(y float64) float64, lo, hi float64) (all []float64) {
	if all, is := straight(f, lo, hi); is {
		return all
	}
	size := func(y float64) float64 { return math.Abs(f(y)) }
	var at, of [gridOfTerms + 1]float64
	for k := range at {
		at[k] = lo + (hi-lo)*float64(k)/gridOfTerms
		of[k] = size(at[k])
	}
	for k, x := range of {
		if left, right := max(k-1, 0), min(k+1, gridOfTerms); x <= of[left] && x <= of[right] && (x < of[left] || x < of[right]) {
			all = append(all, minimum(at[left], at[right], at[k], x, size))
		}
	}
	return all
}

// Stake is what is at stake in one case: a loss, and the actions that there are.
type Stake struct {
	Loss
	Actions
	// Stop is asked in long searches: if it gives an error they end at once, and what they return is of no use. It may be nil.
	Stop func() error
}

func (s Stake) stopped() error {
	if s.Stop == nil {
		return nil
	}
	return s.Stop()
}

// Times is the stake of as many cases that are decided as one.
func (s Stake) Times(n float64) Stake {
	if c, ok := s.Loss.(Pinball); ok {
		s.Loss = Pinball{Under: n * c.Under, Over: n * c.Over}
		return s
	}
	f := s.Loss.(Formula)
	one := f.Of
	f.Of = func(action, outcome float64) float64 { return n * one(action, outcome) }
	s.Loss = f
	return s
}

// NumberChoice is the action of the least expected cost, and what its neighbours would cost.
type NumberChoice struct {
	Action, Expected       float64
	Lower, ExpectedLower   float64 // the same as Action where there is none
	Higher, ExpectedHigher float64
	AtEdge                 bool   // of the range that was given: a wider one might cost less
	Divisor                string // that may be zero, which makes one of these infinite
}

// Choose finds it.
func (s Stake) Choose(d Distribution) NumberChoice {
	action, edge := s.best(d)
	return s.choice(action, edge, d)
}

// choice is what is known of an action that was chosen.
func (s Stake) choice(action float64, edge bool, d Distribution) NumberChoice {
	c := NumberChoice{Action: action, AtEdge: edge}
	c.Lower, c.Higher = s.Actions.beside(action, d)
	c.Expected, c.ExpectedLower, c.ExpectedHigher = s.Loss.Expected(c.Action, d), s.Loss.Expected(c.Lower, d), s.Loss.Expected(c.Higher, d)
	f, ok := s.Loss.(Formula)
	if ok && !d.Finite(Term{Of: f.Of}.of(c.Action)) {
		c.Expected = math.Inf(1)
	}
	for _, of := range []struct{ action, cost float64 }{{c.Action, c.Expected}, {c.Lower, c.ExpectedLower}, {c.Higher, c.ExpectedHigher}} {
		if ok && math.IsInf(of.cost, 1) && c.Divisor == "" {
			c.Divisor = f.vanishing(of.action, d)
		}
	}
	return c
}

// Best is the action alone.
func (s Stake) Best(d Distribution) float64 {
	action, _ := s.best(d)
	return action
}

// Actions are the numbers that can be chosen. The zero value is all of them.
type Actions struct {
	From, To float64   // both zero for no bounds
	Step     float64   // zero for all numbers between
	List     []float64 // in rising order
	Choices  []string  // the names of actions that are no numbers
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
	n := a.Len()
	if n <= most && (n > 0 || !a.bounded()) {
		return a.all()
	}
	few := make([]float64, most)
	for k := range few {
		if few[k] = a.From + (a.To-a.From)*float64(k)/float64(most-1); n > 0 {
			few[k] = a.nth(k * (n - 1) / (most - 1))
		}
	}
	return few
}

// nth is an action of those that can be listed, from 0.
func (a *Actions) nth(k int) float64 {
	switch {
	case a.Choices != nil:
		return float64(k)
	case a.List != nil:
		return a.List[k]
	}
	return a.From + float64(k)*a.Step
}

// upTo is the place of the first action that is not below a number.
func (a *Actions) upTo(x float64) int {
	return sort.Search(a.Len(), func(k int) bool { return a.nth(k) >= x })
}

// all are the actions, if they can be listed.
func (a *Actions) all() (numbers []float64) {
	for k := range a.Len() {
		numbers = append(numbers, a.nth(k))
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
func (s Stake) best(d Distribution) (best float64, edge bool) {
	n := s.Len()
	p, closed := s.Loss.(Pinball)
	f, _ := s.Loss.(Formula)
	switch {
	case n > mostTried && !closed && s.Step > 0:
		best = s.least(f, d)
	case n > 0:
		from, to := 0, n
		if closed { // costs that bend up alone are the least beside the best of all numbers
			k := s.upTo(p.Free(d))
			from, to = max(0, k-1), min(n, k+1)
		}
		best = s.cheapest(from, to, d)
	case closed:
		best = p.Free(d)
	default:
		best = s.least(f, d)
	}
	switch {
	case n > 0:
		return best, s.Choices == nil && n > 1 && (best == s.nth(0) || best == s.nth(n-1))
	case s.bounded():
		return min(max(best, s.From), s.To), !(best > s.From && best < s.To)
	}
	return best, false
}

// cheapest is the best action from one place up to before another, by trying each.
func (s Stake) cheapest(from, to int, d Distribution) float64 {
	best, least := from, math.Inf(1)
	for k := from; k < to && s.stopped() == nil; k++ {
		if c := s.Expected(s.nth(k), d); c < least {
			best, least = k, c
		}
	}
	return s.nth(best)
}

// beside are the neighbours of an action: the next ones, or else a tenth of the distance between the quartiles away.
func (a *Actions) beside(best float64, d Distribution) (lower, higher float64) {
	if n := a.Len(); n > 0 {
		k := a.upTo(best)
		return a.nth(max(k-1, 0)), a.nth(min(k+1, n-1))
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
