package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/methods"
)

// Reactor is the decision of the paper in one dimension: the state φ of a reactor is measured
// through clutter, and it has to be shut down or left on. Measurements are y_i = φ + noise, or
// clutter with a known probability; the prior of φ is Gaussian. The utility depends on the
// action and on whether φ exceeds a threshold. The posterior has many modes, and the action that
// follows from an approximation is easily the wrong one.
//
// Its fields are the data, every constant of the model, and what actions are worth.
type Reactor struct {
	Data            []float64
	PriorMean       float64
	PriorVariance   float64
	ClutterWeight   float64 // probability that a measurement is clutter
	ClutterVariance float64
	NoiseVariance   float64 // of a measurement that is not clutter
	// Utility has one row for each action and one column for φ below and above the
	// threshold. Nil when there is nothing to decide.
	Utility   decision.Table
	Threshold float64
}

// Default is the clutter problem of Minka (2001) as Infer.NET tests it: prior
// variance 100, clutter half of the time with variance 10, unit noise.
func NewReactor(data ...float64) Reactor {
	return Reactor{Data: data, PriorVariance: 100, ClutterWeight: 0.5, ClutterVariance: 10, NoiseVariance: 1}
}

// Check reports the first thing that is wrong with the problem.
func (p Reactor) Check() error {
	if len(p.Data) == 0 {
		return &InputError{"data", "there are no measurements; give at least one"}
	}
	for i, y := range p.Data {
		if !inRange(y) {
			return &InputError{"data", fmt.Sprintf("measurement %d is %v; measurements are finite numbers up to %g", i+1, y, largestNumber)}
		}
	}
	if !inRange(p.PriorMean) {
		return &InputError{"prior mean", fmt.Sprintf("%v is not a finite number up to %g", p.PriorMean, largestNumber)}
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"prior variance", p.PriorVariance}, {"clutter variance", p.ClutterVariance}, {"noise variance", p.NoiseVariance}} {
		if !(v.value >= 1/largestNumber) || !inRange(v.value) {
			return &InputError{v.name, fmt.Sprintf("invalid variance: %v; give a number from %g to %g", v.value, 1/largestNumber, largestNumber)}
		}
	}
	if !(p.ClutterWeight >= 0 && p.ClutterWeight < 1) {
		return &InputError{"clutter weight", fmt.Sprintf("%v is not a probability below 1", p.ClutterWeight)}
	}
	if p.Utility == nil {
		return nil
	}
	if !inRange(p.Threshold) {
		return &InputError{"threshold", fmt.Sprintf("%v is not a finite number up to %g", p.Threshold, largestNumber)}
	}
	return p.Utility.Check(2)
}

// largestNumber bounds what numbers may be: their squares have to stay far from overflow.
const largestNumber = 1e100

// inRange is false for a NaN too.
func inRange(x float64) bool { return math.Abs(x) <= largestNumber }

// Model is the problem as a model of one dimension: φ = PriorMean + √PriorVariance·v.
func (p Reactor) Model() (*infer.Model, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	m := &infer.Model{Views: p.views(len(p.Data))}
	for _, y := range p.Data {
		m.Terms = append(m.Terms, factor.Clutter{Y: y, Weight: p.ClutterWeight, Variance: p.ClutterVariance, Noise: p.NoiseVariance})
	}
	return m, nil
}

// views are n views of φ itself.
func (p Reactor) views(n int) *gauss.Views {
	a, b := mat.NewDense(n, 1, nil), make([]float64, n)
	for i := range n {
		a.Set(i, 0, math.Sqrt(p.PriorVariance))
		b[i] = p.PriorMean
	}
	return gauss.NewViews(a, b, nil)
}

// utility is the one-point utility of the decision.
func (p Reactor) utility() (*decision.Utility, error) {
	return decision.NewUtility(decision.Exceeds(p.Threshold), 1, nil, p.Utility)
}

