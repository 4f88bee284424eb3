package decision

import (
	"cmp"
	"math"
	"slices"
)

// Where a formula is searched: at actions that are a 64th apart over the outcomes that are likely, and a 32nd of a range beyond
// them, or in steps further out if there is none, and where it bends under some of these outcomes.
const (
	likelyPieces = 64
	rangePieces  = 32
	furtherOut   = 16
	bentUnder    = 8
	unlikely     = 1e-3 // probability of outcomes beyond those that are likely, on either side
)

// mostTried is up to how many steps of a range all are tried. Of more about as many are, and then those in dips.
const mostTried = 2000

// tried is an action that was looked at. Where it is sharp the slope of the expected cost may jump.
type tried struct {
	action, cost float64
	sharp        bool
}

// search is that for the cheapest action of a formula.
type search struct {
	Stake
	of  Formula
	d   Distribution
	all []tried // in rising order
}

// least is the cheapest action of a formula, where not each is tried: exactly, where the expected cost bends up alone. Of others
// every dip is followed to its end that is wider than the distance between the actions looked at first, which the edges of the
// range and all actions where the formula bends or jumps are among. It is infinite where costs fall beyond all of them.
func (s Stake) least(f Formula, d Distribution) float64 {
	l := &search{Stake: s, of: f, d: d}
	l.look(l.first())
	for range 6 {
		best, last := l.best(), len(l.all)-1
		if s.bounded() || best > 0 && best < last || math.IsInf(l.all[best].cost, 1) {
			return l.refined()
		}
		from, step := l.all[best].action, 4*(l.all[last].action-l.all[0].action)/furtherOut
		if best == 0 {
			step = -step
		}
		l.look(evenly(from+step, from+furtherOut*step, furtherOut-1))
	}
	if l.best() == 0 {
		return math.Inf(-1)
	}
	return math.Inf(1)
}

// first are the actions to look at first.
func (s *search) first() (all []tried) {
	lo, hi := s.d.Quantile(unlikely), s.d.Quantile(1-unlikely)
	if !(hi > lo) { // an outcome that is known says nothing of how far from it the best action may be
		w := max(math.Abs(lo), 1) / 16
		lo, hi = lo-w, hi+w
	}
	from, to := s.From, s.To
	if !s.bounded() {
		from, to = lo-4*(hi-lo), hi+4*(hi-lo)
	}
	all = evenly(lo, hi, likelyPieces)
	sharp := s.sharp(from, to)
	for k := 0; k <= likelyPieces; k += likelyPieces / bentUnder {
		kinks := append([]float64{all[k].action}, sharp...)
		for _, bend := range s.of.Bends {
			if bend.Action && bend.Outcome {
				kinks = append(kinks, between(bend.under(all[k].action), from, to, kinks, zeros)...)
			}
		}
		for _, a := range kinks[1+len(sharp):] {
			all = append(all, tried{action: a})
		}
	}
	for _, a := range sharp {
		all = append(all, tried{action: a, sharp: true})
	}
	if !s.bounded() && len(sharp) > 0 { // no further than outcomes and bends are, as long as costs rise there
		from, to = min(lo, slices.Min(sharp)), max(hi, slices.Max(sharp))
	}
	if n := s.Len(); n > 0 {
		for k := range mostTried + 1 {
			all = append(all, tried{action: s.nth(int(float64(n-1) * float64(k) / mostTried))})
		}
	} else if s.bounded() || len(sharp) > 0 {
		for _, t := range evenly(from, to, rangePieces) {
			if !(t.action > lo && t.action < hi) || (to-from)/rangePieces < (hi-lo)/likelyPieces { // else those over likely outcomes are closer
				all = append(all, t)
			}
		}
	}
	return all
}

// sharp are the actions where the formula bends or jumps whatever the outcome is.
func (s *search) sharp(from, to float64) (all []float64) {
	for _, bend := range s.of.Bends {
		if !bend.Outcome {
			all = append(all, between(bend.under(0), from, to, all, zeros)...)
		}
	}
	for _, divisor := range s.of.Divisors {
		if divisor.Outcome {
			continue
		}
		for _, a := range between(divisor.under(0), from, to, all, dips) { // there is no cost at it, and may be another on either side
			beside := 1e-12 * max(math.Abs(a), to-from)
			all = append(all, a-beside, a+beside)
		}
	}
	return all
}

// evenly are actions from one to another.
func evenly(from, to float64, pieces int) []tried {
	all := make([]tried, pieces+1)
	for k := range all {
		all[k].action = from + (to-from)*(float64(k)/float64(pieces))
	}
	return all
}

