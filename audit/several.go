package audit

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
)

// With more than two outcomes there is none that is positive. Costs, comparisons, the
// matrix of actions and outcomes and reliability are the same; what ranks cases by one
// probability (areas under curves, thresholds, gains, decision curves) is of two outcomes
// and is left out.

// Likeliest is the name of a baseline in the place of OneHalf where there are more than two
// outcomes, or actions, which no one threshold divides: acting as if the most probable one were certain.
const Likeliest = "most probable outcome"

// several tells whether there are more than two outcomes.
func (a *Audit) several() bool { return !a.problem.Recipe.Target.Binary() }

// forSeveral settles the options for more than two outcomes. Methods that were named have
// to be for these.
func (a *Audit) forSeveral(named bool) error {
	number := len(a.problem.Recipe.Target.Outcomes)
	if len(a.opt.Probabilities) > 0 {
		if a.opt.Recalibrations != nil {
			a.opt.Recalibrations = nil
			a.notes = append(a.notes, fmt.Sprintf("probabilities of %d outcomes are not recalibrated: recalibration is for two outcomes", number))
		}
		return nil
	}
	for _, m := range a.opt.Methods {
		if named && !slices.Contains(lossep.MethodsForSeveral(), m) && m != a.opt.Fit.Method {
			return &lossep.InputError{What: "methods", Msg: fmt.Sprintf("%s is for two outcomes, and there are %d; choose from %v", m, number, lossep.MethodsForSeveral())}
		}
	}
	others := a.opt.Methods
	if !named { // Loss-VI takes half a minute for a fold of 150 rows
		others = slices.DeleteFunc(lossep.MethodsForSeveral(), func(m lossep.Method) bool { return m == lossep.LossVI })
	}
	audited := a.problem.Method()
	others = slices.DeleteFunc(slices.Clone(others), func(m lossep.Method) bool {
		return m == audited || !slices.Contains(lossep.MethodsForSeveral(), m)
	})
	a.opt.Fit.Method, a.opt.Methods = audited, append([]lossep.Method{audited}, others...)
	a.opt.References = 0
	return nil
}

// likeliest is the baseline that acts as if the most probable outcome were certain.
func (a *Audit) likeliest() (name string, act func(decision.Stakes, []float64) int) {
	if !a.several() && len(a.problem.Utility.Actions()) == 2 {
		return OneHalf, likelier
	}
	return Likeliest, func(costs decision.Stakes, p []float64) int {
		sure := make([]float64, len(p))
		sure[floats.MaxIdx(p)] = 1
		return cheapest(costs, sure)
	}
}

// brier is the squared error of probabilities, of which that of two outcomes is the square
// of the wrong one.
func brier(p []float64, outcome int) float64 {
	sum := 0.0
	for c, x := range p {
		if c == outcome {
			x = 1 - x
			if len(p) == 2 {
				x = p[1-outcome] // which has its digits
			}
		}
		sum += 0.5 * x * x
	}
	return sum
}

// mostProbable tells whether the outcome is.
func mostProbable(p []float64, outcome int) bool {
	if len(p) == 2 {
		return p[outcome] > 0.5
	}
	return floats.MaxIdx(p) == outcome
}
