package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/recipe"
)

// Result is what an audit found. It is plain data.
type Result struct {
	// Rows is the number of cases that were decided, Independent of how many independent
	// units they are, and Positive how many of them had the positive outcome.
	Rows        int `json:"rows"`
	Independent int `json:"independent"`
	Positive    int `json:"positive"`
	// Share is how much of the weight of all cases is on those with the positive outcome: its
	// prevalence, where that is given.
	Share      float64 `json:"positive_share"`
	Prevalence float64 `json:"prevalence,omitempty"`
	// Population are the shares of more than two outcomes among the cases to be decided, if given.
	Population []float64 `json:"population,omitempty"`
	// Test is the table that was decided, where it is another than that learned from.
	Test string `json:"test,omitempty"`
	// Cases are how many of them had each of the outcomes where there are more than two.
	Cases    []int `json:"outcome_cases,omitempty"`
	Features int   `json:"features"`
	// Split is how cases were divided into those to learn from and those to decide, and
	// Notes what else a reader should know.
	Split Split    `json:"-"`
	Notes []string `json:"notes,omitempty"`
	By    string   `json:"by,omitempty"`
	ID    string   `json:"id,omitempty"` // the column that names cases, if there is one
	// Leaks are columns that tell the outcome almost by themselves.
	Leaks []string `json:"leaks,omitempty"`
	// Costs tells whether costs were given. If not, utilities were, and all costs here are
	// utilities with their sign turned; see Stated.
	Costs    bool           `json:"costs_given"`
	Utility  *decision.Spec `json:"utility"`
	Outcomes []string       `json:"outcomes"` // of two the negative one first
	Actions  []string       `json:"actions"`
	// Target is the column of the outcomes.
	Target *recipe.Target `json:"-"`
	// Right is the action that costs least under each outcome, on average over cases.
	Right []int `json:"right"`
	// Means are what every action costs under each outcome, on average over cases, by outcome.
	Means [][]float64 `json:"mean_costs"`
	// Threshold is the probability above which the action of the positive outcome (see Acting)
	// is the cheaper of two, where it is the same in all cases.
	Threshold *float64 `json:"threshold"`

	Folds      int    `json:"folds"`
	Repeats    int    `json:"repeats"`
	Seed       uint64 `json:"seed"`
	Likelihood string `json:"likelihood"`
	Kernel     string `json:"kernel"` // where the search starts, or what is kept
	Fixed      bool   `json:"fixed"`

	// Method is the one that is audited, the first of Methods.
	Method string `json:"method"`
	// Methods are all that decide, methods before baselines.
	Methods []Score `json:"methods"`
	// Comparisons are those of the others with the audited method, and Calibrations
	// those of calibrated methods with their plain siblings.
	Comparisons  []Comparison `json:"comparisons"`
	Calibrations []Comparison `json:"calibrations"`
	// Recalibrations are those of probabilities made elsewhere, after recalibration, with
	// what they were before.
	Recalibrations []Comparison `json:"recalibrations,omitempty"`
	// Flips are the decisions on which two models differ, for each pair.
	Flips []Flip `json:"flips"`
	// Regrets are against the exact posterior; empty where it was not asked.
	Regrets  []Regret    `json:"regrets"`
	Reliable Reliability `json:"reliability"`
	// ReliableOf is the reliability of each outcome by itself where there are more than two;
	// Reliable is that of all their probabilities together.
	ReliableOf []Reliability `json:"reliability_of_outcomes,omitempty"`
	Cuts       []Cut         `json:"thresholds"` // empty unless there are two actions
	Gains      []Gain        `json:"gains"`
	Parts      []Part        `json:"parts,omitempty"` // by the values of the column By
	Benefit    *Benefit      `json:"net_benefit"`     // nil unless cases share a Threshold
	Sensitive  []Shift       `json:"sensitivity"`
	Nearest    []Case        `json:"nearest"`
	// Known is what it would have brought to find out outcomes before acting, at several
	// prices; empty where every outcome is certain.
	Known []Known `json:"known,omitempty"`
	// Limited is what decisions within a capacity cost; nil if none was given.
	Limited *Limited `json:"capacity,omitempty"`
	// Uncertain is what decisions leave open where costs are not known; nil where all are.
	Uncertain *Uncertain `json:"uncertain,omitempty"`
	// Importances are what columns are worth; empty where nothing was fitted.
	Importances []Importance `json:"importances,omitempty"`
	// Families are the most important effects of one or two columns in the model of the first fold.
	Families   []lossep.EffectFamily `json:"effects,omitempty"`
	Decisions  []Decided             `json:"-"`
	FoldModels []FoldModel           `json:"fold_models"`
	// Avoidable is what a case cost more than with its outcome known, and Mistakes how many
	// mistakes of equal cost would leave the total as uncertain.
	Avoidable float64 `json:"avoidable_cost"`
	// Currency is what costs are in, empty if that is not given, and Yearly what the cases of a
	// year cost, nil if their number is not given.
	Currency string    `json:"currency,omitempty"`
	Yearly   *Yearly   `json:"yearly,omitempty"`
	Mistakes float64   `json:"-"`
	Verdicts []Verdict `json:"-"`
}

