package numbers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/methods"
	"github.com/lossep/lossep/pass"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// Methods are those that models of numbers are fitted by: those of the table that end with a Gaussian of their own.
func Methods() (all []lossep.Method) {
	for _, d := range methods.List(func(d methods.Method) bool { return d.Kept && !d.Refines() }) {
		all = append(all, lossep.Method(d.Name))
	}
	return all
}

// The methods that audits compare with besides: they leave draws, or nothing that a file would keep.
const (
	Exact lossep.Method = "exact"
	NUTS  lossep.Method = "nuts"
)

// AuditMethods are those that decisions are compared by.
func AuditMethods() []lossep.Method { return append(Methods(), Exact, NUTS) }

// chainDraws and chainWarmup are of each of four chains, as of those for categories: 2,000 draws tell a mean to a
// thirtieth of a standard deviation or so.
const chainDraws, chainWarmup = 500, 200

// mostPoints is the most training rows that stand for p(x), and calibrationDraws how many draws Loss-VI has: expected
// costs of numbers take far longer than those of categories.
const (
	mostPoints       = 200
	calibrationDraws = 128
)

// method is by what the posterior is found.
func (p *Problem) method() lossep.Method { return cmp.Or(p.opt.Method, lossep.EP) }

// points are the rows that stand for p(x) in the utility.
func (p *Problem) points() []int { return p.sample(mostPoints) }

// utility is that of acting at the points, whose values are N(mean, variance) by expectation propagation.
func (p *Problem) utility(m *Model, rows []int, mean, variance []float64) (*utility, error) {
	stakes := p.stakes
	if len(stakes) > 1 {
		stakes = indices.Take(stakes, rows)
	}
	at := func(j int, mean, variance float64) Distribution {
		return measured(m.predictAt(p.X.RawRowView(rows[j]), mean, variance), p.known, rows[j])
	}
	u := newUtility(m.family, &m.shape.Transform, at, stakes, ceilingTimes, mean, variance)
	if len(m.uneven.spread) > 0 {
		for _, i := range rows {
			u.spread = append(u.spread, excess(m.uneven.spread, p.X.RawRowView(i)))
		}
	}
	if p.Weights != nil {
		u.weights = indices.Take(p.Weights, rows)
		floats.Scale(1/floats.Sum(u.weights), u.weights)
	}
	if !(u.ceiling > 0 && u.ceiling <= decision.LargestNumberCost) {
		return nil, inputf("method", "the costs expected of the best actions are %v at most, from which no utility can be made; use %s", u.ceiling/ceilingTimes, p.method().Plain())
	}
	m.summary.Ceiling = u.ceiling
	return u, nil
}

// apply runs the method on the full process, from the fixed point of expectation propagation.
func (p *Problem) apply(ctx context.Context, m *Model, process *gp.Process, of gp.Terms, ep *infer.Result) (*infer.Result, error) {
	if p.method() == lossep.EP {
		return ep, nil
	}
	d, _ := methods.Named(string(p.method()))
	p.tell(d.Title, 0, ep.LogEvidence)
	model := gp.CasesOf(of).Model(process)
	if d.Calibrated {
		if p.stakes == nil {
			return nil, inputf("utility", "costs are made of %s, which is missing in some of the training rows; fit again", table.QuoteList(p.Costs.Columns()))
		}
		rows := p.points()
		model.Points = process.At(gp.RowsOf(p.X, rows))
		mean, variance := make([]float64, len(rows)), make([]float64, len(rows))
		ep.Moments(model.Points, mean, variance)
		var err error
		if model.Utility, err = p.utility(m, rows, mean, variance); err != nil {
			return nil, err
		}
	}
	o := methods.Options{Start: &ep.Sites, Draws: calibrationDraws, Seed: p.opt.Seed}
	if !d.Kept {
		o.Draws, o.Warmup = chainDraws, chainWarmup
	}
	r, err := d.Fit(ctx, model, o)
	if improper := new(infer.ImproperError); errors.As(err, &improper) {
		return nil, inputf("method", "%s ends in no posterior of these rows (%v); use %s", d.Title, err, lossep.EP)
	}
	return r, err
}

