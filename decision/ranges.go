package decision

import (
	"math"
)

// Max is the largest entry of a table.
func (t Table) Max() float64 {
	most := math.Inf(-1)
	for _, row := range t {
		most = max(most, row[0], row[1])
	}
	return most
}

// scaled is the table times a power of two that leaves its largest entry between a
// quarter and a half: only ratios matter, and sums neither overflow nor vanish.
func (t Table) scaled() Table {
	_, e := math.Frexp(t.Max())
	s := make(Table, len(t))
	for a, row := range t {
		s[a] = [2]float64{math.Ldexp(row[0], -e-1), math.Ldexp(row[1], -e-1)}
	}
	return s
}

// Range is the probabilities of outcome 1 for which an action is best.
type Range struct {
	Action   int
	From, To float64
}

// Ranges divides [0, 1] by the best action of a utility table. Expected utilities are
// lines over the probability p of outcome 1, and the best is their upper envelope:
// from p = 0, where the highest intercept leads, and the steepest among equals, the
// next leader is always the steeper line that is met first. Actions that are never
// best, or only at a point, do not occur.
func (t Table) Ranges() []Range {
	t = t.scaled()
	slope := func(a int) float64 { return t[a][1] - t[a][0] }
	best := 0
	for a := range t {
		if t[a][0] > t[best][0] || t[a][0] == t[best][0] && t[a][1] > t[best][1] {
			best = a
		}
	}
	ranges := []Range{{best, 0, 1}}
	for {
		next, at := -1, 1.0
		for a := range t {
			gain0, gain1 := t[best][0]-t[a][0], t[a][1]-t[best][1]
			if !(gain0+gain1 > 0) || !(gain1 > 0) {
				continue // not steeper, or not met before p = 1
			}
			p := gain0 / (gain0 + gain1)
			if p < at || next >= 0 && p == at && slope(a) > slope(next) {
				next, at = a, p
			}
		}
		if next < 0 {
			return ranges
		}
		last := &ranges[len(ranges)-1]
		if at > last.From {
			last.To = at
			ranges = append(ranges, Range{next, at, 1})
		} else {
			last.Action = next // three lines through one point, to rounding
		}
		best = next
	}
}
