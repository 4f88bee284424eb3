package lab

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/internal/tasks"
)

// Figure1 has the numbers of the paper's Figure 1: a state measured through clutter,
// and what each method believes and does. The paper does not give its data; these
// reproduce what its caption says: only Loss-EP takes the right action.
type Figure1 struct {
	Data      []float64      `json:"data"`
	Threshold float64        `json:"threshold"`
	Utility   decision.Table `json:"utility"`
	// State is where the densities are given.
	State  []float64     `json:"-"`
	Curves []MethodCurve `json:"curves"`
}

// MethodCurve is what one method says of the reactor.
type MethodCurve struct {
	*ReactorAnswer
	Density []float64 `json:"-"`
	// Exceeds is the probability of a state above the threshold.
	Exceeds float64 `json:"exceeds"`
}

// NewFigure1 computes Figure 1.
func NewFigure1(ctx context.Context) (*Figure1, error) {
	p := NewReactor(-1.1, -2.6, -4, 5.7, -1.1)
	p.Threshold = 2.2
	p.Utility = decision.Table{{1, 0.01}, {0.9, 1}}
	r := &Figure1{Data: p.Data, Threshold: p.Threshold, Utility: p.Utility, State: axis(-12, 12, 481)}
	m, err := p.Model()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"exact", "vi", "loss-vi", "ep", "loss-ep"} {
		a, err := p.Solve(ctx, name)
		if err != nil {
			return nil, err
		}
		c := MethodCurve{ReactorAnswer: a, Density: make([]float64, len(r.State))}
		phi := m.Views.Slice(0, 1) // every measurement is of the state itself
		infer.Density(a.Posterior, phi, r.State, c.Density)
		var above, stderr [1]float64
		decision.Exceeds(p.Threshold).Probabilities(a.Posterior, phi, above[:], stderr[:])
		c.Exceeds = above[0]
		r.Curves = append(r.Curves, c)
	}
	return r, nil
}

// Figure2 has the numbers of the paper's Figure 2: the posterior of a Gaussian
// process at two inputs, with and without the utility, and its approximations.
type Figure2 struct {
	Inputs  []float64      `json:"inputs"`
	Labels  []int          `json:"labels"`
	Utility decision.Table `json:"utility"`
	// Points is the number of equally spaced points of [−10, 10] that stand for
	// p(x).
	Points int `json:"points"`
	// F1 and F2 are axes; Posterior and Weighted are the densities of the posterior
	// and the utility-weighted posterior, in rows of constant f2, relative to their
	// peaks.
	F1, F2    []float64   `json:"-"`
	Posterior [][]float64 `json:"-"`
	Weighted  [][]float64 `json:"-"`
	// Moments of what approximates which.
	OfPosterior []Moments `json:"of_posterior"`
	OfWeighted  []Moments `json:"of_weighted"`
	// ExpectedUtility is the best that can be reached.
	ExpectedUtility float64 `json:"expected_utility"`
}

// Moments are the mean and the covariance of (f1, f2).
type Moments struct {
	Method     string        `json:"method"`
	Of         string        `json:"of"` // such as "q̄"
	Mean       [2]float64    `json:"mean"`
	Covariance [2][2]float64 `json:"covariance"`
}

// NewFigure2 computes Figure 2.
func NewFigure2(ctx context.Context) (*Figure2, error) {
	const points = 201
	t := &Figure2{
		Inputs: []float64{-math.Sqrt2, math.Sqrt2}, Labels: []int{0, 1},
		Utility: UtilityTable(0.5), Points: points,
	}
	process, err := gp.New(paperKernel(), column(t.Inputs))
	if err != nil {
		return nil, err
	}
	plain, err := process.Classify(t.Labels)
	if err != nil {
		return nil, err
	}
	calibrated := *plain
	calibrated.Points = process.At(column(axis(-reach, reach, points)))
	utility, err := newPaperUtility(0.5, calibrated.Points)
	if err != nil {
		return nil, err
	}
	calibrated.Utility = utility

	truth, err := exact.Grid{}.Fit(ctx, plain)
	if err != nil {
		return nil, err
	}
	p, err := probitProbabilities(ctx, truth, calibrated.Points)
	if err != nil {
		return nil, err
	}
	actions := make([]int, points)
	pairs := decision.Pairs(p)
	utility.Actions(actions, pairs)
	t.ExpectedUtility = utility.Expected(actions, pairs)
	weighted, err := exact.Grid{Actions: actions, Tolerance: 1e-8}.Fit(ctx, &calibrated)
	if err != nil {
		return nil, err
	}
	tasks.For(2, func(k int) {
		if k == 0 {
			err = t.approximate(ctx, plain, &calibrated, truth, weighted)
		} else {
			t.densities(&calibrated, actions)
		}
	})
	return t, err
}

