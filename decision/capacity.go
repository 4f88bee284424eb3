package decision

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lossep/lossep/internal/indices"
)

// Limit is how much of something there is for all cases together, such as 100 visits a day.
type Limit struct {
	Name string
	Most float64
	// Efforts is what every action of every case takes of it, none of them negative.
	Efforts [][]float64
}

// Allocation is an action for each case such that all together stay within limits.
type Allocation struct {
	Actions []int
	Cost    float64 // expected, of all cases
	// Free is the expected cost without limits, and Bound one that no allocation within the
	// limits is below. Cost − Free is what the limits cost, and Cost − Bound is the most that
	// another allocation could save.
	Free, Bound float64
	Used        []float64 // of each limit
	Least       []float64 // effort above 0 that some action takes of each limit in some case; 0 if none does
	First       []float64 // what an action that takes some of each limit would save in the case where it saves most, were there room
	// Prices are what one more unit of each limit would save, to first order: with them every case
	// can be decided alone, by cost + Σ price·effort. A limit that is not reached has price 0.
	Prices []float64
	// Ranges are 95 % intervals of the prices, and StdErr is the standard error of Cost − Free, for other
	// cases of the same kind as these.
	Ranges [][2]float64
	StdErr float64
}

// LimitError says that no allocation is within a limit.
type LimitError struct {
	Name        string
	Most, Least float64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: the limit is %.6g, and the actions that take least of it take %.6g in all; raise the limit, or give an action that takes none of it", e.Name, e.Most, e.Least)
}

// Allocate minimises the sum of expected costs, costs[n][a] of action a in case n, within limits.
//
// With prices λ on efforts each case decides alone: Σ_n min_a(c + Σ λe) − Σ λB is a lower bound for
// every λ ≥ 0 (Lagrange), largest at the shadow prices. With one limit the largest is found exactly:
// on the convex hull of a case's actions, sorted by effort, each step saves so much per unit of
// effort, and the steps of all cases are taken in falling order until the limit is reached. Where
// all steps take the same effort this is the optimum itself; otherwise at most one case's stake is
// between them, and the bound says how much. With several limits prices are found one limit at a
// time, then together along subgradients.
func Allocate(costs [][]float64, limits []Limit) (*Allocation, error) {
	for l, limit := range limits {
		if !(limit.Most >= 0) {
			return nil, &LimitError{limit.Name, limit.Most, 0}
		}
		least := 0.0
		for n := range costs {
			least += slices.Min(limits[l].Efforts[n])
		}
		if least > limit.Most*(1+roundingOfSums) {
			return nil, &LimitError{limit.Name, limit.Most, least}
		}
	}
	out := &Allocation{Least: make([]float64, len(limits))}
	for n := range costs {
		out.Free += slices.Min(costs[n])
		for l, limit := range limits {
			for _, e := range limit.Efforts[n] {
				if e > 0 && (out.Least[l] == 0 || e < out.Least[l]) {
					out.Least[l] = e
				}
			}
		}
	}
	p := &allocating{costs: costs, limits: reachable(limits), prices: make([]float64, len(limits))}
	p.price()
	out.Bound, out.Prices = p.best, p.prices
	if err := p.repair(); err != nil {
		return nil, err
	}
	p.fill()
	optimal := p.search()
	out.Actions, out.Used, out.Cost = p.actions, p.used, p.cost()
	if out.Bound = min(out.Cost, max(out.Bound, out.Free)); optimal {
		out.Bound = out.Cost
	}
	p.chance(out)
	out.First = make([]float64, len(limits))
	for l, limit := range limits {
		for n, held := range out.Actions {
			for a, e := range limit.Efforts[n] {
				if e > 0 {
					out.First[l] = max(out.First[l], costs[n][held]-costs[n][a])
				}
			}
		}
	}
	return out, nil
}