// conclude runs the method, and makes the posterior of the model from what it finds.
func (p *Problem) conclude(ctx context.Context, m *Model, process *gp.Process, of gp.Terms, ep *infer.Result) error {
	r, err := p.apply(ctx, m, process, of, ep)
	if err != nil {
		return err
	}
	m.summary.status(r.Status)
	m.summary.Objective = r.LogEvidence
	if draws, ok := r.Posterior.(*exact.Draws); ok {
		m.posterior = posterior.NewDrawn(process, posterior.Latent{}, draws)
		return nil
	}
	m.posterior, err = posterior.NewFull(ctx, process, posterior.Latent{}, r.Sites.Terms, r.Calibration())
	return err
}

// applyByPasses does so with inducing points.
func (p *Problem) applyByPasses(ctx context.Context, m *Model, fit *search.Induced) (*lossep.Passed, error) {
	run := lossep.Passes{Method: p.method(), Sweeps: p.opt.Sweeps, Draws: calibrationDraws, Seed: p.opt.Seed, Trace: func(s pass.Step) { p.tell(string(p.method()), s.Number, s.Objective) }}
	run.Utility = func() (factor.Utility, *mat.Dense, error) {
		rows := p.points()
		x := gp.RowsOf(p.X, rows)
		mean, variance := make([]float64, len(rows)), make([]float64, len(rows))
		fit.Result.Q[0].Predict(fit.Process.At(x), mean, variance, new(gauss.Workspace))
		u, err := p.utility(m, rows, mean, variance)
		return u, x, err
	}
	return run.From(ctx, fit)
}

// by is the model by another method, with its kernel and noise.
func (m *Model) by(ctx context.Context, p *Problem, method lossep.Method) (*Model, error) {
	if _, ok := m.posterior.(*posterior.Full); !ok {
		return nil, inputf("methods", "methods are compared on the full process; leave them out, or have no inducing points")
	}
	q := *p
	q.opt.Method = method
	return m.each(func(one *Model) error {
		one.summary.Method, one.summary.Ceiling = method, 0
		full := one.posterior.(*posterior.Full)
		of := (&terms{y: m.shape.Transform.all(m.values), weights: m.weights, family: one.family}).withKnown(p.known, m.shape.Transform.Scale).under(m.uneven, m.x)
		row, _ := methods.Named(string(lossep.EP))
		ep, err := row.Fit(ctx, gp.CasesOf(of).Model(full.Process()), methods.Options{Start: &infer.Sites{Terms: full.State().Sites}, Schedule: infer.Parallel})
		if err != nil {
			return err
		}
		return q.conclude(ctx, one, full.Process(), of, ep)
	})
}

// methodLine says by what the posterior was found, and what it is calibrated to.
func (m *Model) methodLine() string {
	d, _ := methods.Named(string(m.Method()))
	line := fmt.Sprintf("method      %s (%s)", m.Method(), d.Title)
	if d.Objective != "" {
		line += fmt.Sprintf("; %s %.6g", d.Objective, m.summary.Objective)
	}
	if d.Calibrated {
		line += fmt.Sprintf("; utility of a row: %.6g less its cost, %g times the largest cost expected of the best action in a row", m.summary.Ceiling, ceilingTimes)
	}
	return line
}

// Method is by what the posterior was found.
func (m *Model) Method() lossep.Method { return cmp.Or(m.summary.Method, lossep.EP) }

// checkCompared refuses methods that numbers are not decided by.
func checkCompared(all []lossep.Method) error {
	for _, method := range all {
		if !slices.Contains(AuditMethods(), method) {
			return inputf("methods", "%s is not for outcomes that are numbers; choose one of %s", method, names(AuditMethods()))
		}
	}
	return nil
}

// checkMethod refuses methods that are not for numbers.
func checkMethod(method lossep.Method) error {
	if method == "" || slices.Contains(Methods(), method) {
		return nil
	}
	return inputf("method", "%s is not for outcomes that are numbers; choose one of %s", method, names(Methods()))
}

// names lists methods.
func names(of []lossep.Method) string {
	var all []string
	for _, m := range of {
		all = append(all, string(m))
	}
	return strings.Join(all, ", ")
}
