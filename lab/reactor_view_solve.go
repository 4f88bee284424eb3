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