// reachable are limits of which the largest sum of efforts within them can be reached: 990 where each action takes
// 30 and the limit is 1000.
func reachable(limits []Limit) []Limit {
	limits = slices.Clone(limits)
	for l := range limits {
		each, same := 0.0, true
		for _, efforts := range limits[l].Efforts {
			for _, e := range efforts {
				if e > 0 {
					same = same && (each == 0 || e == each)
					each = e
				}
			}
		}
		if times := math.Floor(limits[l].Most / each * (1 + roundingOfSums)); same && each > 0 && times < 1<<53 {
			limits[l].Most = min(limits[l].Most, times*each)
		}
	}
	return limits
}

// roundingOfSums is what a sum of efforts may exceed a limit by, relatively: the rounding of many
// terms, such as ten times 0.1 against 1.
const roundingOfSums = 1e-12

// allocating is the state of Allocate.
type allocating struct {
	costs   [][]float64
	limits  []Limit
	prices  []float64
	best    float64 // the largest bound so far
	actions []int
	used    []float64
}

// cost is that of the actions.
func (p *allocating) cost() (sum float64) {
	for n, a := range p.actions {
		sum += p.costs[n][a]
	}
	return sum
}

// count finds what the actions take of each limit.
func (p *allocating) count() {
	p.used = make([]float64, len(p.limits))
	for l, limit := range p.limits {
		for n, a := range p.actions {
			p.used[l] += limit.Efforts[n][a]
		}
	}
}

// priced is the cost of an action with the prices of its efforts.
func (p *allocating) priced(n, a int) float64 {
	c := p.costs[n][a]
	for l, price := range p.prices {
		if price > 0 {
			c += price * p.limits[l].Efforts[n][a]
		}
	}
	return c
}

// bound is the lower bound of the prices; it chooses the actions by them, of those that are as
// good the one with the least efforts.
func (p *allocating) bound() float64 {
	sum := 0.0
	p.actions = make([]int, len(p.costs))
	for n := range p.costs {
		least := math.Inf(1)
		for a := range p.costs[n] {
			if c := p.priced(n, a); c < least || c == least && p.effort(n, a) < p.effort(n, p.actions[n]) {
				least, p.actions[n] = c, a
			}
		}
		sum += least
	}
	p.count()
	for l, price := range p.prices {
		sum -= price * p.limits[l].Most
	}
	return sum
}

// effort is what an action takes of all limits, each as a share of it.
func (p *allocating) effort(n, a int) float64 {
	sum := 0.0
	for _, limit := range p.limits {
		if e := limit.Efforts[n][a]; e > 0 {
			sum += e / max(limit.Most, math.SmallestNonzeroFloat64)
		}
	}
	return sum
}

const (
	// rounds is how often the limits are priced in turn, and ascents the steps along subgradients.
	rounds  = 20
	ascents = 300
)

// price finds the prices with the largest bound.
func (p *allocating) price() {
	p.best = p.bound()
	if len(p.limits) == 0 {
		return
	}
	best := slices.Clone(p.prices)
	keep := func() bool {
		b := p.bound()
		if b <= p.best {
			return false
		}
		p.best = b
		copy(best, p.prices)
		return true
	}
	for range rounds {
		better := false
		for l := range p.limits {
			p.prices[l] = p.alone(l)
			better = keep() || better
		}
		if !better || len(p.limits) == 1 {
			break
		}
	}
	if len(p.limits) > 1 {
		p.ascend(best, keep)
	}
	copy(p.prices, best)
	p.bound()
}

// ascend goes along subgradients, Σe − B for each limit, from the best prices, with steps that
// shrink as their number grows.
func (p *allocating) ascend(best []float64, keep func() bool) {
	scale := slices.Max(best)
	for k := range ascents {
		copy(p.prices, best)
		p.bound()
		size := 0.0
		for l, limit := range p.limits {
			size += math.Pow((p.used[l]-limit.Most)/max(limit.Most, 1), 2)
		}
		if size == 0 {
			return // within every limit and at each: nothing is left to gain
		}
		step := scale / (math.Sqrt(size) * float64(4+k))
		for l, limit := range p.limits {
			p.prices[l] = max(0, p.prices[l]+step*(p.used[l]-limit.Most)/max(limit.Most, 1))
		}
		keep()
	}
}

