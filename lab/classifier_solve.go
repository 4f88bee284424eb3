package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/corrected"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/methods"
)

// classifierSolver is one request being answered: with two outcomes, or with three.
type classifierSolver interface {
	// answer asks a method about the whole grid.
	answer(ctx context.Context, d methods.Method) (*ClassifierAnswer, error)
	// exact is the exact posterior on the grid, with what actions are worth there.
	exact(ctx context.Context) (*gridTruth, gridUtility, error)
}

// Solve answers the request. The error is an *InputError, or that of the context.
func (c Classifier) Solve(ctx context.Context) (*ClassifierView, error) {
	p, err := c.problem()
	if err != nil {
		return nil, err
	}
	view := &ClassifierView{
		Axes: p.axes, Kernel: p.kernel.String(), ByProbability: []Range{}, Methods: []ClassifierAnswer{}, LeftOut: []LeftOut{},
	}
	var s classifierSolver
	if len(p.table[0]) == 3 {
		s, err = newThreeOutcomes(p, view)
	} else {
		s, err = newTwoOutcomes(p, view)
	}
	if err != nil {
		return nil, err
	}
	all := methods.List(func(d methods.Method) bool { return d.Kept })
	answers, errs := make([]*ClassifierAnswer, len(all)), make([]error, len(all))
	var exact *gridTruth
	var worth gridUtility
	var exactErr error
	inTime, stop := timeForExact(ctx)
	defer stop()
	// As many at once as there are processors: more would only keep others waiting.
	tasks.For(len(all)+1, func(i int) {
		if i == len(all) {
			exact, worth, exactErr = s.exact(inTime)
			return
		}
		answers[i], errs[i] = s.answer(ctx, all[i])
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if exactErr != nil {
		view.ExactLeftOut = reason(exactErr)
	} else {
		view.Exact = exact.answer(worth)
	}
	for i, d := range all {
		if errs[i] != nil {
			view.LeftOut = append(view.LeftOut, LeftOut{d.Name, reason(errs[i])})
			continue
		}
		if exactErr == nil {
			exact.compare(answers[i], worth, view.Exact.Action)
		}
		view.Methods = append(view.Methods, *answers[i])
	}
	return view, nil
}

// twoOutcomes answers with one latent function.
type twoOutcomes struct {
	model   *infer.Model
	grid    *gauss.Views
	utility *decision.Utility // on the grid
	// calibrated is the model with the utility on the grid of CalibrationAxes.
	calibrated *infer.Model

	// plain are the methods that know of no utility, by name. What others begin with is
	// found once.
	plain map[string]func(context.Context) (*infer.Result, error)
}

// calibrationPoints is the largest number of points that a method is calibrated on.
// Loss-VI visits each at every draw and step, which would take it seconds on a grid of
// thousands.
const calibrationPoints = 225

func newTwoOutcomes(p *classifierProblem, view *ClassifierView) (*twoOutcomes, error) {
	process, err := gp.New(p.kernel, p.x)
	if err != nil {
		return nil, noSquareRoot(err)
	}
	s := &twoOutcomes{grid: process.At(gridPoints(p.axes))}
	if s.model, err = process.Classify(p.labels); err != nil {
		return nil, err
	}
	if s.utility, err = decision.NewUtility(decision.Probit(), s.grid.Len(), nil, p.table); err != nil {
		return nil, err
	}
	view.Needs, view.ByProbability = needs(p.table), byProbability(p.table)
	view.CalibrationAxes = coarser(p.axes, calibrationPoints)
	points := process.At(gridPoints(view.CalibrationAxes))
	s.calibrated = &infer.Model{Views: s.model.Views, Terms: s.model.Terms, Points: points}
	if s.calibrated.Utility, err = decision.NewUtility(decision.Probit(), points.Len(), nil, p.table); err != nil {
		return nil, err
	}
	s.plain = make(map[string]func(context.Context) (*infer.Result, error))
	for _, d := range methods.List(func(d methods.Method) bool { return d.Kept && !d.Calibrated && !d.Refines() }) {
		s.plain[d.Name] = once(func(ctx context.Context) (*infer.Result, error) { return d.Fit(ctx, s.model, methods.Options{}) })
	}
	return s, nil
}

func noSquareRoot(err error) error {
	return inputf("kernel", "its covariances at the points have no square root; choose other parameters (%v)", err)
}

func (s *twoOutcomes) exact(ctx context.Context) (*gridTruth, gridUtility, error) {
	t, err := newTruth(ctx, s.model, onGrid(s.grid))
	return t, s.utility, err
}

// once makes a function that runs once, for whoever asks first; the others wait.
func once(run func(context.Context) (*infer.Result, error)) func(context.Context) (*infer.Result, error) {
	var ran sync.Once
	var result *infer.Result
	var err error
	return func(ctx context.Context) (*infer.Result, error) {
		ran.Do(func() { result, err = run(ctx) })
		return result, err
	}
}

// fitted is what a method found.
type fitted struct {
	*infer.Result
	note func() string // added to the status after the posterior was asked; may be nil
}

// fit runs a method of the table.
func (s *twoOutcomes) fit(ctx context.Context, d methods.Method) (*fitted, error) {
	if d.Calibrated && !d.Bound {
		r, err := d.Fit(ctx, s.calibrated, methods.Options{})
		return &fitted{Result: r}, err
	}
	name := d.Name
	if d.Of != "" {
		name = d.Of
	}
	plain, err := s.plain[name](ctx)
	switch {
	case err != nil:
		return nil, err
	case d.Refines():
		return s.refine(d, plain)
	case d.Calibrated:
		return s.climb(ctx, d, plain)
	}
	return &fitted{Result: plain}, nil
}

// Loss-VI is found less closely than it could be: its error is far below that of the
// draws, and these shift every point of the surface together.
const (
	lossVIDraws     = 128
	lossVITolerance = 1e-4
)

// climb raises a calibrated bound from where that of the plain sibling ended.
func (s *twoOutcomes) climb(ctx context.Context, d methods.Method, plain *infer.Result) (*fitted, error) {
	r, err := d.Fit(ctx, s.calibrated, methods.Options{Tolerance: lossVITolerance, Start: &plain.Sites, Draws: lossVIDraws, Seed: drawSeed})
	return &fitted{Result: r, note: func() string {
		note := fmt.Sprintf("to %g with %d draws", lossVITolerance, lossVIDraws)
		if r.Status.Floor > 0 {
			note += fmt.Sprintf("; the utility is zero somewhere and was raised by %.2g", r.Status.Floor)
		}
		return note
	}}, err
}

// What corrections may take: terms evaluated in all, and the number of points of the
// grid times the square of the number of labels up to which pairs are corrected too.
const (
	correctedEffort = 16_000_000
	pairedEffort    = 1_200_000
)

// refine makes a posterior that answers more closely.
func (s *twoOutcomes) refine(d methods.Method, plain *infer.Result) (*fitted, error) {
	n := len(s.model.Terms)
	if s.correctionNodes(plain)*float64(n) > correctedEffort {
		return nil, errors.New("corrections take too long where the process varies as much as here; use fewer points, a coarser grid or a kernel of less variance")
	}
	name := "factorised"
	if s.grid.Len()*n*n <= pairedEffort {
		name = "paired"
		d, _ = methods.Named("paired")
	}
	r := d.Refine(s.model, plain)
	return &fitted{Result: r, note: func() string {
		note := name + " corrections"
		if c, ok := r.Posterior.(*corrected.Posterior); ok && c.Declined() > 0 {
			note += fmt.Sprintf(", factorised at %d points where pairs did not help", c.Declined())
		}
		return note
	}}, nil
}

// correctionNodes is about how many nodes corrected.Posterior integrates over on the whole
// grid: 40 for each value, and more for one that varies by more than three.
func (s *twoOutcomes) correctionNodes(r *infer.Result) float64 {
	mean, variance := make([]float64, s.grid.Len()), make([]float64, s.grid.Len())
	r.Moments(s.grid, mean, variance)
	sum := 0.0
	for _, v := range variance {
		sum += min(max(40, 13*math.Sqrt(v)), 1025)
	}
	return sum
}

func (s *twoOutcomes) answer(ctx context.Context, d methods.Method) (*ClassifierAnswer, error) {
	f, err := s.fit(ctx, d)
	if err != nil {
		return nil, err
	}
	n := s.grid.Len()
	a := &ClassifierAnswer{
		Method: d.Name, Converged: f.Status.Converged, Sweeps: f.Status.Sweeps, ActionsHeld: f.Status.ActionsHeld,
		LogEvidence: finiteOrNil(&f.LogEvidence), Probability: make([]float64, n), Action: make([]int, n),
	}
	// In parts, so that nobody waits long for an answer that is no longer wanted, or for a
	// processor: a corrected marginal takes up to half a millisecond.
	const part = 16
	both, stderr := decision.Pairs(a.Probability), make([]float64, part)
	for i := 0; i < n && ctx.Err() == nil; i += part {
		j := min(i+part, n)
		decision.Probit().Both(f, s.grid.Slice(i, j), both[i:j], stderr[:j-i])
	}
	for i, p := range both {
		if a.Probability[i] = p[1]; !finite.All(p...) {
			return nil, errNotFinite
		}
	}
	a.Status = f.Status.String()
	if f.note != nil {
		a.Status += "; " + f.note()
	}
	s.utility.Actions(a.Action, both)
	return a, ctx.Err()
}