// Yearly is what the cases of a year cost together.
type Yearly struct {
	Cases int `json:"cases"`
	// Cost is that of the audited decisions, and Saved by how much it is below that of the
	// best action that is the same for all.
	Cost  Measure `json:"cost"`
	Saved Measure `json:"saved"`
}

// yearly multiplies what a case costs, nil where nothing says by what.
func (r *Result) yearly(cases int) *Yearly {
	if cases == 0 {
		return nil
	}
	n, own, c := float64(cases), r.Methods[0], r.Comparison(r.BestConstant().Method)
	return &Yearly{
		Cases: cases,
		Cost:  Measure{n * own.MeanCost, n * own.Low, n * own.High},
		Saved: Measure{n * c.Difference, n * c.Low, n * c.High},
	}
}

// Stated turns a cost into what was asked about: itself, or the utility where utilities
// were given.
func (r *Result) Stated(m Measure) Measure {
	if r.Costs {
		return m
	}
	return Measure{0 - m.Value, 0 - m.High, 0 - m.Low}
}

// FoldModel is the model of a fold.
type FoldModel struct {
	Repeat      int     `json:"repeat"` // from 1, as people count
	Fold        int     `json:"fold"`
	Kernel      string  `json:"kernel"`
	LogEvidence float64 `json:"log_evidence"`
	// Inducing is how few points the rows were seen from, nil for the full process.
	Inducing *lossep.Inducing `json:"inducing,omitempty"`
	Notes    []string         `json:"notes,omitempty"`
}

// Kind is what a way to decide is.
type Kind string

// Kinds of ways to decide.
const (
	Fitted       Kind = "method"       // fitted to the rows
	External     Kind = "given"        // probabilities made elsewhere
	Recalibrated Kind = "recalibrated" // the same after recalibration
	Baseline     Kind = "baseline"     // what the others are compared with
)