// step is one from an action to one that takes more effort.
type step struct{ saving, effort float64 }

// alone is the price of one limit with those of the others as they are.
func (p *allocating) alone(l int) float64 {
	steps, least := p.steps(l)
	return priceOf(steps, p.limits[l].Most-least)
}

// steps are those that a limit leaves room for or not, the most saving per unit first, with the prices
// of the others as they are, and what is used without any of them.
func (p *allocating) steps(l int) (steps []step, least float64) {
	held := p.prices[l]
	p.prices[l] = 0
	efforts := p.limits[l].Efforts
	for n := range p.costs {
		hull := p.hull(n, l)
		least += efforts[n][hull[0]]
		for k := 1; k < len(hull); k++ {
			steps = append(steps, step{p.priced(n, hull[k-1]) - p.priced(n, hull[k]), efforts[n][hull[k]] - efforts[n][hull[k-1]]})
		}
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(b.saving*a.effort, a.saving*b.effort) })
	p.prices[l] = held
	return steps, least
}

// priceOf is the saving per unit of the first step that there is no room for.
func priceOf(steps []step, room float64) float64 {
	room += math.Abs(room) * roundingOfSums
	for _, s := range steps {
		if room -= s.effort; room < 0 {
			return s.saving / s.effort
		}
	}
	return 0
}

// chance says how much of the prices and of what limits cost is by chance, if cases are drawn
// independently. At given prices the use Σe has variance n·Var(e), so the prices at which it could be
// the limit are those of limits that are larger or smaller by 1.96 of its standard errors (Woodruff
// 1952). What limits cost is Σ(min_a(c + λe) − min_a c) − λB; around the shadow prices it does not
// change with λ to first order, so its variance is that of the terms.
func (p *allocating) chance(out *Allocation) {
	const z = 1.959963984540054
	for l, limit := range p.limits {
		var use moments
		for n, a := range p.actions {
			use.add(limit.Efforts[n][a])
		}
		steps, least := p.steps(l)
		room, h := limit.Most-least, z*use.ofSum()
		out.Ranges = append(out.Ranges, [2]float64{min(priceOf(steps, room+h), out.Prices[l]), max(priceOf(steps, max(0, room-h)), out.Prices[l])})
	}
	var cost moments
	for n := range p.costs {
		priced := math.Inf(1)
		for a := range p.costs[n] {
			priced = min(priced, p.priced(n, a))
		}
		cost.add(priced - slices.Min(p.costs[n]))
	}
	out.StdErr = cost.ofSum()
}

// moments are the number, the mean and the squared deviations of values (Welford 1962).
type moments struct{ n, mean, squares float64 }

func (m *moments) add(x float64) {
	m.n++
	d := x - m.mean
	m.mean += d / m.n
	m.squares += d * (x - m.mean)
}

// ofSum is the standard error of the sum.
func (m *moments) ofSum() float64 {
	if m.n < 2 {
		return 0
	}
	return math.Sqrt(m.squares / (m.n - 1) * m.n)
}

// hull are the actions of a case that some price of a limit makes best, by rising effort: the lower
// convex hull of cost over effort, as far as cost falls.
func (p *allocating) hull(n, l int) []int {
	efforts := p.limits[l].Efforts[n]
	order := indices.Of(len(efforts))
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(efforts[a], efforts[b]), cmp.Compare(p.priced(n, a), p.priced(n, b)))
	})
	hull := order[:0:0]
	for _, a := range order {
		if len(hull) > 0 && p.priced(n, a) >= p.priced(n, hull[len(hull)-1]) {
			continue
		}
		for len(hull) > 1 {
			b, c := hull[len(hull)-1], hull[len(hull)-2]
			if (p.priced(n, c)-p.priced(n, b))*(efforts[a]-efforts[c]) > (p.priced(n, c)-p.priced(n, a))*(efforts[b]-efforts[c]) {
				break
			}
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, a)
	}
	return hull
}

