package numbers

import (
	"maps"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/table"
)

// sharing gathers the cases of an audit that share a capacity.
type sharing struct {
	limits  *decision.Capacities
	over    table.Division
	cases   []decision.NumberCase
	periods []string // of each case; nil if all share a capacity
}

// add keeps the cases of a table, with what is at stake and what is predicted.
func (s *sharing) add(t *table.Table, stakes []decision.Stake, all []Distribution, missing ...string) error {
	values := make(map[string][]float64)
	var err error
	for _, name := range s.limits.Columns() {
		if values[name], err = t.Floats(name, missing...); err != nil {
			return err
		}
	}
	for i, d := range all {
		efforts, err := s.limits.Efforts(func(column string) (float64, error) { return values[column][i], nil })
		if err != nil {
			return Located(t.Place(i), err)
		}
		s.cases = append(s.cases, decision.NumberCase{Stake: stakes[i%len(stakes)], Of: d, Efforts: efforts})
	}
	periods, err := t.Divided(s.over)
	s.periods = append(s.periods, periods...)
	return err
}

// groups are the cases that share a capacity, by period.
func (s *sharing) groups() map[string][]int {
	all := make(map[string][]int)
	for i := range s.cases {
		name := ""
		if s.periods != nil {
			name = s.periods[i]
		}
		all[name] = append(all[name], i)
	}
	return all
}

// repeated is a case that takes and costs as often as it counts.
func repeated(c decision.NumberCase, weight float64) decision.NumberCase {
	c.Stake = c.Times(weight)
	efforts := make([][]float64, len(c.Efforts))
	for l, of := range c.Efforts {
		efforts[l] = floats.ScaleTo(make([]float64, len(of)), weight, of)
	}
	c.Efforts = efforts
	return c
}

// limited measures decisions within the capacity, as audit.Limited has them.
func (a *auditing) limited(out *Audit, mean func(of func(i int) float64, within *compare.Range) compare.Estimate) error {
	s := a.shared
	if s == nil {
		return nil
	}
	l := &audit.Limited{Per: s.over.Per}
	for _, c := range s.limits.All {
		l.Limits = append(l.Limits, audit.LimitedPrice{Name: c.Name, Most: c.Most})
	}
	total := float64(len(s.cases))
	if a.weights != nil {
		total = floats.Sum(a.weights)
	}
	groups, costs := s.groups(), make([]float64, len(s.cases))
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		rows, some := groups[name], []decision.NumberCase{}
		for _, i := range rows {
			c := s.cases[i]
			if a.weights != nil {
				c = repeated(c, a.weights[i])
			}
			some = append(some, c)
		}
		choices, found, err := s.limits.AllocateNumbers(some)
		if err != nil {
			return &lossep.InputError{What: "capacity", Msg: err.Error(), Err: err}
		}
		for k, i := range rows {
			costs[i] = s.cases[i].Cost(choices[k].Action, a.cases[i].Outcome)
		}
		l.Expected += (found.Cost - found.Free) / total
		l.Gap += (found.Cost - found.Bound) / total
		for k := range l.Limits {
			l.Limits[k].Used += found.Used[k] / float64(len(groups))
			l.Limits[k].Price += found.Prices[k] / float64(len(groups))
		}
	}
	l.Periods = len(groups)
	measured := func(of func(i int) float64) audit.Measure {
		e := mean(of, nil)
		return audit.Measure{Value: e.Mean, Low: e.Low, High: e.High}
	}
	l.Cost = measured(func(i int) float64 { return costs[i] })
	l.Extra = measured(func(i int) float64 { return costs[i] - a.ways[0].Costs[i] })
	out.Limited = l
	return nil
}
