package audit

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/table"
)

// Limited is what decisions within a capacity cost on past cases.
type Limited struct {
	Per     string         `json:"per,omitempty"`
	Periods int            `json:"periods"`
	Limits  []LimitedPrice `json:"limits"`
	// Cost is that per case within the capacity, Extra by how much it is above that without one, and
	// Expected what Extra is by the probabilities.
	Cost     Measure `json:"cost"`
	Extra    Measure `json:"extra"`
	Expected float64 `json:"expected_extra"`
	// Ranked is what it would cost more per case to give the capacity to those of the cases worth it that
	// have the highest probability; nil with more than two outcomes.
	Ranked *Measure `json:"by_probability,omitempty"`
	// Gap is the most that another allocation could save per case, by the probabilities.
	Gap float64 `json:"gap"`
}

// LimitedPrice is a limit, what is used of it, and what one more unit of it would save by the
// probabilities, in the mean of periods.
type LimitedPrice struct {
	Name  string  `json:"name"`
	Most  float64 `json:"limit"`
	Used  float64 `json:"used"`
	Price float64 `json:"price"`
}

// limit finds what actions take in each row, and the periods that share a capacity.
func (a *Audit) limit() (err error) {
	if len(a.opt.Capacity) == 0 {
		return nil
	}
	if a.limits, err = a.problem.Utility.Within(a.opt.Capacity); err != nil {
		return &lossep.InputError{What: "capacity", Msg: err.Error(), Err: err}
	}
	values := make(map[string][]float64)
	for _, name := range a.limits.Columns() {
		if values[name], err = a.subject.Floats(name, a.problem.Recipe.Missing...); err != nil {
			return err
		}
	}
	a.efforts = make([][][]float64, a.len())
	for i := range a.efforts {
		if a.efforts[i], err = a.limits.Efforts(func(column string) (float64, error) { return values[column][i], nil }); err != nil {
			at := a.subject.Place(i)
			at.Msg, at.Err = err.Error(), err
			return at
		}
	}
	a.periods, err = a.subject.Divided(table.Division{Per: a.opt.Per, Time: a.opt.Time, Dates: a.opt.Fit.Data.Dates})
	return err
}

// limited measures decisions within the capacity by the probabilities of a method. Cases of each repeat
// share it; a case that counts twice takes twice as much.
func (a *Audit) limited(s *Score, folds []*Fold) (*Limited, error) {
	if a.limits == nil {
		return nil, nil
	}
	out := &Limited{Per: a.opt.Per}
	for _, c := range a.opt.Capacity {
		out.Limits = append(out.Limits, LimitedPrice{Name: c.Name, Most: c.Most})
	}
	within, ranked := make([]float64, a.len()), make([]float64, a.len())
	every := indices.Of(len(a.problem.Utility.Actions()))
	allocations := 0
	for r := range a.opt.Repeats {
		p, groups := a.sharing(s.Method, folds, r)
		out.Periods = max(out.Periods, len(groups))
		for _, name := range slices.Sorted(maps.Keys(groups)) {
			rows := groups[name]
			slices.Sort(rows) // as they are in the table
			allocations++
			found, err := a.allocate(rows, p)
			if err != nil {
				return nil, err
			}
			for k, i := range rows {
				within[i] += a.part() * a.realised(i, found.Actions[k])
			}
			for k, action := range a.byProbability(rows, p) {
				ranked[rows[k]] += a.part() * a.realised(rows[k], action)
			}
			out.Expected += a.part() * (found.Cost - found.Free) / a.total
			out.Gap += a.part() * (found.Cost - found.Bound) / a.total
			for l := range out.Limits {
				out.Limits[l].Used += found.Used[l]
				out.Limits[l].Price += found.Prices[l]
			}
		}
	}
	for l := range out.Limits {
		out.Limits[l].Used /= float64(allocations)
		out.Limits[l].Price /= float64(allocations)
	}
	cost, err := a.cases.Mean(within, a.possible(every), Level)
	if err != nil {
		return nil, err
	}
	extra, err := a.cases.Difference(within, s.losses, a.differences(every, every), Level)
	if err != nil {
		return nil, err
	}
	out.Cost, out.Extra = *measure(cost), *measure(extra)
	if a.several() {
		return out, nil
	}
	more, err := a.cases.Difference(ranked, within, a.differences(every, every), Level)
	if err == nil {
		out.Ranked = measure(more)
	}
	return out, err
}

// sharing are the probabilities of a repeat, and the cases that share a capacity, by period.
func (a *Audit) sharing(method string, folds []*Fold, repeat int) (p [][]float64, groups map[string][]int) {
	p, groups = make([][]float64, a.len()), make(map[string][]int)
	for _, f := range folds {
		if f.Repeat != repeat {
			continue
		}
		for k, i := range f.Rows {
			if p[i] = f.Answers[method][k]; a.weights[i] > 0 {
				name := ""
				if a.periods != nil {
					name = a.periods[i]
				}
				groups[name] = append(groups[name], i)
			}
		}
	}
	return p, groups
}

// allocate shares the capacity out to some rows of known probabilities.
func (a *Audit) allocate(rows []int, p [][]float64) (*decision.Allocation, error) {
	expected, efforts := make([][]float64, len(rows)), make([][][]float64, len(rows))
	for k, i := range rows {
		for action := range a.costs[i].Table {
			expected[k] = append(expected[k], a.weights[i]*a.costs[i].Expected(action, p[i]))
		}
		efforts[k] = a.taken(i)
	}
	found, err := a.limits.Allocate(expected, true, efforts)
	var short *decision.LimitError
	if errors.As(err, &short) {
		return nil, &lossep.InputError{What: "capacity", Msg: short.Error(), Err: err}
	}
	return found, err
}

// taken are the efforts of a row as often as it counts.
func (a *Audit) taken(i int) [][]float64 {
	if a.weights[i] == 1 {
		return a.efforts[i]
	}
	all := make([][]float64, len(a.efforts[i]))
	for l, of := range a.efforts[i] {
		all[l] = floats.ScaleTo(make([]float64, len(of)), a.weights[i], of)
	}
	return all
}

// byProbability gives the capacity to the cases of the highest probability of the outcome for which the
// action that takes most is the right one: each its best action that there is room for.
func (a *Audit) byProbability(rows []int, p [][]float64) []int {
	takes := func(action int) (sum float64) {
		for _, of := range a.efforts[rows[0]] {
			sum += of[action]
		}
		return sum
	}
	outcome := 1
	if takes(a.right(0)) > takes(a.right(1)) {
		outcome = 0
	}
	order := indices.Of(len(rows))
	slices.SortStableFunc(order, func(j, k int) int { return cmp.Compare(p[rows[k]][outcome], p[rows[j]][outcome]) })
	left := make([]float64, len(a.opt.Capacity))
	for l, c := range a.opt.Capacity {
		left[l] = c.Most * (1 + 1e-12) // the rounding of sums of efforts
	}
	actions := make([]int, len(rows))
	for _, k := range order {
		i := rows[k]
		best, efforts := -1, a.taken(i)
		for action := range a.costs[i].Table {
			fits := true
			for l := range left {
				fits = fits && (efforts[l][action] == 0 || efforts[l][action] <= left[l])
			}
			if fits && (best < 0 || a.costs[i].Expected(action, p[i]) < a.costs[i].Expected(best, p[i])) {
				best = action
			}
		}
		actions[k] = max(0, best)
		for l := range left {
			left[l] -= efforts[l][actions[k]]
		}
	}
	return actions
}