// over is by how much limits are exceeded, each as a share of it.
func (p *allocating) over() float64 {
	sum := 0.0
	for l, limit := range p.limits {
		if excess := p.used[l] - limit.Most*(1+roundingOfSums); excess > 0 {
			sum += excess / max(limit.Most, math.SmallestNonzeroFloat64)
		}
	}
	return sum
}

// move is another action for a case.
type move struct {
	n, a int
	loss float64 // per effort that it frees, or what it saves
}

// repair takes actions with less effort until all limits hold, those that cost least first.
func (p *allocating) repair() error {
	for p.over() > 0 {
		var moves []move
		for n, held := range p.actions {
			for a := range p.costs[n] {
				if freed := p.freed(n, held, a); freed > 0 {
					moves = append(moves, move{n, a, (p.priced(n, a) - p.priced(n, held)) / freed})
				}
			}
		}
		if len(moves) == 0 {
			for l, limit := range p.limits {
				if p.used[l] > limit.Most {
					return &LimitError{"the limits together", limit.Most, p.used[l]}
				}
			}
		}
		slices.SortStableFunc(moves, func(a, b move) int { return cmp.Compare(a.loss, b.loss) })
		moved := make(map[int]bool)
		for _, m := range moves {
			if moved[m.n] || !(p.freed(m.n, p.actions[m.n], m.a) > 0) {
				continue
			}
			moved[m.n] = true
			p.take(m.n, m.a)
			if p.over() == 0 {
				break
			}
		}
	}
	return nil
}

// freed is how much less limits are exceeded with another action for a case; 0 where it is no more than
// rounding, by which two actions could each seem to free something in place of the other, for ever.
func (p *allocating) freed(n, held, a int) float64 {
	sum := 0.0
	for l, limit := range p.limits {
		most := limit.Most * (1 + roundingOfSums)
		before := p.used[l]
		after := before - limit.Efforts[n][held] + limit.Efforts[n][a]
		sum += (max(0, before-most) - max(0, after-most)) / max(limit.Most, math.SmallestNonzeroFloat64)
	}
	if sum < roundingOfSums {
		return 0
	}
	return sum
}

// take gives a case another action.
func (p *allocating) take(n, a int) {
	for l, limit := range p.limits {
		p.used[l] += limit.Efforts[n][a] - limit.Efforts[n][p.actions[n]]
	}
	p.actions[n] = a
}

// fill uses what is left of the limits for the cases that it saves most in.
func (p *allocating) fill() {
	for {
		var moves []move
		for n, held := range p.actions {
			for a := range p.costs[n] {
				if saved := p.costs[n][held] - p.costs[n][a]; saved > 0 && p.fits(n, a) {
					moves = append(moves, move{n, a, -saved})
				}
			}
		}
		slices.SortStableFunc(moves, func(a, b move) int { return cmp.Compare(a.loss, b.loss) })
		moved := make(map[int]bool)
		for _, m := range moves {
			if !moved[m.n] && p.fits(m.n, m.a) {
				moved[m.n] = true
				p.take(m.n, m.a)
			}
		}
		if len(moved) == 0 {
			return
		}
	}
}

// fits reports whether limits leave room for another action of a case.
func (p *allocating) fits(n, a int) bool {
	for l, limit := range p.limits {
		more := limit.Efforts[n][a] - limit.Efforts[n][p.actions[n]]
		if more > 0 && p.used[l]+more > limit.Most*(1+roundingOfSums) {
			return false
		}
	}
	return true
}