// Score is what the decisions of one method cost.
type Score struct {
	Method string `json:"method"`
	Kind   Kind   `json:"kind"`
	// MeanCost is that per case, StdErr its standard error, and Low and High the ends of
	// its interval at Level: what new cases cost when decided by the models of the folds.
	MeanCost float64 `json:"mean_cost"`
	StdErr   float64 `json:"std_err"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	// Utility is what the decisions bring per case, where utilities were given.
	Utility *Measure `json:"mean_utility,omitempty"`
	// Taken is how often each action was taken, as a share of all decisions, and Counts
	// how often it met which outcome.
	Taken  []float64 `json:"taken"`
	Counts []Count   `json:"counts"`
	// Quality is that of the probabilities; nil for what has none of its own.
	Quality *Quality `json:"quality,omitempty"`

	losses  []float64   // what each case cost, mean over repeats
	actions [][]int     // in each fold, for each of its rows
	decider decider     // that takes them
	taken   [][]float64 // of each action, in what share of the repeats each case got it
}

// Cheaper tells whether a mean cost is below another's by more than sums in another order
// differ by.
func (s *Score) Cheaper(than *Score) bool {
	return s.MeanCost < than.MeanCost-1e-12*math.Abs(than.MeanCost)
}

// Decided is one case as decided in one fold by one method.
type Decided struct {
	Row, Line     int    // the row from 1, and its line in the file
	ID            string // of the column of identifiers, if there is one
	Repeat, Fold  int    // from 1
	Outcome       int
	Method        string
	Probabilities []float64 // of all outcomes; nil for a constant action
	Action        int
	Cost          float64
	Weight        float64 // how much the case counts in averages
}

// Summarise turns the folds of a Run into the result.
func (a *Audit) Summarise(folds []*Fold) (*Result, error) {
	r := a.begun()
	pairs := a.meanProbabilities(r.Method, folds)
	finds := []func() error{
		func() error { return a.compare(r, folds) },
		func() error { return a.trusted(r, folds) },
		func() (err error) { r.Known, err = a.known(r.Method, folds); return err },
		func() (err error) { r.Importances, err = a.importances(folds); return err },
	}
	if !a.several() {
		finds = append(finds,
			func() (err error) { r.Cuts, err = a.cuts(r.Method, folds); return err },
			func() error { r.Gains = a.gains(positives(pairs)); return nil },
			func() error { r.Benefit = a.benefit(r.Method, folds); return nil },
			func() error { r.Sensitive = a.sensitivity(r.Method, folds); return nil })
	}
	if err := each(len(finds), func(i int) error { return finds[i]() }); err != nil {
		return nil, err
	}
	r.Parts = a.parts(&r.Methods[0], positives(pairs))
	r.Nearest = a.nearest(pairs, folds)
	r.Uncertain = a.uncertain(r.Method, folds)
	var err error
	if r.Limited, err = a.limited(&r.Methods[0], folds); err != nil {
		return nil, err
	}
	r.Families = folds[0].Families
	for _, f := range folds {
		r.FoldModels = append(r.FoldModels, FoldModel{f.Repeat + 1, f.Number + 1, f.Kernel, f.LogEvidence, f.Inducing, f.Notes})
	}
	squares := 0.0
	for i, least := range a.hindsight() {
		mistake := a.weights[i] / a.total * (r.Methods[0].losses[i] - least)
		r.Avoidable += mistake
		squares += mistake * mistake
	}
	if squares > 0 {
		r.Mistakes = r.Avoidable * r.Avoidable / squares
	}
	r.Yearly = r.yearly(a.opt.CasesPerYear)
	r.Verdicts = r.verdicts()
	return r, nil
}

// each calls f for 0 … n−1 at the same time, and returns the error of the first that failed.
func each(n int, f func(i int) error) error {
	errs := make([]error, n)
	tasks.For(n, func(i int) { errs[i] = f(i) })
	return cmp.Or(errs...)
}

// begun is what the result says of the problem.
func (a *Audit) begun() *Result {
	p := a.problem
	r := &Result{
		Rows: a.rows, Independent: a.independent(), Features: p.Recipe.NumFeatures(), Split: a.Split(), By: a.opt.By, Costs: p.Utility.Costs(), Utility: p.Utility,
		Outcomes: a.outcomes(), Target: &p.Recipe.Target, Actions: p.Utility.Actions(),
		Folds: a.opt.Folds, Repeats: a.opt.Repeats, Seed: a.opt.Fit.Seed,
		Likelihood: a.likelihood(), Kernel: a.opt.Fit.Kernel, Fixed: a.opt.Fit.Fixed,
		Method: a.audited(), Notes: a.notes, Leaks: p.Leaks, Prevalence: p.Recipe.Target.Prevalence, Population: p.Recipe.Target.Population,
		Currency: a.opt.Currency, ID: a.idColumn,
	}
	cases := make([]int, len(r.Outcomes))
	for i, w := range a.weights {
		if w > 0 {
			cases[a.outcome(i)]++
		}
		if a.outcome(i) == 1 {
			r.Share += w / a.total
		}
	}
	if a.opt.Test != nil {
		r.Test = a.subject.Name()
	}
	if a.several() {
		r.Cases = cases
	} else {
		r.Positive = cases[1]
	}
	if t, ok := a.threshold(); ok {
		r.Threshold = &t
	}
	for y := range r.Outcomes {
		r.Right, r.Means = append(r.Right, a.right(y)), append(r.Means, a.meanCosts(y))
	}
	return r
}

// compare scores all ways to decide, and compares them with each other.
func (a *Audit) compare(r *Result, folds []*Fold) (err error) {
	deciders := a.deciders(r.Method)
	scores, decided := make([]*Score, len(deciders)), make([][]Decided, len(deciders))
	if err := each(len(deciders), func(i int) (err error) {
		if scores[i], err = a.score(deciders[i], folds); err == nil {
			decided[i] = a.decided(deciders[i], scores[i], folds)
		}
		return err
	}); err != nil {
		return err
	}
	for i, s := range scores {
		r.Methods, r.Decisions = append(r.Methods, *s), append(r.Decisions, decided[i]...)
	}
	if r.Comparisons, err = a.comparisons(r.Methods, r.BestConstant().Method); err != nil {
		return err
	}
	if r.Calibrations, err = a.calibrations(r.Methods); err != nil {
		return err
	}
	if r.Recalibrations, err = a.recalibrations(r.Methods); err != nil {
		return err
	}
	r.Flips = a.flips(r.Methods, folds)
	r.Regrets = a.regrets(folds)
	return nil
}

func (a *Audit) likelihood() string {
	l := a.problem.Likelihood()
	l.Cuts = nil // every fold finds its own
	return l.String()
}

// threshold is the probability at which two actions cost the same, if there are two
// and it is the same in all cases.
func (a *Audit) threshold() (float64, bool) {
	rule, by, ok := a.problem.Utility.Rule()
	if ok && len(rule.Table) == 2 && a.acting() == 0 { // actions may stand in any order
		rule.Table = decision.Table{rule.Table[1], rule.Table[0]}
	}
	t, _, divides := rule.Threshold()
	if !ok || !divides {
		return 0, false
	}
	if by != "" && slices.ContainsFunc(a.costs, func(c decision.Stakes) bool { return a.multiple(c) < 0 }) {
		return 0, false
	}
	return t, true
}

// acting is which of two actions is the right one for the positive outcome.
func (a *Audit) acting() int { return acting(a.right(0), a.right(1)) }

// Acting is which of two actions is the right one for the positive outcome: the second, unless
// that is the right one for the negative outcome only.
func (r *Result) Acting() int { return acting(r.Right[0], r.Right[1]) }

func acting(negative, positive int) int {
	if negative == 1 && positive == 0 {
		return 0
	}
	return 1
}

// multiple is a measure of how much is at stake in a case of two actions, where that
// varies: what acting saves if the outcome is positive.
func (a *Audit) multiple(costs decision.Stakes) float64 {
	act := a.acting()
	return costs.Table[1-act][1] - costs.Table[act][1]
}

// decider turns a fold into actions.
type decider struct {
	name    string
	kind    Kind
	model   string // whose probabilities it uses; empty for none
	choices []int  // the actions it may take
	act     func(costs decision.Stakes, p []float64) int
}

// OneHalf is the name of a baseline: the audited method's probabilities with a
// threshold of one half, that is, acting as if the likelier outcome were certain.
const OneHalf = "threshold one half"

// deciders are the methods and after them the baselines.
func (a *Audit) deciders(audited string) []decider {
	var all []decider
	every := indices.Of(len(a.problem.Utility.Actions()))
	for _, model := range a.models() {
		all = append(all, decider{model, a.kind(model), model, every, cheapest})
	}
	name, act := a.likeliest()
	all = append(all, decider{name, Baseline, audited, every, act})
	for action, name := range a.problem.Utility.Actions() {
		all = append(all, decider{"always " + name, Baseline, "", []int{action}, func(decision.Stakes, []float64) int { return action }})
	}
	return all
}

func likelier(costs decision.Stakes, p []float64) int {
	if p[1] > 0.5 {
		return cheapest(costs, decision.Pair(1))
	}
	return cheapest(costs, decision.Pair(0))
}

// score adds up what decisions cost.
func (a *Audit) score(d decider, folds []*Fold) (*Score, error) {
	s := &Score{
		Method: d.name, Kind: d.kind, Taken: make([]float64, len(a.costs[0].Table)),
		losses: make([]float64, a.len()), decider: d, taken: make([][]float64, len(a.costs[0].Table)),
	}
	for action := range s.taken {
		s.taken[action] = make([]float64, a.len())
	}
	for _, f := range folds {
		actions := make([]int, len(f.Rows))
		for k, i := range f.Rows {
			var p []float64
			if d.model != "" {
				p = f.Answers[d.model][k]
			}
			actions[k] = d.act(a.costs[i], p)
			s.losses[i] += a.part() * a.realised(i, actions[k])
			s.taken[actions[k]][i] += a.part()
			s.Taken[actions[k]] += a.part() * a.weights[i] / a.total
		}
		s.actions = append(s.actions, actions)
	}
	e, err := a.cases.Mean(s.losses, a.possible(d.choices), Level)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.name, err)
	}
	s.MeanCost, s.StdErr, s.Low, s.High = e.Mean, e.StdErr, e.Low, e.High
	if !a.problem.Utility.Costs() {
		s.Utility = &Measure{-e.Mean, -e.High, -e.Low}
	}
	s.Counts = a.counts(s, nil)
	if d.model == d.name {
		if s.Quality, err = a.quality(d.model, folds); err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
	}
	return s, nil
}
