package explore

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/orthant"
)

// Three outcomes have a latent function each; see gp.Outcomes.

var (
	errTwoOnly = errors.New("it is for two outcomes, and there are three")
	// noExactThree is why there is no exact answer: a probability of three outcomes is an
	// integral for every draw at every point.
	noExactThree = "independent draws of three outcomes take too long for all points of a grid"
)

// threeCalibration is the largest number of points that Loss-EP is calibrated on. Each has
// two views.
const threeCalibration = 64

// solveThree answers a request with three outcomes.
func (p *problem) solveThree(ctx context.Context) (*ClassifierView, error) {
	o := &gp.Outcomes{Of: make([]int, len(p.labels)), Number: 3}
	for i, y := range p.labels {
		o.Of[i] = int(y)
	}
	process, err := gp.NewOutcomes(p.kernel, p.x, o)
	if err != nil {
		return nil, inputf("kernel", "its covariances at the points have no square root; choose other parameters (%v)", err)
	}
	view := &ClassifierView{
		Axes: p.axes, Kernel: p.kernel.String(), ByProbability: []Range{}, CalibrationAxes: coarser(p.axes, threeCalibration),
		ExactLeftOut: noExactThree, Methods: []ClassifierAnswer{}, LeftOut: []LeftOut{},
	}
	calibrated := process.Model()
	points, maps := process.OutcomesPoints(gridPoints(view.CalibrationAxes))
	utility, err := decision.NewContest(maps, p.table)
	if err != nil {
		return nil, err
	}
	calibrated.Utility, calibrated.Points = utility, points
	methods := infer.Methods(func(d infer.Method) bool { return d.Kept })
	answers, errs := make([]*ClassifierAnswer, len(methods)), make([]error, len(methods))
	tasks.For(len(methods), func(i int) {
		d, model := methods[i], process.Model()
		switch {
		case d.Refines(), d.Calibrated && d.Bound:
			errs[i] = errTwoOnly
			return
		case d.Calibrated:
			model = calibrated
		}
		r, err := d.Fit(ctx, model, infer.Options{Schedule: infer.Parallel})
		if err == nil {
			answers[i], err = p.answerThree(process, d.Name, r)
		}
		errs[i] = err
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, d := range methods {
		if errs[i] != nil {
			view.LeftOut = append(view.LeftOut, LeftOut{d.Name, reason(errs[i])})
			continue
		}
		view.Methods = append(view.Methods, *answers[i])
	}
	return view, nil
}

// answerThree asks a posterior at every point of the grid.
func (p *problem) answerThree(process *gp.Process, name string, r *infer.Result) (*ClassifierAnswer, error) {
	z := gridPoints(p.axes)
	n, _ := z.Dims()
	a := &ClassifierAnswer{
		Method: name, Converged: r.Status.Converged, Sweeps: r.Status.Sweeps, ActionsHeld: r.Status.ActionsHeld, Status: r.Status.String(),
		LogEvidence: finiteOrNil(&r.LogEvidence), Probabilities: make([][]float64, 3), Action: make([]int, n),
	}
	for c := range a.Probabilities {
		a.Probabilities[c] = make([]float64, n)
	}
	stakes := decision.Stakes{Table: p.table}
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
	if predictor, ok := process.OutcomesPredictor(r.Sites.Terms); ok {
		predictor.Moments(z, ask)
	} else {
		tasks.For(n, func(i int) {
			mean, cov := process.OutcomesAt(r.Q, z.RawRowView(i))
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
