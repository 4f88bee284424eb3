package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/corrected"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/methods"
)

// DefaultKernel is the kernel of a Classifier that names none.
const DefaultKernel = "rbf"

// Classifier is Gaussian process classification with probit terms on the line or in
// the plane, with the kernel as it is given.
type Classifier struct {
	X      [][]float64 `json:"x"`      // 1 to MaxPoints points of 1 or 2 coordinates
	Labels []int       `json:"labels"` // 0 or 1, one for each point; with three outcomes 0, 1 or 2
	// Kernel is in the language of package kernel, such as
	// "rbf(variance=4, lengthscale=1.5)"; empty stands for DefaultKernel.
	Kernel string `json:"kernel,omitempty"`
	// Utility has a row for each action, 2 to MaxActions, and in it what the action is
	// worth when the label is 0 and 1; or 0, 1 and 2, and then there are three outcomes.
	Utility [][]float64 `json:"utility"`
	// Grid is where to look, and stands for p(x). Nil stands for one around the points.
	Grid *Grid `json:"grid,omitempty"`
}

// ClassifierView is what every method says of a classifier. Everything that is given
// at each point of the grid is one list: the first coordinate runs fastest, so that
// the point at axes[0][i], axes[1][j] has number j·len(axes[0]) + i.
type ClassifierView struct {
	Axes   [][]float64 `json:"axes"`   // the values of each coordinate
	Kernel string      `json:"kernel"` // with all its parameters
	// Needs is the probability of label 1 beyond which action 1 is best; nil unless
	// there are two actions and each is best somewhere.
	Needs *float64 `json:"needs"`
	// ByProbability divides the probabilities of label 1 by the best action.
	ByProbability []Range `json:"by_probability"`
	// CalibrationAxes are those of the grid that Loss-EP and Loss-VI are calibrated
	// on: the grid itself, or where that would take too long every second, third, …
	// of its lines.
	CalibrationAxes [][]float64 `json:"calibration_axes"`
	// Exact is the exact posterior. Nil when it could not be had, with a reason.
	Exact        *ExactAnswer `json:"exact"`
	ExactLeftOut string       `json:"exact_left_out,omitempty"`
	// Methods are those by which models are fitted, in the order of the table of methods
	// (corrected, ep, loss-ep, vi, loss-vi, laplace), without those LeftOut.
	Methods []ClassifierAnswer `json:"methods"`
	LeftOut []LeftOut          `json:"left_out"`
}

// ExactAnswer is the exact posterior as independent draws know it.
type ExactAnswer struct {
	Draws  int    `json:"draws"`
	Status string `json:"status"`
	// LogEvidence is the log probability of the labels, with its standard error.
	LogEvidence      float64 `json:"log_evidence"`
	LogEvidenceError float64 `json:"log_evidence_stderr"`
	// Probability is P(label 1) at each point of the grid, StdErr its standard error; null
	// with three outcomes.
	Probability []float64 `json:"probability"`
	StdErr      []float64 `json:"stderr"`
	// Probabilities are those of three outcomes, a list over the grid for each, and StdErrs
	// their standard errors.
	Probabilities [][]float64 `json:"probabilities,omitempty"`
	StdErrs       [][]float64 `json:"stderrs,omitempty"`
	Action        []int       `json:"action"` // the best at each point of the grid
	// Doubtful is the number of points of the grid where the best action is within
	// two standard errors of another.
	Doubtful        int     `json:"doubtful"`
	ExpectedUtility float64 `json:"expected_utility"` // of the best actions, on average over the grid
}

// ClassifierAnswer is what one method says of a classifier.
type ClassifierAnswer struct {
	Method    string `json:"method"`
	Converged bool   `json:"converged"`
	Sweeps    int    `json:"sweeps"`
	// ActionsHeld says that the actions a method is calibrated to did not come to rest:
	// see infer.Status.
	ActionsHeld bool   `json:"actions_held,omitempty"`
	Status      string `json:"status"` // in words
	// LogEvidence is the log evidence of the labels, for VI and Loss-VI a lower bound
	// on it. It includes the utility for Loss-EP and Loss-VI.
	LogEvidence *float64  `json:"log_evidence"`
	Probability []float64 `json:"probability"` // of label 1, at each point of the grid; null with three outcomes
	// Probabilities are those of three outcomes, a list over the grid for each.
	Probabilities [][]float64 `json:"probabilities,omitempty"`
	Action        []int       `json:"action"` // at each point of the grid
	// Flips is the number of points of the grid whose action is not that of the exact
	// posterior, and Regret what that loses. DoubtfulFlips are those of them where that
	// action is in doubt itself. Nil where there is no exact answer.
	Flips         *int    `json:"flips"`
	DoubtfulFlips *int    `json:"doubtful_flips"`
	Regret        *Regret `json:"regret"`
}

