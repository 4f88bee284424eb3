package audit

import "github.com/lossep/lossep/compare"

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

// counts is the confusion matrix of a way to decide, action by action.
func (a *Audit) counts(s *Score, folds []*Fold) []Count {
	actions, outcomes := len(s.Taken), len(a.outcomes())
	taken := make([][]float64, actions) // of each case, in what share of the repeats
	for action := range taken {
		taken[action] = make([]float64, a.problem.Len())
	}
	for n, f := range folds {
		for k, i := range f.Rows {
			taken[s.actions[n][k]][i] += 1 / float64(a.opt.Repeats)
		}
	}
	met := make([][]float64, outcomes)
	for y := range met {
		met[y] = make([]float64, a.problem.Len())
	}
	for i := range a.problem.Len() {
		met[a.outcome(i)][i] = 1
	}
	var all []Count
	both := make([]float64, a.problem.Len())
	for action := range taken {
		for y := range met {
			c := Count{Action: action, Outcome: y}
			for i := range both {
				both[i] = taken[action][i] * met[y][i]
				c.Cases += both[i]
			}
			c.OfOutcome, c.OfAction = a.share(both, met[y]), a.share(both, taken[action])
			if len(s.choices) == 1 && c.OfOutcome != nil { // which is certain
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

// outcomes are the names of the outcomes.
func (a *Audit) outcomes() []string {
	t := a.problem.Recipe.Target
	return []string{t.Negative, t.Positive}
}

// outcome is which of them a row had.
func (a *Audit) outcome(row int) int { return (a.problem.Labels[row] + 1) / 2 }
