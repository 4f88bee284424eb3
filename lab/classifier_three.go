package lab

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/methods"
	"github.com/lossep/lossep/orthant"
)

// Three outcomes have a latent function each; see gp.Outcomes.

var (
	errTwoOnly = errors.New("it is for two outcomes, and there are three")
	errTooSlow = errors.New("it takes too long for three outcomes to be shown here")
)

// threeCalibration is the largest number of points that Loss-EP is calibrated on. Each has
// two views.
const threeCalibration = 64

// threeOutcomes answers with a latent function for each of three outcomes.
type threeOutcomes struct {
	problem    *classifierProblem
	process    *gp.Process
	calibrated *infer.Model // with the utility on the grid of CalibrationAxes
}

func newThreeOutcomes(p *classifierProblem, view *ClassifierView) (*threeOutcomes, error) {
	process, err := gp.NewOutcomes(p.kernel, p.x, &gp.Outcomes{Of: p.labels, Number: 3})
	if err != nil {
		return nil, noSquareRoot(err)
	}
	view.CalibrationAxes = coarser(p.axes, threeCalibration)
	s := &threeOutcomes{problem: p, process: process, calibrated: process.Model()}
	points, maps := process.OutcomesPoints(gridPoints(view.CalibrationAxes))
	utility, err := decision.NewContest(maps, nil, p.table)
	if err != nil {
		return nil, err
	}
	s.calibrated.Utility, s.calibrated.Points = utility, points
	return s, nil
}

// exact: given a draw the functions at a point are Gaussian, with a covariance that is the
// same for all draws, so that a probability is a short integral for each.
func (s *threeOutcomes) exact(ctx context.Context) (*gridTruth, gridUtility, error) {
	grid, maps := s.process.OutcomesPoints(gridPoints(s.problem.axes))
	worth, err := decision.NewContest(maps, nil, s.problem.table)
	if err != nil {
		return nil, nil, err
	}
	t, err := newTruth(ctx, s.process.Model(), gridQuestion{len(maps), 3, func(d *exact.Sampled, p, noise [][]float64) {
		d.EachBlock(grid, 2, func(j int, means, cov []float64) { averageThree(maps[j], means, cov, p[j], noise[j]) })
	}})
	return t, worth, err
}

// averageThree writes the mean over draws of the probabilities of three outcomes at a point,
// and the covariance of the errors of that. The means of its two views are given for all
// draws, and their covariance given a draw; b maps them to the functions.
func averageThree(b *mat.Dense, means, cov, p, noise []float64) {
	var half, full mat.Dense
	half.Mul(b, mat.NewDense(2, 2, cov))
	full.Mul(&half, b.T())
	functions := mat.NewSymDense(3, nil)
	for c := range 3 {
		for d := range c + 1 {
			functions.SetSym(c, d, 0.5*(full.At(c, d)+full.At(d, c)))
		}
		functions.SetSym(c, c, 1+functions.At(c, c)) // the noise of the outcomes
	}
	largest, ok := orthant.NewThree(functions)
	if !ok {
		for c := range p {
			p[c] = math.NaN()
		}
		return
	}
	draws := len(means) / 2
	var f, each [3][]float64
	for c := range f {
		row := b.RawRowView(c)
		f[c], each[c] = make([]float64, draws), make([]float64, draws)
		floats.AddScaled(f[c], row[0], means[:draws])
		floats.AddScaled(f[c], row[1], means[draws:])
	}
	largest.Probabilities(each, f)
	for c := range p {
		p[c] = min(max(stat.Mean(each[c], nil), 0), 1) // rounding
	}
	for c := range p {
		for d := range c + 1 {
			noise[3*c+d] = stat.Covariance(each[c], each[d], nil) / float64(draws)
			noise[3*d+c] = noise[3*c+d]
		}
	}
}

func (s *threeOutcomes) answer(ctx context.Context, d methods.Method) (*ClassifierAnswer, error) {
	model := s.process.Model()
	switch {
	case d.Refines():
		return nil, errTwoOnly
	case d.Calibrated && d.Bound:
		return nil, errTooSlow
	case d.Calibrated:
		model = s.calibrated
	}
	r, err := d.Fit(ctx, model, methods.Options{Schedule: infer.Parallel})
	if err != nil {
		return nil, err
	}
	z := gridPoints(s.problem.axes)
	n, _ := z.Dims()
	a := &ClassifierAnswer{
		Method: d.Name, Converged: r.Status.Converged, Sweeps: r.Status.Sweeps, ActionsHeld: r.Status.ActionsHeld, Status: r.Status.String(),
		LogEvidence: finiteOrNil(&r.LogEvidence), Probabilities: make([][]float64, 3), Action: make([]int, n),
	}
	for c := range a.Probabilities {
		a.Probabilities[c] = make([]float64, n)
	}
	stakes := decision.Stakes{Table: s.problem.table}
	ask := func(i int, mean []float64, cov *mat.SymDense) {
		for c := range 3 {
			cov.SetSym(c, c, 1+cov.At(c, c)) // the noise of the outcomes
		}
		all := make([]float64, 3)
		orthant.NewLargest(3).Probabilities(all, mean, cov)
		for c, x := range all {
			a.Probabilities[c][i] = min(1, max(0, x))
		}
		a.Action[i] = stakes.Best(all, -1)
	}
	if predictor, ok := s.process.OutcomesPredictor(context.Background(), r.Sites.Terms); ok {
		predictor.Moments(z, ask)
	} else {
		tasks.For(n, func(i int) {
			mean, cov := s.process.OutcomesAt(r.Q, z.RawRowView(i))
			ask(i, mean, cov)
		})
	}
	for _, of := range a.Probabilities {
		if !finite.All(of...) {
			return nil, errNotFinite
		}
	}
	return a, nil
}
