package decision

import (
	"fmt"
	"math"

	"github.com/lossep/lossep/internal/fault"
	"github.com/lossep/lossep/normal"
)

// Stakes is what is at stake in one case: what each action costs, or brings, under each
// outcome. Everything that is decided by costs or utilities is decided here, and what is
// expected is in the terms they were given in. Probabilities of a case are given for every
// outcome, each accurate by itself: where one of them is close to 1 the others cannot be
// had as a difference, and a cost may be large enough for them to count.
type Stakes struct {
	Table   Table
	Costs   bool     // the entries are costs, not utilities
	Spreads []Spread // of entries that are not known, which Table has the means of
}

// sign makes more better.
func (s Stakes) sign() float64 {
	if s.Costs {
		return -1
	}
	return 1
}

// Expected is the expected cost of an action, or the expected utility, Σ_y u[a][y] P(y).
func (s Stakes) Expected(action int, p []float64) float64 {
	sum := 0.0
	for y, u := range s.Table[action] {
		sum += u * p[y]
	}
	return sum
}

// Choice is the decision in one case.
type Choice struct {
	Action int
	// Expected is what each action is expected to cost, or to bring.
	Expected []float64
	// Margin is by how much the action is better than the next best.
	Margin float64
}

// Choose is the best action, with what is expected of each, written to dst.
func (s Stakes) Choose(dst, p []float64) Choice {
	c := Choice{Action: s.Best(p, -1), Expected: dst, Margin: math.Inf(1)}
	for a := range s.Table {
		dst[a] = s.Expected(a, p)
	}
	for a, x := range dst {
		if a != c.Action {
			c.Margin = max(0, min(c.Margin, s.sign()*(dst[c.Action]-x)))
		}
	}
	return c
}

// Advantage is by how much an action is better than the best of the others, below zero if one of
// them is better.
func (s Stakes) Advantage(action int, p []float64) float64 {
	own, least := s.Expected(action, p), math.Inf(1)
	for a := range s.Table {
		if a != action {
			least = min(least, s.sign()*(own-s.Expected(a, p)))
		}
	}
	return least
}

// Best is the action with the lowest expected cost, or the highest expected utility.
// Among equals it is held, if that is one of them, and otherwise the first; −1 stands for
// none held.
func (s Stakes) Best(p []float64, held int) int {
	best := s.extreme(p, s.sign())
	if held >= 0 && s.tie(held, best, p) {
		return held
	}
	for a := range best {
		if s.tie(a, best, p) {
			return a
		}
	}
	return best
}

// Worst is the action with the highest expected cost, or the lowest expected utility,
// the first among equals.
func (s Stakes) Worst(p []float64) int { return s.extreme(p, -s.sign()) }

func (s Stakes) extreme(p []float64, sign float64) int {
	fault.At(fault.Utility)
	best, most := 0, math.Inf(-1)
	for a := range s.Table {
		if x := sign * s.Expected(a, p); x > most {
			best, most = a, x
		}
	}
	return best
}

// tie reports whether action a is as good as the best to rounding: each term of an
// expectation carries a relative error of a few units in the last place.
func (s Stakes) tie(a, best int, p []float64) bool {
	const ulps = 16 * 0x1p-52
	one, other := 0.0, 0.0
	for y, q := range p {
		one += math.Abs(s.Table[a][y]) * q
		other += math.Abs(s.Table[best][y]) * q
	}
	return s.sign()*(s.Expected(best, p)-s.Expected(a, p)) <= ulps*max(one, other)
}

// checkChoice reports stakes whose actions are all the same to rounding. A single case may
// have such; as those of all cases they leave nothing to decide.
func (s Stakes) checkChoice() error {
	sure := make([]float64, len(s.Table[0]))
	for y := range sure {
		clear(sure)
		sure[y] = 1
		if best, worst := s.extreme(sure, 1), s.extreme(sure, -1); !s.tie(best, worst, sure) || !s.tie(worst, best, sure) {
			return nil
		}
	}
	return &TableError{-1, -1, "all actions have the same entries, so no action is better than another"}
}

// Zero is the entry that counts as no utility at all: the largest of costs, the smallest
// of utilities if that is negative, or else 0.
func (s Stakes) Zero() float64 {
	zero := 0.0
	if s.Costs {
		zero = math.Inf(-1)
	}
	for _, row := range s.Table {
		for _, u := range row {
			zero = s.worse(zero, u)
		}
	}
	return zero
}

