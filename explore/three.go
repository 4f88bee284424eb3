package explore

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

var errTwoOnly = errors.New("it is for two outcomes, and there are three")

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
		Methods: []ClassifierAnswer{}, LeftOut: []LeftOut{},
	}
	calibrated := process.Model()
	points, maps := process.OutcomesPoints(gridPoints(view.CalibrationAxes))
	utility, err := decision.NewContest(maps, p.table)
	if err != nil {
		return nil, err
	}
	calibrated.Utility, calibrated.Points = utility, points
	all := methods.List(func(d methods.Method) bool { return d.Kept })
	answers, errs := make([]*ClassifierAnswer, len(all)), make([]error, len(all))
	var exact *truth
	var worth *decision.Contest
	var exactErr error
	inTime, stop := timeForExact(ctx)
	defer stop()
	tasks.For(len(all)+1, func(i int) {
		if i == len(all) {
			exact, worth, exactErr = p.exactThree(inTime, process)
			return
		}
		d, model := all[i], process.Model()
		switch {
		case d.Refines(), d.Calibrated && d.Bound:
			errs[i] = errTwoOnly
			return
		case d.Calibrated:
			model = calibrated
		}
		r, err := d.Fit(ctx, model, methods.Options{Schedule: infer.Parallel})
		if err == nil {
			answers[i], err = p.answerThree(process, d.Name, r)
		}
		errs[i] = err
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

// exactThree is the exact posterior on the grid, with what actions are worth there. Given a
// draw the functions at a point are Gaussian, with a covariance that is the same for all
// draws, so that a probability is a short integral for each.
func (p *problem) exactThree(ctx context.Context, process *gp.Process) (*truth, *decision.Contest, error) {
	grid, maps := process.OutcomesPoints(gridPoints(p.axes))
	worth, err := decision.NewContest(maps, p.table)
	if err != nil {
		return nil, nil, err
	}
	t, err := newTruth(ctx, process.Model(), place{len(maps), 3, func(d *exact.Sampled, p, noise [][]float64) {
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
	if predictor, ok := process.OutcomesPredictor(context.Background(), r.Sites.Terms); ok {
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
