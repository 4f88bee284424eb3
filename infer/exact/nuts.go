package exact

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/nuts"
)

// NUTS draws from the posterior of a model with terms of any kind by the No-U-Turn
// sampler, in several chains. The zero value is ready to use.
//
// The chains move in coordinates in which the approximation of expectation
// propagation is standard normal, so that a step serves all directions alike; where
// that finds no proper approximation, in v itself. They start from draws of the
// prior, which is wider than the posterior: chains that end up in different modes
// disagree, and the status says so.
type NUTS struct {
	// Options are those of package nuts. Starting points in Init are values of v.
	nuts.Options
	// Actions, if set, makes the model's utility with these actions one more
	// factor: the draws come from the utility-weighted posterior.
	Actions []int
}

// NUTSResult is a posterior made of the draws of Markov chains.
//
// Its Status counts draws as sweeps; the residual is the largest R̂ less one. It has
// converged if no warning doubts the draws: one about trajectories that were cut off
// concerns speed alone. There is no LogEvidence.
type NUTSResult struct {
	infer.Result
	*Draws
	// Diagnostics are those of the chains, with their warnings. Draws and
	// coordinates in it are those the chains moved in.
	Diagnostics *nuts.Result
}

// Fit draws from the posterior of the model. Errors are those of nuts.Sample and of
// the context; doubts about the draws are in the Status.
func (o NUTS) Fit(ctx context.Context, m *infer.Model) (*NUTSResult, error) {
	m.Check()
	if err := m.CheckCopies("NUTS"); err != nil {
		return nil, err
	}
	f, err := newFrame(ctx, m)
	if err != nil {
		return nil, err
	}
	opt := o.Options
	if opt.Chains == 0 {
		opt.Chains = 4
	}
	if opt.Init == nil {
		opt.Init = priorStarts(newDensity(m, o.Actions), opt)
	}
	opt.Init = f.inward(opt.Init)
	run, err := nuts.Sample(ctx, func() nuts.Target { return newTarget(m, o.Actions, f) }, opt)
	if err != nil {
		return nil, err
	}
	draws := &Draws{cloud: cloud{centres: f.outward(run)}, chains: len(run.Chains)}
	return &NUTSResult{
		Result: infer.Result{Posterior: draws, LogEvidence: math.NaN(), Status: samplingStatus(run)},
		Draws:  draws, Diagnostics: run,
	}, nil
}

// samplingStatus sums up what the chains say of themselves.
func samplingStatus(run *nuts.Result) infer.Status {
	s := infer.Status{Residual: math.Inf(-1)}
	for _, c := range run.Coordinates {
		s.Residual = max(s.Residual, c.RHat-1)
	}
	for _, c := range run.Chains {
		s.Sweeps += len(c.Draws)
	}
	var doubts []string
	for _, w := range run.Warnings {
		if w.Kind != nuts.DepthSaturated {
			doubts = append(doubts, w.String())
		}
	}
	s.Converged = len(doubts) == 0
	s.Reason = strings.Join(doubts, "; ")
	return s
}

// priorStarts draws one starting point for every chain from the prior, scaled by
// InitScale. A point where the density is not finite is drawn again; when that does
// not help the sampler will say so.
func priorStarts(d *density, opt nuts.Options) [][]float64 {
	const tries = 100
	scale := opt.InitScale
	if scale == 0 {
		scale = 1
	}
	// The stream differs from those of the chains, whose second word is odd times a
	// chain's number.
	rng := rand.New(rand.NewPCG(opt.Seed, 0))
	starts := make([][]float64, max(0, opt.Chains)) // nuts.Sample refuses less than 1
	for k := range starts {
		v := make([]float64, d.model.Dim())
		for range tries {
			for i := range v {
				v[i] = scale * rng.NormFloat64()
			}
			if l := d.at(v, nil); !math.IsNaN(l) && !math.IsInf(l, 0) {
				break
			}
		}
		starts[k] = v
	}
	return starts
}

// frame is a change of coordinates v = mean + Bx.
type frame struct {
	root  *gauss.Root  // BBᵀ is its covariance
	views *gauss.Views // reads v from x
}

// newFrame is the frame in which expectation propagation's approximation of the
// posterior is standard normal, or the prior where there is none.
func newFrame(ctx context.Context, m *infer.Model) (*frame, error) {
	// The coordinates need not be exact, so neither does the fixed point.
	ep := infer.EP{Schedule: infer.Parallel, Tolerance: 1e-3, MaxSweeps: 100}
	q := gauss.NewGaussian(m.Dim())
	if r, err := ep.Fit(ctx, m.Plain()); err == nil {
		q = r.Q
	} else if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	cov := mat.NewSymDense(m.Dim(), nil)
	q.Covariance(cov)
	root, err := gauss.NewRoot(cov)
	if err != nil {
		return nil, err
	}
	b := mat.NewDense(m.Dim(), m.Dim(), nil)
	rows := root.Views()
	for i := range m.Dim() {
		b.SetRow(i, rows.Row(i))
	}
	return &frame{root: root, views: gauss.NewViews(b, q.Mean(), nil)}, nil
}

// inward gives the coordinates x of points v.
func (f *frame) inward(v [][]float64) [][]float64 {
	x := make([][]float64, len(v))
	for k, p := range v {
		if len(p) != f.views.Dim() {
			return v // which the sampler will refuse
		}
		cross := mat.NewDense(1, len(p), nil)
		for i, c := range p {
			cross.Set(0, i, c-f.views.Offset(i))
		}
		x[k] = f.root.Project(cross, []float64{0}).Row(0)
	}
	return x
}

// outward gives the draws of all chains as values of v, one row for each.
func (f *frame) outward(run *nuts.Result) *mat.Dense {
	draws := len(run.Chains[0].Draws)
	v := mat.NewDense(len(run.Chains)*draws, f.views.Dim(), nil)
	for k, c := range run.Chains {
		for i, x := range c.Draws {
			f.views.At(v.RawRowView(k*draws+i), x)
		}
	}
	return v
}

// target is the density of a model in the coordinates of a frame.
type target struct {
	density *density
	frame   *frame
	v, grad []float64
}

func newTarget(m *infer.Model, actions []int, f *frame) *target {
	return &target{
		density: newDensity(m, actions),
		frame:   f,
		v:       make([]float64, m.Dim()),
		grad:    make([]float64, m.Dim()),
	}
}

// Dim implements nuts.Target.
func (t *target) Dim() int { return len(t.v) }

// LogDensity implements nuts.Target: the gradient in x is Bᵀ times that in v.
func (t *target) LogDensity(x, grad []float64) float64 {
	t.frame.views.At(t.v, x)
	l := t.density.at(t.v, t.grad)
	clear(grad)
	t.frame.views.Pull(grad, t.grad)
	return l
}

var _ nuts.Target = (*target)(nil)
