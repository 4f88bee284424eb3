package lab

import (
	"context"
	"math"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/methods"
	"github.com/lossep/lossep/normal"
)

// ReactorRequest is a state measured through clutter, and a decision that depends on whether
// it exceeds a threshold: see Reactor. What is left out has the value that
// NewReactor gives it.
type ReactorRequest struct {
	Data            []float64 `json:"data"`                       // measurements, 1 to MaxMeasurements
	PriorMean       *float64  `json:"prior_mean,omitempty"`       // of the state; 0
	PriorVariance   *float64  `json:"prior_variance,omitempty"`   // 100
	ClutterWeight   *float64  `json:"clutter_weight,omitempty"`   // the probability that a measurement is clutter; 0.5
	ClutterVariance *float64  `json:"clutter_variance,omitempty"` // 10
	NoiseVariance   *float64  `json:"noise_variance,omitempty"`   // of a measurement that is not clutter; 1
	// Utility has a row for each action, 2 to MaxActions, and in it what the action is
	// worth when the state is below and above the threshold.
	Utility   [][]float64 `json:"utility"`
	Threshold float64     `json:"threshold"`
	// Domain is the interval of states, and of thresholds, to look at. Nil stands for
	// one that has the data, the threshold and nearly all of the posterior in it.
	Domain []float64 `json:"domain,omitempty"`
}

// ReactorView is what every method says of a reactor.
type ReactorView struct {
	Domain    [2]float64 `json:"domain"`
	Threshold float64    `json:"threshold"`
	Phi       []float64  `json:"phi"` // equally spaced states, from one end of the domain to the other
	// Needs is the probability of a state above the threshold beyond which action 1 is
	// best; nil unless there are two actions and each is best somewhere.
	Needs *float64 `json:"needs"`
	// ByProbability divides the probabilities of a state above the threshold by the
	// best action.
	ByProbability []Range `json:"by_probability"`
	// Answers are those of the paper's methods, in the order of the table of methods
	// (exact, ep, loss-ep, vi, loss-vi), without those LeftOut.
	Answers []ReactorMethodView `json:"answers"`
	LeftOut []LeftOut           `json:"left_out"`
}

// ReactorMethodView is what one method says of a reactor.
type ReactorMethodView struct {
	ReactorAnswer
	// ProbabilityAbove is P(state > threshold), and ProbabilityBelow the rest, of which one
	// minus the first may have no digits left.
	ProbabilityAbove float64   `json:"probability_above"`
	ProbabilityBelow float64   `json:"probability_below"`
	Density          []float64 `json:"density"` // of the state, at each Phi
	// Agrees says that the action is that of the exact posterior, and Regret what it
	// loses against that. Nil where there is no exact answer.
	Agrees *bool   `json:"agrees"`
	Regret *Regret `json:"regret"`
	// Ranges are the actions that the method takes when the threshold moves over the
	// domain, in order. They meet where it changes its mind. Around thresholds where
	// it failed there is a gap.
	Ranges []Range `json:"ranges"`
	// Sweep says how the ranges of a method that is calibrated to the threshold were
	// found; nil for the others, whose posterior does not depend on it.
	Sweep *Sweep `json:"sweep,omitempty"`
}

// Sweep is how a calibrated method was followed over the thresholds of a domain: it
// was run at equally spaced ones, and at more between two neighbours that differ, or of
// which one has held its actions. A range that lies wholly between two neighbours is not
// seen.
type Sweep struct {
	Runs    int     `json:"runs"`    // in all
	Spacing float64 `json:"spacing"` // of the equally spaced thresholds
	// Precision is how closely the thresholds are known at which the action changes.
	Precision float64 `json:"precision"`
	// Unsettled counts the runs that did not converge, whose action is taken as it is.
	Unsettled int `json:"unsettled"`
	// Held counts the runs whose actions did not come to rest by themselves: see
	// infer.Status.
	Held int `json:"held"`
	// Failures are the runs that ended with nothing.
	Failures []SweepFailure `json:"failures"`
}

// SweepFailure is a threshold at which a method has no answer.
type SweepFailure struct {
	Threshold float64 `json:"threshold"`
	Reason    string  `json:"reason"`
}

// phiPoints is the number of states at which densities are given.
const phiPoints = 401

// problem is the request with everything filled in.
func (r ReactorRequest) problem() (Reactor, error) {
	p := NewReactor(r.Data...)
	p.Threshold = r.Threshold
	for _, c := range []struct {
		given *float64
		value *float64
	}{
		{r.PriorMean, &p.PriorMean},
		{r.PriorVariance, &p.PriorVariance},
		{r.ClutterWeight, &p.ClutterWeight},
		{r.ClutterVariance, &p.ClutterVariance},
		{r.NoiseVariance, &p.NoiseVariance},
	} {
		if c.given != nil {
			*c.value = *c.given
		}
	}
	if err := checkProblem(p); err != nil {
		return p, err
	}
	if err := r.checkDomain(); err != nil {
		return p, err
	}
	var err error
	p.Utility, err = newTable(r.Utility, 2)
	return p, err
}

