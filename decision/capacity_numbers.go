package decision

import (
	"fmt"
	"math"
	"slices"
)

// NumberCase is a case whose outcome is a number, with what a unit of its action takes of each limit, or each of its
// named actions; see Capacities.Efforts.
type NumberCase struct {
	Stake
	Of      Distribution
	Efforts [][]float64
}

// AllocateNumbers is Allocate where outcomes are numbers. Of actions that are numbers those above 0 take of a limit. Those that
// can be listed, and whole ones, are allocated as named ones are; where they are the largest that any price leaves, steps are taken
// one by one, and the allocation is the best there is. All numbers can be allocated under costs of a unit, where there is
// one limit: at its price λ an action is the quantile at (under − λe)/(under + over), and all use the limit up.
func (c *Capacities) AllocateNumbers(cases []NumberCase) ([]NumberChoice, *Allocation, error) {
	var out *Allocation
	var actions []float64
	var err error
	if c.continuous(cases) {
		out, actions, err = c.alongQuantiles(cases)
	} else {
		out, actions, err = c.listed(cases)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("capacity: %w", err)
	}
	choices := make([]NumberChoice, len(cases))
	for n, of := range cases {
		choices[n] = of.choice(actions[n], false, of.Of)
	}
	return choices, out, nil
}

// continuous tells whether all numbers are actions, and outcomes are not whole.
func (c *Capacities) continuous(cases []NumberCase) bool {
	return slices.ContainsFunc(cases, func(of NumberCase) bool { return of.Actions.Len() == 0 && !of.Of.Whole() })
}

// Takes is what an action takes of each limit.
func (n *NumberCase) Takes(action float64) []float64 {
	all := make([]float64, len(n.Efforts))
	for l, efforts := range n.Efforts {
		if all[l] = efforts[0] * max(action, 0); n.Actions.Choices != nil {
			all[l] = efforts[int(action)]
		}
	}
	return all
}

// mostCandidates is the most actions of a case that are allocated.
const mostCandidates = mostTried

const stepsFix = "give the actions steps or a list, such as action: {from: 0, to: 200, step: 5}"

// candidates are the actions of a case that may be allocated: all in a list, or whole numbers up to the best.
func (n *NumberCase) candidates() ([]float64, error) {
	if n.Actions.Len() > mostCandidates {
		return nil, specFault(stepsFix, "a capacity is shared out between at most %d actions of a case, and there are %d", mostCandidates, n.Actions.Len())
	}
	if all := n.Actions.all(); all != nil {
		return all, nil
	}
	best, from := n.Best(n.Of), 0.0
	if n.Actions.bounded() {
		from = max(0, math.Ceil(n.Actions.From))
	}
	if best-from > mostCandidates {
		return nil, specFault(stepsFix, "a capacity is shared out between at most %d actions of a case, and there are %.0f", mostCandidates, best-from)
	}
	var all []float64
	for a := from; a < best; a++ {
		all = append(all, a)
	}
	return append(all, best), nil
}

// listed allocates actions that can be listed.
func (c *Capacities) listed(cases []NumberCase) (*Allocation, []float64, error) {
	lists, costs := make([][]float64, len(cases)), make([][]float64, len(cases))
	limits := make([]Limit, len(c.All))
	for l, capacity := range c.All {
		limits[l] = Limit{capacity.Name, capacity.Most, make([][]float64, len(cases))}
	}
	for n := range cases {
		of := &cases[n]
		var err error
		if lists[n], err = of.candidates(); err != nil {
			return nil, nil, err
		}
		for _, a := range lists[n] {
			if err := of.stopped(); err != nil {
				return nil, nil, err
			}
			x := of.Expected(a, of.Of)
			if !(x >= 0 && x <= LargestNumberCost) {
				return nil, nil, specFault("write costs, which are numbers from 0 on", "action %v has the expected cost %v in a case", a, x)
			}
			costs[n] = append(costs[n], x)
			for l, effort := range of.Takes(a) {
				limits[l].Efforts[n] = append(limits[l].Efforts[n], effort)
			}
		}
	}
	out, err := Allocate(costs, limits)
	if err != nil {
		return nil, nil, err
	}
	actions := make([]float64, len(cases))
	for n, k := range out.Actions {
		actions[n] = lists[n][k]
	}
	return out, actions, nil
}

