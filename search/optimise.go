// Package search finds the kernel of a problem: the hyperparameters that maximise the evidence, the
// candidates that predict rows left out best, and the inducing points of a process with many rows.
package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

// Options of Optimise. The zero value is ready to use.
type Options struct {
	// Start are the log parameters to start from, in the order of the kernel's
	// Params. Nil stands for the means of the priors, which the scale of the data
	// gives; then the values in the kernel do not matter.
	Start []float64
	// Near says that Start is near what is looked for, so that the search begins with
	// all cases.
	Near bool
	// Shrinkage draws the length scales of the columns of a term to a common one, the more
	// the larger it is; 0 leaves them independent. With 1 their inverse squares have a
	// half-Cauchy prior with a common scale.
	Shrinkage float64
	// Restarts is how many more starts are drawn from the priors, by Seed.
	Restarts int
	Seed     uint64
	// Tolerance is the largest component that the gradient of the log posterior
	// in the log parameters may have where the search stops; 0 stands for 0.01.
	// A log posterior is then within a few thousandths of its maximum.
	Tolerance float64
	// MaxEvaluations bounds the work of each climb: from every start, from the best of them
	// on, and from a second one; 0 stands for 200.
	MaxEvaluations int
	// Progress, if set, is called with every evaluation.
	Progress func(Evaluation)
}

// Evaluation is what Progress is called with.
type Evaluation struct {
	Number       int // from 1, of those with as many cases
	Cases        int // that the search is looking at
	Kernel       kernel.Kernel
	LogPosterior float64
	Sweeps       int
}

// Stop is why a search stopped.
type Stop int

const (
	// Stationary: no component of the gradient is above the tolerance, but for
	// those that point out of the box that is searched; or, where rows are many, the next
	// step promises less than is worth while.
	Stationary Stop = iota
	// Flat: no step along the gradient raises the objective by more than its
	// rounding, though the gradient is above the tolerance.
	Flat
	// Exhausted: the limit on evaluations is reached.
	Exhausted
	// Cornered: the objective rises to where expectation propagation has no result again and again.
	Cornered
)

func (s Stop) String() string {
	switch s {
	case Stationary:
		return "stationary"
	case Flat:
		return "no further gain to be found"
	case Cornered:
		return "expectation propagation has no result where the evidence rises to"
	}
	return "the limit on evaluations is reached"
}

// Fit is what Optimise found.
type Fit struct {
	Process *gp.Process     // with the kernel found
	EP      *infer.EPResult // converged to the default tolerance of infer.EP
	// LogPosterior is the objective: EP.LogEvidence + LogPrior, the latter the log
	// density of the log parameters.
	LogPosterior, LogPrior float64
	Gradient               []float64 // of LogPosterior in the log parameters
	// AtBound says which parameters lie on the edge of the box that is searched.
	AtBound []bool
	// Evaluations is the number on all cases, without those of searches on fewer.
	Evaluations int
	Stop        Stop
	// Tuned are the logarithms of the hyperparameters of terms that have any, which are set to them.
	Tuned []float64

	// Where the search ended, for Refit.
	objective *objective
	logs      []float64
	memory    memory
}

// NotConvergedError says that expectation propagation has no result for a kernel.
type NotConvergedError struct {
	Kernel kernel.Kernel
	Status infer.Status
}

func (e *NotConvergedError) Error() string {
	return fmt.Sprintf("expectation propagation with kernel %v: %v", e.Kernel, e.Status)
}

// StartError says that a search could not begin: there was no value at any start.
type StartError struct {
	Starts int
	Err    error // of the last of them
}

func (e *StartError) Error() string {
	return fmt.Sprintf("no evidence at any of %d starts of the search for hyperparameters; give others, or a simpler kernel: %v", e.Starts, e.Err)
}

func (e *StartError) Unwrap() error { return e.Err }

// pace is what a search spends on the way to its end.
type pace struct {
	// fewest and coarser say when a search first looks at some of the cases: one on a
	// quarter of them costs a sixty-fourth.
	fewest, coarser int
	// slack is how far sites may be from convergence, in units of what siteTolerance asks for.
	slack float64
	// worth is the least gain per case for which a search goes on, where the curvature is
	// known.
	worth float64
}

// Where a case has several outcomes it has as many more views. What is spent on the way is cut
// where it does not show at the end: the search starts with half of the cases, and of those with half, as long as they have
// sixty views, and ends where there is next to nothing left to gain.
var (
	steady = pace{fewest: 200, coarser: 4, slack: 1}
	brisk  = pace{fewest: 60, coarser: 2, slack: 10, worth: worthPerRow}
)