// classifierProblem is a request that has passed its checks.
type classifierProblem struct {
	x      *mat.Dense
	labels []int
	kernel kernel.Kernel
	table  decision.Table
	axes   [][]float64
}

func (c Classifier) problem() (*classifierProblem, error) {
	p := &classifierProblem{}
	var err error
	if p.x, err = c.inputs(); err != nil {
		return nil, err
	}
	number := 2
	if len(c.Utility) > 0 && len(c.Utility[0]) == 3 {
		number = 3
	}
	if p.labels, err = c.labels(number); err != nil {
		return nil, err
	}
	if p.table, err = newTable(c.Utility, number); err != nil {
		return nil, err
	}
	g := c.Grid
	if g == nil {
		g = around(p.x)
	}
	_, d := p.x.Dims()
	if err := g.check(d); err != nil {
		return nil, err
	}
	p.axes = g.axes()
	p.kernel, err = c.newKernel(p.x, p.axes)
	return p, err
}

// inputs are the points as a matrix.
func (c Classifier) inputs() (*mat.Dense, error) {
	switch n := len(c.X); {
	case n == 0:
		return nil, inputf("x", "there are no points; give at least one")
	case n > MaxPoints:
		return nil, inputf("x", "there are %d points; give at most %d", n, MaxPoints)
	}
	d := len(c.X[0])
	if d != 1 && d != 2 {
		return nil, inputf("x[0]", "the point has %d coordinates; give 1 on the line or 2 in the plane", d)
	}
	x := mat.NewDense(len(c.X), d, nil)
	for i, row := range c.X {
		if len(row) != d {
			return nil, inputf(entry("x", i), "the point has %d coordinates and the first has %d; give all the same", len(row), d)
		}
		for k, v := range row {
			if err := checkPlace(entry(entry("x", i), k), v); err != nil {
				return nil, err
			}
		}
		x.SetRow(i, row)
	}
	return x, nil
}

// labels are below the number of outcomes.
func (c Classifier) labels(number int) ([]int, error) {
	if len(c.Labels) != len(c.X) {
		return nil, inputf("labels", "there are %d for %d points; give one for each", len(c.Labels), len(c.X))
	}
	for i, y := range c.Labels {
		if y < 0 || y >= number {
			return nil, inputf(entry("labels", i), "%d is not a label; with a utility of %d outcomes give 0 to %d", y, number, number-1)
		}
	}
	return slices.Clone(c.Labels), nil
}

// newKernel reads the kernel, and sees that the process has a sensible variance
// wherever it is looked at.
func (c Classifier) newKernel(x *mat.Dense, axes [][]float64) (kernel.Kernel, error) {
	text := c.Kernel
	if text == "" {
		text = DefaultKernel
	}
	if len(text) > MaxKernel {
		return kernel.Kernel{}, inputf("kernel", "it has %d characters; give at most %d", len(text), MaxKernel)
	}
	k, err := kernel.Parse(text, len(axes))
	var wrong *kernel.SyntaxError
	if errors.As(err, &wrong) {
		return k, inputf("kernel", "column %d: %s", wrong.Column, wrong.Problem)
	}
	if err != nil {
		return k, &InputError{Field: "kernel", Msg: err.Error()}
	}
	for _, z := range []*mat.Dense{x, gridPoints(axes)} {
		for _, v := range k.Diag(nil, z) {
			if !(v >= smallestVariance && v <= largestProcess) {
				return k, inputf("kernel", "the process has variance %.3g somewhere; choose parameters that keep it from %g to %g", v, smallestVariance, largestProcess)
			}
		}
	}
	return k, nil
}

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
