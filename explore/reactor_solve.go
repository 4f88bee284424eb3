package explore

import (
	"context"
	"fmt"
	"math"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/reactor"
)

// Solve answers the request. The error is an *InputError, or that of the context.
func (r Reactor) Solve(ctx context.Context) (*ReactorView, error) {
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
	methods := []struct {
		name  string
		solve func(context.Context) (*ReactorAnswer, error)
	}{
		{"exact", s.solveExact},
		{"ep", s.solvePlain("ep")},
		{"loss-ep", s.solveLossEP},
		{"vi", s.solvePlain("vi")},
		{"loss-vi", s.solveLossVI},
	}
	answers, errs := make([]*ReactorAnswer, len(methods)), make([]error, len(methods))
	var wait tasks.Group
	for i, m := range methods {
		wait.Go(func() { answers[i], errs[i] = m.solve(ctx) })
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, m := range methods {
		err := errs[i]
		if err == nil && !answers[i].finite() {
			err = errNotFinite
		}
		if err != nil {
			s.view.LeftOut = append(s.view.LeftOut, LeftOut{m.name, reason(err)})
			continue
		}
		s.view.Answers = append(s.view.Answers, *answers[i])
	}
	s.compare()
	return &s.view, nil
}

// reactorSolver is one request being answered.
type reactorSolver struct {
	problem reactor.Problem
	utility *decision.Utility
	model   *infer.Model
	phi     *gauss.Views // the state itself
	exact   *state       // nil where it could not be had, and then there is an error
	failure error
	view    ReactorView
}

func newReactorSolver(ctx context.Context, p reactor.Problem) (*reactorSolver, error) {
	s := &reactorSolver{problem: p, view: ReactorView{
		Threshold: p.Threshold, Needs: needs(p.Utility), ByProbability: byProbability(p.Utility),
		Answers: []ReactorAnswer{}, LeftOut: []LeftOut{},
	}}
	var err error
	if s.model, err = p.Model(); err != nil {
		return nil, err
	}
	s.phi = s.model.Views.Slice(0, 1) // every measurement is of the state itself
	if s.utility, err = s.utilityAt(p.Threshold); err != nil {
		return nil, err
	}
	s.exact, s.failure = newState(ctx, p, s.model)
	return s, ctx.Err()
}

// utilityAt is the utility of the decision when the threshold is another one.
func (s *reactorSolver) utilityAt(threshold float64) (*decision.Utility, error) {
	return decision.NewUtility(decision.Exceeds(threshold), 1, nil, s.problem.Utility)
}

// mixtureTerms is the number of measurements up to which the exact answer is that of
// package reactor, by enumeration. It doubles its work with every measurement; here
// it takes less than a millisecond, and quadrature says the same.
const mixtureTerms = 12

func (s *reactorSolver) solveExact(ctx context.Context) (*ReactorAnswer, error) {
	if s.failure != nil {
		return nil, s.failure
	}
	e := s.exact
	a := &ReactorAnswer{Density: make([]float64, len(s.view.Phi))}
	if len(s.problem.Data) <= mixtureTerms {
		known, err := reactor.Solve(ctx, s.problem, "exact")
		if err != nil {
			return nil, err
		}
		a.Answer = *known
		a.ProbabilityAbove = s.above(s.utility, known.Posterior)
	} else {
		a.ProbabilityAbove = e.above(s.problem.Threshold)
		c := s.utility.Choose(0, a.ProbabilityAbove)
		a.Answer = reactor.Answer{
			Method: "exact", Mean: e.mean, Variance: e.variance, LogEvidence: &e.logEvidence,
			Action: &c.Action, ExpectedUtility: c.Utilities,
			Converged: true, Sweeps: 1, Status: fmt.Sprintf("exact, by quadrature on %d panels", len(e.panels)),
		}
	}
	for k, phi := range s.view.Phi {
		a.Density[k] = e.density(phi)
	}
	a.Ranges = rangesOf(s.problem.Utility, s.view.Domain, e.threshold)
	return a, nil
}

// above is the probability of the state above the threshold of a utility.
func (s *reactorSolver) above(u *decision.Utility, q infer.Posterior) float64 {
	var above, stderr [1]float64
	u.Outcome().Probabilities(q, s.phi, above[:], stderr[:])
	return above[0]
}

// solveGaussian is the answer of a method that ends with one Gaussian, but for the
// ranges.
func (s *reactorSolver) solveGaussian(ctx context.Context, method string) (*ReactorAnswer, error) {
	known, err := reactor.Solve(ctx, s.problem, method)
	if err != nil {
		return nil, err
	}
	a := &ReactorAnswer{Answer: *known, Density: make([]float64, len(s.view.Phi))}
	a.ProbabilityAbove = s.above(s.utility, known.Posterior)
	sd := math.Sqrt(a.Variance)
	for k, phi := range s.view.Phi {
		a.Density[k] = normal.Density((phi-a.Mean)/sd) / sd
	}
	return a, nil
}

// solvePlain is a method that knows of no threshold.
func (s *reactorSolver) solvePlain(method string) func(context.Context) (*ReactorAnswer, error) {
	return func(ctx context.Context) (*ReactorAnswer, error) {
		a, err := s.solveGaussian(ctx, method)
		if err != nil {
			return nil, err
		}
		a.Ranges = rangesOf(s.problem.Utility, s.view.Domain, func(p float64) float64 {
			return a.Mean - math.Sqrt(a.Variance)*normal.Quantile(p)
		})
		return a, nil
	}
}

// sweepTolerance is what a run at one of many thresholds is settled to. Package
// reactor goes further; the action is the same unless the threshold is as close to
// one where it changes.
const sweepTolerance = 1e-4

// sweepSweeps is the most sweeps of such a run. Of a hundred runs on four random reactors
// of 40 measurements none took more; with a prior a million times as wide as the noise
// half of them do, and are counted as unsettled.
const sweepSweeps = 200

func (s *reactorSolver) solveLossEP(ctx context.Context) (*ReactorAnswer, error) {
	return s.solveCalibrated(ctx, "loss-ep", finePlan, func(ctx context.Context, m *infer.Model) (*gauss.Gaussian, infer.Status, error) {
		// The start is part of the method, so that every threshold starts from empty
		// sites, half-damped, as in package reactor.
		r, err := infer.EP{Damping: 0.5, Tolerance: sweepTolerance, MaxSweeps: sweepSweeps}.Fit(ctx, m)
		if err != nil {
			return nil, infer.Status{}, err
		}
		return r.Q, r.Status, nil
	})
}

func (s *reactorSolver) solveLossVI(ctx context.Context) (*ReactorAnswer, error) {
	// Loss-VI begins with VI, which knows of no threshold: it is run once.
	plain, err := infer.VI{Tolerance: sweepTolerance}.Fit(ctx, s.model)
	if err != nil {
		return nil, err
	}
	return s.solveCalibrated(ctx, "loss-vi", coarsePlan, func(ctx context.Context, m *infer.Model) (*gauss.Gaussian, infer.Status, error) {
		// The draws are for the share of the floor only, which is not asked for here.
		r, err := infer.LossVI{VI: infer.VI{Tolerance: sweepTolerance, Start: &plain.Sites}, Draws: 16}.Fit(ctx, m)
		if err != nil {
			return nil, infer.Status{}, err
		}
		return r.Q, r.Status, nil
	})
}

// solveCalibrated is a method that depends on the threshold.
func (s *reactorSolver) solveCalibrated(ctx context.Context, method string, how plan, fit func(context.Context, *infer.Model) (*gauss.Gaussian, infer.Status, error)) (*ReactorAnswer, error) {
	a, err := s.solveGaussian(ctx, method)
	if err != nil {
		return nil, err
	}
	known := run{threshold: s.problem.Threshold, action: *a.Action, unsettled: !a.Converged, held: a.ActionsHeld}
	a.Ranges, a.Sweep, err = sweep(ctx, s.view.Domain, how.within(len(s.problem.Data)), known, func(ctx context.Context, threshold float64) run {
		u, err := s.utilityAt(threshold)
		if err != nil {
			return run{threshold: threshold, err: err}
		}
		q, status, err := fit(ctx, &infer.Model{Views: s.model.Views, Terms: s.model.Terms, Utility: u, Points: s.phi})
		if err != nil {
			return run{threshold: threshold, err: err}
		}
		above := s.above(u, infer.Gaussian{Gaussian: q})
		if math.IsNaN(above) {
			return run{threshold: threshold, err: errNotFinite}
		}
		return run{threshold: threshold, action: u.Choose(0, above).Action, unsettled: !status.Converged, held: status.ActionsHeld}
	})
	return a, err
}

// finite reports whether everything in the answer is a finite number. An evidence
// that is not is left out of it.
func (a *ReactorAnswer) finite() bool {
	a.LogEvidence = finiteOrNil(a.LogEvidence)
	numbers := append([]float64{a.Mean, a.Variance, a.ProbabilityAbove, a.Floor}, a.ExpectedUtility...)
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
	for i := range answers {
		a := &answers[i]
		agrees := *a.Action == *answers[0].Action
		a.Agrees = &agrees
		a.Regret = newRegret(s.utility.Regret([]int{*a.Action}, []float64{answers[0].ProbabilityAbove}))
	}
}