// Optimise finds the hyperparameters of the kernel that maximise log Z_EP plus a
// weak prior, for the terms of the rows of x, by L-BFGS with analytic gradients. Terms are
// gp.SingleTerms on the value at each row, or gp.Outcomes.
//
// The prior on the logarithm of each parameter is Gaussian. It is centred on the
// scale of the data: a variance on 1, and the length scales where two typical inputs
// are √2 of them apart. The standard deviations are 3 for a variance, 1.5 for a
// length scale and 1 for a period. The search stays within six of them.
//
// Of many cases a fixed random quarter is looked at first, and of those a quarter,
// down to a few hundred. All starts are tried there; the best goes on, with what was
// learnt about the curvature.
//
// Where columns are many, each with a length scale, and a screening finds curves or products
// that rows left out still ask for, there is a second search on all cases, which starts with
// short length scales for their columns and long ones for the others. The higher end is the
// result.
//
// Hyperparameters for which expectation propagation fails count as infinitely bad.
// The error is a *StartError if there are no others, or that of the context.
func Optimise(ctx context.Context, k kernel.Kernel, x *mat.Dense, terms gp.Terms, opt Options) (*Fit, error) {
	if n, _ := x.Dims(); terms.Len() != n {
		panic(fmt.Sprintf("search: %d terms for %d inputs", terms.Len(), n))
	}
	return optimise(ctx, k, &full{x: x, cases: gp.CasesOf(terms), tuning: newTuning(terms)}, opt)
}

func optimise(ctx context.Context, k kernel.Kernel, whole *full, opt Options) (*Fit, error) {
	if opt.Start != nil && len(opt.Start) == k.NumParams() {
		opt.Start = whole.tuning.start(opt.Start)
	}
	if all := k.NumParams() + len(whole.tuning.priors()); opt.Start != nil && len(opt.Start) != all {
		panic(fmt.Sprintf("search: %d log parameters to start from, the kernel and the terms have %d", len(opt.Start), all))
	}
	pace := steady
	if whole.cases.Views() > 1 {
		pace = brisk
	}
	opt = opt.withDefaults()
	if opt.Shrinkage > 0 && opt.Start == nil {
		first := opt
		first.Shrinkage, first.Tolerance = 0, max(opt.Tolerance, approach)
		fit, err := optimise(ctx, k, whole, first)
		if err != nil {
			return nil, err
		}
		opt.Start, opt.Near, opt.Restarts = fit.logs, true, 0
	}
	levels := coarsen(&objective{kernel: k, evidence: whole, prior: newPrior(k, whole.x, opt.Shrinkage, whole.tuning), pace: pace, progress: opt.Progress}, whole, opt.Seed)
	if opt.Near {
		levels = levels[len(levels)-1:]
	}

	at, m, err := levels[0].begin(ctx, opt)
	if err != nil {
		return nil, err
	}
	stop := Stationary
	for l, o := range levels {
		tolerance := opt.Tolerance
		if l < len(levels)-1 {
			tolerance = max(tolerance, coarseTolerance)
		}
		if l > 0 {
			m = m.scaled(float64(o.evidence.rows())/float64(levels[l-1].evidence.rows()), o.prior)
			next, err := o.at(ctx, at.logs, o.evidence.(*full).lifted(ctx, at), o.siteTolerance(1, tolerance))
			if err != nil {
				return nil, err
			}
			ok := next != nil
			if ok {
				if ok, err = o.differentiate(ctx, next); err != nil {
					return nil, err
				}
			}
			if !ok {
				if next, m, err = o.begin(ctx, opt); err != nil {
					return nil, err
				}
			}
			at = next
		}
		if at, stop, err = o.ascent(tolerance, opt).climb(ctx, at, &m); err != nil {
			return nil, err
		}
	}
	last := levels[len(levels)-1]
	if at, stop, m, err = last.secondClimb(ctx, at, stop, m, opt); err != nil {
		return nil, err
	}
	return last.finish(ctx, at, stop, m)
}

func (o Options) withDefaults() Options {
	if o.Tolerance == 0 {
		o.Tolerance = 0.01
	}
	if o.MaxEvaluations == 0 {
		o.MaxEvaluations = 200
	}
	return o
}

// approach is the tolerance of the search with independent length scales that precedes
// one with shrinkage. From a common one no column gains enough by a short step of its own
// to get away, so that the search has to come from the other side.
const approach = 0.3

// coarseTolerance is enough for a search that only prepares another.
const coarseTolerance = 0.05

