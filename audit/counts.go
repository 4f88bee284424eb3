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
