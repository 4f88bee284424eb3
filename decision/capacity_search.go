package decision

import (
	"cmp"
	"slices"
)

// searches is how many actions of cases a search tries, at most.
const searches = 500_000

// search looks for a cheaper allocation, depth first, and tells whether it went through all there may be: then the
// one that it leaves is the optimum. At the shadow prices an action costs its case so much more than its best
// one, and all of these together, with the price of what is left of the limits, are the cost above the bound. In a
// cheaper allocation they are less than in the one at hand, which few cases and few combinations of actions allow.
func (p *allocating) search() bool {
	s := &searching{allocating: p, actions: slices.Clone(p.actions), left: searches, rounding: roundingOfSums * p.size()}
	if s.most = p.cost() - p.best - s.rounding; s.most <= 0 {
		return true
	}
	s.open()
	s.from(0, 0)
	return s.left > 0
}

// size is that of the costs, of which a difference is rounding.
func (p *allocating) size() (sum float64) {
	for _, of := range p.costs {
		sum += max(slices.Max(of), -slices.Min(of))
	}
	return sum
}

// searching is the state of a search.
type searching struct {
	*allocating
	actions []int     // of the allocation under way
	taken   []float64 // by it, of each limit
	left    int       // actions to try
	cases   []*openCase
	// An allocation is cheaper if it costs less than most above the bound; rounding is that of such differences.
	most, rounding float64
}

// openCase is a case that may have several actions.
type openCase struct {
	n       int
	choices []choice  // that may be, the best at the prices first
	least   []float64 // what it and the cases after it take at least of each limit, and at most
	largest []float64
}

type choice struct {
	action int
	more   float64 // than the best action of the case, at the prices
}

// open finds the cases that may have several actions, those first that differ most between the best two, and gives the
// others their best.
func (s *searching) open() {
	s.taken = make([]float64, len(s.limits))
	for n := range s.costs {
		c := &openCase{n: n}
		for a := range s.costs[n] {
			c.choices = append(c.choices, choice{a, s.priced(n, a)})
		}
		slices.SortStableFunc(c.choices, func(a, b choice) int { return cmp.Compare(a.more, b.more) })
		best := c.choices[0].more
		for k := range c.choices {
			c.choices[k].more -= best
		}
		c.choices = slices.DeleteFunc(c.choices, func(x choice) bool { return x.more >= s.most })
		if len(c.choices) > 1 {
			s.cases = append(s.cases, c)
			continue
		}
		s.actions[n] = c.choices[0].action
		s.add(n, s.actions[n], 1)
	}
	slices.SortStableFunc(s.cases, func(a, b *openCase) int { return cmp.Compare(b.choices[1].more, a.choices[1].more) })
	least, largest := make([]float64, len(s.limits)), make([]float64, len(s.limits))
	for _, c := range slices.Backward(s.cases) {
		for l, limit := range s.limits {
			low, high := limit.Efforts[c.n][c.choices[0].action], 0.0
			for _, x := range c.choices {
				e := limit.Efforts[c.n][x.action]
				low, high = min(low, e), max(high, e)
			}
			least[l] += low
			largest[l] += high
		}
		c.least, c.largest = slices.Clone(least), slices.Clone(largest)
	}
}

// add counts what an action takes, or with −1 gives it back.
func (s *searching) add(n, action int, sign float64) {
	for l, limit := range s.limits {
		s.taken[l] += sign * limit.Efforts[n][action]
	}
}

// from goes through the actions of a case and those after it, where those before cost so much more than at best.
func (s *searching) from(k int, more float64) {
	least := more
	for l, limit := range s.limits {
		low, high := s.taken[l], s.taken[l]
		if k < len(s.cases) {
			low, high = low+s.cases[k].least[l], high+s.cases[k].largest[l]
		}
		if low > limit.Most*(1+roundingOfSums) {
			return
		}
		least += s.prices[l] * max(0, limit.Most-high)
	}
	if least >= s.most {
		return
	}
	if k == len(s.cases) {
		s.keep()
		return
	}
	c := s.cases[k]
	for _, x := range c.choices {
		if more+x.more >= s.most || s.left <= 0 {
			return
		}
		s.left--
		s.actions[c.n] = x.action
		s.add(c.n, x.action, 1)
		s.from(k+1, more+x.more)
		s.add(c.n, x.action, -1)
	}
}

// keep takes the allocation under way over if it is within the limits and cheaper, rounding aside.
func (s *searching) keep() {
	now := &allocating{costs: s.costs, limits: s.limits, actions: slices.Clone(s.actions)}
	now.count()
	if cost := now.cost(); now.over() == 0 && cost < s.cost() {
		s.allocating.actions, s.used = now.actions, now.used
		s.most = cost - s.best - s.rounding
	}
}