// coarsen is the sequence of objectives from the coarsest to the one given. Each
// looks at the leading part of one random order of the cases.
func coarsen(o *objective, whole *full, seed uint64) []*objective {
	levels := []*objective{o}
	n := whole.rows()
	order := rand.New(rand.NewPCG(seed, 1)).Perm(n)
	views := whole.cases.Views()
	for n /= o.coarser; n*views >= o.fewest; n /= o.coarser {
		c := *o
		rows := slices.Clone(order[:n])
		slices.Sort(rows)
		c.evidence = whole.some(rows)
		levels = append(levels, &c)
	}
	slices.Reverse(levels)
	return levels
}

// begin evaluates the only start, or climbs from several, and returns the highest
// point, from where the search goes on.
func (o *objective) begin(ctx context.Context, opt Options) (best *point, m memory, err error) {
	starts := [][]float64{slices.Clone(o.prior.mean)}
	if opt.Start != nil {
		starts[0] = slices.Clone(opt.Start)
		o.prior.clamp(starts[0])
	}
	rng := rand.New(rand.NewPCG(opt.Seed, 2))
	for range opt.Restarts {
		starts = append(starts, o.prior.draw(rng))
	}
	for _, logs := range starts {
		at, err := o.at(ctx, logs, nil, o.siteTolerance(1, opt.Tolerance))
		if err != nil {
			return nil, m, err
		}
		if at == nil {
			continue
		}
		if ok, err := o.differentiate(ctx, at); err != nil {
			return nil, m, err
		} else if !ok {
			continue
		}
		var learnt memory
		if len(starts) > 1 {
			if at, _, err = o.ascent(max(opt.Tolerance, coarseTolerance), opt).climb(ctx, at, &learnt); err != nil {
				return nil, m, err
			}
		}
		if best == nil || at.value > best.value {
			best, m = at, learnt
		}
	}
	if best == nil {
		return nil, m, &StartError{Starts: len(starts), Err: o.failure}
	}
	return best, m, nil
}

// ascent is one climb with the options' budget ahead of it.
func (o *objective) ascent(tolerance float64, opt Options) ascent {
	return ascent{objective: o, tolerance: tolerance, budget: o.evaluations + opt.MaxEvaluations}
}

// finish lets the sites converge at the point found and collects the result.
func (o *objective) finish(ctx context.Context, at *point, stop Stop, m memory) (*Fit, error) {
	// Sites that do not converge as far as that are as good as before.
	at, err := o.refine(ctx, at, 0)
	if err != nil {
		return nil, err
	}
	return o.collect(ctx, at, stop, m)
}

// collect is what a search found.
func (o *objective) collect(ctx context.Context, at *point, stop Stop, m memory) (*Fit, error) {
	found, err := at.fitted.(*fullFit).onProcess(ctx)
	if err != nil {
		return nil, err
	}
	f := &Fit{
		Process: found.process, EP: found.ep, LogPosterior: at.value, LogPrior: at.logPrior,
		Gradient: at.slope, AtBound: make([]bool, len(at.logs)),
		Evaluations: o.evaluations, Stop: stop,
		objective: o, logs: at.logs, memory: m, Tuned: found.logs,
	}
	found.evidence.tune(found.logs)
	found.evidence.scratch = gp.Scratch{} // fits are kept, and need it no more
	for k, x := range at.logs {
		f.AtBound[k] = x <= o.prior.low(k) || x >= o.prior.high(k)
	}
	return f, nil
}

// Record is how the search for hyperparameters ended.
type Record struct {
	Evaluations int      `json:"evaluations"`    // of the evidence
	Rows        int      `json:"rows,omitempty"` // a sample of so many that it ended on; 0 for all
	Stationary  bool     `json:"stationary"`     // the gradient vanishes where it stopped
	Stop        string   `json:"stop"`           // why it stopped, in words
	LogPrior    float64  `json:"log_prior"`      // what was maximised is this plus the log evidence of those rows
	AtBound     []string `json:"at_bound,omitempty"`
}

func newRecord(evaluations int, stop Stop, logPrior float64, k kernel.Kernel, atBound []bool) *Record {
	r := &Record{Evaluations: evaluations, Stationary: stop == Stationary, Stop: stop.String(), LogPrior: logPrior}
	for i, name := range k.ParamNames() {
		if atBound[i] {
			r.AtBound = append(r.AtBound, name)
		}
	}
	return r
}

// Record is how the search ended.
func (f *Fit) Record() *Record {
	return newRecord(f.Evaluations, f.Stop, f.LogPrior, f.Process.Kernel(), f.AtBound)
}

// Record is how the search ended, on rows among so many.
func (f *Induced) Record(rows int) *Record {
	r := newRecord(f.Evaluations, f.Stop, f.LogPrior, f.Process.Kernel(), f.AtBound)
	if f.SearchRows < rows {
		r.Rows = f.SearchRows
	}
	return r
}
