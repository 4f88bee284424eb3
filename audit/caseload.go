package audit

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/table"
)

// len is the number of rows of the subject, decided or not.
func (a *Audit) len() int { return a.subject.Len() }

// outcomes are the names of the outcomes.
func (a *Audit) outcomes() []string {
	return a.problem.Recipe.Target.Outcomes
}

// outcome is which of them a row of the subject had.
func (a *Audit) outcome(row int) int { return a.judged.Labels[row] }

// realised is what an action turned out to cost in a case.
func (a *Audit) realised(row, action int) float64 { return a.costs[row].Table[action][a.outcome(row)] }

// part is what one decision is of all that are made about a case.
func (a *Audit) part() float64 { return 1 / float64(a.opt.Repeats) }

// weigh settles how much each case counts: by its weight and by how frequent its outcome
// is in the population that decisions are for, and nothing if no fold decides it.
func (a *Audit) weigh() {
	stated := a.judged.CaseWeights()
	a.weights = make([]float64, a.len())
	for _, s := range a.splits[0] {
		for _, i := range s.Test {
			a.weights[i] = 1
			if stated != nil {
				a.weights[i] = stated[i]
			}
			a.total += a.weights[i]
			a.rows++
		}
	}
	a.cases = compare.NewCases(a.len(), a.weights, a.groups)
	if a.problem.Recipe.Target.CaseShares() != nil { // how frequent outcomes are is not left to chance
		outcome := make([]int, a.len())
		for i := range outcome {
			outcome[i] = a.outcome(i)
		}
		a.cases = a.cases.Stratified(outcome)
	}
}

// numbered gives every different text of a column a number, in the order of appearance.
func (a *Audit) numbered(t *table.Table, column string) (numbers []int, names map[string]int, err error) {
	names = make(map[string]int)
	numbers, err = a.renumbered(t, column, names)
	return numbers, names, err
}

// renumbered goes on with the numbers of texts that have one, and adds to them.
func (a *Audit) renumbered(t *table.Table, column string, names map[string]int) ([]int, error) {
	texts, err := t.Groups(column, a.opt.Fit.Data.Markers...)
	if err != nil {
		return nil, fmt.Errorf("groups: %w", err)
	}
	numbers := make([]int, len(texts))
	for i, text := range texts {
		if _, seen := names[text]; !seen {
			names[text] = len(names)
		}
		numbers[i] = names[text]
	}
	return numbers, nil
}

// independent is the number of units that tell something of their own.
func (a *Audit) independent() int {
	if a.groups == nil {
		return a.rows
	}
	seen := make(map[int]bool)
	for i, w := range a.weights {
		if w > 0 {
			seen[a.groups[i]] = true
		}
	}
	return len(seen)
}

// SplitKind is a way to divide cases.
type SplitKind int

// Ways to divide cases.
const (
	Stratified     SplitKind = iota // cross-validation, every fold with its share of each outcome
	AtRandom                        // cross-validation of outcomes that are numbers
	ByGroups                        // cross-validation that keeps the cases of a group together
	ByCopies                        // cross-validation that keeps copies of a row together
	ByTime                          // the past of each part is learned from
	TestSet                         // another table is decided
	NothingFitted                   // probabilities made elsewhere
	RecalibratedBy                  // the same, recalibrated by the other folds
)

// Split is how cases are divided into those to learn from and those to decide.
type Split struct {
	Kind           SplitKind
	Folds, Repeats int
	Column         string // of the groups or of the time
	Table, Test    string // names of the tables
}

// Split of the cases.
func (a *Audit) Split() Split {
	s := Split{Folds: a.opt.Folds, Repeats: a.opt.Repeats, Table: a.table.Name(), Test: a.subject.Name()}
	switch {
	case a.opt.Test != nil:
		s.Kind = TestSet
	case len(a.opt.Recalibrations) > 0:
		s.Kind = RecalibratedBy
	case len(a.given) > 0:
		s.Kind = NothingFitted
	case a.opt.Time != "":
		s.Kind, s.Column = ByTime, a.opt.Time
	case a.opt.Fit.Data.Groups != "":
		s.Kind, s.Column = ByGroups, a.opt.Fit.Data.Groups
	case a.groups != nil:
		s.Kind = ByCopies
	}
	return s
}

// Cases is the number of cases that are decided.
func (a *Audit) Cases() int { return a.rows }

// Probabilities are the names of those made elsewhere that are audited.
func (a *Audit) Probabilities() []string { return a.opt.Probabilities }

// contenders are the models whose decision curves are drawn, the audited one last.
func (a *Audit) contenders() []string {
	if len(a.given) == 0 {
		return []string{ProbitRegression, a.audited()}
	}
	return append(slices.Clone(a.opt.Probabilities[1:]), a.audited())
}

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
			return &lossep.InputError{What: "methods", Msg: fmt.Sprintf("%s is for two outcomes, and there are %d; choose one of %v", m, number, lossep.MethodsForSeveral())}
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