func (s Stakes) worse(a, b float64) float64 {
	if s.Costs {
		return max(a, b)
	}
	return min(a, b)
}

// commonZero is that of all cases.
func commonZero(cases []Stakes) float64 {
	zero := cases[0].Zero()
	for _, s := range cases[1:] {
		zero = s.worse(zero, s.Zero())
	}
	return zero
}

// Utilities are the entries as utilities, none of them negative: zero − cost, or
// utility − zero. Which action is best under a given posterior does not depend on zero;
// how strongly utilities tilt a calibrated approximation does.
func (s Stakes) Utilities(zero float64) (Table, error) {
	t := make(Table, len(s.Table))
	for a, row := range s.Table {
		t[a] = make([]float64, len(row))
		for y, u := range row {
			if math.IsNaN(u) || math.IsInf(u, 0) {
				return nil, &TableError{a, y, fmt.Sprintf("%v is not a finite number", u)}
			}
			t[a][y] = s.sign() * (u - zero)
		}
	}
	return t, t.valid(len(t[0]))
}

// Range is the probabilities of outcome 1 for which an action is best.
type Range struct {
	Action   int
	From, To float64
}

// Ranges divides [0, 1] by the best action, of two outcomes. Expectations are lines over
// the probability p of outcome 1, and the best is their upper envelope: from p = 0, where
// the highest intercept leads, and the steepest among equals, the next leader is always
// the steeper line that is met first. Actions that are never best, or only at a point, do
// not occur.
func (s Stakes) Ranges() []Range {
	// Times a power of two that leaves the largest entry between a quarter and a half: only
	// ratios matter, and sums neither overflow nor vanish.
	_, e := math.Frexp(s.Table.size())
	at := func(a, y int) float64 { return s.sign() * math.Ldexp(s.Table[a][y], -e-1) }
	slope := func(a int) float64 { return at(a, 1) - at(a, 0) }
	best := 0
	for a := range s.Table {
		if at(a, 0) > at(best, 0) || at(a, 0) == at(best, 0) && at(a, 1) > at(best, 1) {
			best = a
		}
	}
	ranges := []Range{{best, 0, 1}}
	for {
		next, where := -1, 1.0
		for a := range s.Table {
			gain0, gain1 := at(best, 0)-at(a, 0), at(a, 1)-at(best, 1)
			if !(gain0+gain1 > 0) || !(gain1 > 0) {
				continue // not steeper, or not met before p = 1
			}
			p := gain0 / (gain0 + gain1)
			if p < where || next >= 0 && p == where && slope(a) > slope(next) {
				next, where = a, p
			}
		}
		if next < 0 {
			return ranges
		}
		last := &ranges[len(ranges)-1]
		if where > last.From {
			last.To = where
			ranges = append(ranges, Range{next, where, 1})
		} else {
			last.Action = next // three lines through one point, to rounding
		}
		best = next
	}
}

// Threshold is, for two actions and two outcomes, the probability p of outcome 1 beyond
// which action 1 is better than action 0, and b = Φ⁻¹(p), the paper's threshold on the
// standardised latent mean. It reports false where no probability strictly between
// 0 and 1 divides the actions, that is, when one action is never better, or when
// action 1 is better below the threshold and not above.
func (s Stakes) Threshold() (p, b float64, ok bool) {
	t := s.Table
	if len(t) != 2 || len(t[0]) != 2 {
		return 0, 0, false
	}
	gain0 := s.sign() * (t[0][0] - t[1][0]) // of action 0 when the outcome is 0
	gain1 := s.sign() * (t[1][1] - t[0][1]) // of action 1 when the outcome is 1
	if !(gain0 > 0 && gain1 > 0) {
		return 0, 0, false
	}
	// From the smaller side, whose probability keeps its digits. Relative to the larger
	// gain nothing overflows, and what vanishes could not be distinguished from 0.
	most := max(gain0, gain1)
	gain0, gain1 = gain0/most, gain1/most
	p, q := gain0/(gain0+gain1), gain1/(gain0+gain1)
	switch {
	case p == 0 || q == 0:
		return 0, 0, false
	case p > 0.5:
		return p, -normal.Quantile(q), true
	}
	return p, normal.Quantile(p), true
}