// ReactorAnswer is what one method says about a problem. Its JSON form is the output of
// the command.
type ReactorAnswer struct {
	Method   string  `json:"method"`
	Mean     float64 `json:"mean"`
	Variance float64 `json:"variance"`
	// LogEvidence is the log evidence of the data, for VI and Loss-VI a lower bound
	// on it. It includes the utility for Loss-EP and Loss-VI. NUTS has none.
	LogEvidence *float64 `json:"log_evidence"`
	// MeanError and VarianceError are Monte Carlo standard errors, of NUTS.
	MeanError     *float64 `json:"mean_stderr,omitempty"`
	VarianceError *float64 `json:"variance_stderr,omitempty"`
	// TiltedMean and TiltedVariance are those of q̄, the approximation that carries
	// the utility; only Loss-EP has one.
	TiltedMean     *float64 `json:"tilted_mean,omitempty"`
	TiltedVariance *float64 `json:"tilted_variance,omitempty"`
	// Action is the best action, nil when there is nothing to decide.
	Action          *int      `json:"action"`
	ExpectedUtility []float64 `json:"expected_utility"`
	// Floor is what the utility was raised by where it is zero, so that its logarithm
	// is finite; of Loss-VI.
	Floor     float64 `json:"floor,omitempty"`
	Converged bool    `json:"converged"`
	Sweeps    int     `json:"sweeps"`
	// ActionsHeld says that the actions a method is calibrated to did not come to rest:
	// see infer.Status.
	ActionsHeld bool `json:"actions_held,omitempty"`
	// Status says in words how the run ended.
	Status string `json:"status"`
	// OtherFixedPoints are where the same method ends from other starts.
	OtherFixedPoints []FixedPoint `json:"other_fixed_points,omitempty"`

	// Posterior answers further questions about v, with φ = mean + √variance·v.
	Posterior infer.Posterior `json:"-"`
}

// FixedPoint is another solution of the same equations.
type FixedPoint struct {
	Mean        float64 `json:"mean"`
	Variance    float64 `json:"variance"`
	LogEvidence float64 `json:"log_evidence"`
	Action      *int    `json:"action"`
}

// own are those of the table that make a posterior of their own. One that refines
// another's, in one dimension and with many modes, has little to refine.
func reactorMethods() []methods.Method {
	return methods.List(func(d methods.Method) bool { return !d.Refines() })
}

// Methods are the names of all methods, in the order in which they are reported.
func ReactorMethods() []string {
	var names []string
	for _, d := range reactorMethods() {
		names = append(names, d.Name)
	}
	return names
}

// Solve answers the problem by the named method.
func (p Reactor) Solve(ctx context.Context, name string) (*ReactorAnswer, error) {
	all := reactorMethods()
	i := slices.IndexFunc(all, func(d methods.Method) bool { return d.Name == name })
	if i < 0 {
		return nil, &InputError{"method", fmt.Sprintf("%q is not known; choose one of %s", name, strings.Join(ReactorMethods(), ", "))}
	}
	d := all[i]
	m, err := p.Model()
	if err != nil {
		return nil, err
	}
	if d.Calibrated {
		if p.Utility == nil {
			return nil, &InputError{"method", fmt.Sprintf("%s is calibrated to a utility; give a threshold and a utility", name)}
		}
		u, err := p.utility()
		if err != nil {
			return nil, err
		}
		m.Utility, m.Points = u, p.views(1)
	}
	var a *ReactorAnswer
	if d.Exact {
		a, err = p.exact(ctx, m)
	} else {
		a, err = p.solve(ctx, d, m)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	a.Method = name
	return a, p.decide(a)
}

// SolveAll answers the problem by every method. Those that do not apply, because they
// need a utility or a proper approximation that does not exist, are left out and named in the errors; it fails only when none is left.
func (p Reactor) SolveAll(ctx context.Context) (answers []*ReactorAnswer, leftOut []error, err error) {
	if err := p.Check(); err != nil {
		return nil, nil, err
	}
	for _, d := range reactorMethods() {
		if d.Calibrated && p.Utility == nil {
			continue // nothing to decide: no surprise
		}
		a, err := p.Solve(ctx, d.Name)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil:
			leftOut = append(leftOut, err)
		default:
			answers = append(answers, a)
		}
	}
	if len(answers) == 0 {
		return nil, nil, errors.Join(leftOut...)
	}
	return answers, leftOut, nil
}

// decide fills in the expected utilities and the best action.
func (p Reactor) decide(a *ReactorAnswer) error {
	if p.Utility == nil {
		return nil
	}
	u, err := p.utility()
	if err != nil {
		return err
	}
	var both [2]float64
	u.Outcome().Pair(a.Posterior, p.views(1), both[:])
	c := u.Choose(0, both[:])
	a.Action, a.ExpectedUtility = &c.Action, c.Expected
	return nil
}

// moments are the mean and variance of φ.
func (p Reactor) moments(q infer.Posterior) (mean, variance float64) {
	var m, v [1]float64
	q.Moments(p.views(1), m[:], v[:])
	return m[0], v[0]
}

// enumeratedMeasurements is the number of measurements up to which the exact answer enumerates which
// of them are clutter. It doubles its work with every measurement; here it takes less
// than a millisecond, and quadrature says the same.
const enumeratedMeasurements = 12