// approximate fits every method.
func (t *Figure2) approximate(ctx context.Context, plain, calibrated *infer.Model, truth, weighted infer.Posterior) error {
	var vi *infer.Result
	var lossVI *infer.LossVIResult
	var ep, lossEP *infer.EPResult
	fits := []func() error{
		func() (err error) { lossVI, err = infer.LossVI{Draws: 2048, Seed: 1}.Fit(ctx, calibrated); return err },
		func() (err error) { vi, err = infer.VI{}.Fit(ctx, plain); return err },
		func() (err error) { ep, err = infer.EP{}.Fit(ctx, plain); return err },
		func() (err error) { lossEP, err = infer.EP{}.Fit(ctx, calibrated); return err },
	}
	errs := make([]error, len(fits))
	tasks.For(len(fits), func(i int) { errs[i] = fits[i]() })
	if err := cmp.Or(errs...); err != nil {
		return err
	}
	views := plain.Views
	t.OfPosterior = []Moments{
		moments("exact", "posterior", truth, views),
		moments("vi", "q", vi, views),
		moments("ep", "q", ep, views),
		moments("loss-ep", "q", lossEP, views),
	}
	t.OfWeighted = []Moments{
		moments("exact", "utility-weighted", weighted, views),
		moments("loss-vi", "q", lossVI, views),
		moments("loss-ep", "q̄", infer.Gaussian{Gaussian: lossEP.Tilted}, views),
	}
	return nil
}

// moments asks a posterior for the means and variances of f1, f2 and f1 + f2, which
// holds the covariance.
func moments(method, of string, p infer.Posterior, views *gauss.Views) Moments {
	a := mat.NewDense(3, 2, nil)
	for i := range 2 {
		a.SetRow(i, views.Row(i))
		for j, w := range views.Row(i) {
			a.Set(2, j, a.At(2, j)+w)
		}
	}
	var mean, variance [3]float64
	p.Moments(gauss.NewViews(a, nil, nil), mean[:], variance[:])
	c := (variance[2] - variance[0] - variance[1]) / 2
	return Moments{
		Method: method, Of: of, Mean: [2]float64{mean[0], mean[1]},
		Covariance: [2][2]float64{{variance[0], c}, {c, variance[1]}},
	}
}

// densities evaluates the model itself on a grid: log N(v; 0, I) + Σ log t_i and,
// for the weighted density, log U, with v = A⁻¹f.
func (t *Figure2) densities(m *infer.Model, actions []int) {
	// The labels pull f1 down and f2 up by as much.
	const far, near, points = 12.0, -4.0, 129
	t.F1, t.F2 = axis(-far, -near, points), axis(near, far, points)
	a, b := m.Views.Row(0), m.Views.Row(1)
	det := a[0]*b[1] - a[1]*b[0]
	n := m.Points.Len()
	variance := make([]float64, n)
	for j := range variance {
		variance[j] = m.Points.Residual(j)
	}
	t.Posterior, t.Weighted = make([][]float64, points), make([][]float64, points)
	tasks.Each(points, func() func(int) {
		mean, d1, d2 := make([]float64, n), make([]float64, n), make([]float64, n)
		return func(row int) {
			f2 := t.F2[row]
			for _, f1 := range t.F1 {
				v := []float64{(b[1]*f1 - a[1]*f2) / det, (a[0]*f2 - b[0]*f1) / det}
				l1, _, _ := m.Terms[0].Log(f1)
				l2, _, _ := m.Terms[1].Log(f2)
				l := l1 + l2 - (v[0]*v[0]+v[1]*v[1])/2
				m.Points.At(mean, v)
				u := l + m.Utility.LogMean(actions, mean, variance, d1, d2)
				t.Posterior[row], t.Weighted[row] = append(t.Posterior[row], l), append(t.Weighted[row], u)
			}
		}
	})
	for _, density := range [][][]float64{t.Posterior, t.Weighted} {
		top := math.Inf(-1)
		for _, row := range density {
			top = max(top, slices.Max(row))
		}
		for _, row := range density {
			for j, l := range row {
				row[j] = math.Exp(l - top)
			}
		}
	}
}