// quantiles are cases whose actions are quantiles at a price.
type quantiles struct {
	cases   []NumberCase
	free    []float64 // the action without a price
	actions []float64
}

// at finds the actions at a price, and what they take.
func (q *quantiles) at(price float64) (used float64) {
	for n := range q.cases {
		used += q.effort(n) * max(0, q.action(n, price))
	}
	return used
}

func (q *quantiles) effort(n int) float64 { return q.cases[n].Efforts[0][0] }

// action is that of a case: of costs that bend up alone and are dearer by a price above 0, between 0 and what it is without.
func (q *quantiles) action(n int, price float64) float64 {
	of := &q.cases[n]
	p, e := of.Loss.(Pinball), q.effort(n)
	low := 0.0
	if of.Actions.bounded() {
		low = max(0, of.Actions.From)
	}
	a := q.free[n]
	switch rest := p.Under - price*e; {
	case a <= low || e == 0 || price == 0:
	case rest <= p.Over/mostUnequal:
		a = low
	default:
		a = min(a, max(low, of.Of.Quantile(rest/(p.Under+p.Over))))
	}
	q.actions[n] = a
	return a
}

// alongQuantiles finds the price at which quantiles take what there is.
func (c *Capacities) alongQuantiles(cases []NumberCase) (*Allocation, []float64, error) {
	q := &quantiles{cases: cases, free: make([]float64, len(cases)), actions: make([]float64, len(cases))}
	top := 0.0
	for n := range cases {
		p, ok := cases[n].Loss.(Pinball)
		if !ok || len(c.All) != 1 {
			return nil, nil, specFault(stepsFix, "where every number is an action, a capacity is shared out under under=COST,over=COST and with one limit alone")
		}
		q.free[n] = cases[n].Best(cases[n].Of)
		if e := q.effort(n); e > 0 {
			top = max(top, p.Under/e)
		}
	}
	most := c.All[0].Most
	if least := q.at(top); least > most*(1+roundingOfSums) {
		return nil, nil, &LimitError{c.All[0].Name, most, least}
	}
	below, price := q.price(most, top)
	used := q.between(below, price, most)
	actions := slices.Clone(q.actions)
	out := &Allocation{Used: []float64{used}, Least: []float64{0}, Prices: []float64{price}}
	var use, cost moments
	for n := range cases {
		of, a := &cases[n], actions[n]
		e, free, here := q.effort(n)*max(0, a), of.Expected(q.free[n], of.Of), of.Expected(a, of.Of)
		out.Free += free
		out.Cost += here
		use.add(e)
		cost.add(here + price*e - free)
	}
	const z = 1.959963984540054
	h := z * use.ofSum()
	_, low := q.price(most+h, top)
	_, high := q.price(max(0, most-h), top)
	out.Ranges = [][2]float64{{low, max(price, high)}}
	out.Bound = max(out.Free, min(out.Cost, out.Cost+price*(used-most)))
	out.StdErr = cost.ofSum()
	return out, actions, nil
}

// between finds the actions between those at two prices, the next to each other, that use as much as there is: where costs are
// a straight line over actions, all of these are as good at the price.
func (q *quantiles) between(low, high, most float64) (used float64) {
	more := q.at(low)
	larger := slices.Clone(q.actions)
	used = q.at(high)
	if !(more > most && more > used) {
		return used
	}
	share := (most - used) / (more - used)
	for n, a := range q.actions {
		if larger[n] > max(a, 0) {
			q.actions[n] += share * (larger[n] - a)
		}
	}
	return most
}

// price is the least at which no more than so much is used, to the precision of numbers, and the number below it.
func (q *quantiles) price(most, top float64) (below, price float64) {
	most += math.Abs(most) * roundingOfSums
	if q.at(0) <= most {
		return 0, 0
	}
	low, high := 0.0, top
	for range 200 {
		mid := low + (high-low)/2
		if mid <= low || mid >= high {
			break
		}
		if q.at(mid) <= most {
			high = mid
		} else {
			low = mid
		}
	}
	return low, high
}
