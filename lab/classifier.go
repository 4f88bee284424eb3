package lab

import (
	"errors"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/kernel"
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
