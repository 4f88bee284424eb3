package lossep

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/methods"
	"github.com/lossep/lossep/search"
)

// Learned is a problem with its kernel found. All methods can be applied to it, so
// that they differ in nothing else.
type Learned struct {
	problem *Problem
	induced *search.Induced // set with inducing points, and then the next three are not
	effects *effects.Fit    // added to it, nil if there are none
	process *gp.Process
	model   *infer.Model
	ep      *infer.Result
	search  *Search // nil if the kernel was fixed

	second []opinion // EP and its corrections, if they were made already
	doubts []string  // about EP, from which other methods start

	// A mixture has parts with weights, and then nothing of the above but the problem.
	parts      []*Learned
	weights    []float64
	candidates []Candidate // that were tried, nil if the kernel was given
	sharpness  float64     // of the mixture, as in Summary
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

// learned is what a search found.
func (p *Problem) learned(fit *search.Fit, cases gp.Cases) *Learned {
	search := newSearch(fit.Evaluations, fit.Stop, fit.LogPrior, fit.Process.Kernel(), fit.AtBound)
	return &Learned{
		problem: p, process: fit.Process, model: cases.Model(fit.Process),
		ep: &fit.EP.Result, search: search, doubts: doubtsOf(fit.EP.Status),
	}
}

// newSearch is how a search ended.
func newSearch(evaluations int, stop search.Stop, logPrior float64, k kernel.Kernel, atBound []bool) *Search {
	s := &Search{Evaluations: evaluations, Stationary: stop == search.Stationary, Stop: stop.String(), LogPrior: logPrior}
	for i, name := range k.ParamNames() {
		if atBound[i] {
			s.AtBound = append(s.AtBound, name)
		}
	}
	return s
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

// Kernel is the kernel found, of a mixture that with the largest weight.
func (l *Learned) Kernel() kernel.Kernel {
	if l.parts != nil {
		return l.parts[heaviest(l.weights)].Kernel()
	}
	if l.induced != nil {
		return l.induced.Process.Kernel()
	}
	return l.process.Kernel()
}

// isEP tells whether the sites of a method are those of EP.
func isEP(d methods.Method) bool { return d.Name == string(EP) || d.Refines() }

// points are the training rows that stand for p(x) in a calibrated method, and their
// utility tables: one each, or one for all. The power of a mixture's probabilities is not in
// them: each of its parts is calibrated to the costs as they are.
func (p *Problem) points() (rows []int, tables []decision.Table, err error) {
	rows = p.inOrder(sample(p.Len(), maxPoints, p.opt.Seed))
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

// sample is up to most of the numbers below n, in order, chosen by the seed.
func sample(n, most int, seed uint64) []int {
	if n <= most {
		most = n
	}
	rows := rand.New(rand.NewPCG(seed, 0)).Perm(n)[:most]
	slices.Sort(rows)
	return rows
}

// Inducing is the number of inducing points, 0 for the full process.
func (l *Learned) Inducing() int {
	if l.induced == nil {
		return 0
	}
	return l.induced.Process.Dim()
}

// Components are the kernels found with their weights: one, unless they are mixed.
func (l *Learned) Components() []Component {
	if l.parts == nil {
		return []Component{{1, l.Kernel()}}
	}
	var all []Component
	for k, part := range l.parts {
		all = append(all, Component{l.weights[k], part.Kernel()})
	}
	return all
}

// Adjust makes probabilities of the positive outcome, and their standard errors, those that
// decisions are made by: as sharp as rows left out ask for, and in the population that
// decisions are for. The model's own are that already.
func (l *Learned) Adjust(probabilities, errors []float64) {
	power := l.sharpness
	if power == 0 {
		power = 1
	}
	for i, p := range probabilities {
		pair := []float64{1 - p, p}
		sharpen(pair, power)
		shift(&l.problem.Recipe.Target, pair)
		probabilities[i] = pair[1]
		// The log odds are multiplied, and something is added to them.
		if p > 0 && p < 1 {
			errors[i] *= power * pair[0] * pair[1] / (p * (1 - p))
		}
	}
}
