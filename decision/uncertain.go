package decision

import (
	"fmt"
	"math"

	"github.com/lossep/lossep/expr"
)

// Uncertain is a part of an entry that is not known, such as uniform(4, 8). It is a part of that entry
// alone, and independent of others.
type Uncertain struct {
	Action, Outcome int
	expr.Unknown
	Name string // of the entry
}

// Uncertain are the parts of entries that are not known, in the order of the entries.
func (s *Spec) Uncertain() (all []Uncertain) {
	for a, row := range s.entries {
		for y, e := range row {
			for _, u := range e.Unknowns() {
				all = append(all, Uncertain{a, y, u, fmt.Sprintf("%s under %s", s.actions[a], s.outcomeName(y))})
			}
		}
	}
	return all
}

// Spread is how an entry of a case varies with what is not known: by Slope times its deviation from
// the mean.
type Spread struct {
	Action, Outcome int
	Slope           float64
	Of              *expr.Distribution
}

// spreads are those of a case.
func (s *Spec) spreads(values func(column string) (float64, error)) ([]Spread, error) {
	var all []Spread
	for _, u := range s.Uncertain() {
		slope, err := s.entries[u.Action][u.Outcome].Slope(u.Unknown, values)
		if err != nil {
			return nil, err
		}
		all = append(all, Spread{u.Action, u.Outcome, slope, u.Distribution})
	}
	return all, nil
}

// CouldFlip tells whether another action would be better for some values, within their ranges, of what
// is not known, when outcomes have these probabilities. Each unknown moves the expectation of one action
// only, so the ends of what is expected of every action are reached together.
func (s Stakes) CouldFlip(c *Choice, p []float64) bool {
	low, high := make([]float64, len(c.Expected)), make([]float64, len(c.Expected))
	for a, x := range c.Expected {
		low[a], high[a] = -s.sign()*x, -s.sign()*x // less is better
	}
	for _, u := range s.Spreads {
		from, to := u.Of.Range()
		by := -s.sign() * u.Slope * p[u.Outcome]
		one, other := by*(from-u.Of.Mean()), by*(to-u.Of.Mean())
		low[u.Action] += min(one, other)
		high[u.Action] += max(one, other)
	}
	for a := range low {
		if a != c.Action && low[a] < high[c.Action] && (low[a] < -s.sign()*c.Expected[a] || high[c.Action] > -s.sign()*c.Expected[c.Action]) {
			return true
		}
	}
	return false
}

// Worths are what it would be worth in a case to know each of its spreads before deciding, the others
// at their means. With x = E + β(θ − μ) the cost of the action that depends on θ and m the least of the
// others, that is min(E, m) − E min(x, m) = E max(0, m − x) − max(0, m − E), of which the first is in
// closed form: m − x changes its sign at θ = μ + (m − E)/β.
func (s Stakes) Worths(c *Choice, p []float64) []float64 {
	worths := make([]float64, len(s.Spreads))
	for k, u := range s.Spreads {
		least := math.Inf(1)
		for a, x := range c.Expected {
			if a != u.Action {
				least = min(least, -s.sign()*x)
			}
		}
		slope, mean := -s.sign()*u.Slope*p[u.Outcome], u.Of.Mean()
		gap := least + s.sign()*c.Expected[u.Action] // m − E
		if slope == 0 {
			continue
		}
		at := mean + gap/slope
		share, below := u.Of.Below(at)
		positive := slope * (at*share - below)
		if slope < 0 {
			positive = -slope * (mean - below - at*(1-share))
		}
		worths[k] = max(0, positive-max(0, gap))
	}
	return worths
}

// mostUncertain is up to how many unknowns all combinations of the ends of their ranges are gone
// through.
const mostUncertain = 8

// thresholds are the lowest and the highest probability that divides two actions of two outcomes, over the
// ranges of what is not known; it reports false where nothing is unknown, or where no probability divides them
// for some values.
func (s Stakes) thresholds() (low, high float64, ok bool) {
	if n := len(s.Spreads); n == 0 || n > mostUncertain {
		return 0, 0, false
	}
	low, high = math.Inf(1), math.Inf(-1)
	for ends := range 1 << len(s.Spreads) {
		t := Stakes{Table: make(Table, len(s.Table)), Costs: s.Costs}
		for a, row := range s.Table {
			t.Table[a] = append([]float64(nil), row...)
		}
		for k, u := range s.Spreads {
			x, to := u.Of.Range()
			if ends>>k&1 == 1 {
				x = to
			}
			t.Table[u.Action][u.Outcome] += u.Slope * (x - u.Of.Mean())
		}
		p, _, divides := t.Threshold()
		if !divides {
			return 0, 0, false
		}
		low, high = min(low, p), max(high, p)
	}
	return low, high, true
}
