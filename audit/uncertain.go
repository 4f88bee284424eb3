package audit

// Uncertain is what decisions leave open where costs are not known.
type Uncertain struct {
	// Flippable is the share of cases in which another action would be better for some values of the costs
	// within their ranges.
	Flippable float64       `json:"could_flip"`
	Costs     []UnknownCost `json:"costs"`
}

// UnknownCost is one that is not known, and what it would be worth a case to know it before deciding, by the
// probabilities.
type UnknownCost struct {
	Entry        string  `json:"entry"`
	Distribution string  `json:"distribution"`
	Worth        float64 `json:"worth"`
}

// uncertain finds that for the decisions of a method; nil where all costs are known.
func (a *Audit) uncertain(method string, folds []*Fold) *Uncertain {
	unknown := a.problem.Utility.Uncertain()
	if len(unknown) == 0 {
		return nil
	}
	out := &Uncertain{Costs: make([]UnknownCost, len(unknown))}
	for k, u := range unknown {
		out.Costs[k] = UnknownCost{Entry: u.Name, Distribution: u.Text}
	}
	for _, f := range folds {
		for k, i := range f.Rows {
			s, p, weight := a.costs[i], f.Answers[method][k], a.part()*a.weights[i]/a.total
			c := s.Choose(make([]float64, len(s.Table)), p)
			if s.CouldFlip(&c, p) {
				out.Flippable += weight
			}
			for j, worth := range s.Worths(&c, p) {
				out.Costs[j].Worth += weight * worth
			}
		}
	}
	out.Flippable = min(1, out.Flippable) // a sum of rounded weights
	return out
}