func checkProblem(p Reactor) error {
	switch n := len(p.Data); {
	case n == 0:
		return inputf("data", "there are no measurements; give at least one")
	case n > MaxMeasurements:
		return inputf("data", "there are %d measurements; give at most %d", n, MaxMeasurements)
	}
	for i, y := range p.Data {
		if err := checkPlace(entry("data", i), y); err != nil {
			return err
		}
	}
	if err := checkPlace("prior_mean", p.PriorMean); err != nil {
		return err
	}
	if err := checkVariance("prior_variance", p.PriorVariance); err != nil {
		return err
	}
	if err := checkVariance("clutter_variance", p.ClutterVariance); err != nil {
		return err
	}
	if err := checkVariance("noise_variance", p.NoiseVariance); err != nil {
		return err
	}
	if p.PriorVariance > widest*p.NoiseVariance {
		return inputf("prior_variance", "%v is more than %g times the noise variance, %v; bring them closer together", p.PriorVariance, widest, p.NoiseVariance)
	}
	if !(p.ClutterWeight >= 0 && p.ClutterWeight < 1) {
		return inputf("clutter_weight", "%v is not a probability below 1", p.ClutterWeight)
	}
	return checkPlace("threshold", p.Threshold)
}

func (r ReactorRequest) checkDomain() error {
	if r.Domain == nil {
		return nil
	}
	if len(r.Domain) != 2 {
		return inputf("domain", "wants two numbers, where it begins and where it ends, and has %d", len(r.Domain))
	}
	for i, x := range r.Domain {
		if err := checkPlace(entry("domain", i), x); err != nil {
			return err
		}
	}
	return checkWidth("domain", r.Domain[0], r.Domain[1])
}

// domain is the interval asked for, or one that holds the data, the threshold and all
// but a hundredth of the exact posterior on either side. Where that is not known
// three standard deviations of the prior stand in.
func (r ReactorRequest) domain(p Reactor, s *ReactorPosterior) [2]float64 {
	if r.Domain != nil {
		return [2]float64(r.Domain)
	}
	const tail = 1e-2
	var from, to float64
	if s != nil {
		from, to = s.Threshold(1-tail), s.Threshold(tail)
	} else {
		reach := 3 * math.Sqrt(p.PriorVariance)
		from, to = p.PriorMean-reach, p.PriorMean+reach
	}
	for _, x := range append([]float64{p.Threshold}, p.Data...) {
		from, to = min(from, x), max(to, x)
	}
	from, to = outward(from, to)
	return [2]float64{from, to}
}

// Solve answers the request. The error is an *InputError, or that of the context.
func (r ReactorRequest) Solve(ctx context.Context) (*ReactorView, error) {
	p, err := r.problem()
	if err != nil {
		return nil, err
	}
	s, err := newReactorSolver(ctx, p)
	if err != nil {
		return nil, err
	}
	s.view.Domain = r.domain(p, s.exact)
	s.view.Phi = axis(s.view.Domain[0], s.view.Domain[1], phiPoints)
	all := methods.List(func(d methods.Method) bool { return d.Paper })
	answers, errs := make([]*ReactorMethodView, len(all)), make([]error, len(all))
	tasks.For(len(all), func(i int) { answers[i], errs[i] = s.solve(ctx, all[i]) })
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, d := range all {
		err := errs[i]
		if err == nil && !answers[i].finite() {
			err = errNotFinite
		}
		if err != nil {
			s.view.LeftOut = append(s.view.LeftOut, LeftOut{d.Name, reason(err)})
			continue
		}
		s.view.Answers = append(s.view.Answers, *answers[i])
	}
	s.compare()
	return &s.view, nil
}

// reactorSolver is one request being answered.
type reactorSolver struct {
	problem Reactor
	utility *decision.Utility
	model   *infer.Model
	phi     *gauss.Views      // the state itself
	exact   *ReactorPosterior // nil where it could not be had, and then there is an error
	failure error
	view    ReactorView
}

func newReactorSolver(ctx context.Context, p Reactor) (*reactorSolver, error) {
	s := &reactorSolver{problem: p, view: ReactorView{
		Threshold: p.Threshold, Needs: needs(p.Utility), ByProbability: byProbability(p.Utility),
		Answers: []ReactorMethodView{}, LeftOut: []LeftOut{},
	}}
	var err error
	if s.model, err = p.Model(); err != nil {
		return nil, err
	}
	s.phi = s.model.Views.Slice(0, 1) // every measurement is of the state itself
	if s.utility, err = s.utilityAt(p.Threshold); err != nil {
		return nil, err
	}
	s.exact, s.failure = p.Exact(ctx)
	return s, ctx.Err()
}

// utilityAt is the utility of the decision when the threshold is another one.
func (s *reactorSolver) utilityAt(threshold float64) (*decision.Utility, error) {
	return decision.NewUtility(decision.Exceeds(threshold), 1, nil, s.problem.Utility)
}