// exact is by enumeration of few measurements and by quadrature of more; enumeration
// again where quadrature has no answer, as long as it can.
func (p Reactor) exact(ctx context.Context, m *infer.Model) (*ReactorAnswer, error) {
	a := &ReactorAnswer{Converged: true, Status: "exact"}
	var e *ReactorPosterior
	var err error
	if len(p.Data) > enumeratedMeasurements {
		e, err = p.Exact(ctx)
	}
	switch {
	case err != nil && len(p.Data) > exact.MaxMixtureTerms:
		return nil, err
	case e != nil:
		a.Posterior, a.LogEvidence, a.Sweeps = e, &e.LogEvidence, 1
		a.Status += fmt.Sprintf(", by quadrature on %d panels", len(e.panels))
	default:
		r, err := exact.Mixture{}.Fit(ctx, m)
		if err != nil {
			return nil, err
		}
		a.Posterior, a.LogEvidence = r.Posterior, &r.LogEvidence
	}
	a.Mean, a.Variance = p.moments(a.Posterior)
	return a, nil
}

// options are what methods receive of a reactor. EP runs as the paper does: from
// empty sites, half-damped, in the order of the data, the utility last. Several modes
// mix slowly, and draws in one dimension are cheap.
func options() methods.Options { return methods.Options{Damping: 0.5, Draws: 5000} }

// solve answers by a method of the table.
func (p Reactor) solve(ctx context.Context, d methods.Method, m *infer.Model) (*ReactorAnswer, error) {
	r, err := d.Fit(ctx, m, options())
	if err != nil {
		return nil, err
	}
	a := &ReactorAnswer{
		Converged: r.Status.Converged, Sweeps: r.Status.Sweeps, Status: r.Status.String(),
		ActionsHeld: r.Status.ActionsHeld, Floor: r.Status.Floor, Posterior: r.Posterior,
	}
	a.Mean, a.Variance = p.moments(r)
	if !math.IsNaN(r.LogEvidence) {
		a.LogEvidence = &r.LogEvidence
	}
	if draws, ok := r.Posterior.(*exact.Draws); ok {
		var mean, variance [1]float64
		draws.MomentErrors(p.views(1), mean[:], variance[:])
		a.MeanError, a.VarianceError = &mean[0], &variance[0]
	}
	if r.Tilted == nil {
		return a, nil
	}
	if d.Calibrated {
		mean, variance := p.moments(infer.Gaussian{Gaussian: r.Tilted})
		a.TiltedMean, a.TiltedVariance = &mean, &variance
	}
	a.OtherFixedPoints, err = p.otherFixedPoints(ctx, m, a)
	return a, err
}

// otherFixedPoints runs EP again, from sites that say that a measurement is good, or
// that it is not, at random, and lists the fixed points reached that differ.
func (p Reactor) otherFixedPoints(ctx context.Context, m *infer.Model, known *ReactorAnswer) ([]FixedPoint, error) {
	const starts = 16
	rng := rand.New(rand.NewPCG(1, uint64(len(p.Data))))
	var others []FixedPoint
	for range starts {
		sites := &infer.Sites{Terms: make([]gauss.Scalar, len(p.Data))}
		for i, y := range p.Data {
			if rng.IntN(2) == 0 { // the site of N(y; φ, noise) on s = φ − PriorMean
				sites.Terms[i] = gauss.ScalarFromMoments(y-p.PriorMean, p.NoiseVariance)
			}
		}
		r, err := infer.EP{Damping: 0.5, Start: sites, Rand: rng}.Fit(ctx, m)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || !r.Status.Converged {
			continue
		}
		a := ReactorAnswer{Posterior: infer.Gaussian{Gaussian: r.Q}}
		a.Mean, a.Variance = p.moments(a.Posterior)
		if err := p.decide(&a); err != nil {
			return nil, err
		}
		// Fixed points are found to 1e-9; nearer than 1e-5 they are the same.
		same := func(mean, variance float64) bool {
			return math.Abs(mean-a.Mean) < 1e-5*math.Sqrt(a.Variance) && math.Abs(variance-a.Variance) < 1e-5*a.Variance
		}
		if same(known.Mean, known.Variance) || slices.ContainsFunc(others, func(f FixedPoint) bool { return same(f.Mean, f.Variance) }) {
			continue
		}
		others = append(others, FixedPoint{Mean: a.Mean, Variance: a.Variance, LogEvidence: r.LogEvidence, Action: a.Action})
	}
	slices.SortFunc(others, func(a, b FixedPoint) int { return cmp.Compare(b.LogEvidence, a.LogEvidence) })
	return others, nil
}
