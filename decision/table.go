package decision

import (
	"fmt"
	"math"

	"github.com/lossep/lossep/internal/fault"
	"github.com/lossep/lossep/normal"
)

// Table holds the utility of each action under each outcome: Table[action][outcome].
// Outcome 0 is y = −1 and outcome 1 is y = +1. Entries are at least zero; only
// their ratios matter to a calibrated approximation.
type Table [][2]float64

// TableError says what is wrong with a utility or cost table, and where.
type TableError struct {
	Action, Outcome int // zero-based; −1 when the table as a whole is meant
	Msg             string
}

func (e *TableError) Error() string {
	switch {
	case e.Action < 0:
		return "utility table: " + e.Msg
	case e.Outcome < 0:
		return fmt.Sprintf("utility table, row %d: %s", e.Action+1, e.Msg)
	}
	return fmt.Sprintf("utility table, row %d, column %d: %s", e.Action+1, e.Outcome+1, e.Msg)
}

// smallestEntry is the largest entry that a table has to have at least. Times a
// probability it must not come near the smallest numbers, which have few digits.
const smallestEntry = 1e-200

// NewTable makes a table from rows of numbers and checks it.
func NewTable(rows [][]float64) (Table, error) {
	t := make(Table, len(rows))
	for a, row := range rows {
		if len(row) != 2 {
			return nil, &TableError{a, -1, fmt.Sprintf("wants one entry for each of the 2 outcomes and has %d", len(row))}
		}
		t[a] = [2]float64{row[0], row[1]}
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	return t, t.checkChoice()
}

// checkChoice reports a table whose actions are all the same to rounding. A single case
// may have such a table; as that of all cases it leaves nothing to decide.
func (t Table) checkChoice() error {
	for a := range t {
		if !t.tie(a, 0, 1, 0) || !t.tie(0, a, 1, 0) || !t.tie(a, 0, 0, 1) || !t.tie(0, a, 0, 1) {
			return nil
		}
	}
	return &TableError{-1, -1, "all actions have the same entries, so no action is better than another"}
}

// Check reports the first entry that is not a utility.
func (t Table) Check() error {
	if len(t) < 2 {
		return &TableError{-1, -1, fmt.Sprintf("wants at least 2 actions to choose from, one a row, and has %d", len(t))}
	}
	for a, row := range t {
		for y, u := range row {
			if math.IsNaN(u) || math.IsInf(u, 0) {
				return &TableError{a, y, fmt.Sprintf("%v is not a finite number", u)}
			}
			if u < 0 {
				return &TableError{a, y, fmt.Sprintf("%v is negative; utilities are at least 0, so add the same amount to every entry", u)}
			}
		}
	}
	switch most := t.Max(); {
	case most == 0:
		return &TableError{-1, -1, "every entry is 0, so no action is better than another"}
	case most < smallestEntry:
		return &TableError{-1, -1, fmt.Sprintf("the largest entry is %v; only ratios matter, so multiply all by the same number until it is at least %v", most, smallestEntry)}
	}
	return nil
}

// FromCosts turns costs into utilities, u = ceiling − cost. A NaN ceiling stands
// for the largest cost, which gives the worst mistake a utility of 0. The ceiling
// does not change which action is best under a given posterior; it does change
// how strongly the utility tilts a calibrated approximation.
func FromCosts(costs Table, ceiling float64) (Table, error) {
	most := math.Inf(-1)
	for a, row := range costs {
		for y, c := range row {
			if math.IsNaN(c) || math.IsInf(c, 0) {
				return nil, &TableError{a, y, fmt.Sprintf("%v is not a finite number", c)}
			}
			most = max(most, c)
		}
	}
	if math.IsNaN(ceiling) {
		ceiling = most
	}
	if ceiling < most {
		return nil, &TableError{-1, -1, fmt.Sprintf("the ceiling %v is below the largest cost %v", ceiling, most)}
	}
	t := make(Table, len(costs))
	for a, row := range costs {
		t[a] = [2]float64{ceiling - row[0], ceiling - row[1]}
	}
	return t, t.Check()
}

// ExpectedUtility is the expected utility of an action when outcome 1 has
// probability p1 and outcome 0 has p0.
func (t Table) ExpectedUtility(action int, p0, p1 float64) float64 {
	return t[action][0]*p0 + t[action][1]*p1
}

// ExpectedUtilities writes the expected utility of every action.
func (t Table) ExpectedUtilities(dst []float64, p1 float64) {
	for a := range t {
		dst[a] = t.ExpectedUtility(a, 1-p1, p1)
	}
}

// Best is the action with the highest expected utility. Among equals it is held,
// if that is one of them, and otherwise the first; −1 stands for none held.
func (t Table) Best(p0, p1 float64, held int) int {
	fault.At(fault.Utility)
	best := 0
	for a := 1; a < len(t); a++ {
		if t.ExpectedUtility(a, p0, p1) > t.ExpectedUtility(best, p0, p1) {
			best = a
		}
	}
	if held >= 0 && t.tie(held, best, p0, p1) {
		return held
	}
	for a := range best {
		if t.tie(a, best, p0, p1) {
			return a
		}
	}
	return best
}

// Worst is the action with the lowest expected utility, the first among equals.
func (t Table) Worst(p0, p1 float64) int {
	fault.At(fault.Utility)
	worst := 0
	for a := 1; a < len(t); a++ {
		if t.ExpectedUtility(a, p0, p1) < t.ExpectedUtility(worst, p0, p1) {
			worst = a
		}
	}
	return worst
}

// tie reports whether action a is as good as the best to rounding: the terms of
// an expected utility carry a relative error of a few units in the last place.
func (t Table) tie(a, best int, p0, p1 float64) bool {
	const ulps = 16 * 0x1p-52
	size := t.ExpectedUtility(best, p0, p1)
	return size-t.ExpectedUtility(a, p0, p1) <= ulps*size
}

// Threshold is, for two actions, the probability p of outcome 1 beyond which
// action 1 is better than action 0, and b = Φ⁻¹(p), the paper's threshold on the
// standardised latent mean. It reports false where no probability strictly between
// 0 and 1 divides the actions, that is, when one action is never better, or when
// action 1 is better below the threshold and not above.
func (t Table) Threshold() (p, b float64, ok bool) {
	if len(t) != 2 {
		return 0, 0, false
	}
	gain0 := t[0][0] - t[1][0] // of action 0 when the outcome is 0
	gain1 := t[1][1] - t[0][1] // of action 1 when the outcome is 1
	if !(gain0 > 0 && gain1 > 0) {
		return 0, 0, false
	}
	// From the smaller side, whose probability keeps its digits. Relative to the larger
	// gain nothing overflows, and what vanishes could not be told from 0.
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