// look adds actions that are allowed to those that were looked at. Of two that only rounding sets apart one stays.
func (s *search) look(at []tried) {
	for _, t := range at {
		for _, a := range s.allowed(t.action) {
			s.all = append(s.all, tried{a, math.NaN(), t.sharp && a == t.action})
		}
	}
	slices.SortFunc(s.all, func(a, b tried) int { return cmp.Compare(a.action, b.action) })
	kept := s.all[:0]
	for _, t := range s.all {
		switch n := len(kept); {
		case n == 0 || t.action-kept[n-1].action > 1e-14*math.Abs(t.action):
			kept = append(kept, t)
		case t.sharp:
			kept[n-1] = t
		}
	}
	s.all = kept
	for k := range s.all {
		if t := &s.all[k]; math.IsNaN(t.cost) {
			t.cost = s.expected(t.action)
		}
	}
}

// allowed is a number that can be chosen, or the steps beside it.
func (s *search) allowed(x float64) []float64 {
	switch n := s.Len(); {
	case math.IsNaN(x) || math.IsInf(x, 0) || s.bounded() && (x < s.From || x > s.To):
		return nil
	case n > 0:
		const close = 1e-9
		at := (x - s.From) / s.Step
		below, above := s.nth(min(int(at+close), n-1)), s.nth(min(int(math.Ceil(at-close)), n-1))
		if below == above {
			return []float64{below}
		}
		return []float64{below, above}
	}
	return []float64{x}
}

// expected is what an action is expected to cost, infinite where that is no number or the search is to stop.
func (s *search) expected(action float64) float64 {
	if s.stopped() != nil {
		return math.Inf(1)
	}
	if c := s.of.Expected(action, s.d); !math.IsNaN(c) {
		return c
	}
	return math.Inf(1)
}

// best is the place of the cheapest of those that were looked at.
func (s *search) best() (best int) {
	for k, t := range s.all {
		if t.cost < s.all[best].cost {
			best = k
		}
	}
	return best
}

// refined is the cheapest action once dips are followed to their ends.
func (s *search) refined() float64 {
	least := s.all[s.best()]
	follow := func(lo, hi float64, from tried) {
		found := []float64{minimum(lo, hi, from.action, from.cost, s.expected)}
		if s.d.Whole() { // costs bend at whole numbers
			found = append(found, math.Round(found[0]))
		}
		for _, x := range found {
			for _, a := range s.allowed(x) {
				if c := s.expected(a); c < least.cost {
					least = tried{action: a, cost: c}
				}
			}
		}
	}
	for k, t := range s.all {
		left, right := s.all[max(k-1, 0)], s.all[min(k+1, len(s.all)-1)]
		switch {
		case t.cost > left.cost || t.cost > right.cost || math.IsInf(t.cost, 1):
		case t.sharp:
			follow(left.action, t.action, t)
			follow(t.action, right.action, t)
		case t.cost-depth(left, t, right) < least.cost-1e-12*math.Abs(least.cost):
			follow(left.action, right.action, t)
		}
	}
	return least.action
}

// depth is by how much costs that bend up alone may be lower between three actions than at the one in the middle, the cheapest.
func depth(left, mid, right tried) float64 {
	before, after := mid.action-left.action, right.action-mid.action
	if before == 0 || after == 0 { // at an edge
		return math.Inf(1)
	}
	return max((left.cost-mid.cost)*after/before, (right.cost-mid.cost)*before/after)
}

// minimum is where a function with one minimum from lo to hi has it, given its value at x between: by parabolas through three
// values as long as their steps become shorter, else by golden sections, as of Brent (1973).
func minimum(lo, hi, x, fx float64, f func(float64) float64) float64 {
	const golden = 0.3819660112501051
	tolerance := 1e-8 * (hi - lo)
	w, v, fw, fv := x, x, fx, fx
	step, before := 0.0, 0.0
	for range 100 {
		mid := lo + (hi-lo)/2
		close := tolerance + 1e-15*math.Abs(x)
		if math.Abs(x-mid) <= 2*close-(hi-lo)/2 {
			break
		}
		r, q := (x-w)*(fx-fv), (x-v)*(fx-fw)
		p := (x-v)*q - (x-w)*r
		if q = 2 * (q - r); q > 0 {
			p = -p
		}
		q = math.Abs(q)
		if next := p / q; math.Abs(next) < math.Abs(before)/2 && x+next > lo && x+next < hi {
			before, step = step, next
			if u := x + step; u-lo < 2*close || hi-u < 2*close {
				step = math.Copysign(close, mid-x)
			}
		} else {
			if before = hi - x; x >= mid {
				before = lo - x
			}
			step = golden * before
		}
		if math.Abs(step) < close {
			step = math.Copysign(close, step)
		}
		u := x + step
		fu := f(u)
		switch {
		case fu <= fx:
			if u >= x {
				lo = x
			} else {
				hi = x
			}
			v, fv, w, fw, x, fx = w, fw, x, fx, u, fu
			continue
		case u < x:
			lo = u
		default:
			hi = u
		}
		if fu <= fw || w == x {
			v, fv, w, fw = w, fw, u, fu
		} else if fu <= fv || v == x || v == w {
			v, fv = u, fu
		}
	}
	return x
}
