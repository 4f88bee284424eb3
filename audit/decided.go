package audit

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/compare"
)

// decided lists the decisions of one method.
func (a *Audit) decided(d decider, s *Score, folds []*Fold) []Decided {
	var all []Decided
	for n, f := range folds {
		for k, i := range f.Rows {
			var p []float64
			if d.model != "" {
				p = f.Answers[d.model][k]
			}
			action := s.actions[n][k]
			all = append(all, Decided{
				Row: i + 1, Line: a.subject.Line(i), ID: a.id(i), Repeat: f.Repeat + 1, Fold: f.Number + 1,
				Outcome: a.outcome(i), Method: d.name, Probabilities: p, Action: action, Cost: a.realised(i, action), Weight: a.weights[i],
			})
		}
	}
	return all
}

// meanProbabilities are those of a model for every row, averaged over repeats.
func (a *Audit) meanProbabilities(model string, folds []*Fold) [][]float64 {
	mean := make([][]float64, a.len())
	for i := range mean {
		mean[i] = make([]float64, len(a.outcomes()))
	}
	for _, f := range folds {
		for k, i := range f.Rows {
			floats.AddScaled(mean[i], a.part(), f.Answers[model][k])
		}
	}
	return mean
}

// nearestCases is how many cases near the boundary are listed.
const nearestCases = 20

// Case is a case that is nearly as well decided otherwise.
type Case struct {
	Row     int    `json:"row"`          // from 1
	Line    int    `json:"line"`         // in the file
	ID      string `json:"id,omitempty"` // of the column of identifiers, if there is one
	Outcome string `json:"outcome"`
	// Probabilities are those of all outcomes, mean over repeats.
	Probabilities []float64 `json:"probabilities"`
	Action        string    `json:"action"`
	// Margin is what the next best action is expected to cost more.
	Margin float64 `json:"margin"`
	// Worth is what it would have been worth to know the outcome, by the probability.
	Worth float64 `json:"worth_outcome"`
	Cost  float64 `json:"cost"` // what the action turned out to cost
	// Stakes are the cells of the columns that costs depend on, in the order of the utility's columns.
	Stakes []string `json:"stakes,omitempty"`
	// Effects are what single columns do to the probability, the largest first.
	Effects []Effect `json:"effects,omitempty"`
}

// nearest are the cases with the smallest margins.
func (a *Audit) nearest(p [][]float64, folds []*Fold) []Case {
	var rows []int
	margins := make([]float64, len(p))
	for i, w := range a.weights {
		if w > 0 {
			rows = append(rows, i)
			margins[i] = margin(a.costs[i], p[i])
		}
	}
	slices.SortStableFunc(rows, func(i, j int) int { return cmp.Compare(margins[i], margins[j]) })
	var cases []Case
	outcomes, actions := a.outcomes(), a.problem.Utility.Actions()
	var stakes [][]string
	for _, column := range a.problem.Utility.Columns() {
		if cells, err := a.subject.Texts(column); err == nil {
			stakes = append(stakes, cells)
		}
	}
	for _, i := range rows[:min(len(rows), nearestCases)] {
		action := cheapest(a.costs[i], p[i])
		cases = append(cases, Case{
			Row: i + 1, Line: a.subject.Line(i), ID: a.id(i), Outcome: outcomes[a.outcome(i)], Probabilities: p[i],
			Action: actions[action], Margin: margins[i], Worth: outcomeWorth(a.costs[i], p[i]), Cost: a.realised(i, action), Effects: effectsOf(folds, i),
		})
		for _, cells := range stakes {
			c := &cases[len(cases)-1]
			c.Stakes = append(c.Stakes, cells[i])
		}
	}
	return cases
}

// Measure is a number with its interval at Level.
type Measure struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func measure(e compare.Estimate) *Measure { return &Measure{e.Mean, e.Low, e.High} }

// Count is how often an action met an outcome.
type Count struct {
	Action  int `json:"action"`
	Outcome int `json:"outcome"`
	// Cases is their number, by weight where cases have one, and averaged over repeats.
	Cases float64 `json:"cases"`
	// OfOutcome is the share of the outcome's cases that got the action, and OfAction
	// the share of the action's cases that had the outcome; nil where there are fewer
	// than two such cases. For two actions and outcomes these are sensitivity and
	// specificity, and the predictive values.
	OfOutcome *Measure `json:"of_outcome,omitempty"`
	OfAction  *Measure `json:"of_action,omitempty"`
}

// counts is the confusion matrix of a way to decide, action by action, within a part of
// the cases: 1 where they belong to it, and nil for all.
func (a *Audit) counts(s *Score, within []float64) []Count {
	met := make([][]float64, len(a.outcomes()))
	for y := range met {
		met[y] = make([]float64, a.len())
	}
	for i := range a.len() {
		met[a.outcome(i)][i] = 1
		if within != nil {
			met[a.outcome(i)][i] = within[i]
		}
	}
	var all []Count
	both, taken := make([]float64, a.len()), make([]float64, a.len())
	for action := range s.taken {
		for i, share := range s.taken[action] {
			if taken[i] = share; within != nil {
				taken[i] *= within[i]
			}
		}
		for y := range met {
			c := Count{Action: action, Outcome: y}
			for i := range both {
				both[i] = taken[i] * met[y][i]
				c.Cases += both[i] * a.weights[i]
			}
			c.OfOutcome, c.OfAction = a.share(both, met[y]), a.share(both, taken)
			if len(s.decider.choices) == 1 && c.OfOutcome != nil { // which is certain
				*c.OfOutcome = Measure{c.OfOutcome.Value, c.OfOutcome.Value, c.OfOutcome.Value}
			}
			all = append(all, c)
		}
	}
	return all
}

// share is that of values in a part of the cases; nil if the part is too small for an
// interval.
func (a *Audit) share(values, of []float64) *Measure {
	e, err := a.cases.Ratio(values, of, unit, Level)
	if err != nil {
		return nil
	}
	return measure(e)
}
