package decision

import (
	"math"
	"slices"
	"time"
)

// Pace shares capacities out to cases that arrive one by one: prices are such that the cases still to
// come in the period are expected to use what is left, going by the savings of recent cases and by when
// cases came in earlier periods. What is used never exceeds a capacity.
type Pace struct {
	capacities []Capacity
	next       func(time.Time) (begin, end time.Time) // the period of a moment

	begin, end time.Time
	born       time.Time // when the first case came
	used       []float64
	prices     []float64
	recent     []pacedCase // a ring
	at         int
	since      int                // cases since the prices were found
	profile    [paceParts]float64 // cases by part of a period, a mean over past ones
	counts     [paceParts]float64 // of this one
	periods    int                // that are over, of those in which cases came
	moment     int                // of the period, in which the last case came
	within     float64            // cases of that moment
	busiest    float64            // the most of one moment
}

type pacedCase struct {
	costs   []float64
	efforts [][]float64
}

const (
	paceParts   = 24   // of a period, by which arrivals are counted
	paceMoments = 2400 // of a period: cases of one moment came at once
	paceRecent  = 2000 // cases whose savings stand for those to come
	paceEvery   = 50   // cases after which prices are found again; earlier where they are more than a tenth of the recent ones
	paceWeight  = 0.2  // of the last period in the profile, against those before
)

// NewPace shares out capacities of periods; next says when that of a moment begins and ends.
func NewPace(capacities []Capacity, next func(time.Time) (begin, end time.Time)) *Pace {
	return &Pace{capacities: capacities, next: next, used: make([]float64, len(capacities)), prices: make([]float64, len(capacities))}
}

// Decide is the action of a case with these expected costs and efforts, and whether there is one that
// the capacities leave room for; what it takes is used then.
func (p *Pace) Decide(now time.Time, costs []float64, efforts [][]float64) (action int, ok bool) {
	if p.turn(now); p.born.IsZero() {
		p.born = now
	}
	p.count(now)
	if c := (pacedCase{slices.Clone(costs), efforts}); len(p.recent) < paceRecent {
		p.recent = append(p.recent, c)
	} else {
		p.recent[p.at] = c
		p.at = (p.at + 1) % paceRecent
	}
	if p.since++; p.since >= min(paceEvery, 1+len(p.recent)/10) {
		p.since = 0
		p.price(now)
	}
	least := math.Inf(1)
	for a, c := range costs {
		fits := true
		for l, capacity := range p.capacities {
			c += p.prices[l] * efforts[l][a]
			fits = fits && (efforts[l][a] == 0 || p.used[l]+efforts[l][a] <= capacity.Most*(1+roundingOfSums))
		}
		if fits && c < least {
			action, least, ok = a, c, true
		}
	}
	if ok {
		for l := range p.capacities {
			p.used[l] += efforts[l][action]
		}
	}
	return action, ok
}

// Used is what is used of each capacity in the period of a moment, the prices, and when the period ends.
func (p *Pace) Used(now time.Time) (used, prices []float64, end time.Time) {
	p.turn(now)
	return slices.Clone(p.used), slices.Clone(p.prices), p.end
}

// turn begins a period if another is over. The profile is kept of periods in which cases came.
func (p *Pace) turn(now time.Time) {
	if !p.begin.IsZero() && now.Before(p.end) {
		return
	}
	weight := paceWeight
	if p.periods == 0 {
		weight = 1
	}
	if sum(p.counts[:]) > 0 {
		if p.periods == 0 {
			p.before()
		}
		for k := range p.profile {
			p.profile[k] += weight * (p.counts[k] - p.profile[k])
		}
		p.periods++
	}
	p.counts = [paceParts]float64{}
	p.moment, p.within, p.busiest = 0, 0, 0
	clear(p.used)
	p.begin, p.end = p.next(now)
	p.since = paceEvery // what is left has changed
}

// count counts a case. In the first period prices are found again with the first case of a moment: time that went by without
// cases tells as much as cases.
func (p *Pace) count(now time.Time) {
	p.counts[p.part(now)]++
	if m := int(p.passed(now) * paceMoments); m != p.moment {
		if p.moment, p.within = m, 0; p.periods == 0 {
			p.since = paceEvery
		}
	}
	p.within++
	p.busiest = max(p.busiest, p.within)
}

// before has the parts of the first period that were over when the first case came count as the others do.
func (p *Pace) before() {
	from := p.passed(p.born) * paceParts
	rate := sum(p.counts[:]) / max(paceParts-from, 1)
	for k := range p.counts[:int(min(from, paceParts))] {
		p.counts[k] = rate
	}
}

func sum(values []float64) (total float64) {
	for _, x := range values {
		total += x
	}
	return total
}

// passed is how much of the period is over.
func (p *Pace) passed(now time.Time) float64 {
	return min(1, max(0, now.Sub(p.begin).Seconds()/p.end.Sub(p.begin).Seconds()))
}

func (p *Pace) part(now time.Time) int { return min(paceParts-1, int(p.passed(now)*paceParts)) }

// coming is how many cases are still expected in the period: as many as came after this time of earlier
// ones, more or fewer as this one had more or fewer before; in the first, at the rate since the first case, without the
// busiest moment if there are others: what came at once says little of how many come as time goes by.
func (p *Pace) coming(now time.Time) float64 {
	passed, part := p.passed(now), p.part(now)
	so := sum(p.counts[:])
	if p.periods == 0 {
		if so > p.busiest {
			so -= p.busiest
		}
		return so * (1 - passed) / max(passed-p.passed(p.born), 1.0/paceMoments)
	}
	within := passed*paceParts - float64(part)
	before := sum(p.profile[:part]) + within*p.profile[part]
	after := sum(p.profile[part+1:]) + (1-within)*p.profile[part]
	// The ratio of what came to what was expected, drawn to 1 while little was expected.
	const cautious = 20.0
	return after * (so + cautious) / (before + cautious)
}

// price finds the prices at which recent cases would use as much for each case as is left for each that
// is still to come.
func (p *Pace) price(now time.Time) {
	coming := max(1, p.coming(now))
	costs, limits := make([][]float64, len(p.recent)), make([]Limit, len(p.capacities))
	for l, capacity := range p.capacities {
		limits[l] = Limit{capacity.Name, max(0, capacity.Most-p.used[l]) * float64(len(p.recent)) / coming, make([][]float64, len(p.recent))}
	}
	for n, c := range p.recent {
		costs[n] = c.costs
		for l := range limits {
			limits[l].Efforts[n] = c.efforts[l]
		}
	}
	q := &allocating{costs: costs, limits: limits, prices: p.prices}
	clear(q.prices)
	q.price()
}
