package lossep

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/methods"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/search"
)

// Learned is a problem with its kernel found. All methods can be applied to it, so
// that they differ in nothing else.
type Learned struct {
	problem    *Problem
	process    learned
	search     *Search     // nil if the kernel was fixed
	doubts     []string    // about EP, from which other methods start
	candidates []Candidate // that were tried, nil if the kernel was given
	sharpness  float64     // of a mixture, as in Summary
}

// learned is what there is with the kernel: the full process, one with inducing points, or a
// mixture, each with what EP found.
type learned interface {
	// apply runs a method from the fixed point of EP.
	apply(ctx context.Context, l *Learned, method Method) (*applied, error)
	// components are the kernels with their weights, and points how many inducing points there are.
	components() []Component
	points() int
	// logEvidence is that of EP.
	logEvidence() float64
}

// applied is what a method found.
type applied struct {
	opinions []opinion // its own first
	// Of the method: how it ended, and what it maximised.
	status    Status
	objective float64
	// Of what it was applied to.
	logEvidence float64
	search      *Search
	jitter      float64
	inducing    *Inducing
	effects     []Effects
	// left predicts training rows without them; sharpens tells that they are to say how sharp
	// probabilities are.
	left     posterior.LeaveOut
	units    [][]int // rows that are left out together, nil where each is by itself
	sharpens bool
}

// Model applies a method. The result does not depend on which methods were applied
// before.
func (l *Learned) Model(ctx context.Context, method Method) (*Model, error) {
	p := l.problem
	if err := method.check(); err != nil {
		return nil, err
	}
	if several(p.Recipe) && l.Inducing() == 0 {
		if err := method.checkSeveral(len(p.Recipe.Target.Outcomes)); err != nil {
			return nil, err
		}
	}
	refined := l.Inducing() > 0 && method.row(p.Len()).Refines() && p.opt.Inducing == AutoInducing
	if refined {
		method = EP
	}
	found, err := l.process.apply(ctx, l, method)
	if err != nil {
		return nil, err
	}
	if refined {
		found.status.Notes = append([]string{"effects stand beside inducing points, of which there are no corrections: EP is used instead"}, found.status.Notes...)
	}
	m := &Model{
		recipe: p.Recipe, coding: p.coding, utility: p.Utility, likelihood: p.opt.Likelihood, method: method,
		x: p.X, labels: p.Labels, weights: p.Weights, costs: p.costs, opinions: found.opinions,
		provenance: Provenance{Version: Version, Seed: p.opt.Seed, Rows: p.Len(), Features: p.Recipe.NumFeatures()},
		summary: Summary{
			LogEvidence: found.logEvidence, Search: found.search, Status: found.status, Zero: p.zero, Jitter: found.jitter,
			Inducing: found.inducing, Effects: found.effects, Candidates: l.candidates, Sharpness: l.sharpness,
		},
	}
	if m.by(EP).State().Sites == nil && found.inducing != nil {
		m.x, m.labels, m.weights, m.costs = nil, nil, nil, CostColumns{} // they are too many to be kept
	}
	if d := method.row(p.Len()); d.Objective != "" {
		m.summary.Objective = &Objective{d.Objective, found.objective}
	}
	if err := m.checkPredictions(); err != nil {
		return nil, &InputError{What: "kernel", Msg: err.Error(), Err: err}
	}
	if found.sharpens {
		if found.left, err = p.keepLeftOut(ctx, found.left); err != nil {
			return nil, err
		}
		if m.summary.Sharpness, err = p.sharpnessOf(ctx, found.left); err != nil {
			return nil, err
		}
	}
	if p.stakes == nil {
		return m, nil // what rows left out would have cost is not known; see Update
	}
	m.summary.LeaveOneOut, err = p.leaveOneOut(ctx, leftOutBy(method, p.Len()), found.left, found.units, m.summary.Sharpness)
	return m, err
}

// Inducing is the number of inducing points, 0 for the full process.
func (l *Learned) Inducing() int { return l.process.points() }

// Components are the kernels found with their weights: one, unless they are mixed.
func (l *Learned) Components() []Component {
	all := l.process.components()
	if _, mixed := l.process.(*mixture); !mixed {
		all[0].Cuts = l.problem.opt.Likelihood.Cuts
	}
	return all
}

// Kernel is the kernel found, of a mixture that with the largest weight.
func (l *Learned) Kernel() kernel.Kernel {
	var weights []float64
	all := l.Components()
	for _, c := range all {
		weights = append(weights, c.Weight)
	}
	return all[posterior.Heaviest(weights)].Kernel
}

