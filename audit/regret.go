package audit

import (
	"math"

	"github.com/lossep/lossep/decision"
)

// Regret is what a method's decisions are expected to cost more than those of the
// exact posterior of the same model, judged by that posterior.
type Regret struct {
	Method string `json:"method"`
	By     string `json:"by"` // "exact", "nuts", or both
	Cases  int    `json:"cases"`
	// Mean is the regret per case. StdErr bounds its Monte Carlo error: errors of
	// different cases are added, as they come from the same draws.
	Mean   float64 `json:"mean"`
	StdErr float64 `json:"std_err"`
	// Differ is the number of decisions that are not those of the exact posterior, and
	// Open the number of cases in which two standard errors of its probability reach
	// past the boundary, so that its own decision is not settled.
	Differ int `json:"differ"`
	Open   int `json:"open"`
	// Off is the mean absolute error of the probabilities.
	Off   float64 `json:"probability_error"`
	Doubt string  `json:"doubt,omitempty"`
	// Rows is how many training rows stood for all; 0 if none had to.
	Rows int `json:"rows,omitempty"`
}

// regrets compares every method with the exact posterior. Probit regression is another
// model and has another posterior.
func (a *Audit) regrets(folds []*Fold) []Regret {
	all := []Regret{}
	for _, m := range a.opt.Methods {
		r := Regret{Method: string(m)}
		for _, f := range folds {
			if f.Reference != nil {
				a.addRegret(&r, f)
			}
		}
		if r.Cases == 0 {
			break
		}
		n := float64(r.Cases)
		r.Mean, r.StdErr, r.Off = r.Mean/n, r.StdErr/n, r.Off/n
		all = append(all, r)
	}
	return all
}

func (a *Audit) addRegret(r *Regret, f *Fold) {
	ref := f.Reference
	if r.By == "" {
		r.By = ref.By
	} else if r.By != ref.By {
		r.By = "exact and nuts"
	}
	if r.Doubt == "" {
		r.Doubt = ref.Doubt
	}
	answers := f.Answers[r.Method]
	if ref.Sample != nil {
		r.Rows, answers = ref.Sample.Rows, ref.Sample.Answers[r.Method]
	}
	for k := range answers {
		i := f.Rows[k]
		if ref.Sample != nil {
			i = f.Rows[ref.Sample.Cases[k]]
		}
		c, p, e := a.costs[i], decision.Pair(ref.Probabilities[k]), ref.StdErrs[k]
		taken, best := cheapest(c, answers[k]), cheapest(c, p)
		r.Cases++
		r.Off += math.Abs(answers[k][1] - p[1])
		if cheapest(c, decision.Pair(clamp(p[1]-2*e))) != cheapest(c, decision.Pair(clamp(p[1]+2*e))) {
			r.Open++
		}
		if taken == best {
			continue
		}
		r.Differ++
		r.Mean += c.Expected(taken, p) - c.Expected(best, p)
		slope := (c.Table[taken][1] - c.Table[taken][0]) - (c.Table[best][1] - c.Table[best][0])
		r.StdErr += math.Abs(slope) * e
	}
}

func clamp(p float64) float64 { return min(max(p, 0), 1) }
