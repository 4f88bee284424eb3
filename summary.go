package lossep

import (
	"math"
	"slices"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
)

// Version is the version of this package, which model files name.
const Version = "0.1.0"

// Provenance is where a model comes from. It names no machine, file or time, so that
// the same rows and options give the same model file.
type Provenance struct {
	Version  string `json:"version"` // of this package
	Seed     uint64 `json:"seed"`
	Rows     int    `json:"rows"`     // n
	Features int    `json:"features"` // d
}

// Summary is what a fit found.
type Summary struct {
	// LogEvidence is that of EP for the kernel, whatever the method.
	LogEvidence float64 `json:"log_evidence"`
	// Objective is the method's own, where that is another.
	Objective *Objective `json:"objective,omitempty"`
	// LeaveOneOut is nil when a posterior without one of the rows does not exist.
	LeaveOneOut *LeaveOneOut `json:"leave_one_out,omitempty"`
	// Search is how the hyperparameters were found, nil if they were fixed.
	Search *Search `json:"search,omitempty"`
	Status Status  `json:"status"`
	// Zero is the cost, or the utility, that counts as no utility at all to calibrated
	// methods: a ceiling of costs, or the negative of a shift of utilities.
	Zero float64 `json:"zero"`
	// Jitter is what had to be added to the diagonal of the kernel's matrix.
	Jitter float64 `json:"jitter"`
	// Inducing is nil for the full process.
	Inducing *Inducing `json:"inducing,omitempty"`
	// Candidates are the kernels that were tried by AutoKernel. Those with a weight make up
	// the posterior, and what else is said about a kernel is said about the heaviest.
	Candidates []Candidate `json:"candidates,omitempty"`
}

// Search is how the search for hyperparameters ended.
type Search struct {
	Evaluations int      `json:"evaluations"` // of the evidence of all rows
	Stationary  bool     `json:"stationary"`  // the gradient vanishes where it stopped
	Stop        string   `json:"stop"`        // why it stopped, in words
	LogPrior    float64  `json:"log_prior"`   // what was maximised is this plus the log evidence
	AtBound     []string `json:"at_bound,omitempty"`
}

// Objective is what a method maximises.
type Objective struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Status is how a fit ended.
type Status struct {
	Converged bool     `json:"converged"`
	Sweeps    int      `json:"sweeps"` // of the method, after the kernel was found
	Residual  float64  `json:"residual"`
	Text      string   `json:"text"` // in words
	Notes     []string `json:"notes,omitempty"`
}

func newStatus(s infer.Status) Status {
	return Status{Converged: s.Converged, Sweeps: s.Sweeps, Residual: s.Residual, Text: s.String()}
}

// LeaveOneOut is what every training row would have been predicted and decided
// without it. The posterior without a row is q with that row's site taken out, for
// every method (Vehtari, Mononen, Tolvanen, Sivula and Winther 2016); the kernel is not
// found anew.
type LeaveOneOut struct {
	// Method is whose predictions these are: those of EP where the method itself,
	// Corrected, has none without a row.
	Method Method `json:"method"`
	// LogPredictive is the sum of the log probabilities of the labels, by the rows'
	// CaseWeights if they have any.
	LogPredictive float64 `json:"log_predictive"`
	// Value is what the decisions cost, or bring, per row.
	Value float64 `json:"value"`
	// Constant is what the best action that is the same for all rows costs, or brings.
	Constant float64 `json:"constant"`
	// ConstantAction is that action.
	ConstantAction int `json:"constant_action"`
}

// leaveOneOut predicts and decides every training row without it.
func (m *Model) leaveOneOut(p *Problem) *LeaveOneOut {
	if several(p.Recipe) {
		return m.leaveOutSeveral(p)
	}
	if m.mixture != nil {
		return m.leaveOneOutMixed(p)
	}
	tally := p.newTally(leftOutBy(m.method, p.Len()))
	if !m.leftOut(tally.add) {
		return nil
	}
	return tally.result()
}

// leftOutBy is the method whose predictions without a row there are.
func leftOutBy(method Method, rows int) Method {
	if d := method.row(rows); d.Refines() {
		return Method(d.Of)
	}
	return method
}

// leftOut calls use with the mean and variance of the latent value of every training row
// without it. It reports false if a posterior without one of the rows does not exist.
func (m *Model) leftOut(use func(i int, mean, variance float64)) bool {
	views := m.full.Views()
	mean, variance := make([]float64, views.Len()), make([]float64, views.Len())
	m.opinions[0].q.Marginals(views, mean, variance, new(gauss.Workspace))
	for i, site := range m.sites {
		cavity := gauss.ScalarFromMoments(mean[i], variance[i]).Over(site)
		if !cavity.Proper() {
			return false
		}
		use(i, cavity.Mean()+views.Offset(i), cavity.Variance()+views.Residual(i))
	}
	return true
}

// tally adds up what rows are predicted and decided without them.
type tally struct {
	problem  *Problem
	outcome  decision.Outcome
	shares   []float64 // of the rows in averages
	loo      *LeaveOneOut
	constant []float64 // of every action for all rows
	improper bool
}

func (p *Problem) newTally(method Method) *tally {
	return &tally{
		problem: p, outcome: p.opt.Likelihood.outcome(), shares: p.shares(), loo: &LeaveOneOut{Method: method},
		constant: make([]float64, len(p.Stakes(0).Table)),
	}
}

// add takes in training row i, whose latent value has this mean and variance without it.
func (t *tally) add(i int, mean, variance float64) {
	if !(variance >= 0) {
		t.improper = true
		return
	}
	logP, _, _ := t.outcome[t.problem.Recipe.Target.Number(t.problem.Labels[i])].LogMean(mean, variance)
	pair := make([]float64, 2)
	pair[0], pair[1] = t.outcome.Probability(mean, variance)
	t.addProbabilities(i, pair, logP)
}

// addProbabilities takes in training row i, whose outcomes have these probabilities
// without it, among cases like the training rows; logP is the logarithm of that of its
// own.
func (t *tally) addProbabilities(i int, probabilities []float64, logP float64) {
	p := t.problem
	stakes, y := p.Stakes(i), p.Recipe.Target.Number(p.Labels[i])
	if target := &p.Recipe.Target; target.Prevalence > 0 {
		shift(target, probabilities)
		logP = math.Log(probabilities[y])
	}
	t.loo.LogPredictive += float64(p.Len()) * t.shares[i] * logP
	t.loo.Value += stakes.Table[stakes.Best(probabilities, -1)][y] * t.shares[i]
	for a, row := range stakes.Table {
		t.constant[a] += row[y] * t.shares[i]
	}
}

// result is nil when a posterior without one of the rows does not exist.
func (t *tally) result() *LeaveOneOut {
	if t.improper {
		return nil
	}
	t.loo.ConstantAction = slices.Index(t.constant, slices.Max(t.constant))
	if t.problem.Utility.Costs() {
		t.loo.ConstantAction = slices.Index(t.constant, slices.Min(t.constant))
	}
	t.loo.Constant = t.constant[t.loo.ConstantAction]
	return t.loo
}