// doubtsOf are the notes on a run of EP for those who use it.
func doubtsOf(s infer.Status) []string {
	if s.Converged {
		return nil
	}
	return []string{doubtOfEP(s.String())}
}

func doubtOfEP(status string) string { return "EP, whose evidence is reported: " + status }

// searchOptions are those of the search for hyperparameters.
func (p *Problem) searchOptions() search.Options {
	o := search.Options{Restarts: p.opt.Restarts, Seed: p.opt.Seed}
	if strings.Contains(p.opt.Kernel, "=") {
		o.Start = p.Kernel.Params(nil)
	}
	o.Progress = func(e search.Evaluation) {
		p.tell(fmt.Sprintf("searching for the kernel with %d rows", e.Cases), e.Number, e.LogPosterior)
	}
	return o
}

// options are those of all methods: all sites at once, in matrix products.
func (p *Problem) options() methods.Options {
	return methods.Options{Schedule: infer.Parallel, Seed: p.opt.Seed}
}

func (p *Problem) tell(stage string, step int, logEvidence float64) {
	if p.opt.Progress != nil {
		p.opt.Progress(Progress{Stage: stage, Step: step, LogEvidence: logEvidence})
	}
}

// isEP tells whether the sites of a method are those of EP.
func isEP(d methods.Method) bool { return d.Name == string(EP) || d.Refines() }

// pointsOfUtility are the training rows that stand for p(x) in a calibrated method, and their
// utility tables: one each, or one for all. The power of a mixture's probabilities is not in
// them: each of its parts is calibrated to the costs as they are.
func (p *Problem) pointsOfUtility() (rows []int, tables []decision.Table, err error) {
	rows = p.inOrder(search.Sample(p.Len(), maxPoints, p.opt.Seed))
	used := rows
	if len(p.stakes) == 1 {
		used = rows[:1]
	}
	for _, i := range used {
		t, err := p.Stakes(i).Utilities(p.zero)
		if err != nil {
			return nil, nil, &InputError{What: "utility", Msg: fmt.Sprintf("a training row: %v", err), Err: err}
		}
		tables = append(tables, p.forPopulation(t))
	}
	return rows, tables, nil
}

// maxPoints is the most training rows that stand for p(x): a sweep of a calibrated
// method takes time in proportion to their number.
const maxPoints = 1000

// Adjust makes probabilities of the outcomes, and their standard errors, those that
// decisions are made by: as sharp as rows left out ask for, and in the population that
// decisions are for. The model's own are that already.
func (l *Learned) Adjust(probabilities, errors [][]float64) {
	power := l.sharpness
	if power == 0 {
		power = 1
	}
	for i, p := range probabilities {
		before := slices.Clone(p)
		search.Temper(p, power)
		shift(&l.problem.Recipe.Target, p)
		// The log odds are multiplied, and something is added to them; of more than two outcomes nearly so.
		for y, q := range before {
			if q > 0 && q < 1 {
				errors[i][y] *= power * p[y] * (1 - p[y]) / (q * (1 - q))
			}
		}
	}
}

// mixture is what is learned of several kernels, each with its weight.
type mixture struct {
	weights []float64 // adding up to one
	parts   []*Learned
}

func (l *mixture) components() (all []Component) {
	for k, part := range l.parts {
		one := part.Components()[0]
		one.Weight = l.weights[k]
		all = append(all, one)
	}
	return all
}

func (*mixture) points() int { return 0 }

func (l *mixture) heaviest() *Learned { return l.parts[posterior.Heaviest(l.weights)] }

func (l *mixture) logEvidence() float64 { return l.heaviest().process.logEvidence() }

// apply implements learned: the method is applied to every part. What is reported is what was
// found with the heaviest.
func (l *mixture) apply(ctx context.Context, whole *Learned, method Method) (*applied, error) {
	p := whole.problem
	var all []*applied
	var opinions [][]opinion
	sofar := 0.0
	for _, part := range l.parts {
		if need := nextBytes(sofar, p.Recipe, p.coding.Len()); len(all) > 0 && need > float64(p.opt.MaxMemory) {
			return nil, p.tooManyParts(len(l.parts), need)
		}
		found, err := part.process.apply(ctx, part, method)
		if err != nil {
			return nil, err
		}
		all, opinions = append(all, found), append(opinions, found.opinions)
		sofar += bytesOf(found.opinions)
	}
	found := *all[posterior.Heaviest(l.weights)]
	for _, part := range all {
		found.jitter = max(found.jitter, part.jitter)
		if !part.status.Converged && found.status.Converged {
			found.status = part.status
		}
	}
	found.opinions = mixed(l.weights, opinions)
	found.left = found.opinions[0].Posterior.(posterior.LeaveOut)
	return &found, nil
}