// solve answers by a method of the table.
func (s *reactorSolver) solve(ctx context.Context, d methods.Method) (*ReactorMethodView, error) {
	if d.Exact && s.failure != nil {
		return nil, s.failure
	}
	known, err := s.problem.Solve(ctx, d.Name)
	if err != nil {
		return nil, err
	}
	p := s.outcomes(s.utility, known.Posterior)
	a := &ReactorMethodView{ReactorAnswer: *known, ProbabilityBelow: p[0], ProbabilityAbove: p[1], Density: make([]float64, len(s.view.Phi))}
	sd := math.Sqrt(a.Variance)
	density := func(phi float64) float64 { return normal.Density((phi-a.Mean)/sd) / sd }
	threshold := func(p float64) float64 { return a.Mean - sd*normal.Quantile(p) }
	if d.Exact {
		density, threshold = s.exact.Density, s.exact.Threshold
	}
	for k, phi := range s.view.Phi {
		a.Density[k] = density(phi)
	}
	if d.Calibrated {
		err = s.sweep(ctx, d, a)
	} else {
		a.Ranges = rangesOf(s.problem.Utility, s.view.Domain, threshold)
	}
	return a, err
}

// outcomes are the probabilities of a state below the threshold of a utility, and above.
func (s *reactorSolver) outcomes(u *decision.Utility, q infer.Posterior) []float64 {
	both := make([]float64, 2)
	u.Outcome().Pair(q, s.phi, both)
	return both
}

// sweepTolerance is what a run at one of many thresholds converges to. Reactor.Solve
// goes further; the action is the same unless the threshold is as close to
// one where it changes.
const sweepTolerance = 1e-4

// sweepSweeps is the most sweeps of such a run. Of a hundred runs on four random reactors
// of 40 measurements none took more; with a prior a million times as wide as the noise
// half of them do, and are counted as unsettled.
const sweepSweeps = 200

// sweep follows a method that depends on the threshold over the domain.
func (s *reactorSolver) sweep(ctx context.Context, d methods.Method, a *ReactorMethodView) error {
	// The start is part of the method, so that every threshold starts from empty sites,
	// half-damped, as Reactor.Solve does.
	how, o := finePlan, methods.Options{Damping: 0.5, Tolerance: sweepTolerance, MaxSweeps: sweepSweeps}
	if d.Bound {
		// It begins with its plain sibling, which knows of no threshold: that is run once.
		o.MaxSweeps = 0
		plain, _ := methods.Named(d.Of)
		r, err := plain.Fit(ctx, s.model, o)
		if err != nil {
			return err
		}
		how, o.Start = coarsePlan, &r.Sites
	}
	known := run{threshold: s.problem.Threshold, action: *a.Action, unsettled: !a.Converged, held: a.ActionsHeld}
	var err error
	a.Ranges, a.Sweep, err = sweep(ctx, s.view.Domain, how.within(len(s.problem.Data)), known, func(ctx context.Context, threshold float64) run {
		u, err := s.utilityAt(threshold)
		if err != nil {
			return run{threshold: threshold, err: err}
		}
		r, err := d.Fit(ctx, &infer.Model{Views: s.model.Views, Terms: s.model.Terms, Utility: u, Points: s.phi}, o)
		if err != nil {
			return run{threshold: threshold, err: err}
		}
		p := s.outcomes(u, r)
		if !finite.All(p...) {
			return run{threshold: threshold, err: errNotFinite}
		}
		return run{threshold: threshold, action: u.Choose(0, p).Action, unsettled: !r.Status.Converged, held: r.Status.ActionsHeld}
	})
	return err
}

// finite reports whether everything in the answer is a finite number. An evidence
// that is not is left out of it.
func (a *ReactorMethodView) finite() bool {
	a.LogEvidence = finiteOrNil(a.LogEvidence)
	numbers := append([]float64{a.Mean, a.Variance, a.ProbabilityBelow, a.ProbabilityAbove, a.Floor}, a.ExpectedUtility...)
	if a.TiltedMean != nil {
		numbers = append(numbers, *a.TiltedMean, *a.TiltedVariance)
	}
	for _, f := range a.OtherFixedPoints {
		numbers = append(numbers, f.Mean, f.Variance, f.LogEvidence)
	}
	for _, r := range a.Ranges {
		numbers = append(numbers, r.From, r.To)
	}
	return finite.All(numbers...) && finite.All(a.Density...)
}

// compare fills in what each answer is against the exact one.
func (s *reactorSolver) compare() {
	answers := s.view.Answers
	for i := range answers {
		answers[i].Posterior = nil // a view is what can be seen
	}
	if len(answers) == 0 || answers[0].Method != "exact" {
		return
	}
	truth := [][]float64{{answers[0].ProbabilityBelow, answers[0].ProbabilityAbove}}
	for i := range answers {
		a := &answers[i]
		agrees := *a.Action == *answers[0].Action
		a.Agrees = &agrees
		a.Regret = newRegret(s.utility.Regret([]int{*a.Action}, truth))
	}
}
